"""`stats` of targets and clients, of all generations of Lustre."""

from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import CHANGED, LUSTRE, members, read, rows, shared
from shared import NOT_HERE

_HERE = pytest.mark.skipif(not LUSTRE.is_dir(), reason=NOT_HERE)
_ABOUT = ("source_kind", "target", "target_kind", "scope", "owner")


def _reported(row: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in names)


def _member(archive: str, end: str) -> Any:
    (path, data) = next(each for each in members(f"procfs/{archive}.tar.gz") if each[0].endswith(end))
    return read(data, path)


@_HERE
@pytest.mark.parametrize(
    ("archive", "end", "about", "counter", "expected"),
    [
        (
            "lmt_lustre-1.8.3",
            "/lc1-OST0001/stats",
            ("stats", "lc1-OST0001", "ost", "target", ""),
            "write_bytes",
            (datetime(2010, 9, 11, 21, 39, 48, 775657, UTC), None, "bytes", 1432924, 1.0, 1048576.0, 744266735272.0, None),
        ),
        (
            "lmt_lustre-1.8.3",
            "/mds/lc1-MDT0000/stats",
            ("stats", "lc1-MDT0000", "mdt", "target", ""),
            "open",
            (datetime(2010, 9, 11, 21, 35, 56, 145593, UTC), None, "reqs", 3184513192, None, None, None, None),
        ),
        (
            "lmt_lustre-2.0.53",
            "/192.168.1.29@tcp/stats",
            ("exports", "lustre-MDT0000", "mdt", "client", "192.168.1.29@tcp"),
            "unlink",
            (datetime(2010, 10, 22, 15, 59, 57, 347506, UTC), None, "reqs", 891, None, None, None, None),
        ),
        (
            "lmt_lustre-2.10.8",
            "/md_stats",
            ("md_stats", "lquake-MDT0000", "mdt", "target", ""),
            "link",
            (datetime(2019, 10, 30, 3, 8, 41, 583001, UTC), None, "reqs", 10, None, None, None, None),
        ),
        (
            "lmt_lustre-2.15.4_1",
            "/lflood-OST0001/stats",
            ("stats", "lflood-OST0001", "ost", "target", ""),
            "read",
            (
                *(datetime(2024, 1, 10, 22, 1, 57, 40584, UTC), datetime(2024, 1, 4, 21, 31, 57, 45921, UTC)),
                *("usecs", 1705491, 966.0, 411413.0, 3265635927.0, 10987721691189.0),
            ),
        ),
        (
            "hpe_lustre2.9-2.10_all-roles",
            "/lustrefs-OST0000-osc-ffff88105db50000/stats",
            ("osc", "lustrefs-OST0000-osc-ffff88105db50000", "client", "target", ""),
            # The sum of squares has wrapped: it is below the square of the sum over the count.
            "write_bytes",
            (datetime(2017, 11, 17, 20, 27, 39, 787092, UTC), None, "bytes", 18210280, 4096.0, 4194304.0, 65298098221056.0, None),
        ),
        (
            "hpe_lustre2.9-2.10_all-roles",
            "/llite/lustrefs-ffff88105db50000/stats",
            ("llite", "lustrefs-ffff88105db50000", "client", "target", ""),
            "open",
            (datetime(2017, 11, 17, 20, 27, 39, 772792, UTC), None, "regs", 136, None, None, None, None),
        ),
        (
            "hpe_lustre2.9-2.10_all-roles",
            "/osd-zfs/lustrefs-OST0000/stats",
            ("osd", "lustrefs-OST0000", "ost", "target", ""),
            "tail",
            (datetime(2017, 11, 15, 21, 50, 6, 797088, UTC), None, "pages", 20463, 1.0, 1.0, 20463.0, None),
        ),
        (
            "hpe_lustre2.9-2.10_all-roles",
            "/lustrefs-MDT0000-mdc-ffff88105db50000/stats",
            ("mdc", "lustrefs-MDT0000-mdc-ffff88105db50000", "client", "target", ""),
            "mds_close",
            (datetime(2017, 11, 17, 20, 27, 39, 781611, UTC), None, "usec", 11, 205.0, 3058.0, 12404.0, 26655802.0),
        ),
    ],
)
def test_counters_of_copies_of_proc(archive: str, end: str, about: Any, counter: str, expected: Any) -> None:
    """The path of a file says whose counters it holds; what a generation lacks is NULL."""
    got = _member(archive, end)
    (row,) = rows(got, counter=counter)
    numbers = ("sample_count", "least_amount", "most_amount", "amount", "squares_amount")
    assert (about, expected) == (
        _reported(row, *_ABOUT),
        _reported(row, "sampled_at", "counted_since_at", "counter_unit", *numbers),
    )
    assert row["sampled_at"].date() == row["night"]
    assert not got.doubt


@_HERE
def test_a_counter_that_occurs_twice() -> None:
    """Two counters of one name in a table are two rows, as nothing says which is which."""
    assert [35359, 124430] == [
        row["sample_count"] for row in rows(_member("hpe_lustre2.9-2.10_all-roles", "OST0000/stats"), counter="statfs")
    ]


