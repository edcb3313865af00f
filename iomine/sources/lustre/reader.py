"""Reads Lustre's parameters: job_stats, stats and histograms, alone or in what `lctl get_param` prints of many."""

import operator
from collections import Counter
from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from iomine.errors import UnreadableError
from iomine.sources.clock import read_at
from iomine.sources.lustre.doubts import doubt
from iomine.sources.lustre.histograms import read_histograms
from iomine.sources.lustre.job_stats import find_jobs, last_io, read_idle, read_jobs
from iomine.sources.lustre.lines import Text, microseconds, times
from iomine.sources.lustre.moments import find_marks, find_moments
from iomine.sources.lustre.parameters import COUNTERS, HISTOGRAMS, KEPT
from iomine.sources.lustre.parts import split
from iomine.sources.lustre.stats import is_cut, read_stats
from iomine.sources.lustre.tables import COUNTER, HISTOGRAM, label
from iomine.sources.model import Input, Readings

_BLANKS: Final = b" \t\r\n"
_MOST_NAMES: Final = 20
_MINUTE: Final = 60_000_000


def read_parameters(source: Input) -> Readings:
    """Reads a text of parameters.

    Raises:
        UnreadableError: nothing in it is kept, or nothing of that is as Lustre writes it.
    """
    # A copy that went through Windows has a carriage return before each line feed.
    text = Text(source.data.replace(b"\r\n", b"\n"))
    parts = split(text, source)
    if not any(entry.leaf for entry in parts.parameters):
        left_out = _left_out(parts.left_out) or "no parameters"
        raise UnreadableError(f"it holds nothing that iomine keeps, which is {', '.join(KEPT)}, but {left_out}")
    marks = find_marks(text, parts.begins())
    latest = last_io(text, parts) if marks.any() or parts.repeated().any() else np.zeros_like(marks)
    moments = find_moments(text, parts.lines((*COUNTERS, *HISTOGRAMS)), np.maximum(marks, latest))
    listed, parts = parts, parts.without_repeats(moments)
    # Where a parameter occurs once, its path says better than its last I/O when it was read.
    dated = np.where((marks > 0) | parts.repeated(), moments.otherwise, 0)
    jobs = find_jobs(text, parts)
    snapshots = moments.snapshots.moment[moments.snapshots.is_epoch]
    undated_io = jobs.last_io.filter(pa.array(dated[jobs.part] == 0))
    clock = read_at(source, pc.max(times(snapshots)).as_py(), pc.max(undated_io).as_py())
    moments = moments._replace(otherwise=np.where(dated > 0, dated, microseconds(clock.at)))
    job_counters, job_histograms, lost_count = read_jobs(jobs, parts, moments.otherwise)
    histograms, single_count = read_histograms(text, parts, moments)
    counters = read_stats(text, parts, moments)
    text.skip(_BLANKS + b"e", r"^\s*$|^ *elapsed_time *:? ")
    idle = read_idle(text, parts, jobs, moments.otherwise)
    tables = _joined({COUNTER: [job_counters, idle, counters], HISTOGRAM: [job_histograms, histograms]})
    strange_count = int(np.count_nonzero(parts.lines(KEPT) & ~text.is_known))
    if strange_count and not tables:
        raise UnreadableError(f"it holds nothing to keep, but {strange_count:,} lines that are not as Lustre writes them")
    doubts = {
        "times since the server's boot, which have no date": jobs.boot_count + int(np.count_nonzero(~moments.snapshots.is_epoch)),
        "rows of a target that neither content nor path names": _count(tables, "target", label([""])[0]),
        "buckets left out, which are of neither reads nor writes or not as Lustre writes them": lost_count + single_count,
        "lines left out, which are not as Lustre writes them or hold numbers that no counter holds": strange_count,
        "parameters that occur more than once": sum(map(operator.ne, listed.parameters, parts.parameters)),
        "readings of job_stats that nothing dates, taken as read at the last I/O in them": int(
            np.count_nonzero((dated > 0) & (marks == 0))
        ),
        "readings of job_stats with I/O a minute or more after the time above them": int(
            np.count_nonzero((marks > 0) & (latest >= marks + _MINUTE))
        ),
        clock.doubt: bool(_count(tables, "sampled_at", pa.scalar(clock.at))),
        "the last line does not end, so that its last number may be cut": is_cut(source.data),
        f"left out are {_left_out(listed.left_out)}": bool(listed.left_out),
    }
    return Readings(tables, doubt(doubts), has_moment=bool(len(snapshots) or dated.any()))


def _joined(parted: Mapping[str, list[pa.Table]]) -> dict[str, pa.Table]:
    joined = {name: pa.concat_tables(tables).unify_dictionaries().combine_chunks() for name, tables in parted.items()}
    return {name: table for name, table in joined.items() if len(table)}


def _count(tables: Mapping[str, pa.Table], column: str, value: pa.Scalar) -> int:
    return sum(pc.sum(pc.equal(table[column], value)).as_py() for table in tables.values())


def _left_out(names: Counter[str]) -> str:
    listed = [f"{count:,} {name}" for name, count in names.most_common(_MOST_NAMES)]
    more = len(names) - len(listed)
    return ", ".join(listed + ([f"and {more:,} more kinds"] if more else []))
