"""Rebuilds a log from its rows in the lake once its file is gone, so that everything else can be derived from it again."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from iomine.derive import as_traced
from iomine.lake import LakeFile, as_warehouse_errors
from iomine.pipeline.ingest.rows import RowSinks, tables_of
from iomine.pipeline.upgrade.carry import without_empty
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import LAYOUTS, Columns, Doubt, Job, Log, ModuleState, row_count
from iomine.sources.darshan.container import Region
from iomine.sources.darshan.decoded import Records
from iomine.sources.darshan.heatmap import Filled
from iomine.sources.darshan.job import implausible

LEFT: Final = "its rows have left the warehouse, and the file of the log is gone"
# Where the records of a module are, of those that have no fixed layout.
_TABLES_OF: Final[Mapping[str, tuple[str, ...]]] = {
    **{module: (layout.table,) for module, layout in LAYOUTS.items()},
    "LUSTRE": ("lustre_component",),
    "HEATMAP": ("heatmap_rank",),
    "DXT_POSIX": ("dxt_file", "segment"),
    "DXT_MPIIO": ("dxt_file", "segment"),
    "APMPI": ("apmpi_run", "apmpi_rank", "apmpi_call"),
    "APXC": ("apxc_run", "apxc_router"),
    "MDHIM": ("mdhim_store",),
}
_SEGMENT: Final = "segment"
_QUALITY: Final = "data_quality"
_ABOUT: Final = ("module", "file_name", "mount", "metadata", "app_phase")
# Tables whose rows are what a log holds; all others of logs follow from these.
RAW_TABLES: Final = tuple(dict.fromkeys((*_ABOUT, *(table for tables in _TABLES_OF.values() for table in tables))))
_READ: Final = ("log", _QUALITY, *RAW_TABLES)
# Values that are the same for all logs read by versions without the column: none of these had its paths cut.
_SAME_OF_ALL: Final[Mapping[str, tuple[str, Any]]] = {"file_name": ("is_path_cut", False)}
# Columns of heat maps until version 7, which held all bins.
_ALL_BINS: Final = {"read": "read_bins", "write": "write_bins"}
# Tables that a reader gives as lists; it gives the others as arrays.
_LISTS: Final = frozenset(_ABOUT)
_COUNTERS: Final = {layout.table: layout for layout in LAYOUTS.values() if not layout.trailing_words}
_NUMBERS: Final = ("nprocs", "run_seconds")
# A sum recomputed from kept records is too small where some of them are unknown.
_SUMS: Final = ("read_bytes", "write_bytes", "read_count", "write_count", "io_core_seconds", "storage_core_seconds")


@dataclass(frozen=True, slots=True)
class KeptLogs:
    """Logs of one night whose files are gone.

    Attributes:
        cluster: whose they are.
        night: their night in the lake.
        log_ids: the logs.
        files: of that night, by table; of any version.
        most_processes: that the cluster has room for, None where that is not known.
    """

    cluster: str
    night: date
    log_ids: tuple[str, ...]
    files: Mapping[str, tuple[Path, ...]]
    most_processes: int | None = None


def rebuild(logs: KeptLogs, staging: Path) -> list[LakeFile]:
    """Staged files of all tables that follow from what is kept of some logs.

    Raises:
        WarehouseError: files cannot be read or written.
    """
    with as_warehouse_errors(staging), ExitStack() as stack:
        sinks = RowSinks(staging, logs.cluster, logs.night, stack)
        held = {table: _by_log(table, logs.files.get(table, ()), logs.log_ids) for table in _READ}
        for log_id in logs.log_ids:
            kept = {table: rows[log_id] for table, rows in held.items() if log_id in rows}
            tables = rows_of(log_id, kept, logs.most_processes)
            sinks.write(
                [log_id],
                {table: [(np.zeros(row_count(part), np.int64), part) for part in parts] for table, parts in tables.items()},
            )
        sinks.finish()
        stack.pop_all().close()
    return [
        LakeFile(table, logs.cluster, logs.night, Path(path), size_bytes, row_count)
        for table, path, size_bytes, row_count in sinks.files()
    ]


def rows_of(log_id: str, kept: Mapping[str, pa.Table], most_processes: int | None = None) -> dict[str, list[Columns]]:
    """All rows of a log, from those that are kept of it.

    Args:
        log_id: the log.
        kept: rows by table, in today's columns; columns that the older lake does not have are NULL.
        most_processes: that its cluster has room for, None where that is not known.
    """
    (header,) = kept["log"].to_pylist()
    doubts = kept[_QUALITY].drop_columns(["log_id"]).to_pylist() if _QUALITY in kept else []
    rows = tables_of(_log(log_id, header, doubts, kept), header["path"], most_processes)
    # Unknown values stay unknown; and on this host users may have other names than on the one that read the log.
    stays = {name: [header[name]] for name in ("name_uid", *_NUMBERS) if header[name] is None or name == "name_uid"}
    rows["log"] = [{**part, **stays} for part in rows["log"]]
    if doubts:
        rows["log"] = [{**part, **{name: [None] for name in _SUMS if header[name] is None}} for part in rows["log"]]
        rows[_QUALITY] = [_with_earlier(doubts, rows.get(_QUALITY, ()))]
    return rows


def _by_log(table: str, paths: Sequence[Path], log_ids: Sequence[str]) -> dict[str, pa.Table]:
    schema = arrow_schema(table)
    wanted = pa.array(log_ids, pa.string())
    parts = [_read(table, path, pc.field("log_id").isin(wanted)) for path in paths]
    rows = without_empty(table, pa.concat_tables([schema.empty_table(), *parts]).combine_chunks())
    if not rows.num_rows:
        return {}
    if table in _SAME_OF_ALL:
        column, value = _SAME_OF_ALL[table]
        rows = rows.set_column(rows.schema.get_field_index(column), column, pc.fill_null(rows[column], value))
    ids, codes = np.unique(rows["log_id"].to_numpy(), return_inverse=True)
    order = np.argsort(codes, kind="stable")
    edges = np.searchsorted(codes[order], np.arange(len(ids) + 1))
    return {
        log_id: rows.take(pa.array(order[first:end]))
        for log_id, first, end in zip(ids.tolist(), edges[:-1], edges[1:], strict=True)
    }


def _read(table: str, path: Path, wanted: pc.Expression) -> pa.Table:
    """Rows of a file in today's columns."""
    rows = pq.read_table(path, schema=arrow_schema(table), filters=wanted)
    if table == "heatmap_rank" and {*_ALL_BINS.values()} <= {*pq.read_schema(path).names}:
        held = pq.read_table(path, columns=[*_ALL_BINS.values()], filters=wanted)
        for op, name in _ALL_BINS.items():
            bins = held[name].combine_chunks()
            filled = Filled.of_bins(bins.flatten().to_numpy(), bins.value_lengths().to_numpy())
            for column, values in ((f"{op}_bin_numbers", filled.numbers), (f"{op}_bin_amounts", filled.moved_bytes)):
                field = rows.schema.field(column)
                rows = rows.set_column(rows.schema.get_field_index(column), field, filled.lists(values))
    return rows


