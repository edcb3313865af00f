"""A year of benchmark runs on Edison's three Lustre file systems, with what the servers did meanwhile.

The tables are those behind "A Year in the Life of a Parallel File System" (Lockwood et al., SC18): one row per Darshan log of
IOR, HACC-IO, VPIC-IO and BD-CATS (`dbscan_read`), with LMT's 5-second samples of the servers, OST fullness and accounting. A
job runs eight of them one after the other on one file system, so rows that share a job are runs of their own, minutes apart:
none overlap, but what ails the file system, or the job's nodes, may hit several. The sample is 500 rows of the year's 7,500.

`python tests/tokio_year.py` prints how often slow runs met a loaded or full file system, and how often others did.
"""

import gzip
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv
from shared import SHARED_DATA

FOLDER: Final = SHARED_DATA / "traces" / "tokio_year"
YEAR: Final = FOLDER / "edison-summaries_2017-02-14-2018-02-15.csv.gz"
SAMPLE: Final = FOLDER / "sample_summaries.csv.gz"

# A group's median, and a rank among earlier runs, of fewer are chance.
_FEWEST: Final = 30
_PAST_SECONDS: Final = 30 * 86_400
# Shares of samples that LMT lacks, and of traffic that a run can have made, above which the servers' numbers are not believed;
# the latter is the paper's.
MOST_MISSING, _MOST_OWN = 0.05, 1.2

Numbers = npt.NDArray[Any]

# Our names, and theirs. Rates are means over the run and the 5 s after it, as bytes linger in clients' caches; maxima are of one
# 5-second sample and now and then beyond what the hardware can do. Each file system has one MDT.
_AS_IT_STANDS: Final = {
    "job_id": "_jobid",
    "file_system": "_file_system",
    "run_seconds": "darshan_walltime",
    "nprocs": "darshan_nprocs",
    "read_bytes": "darshan_tot_bytes_read_posix",
    "write_bytes": "darshan_tot_bytes_written_posix",
    "read_seconds": "darshan_tot_f_read_time_posix",
    "write_seconds": "darshan_tot_f_write_time_posix",
    "meta_seconds": "darshan_tot_f_meta_time_posix",
    "fs_read_bytes_per_second": "fs_ave_bytes_read_per_sec",
    "fs_write_bytes_per_second": "fs_ave_bytes_written_per_sec",
    "fs_max_read_bytes_per_second": "fs_max_bytes_read_per_sec",
    "fs_max_write_bytes_per_second": "fs_max_bytes_written_per_sec",
    "fs_opens_per_second": "fs_ave_open_ops_per_sec",
    "fs_max_opens_per_second": "fs_max_open_ops_per_sec",
    "missing_ratio": "fs_frac_missing",
    "failed_over_ost_count": "fshealth_ost_overloaded_ost_count",
}
_PERCENTAGES: Final = {
    "oss_cpu_ratio": "fs_ave_oss_cpu",
    "max_oss_cpu_ratio": "fs_max_oss_cpu",
    "mds_cpu_ratio": "fs_ave_mds_cpu",
    "max_mds_cpu_ratio": "fs_max_mds_cpu",
    "mean_ost_full_ratio": "fshealth_ost_avg_full_pct",
    "fullest_ost_ratio": "fshealth_ost_most_full_pct",
}
_META_CALLS: Final = "open close getattr setattr getxattr mknod link unlink mkdir rmdir rename statfs".split()


