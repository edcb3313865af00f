"""Numbers as a line of bars, one sign each."""

from collections.abc import Sequence
from typing import Final

_BARS: Final = "▁▂▃▄▅▆▇█"


def spark(values: Sequence[float | None], width: int) -> str:
    """Bars from zero to the highest value; a space where a value is not known.

    Args:
        values: none of them negative.
        width: how many signs there may be; of several values that share one, the highest counts.
    """
    highest = max((value for value in values if value is not None), default=0)
    step = -(-len(values) // width) or 1
    shared = [[value for value in values[n : n + step] if value is not None] for n in range(0, len(values), step)]
    return "".join(_BARS[round(max(each) / (highest or 1) * (len(_BARS) - 1))] if each else " " for each in shared)
