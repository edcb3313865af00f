"""Numbers as people read them."""

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB
GIB: Final = 1024 * MIB

_BYTE_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def human_bytes(count: float) -> str:
    """Bytes with a binary unit: 1536 is `1.5 KiB`."""
    unit = 0
    while abs(count) >= KIB and unit < len(_BYTE_UNITS) - 1:
        count /= KIB
        unit += 1
    return f"{count:.0f} B" if unit == 0 else f"{count:.1f} {_BYTE_UNITS[unit]}"


def human_seconds(seconds: float) -> str:
    """A duration in its two largest units: 3723 is `1 h 02 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d} min"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours:02d} h"