def runs(path: Path) -> pa.Table:
    """Runs of one of the tables, in its order; NULL is what was not measured or cannot be believed.

    Args:
        path: `YEAR` or `SAMPLE`.

    Returns:
        A row for each run. Bytes, seconds and counts are what their names say; ratios are between 0 and 1, except `own_ratio`.

        - `start_at`: by Darshan's clock. (`_datetime_start` is the wall clock of California, 7 or 8 hours less.)
        - `op`, `mode`: all runs either read or write, through one file or a file per process.
        - `*_seconds` of reads, writes and metadata calls: summed over all ranks.
        - `fs_bytes`, `fs_seconds`: reads and writes that the servers counted, and the time in which they did.
        - `io_bytes_per_second`: bytes over the time of the slowest rank, as Darshan estimates it (theirs is in MiB/s).
        - `group`: application, op, mode, file system, processes and GiB, within which runs should be alike.
        - `slowdown`: median rate of the group over the run's own; NULL in groups of less than 30.
        - `own_ratio`: the run's bytes over those that the servers counted meanwhile, the paper's coverage. A run that is slow
          for any reason lasts longer, in which others move more; so it falls with slowness as such.
        - `others_bytes_per_second`: reads and writes that the servers counted and the run did not make. Servers and Darshan
          differ by a percent or two, so for a run with nearly all of the traffic this is rather noise.
        - `others_rank_ratio`, `meta_rank_ratio`: share of the runs of the 30 days before on the same file system in which others
          moved less, or in which there were fewer metadata calls; NULL where those are less than 30.
        - `fs_meta_calls_per_second`: metadata calls of all kinds and jobs.
        - `*_cpu_ratio`: mean over servers and samples, and the largest of one server in one sample.
        - `*_ost_ratio`, `mean_ost_full_ratio`: how full OSTs were before the run; `failed_over_ost_count`: OSTs that another
          server than their own served.
        - `concurrent_job_count`: jobs on the machine at any time of the run; theirs is 0 where it was not measured.
        - `missing_ratio`: share of LMT's samples of servers that are missing.
    """
    raw = _read(path)
    start = raw["darshan_start_time"]
    moved = raw["darshan_tot_bytes_read_posix"] + raw["darshan_tot_bytes_written_posix"]
    rate = raw["darshan_agg_perf_by_slowest_posix"] * 2**20
    own, others = _traffic(raw, moved)
    meta_calls = sum(raw[f"fs_ave_{call}_ops_per_sec"] for call in _META_CALLS)
    jobs = raw["jobsdb_concurrent_jobs"].astype(float)
    kinds = {
        "application": np.array([exe.rpartition("/")[2] for exe in raw["darshan_app"]]),
        "op": np.where(raw["darshan_tot_bytes_written_posix"] > 0, "write", "read"),
        "mode": np.where(raw["darshan_num_opens_posix"] == 1, "shared", "file per process"),
    }
    # Of a log without POSIX records nothing of the kind is known.
    has_moved = ~np.isnan(moved)
    scale = (raw["_file_system"], raw["darshan_nprocs"], np.rint(np.nan_to_num(moved) / 2**30).astype(int))
    groups = np.array([" ".join(map(str, each)) for each in zip(*kinds.values(), *scale, strict=True)])
    found = {
        **{name: raw[theirs] for name, theirs in _AS_IT_STANDS.items()},
        **{name: raw[theirs] / 100 for name, theirs in _PERCENTAGES.items()},
        "application": kinds["application"],
        "op": np.where(has_moved, kinds["op"], None),
        "mode": np.where(has_moved, kinds["mode"], None),
        "group": np.where(has_moved, groups, None),
        "start_at": start.astype("datetime64[s]"),
        "moved_bytes": moved,
        "fs_bytes": raw["fs_tot_bytes_read"] + raw["fs_tot_bytes_written"],
        "fs_seconds": raw["_datetime_end"] - raw["_datetime_start"],
        "io_bytes_per_second": rate,
        "slowdown": _slowdowns(rate, groups),
        "own_ratio": own,
        "others_bytes_per_second": others,
        "others_rank_ratio": _ranks(others, start, raw["_file_system"]),
        "fs_meta_calls_per_second": meta_calls,
        "meta_rank_ratio": _ranks(meta_calls, start, raw["_file_system"]),
        "concurrent_job_count": np.where(jobs > 0, jobs, np.nan),
    }
    return pa.table({name: pa.array(values, from_pandas=True) for name, values in found.items()})


def _read(path: Path) -> dict[str, Numbers]:
    """All columns, with NaN for NULL; the first, a row's number, has no name in the header."""
    with gzip.open(path, "rt") as file:
        header = file.readline().strip().split(",")
    options = csv.ReadOptions(column_names=["row", *header], skip_rows=1)
    table = csv.read_csv(path, options, convert_options=csv.ConvertOptions(strings_can_be_null=True))
    return {name: table[name].to_numpy() for name in table.column_names}


