"""When an input was read."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iomine.sources.clock import read_at, time_in_path
from iomine.sources.model import Input

_CHANGED = datetime(2026, 2, 1, tzinfo=UTC)
_CENTURY = datetime.fromisoformat("2000-01-02"), datetime.fromisoformat("2098-12-30")
_BERLIN = ZoneInfo("Europe/Berlin")


def _input(path: str, zone=UTC) -> Input:
    return Input(path, b"", _CHANGED, zone)


@pytest.mark.parametrize(
    ("path", "time"),
    [
        ("/lustre/job_stats/2026-01-05/1410.txt.gz", "2026-01-05 14:10:00"),
        ("/lustre/2026-01-05/oss03/1410.txt", "2026-01-05 14:10:00"),
        ("/lustre/20260105T141007.txt", "2026-01-05 14:10:07"),
        ("/lustre/job_stats-2026-01-05T14:10:07.gz", "2026-01-05 14:10:07"),
        ("/lustre/job_stats.2026-01-05_14-10-07", "2026-01-05 14:10:07"),
        ("/lustre/202601051410", "2026-01-05 14:10:00"),
        ("/lustre/2026/01/05/14/10/oss3", "2026-01-05 14:10:00"),
        ("/lustre/2026-01-05T14:10:07Z.txt", "2026-01-05 14:10:07"),
        ("/lustre/2026-01-05T14:10:07+05:30.txt", "2026-01-05 08:40:07"),
        ("/lustre/stats.1767622207.txt", "2026-01-05 14:10:07"),
        ("/1767622207/2026-02-03/0102", "2026-02-03 01:02:00"),
        ("/2026-02-03/0102/1767622207", "2026-01-05 14:10:07"),
        ("/20250101T000000/2026-01-05/1410.txt", "2026-01-05 14:10:00"),
    ],
)
def test_paths_that_name_a_time(path: str, time: str) -> None:
    """Dates with times of day and seconds since the epoch are found in paths; of several the last counts."""
    assert time == f"{time_in_path(_input(path)):%Y-%m-%d %H:%M:%S}"


@pytest.mark.parametrize(
    ("path", "time"),
    [
        ("/2026-10-25/0230", "2026-10-25 00:30:00"),
        ("/2026-03-29/0230", "2026-03-29 01:30:00"),
    ],
)
def test_a_local_time_that_does_not_occur_once_is_doubtful(path: str, time: str) -> None:
    """In the hour that clocks show twice the first is taken, and the doubt says so; an offset in the path leaves none."""
    at, doubt = read_at(_input(path, _BERLIN))
    assert (time, "its path names a local time that does not occur once, because clocks changed") == (
        f"{at:%Y-%m-%d %H:%M:%S}",
        doubt,
    )
    assert "" == read_at(_input(f"{path}+01:00", _BERLIN)).doubt == read_at(_input(path)).doubt
    assert "" == read_at(_input("/2026-10-25/0130", _BERLIN)).doubt


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/lustre/job_stats",
        "/lustre/2026-01-05/job_stats",
        "/lustre/2026-13-05/1410",
        "/lustre/2026-01-05/2460",
        "/lustre/2026-01/1410",
        "/osc/fs-OST0000-osc-ffff881767622207/stats",
        "/exports/10.20.26.1@o2ib/stats",
        "/17676222071/stats",
        "/" + "2026-01-05" * 400,
    ],
)
def test_paths_that_name_none(path: str) -> None:
    """A date alone, a time that is none, and digits of something else name no time."""
    assert time_in_path(_input(path)) is None


@given(
    st.datetimes(*_CENTURY),
    st.sampled_from(["%Y%m%dT%H%M%S", "%Y-%m-%d/%H:%M:%S", "%Y%m%d%H%M%S"]),
)
def test_times_without_zone_are_in_the_inputs(at: datetime, form: str) -> None:
    """A time of day without a zone is in the input's."""
    expected = at.replace(microsecond=0, tzinfo=_BERLIN).astimezone(UTC)
    assert expected == time_in_path(_input(f"/x/{at:{form}}.txt", _BERLIN))


def test_what_counts_first() -> None:
    """The path counts before the content, and this before the time of change, which is doubted."""
    reported = datetime(2026, 1, 7, tzinfo=UTC)
    assert (datetime(2026, 1, 5, 14, 10, tzinfo=UTC), "") == read_at(_input("/2026-01-05/1410"), reported)
    assert (reported, "") == read_at(_input("/x"), reported)
    assert (_CHANGED, "nothing but the file's time of change says when it was read") == read_at(_input("/x"))


@pytest.mark.parametrize(("late", "is_doubted"), [(-1, False), (0, False), (60, False), (61, True)])
def test_nothing_is_read_before_it_happens(late: int, is_doubted: bool) -> None:
    """A time before the latest event gives way to it, and is doubted if more than a minute is between them."""
    named = datetime(2026, 1, 5, 14, 10, tzinfo=UTC)
    latest = named + timedelta(seconds=late)
    at, doubt = read_at(_input("/2026-01-05/1410"), latest=latest)
    assert max(named, latest) == at
    assert is_doubted == bool(doubt)
