"""What is read of a topology's text: its whole lines, without the mark that some editors begin a file with."""

from typing import Final

import numpy as np

from iomine.errors import UnreadableError
from iomine.sources.lustre.lines import Text
from iomine.sources.series.doubts import complete_lines

_MARK: Final = b"\xef\xbb\xbf"


def readable(data: bytes) -> tuple[Text, str]:
    """The lines that have an end, and a doubt where the last has none.

    Raises:
        UnreadableError: there are so many lines that they would not fit into memory.
    """
    whole, cut = complete_lines(data.removeprefix(_MARK))
    return Text(whole), cut


def strange_count(text: Text) -> int:
    """How many lines were not understood.

    Raises:
        UnreadableError: most were not: it is a text about such files.
    """
    count = int(np.count_nonzero(~text.is_known))
    if 2 * count > len(text):
        raise UnreadableError(f"{count:,} of its {len(text):,} lines are none that such a file has")
    return count
