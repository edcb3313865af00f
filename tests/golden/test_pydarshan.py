"""Every value of every record equals PyDarshan's, on every real log that PyDarshan reads."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import oracle
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from shared import Row, darshan_rows, each, log_of, workloads

from iomine.derive import file_access, in_order, traces
from iomine.schema.apmpi import MESSAGE_BINS
from iomine.schema.counters import COUNTERS, LUSTRE_COMPONENT, columns_of, field_of
from iomine.sources.darshan import Log, read_log
from iomine.sources.darshan.autoperf import CALLS
from iomine.sources.darshan.counters import LAYOUTS

Ask = Callable[..., Any]

# Modules of these logs that PyDarshan reads, though it stumbles over another of theirs, over DXT or over the job.
_READS_IN_PART = ("opens, DXT silently wrong", "error in read_all", "crash: SIGSEGV", "opens, job header silently wrong")
_LUSTRE_COUNTERS = [field_of(word).name for word in LUSTRE_COMPONENT]
_CALL_WORDS = {
    "call_count": "CALL_COUNT",
    "total_bytes": "TOTAL_BYTES",
    **{f"message_size_{size.lower()}_count": f"MSG_SIZE_AGG_{size}" for size in MESSAGE_BINS},
    "total_seconds": "TOTAL_TIME",
    "min_seconds": "MIN_TIME",
    "max_seconds": "MAX_TIME",
    "sync_seconds": "TOTAL_SYNC_TIME",
}
# Damaged, compressed with bzip2, or with a record version that PyDarshan does not know.
_BEYOND_PYDARSHAN = (*(f"s12{n}_" for n in range(3, 9)), "s151_")


_WORKLOAD_MODULES = {"POSIX", "STDIO", "HEATMAP", "DXT_POSIX"}


def _is_read_whole(row: Row) -> bool:
    return row["pydarshan_3_5_0"] == "ok" if "file" in row else not row["id"].startswith((*_BEYOND_PYDARSHAN, "s150_"))


def _is_read_at_all(row: Row) -> bool:
    if "file" in row:
        return row["pydarshan_3_5_0"] == "ok" or row["pydarshan_3_5_0"] in _READS_IN_PART
    return not row["id"].startswith(_BEYOND_PYDARSHAN)


def _has(*modules: str, in_whole: bool = False) -> Callable[[Row], bool]:
    def wanted(row: Row) -> bool:
        if not (_is_read_whole(row) if in_whole else _is_read_at_all(row)):
            return False
        found = {entry.split(":")[0] for entry in row["modules"].split(";")} if "file" in row else _WORKLOAD_MODULES
        return any(module in found for module in modules)

    return wanted


_ALL = darshan_rows() + workloads()


def rows_of(log: Log, table: str) -> list[dict[str, Any]]:
    """All rows of a table of a log."""
    return log.table(table).to_pylist()


def modules_read(log: Log) -> set[str]:
    """Modules whose records are whole and sound."""
    return {module.region.module for module in log.modules if module.state == "read"}


def _is_renumbered(row: Row) -> bool:
    """Whether PyDarshan takes modules of a log for others: those that have the numbers of earlier formats in its version."""
    return {"bad-header", "fails"} <= {*row.get("tags", "").split(";")}


def _matrix(table: pa.Table, names: tuple[str, ...]) -> np.ndarray:
    return np.stack([table[name].to_numpy().view(np.int64) for name in names], axis=1)


def _without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _header_equals(row: Row, log: Log, ask: Ask) -> None:
    """Job, command line, mounts, metadata, names, and versions, sizes and partial flags of modules are PyDarshan's."""
    job = log.job
    expected = ask(oracle.header, log_of(row))

    assert (expected["uid"], str(expected["jobid"]), expected["nprocs"]) == (job.uid, job.job_id, job.nprocs)
    assert expected["start_time_sec"] + expected["start_time_nsec"] // 1000 / 1e6 == job.start_at.timestamp()
    assert expected["end_time_sec"] + expected["end_time_nsec"] // 1000 / 1e6 == job.end_at.timestamp()
    # libdarshan subtracts seconds since the epoch as floats, which costs it the last 7 digits.
    assert expected["run_time"] == pytest.approx(job.run_seconds, rel=0, abs=5e-7)
    # libdarshan gives no command line that fills all its space, so that nothing ends it.
    assert expected["exe"] == job.exe or (expected["exe"] == "" and job.exe.endswith("<TRUNCATED>"))
    assert expected["metadata"] == dict(job.metadata)
    assert expected["metadata"].get("lib_ver") == job.darshan_version
    assert expected["mounts"] == set(job.mounts)
    assert expected["names"] == {name["file_id"]: name["path"] for name in rows_of(log, "file_name")}
    regions = [module.region for module in log.modules]
    assert expected["modules"] == {region.module: (region.version, region.length, region.is_partial) for region in regions}
    assert expected["log_ver"] == log.format_version
    assert log.doubt == ""


