"""The year of benchmark runs that thresholds are chosen by is read as it was published."""

from collections import Counter
from itertools import pairwise
from statistics import median

import pyarrow as pa
import pytest
from shared import NOT_HERE, Row
from tokio_year import RULES, SAMPLE, YEAR, cross, runs

# Of what the tables say of a run, all but what follows from other runs.
_OF_OTHERS = {"slowdown", "others_rank_ratio", "meta_rank_ratio"}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """The year's runs."""
    if not YEAR.exists():
        pytest.skip(NOT_HERE)
    return runs(YEAR)


@pytest.fixture(scope="module")
def year(table: pa.Table) -> list[Row]:
    """The same, run by run."""
    return table.to_pylist()


def test_the_year_has_all_its_runs(year: list[Row]) -> None:
    """A row per log, eight in most jobs, on three file systems; 24 kinds of runs that happened often."""
    sizes = Counter(Counter(run["job_id"] for run in year).values())
    groups = Counter(run["group"] for run in year if run["slowdown"])
    assert (7500, 983, 878) == (len(year), sizes.total(), sizes[8])
    assert {"scratch1": 2323, "scratch2": 2578, "scratch3": 2593, None: 6} == Counter(run["file_system"] for run in year)
    assert (24, 259, 335) == (len(groups), min(groups.values()), max(groups.values()))


def test_runs_of_a_job_follow_one_another(year: list[Row]) -> None:
    """No two runs of a job overlap, so each has the servers' numbers of a time of its own; all are on one file system."""
    by_job: dict[int, list[Row]] = {}
    for run in sorted(year, key=lambda run: run["start_at"]):
        by_job.setdefault(run["job_id"], []).append(run)
    for job in by_job.values():
        assert 1 == len({run["file_system"] for run in job} - {None})
        for one, other in pairwise(job):
            assert (other["start_at"] - one["start_at"]).total_seconds() >= one["run_seconds"]


def test_the_first_run_is_what_its_line_says(year: list[Row]) -> None:
    """Units and sums, worked out by hand from the first line of the file."""
    first = year[0]
    assert ("dbscan_read", "read", "shared", "scratch1", 2048) == tuple(
        first[name] for name in ("application", "op", "mode", "file_system", "nprocs")
    )
    assert "2017-02-14T17:41:36" == first["start_at"].isoformat()
    assert 19248.509375 * 2**20 == first["io_bytes_per_second"]
    assert pytest.approx(1.64929106739e12 / (1.77643480269e12 + 5552134449)) == first["own_ratio"]
    assert (
        pytest.approx((1.77643480269e12 + 5552134449 - 1.64929106739e12) / (1487065394 - 1487065296))
        == (first["others_bytes_per_second"])
    )
    assert pytest.approx(1429.2210526) == first["fs_meta_calls_per_second"]
    assert pytest.approx(0.6758681777) == first["fullest_ost_ratio"]
    assert pytest.approx(0.0567991815) == first["oss_cpu_ratio"]
    assert 1621 == first["concurrent_job_count"]
    assert first["others_rank_ratio"] is None


def test_rates_fit_into_runs(year: list[Row]) -> None:
    """At the rate that Darshan estimates, no run would have taken longer than it did; so it is in MiB, not in MB."""
    for run in year:
        if run["io_bytes_per_second"]:
            assert run["moved_bytes"] / run["io_bytes_per_second"] <= run["run_seconds"]


def test_what_was_not_measured_is_unknown(table: pa.Table) -> None:
    """Six logs have no POSIX records; servers, fullness and accounting have gaps, and some traffic cannot be believed."""
    gaps = {
        "op": 6,
        "slowdown": 50,
        "fs_read_bytes_per_second": 30,
        "own_ratio": 117,
        "others_bytes_per_second": 117,
        "mean_ost_full_ratio": 195,
        "failed_over_ost_count": 219,
        "concurrent_job_count": 278,
    }
    assert gaps == {name: table[name].null_count for name in gaps}


def test_the_sample_is_part_of_the_year(year: list[Row]) -> None:
    """All 500 runs of the sample are runs of the year, number by number."""
    known = {(run["job_id"], run["start_at"]): run for run in year}
    sample = runs(SAMPLE).to_pylist()
    assert 500 == len(sample)
    for run in sample:
        same = known[run["job_id"], run["start_at"]]
        assert {name: same[name] for name in run if name not in _OF_OTHERS} == {
            name: run[name] for name in run if name not in _OF_OTHERS
        }


def test_slowdowns_are_against_the_group(year: list[Row]) -> None:
    """A run's slowdown is the median rate of its group over its own, run by run."""
    rates: dict[str, list[float]] = {}
    for run in year:
        rates.setdefault(run["group"], []).append(run["io_bytes_per_second"])
    medians = {group: median(own) for group, own in rates.items() if group and len(own) >= 30}
    for run in year:
        assert (run["slowdown"] is None) == (run["group"] not in medians)
        if run["slowdown"]:
            assert pytest.approx(medians[run["group"]] / run["io_bytes_per_second"]) == run["slowdown"]


@pytest.mark.parametrize(
    ("rank", "value"), [("others_rank_ratio", "others_bytes_per_second"), ("meta_rank_ratio", "fs_meta_calls_per_second")]
)
def test_ranks_are_among_the_past_days(rank: str, value: str, year: list[Row]) -> None:
    """A rank is the share of the runs of 30 days on the file system that had less, of every 97th run counted one by one."""
    for run in year[::97]:
        past = [
            other[value]
            for other in year
            if other["file_system"] == run["file_system"]
            and 0 < (run["start_at"] - other["start_at"]).total_seconds() <= 30 * 86_400
            and other[value] is not None
        ]
        if run[value] is None or len(past) < 30:
            assert run[rank] is None
        else:
            assert pytest.approx(sum(each < run[value] for each in past) / len(past)) == run[rank]


def test_slow_runs_met_loaded_and_full_file_systems(table: pa.Table) -> None:
    """The counts that speak for thresholds: by others' load, by fullness and by both."""
    counted = {name: cross(table, RULES[name], 1.5) for name in RULES}
    assert (91, 594, 322, 6255) == counted["others rank >= 0.95"]
    assert (224, 444, 306, 6287) == counted["fullest OST >= 90% full"]
    assert (308, 345, 604, 5840) == counted["others rank >= 0.95 or fullest OST >= 90% full"]
    assert all(counts.lift > 1.5 for counts in counted.values())