@_HERE
@pytest.mark.parametrize(
    ("name", "about", "at"),
    [
        # Microseconds without leading zeros: .20113 is 0.020113 s.
        ("mdt_OST0001_md_stats", ("md_stats", "OST0001", "mdt", "target", ""), datetime(2015, 8, 4, 13, 0, 38, 20113, UTC)),
        ("obdfilter_OST0001_stats", ("stats", "OST0001", "ost", "target", ""), datetime(2015, 8, 4, 12, 57, 44, 430544, UTC)),
        (
            "obdfilter_OST0001_exports_10.2.4.27@o2ib1_stats",
            ("exports", "OST0001", "ost", "client", "10.2.4.27@o2ib1"),
            datetime(2015, 8, 4, 12, 57, 44, 430544, UTC),
        ),
    ],
)
def test_names_of_files_are_read_where_they_are_plain(name: str, about: Any, at: datetime) -> None:
    """A target and a client that stand in a file's name are taken from it."""
    got = rows(read(shared(f"procfs/telegraf2.12_{name}"), f"/data/telegraf2.12_{name}"))
    assert {(*about, at)} == {_reported(row, *_ABOUT, "sampled_at") for row in got}


@_HERE
def test_exports_of_a_combined_output() -> None:
    """Each part of a combined output goes to whom its name says, also where it follows the name on its line."""
    got = read(shared("lctl/wc_2.14.0_ddn133_exports.txt"))
    found = rows(got, owner="192.168.0.100@o2ib", target="ai400x2-OST0000")
    assert {("exports", "ai400x2-OST0000", "ost", "client", "192.168.0.100@o2ib")} == {_reported(row, *_ABOUT) for row in found}
    text = shared("lctl/wc_2.14.0_ddn133_exports.txt").decode()
    block = text.split("obdfilter.ai400x2-OST0000.exports.192.168.0.100@o2ib.stats=\n")[1].split("=")[0].splitlines()[1:-1]
    assert [(*(int(word) for word in line.split()[1::2][:1]), line.split()[0]) for line in block] == [
        (row["sample_count"], row["counter"]) for row in found
    ]


@_HERE
def test_what_is_left_out_is_counted_by_name() -> None:
    """Parameters that are of no use, those of services and of the management server are left out, and said to be."""
    doubt = read(shared("lctl/wc_llite_client.txt")).doubt
    assert "left out are 1 memused, 1 memused_max, 1 lnet_memused, 1 health_check, 1 ldlm_cbd.stats" == doubt


@_HERE
def test_a_parameter_that_occurs_twice_at_once() -> None:
    """Where two patterns matched a parameter, the last of its values counts."""
    got = read(shared("lctl/exascaler6_ai400x2_get_param.txt"))
    found = rows(got, "lustre_histogram", target="ai400x2-OST0000", histogram="pages per bulk r/w")
    assert (9, {166934}) == (len(found), {row["sampled_at"].microsecond for row in found})
    assert "parameters that occur more than once: 3" in got.doubt


_READ = "obdfilter.fs-OST0001.stats=\nsnapshot_time             {time}\nread_bytes                {numbers}\n"


def test_series_of_one_target() -> None:
    """A parameter that occurs again a second later or more is another reading."""
    text = "".join(
        _READ.format(time=f"176762220{second}.000000000 secs.nsecs", numbers=f"{second} samples [bytes] 1 1 1")
        for second in (1, 2, 4)
    )
    assert [1, 2, 4] == [row["sample_count"] for row in rows(read(text))]


_JOB = (
    "obdfilter.fs-OST0001.job_stats=\njob_stats:\n- job_id:          7\n  snapshot_time:   {last_io}\n"
    "  punch:           {{ samples:  {count}, unit:  reqs }}\n"
)


def _readings_of_jobs(text: str, path: str = "/x") -> tuple[list[tuple[int, int]], str, bool]:
    """The epoch seconds and the count of each reading, the doubt, and whether the text itself says when it was read."""
    got = read(text, path)
    found = [(int(row["sampled_at"].timestamp()), row.get("sample_count", 0)) for row in rows(got, scope="job")]
    return found, got.doubt, got.has_moment


@pytest.mark.parametrize("mark", ["BEGIN {}\n", "{}\n"])
def test_series_of_job_stats(mark: str) -> None:
    """`job_stats` that are repeated below lines with a time are readings of these times, whatever the path says."""
    minutes = [1767622200, 1767622800, 1767623400]
    text = "".join(mark.format(at) + _JOB.format(last_io=at - 9, count=at % 1000) for at in minutes)
    assert ([(at, at % 1000) for at in minutes], "", True) == _readings_of_jobs(text, "/2026-01-05/0000")
    late = mark.format(minutes[0]) + _JOB.format(last_io=minutes[1], count=5)
    doubt = "readings of job_stats with I/O a minute or more after the time above them: 1"
    assert ([(minutes[1], 5)], doubt, True) == _readings_of_jobs(late)


