"""Counters worked out from traces are those that Darshan counted while the program ran."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lineage_truth import CLUSTER, files_of
from shared import NOT_HERE, darshan_rows, log_of, workloads

from iomine.derive import counters, traces
from iomine.errors import UnreadableError
from iomine.pipeline.judging.judge import judge
from iomine.sources.darshan import Log, read_log
from iomine.triggers import TRIGGERS

pytestmark = pytest.mark.skipif(not workloads(), reason=NOT_HERE)

_LEAST_RATIO = 0.995
_TOLERANCE = 1e-6
_COMPARED = ("{}_count", "{}_bytes", "sequential_{}_count", "consecutive_{}_count")
_SIZES = ("0_100", "100_1k", "1k_10k", "10k_100k", "100k_1m", "1m_4m", "4m_10m", "10m_100m", "100m_1g", "1g_plus")
# In the same record these need no calls but reads and writes, and are never otherwise.
_OF_RECORDS = (
    *("read_count", "write_count", "read_bytes", "write_bytes", "max_read_offset_bytes", "max_write_offset_bytes"),
    *("rw_switch_count", "read_seconds", "max_read_seconds_bytes", "max_write_seconds_bytes", "read_start_seconds"),
    *("read_end_seconds", "rank_bytes_variance"),
)
# What triggers of POSIX ask for that a DXT trace does not show: alignment, syncs, opens and stats.
_NOT_SHOWN = {"POSIX-121", "POSIX-141", "POSIX-301", "POSIX-302", "POSIX-303"}
_LEAST_SAME_RATIO = 0.95


def _whole_traces() -> Iterator[Log]:
    """Logs whose POSIX records and traces lack nothing."""
    seen = set()
    for row in (*workloads(), *darshan_rows()):
        try:
            log = read_log(log_of(row))
        except UnreadableError:
            continue
        whole = {module.region.module for module in log.modules if module.state == "read" and not module.region.is_partial}
        if {"POSIX", "DXT_POSIX"} <= whole and log.log_id not in seen:
            seen.add(log.log_id)
            yield log


def _worked_out(log: Log) -> Mapping[str, pa.Array]:
    posix = [trace for trace in traces(log.tables) if trace.layer == "posix"]
    return counters(posix, [], log.job.nprocs).get("posix_file", {})


def _by_file(columns: Mapping[str, Any], names: tuple[str, ...]) -> dict[int, tuple[int, ...]]:
    sums: dict[int, list[int]] = defaultdict(lambda: [0] * len(names))
    for file_id, *values in zip(*(columns[name].to_pylist() for name in ("file_id", *names)), strict=True):
        sums[file_id] = [total + value for total, value in zip(sums[file_id], values, strict=True)]
    return {file_id: tuple(values) for file_id, values in sums.items()}


def test_as_darshan_counted() -> None:
    """At least 99.5% of files agree in each direction; the others were opened again, which a DXT trace does not show."""
    pairs: Counter[str] = Counter()
    equal: Counter[tuple[str, str]] = Counter()
    for log in _whole_traces():
        if not (found := _worked_out(log)):
            continue
        (darshan,) = log.tables["posix_file"]
        rank_counts = Counter(file_id for file_id, _ in {*zip(*(_dxt(log, name) for name in ("file_id", "rank")), strict=True)})
        opens = _by_file(darshan, ("open_count",))
        for op in ("read", "write"):
            names = tuple(name.format(op) for name in _COMPARED) + tuple(f"{op}_size_{size}_count" for size in _SIZES)
            counted = _by_file(darshan, names)
            for file_id, values in _by_file(found, names).items():
                if not values[0]:
                    continue
                pairs[op] += 1
                for name, mine, theirs in zip(names, values, counted[file_id], strict=True):
                    equal[op, name] += mine == theirs
                    # Darshan begins anew at each open, with 0 for the last byte that was moved.
                    is_anew = name.startswith(("seq", "con")) and opens[file_id][0] > rank_counts[file_id]
                    assert mine == theirs or is_anew, (log.log_id, file_id, name)
    assert min(pairs.values()) > 4000
    assert {name: count for (op, name), count in equal.items() if count < _LEAST_RATIO * pairs[op]} == {}


def test_records_as_darshan_reduced() -> None:
    """Records of the same ranks have the same highest offsets, switches, times, slowest requests and variance."""
    compared = 0
    for log in _whole_traces():
        if not (found := _worked_out(log)):
            continue
        (darshan,) = log.tables["posix_file"]
        counted = {row[:2]: row[2:] for row in _rows(darshan)}
        for file_id, rank, *values in _rows(found):
            if theirs := counted.get((file_id, rank)):
                assert theirs == pytest.approx(values, rel=_TOLERANCE, abs=_TOLERANCE), (log.log_id, file_id, rank)
                compared += 1
    assert compared > 10_000


@pytest.mark.proof
def test_verdicts_are_those_of_darshans_counters(tmp_path: Path) -> None:
    """Each trigger of POSIX says the same of 95% of logs or more; what a trace does not show leaves others unknown."""
    logs = [log for log in _whole_traces() if _worked_out(log)]
    states = _states(tmp_path / "darshan", logs)
    found = _states(tmp_path / "trace", (replace(log, tables={**log.tables, "posix_file": [_worked_out(log)]}) for log in logs))
    same: Counter[str] = Counter()
    for (log_id, code), state in states.items():
        same[code] += found[log_id, code] == state
        assert code not in _NOT_SHOWN or found[log_id, code] in {state, "unknown"}, (log_id, code)
    count = len(logs)
    assert count > 300
    assert {code for code in same if same[code] < _LEAST_SAME_RATIO * count} == _NOT_SHOWN


def _states(folder: Path, logs: Iterable[Log]) -> dict[tuple[str, str], str]:
    """States of the verdicts of all triggers of POSIX, by log and code."""
    files = files_of(folder / "lake", ((CLUSTER, log, log.log_id) for log in logs), night=date(2026, 1, 1))
    judged = judge(
        (), folder / "staging", files, {code: each for code, each in TRIGGERS.items() if code.startswith("POSIX-")}
    ).files
    (verdicts,) = [pq.read_table(file.path) for file in judged if file.table == "verdict"]
    rows = zip(*(verdicts[name].to_pylist() for name in ("log_id", "code", "state")), strict=True)
    return {(log_id, code): state for log_id, code, state in rows}


def _rows(columns: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    return list(zip(*(columns[name].to_pylist() for name in ("file_id", "rank", *_OF_RECORDS)), strict=True))


def _dxt(log: Log, name: str) -> list[int]:
    posix = [part for part in log.tables["dxt_file"] if part["layer"][0].as_py() == "posix"]
    return [value for part in posix for value in part[name].to_pylist()]
