"""`job_stats` of OSTs and MDTs: what each job did on a target since its entry there was made.

It looks like YAML and is not: until 2.14 a number of eight digits directly follows its colon (`max:16777216`), ids are
bare text, and 2.15.0 does not indent times. An entry is a line with the job's id, lines with times, and a line for each
operation:

    - job_id:          "SLURM_JOB10:0:client"
      snapshot_time:   1723114647.887515895 secs.nsecs
      write_bytes:     { samples: 861, unit: bytes, min: 24576, max: 16777216, sum: 11025514496, hist: { 32K: 1, 16M: 860 } }
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from iomine.sources.lustre.lines import Found, Positions, Text, last_before, numbers, times
from iomine.sources.lustre.moments import TIME, times_of
from iomine.sources.lustre.parameters import JOB_STATS
from iomine.sources.lustre.parts import Parts
from iomine.sources.lustre.tables import COUNTER, HISTOGRAM, LIMITS, about, buckets, counted, labels, table_of

# Ten blanks fill the column; those after are the id's own.
_ENTRY: Final = r"^- job_id: {0,10}(?P<id>[^\n]*?)\r?\n?$"
_TIME: Final = rf"^ *(?P<what>snapshot|start)_time *: *{TIME}"
_NOTHING: Final = r"^ +[A-Za-z0-9_]+: +\{ samples: +0,"
_COUNTER: Final = (
    r"^ +(?P<counter>[A-Za-z0-9_]+): +\{ samples: +(?P<samples>[0-9]+), unit: +(?P<unit>[a-z]+)"
    r"(?:, min: *(?P<least>[0-9]+), max: *(?P<most>[0-9]+), sum: *(?P<amount>[0-9]+)"
    r"(?:, sumsq: *(?P<squares>[0-9]+))?(?:, hist: \{ *(?P<hist>[^{}]*?),? *\})?)? *\}\s*$"
)
_BUCKET: Final = r"^(?P<bucket>[0-9]{1,18})(?P<scale>[KMGTPE]?): *(?P<count>[0-9]{1,18})$"
_ESCAPE: Final = re.compile(rb"\\x([0-9A-Fa-f]{2})")


class Jobs(NamedTuple):
    """What jobs counted, and when.

    Attributes:
        counters: lines of counters that counted.
        part: for each counter the number of its parameter.
        owner: for each the id of the job, as text.
        since: for each since when it counts, in UTC.
        last_io: for each when the job last did I/O on the target, in UTC.
        boot_count: entries of jobs with times since the server's boot, which have no date.
        entered: for each entry of a job, whether anything was counted or not, the number of its parameter.
    """

    counters: Found
    part: npt.NDArray[np.int32]
    owner: Any
    since: Any
    last_io: Any
    boot_count: int
    entered: npt.NDArray[np.int32]


def last_io(text: Text, parts: Parts) -> Positions:
    """For each parameter when a job last did I/O there, in microseconds since the epoch; 0 where no time says it."""
    found = text.find(b" s", _TIME, parts.lines((JOB_STATS,)))
    # They are read again with the jobs.
    text.is_known[found.at] = False
    lines = times_of(found, b"snapshot")
    latest = np.zeros(len(parts.parameters), np.int64)
    np.maximum.at(latest, parts.of[lines.at[lines.is_epoch]], lines.moment[lines.is_epoch])
    return latest


def find_jobs(text: Text, parts: Parts) -> Jobs:
    """What jobs counted on the targets of a text."""
    where = parts.lines((JOB_STATS,))
    entries = text.find(b"-", _ENTRY, where)
    text.skip(b" ", _NOTHING, where)
    counters = text.find(b" ", _COUNTER, where, LIMITS)
    entry = last_before(counters.at, entries.at, parts.of)
    # Counters before the first job belong to no job.
    text.is_known[counters.at[entry < 0]] = False
    counters, entry = counters.where(entry >= 0), entry[entry >= 0]
    since, last_io, boot_count = _times(text.find(b" se", _TIME, where), entries.at, parts)
    owner = labels(entries.words["id"], job_id).dictionary_decode()
    owner, since, last_io = (column.take(entry) for column in (owner, since, last_io))
    return Jobs(counters, parts.of[counters.at], owner, since, last_io, boot_count, parts.of[entries.at])


def _times(found: Found, entries: Positions, parts: Parts) -> tuple[Any, Any, int]:
    """Since when entries count and when there was last I/O, and how many have times since the server's boot."""
    pairs = []
    is_boot = np.zeros(len(entries), np.bool_)
    for lines in (times_of(found, b"start"), times_of(found, b"snapshot")):
        entry = last_before(lines.at, entries, parts.of)
        moment, is_known = np.zeros(len(entries), np.int64), np.zeros(len(entries), np.bool_)
        moment[entry[entry >= 0]], is_known[entry[entry >= 0]] = lines.moment[entry >= 0], True
        is_boot[entry[(entry >= 0) & ~lines.is_epoch]] = True
        pairs.append((moment, is_known))
    since, last_io = (times(moment, is_known & ~is_boot) for moment, is_known in pairs)
    return since, last_io, int(np.count_nonzero(is_boot))


