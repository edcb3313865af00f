"""Texts of hundreds of megabytes as arrays of bytes: where lines begin and end, and the numbers at fixed places or at their ends.

Nothing here walks over lines in Python. A text is taken in pieces of some megabytes, so that what is held beside it is bounded
however short its lines are.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from iomine.units import MIB

Bytes = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

_PIECE_BYTES: Final = 8 * MIB
_NEWLINE: Final = ord("\n")
_RETURN: Final = ord("\r")
NO_DIGIT: Final = 255
_HEX: Final = 16
# What each byte is as a digit, upper or lower case.
_DIGITS: Final = np.full(256, NO_DIGIT, np.uint8)
for _text in ("0123456789abcdef", "0123456789ABCDEF"):
    _DIGITS[list(_text.encode())] = range(_HEX)


class Lines(NamedTuple):
    """Lines of a piece of a text.

    Attributes:
        raw: the bytes of the piece.
        begins: where lines begin.
        ends: where they end, line ends left out.
    """

    raw: Bytes
    begins: Integers
    ends: Integers

    def first(self) -> Bytes:
        """The first byte of each line, that of its end where a line is empty."""
        return self.raw[self.begins]

    def text(self, line: int) -> bytes:
        """A line's bytes."""
        return self.raw[self.begins[line] : self.ends[line]].tobytes()

    def longer(self, least: int) -> Mask:
        """Which lines have at least so many bytes."""
        return self.ends - self.begins >= least

    def beginning(self, text: bytes) -> Integers:
        """Lines that begin with a text."""
        found = np.flatnonzero((self.first() == text[0]) & self.longer(len(text)))
        for place, byte in enumerate(text[1:], 1):
            found = found[self.at(found, place) == byte]
        return found

    def at(self, lines: Integers, offset: int) -> Bytes:
        """The byte of each of some lines that stands so far behind its begin; the lines must be long enough."""
        return self.raw[self.begins[lines] + offset]

    def heads(self, lines: Integers, width: int) -> Bytes:
        """The first bytes of some lines, a row each; of a line that is shorter what follows it, or zeros."""
        padded = np.concatenate([self.raw, np.zeros(width, np.uint8)])
        rows: Bytes = sliding_window_view(padded, width)[self.begins[lines]]
        return rows

    def last(self, lines: Integers, least: Integers, base: int, most: int) -> tuple[Words, Integers]:
        """The digits at the ends of some lines as numbers, and how many digits each has.

        Args:
            lines: the lines.
            least: for each of them, where digits begin at the earliest.
            base: 10 or 16.
            most: digits that are taken, at most; of a number that has more, one more is counted.
        """
        value = np.zeros(len(lines), np.uint64)
        count = np.zeros(len(lines), np.int64)
        scale = np.ones((), np.uint64)
        at, is_in = self.ends[lines], np.ones(len(lines), np.bool_)
        for _ in range(most + 1):
            at = at - 1
            is_in &= at >= least
            digit = _DIGITS[self.raw[np.maximum(at, 0)]]
            is_in &= digit < base
            if not is_in.any():
                break
            count += is_in
            with np.errstate(over="ignore"):
                value += np.where(is_in, digit, 0).astype(np.uint64) * scale
                scale = scale * np.uint64(base)
        return value, count


def fixed(columns: Bytes, base: int) -> Integers:
    """Numbers from their digits, of which each row has one of every number; -1 where one is none."""
    value = np.zeros(columns.shape[1], np.int32)
    worst = np.zeros(columns.shape[1], np.uint8)
    for column in columns:
        digit = _DIGITS[column]
        np.maximum(worst, digit, out=worst)
        value *= base
        value += digit
    value[worst >= base] = -1
    return value.astype(np.int64)


def pieces(data: bytes) -> Iterator[Lines]:
    """A text's lines, some megabytes at a time; the last counts whether it has an end or not."""
    begin = 0
    while begin < len(data):
        end = data.rfind(b"\n", begin, begin + _PIECE_BYTES) + 1 or data.find(b"\n", begin + _PIECE_BYTES) + 1 or len(data)
        raw = np.frombuffer(data, np.uint8, end - begin, begin)
        ends = np.flatnonzero(raw == _NEWLINE)
        if raw[-1] != _NEWLINE:
            ends = np.append(ends, len(raw))
        begins = np.concatenate([[0], ends[:-1] + 1])
        ends = ends - ((ends > begins) & (raw[np.maximum(ends - 1, 0)] == _RETURN))
        # The first byte of an empty line without an end would be beyond the piece: there is none, since it is not split there.
        yield Lines(raw, begins, ends)
        begin = end