def _log(log_id: str, header: Mapping[str, Any], doubts: Sequence[Mapping[str, Any]], kept: Mapping[str, pa.Table]) -> Log:
    job = _job(header, doubts, kept)
    modules = [_marked(row, kept) for row in _rows(kept, "module")]
    tables = {table: parts for table in RAW_TABLES if table in kept and (parts := _parts(table, kept[table]))}
    tables["module"] = [{name: [row[name] for row in modules] for name in modules[0]}] if modules else []
    said = header["doubt"] or ""
    new = [sentence for sentence in job.doubt.split("; ") if sentence not in said]
    return Log(
        log_id,
        job,
        header["format_version"],
        header["user"],
        header["size_bytes"],
        "; ".join(filter(None, (said, *new))),
        tuple(_state(row) for row in modules),
        tables,
        header["owner_uid"],
        header["archive_uid"],
    )


def _job(header: Mapping[str, Any], doubts: Sequence[Mapping[str, Any]], kept: Mapping[str, pa.Table]) -> Job:
    earlier = [_doubt(row) for row in doubts if row["table_name"] == "log"]
    sentences: list[str] = []
    found: list[Doubt] = []
    start_at, end_at, nprocs = header["start_at"], header["end_at"], header["nprocs"]
    if start_at is not None and end_at is not None and nprocs is not None:
        sentences, found = implausible(start_at, end_at, nprocs)
    found += [doubt for doubt in earlier if doubt.column not in {each.column for each in found}]
    # What is not known is in doubt, so these stand for no number.
    numbers = {name: 0 if header[name] is None else header[name] for name in _NUMBERS}
    known = {doubt.column for doubt in found}
    return Job(
        uid=header["uid"],
        job_id=header["job_id"],
        nprocs=numbers["nprocs"],
        start_at=None if "start_at" in known else start_at,
        end_at=None if "end_at" in known else end_at,
        run_seconds=numbers["run_seconds"],
        exe=header["exe"],
        metadata=tuple((row["key"], row["entry"]) for row in _rows(kept, "metadata")),
        mounts=tuple((row["mount"], row["fs_type"]) for row in _rows(kept, "mount")),
        doubt="; ".join(sentences) or "; ".join(filter(None, [header["doubt"]] if earlier else [])),
        doubts=found,
    )


