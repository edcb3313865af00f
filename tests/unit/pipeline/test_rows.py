"""Rows of a log: a derivation that fails costs itself and what follows from it, and nothing else."""

from contextlib import ExitStack
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from iomine.pipeline.failures import FAILED
from iomine.pipeline.ingest import rows as room
from iomine.pipeline.ingest.rows import DERIVATIONS, RowSinks, rows_of, tables_of
from iomine.schema import TABLES
from iomine.sources.darshan import Doubt, Log, assembled, read_log

# The name of what each derivation calls, which is that of its table except for these.
_CALLED = {"request_size": "request_sizes", "phase": "phases", "period": "periods", "file_phase": "file_phases"}
_CALLED |= {"access_run": "access_runs", "log": "totals", "special_file": "special_files", "phase_class": "phase_model"}
_CALLED |= {"link_pattern": "link_patterns"}
# Pictures show all requests, whatever files they are on.
_FOLLOWS = {
    "phase": {"period"},
    "mpiio_posix": {"phase_class", "coalescing"},
    "access_run": {"coalescing"},
    "link_detail": {"link_pattern"},
    "link_node": {"link_pattern"},
    "special_file": {*DERIVATIONS} - {"rank_detail", "offset_detail"},
}
_PATH = "/logs/ior.darshan"


class OddError(Exception):
    """None that a program foresees."""


@pytest.fixture(scope="module")
def log(shared_data: Path) -> Log:
    """A real log with a trace."""
    return read_log(shared_data / "darshan" / "darshan-ruby" / "ior_dxt.darshan")


@pytest.fixture(scope="module")
def whole(log: Log) -> dict[str, Any]:
    """All its rows."""
    return written(log)


def written(log: Log) -> dict[str, Any]:
    """Rows of each table, as they would be written."""
    tables = {table: [(log.log_id, part) for part in parts] for table, parts in tables_of(log, _PATH).items()}
    return {table: assembled(table, parts).to_pylist() for table, parts in tables.items() if parts}


def failed(*parts: str, error: str) -> list[dict[str, str]]:
    return [{"derivation": part, "error": error} for part in parts]


def without_id(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "log_id"} for row in rows]


