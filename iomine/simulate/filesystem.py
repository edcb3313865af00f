"""The file system of the facility: one Lustre, its targets, and what a request costs.

A request takes a latency and its length over a bandwidth. The bandwidth is that of one rank's stream, or its share of the
OSTs' bandwidth where many ranks move data together; metadata calls take a latency, or their share of an MDT's rate. All
of it is stretched by the system state: for each target and minute of a night, how much slower than idle it is, which is the
load that the night's jobs put on it over what it can bear, times what an incident does to it.
"""

from typing import Final, NamedTuple

import numpy as np

from iomine.simulate.runs import Floats, Integers

NAME: Final = "scratch"
MOUNT: Final = "/scratch"
OST_COUNT: Final = 32
MDT_COUNT: Final = 4
OST_BYTES_PER_SECOND: Final = 3e9
STREAM_BYTES_PER_SECOND: Final = 1.2e9
REQUEST_SECONDS: Final = 4e-4
# The part of it in which the OST deals with the request.
SERVICE_SECONDS: Final = 1e-4
MDT_CALLS_PER_SECOND: Final = 40_000.0
OPEN_SECONDS: Final = 8e-4
STAT_SECONDS: Final = 2.5e-4
CLOSE_SECONDS: Final = 1e-4
MINUTE: Final = 60


class Layouts(NamedTuple):
    """How files are striped: over OSTs that follow one another.

    Attributes:
        first_osts: OST of each file's first stripe.
        stripe_counts: OSTs of each file.
        stripe_bytes: stripe size of each file.
    """

    first_osts: Integers
    stripe_counts: Integers
    stripe_bytes: Integers

    def osts(self, files: Integers) -> Integers:
        """OST indices by file and stripe, of files with equally many stripes."""
        stripes = np.arange(self.stripe_counts[files[0]])
        found: Integers = (self.first_osts[files, None] + stripes) % OST_COUNT
        return found


class SystemState:
    """How much slower than idle each target is, and how much of that incidents make.

    Args:
        by_load: what the load of jobs makes of all OSTs alike, and then of each MDT, by minute.
        ost_factors: what incidents multiply that by, by OST and minute.
        mdt_factors: likewise by MDT and minute.
    """

    def __init__(self, by_load: Floats, ost_factors: Floats, mdt_factors: Floats) -> None:
        self._by_load = by_load
        self._ost_factors, self._mdt_factors = ost_factors, mdt_factors
        self._are_alike = (ost_factors == ost_factors[0]).all(axis=0)
        self._last = by_load.shape[1] - 1

    def osts(self, layouts: Layouts, files: Integers | int, minute: int) -> tuple[Floats | float, Floats | float]:
        """Mean slowdown of the OSTs of files, and the share of the time that incidents take; numbers where OSTs are alike."""
        at = min(minute, self._last)
        load, factors = float(self._by_load[0, at]), self._ost_factors[:, at]
        if self._are_alike[at]:
            factor = float(factors[0])
            return load * factor, 1 - 1 / factor
        return _mean(load * factors, layouts, files), 1 - 1 / _mean(factors, layouts, files)

    def of_osts(self, osts: Integers, minutes: Integers) -> Floats:
        """Slowdown of OSTs, each at a minute."""
        at = np.minimum(minutes, self._last)
        found: Floats = self._by_load[0, at] * self._ost_factors[osts, at]
        return found

    def of_mdts(self, mdts: Integers, minutes: Integers) -> Floats:
        """Slowdown of MDTs, each at a minute."""
        at = np.minimum(minutes, self._last)
        found: Floats = self._by_load[1 + mdts, at] * self._mdt_factors[mdts, at]
        return found

    def mdt(self, mdt: int, minute: int) -> tuple[float, float]:
        """Slowdown of an MDT, and the share of the time that incidents take."""
        at = min(minute, self._last)
        factor = float(self._mdt_factors[mdt, at])
        return float(self._by_load[1 + mdt, at]) * factor, 1 - 1 / factor


def _mean(values: Floats, layouts: Layouts, files: Integers | int) -> Floats:
    """Mean of the values of the OSTs of files."""
    # Sums up to an OST, twice around, give the mean over any stripes by one subtraction.
    sums = np.cumsum(np.concatenate([[0], values, values]))
    first, width = layouts.first_osts[files], layouts.stripe_counts[files]
    found: Floats = (sums[first + width] - sums[first]) / width
    return found


def idle_state(minutes: int) -> SystemState:
    """Idle targets."""
    return SystemState(np.ones((1 + MDT_COUNT, minutes)), np.ones((OST_COUNT, minutes)), np.ones((MDT_COUNT, minutes)))


def on_osts(
    layouts: Layouts, files: Integers, begins: Floats, ends: Floats, moved: Integers
) -> tuple[Integers, Integers, Integers]:
    """Spreads bytes that were moved between two offsets of files over the files' OSTs.

    Exact where all of the bytes in between were moved; otherwise in proportion, rounded so that they add up.

    Args:
        layouts: of all files.
        files: file of each part.
        begins: offset at which each part begins.
        ends: offset at which it ends.
        moved: bytes that it moved.

    Returns:
        Index of the part, OST and bytes, a row for each part and OST that got some.
    """
    found = []
    for width in np.unique(layouts.stripe_counts[files]):
        parts = np.flatnonzero(layouts.stripe_counts[files] == width)
        stripe = layouts.stripe_bytes[files[parts], None]
        number = np.arange(width)

        def upto(offsets: Floats, stripe: Integers = stripe, number: Integers = number, width: int = int(width)) -> Floats:
            rounds, rest = np.divmod(offsets[:, None], stripe * width)
            below: Floats = rounds * stripe + np.clip(rest - number * stripe, 0, stripe)
            return below

        reach = np.cumsum(upto(ends[parts]) - upto(begins[parts]), axis=1)
        spread = np.rint(reach / reach[:, -1:] * moved[parts, None]).astype(np.int64)
        spread = np.diff(spread, axis=1, prepend=0)
        osts = (layouts.first_osts[files[parts], None] + number) % OST_COUNT
        is_used = spread > 0
        found.append((np.repeat(parts, np.count_nonzero(is_used, axis=1)), osts[is_used], spread[is_used]))
    return tuple(np.concatenate(column) for column in zip(*found, strict=True))  # type: ignore[return-value]