def _rows(kept: Mapping[str, pa.Table], table: str) -> list[dict[str, Any]]:
    return kept[table].drop_columns(["log_id"]).to_pylist() if table in kept else []


def _doubt(row: Mapping[str, Any]) -> Doubt:
    return Doubt(
        row["module"],
        row["table_name"],
        row["column_name"],
        row["doubt_check"],
        row["doubted_value"],
        row["doubt_limit"],
        row["doubted_record_count"],
    )


def _with_earlier(doubts: Sequence[Mapping[str, Any]], parts: Iterable[Columns]) -> Columns:
    """Doubts that are kept, and those that were found since."""
    rows = {(row["table_name"], row["column_name"], row["doubt_check"]): row for row in doubts}
    for part in parts:
        for values in zip(*part.values(), strict=True):
            row = dict(zip(part, values, strict=True))
            rows.setdefault((row["table_name"], row["column_name"], row["doubt_check"]), row)
    return {name: [row[name] for row in rows.values()] for name in doubts[0]}


def _marked(module: dict[str, Any], kept: Mapping[str, pa.Table]) -> dict[str, Any]:
    """The row of a module; it says so if the records of the module have left."""
    if not module["record_count"] or module["state"] == "unread":
        return module
    tables = _TABLES_OF.get(module["module"], ())
    has_left = not any(_holds(table, module["module"], kept) for table in tables)
    if _SEGMENT in tables and _holds("dxt_file", module["module"], kept):
        has_left = _is_traced(module["module"], kept) and not _holds(_SEGMENT, module["module"], kept)
    return {**module, "state": "unread", "reason": LEFT} if has_left and tables else module


def _holds(table: str, module: str, kept: Mapping[str, pa.Table]) -> bool:
    """Whether there are rows of a module in a table; a trace's share theirs with the other layer's."""
    if table not in kept:
        return False
    return table not in {_SEGMENT, "dxt_file"} or pc.any(_is_of(kept[table], module)).as_py()


def _is_of(rows: pa.Table, module: str) -> pa.ChunkedArray:
    return pc.equal(rows["layer"].cast(pa.string()), module.removeprefix("DXT_").lower())


def _is_traced(module: str, kept: Mapping[str, pa.Table]) -> bool:
    files = kept["dxt_file"].filter(_is_of(kept["dxt_file"], module))
    return bool((pc.sum(files["write_count"]).as_py() or 0) + (pc.sum(files["read_count"]).as_py() or 0))


def _state(row: Mapping[str, Any]) -> ModuleState:
    # Where in its file it was does not matter any more.
    region = Region(row["module"], 0, row["module_version"], 0, row["region_bytes"], row["is_partial"])
    return ModuleState(region, row["record_count"], row["state"], row["reason"] or "")


def _parts(table: str, rows: pa.Table) -> list[Columns]:
    """Rows as a reader gives them."""
    rows = rows.drop_columns(["log_id"]).combine_chunks()
    if table in _LISTS:
        return [rows.to_pydict()]
    if table == _SEGMENT:
        # Layers in the order in which logs have them.
        return list(reversed(as_traced(rows)))
    if table == "dxt_file":
        layers = pc.unique(rows["layer"].cast(pa.string())).to_pylist()
        return [_arrays(rows.filter(pc.equal(rows["layer"].cast(pa.string()), layer))) for layer in layers]
    columns = _arrays(rows)
    if table not in _COUNTERS:
        return [columns]
    words = _COUNTERS[table].words
    return [Records(table, words, np.column_stack([np.asarray(columns[name]).view(np.int64) for name in words]))]


def _arrays(rows: pa.Table) -> dict[str, pa.Array]:
    return {name: column.combine_chunks() for name, column in zip(rows.column_names, rows.columns, strict=True)}
