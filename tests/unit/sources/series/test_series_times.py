"""Times of samples: local time, steps and what is odd about them."""

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import strategies as st
from reading_series import PACIFIC

from iomine.errors import UnreadableError
from iomine.sources.series.times import instants, steps_of, time_doubt, usual_step, utc_instants

_DAY = datetime(2018, 11, 4, tzinfo=UTC)


@examples(
    st.sampled_from([datetime(2018, 3, 11, tzinfo=UTC), _DAY, datetime(2018, 7, 1, tzinfo=UTC)]),
    st.integers(0, 3600),
    st.sampled_from([1, 5, 60, 600]),
)
def test_local_times_of_a_day(day: datetime, late: int, step: int) -> None:
    """Local times of even steps become the moments they were made of, on days when clocks are changed as on any other."""
    moments = [day + timedelta(seconds=late + step * i) for i in range(86_400 // max(step, 60))]
    local = [moment.astimezone(PACIFIC).replace(tzinfo=None, fold=0) for moment in moments]
    assert [int(moment.timestamp()) * 1_000_000 for moment in moments] == utc_instants(local, PACIFIC).tolist()


def test_times_that_show_their_zone() -> None:
    """A time with its own zone is of that zone."""
    moment = datetime(2018, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    assert [int(datetime(2018, 1, 1, 10, tzinfo=UTC).timestamp()) * 1_000_000] == utc_instants([moment], PACIFIC).tolist()


@pytest.mark.parametrize("moment", [datetime(1, 1, 1), datetime(9999, 12, 31, 23), datetime(1969, 12, 31)])  # noqa: DTZ001
def test_times_out_of_range(moment: datetime) -> None:
    """Times that no sample has are refused."""
    for zone in (PACIFIC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-14))):
        with pytest.raises(UnreadableError):
            utc_instants([moment], zone)


@pytest.mark.parametrize("seconds", [[-1.0], [np.nan], [np.inf], [1e300], [253_370_764_801]])
def test_seconds_out_of_range(seconds: list[float]) -> None:
    """Numbers that are no seconds since 1970 are refused."""
    with pytest.raises(UnreadableError):
        instants(np.array(seconds))


@examples(st.integers(0, 253_370_764_799), st.integers(0, 999_999))
def test_seconds_to_the_microsecond(seconds: int, micros: int) -> None:
    """Seconds in text, read as a float, come out to the microsecond as long as a float holds them, and else as near as it can."""
    got = int(instants(np.array([float(f"{seconds}.{micros:06d}")]))[0])
    # Half of the distance between neighbouring floats, for the seconds that are read and for their product.
    off = np.spacing(float(seconds + 1)) * 1e6 / 2 + np.spacing((seconds + 1) * 1e6) / 2
    assert abs(seconds * 1_000_000 + micros - got) <= (0 if seconds < 2**32 else off + 1)


@examples(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 3)), max_size=30))
def test_steps_are_those_within_a_series(samples: list[tuple[int, int]]) -> None:
    """Steps are the differences that each series has on its own, in the order in which its samples came."""
    at, series = (np.array(column, np.int64) for column in (zip(*samples, strict=True) if samples else ([], [])))
    expected = []
    for name in range(4):
        own = [moment for moment, of in samples if of == name]
        expected += [after - before for before, after in pairwise(own)]
    assert expected == steps_of(at, series).tolist()


@pytest.mark.parametrize(
    ("steps", "usual", "doubt"),
    [
        ([], 0, ""),
        ([0, -5_000_000], 0, "of 2 steps in time 1 of no length, 1 backwards"),
        ([5_000_000] * 9, 5_000_000, ""),
        # LDMS samples to within a few hundred microseconds.
        (
            [1_000_212, 999_954, 1_000_100, 2_000_010],
            1_000_000,
            "of 4 steps in time 1 longer than the usual 1 s, up to 2.00001 s",
        ),
        ([60_000_000, 60_000_000, 90_000_000], 60_000_000, ""),
        ([60_000_000, 60_000_000, 90_000_001], 60_000_000, "of 3 steps in time 1 longer than the usual 60 s, up to 90 s"),
    ],
)
def test_what_is_odd(steps: list[int], usual: int, doubt: str) -> None:
    """Half a step more is not odd; anything beyond, and what stands still or falls, is."""
    assert (usual, doubt) == (usual_step(np.array(steps, np.int64)), time_doubt(np.array(steps, np.int64)))
