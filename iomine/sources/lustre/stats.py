"""`stats` and its like: a line for each counter of a target, client or device.

    snapshot_time             1709306082.170995043 secs.nsecs
    read_bytes                71482249 samples [bytes] 4096 1048576 58370831220736 5356592093840015360

Only some counters have least, most, sum and sum of squares; which ones depends on the version.
"""

import re
from typing import Final

import pyarrow as pa

from iomine.sources.lustre.lines import LETTERS, Text, times
from iomine.sources.lustre.moments import Moments
from iomine.sources.lustre.parameters import COUNTERS
from iomine.sources.lustre.parts import Parts
from iomine.sources.lustre.tables import COUNTER, LIMITS, about, counted, table_of

_NOTHING: Final = r"^[!-~]+ +0 samples \["
_COUNTER: Final = (
    r"^(?P<counter>[!-~]+) +(?P<samples>[0-9]+) samples \[(?P<unit>[ -\\^-~]*)\]"
    r"(?: (?P<least>[0-9]+) (?P<most>[0-9]+) (?P<amount>[0-9]+)(?: (?P<squares>[0-9]+))?)?\s*$"
)
_CUT: Final = re.compile(rb"[!-~]+ +[0-9]+ samples \[[ -~]*\] [0-9 ]*[0-9]$")


def read_stats(text: Text, parts: Parts, moments: Moments) -> pa.Table:
    """Counters of targets and clients.

    Args:
        text: the text.
        parts: its parameters.
        moments: when they were read, and since when they count.
    """
    where = parts.lines(COUNTERS)
    text.skip(LETTERS, _NOTHING, where)
    found = text.find(LETTERS, _COUNTER, where, LIMITS)
    part = parts.of[found.at]
    columns = {
        "sampled_at": moments.read_at(found.at, parts.of),
        "counted_since_at": times(*moments.starts.before(found.at, parts.of)),
    }
    return table_of(COUNTER, about(parts.parameters, part) | counted(found.words) | columns)


def is_cut(data: bytes) -> bool:
    """Whether a text ends within a line of numbers, so that some digits of the last may be missing."""
    return bool(_CUT.match(data, data.rfind(b"\n") + 1))