def _counters_equal(row: Row, log: Log, ask: Ask) -> None:
    """Each record of a module of counters is PyDarshan's, in its order, floats bit for bit."""
    known = {"POSIX", "MPI-IO", "H5F", "H5D"} if _is_renumbered(row) else {*LAYOUTS}
    for module in modules_read(log) & known:
        expected = ask(oracle.counters, log_of(row), module)
        table = log.table(LAYOUTS[module].table)
        integers = columns_of(module)[: len(COUNTERS[module].integers)]
        floats = columns_of(module)[len(integers) :]
        for column in expected.keys() & {"file_id", "rank", "parent_file_id"}:
            assert expected[column] == table[column].to_pylist(), (module, column)
        np.testing.assert_array_equal(_matrix(table, integers), expected["counters"], module)
        np.testing.assert_array_equal(_matrix(table, floats), expected["floats"], module)


def _lustre_equals(row: Row, log: Log, ask: Ask) -> None:
    """Each component of each Lustre record is PyDarshan's, its pool and its OSTs in stripe order included."""
    if "LUSTRE" not in modules_read(log):
        return
    got = [
        {name: component[name] for name in ("file_id", "rank", "component", "pool_name", "ost_ids")}
        | {"counters": [component[name] for name in _LUSTRE_COUNTERS]}
        for component in rows_of(log, "lustre_component")
    ]
    assert ask(oracle.lustre, log_of(row)) == got


def _heatmaps_equal(row: Row, log: Log, ask: Ask) -> None:
    """Each heat map is PyDarshan's, bin for bin."""
    if _is_renumbered(row) or not rows_of(log, "heatmap_rank"):
        return
    assert ask(oracle.heatmap, log_of(row)) == [_without(heat, "log_id", "layer") for heat in rows_of(log, "heatmap_rank")]


def _segments_equal(row: Row, log: Log, ask: Ask) -> None:
    """Each trace record, and each segment of it, is PyDarshan's, where segments have the standard size."""
    for module in modules_read(log) & {"DXT_POSIX", "DXT_MPIIO"}:
        layer = module.removeprefix("DXT_").lower()
        for expected, name in zip(ask(oracle.dxt, log_of(row), module), ("dxt_file", "segment"), strict=True):
            table = log.table(name)
            got = table.filter(pc.equal(table["layer"], layer))
            # Texts are held as numbers of a dictionary in one of the two.
            assert expected.equals(got.select(expected.column_names).cast(expected.schema)), (module, name)
            assert {*expected.column_names, "log_id", "layer", "thread_id"} >= {*got.column_names}
            assert "thread_id" not in got.column_names or got["thread_id"].null_count == got.num_rows


def _requests_that_go_back_equal(row: Row, log: Log, ask: Ask) -> None:
    """A data frame of PyDarshan's segments shows as many, where offsets are known and requests of no length are passed over."""
    access = pa.table(dict(file_access(in_order(traces(log.tables)))))
    for module in modules_read(log) & {"DXT_POSIX", "DXT_MPIIO"}:
        _, segments = ask(oracle.dxt, log_of(row), module)
        frame = segments.filter(pc.greater(segments["length_bytes"], 0)).to_pandas().sort_values("start_seconds", kind="stable")
        if (frame["offset_bytes"] < 0).any():
            continue
        before = frame.groupby(["file_id", "rank", "op"])[["offset_bytes", "length_bytes"]].shift()
        is_back = frame["offset_bytes"] < before["offset_bytes"] + before["length_bytes"]
        for op in oracle.OPS:
            is_asked = pc.and_(pc.equal(access["layer"], module.removeprefix("DXT_").lower()), pc.equal(access["op"], op))
            found = access.filter(is_asked)
            got = sum(pc.sum(found[name], min_count=0).as_py() for name in ("backward_count", "rewind_count"))
            assert int(is_back[frame["op"] == op].sum()) == got