def _traffic(raw: Mapping[str, Numbers], moved: Numbers) -> tuple[Numbers, Numbers]:
    """The run's share of what the servers counted, and the rate of the rest, where they can be believed."""
    counted = raw["fs_tot_bytes_read"] + raw["fs_tot_bytes_written"]
    own = np.divide(moved, counted, out=np.full(len(moved), np.nan), where=counted > 0)
    is_reported = (own <= _MOST_OWN) & (raw["fs_frac_missing"] <= MOST_MISSING)
    others = np.maximum(0, counted - moved) / (raw["_datetime_end"] - raw["_datetime_start"])
    return np.where(is_reported, own, np.nan), np.where(is_reported, others, np.nan)


def _slowdowns(rates: Numbers, groups: Numbers) -> Numbers:
    found = np.full(len(rates), np.nan)
    for group in np.unique(groups):
        own = np.flatnonzero((groups == group) & ~np.isnan(rates))
        if len(own) >= _FEWEST:
            found[own] = np.median(rates[own]) / rates[own]
    return found


def _ranks(values: Numbers, starts: Numbers, file_systems: Numbers) -> Numbers:
    """Share of the values of the past on the same file system that are smaller."""
    found = np.full(len(values), np.nan)
    for file_system in {*file_systems} - {None}:
        own = np.flatnonzero((file_systems == file_system) & ~np.isnan(values))
        own = own[np.argsort(starts[own], kind="stable")]
        firsts = np.searchsorted(starts[own], starts[own] - _PAST_SECONDS)
        for place, first in enumerate(firsts.tolist()):
            if place - first >= _FEWEST:
                found[own[place]] = np.mean(values[own[first:place]] < values[own[place]])
    return found


class Cross(NamedTuple):
    """Runs by whether they were slow and whether a rule blames the system.

    Attributes:
        slow_blamed: slow runs for which it does.
        slow: other slow runs.
        rest_blamed: runs that were not slow, in which it would have.
        rest: all others.
    """

    slow_blamed: int
    slow: int
    rest_blamed: int
    rest: int

    @property
    def lift(self) -> float:
        """How many times as often a slow run is blamed on the system as a run that was not slow would be."""
        return (self.slow_blamed / (self.slow_blamed + self.slow)) / (self.rest_blamed / (self.rest_blamed + self.rest))


Rule = Callable[[pa.Table], pa.ChunkedArray]
RULES: Final[dict[str, Rule]] = {
    "others rank >= 0.90": lambda found: pc.greater_equal(found["others_rank_ratio"], 0.90),
    "others rank >= 0.95": lambda found: pc.greater_equal(found["others_rank_ratio"], 0.95),
    "others rank >= 0.99": lambda found: pc.greater_equal(found["others_rank_ratio"], 0.99),
    "own share < 0.8": lambda found: pc.less(found["own_ratio"], 0.8),
    "others rank >= 0.90 and own share < 0.8": lambda found: pc.and_(
        pc.greater_equal(found["others_rank_ratio"], 0.90), pc.less(found["own_ratio"], 0.8)
    ),
    "meta rank >= 0.95": lambda found: pc.greater_equal(found["meta_rank_ratio"], 0.95),
    "mean OST >= 85% full": lambda found: pc.greater_equal(found["mean_ost_full_ratio"], 0.85),
    "fullest OST >= 90% full": lambda found: pc.greater_equal(found["fullest_ost_ratio"], 0.90),
    "others rank >= 0.95 or fullest OST >= 90% full": lambda found: pc.or_(
        pc.greater_equal(found["others_rank_ratio"], 0.95), pc.greater_equal(found["fullest_ost_ratio"], 0.90)
    ),
}


def cross(found: pa.Table, rule: Rule, slowdown: float) -> Cross:
    """Counts runs of which both are known.

    Args:
        found: runs.
        rule: what blames the system, slow or not.
        slowdown: from which on a run is slow.
    """
    reported = pa.table({"slow": pc.greater_equal(found["slowdown"], slowdown), "blamed": rule(found)}).drop_null()
    slow, blamed = (reported[name].to_numpy() for name in reported.column_names)
    return Cross(*(int(np.count_nonzero(part)) for part in (slow & blamed, slow & ~blamed, ~slow & blamed, ~slow & ~blamed)))


def main() -> None:
    """Prints the counts."""
    found = runs(YEAR)
    for name, rule in RULES.items():
        for slowdown in (1.5, 2.0):
            counts = cross(found, rule, slowdown)
            sys.stdout.write(
                f"{name:48} slowdown >= {slowdown}  {' '.join(f'{each:6,}' for each in counts)}  {counts.lift:5.2f}\n"
            )


if __name__ == "__main__":
    main()