@pytest.mark.parametrize("table", DERIVATIONS)
def test_a_derivation_that_fails_costs_itself(
    log: Log, whole: dict[str, Any], monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    """Its table is absent, and those that follow from it; all other rows are as they were, and a row says what failed."""

    def stumble(*_arguments: object) -> None:
        raise OddError("no\nsuch \udcff luck")

    monkeypatch.setattr(room, _CALLED.get(table, table), stumble)
    rest = written(log)

    gone = {table} | _FOLLOWS.get(table, set())
    in_order = [name for name in DERIVATIONS if name in gone]
    assert failed(*in_order, error="OddError: no such \\xff luck") == without_id(rest.pop(FAILED))
    (row,) = rest.pop("log")
    unknown = {"read_bytes", "io_core_seconds", "lineage_id"} if "log" in gone else set()
    assert unknown <= {name for name, value in row.items() if value is None}
    assert "log" in gone or whole["log"] == [row]
    assert (_PATH, log.job.nprocs) == (row["path"], row["nprocs"])
    assert {name: rows for name, rows in whole.items() if name not in gone | {"log"}} == rest


@pytest.mark.parametrize("error", [StopIteration(), AssertionError("odd"), RecursionError("deep"), KeyError("POSIX")])
def test_whatever_is_raised_is_noted(log: Log, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Of traces that make no sense follows nothing, but records are kept."""

    def stumble(*_arguments: object) -> None:
        raise error

    monkeypatch.setattr(room, "traces", stumble)
    monkeypatch.setattr(room, "segments", stumble)
    rest = written(log)

    noted = {row["derivation"]: row["error"].partition(":")[0] for row in rest[FAILED]}
    assert {*DERIVATIONS, "segment"} - {"log", "special_file"} == set(noted)
    assert {type(error).__name__} == set(noted.values())
    assert {"log", "posix_file", "module", "file_name"} <= set(rest)
    assert "segment" not in rest


def test_a_log_with_more_processes_than_its_cluster_is_doubted(log: Log) -> None:
    """The number is not known then, and a row says what it was held against; one that fits is left alone."""
    nprocs = log.job.nprocs
    rows = [
        {name: assembled(name, [(log.log_id, part) for part in tables_of(log, _PATH, most)[name]]).to_pylist() for name in names}
        for most, names in ((nprocs, ("log",)), (nprocs - 1, ("log", "data_quality")))
    ]
    assert (nprocs, None) == (rows[0]["log"][0]["nprocs"], rows[0]["log"][0]["doubt"])
    sentence = f"the run has {nprocs} processes, more than the {nprocs - 1} of its cluster"
    assert (None, sentence) == (rows[1]["log"][0]["nprocs"], rows[1]["log"][0]["doubt"])
    expected = {"log_id": log.log_id, "module": None, "table_name": "log", "column_name": "nprocs", "doubt_check": "processes"}
    assert [expected | {"doubted_value": nprocs, "doubt_limit": nprocs - 1, "doubted_record_count": 1}] == rows[1]["data_quality"]


@pytest.mark.parametrize("nprocs", [2**60, 2**63 - 1, -(2**63) + 1])
def test_numbers_that_a_double_rounds_are_doubts_all_the_same(log: Log, nprocs: int) -> None:
    """A header's number may have 64 bits; the table of doubts holds doubles."""
    doubt = Doubt(None, "log", "nprocs", "processes", nprocs, 2**53 + 1)
    (row,) = written(replace(log, job=replace(log.job, doubts=(doubt,))))["data_quality"]
    assert (float(nprocs), float(2**53)) == (row["doubted_value"], row["doubt_limit"])


def test_too_little_memory_is_no_failure_of_what_counters_give_too(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader gets to know it, and leaves the traces out."""

    def stumble(*_arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr(room, "rank_io", stumble)
    with pytest.raises(MemoryError):
        tables_of(log, _PATH)


def test_what_follows_from_traces_alone_and_takes_too_much_memory_costs_itself(
    log: Log, whole: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The requests themselves stay, and all that follows from them and takes less; several logs are to be tried one by one."""

    def stumble(*_arguments: object) -> None:
        np.empty(1 << 50)

    monkeypatch.setattr(room, "coalescing", stumble)
    rest = written(log)
    (failure,) = without_id(rest.pop(FAILED))
    assert "coalescing" == failure["derivation"]
    assert failure["error"].startswith("MemoryError: Unable to allocate")
    assert {name: rows for name, rows in whole.items() if name != "coalescing"} == rest
    with pytest.raises(MemoryError):
        rows_of([(log, _PATH), (replace(log, log_id="0" * 16), _PATH)])


def test_every_derivation_makes_a_table() -> None:
    """Each is named as the table whose rows it makes, so that views know what they lack."""
    assert set() == set(DERIVATIONS) - set(TABLES)


def test_rows_that_do_not_fit_their_table_cost_their_log_alone(log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of many logs become Arrow at once; those that cannot are found, and a misspelt column is no column."""
    other = replace(log, log_id="0" * 16)
    with ExitStack() as stack:
        sinks = RowSinks(tmp_path, "blue", date(2024, 4, 18), stack)
        sinks.write([log.log_id], rows_of([(log, _PATH)]))
        monkeypatch.setattr(room, "phases", lambda *_: {"layer": ["posix"], "evidnce": ["trace"]})
        monkeypatch.setattr(room, "periods", lambda *_: {"layer": ["posix"], "io_phase_count": ["three"]})
        sinks.write([other.log_id], rows_of([(other, _PATH)]))
        sinks.finish()

    paths = {table: path for table, path, _, _ in sinks.files()}
    ids = {table: set(pq.read_table(path, columns=["log_id"])["log_id"].to_pylist()) for table, path in paths.items()}
    assert {log.log_id, other.log_id} == ids["log"] == ids["posix_file"]
    assert {log.log_id} == ids["phase"]
    errors = {row["derivation"]: row["error"] for row in pq.read_table(paths[FAILED]).to_pylist()}
    assert errors["phase"] == "ValueError: The table phase has no column evidnce."
    assert {"phase", "period"} == set(errors)
    assert {other.log_id} == ids[FAILED]


def test_a_part_without_rows_makes_no_file(tmp_path: Path) -> None:
    """A module may have a record of its run and none of its calls, as that of MPI in a program that makes none."""
    with ExitStack() as stack:
        sinks = RowSinks(tmp_path, "blue", date(2024, 4, 18), stack)
        sinks.write(["a"], {"apmpi_call": [(np.empty(0, np.int64), {"call": [], "rank": []})]})
        sinks.finish()
    assert [] == sinks.files()


def test_sums_of_records_that_could_not_be_read_are_doubted(log: Log) -> None:
    """Where none of a module's records could be read, sums are not known; where some could, they may be too small."""
    state = next(each for each in log.modules if each.region.module == "POSIX")
    others = [each for each in log.modules if each is not state]
    (sound,) = written(log)["log"]
    (partly,) = written(replace(log, modules=[*others, replace(state, state="unsound", reason="cut")]))["log"]
    (none,) = written(replace(log, modules=[*others, replace(state, state="unsupported", reason="new", record_count=0)]))["log"]
    said = "records of POSIX could not all be read, so sums of the log may be too small"

    assert (None, said, said) == (sound["doubt"], partly["doubt"], none["doubt"])
    assert sound["write_bytes"] == partly["write_bytes"] > 0
    assert none["write_bytes"] is None


@pytest.mark.parametrize(("left", "has_time"), [({"MPI-IO"}, True), ({"HEATMAP"}, False), ({"STDIO"}, True)])
def test_sums_of_runs_whose_posix_was_not_watched_are_not_known(shared_data: Path, left: set[str], has_time: bool) -> None:
    """What MPI-IO or a heat map shows passed through POSIX; a log that moved none says so by having nothing of it."""
    whole = read_log(shared_data / "darshan" / "darshan-logs" / "release_logs" / "mpi-io-test-x86_64-3.4.7.darshan")
    keys = {"MPI-IO": "mpiio_file", "HEATMAP": "heatmap_rank", "STDIO": "stdio_file"}
    tables = {name: parts for name, parts in whole.tables.items() if name in {keys[module] for module in left}}
    modules = [each for each in whole.modules if each.region.module in left]
    (row,) = written(replace(whole, modules=modules, tables=tables))["log"]
    is_known = left == {"STDIO"}
    assert is_known == (row["write_bytes"] is not None)
    assert has_time == (row["io_core_seconds"] is not None)
    assert is_known == (row["doubt"] is None)