def test_series_of_job_stats_without_times() -> None:
    """Repeated `job_stats` that nothing dates are kept as of their last I/O; of those that say nothing new the last is kept."""
    none = "obdfilter.fs-OST0001.job_stats=job_stats:\n"
    text = none + "".join(_JOB.format(last_io=1767622200 + at, count=count) for at, count in ((0, 1), (0, 2), (600, 3))) + none
    found, doubt, has_moment = _readings_of_jobs(text, "/2026-01-05/2300")
    evening = int(datetime(2026, 1, 5, 23, tzinfo=UTC).timestamp())
    assert ([(1767622200, 2), (1767622800, 3), (evening, 0)], True) == (found, has_moment)
    assert "readings of job_stats that nothing dates, taken as read at the last I/O in them: 2" in doubt
    assert "parameters that occur more than once: 2" in doubt
    twice = _JOB.format(last_io=1767622200, count=1) * 2
    assert [(evening, 1)] == _readings_of_jobs(twice, "/2026-01-05/2300")[0]


def test_clocks_since_boot() -> None:
    """A table with times since the boot has the time of its file, and counts since nobody knows when."""
    text = _READ.format(
        time="1896247.780050045 secs.nsecs\nstart_time  379440.150439687 secs.nsecs", numbers="1 samples [bytes] 1 1 1"
    )
    got = read(text, "/2026-01-05/1410")
    assert [(datetime(2026, 1, 5, 14, 10, tzinfo=UTC), None)] == [
        _reported(row, "sampled_at", "counted_since_at") for row in rows(got)
    ]
    assert "times since the server's boot, which have no date: 1" == got.doubt
    assert {CHANGED} == {row["sampled_at"] for row in rows(read(text))}
    assert "nothing but the file's time of change" in read(text).doubt


def test_job_stats_beside_stats() -> None:
    """`job_stats` do not say when they were read; stats in the same text do, unless the path does."""
    jobs = "job_stats:\n- job_id:          7\n  snapshot_time:   1767622000\n  punch:           { samples:  1, unit:  reqs }\n"
    text = (
        _READ.format(time="1767622207.000000000 secs.nsecs", numbers="1 samples [bytes] 1 1 1")
        + f"mdt.fs-MDT0000.job_stats=\n{jobs}"
    )
    for path, at in (
        ("/x", datetime(2026, 1, 5, 14, 10, 7, tzinfo=UTC)),
        ("/2026-01-05/1500", datetime(2026, 1, 5, 15, tzinfo=UTC)),
    ):
        got = read(text, path)
        assert ([("7", "mdt", at)], "") == (
            [_reported(row, "owner", "target_kind", "sampled_at") for row in rows(got, scope="job")],
            got.doubt,
        )


@given(st.integers(1, 2**63 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_squares_that_wrapped(samples: int, amount: int, squares: int) -> None:
    """No numbers have a sum of squares below the square of their sum over their count; such a one is NULL."""
    text = _READ.format(time="1767622207.1 secs.nsecs", numbers=f"{samples} samples [bytes] 0 1 {amount} {squares}")
    (row,) = rows(read(text))
    is_sound = squares * samples >= amount**2 * (1 - Fraction(1, 10**9))
    assert (samples, float(amount), float(squares) if is_sound else None) == _reported(
        row, "sample_count", "amount", "squares_amount"
    )


@pytest.mark.parametrize(
    "numbers",
    [
        f"{2**63} samples [bytes] 1 1 1",
        f"1 samples [bytes] 1 1 {2**64}",
        f"1 samples [bytes] 1 1 1 {10**30}",
        "-1 samples [bytes] 1 1 1",
        "1 samples [bytes] 1 1",
        "1 samples",
        "x samples [reqs]",
    ],
)
def test_numbers_that_no_counter_holds(numbers: str) -> None:
    """A line that is cut or holds a number beyond a counter is left out and reported; the others stay."""
    text = _READ.format(time="1767622207.1 secs.nsecs", numbers=f"5 samples [bytes] 1 1 5\nwrite_bytes     {numbers}")
    got = read(text)
    assert ["read_bytes"] == [row["counter"] for row in rows(got)]
    assert "lines left out, which are not as Lustre writes them or hold numbers that no counter holds: 1" == got.doubt


def test_largest_numbers() -> None:
    """Counters may be as large as 64 bits hold."""
    text = _READ.format(time="1767622207.1 secs.nsecs", numbers=f"{2**63 - 1} samples [bytes] 0 1 {2**64 - 1}")
    assert [(2**63 - 1, float(2**64))] == [_reported(row, "sample_count", "amount") for row in rows(read(text))]


def test_a_last_line_that_is_cut() -> None:
    """Where the text ends within a line's numbers, digits may be missing: it is doubted."""
    text = _READ.format(time="1767622207.1 secs.nsecs", numbers="5 samples [bytes] 1 10 50")
    assert (50.0, "the last line does not end, so that its last number may be cut") == (
        rows(read(text[:-1]))[0]["amount"],
        read(text[:-1]).doubt,
    )
