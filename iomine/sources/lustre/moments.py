"""Times as Lustre prints them: seconds since the epoch with a fraction, or on some versions since the server's boot.

The fraction is a whole number of the unit that is named after it (`secs.usecs`, `secs.nsecs`). Until 2.8 it has no leading
zeros: `.20113 secs.usecs` are 0.020113 seconds.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from iomine.sources.lustre.lines import LETTERS, Found, Mask, Positions, Text, last_before, numbers, times

TIME: Final = r"(?P<seconds>[0-9]{1,10})(?:\.(?P<fraction>[0-9]{1,9})(?: +\(?secs\.(?P<unit>[un])secs\)?)?)?\s*$"
# The first line of a short parameter directly follows its name.
_LINE: Final = rf"^(?:[^\s=]+=)?(?P<what>snapshot|start)_time:? +{TIME}"
# What a script prints before each `lctl get_param`, by `date +%s`.
_MARK: Final = r"^(?:BEGIN )?(?P<seconds>[12][0-9]{9})\s*$"
# No server has been up for thirty years, and none with Lustre's counters kept time before the year 2000.
_FIRST_EPOCH: Final = 946_684_800
_MICROSECONDS: Final = 1_000_000
_NANOSECONDS: Final = 1_000


class Times(NamedTuple):
    """Lines of one kind with times.

    Attributes:
        at: numbers of the lines.
        moment: the times, in microseconds.
        is_epoch: whether they are since the epoch.
    """

    at: Positions
    moment: Positions
    is_epoch: Mask

    def before(self, at: Positions, part: npt.NDArray[np.int32]) -> tuple[Positions, Mask]:
        """For each line the last time before it in the same part, and whether there is one that is since the epoch."""
        if not len(self.at):
            return np.zeros(len(at), np.int64), np.zeros(len(at), np.bool_)
        mark = last_before(at, self.at, part)
        return self.moment[mark], self.is_epoch[mark] & (mark >= 0)


class Moments(NamedTuple):
    """When tables of a text were read.

    Attributes:
        snapshots: when they say they were read.
        starts: since when they say they count.
        otherwise: for each part when that was read which does not say it, in microseconds; 0 where nothing says it.
    """

    snapshots: Times
    starts: Times
    otherwise: Positions

    def read_at(self, at: Positions, part: npt.NDArray[np.int32]) -> Any:  # noqa: ANN401
        """For each line when it was read."""
        moment, is_known = self.snapshots.before(at, part)
        return times(np.where(is_known, moment, self.otherwise[part[at]]))


def find_moments(text: Text, where: Mask, otherwise: Positions) -> Moments:
    """When tables in some lines of a text were read, and since when they count.

    Args:
        text: the text.
        where: the lines.
        otherwise: for each part when that was read which does not say it.
    """
    found = text.find(LETTERS, _LINE, where)
    return Moments(times_of(found, b"snapshot"), times_of(found, b"start"), otherwise)


def find_marks(text: Text, begins: Positions) -> Positions:
    """For each part the last time, in microseconds, on a line of its own before it; 0 where there is none.

    Args:
        text: the text.
        begins: for each part the number of its first line.
    """
    found = text.find(b"B12", _MARK)
    moment = np.asarray(numbers(found.words["seconds"], pa.int64())) * _MICROSECONDS
    return np.append(moment, 0)[np.searchsorted(found.at, begins, side="right") - 1]


def times_of(found: Found, what: bytes) -> Times:
    """Those of some lines that have one time.

    Args:
        found: lines with a group `what` and those of `TIME`.
        what: which time: snapshot or start.
    """
    words = found.words["what"]
    found = found.where(np.asarray(pc.equal(words, pa.scalar(what, words.type))))
    return Times(found.at, *_microseconds(found.words))


def _microseconds(words: Mapping[str, Any]) -> tuple[Positions, Mask]:
    seconds = np.asarray(numbers(words["seconds"], pa.int64()))
    fraction = np.asarray(pc.fill_null(numbers(words["fraction"], pa.int64()), 0))
    is_micro = np.asarray(pc.equal(words["unit"], pa.scalar(b"u", words["unit"].type)))
    return seconds * _MICROSECONDS + np.where(is_micro, fraction, fraction // _NANOSECONDS), seconds >= _FIRST_EPOCH
