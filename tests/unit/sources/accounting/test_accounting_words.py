"""Words of schedulers: counts, lengths of time, moments, allocated resources."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iomine.sources.accounting import words
from iomine.sources.accounting.times import to_utc

BERLIN, NEW_YORK, LORD_HOWE = map(ZoneInfo, ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe"))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("00:00:24", 24),
        ("10-13:27:06", 912_426),
        ("144:00:00", 518_400),
        ("03:21", 201),
        ("01:02.500", 62.5),
        ("75", 75),
        ("12837.318", 12837.318),
        ("30240:00", 1_814_400),
        ("UNLIMITED", None),
        ("Partition_Limit", None),
        ("INVALID", None),
        ("", None),
    ],
)
def test_lengths_of_time(text, seconds):
    """Each form of a length of time is that many seconds, and no limit is none."""
    assert seconds == words.seconds(text)


@pytest.mark.parametrize(
    ("text", "count"), [("12", 12), ("2K", 2048), ("1.50K", 1536), ("1M", 1 << 20), ("0", 0), ("9223372036854775807", 2**63 - 1)]
)
def test_counts(text, count):
    """Slurm shortens counts that 1024 divides."""
    assert count == words.count(text)


@pytest.mark.parametrize("text", ["9223372036854775808", "9999999999999999999", "8E", "-1", "1.5", "1e3", "٣", "9" * 5000, " 1"])
def test_counts_that_are_none(text):
    """What does not fit 64 bits, is negative, broken or written in other digits is no count."""
    with pytest.raises(ValueError, match=r"^"):
        words.count(text)


def test_numbers_that_name_something():
    """A user's number has no unit."""
    assert [0, 4294967294, None] == [words.number(text) for text in ("0", "4294967294", "")]
    with pytest.raises(ValueError, match=r"^2K$"):
        words.number("2K")


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2016-12-22T07:15:12", datetime(2016, 12, 22, 7, 15, 12)),  # noqa: DTZ001  that is the point
        ("2016-12-22T07:15:12+0100", datetime(2016, 12, 22, 6, 15, 12, tzinfo=UTC)),
        ("2016-12-22 07:15:12Z", datetime(2016, 12, 22, 7, 15, 12, tzinfo=UTC)),
        ("1482390912", datetime(2016, 12, 22, 7, 15, 12, tzinfo=UTC)),
        ("1482390912.25", datetime(2016, 12, 22, 7, 15, 12, 250_000, tzinfo=UTC)),
        ("Unknown", None),
        ("None", None),
        ("0", None),
    ],
)
def test_moments(text, moment):
    """Moments come without a zone, with one, or counted since 1970."""
    assert moment == words.moment(text)


@pytest.mark.parametrize(
    "text", ["2016-02-30T00:00:00", "2016-12-22T25:00:00", "Ystday 14:30", "99999999999", "0001-01-01T00:00:00"]
)
def test_moments_that_are_none(text):
    """Days that do not exist and times relative to that of printing are no moments."""
    with pytest.raises(ValueError, match=r"^"):
        words.moment(text)


@pytest.mark.parametrize(
    ("text", "tres"),
    [
        ("billing=12,cpu=12,gres/gpu=2,mem=62.50G,node=8", (8, 12, 2)),
        ("cpu=4,gres/gpu:a100=2,gres/gpu=2,node=1", (1, 4, 2)),
        ("cpu=4,gres/gpu:a100=2,gres/gpu:v100=1,node=1", (1, 4, 3)),
        ("cpu=4,gres/gpumem=80G,gres/gpuutil=90,node=1", (1, 4, 0)),
        ("cpu=1K,node=1", (1, 1024, 0)),
        ("", (None, None, None)),
    ],
)
def test_allocated_resources(text, tres):
    """GPUs of a type are among those without one; memory and load of GPUs are no GPUs."""
    assert tres == words.tres(text)


@pytest.mark.parametrize(("text", "state"), [("CANCELLED by 380693", "CANCELLED"), ("NODE_FAIL", "NODE_FAIL"), ("", None)])
def test_states(text, state):
    """Who cancelled a job is no part of its state."""
    assert state == words.state(text)


def test_each_word_is_read_once_and_failures_are_reported_by_row():
    """A text that many rows share is read once; those that are not understood are None, and their rows are reported."""
    asked = []

    def read(text):
        asked.append(text)
        return int(text)

    values, indices, misread = words.read_each(pa.array(["1", "x", "1", None, "2", "x"]), read)
    assert [1, None, 1, None, 2, None] == pa.array(values).take(indices).to_pylist()
    assert ["1", "2", "x"] == sorted(asked)
    assert [1, 5] == misread


def by_zoneinfo(local, zone):
    """Python's own answer: the moment, and whether it is the only one."""
    first, second = (local.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    is_sure = first.utcoffset() == second.utcoffset()
    if first.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != local:
        # In a gap, the two readings lie on both sides of the change, which is the one moment at which the offset differs.
        after, before = first.astimezone(UTC), second.astimezone(UTC)
        while after - before > timedelta(microseconds=1):
            middle = before + (after - before) // 2
            before, after = (middle, after) if middle.astimezone(zone).utcoffset() == second.utcoffset() else (before, middle)
        return after, False
    return first.astimezone(UTC), is_sure


@given(
    st.lists(st.datetimes(datetime(1990, 1, 1), datetime(2035, 1, 1)).map(lambda each: each.replace(microsecond=0)), max_size=20),  # noqa: DTZ001
    st.sampled_from([BERLIN, NEW_YORK, LORD_HOWE, UTC, timezone(timedelta(hours=5, minutes=30))]),
)
def test_local_times_are_those_of_python(moments, zone):
    """Arrow's zones and Python's agree on every local time."""
    found = to_utc(pa.array([each.isoformat() for each in moments], pa.string()), zone)
    expected = [by_zoneinfo(each, zone) for each in moments]
    assert [moment for moment, _ in expected] == found.moments.to_pylist()
    assert [index for index, (_, is_sure) in enumerate(expected) if not is_sure] == found.unsure
    assert [] == found.misread


@pytest.mark.parametrize(
    ("local", "moment", "is_sure"),
    [
        ("2024-10-27T01:59:59", "2024-10-26T23:59:59", True),
        ("2024-10-27T02:30:00", "2024-10-27T00:30:00", False),
        ("2024-10-27T03:00:00", "2024-10-27T02:00:00", True),
        ("2024-03-31T01:59:59", "2024-03-31T00:59:59", True),
        ("2024-03-31T02:30:00", "2024-03-31T01:00:00", False),
        ("2024-03-31T03:00:00", "2024-03-31T01:00:00", True),
    ],
)
def test_changes_of_clocks(local, moment, is_sure):
    """Of the hour that occurs twice the first is taken, of the one that does not occur its end, and both are reported."""
    found = to_utc(pa.array([local]), BERLIN)
    assert [datetime.fromisoformat(moment).replace(tzinfo=UTC)] == found.moments.to_pylist()
    assert ([] if is_sure else [0]) == found.unsure


def test_moments_with_a_zone_stay():
    """A moment with a zone is no local time; one that is not understood is reported."""
    found = to_utc(pa.array(["2024-10-27T02:30:00+0200", "1729989000", "", None, "yesterday"]), BERLIN)
    assert [datetime(2024, 10, 27, 0, 30, tzinfo=UTC)] * 2 + [None] * 3 == found.moments.to_pylist()
    assert ([4], []) == (found.misread, found.unsure)
