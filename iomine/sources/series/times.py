"""Times of samples: from what inputs say to UTC, how far they are apart, and what is odd about them."""

from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from iomine.errors import UnreadableError
from iomine.sources.series.rows import Integers

SECOND: Final = 1_000_000
_MILLISECOND: Final = 1_000
_LATEST_SECONDS: Final = int(datetime(9999, 1, 1, tzinfo=UTC).timestamp())


def instants(seconds: npt.NDArray[Any]) -> Integers:
    """Microseconds since the epoch, from seconds.

    Raises:
        UnreadableError: they are not seconds since the epoch.
    """
    if not ((seconds >= 0) & (seconds <= _LATEST_SECONDS)).all():
        raise UnreadableError("The times of samples are not seconds since 1970.")
    return np.rint(seconds * SECOND).astype(np.int64) if seconds.dtype.kind == "f" else seconds.astype(np.int64) * SECOND


def utc_instants(moments: Iterable[datetime], zone: tzinfo) -> Integers:
    """Microseconds since the epoch, from local times in the order in which they were.

    In the hour that a clock shows twice, a time that is not after the one before it is taken to be of the second round.

    Raises:
        UnreadableError: a time is out of range.
    """
    seconds: list[float] = []
    for moment in moments:
        local = moment if moment.tzinfo else moment.replace(tzinfo=zone)
        try:
            first, second = (local.replace(fold=fold).timestamp() for fold in (0, 1))
        except (OverflowError, ValueError) as error:
            raise UnreadableError(f"The time {moment} is out of range.") from error
        seconds.append(max(first, second) if seconds and first <= seconds[-1] else first)
    return instants(np.array(seconds, np.float64))


def usual_step(steps: Integers) -> int:
    """The commonest of the steps forward, to a millisecond and in microseconds; 0 where there is none."""
    forward = np.rint(steps[steps > 0] / _MILLISECOND).astype(np.int64)
    values, counts = np.unique(forward, return_counts=True)
    return int(values[counts.argmax()]) * _MILLISECOND if len(values) else 0


def steps_of(at: Integers, series: Integers) -> Integers:
    """Steps in time from each sample to the next of its series, in the order in which they came."""
    order = np.argsort(series, kind="stable")
    steps: Integers = np.diff(at[order])[np.diff(series[order]) == 0]
    return steps


def time_doubt(steps: Integers) -> str:
    """What is odd about the steps in time from sample to sample, empty where nothing is."""
    usual = usual_step(steps)
    longer = np.count_nonzero(steps > 1.5 * usual)
    odd = {
        "of no length": np.count_nonzero(steps == 0),
        "backwards": np.count_nonzero(steps < 0),
        f"longer than the usual {usual / SECOND:g} s, up to {steps.max(initial=0) / SECOND:g} s": longer,
    }
    listed = ", ".join(f"{count:,} {what}" for what, count in odd.items() if count)
    return f"of {len(steps):,} steps in time {listed}" if listed else ""