def _mpi_calls_equal(row: Row, log: Log, ask: Ask) -> None:
    """Each counter of each MPI call of each rank is PyDarshan's; a call without a row is all zeros there."""
    if "APMPI" not in modules_read(log):
        return
    head, ranks = ask(oracle.fresh, "apmpi", log_of(row))
    assert [
        {
            "file_id": int(np.uint64(head["id"]).astype(np.int64)),
            "rank": head["rank"],
            "magic": head["magic"],
            "sync_flag": head["sync_flag"],
            "comm_seconds_variance": head["variance_total_mpitime"],
            "comm_sync_seconds_variance": head["variance_total_mpisynctime"],
        }
    ] == [_without(run, "log_id") for run in rows_of(log, "apmpi_run")]
    got = log.table("apmpi_rank")
    names = ("rank", "node_name", "MPI_TOTAL_COMM_TIME", "MPI_TOTAL_COMM_SYNC_TIME")
    for expected, name in zip(names, ("rank", "host", "comm_seconds", "comm_sync_seconds"), strict=True):
        assert ranks[expected].equals(got[name].cast(ranks[expected].type)), name
    calls = log.table("apmpi_call").drop_columns(["log_id", "file_id"])
    assert _calls_of(ranks, calls.schema).equals(_decoded(calls))


def _calls_of(ranks: pa.Table, schema: pa.Schema) -> pa.Table:
    """Rows of `apmpi_call` from the counters of ranks; what a call does not count is NULL; all zeros are no row."""
    given = dict(zip(ranks.column_names, ranks.columns, strict=True))
    nulls, places = pa.nulls(ranks.num_rows), pa.array(range(ranks.num_rows))
    calls = []
    for call in CALLS:
        counters = {name: given.get(f"MPI_{call}_{word}") for name, word in _CALL_WORDS.items()}
        is_made = reduce(pc.or_, (pc.not_equal(counter, 0) for counter in counters.values() if counter is not None))
        columns = {"rank": given["rank"], "mpi_call": pa.repeat(f"MPI_{call}", ranks.num_rows)} | {
            name: nulls if counter is None else counter for name, counter in counters.items()
        }
        calls.append(pa.table(columns).select(schema.names).cast(schema).append_column("at", places).filter(is_made))
    return _decoded(pa.concat_tables(calls).sort_by("at").drop_columns(["at"]))


def _decoded(calls: pa.Table) -> pa.Table:
    """The table with names as text, since equal texts may have different numbers in a dictionary."""
    return calls.set_column(calls.schema.get_field_index("mpi_call"), "mpi_call", calls["mpi_call"].cast(pa.string()))


def _routers_equal(row: Row, log: Log, ask: Ask) -> None:
    """Each Aries router, and each of its counters, is PyDarshan's."""
    head, routers = ask(oracle.fresh, "apxc", log_of(row))
    (run,) = rows_of(log, "apxc_run")
    assert (head["nblades"], head["nchassis"], head["ngroups"]) == (run["blade_count"], run["chassis_count"], run["group_count"])
    assert (head["appid"], head["rank"]) == (run["application_id"], run["rank"])
    assert [
        (router["rank"], router["group"], router["chassis"], router["blade"], router["node"], list(router["counters"].values()))
        for router in routers
    ] == [
        (
            *(router[name] for name in ("rank", "group_index", "chassis_index", "blade_index", "node_index")),
            router["router_counts"],
        )
        for router in rows_of(log, "apxc_router")
    ]


def _daos_ids_equal(row: Row, log: Log, ask: Ask) -> None:
    """Pool, container and object of each DAOS record are those that libdarshan gives."""
    for module, halves in (("DFS", ()), ("DAOS", ("oid_hi", "oid_lo"))):
        got = [tuple(entry[name] for name in ("pool", "container", *halves)) for entry in rows_of(log, LAYOUTS[module].table)]
        assert ask(oracle.daos_ids, log_of(row), module) == got


_COMPARED = (
    (lambda row: _is_read_at_all(row) and "bad-header" not in row.get("tags", ""), _header_equals),
    (_has(*LAYOUTS), _counters_equal),
    (_has("LUSTRE"), _lustre_equals),
    (_has("HEATMAP"), _heatmaps_equal),
    (_has("DXT_POSIX", "DXT_MPIIO", in_whole=True), _segments_equal),
    (_has("DXT_POSIX", "DXT_MPIIO", in_whole=True), _requests_that_go_back_equal),
    (_has("APMPI"), _mpi_calls_equal),
    (_has("APXC"), _routers_equal),
    (_has("DFS", "DAOS", in_whole=True), _daos_ids_equal),
)


@pytest.mark.parametrize("row", each(_ALL, _is_read_at_all))
def test_log_equals(row: Row, ask: Ask) -> None:
    """All that PyDarshan gives of a log is what iomine reads in it."""
    log = read_log(log_of(row))
    for is_given, compare in _COMPARED:
        if is_given(row):
            compare(row, log, ask)
