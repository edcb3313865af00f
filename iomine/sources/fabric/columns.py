"""Columns that patterns find in a topology's lines, as numbers and guids."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
import pyarrow.compute as pc

from iomine.sources.fabric.graph import SPEEDS, SWITCH, UNKNOWN, Device, Integers, Mask
from iomine.sources.fabric.guids import Guids, guid_column

# Numbers beyond are none that a fabric has; they are as good as any that is too high.
_TOO_HIGH: Final = 1 << 40
_BASES: Final = {10: 12, 16: 9}
# How tools name the speed of a lane, in Gbit/s or otherwise.
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "SDR": ("2.5",),
    "DDR": ("5", "5.0"),
    "QDR": ("10", "10.0"),
    "FDR10": ("FDR_10",),
    "FDR": ("14", "14.0625"),
    "EDR": ("25", "25.78125", "EDR_20"),
    "HDR": ("50", "53.125"),
    "NDR": ("100", "106.25"),
}
_SPEEDS: Final = {name.encode(): number for number, speed in enumerate(SPEEDS) for name in (speed, *_NAMES[speed])}


def guids(words: Any) -> Guids:  # noqa: ANN401
    """Hex digits as guids, 0 where there are none."""
    return guid_column(words.to_pylist())


def integers(words: Any, base: int = 10) -> Integers:  # noqa: ANN401
    """Digits as numbers, UNKNOWN where there are none."""
    encoded = words.dictionary_encode()
    values = [_integer(text, base) for text in encoded.dictionary.to_pylist()]
    at: Integers = np.asarray(encoded.indices.fill_null(len(values)))
    return np.array([*values, UNKNOWN], np.int64)[at]


def _integer(text: bytes, base: int) -> int:
    if not text:
        return UNKNOWN
    return int(text, base) if len(text) <= _BASES[base] else _TOO_HIGH


def speeds(words: Any) -> tuple[Integers, int]:  # noqa: ANN401
    """Numbers of speeds, and how many are not known though they are named."""
    encoded = words.dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    values = np.array([_SPEEDS.get(text, UNKNOWN) for text in texts] + [UNKNOWN], np.int64)
    is_strange = np.array([bool(text.strip(b"?")) and text not in _SPEEDS for text in texts] + [False], np.bool_)
    at: Integers = np.asarray(encoded.indices.fill_null(len(texts)))
    return values[at], int(np.count_nonzero(is_strange[at]))


def is_given(words: Any) -> Mask:  # noqa: ANN401
    """Where a group took part."""
    return np.asarray(pc.greater(pc.binary_length(words), 0).fill_null(False))


def listed(guid: Guids, kinds: Integers, descriptions: Any, lid: Integers, *more: Integers | Guids) -> list[Device]:  # noqa: ANN401
    """Devices of lines that list ports: each that is said, once.

    Args:
        guid: of the device of each line; 0 is none.
        kinds: what it is.
        descriptions: what it calls itself.
        lid: its LID.
        more: further columns of a device, in their order.
    """
    lines: Iterable[tuple[Any, ...]] = zip(
        guid.tolist(),
        kinds.tolist(),
        pc.fill_null(descriptions, b"").to_pylist(),
        lid.tolist(),
        *(each.tolist() for each in more),
        strict=True,
    )
    return [Device(*each) for each in dict.fromkeys(lines) if each[0]]


def port_counts(guid: Guids, port: Integers) -> Integers:
    """For each line that lists a port the highest port of its device."""
    distinct, index = np.unique(guid, return_inverse=True)
    most = np.full(len(distinct), UNKNOWN, np.int64)
    np.maximum.at(most, index.ravel(), port)
    return most[index.ravel()]


def adapters_only(guid: Guids, kinds: Integers) -> Guids:
    """Guids of ports, 0 those of switches, whose ports have none."""
    return np.where(kinds == SWITCH, np.uint64(0), guid)
