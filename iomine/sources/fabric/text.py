"""What is read of a topology's text: its whole lines, without the mark that some editors begin a file with."""

from typing import Final

from iomine.sources.series.doubts import complete_lines

_MARK: Final = b"\xef\xbb\xbf"


def readable(data: bytes) -> tuple[bytes, str]:
    """The lines that have an end, and a doubt where the last has none."""
    return complete_lines(data.removeprefix(_MARK))
