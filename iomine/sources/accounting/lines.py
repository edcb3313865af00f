"""Lines of a file with contents that users chose: their text, their numbers, and those that were left out."""

from collections.abc import Iterator
from io import BytesIO
from typing import Final

from iomine.units import KIB, MIB

# A shape is known from the first lines; lines are read some at a time, so that a year of jobs is never text all at once.
_HEAD_BYTES: Final = 64 * KIB
_BATCH_BYTES: Final = 8 * MIB
_MOST_LISTED: Final = 5


def text_of(data: bytes) -> str:
    """Bytes as text that can be stored and seen: NUL, and what is no UTF-8, become backslash escapes."""
    return data.decode("utf-8-sig", "backslashreplace").replace("\0", "\\x00")


def head_of(data: bytes) -> str:
    """The beginning of a file, by which its shape is known."""
    return text_of(data[:_HEAD_BYTES])


def batches(data: bytes) -> Iterator[tuple[int, list[str]]]:
    """Lines without their ends, some at a time, with the number of the first; only a line feed ends a line."""
    file, first = BytesIO(data), 1
    while raw := file.readlines(_BATCH_BYTES):
        lines = [line.removesuffix("\r") for line in text_of(b"".join(raw)).removesuffix("\n").split("\n")]
        yield first, lines
        first += len(lines)


def numbered(data: bytes) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without those that are empty or a comment."""
    for first, lines in batches(data):
        yield from ((number, line) for number, line in enumerate(lines, first) if line.strip() and not line.startswith("#"))


class LeftOut:
    """Counts what is not read, and lists the first few by number.

    Args:
        noun: what is counted, singular.

    Attributes:
        count: what is damaged.
        other_count: what is sound, and of another kind.
    """

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._first: list[str] = []
        self.count = 0
        self.other_count = 0

    def add(self, number: int, reason: str) -> None:
        """One more is left out."""
        if self.count < _MOST_LISTED:
            self._first.append(f"{self._noun} {number} ({reason})")
        self.count += 1

    def text(self) -> str:
        """What was left out in sentences, empty where nothing was."""
        more = [f"{self.count - _MOST_LISTED:,} more"] if self.count > _MOST_LISTED else []
        damaged = f"Left out, {self.count:,} in all: {', '.join(self._first + more)}." if self.count else ""
        others = f"Skipped, {self.other_count:,} in all: records that are not of a job's end."
        return " ".join(filter(None, (damaged, others if self.other_count else "")))