def job_id(raw: bytes) -> str:
    r"""The id of a job as text: quotes off, `\xHH` undone within them, bytes that are no UTF-8 as backslash escapes."""
    if len(raw) > 1 and raw[:1] == raw[-1:] == b'"':
        raw = _ESCAPE.sub(lambda escape: bytes.fromhex(escape[1].decode()), raw[1:-1])
    return raw.decode("utf-8", "backslashreplace")


def read_jobs(jobs: Jobs, parts: Parts, sampled_at: Positions) -> tuple[pa.Table, pa.Table, int]:
    """Counters of jobs and their histograms, and how many buckets of those were left out.

    Args:
        jobs: what was found.
        parts: the parameters of the text.
        sampled_at: when each was read, in microseconds since the epoch.
    """
    words = jobs.counters.words
    columns = (
        about(parts.parameters, jobs.part)
        | counted(words)
        | {
            "sampled_at": times(sampled_at[jobs.part]),
            "owner": jobs.owner,
            "counted_since_at": jobs.since,
            "last_io_at": jobs.last_io,
        }
    )
    return table_of(COUNTER, columns), *_histograms(columns, words["hist"])


def read_idle(text: Text, parts: Parts, jobs: Jobs, sampled_at: Positions) -> pa.Table:
    """Targets that had no job's entry: what is counted there later began after they were read.

    Args:
        text: the text, with what nobody knows of it marked.
        parts: its parameters.
        jobs: what was found.
        sampled_at: when each parameter was read, in microseconds since the epoch.
    """
    is_idle = np.array([entry.leaf == JOB_STATS for entry in parts.parameters], np.bool_)
    is_idle[np.setdiff1d(np.arange(len(is_idle)), parts.headed)] = False
    is_idle[parts.of[~text.is_known]] = False
    is_idle[jobs.entered] = False
    idle = np.flatnonzero(is_idle).astype(np.int32)
    columns = about(parts.parameters, idle) | {"sampled_at": times(sampled_at[idle])}
    return table_of(COUNTER, columns | {"owner": pa.nulls(len(idle), pa.string())})


def _histograms(columns: Mapping[str, Any], hist: Any) -> tuple[pa.Table, int]:  # noqa: ANN401
    """Buckets after counters, those of reads and of writes each in the column of their name."""
    has_some = np.flatnonzero(pc.not_equal(hist, pa.scalar(b"", hist.type)))
    pieces = pc.split_pattern_regex(hist.take(has_some), ", *")
    got = pc.extract_regex(pieces.flatten(), _BUCKET)
    row = has_some[np.asarray(pc.list_parent_indices(pieces))]
    counter = columns["counter"].take(row)
    is_read, is_write = (np.asarray(pc.starts_with(counter.dictionary_decode(), op)) for op in ("read", "write"))
    is_sound = np.asarray(got.is_valid()) & (is_read | is_write)
    got, row, is_read = got.filter(is_sound), row[is_sound], is_read[is_sound]
    count = numbers(got.field("count"), pa.int64())
    about_counter = ("sampled_at", "source_kind", "target", "target_kind", "scope", "owner", "counter_unit")
    table = {name: columns[name].take(row) for name in about_counter} | {
        "histogram": counter.filter(is_sound),
        "bucket": buckets(got.field("bucket"), got.field("scale")),
        "read_count": pc.if_else(is_read, count, None),
        "write_count": pc.if_else(is_read, None, count),
    }
    return table_of(HISTOGRAM, table), int(np.count_nonzero(~is_sound))
