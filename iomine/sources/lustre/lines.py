"""A text as columns: its lines in an Arrow array, and what patterns find in them.

Nothing walks over lines in Python, and Arrow's regular expressions (RE2) take linear time whatever the text.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from iomine.errors import UnreadableError

Positions = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

LETTERS: Final = bytes(range(ord("A"), ord("Z") + 1)) + bytes(range(ord("a"), ord("z") + 1))
DIGITS: Final = b"0123456789"
_TIME: Final = pa.timestamp("us", tz="UTC")
# A line costs memory; those of Lustre are longer.
_FEW_LINES: Final = 1_000_000
_LEAST_LINE_BYTES: Final = 8
_NEWLINE: Final = ord("\n")
_BYTE_VALUES: Final = 256


class Found(NamedTuple):
    """Lines that a pattern matches.

    Attributes:
        at: their numbers, from 0, in order.
        words: what the pattern's named groups matched, as bytes, by group; empty where a group took no part.
    """

    at: Positions
    words: Mapping[str, Any]

    def where(self, is_wanted: Mask) -> "Found":
        """Those of the lines that are wanted."""
        return Found(self.at[is_wanted], {name: words.filter(is_wanted) for name, words in self.words.items()})


class Text:
    """A text's lines, and which of them were understood.

    Args:
        data: the text; its bytes need be of no encoding.

    Raises:
        UnreadableError: it has so many lines for its length that they would not fit into memory.
    """

    def __init__(self, data: bytes) -> None:
        if data.count(b"\n") > max(_FEW_LINES, len(data) // _LEAST_LINE_BYTES):
            raise UnreadableError("its lines are shorter than any that Lustre writes; it may be damaged")
        raw = np.frombuffer(data, np.uint8)
        ends = np.flatnonzero(raw == _NEWLINE) + 1
        offsets = np.concatenate([[0], ends, [len(raw)] if len(raw) and raw[-1] != _NEWLINE else []]).astype(np.int64)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        self._lines: Any = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)
        self._first = raw[offsets[:-1]]
        self.is_known: Mask = np.zeros(len(self._lines), np.bool_)

    def __len__(self) -> int:
        return len(self._lines)

    def find(self, begins: bytes, pattern: str, where: Mask | None = None, most: Mapping[str, int] | None = None) -> Found:
        """Lines that were not understood before and match a pattern; they are understood from now on.

        Args:
            begins: the bytes that such a line may begin with.
            pattern: a regular expression with named groups.
            where: the lines to look at, all where None.
            most: for groups that are whole numbers, the largest that is taken.
        """
        at = self._candidates(begins, where)
        got = pc.extract_regex(self._lines.take(at), pattern)
        fits = got.is_valid()
        for group, limit in (most or {}).items():
            fits = pc.and_(fits, _at_most(got.field(group), limit))
        is_match = np.asarray(pc.fill_null(fits, False))
        self.is_known[at[is_match]] = True
        return Found(at, {entry.name: got.field(entry.name) for entry in got.type}).where(is_match)

    def skip(self, begins: bytes, pattern: str, where: Mask | None = None) -> None:
        """Takes lines that match for understood."""
        at = self._candidates(begins, where)
        self.is_known[at[np.asarray(pc.match_substring_regex(self._lines.take(at), pattern))]] = True

    def _candidates(self, begins: bytes, where: Mask | None) -> Positions:
        wanted = np.zeros(_BYTE_VALUES, np.bool_)
        wanted[list(begins)] = True
        is_candidate = wanted[self._first] & ~self.is_known
        return np.flatnonzero(is_candidate if where is None else is_candidate & where)


def _at_most(words: Any, limit: int) -> Any:  # noqa: ANN401
    """Whether digits stand for no more than a limit; there are numbers that fit into no Arrow type."""
    digits = pa.scalar(str(limit).encode(), words.type)
    length = pc.binary_length(words)
    same = pc.and_(pc.equal(length, len(str(limit))), pc.less_equal(words, digits))
    return pc.or_(pc.less(length, len(str(limit))), same)


def numbers(words: Any, type_: pa.DataType) -> Any:  # noqa: ANN401
    """Digits as numbers, NULL where there are none."""
    known = pc.if_else(pc.equal(words, pa.scalar(b"", words.type)), pa.scalar(None, words.type), words)
    return known.cast(pa.large_string()).cast(type_)


def times(microseconds: Positions, is_known: Mask | None = None) -> Any:  # noqa: ANN401
    """Microseconds since the epoch as times, NULL where they are not known."""
    return pa.array(microseconds, mask=None if is_known is None else ~is_known).cast(_TIME)


def microseconds(at: datetime) -> int:
    """A time as microseconds since the epoch."""
    return int(pa.scalar(at, _TIME).value)


def last_before(at: Positions, heads: Positions, part: npt.NDArray[np.int32]) -> Positions:
    """For each line the index of the last head before it in the same part, -1 where there is none.

    Args:
        at: numbers of the lines.
        heads: numbers of the heads, in order.
        part: the part of each line of the text.
    """
    if not len(heads):
        return np.full(len(at), -1, np.int64)
    index = np.searchsorted(heads, at) - 1
    return np.where((index >= 0) & (part[heads[index]] == part[at]), index, -1)
