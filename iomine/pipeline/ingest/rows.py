"""Rows of a log for the lake: what it holds, and what follows from that while it is in memory."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from iomine.derive import (
    Lustre,
    Tables,
    access_runs,
    coalescing,
    file_access,
    file_overlap,
    file_phases,
    in_order,
    io_signature,
    lineage_id,
    link_detail,
    link_node,
    link_patterns,
    link_ring,
    links_of,
    mpiio_posix,
    offset_detail,
    ost_detail,
    ost_io,
    ost_pace,
    ost_streams,
    periods,
    phase_layers,
    phase_model,
    phases,
    rank_detail,
    rank_io,
    rank_ost,
    request_sizes,
    segments,
    special_files,
    special_ids,
    split_by_files,
    times,
    totals,
    traces,
    traces_of_others,
)
from iomine.derive.batch import LOG, Files, Together, TooMuchTogetherError, as_integers, concatenated, together
from iomine.derive.model import Model
from iomine.derive.model.replay import class_columns
from iomine.derive.order import Ordered
from iomine.derive.ost_pace import Streams
from iomine.derive.phases import Layers, are_alike
from iomine.derive.radial.moves import Links
from iomine.derive.ranks import host_names
from iomine.derive.trace import Floats, Integers, Trace, once_each
from iomine.lake import ParquetSink
from iomine.lake.files import fills_row_group, new_file_path
from iomine.pipeline.failures import FAILED, error_line
from iomine.pipeline.ingest.find import shown
from iomine.schema.column import Column, as_arrow
from iomine.sources.darshan import (
    LAYOUTS,
    MINGLED,
    NO_SENSE,
    Columns,
    Doubt,
    Doubted,
    Job,
    Log,
    Owners,
    Packed,
    Run,
    assembled,
    have_bytes,
    row_count,
    size_bytes,
    sound,
    spread,
    suspects,
    uid_of,
)
from iomine.units import MIB

# If its columns are larger than this, deriving from a log costs more than starting each step of it.
_LONG_BYTES: Final = MIB
# Layers that have traces, in the order in which Darshan's logs have them; and ranks whose numbers take no memory to speak of.
_USUAL_LAYERS: Final = (["posix"], ["posix", "mpiio"])
_MOST_RANKS: Final = 4096
# Modules of which sums of a log are made.
_WITH_IO: Final = frozenset(("POSIX", "MPI-IO", "STDIO", "DFS"))
# Modules whose calls pass through other layers, and these layers.
_UPON_OTHERS: Final = frozenset(("MPI-IO", "DXT_POSIX", "DXT_MPIIO"))
_BENEATH: Final = frozenset(("POSIX", "DFS"))
# Sums in which the layers beneath have no part, as far as MPI-IO was called.
_OF_CALLED: Final = frozenset(
    ("io_core_seconds", "slowest_rank", "slowest_rank_io_seconds", "special_core_seconds", "is_overlapping")
)
# Requests of traces that are gone through together, which derivations do not cut into blocks.
_MOST_REQUESTS: Final = 1 << 16

# Rows of many logs: parts of each table, and for each row the number of its log.
Rows = dict[str, list[tuple[Integers, Columns]]]


class RowSinks:
    """Writes rows of many logs of one night, a file for each table that gets any.

    Args:
        staging: folder under which the files are written.
        cluster: partition key.
        night: partition key.
        stack: closes the files, on success and on failure.
    """

    def __init__(self, staging: Path, cluster: str, night: date, stack: ExitStack) -> None:
        self._partition = (cluster, night)
        self._staging = staging
        self._stack = stack
        self._sinks: dict[str, ParquetSink] = {}
        self._pending: dict[str, list[tuple[Owners, Columns]]] = {}
        self._pending_rows: Counter[str] = Counter()
        self._pending_bytes: Counter[str] = Counter()

    def write(self, log_ids: Sequence[str], rows: Rows) -> None:
        """Adds rows of some logs; those of many become Arrow at once.

        Args:
            log_ids: the logs, by their numbers.
            rows: what they have.
        """
        for table, parts in rows.items():
            for logs, part in parts:
                self._add(table, Owners(log_ids, logs), part)
                if fills_row_group(self._pending_rows[table], self._pending_bytes[table]):
                    self._flush(table)

    def _add(self, table: str, owners: Owners, part: Columns) -> None:
        # A module may have records of a run and none of its calls.
        if not len(owners.of_rows):
            return
        self._pending.setdefault(table, []).append((owners, part))
        self._pending_rows[table] += row_count(part)
        self._pending_bytes[table] += size_bytes(part)

    def _flush(self, table: str) -> None:
        if table not in self._sinks:
            sink = ParquetSink(table, new_file_path(self._staging, table, *self._partition))
            self._sinks[table] = self._stack.enter_context(sink)
        # Logs that stay apart come last, so parts are put in order; moving whole parts costs nothing.
        parts = sorted(self._pending.pop(table), key=lambda part: part[0].log_ids[part[0].of_rows[0]])
        self._pending_rows[table] = self._pending_bytes[table] = 0
        for rows in self._assembled(table, parts):
            self._sinks[table].write(_by_log(rows))

    def _assembled(self, table: str, parts: list[tuple[Owners, Columns]]) -> Iterator[pa.Table]:
        """The parts as Arrow; a log whose rows do not fit the table gets a failure instead."""
        try:
            yield assembled(table, parts)
        except MemoryError:
            raise
        except Exception as error:
            # Every log has rows in these tables, whatever else failed.
            if table in {"log", FAILED}:
                raise
            of_logs: dict[str, list[tuple[Owners, Columns]]] = {}
            for owners, part in parts:
                for log in np.unique(owners.of_rows).tolist():
                    at = np.flatnonzero(owners.of_rows == log)
                    of_logs.setdefault(owners.log_ids[log], []).append(
                        (Owners(owners.log_ids, owners.of_rows[at]), _taken(part, at))
                    )
            if len(of_logs) > 1:
                for own in of_logs.values():
                    yield from self._assembled(table, own)
                return
            failure = {"derivation": [table], "error": [error_line(error)]}
            self._add(FAILED, Owners([*of_logs], np.zeros(1, np.int64)), failure)

    def finish(self) -> None:
        """Hands over what is left."""
        for table in [table for table in self._pending if table != FAILED]:
            self._flush(table)
        if FAILED in self._pending:
            self._flush(FAILED)

    def files(self) -> list[tuple[str, str, int, int]]:
        """Table, path, size and rows of each file, once they are finished."""
        return [(table, str(sink.path), sink.path.stat().st_size, sink.row_count) for table, sink in self._sinks.items()]


def _by_log(rows: pa.Table) -> pa.Table:
    """Rows in order of their logs, as the statistics of row groups want them."""
    ids = rows["log_id"].combine_chunks()
    if pc.all(pc.less_equal(ids[:-1], ids[1:])).as_py() is not False:
        return rows
    coded = ids.dictionary_encode()
    places = np.empty(len(coded.dictionary), np.int64)
    places[pc.array_sort_indices(coded.dictionary).to_numpy()] = np.arange(len(places))
    return rows.take(pa.array(np.argsort(places[coded.indices.to_numpy()], kind="stable")))


def _taken(columns: Columns, rows: Integers) -> Columns:
    """Some of the rows."""
    if isinstance(columns, Packed):
        return columns.taken(rows)
    return {name: _rows_of_column(column, rows) for name, column in columns.items()}


def _rows_of_column(column: Column | pa.Array | list[Any], rows: Integers) -> Column | pa.Array | list[Any]:
    if isinstance(column, Column):
        return column.taken(rows)
    if isinstance(column, list):
        return [column[row] for row in rows.tolist()]
    return spread(column).take(pa.array(rows))


class Given:
    """What derivations work with: many logs, or one log; what several derivations need is worked out once.

    Args:
        logs: the logs without impossible values, each with its path.
        doubted: the impossible values that were removed, for each log.
    """

    def __init__(self, logs: Sequence[tuple[Log, str]], doubted: Sequence[Doubted]) -> None:
        self.logs = [log for log, _ in logs]
        self.paths = [path for _, path in logs]
        self.doubted = doubted

    def of(self, numbers: slice) -> "Given":
        """Some of the logs."""
        return Given([*zip(self.logs, self.paths, strict=True)][numbers], self.doubted[numbers])

    @cached_property
    def halves(self) -> tuple["Given", "Given"]:
        """The logs in two parts."""
        middle = len(self.logs) // 2
        return self.of(slice(middle)), self.of(slice(middle, None))

    @property
    def log(self) -> Log:
        """The log, if there is only one."""
        (log,) = self.logs
        return log

    @cached_property
    def nprocs(self) -> Integers:
        """Processes of each log's run, 0 where the header is in doubt about them."""
        return np.array([0 if "nprocs" in _unknown(log.job) else log.job.nprocs for log in self.logs])

    @cached_property
    def run_seconds(self) -> Floats:
        """Length of each log's run, NaN where the header is in doubt."""
        return np.array([np.nan if log.job.doubt else log.job.run_seconds for log in self.logs])

    @cached_property
    def _together(self) -> Together:
        tables = [_sensible(log) for log in self.logs]
        is_whole = all(own is log.tables for own, log in zip(tables, self.logs, strict=True))
        return together(self.stacked if is_whole else _stacked(tables), [traces(of_log) for of_log in tables])

    @cached_property
    def stacked(self) -> Rows:
        """Parts of all tables of the logs."""
        return _stacked([log.tables for log in self.logs])

    @cached_property
    def everything(self) -> Tables:
        """Columns by table, special files among them."""
        return once_each(_sensible(self.log)) if len(self.logs) == 1 else self._together.tables

    @property
    def files(self) -> Files | None:
        """What numbers of files in these tables stand for, None where they are ids."""
        return None if len(self.logs) == 1 else self._together.files

    @cached_property
    def special(self) -> Columns:
        """Columns of the table `special_file`."""
        return special_files(self.everything)

    @cached_property
    def special_ids(self) -> Integers:
        """Ids of files that are not on storage."""
        return special_ids(self.special)

    @cached_property
    def split(self) -> tuple[Tables, Tables]:
        """Columns by table: first without special files, then of special files only."""
        return split_by_files(self.everything, self.special_ids)

    @property
    def tables(self) -> Tables:
        """Columns by table, without special files."""
        return self.split[0]

    @cached_property
    def traced(self) -> list[Trace]:
        """The trace of each layer that has one."""
        return traces(self.everything) if len(self.logs) == 1 else self._together.traces

    @cached_property
    def traces(self) -> list[Trace]:
        """The trace of each layer that has one, without special files."""
        return traces_of_others(self.traced, self.special_ids)

    @cached_property
    def ordered(self) -> list[Ordered]:
        """The traces without special files, in the order of time."""
        return in_order(self.traces)

    @cached_property
    def lustre(self) -> Lustre:
        """Where the bytes of files are stored."""
        return Lustre(self.tables, self.traces)

    @cached_property
    def lustre_of_all(self) -> Lustre:
        """The same, of special files too."""
        return Lustre(self.everything, self.traced) if len(self.special_ids) else self.lustre

    @cached_property
    def streams(self) -> Streams:
        """Requests by layer, OST and rank."""
        return ost_streams(self.tables, self.traces, self.lustre, self.nprocs)

    @cached_property
    def layers(self) -> Layers:
        """Stretches of I/O by layer.

        Raises:
            TooMuchTogetherError: logs with traces are too different.
        """
        if len(self.logs) > 1 and self.traces and not are_alike(self.tables, self.traces, len(self.logs)):
            raise TooMuchTogetherError
        return phase_layers(self.tables, self.traces)

    @cached_property
    def phases(self) -> Columns:
        """Columns of the table `phase`."""
        return phases(self.layers, self.run_seconds)

    @cached_property
    def transforms(self) -> Columns:
        """Columns of the table `mpiio_posix`."""
        return mpiio_posix(self.tables, self.traces)

    @cached_property
    def runs(self) -> Columns:
        """Columns of the table `access_run`."""
        return access_runs(self.ordered)

    @cached_property
    def links(self) -> Links | None:
        """Requests with both of their ends, from ranks to carriers and from these to places."""
        nprocs = np.array([log.job.nprocs for log in self.logs])
        hosts = [host_names(_sensible(log)) for log in self.logs]
        return links_of(self.tables, self.ordered, self.lustre, nprocs, self.run_seconds, hosts=hosts)

    @cached_property
    def link_details(self) -> Columns:
        """Columns of the table `link_detail`."""
        return link_detail(self.links)

    @cached_property
    def link_nodes(self) -> Columns:
        """Columns of the table `link_node`."""
        return link_node(self.links, self.tables)

    @cached_property
    def model(self) -> Model:
        """The I/O model: classes of phases that do the same."""
        return phase_model(self.tables, self.traces, self.layers, self.nprocs, self.transforms)


def rows_of(logs: Sequence[tuple[Log, str]], most_processes: int | None = None) -> Rows:
    """All rows of logs: what they hold, and what follows from that while it is in memory.

    A derivation that fails costs its own rows of a log and those that follow from them, and becomes a row of the table
    `failed_derivation`. Running out of memory is such a failure if the table follows from traces alone.

    Args:
        logs: as they were read, each with the path of its file.
        most_processes: that their cluster has room for, None where that is not known.

    Raises:
        MemoryError: there is too little of it for these logs together.
    """
    held = [(_held_to_cluster(log, most_processes), path) for log, path in logs]
    groups: dict[int, list[list[int]]] = {}
    requests = [sum(row_count(part) for part in log.tables.get("segment", ())) for log, _ in held]
    for number, (log, _) in enumerate(held):
        of_kind = groups.setdefault(_group(log, number), [[]])
        if sum(requests[each] for each in of_kind[-1]) + requests[number] > _MOST_REQUESTS:
            of_kind.append([])
        of_kind[-1].append(number)
    rows: Rows = {}
    for group in (group for of_kind in groups.values() for group in of_kind if group):
        numbers = np.array(group)
        for table, parts in _rows(_given([held[number] for number in group])).items():
            rows.setdefault(table, []).extend((numbers[own], part) for own, part in parts)
    return rows


def _sensible(log: Log) -> Mapping[str, Sequence[Columns]]:
    """What a log holds, without traces and heat maps that make no sense, from which nothing is derived."""
    doubted = {each.region.module: each.reason for each in log.modules if each.reason}
    if not doubted:
        return log.tables
    odd = {module.removeprefix("DXT_").lower() for module, reason in doubted.items() if reason == NO_SENSE}
    tables = dict(log.tables)
    if odd:
        for table in ("dxt_file", "segment"):
            tables[table] = [part for part in tables.get(table, ()) if as_arrow(part["layer"])[0].as_py() not in odd]
    if "HEATMAP" in doubted:
        parts = [(part, np.flatnonzero(have_bytes(part))) for part in tables.get("heatmap_rank", ())]
        tables["heatmap_rank"] = [_taken(part, rows) for part, rows in parts if len(rows)]
    return {table: parts for table, parts in tables.items() if parts}


def _group(log: Log, number: int) -> int:
    """The group of a log; logs of a group are derived from together: they have traces of the same layers, or it is one log apart.

    A log stays apart if its columns are so long that grouping saves nothing, or if it has a trace that many others lack.
    """
    is_long = sum(size_bytes(part) for parts in log.tables.values() for part in parts) >= _LONG_BYTES
    if not (segments := _sensible(log).get("segment")):
        return number if is_long else -1
    of_parts: list[Any] = [part["layer"] for part in segments]
    layers = [column.values[0].as_py() for column in of_parts if len(column)]
    is_usual = layers in _USUAL_LAYERS and log.job.nprocs <= _MOST_RANKS
    return number if is_long or not is_usual else -1 - len(layers)


def _rows(given: Given) -> Rows:
    rows: Rows = given.stacked | {"segment": []}
    failures: list[tuple[int, str, str]] = []
    derived = {table: _derived(table, given, 0, failures) for table in DERIVATIONS}
    for number, log in enumerate(given.logs):
        if "segment" in log.tables:
            try:
                rows["segment"] += [(np.full(row_count(part), number), part) for part in segments(log.tables)]
            except MemoryError:
                raise
            except Exception as error:  # noqa: BLE001  whatever it is, what else the log holds is sound
                failures.append((number, "segment", error_line(error)))
    rows |= {table: parts for table, parts in derived.items() if parts}
    rows["log"] = [_with_headers(given, rows.get("log", ()))]
    doubts = [
        (number, doubt)
        for number, (log, doubted) in enumerate(zip(given.logs, given.doubted, strict=True))
        for doubt in (*log.job.doubts, *doubted.doubts)
    ]
    if doubts:
        rows["data_quality"] = [(np.array([number for number, _ in doubts]), _doubt_rows([doubt for _, doubt in doubts]))]
    if failures:
        order = {table: place for place, table in enumerate((*DERIVATIONS, "segment"))}
        numbers, names, errors = zip(*sorted(failures, key=lambda failure: (failure[0], order[failure[1]])), strict=True)
        rows[FAILED] = [(np.array(numbers), {"derivation": list(names), "error": list(errors)})]
    return {table: parts for table, parts in rows.items() if parts}


def tables_of(log: Log, path: str, most_processes: int | None = None) -> dict[str, list[Columns]]:
    """All rows of a single log, as `rows_of` gives them."""
    return {table: [part for _, part in parts] for table, parts in rows_of([(log, path)], most_processes).items()}


def model_of(log: Log) -> Model:
    """The I/O model of a log that need not be in a warehouse: classes of phases, and the requests that each holds."""
    return _given([(log, "")]).model


def _given(logs: Sequence[tuple[Log, str]]) -> Given:
    runs = [_run(log.job) for log, _ in logs]
    odd = suspects([log.tables for log, _ in logs], runs)
    mended, doubted = [], []
    for number, (log, path) in enumerate(logs):
        if number not in odd:
            mended.append((log, path))
            doubted.append(Doubted())
            continue
        whole = [LAYOUTS[name].table for name in LAYOUTS if _is_whole(log, name)]
        # Sizes of two layers are not those of one's calls.
        unsized = [LAYOUTS[each.region.module].table for each in log.modules if MINGLED in each.reason]
        tables, doubts = sound(log.tables, runs[number], whole, unsized)
        mended.append((replace(log, tables=tables), path))
        doubted.append(doubts)
    return Given(mended, doubted)


def _run(job: Job) -> Run:
    unknown = _unknown(job)
    return Run(None if "run_seconds" in unknown else job.run_seconds, None if "nprocs" in unknown else job.nprocs)


def _stacked(logs: Sequence[Mapping[str, Sequence[Columns]]]) -> Rows:
    """Parts of all logs' tables; records of one kind, and lists, as one part."""
    found: dict[str, list[tuple[int, Columns]]] = {}
    for number, tables in enumerate(logs):
        for table, parts in tables.items():
            found.setdefault(table, []).extend((number, part) for part in parts)
    return {table: _joined(*zip(*parts, strict=True)) for table, parts in found.items() if parts}


def _joined(numbers: Sequence[int], parts: Sequence[Columns]) -> list[tuple[Integers, Columns]]:
    counts = [row_count(part) for part in parts]
    first, columns = parts[0], parts
    if len(parts) == 1:
        # The part may be a long log's, so it is not copied.
        pass
    elif packed := [part for part in parts if isinstance(part, Packed)]:
        columns = [packed[0].stacked(packed)] if len(packed) == len(parts) else parts
    elif all(part.keys() == first.keys() and all(isinstance(column, list) for column in part.values()) for part in parts):
        columns = [{name: concatenated([part[name] for part in parts]) for name in first}]
    logs = np.repeat(numbers, counts)
    owners = [logs] if len(columns) == 1 else np.split(logs, np.cumsum(counts)[:-1])
    return [*zip(owners, columns, strict=True)]


def _derived(table: str, given: Given, first: int, failures: list[tuple[int, str, str]]) -> list[tuple[Integers, Columns]]:
    """Rows of a table derived from some logs, numbered from `first`; a log that fails gets a failure instead."""
    try:
        if table in _FROM_TRACES and not given.traced:
            return []
        columns = dict(DERIVATIONS[table](given))
        return [_owned(columns, given, first)] if columns else []
    except Exception as error:
        # Without its traces a log takes less memory, and all except what needs traces is derived from counters.
        if isinstance(error, MemoryError) and (len(given.logs) > 1 or table not in _FROM_TRACES):
            raise
        if len(given.logs) == 1:
            failures.append((first, table, error_line(error)))
            return []
    parts: list[tuple[Integers, Columns]] = []
    for half in given.halves:
        parts += _derived(table, half, first, failures)
        first += len(half.logs)
    return parts


def _owned(columns: dict[str, Any], given: Given, first: int) -> tuple[Integers, Columns]:
    """Derived columns log by log, and the number of each row's log."""
    files = given.files
    if files is None:
        columns.pop(LOG, None)
        return np.full(row_count(columns), first), columns
    if "file_id" in columns:
        numbers = as_integers(columns["file_id"])
        columns |= {"file_id": Column(files.file_ids[numbers])} | ({} if LOG in columns else {LOG: Column(files.logs[numbers])})
    logs: Integers = columns.pop(LOG).to_numpy()
    if (logs[1:] < logs[:-1]).any():
        order = np.argsort(logs, kind="stable")
        logs, columns = logs[order], dict(_taken(columns, order))
    return logs + first, columns


def _held_to_cluster(log: Log, most_processes: int | None) -> Log:
    nprocs = log.job.nprocs
    if most_processes is None or nprocs <= most_processes or "nprocs" in _unknown(log.job):
        return log
    sentence = f"the run has {nprocs:,} processes, more than the {most_processes:,} of its cluster"
    doubt = Doubt(None, "log", "nprocs", "processes", nprocs, most_processes)
    job = replace(log.job, doubts=(*log.job.doubts, doubt))
    return replace(log, job=job, doubt="; ".join(filter(None, (log.doubt, sentence))))


def _unknown(job: Job) -> set[str]:
    """Columns of the table `log` for which the header holds no true value."""
    return {doubt.column for doubt in job.doubts}


def _is_whole(log: Log, name: str) -> bool:
    return any(each.region.module == name and each.state == "read" and not each.region.is_partial for each in log.modules)


def _doubt_rows(doubts: Sequence[Doubt]) -> Columns:
    """Columns of the table `data_quality`."""
    return {
        "module": [doubt.module for doubt in doubts],
        "table_name": [doubt.table for doubt in doubts],
        "column_name": [doubt.column for doubt in doubts],
        "doubt_check": [doubt.check for doubt in doubts],
        # A header's numbers are whole, and Arrow refuses those that a double rounds.
        "doubted_value": [None if doubt.value is None else float(doubt.value) for doubt in doubts],
        "doubt_limit": [None if doubt.limit is None else float(doubt.limit) for doubt in doubts],
        "doubted_record_count": [doubt.count for doubt in doubts],
    }


def _with_headers(given: Given, parts: Iterable[tuple[Integers, Columns]]) -> tuple[Integers, Columns]:
    """Rows of the table `log`: the header of each log, and its sums if these did not fail."""
    headers = [_header(*each) for each in zip(given.logs, given.paths, given.doubted, strict=True)]
    columns = {name: [header[name] for header in headers] for name in headers[0]}
    for logs, part in parts:
        for name, column in part.items():
            values = columns.setdefault(name, [None] * len(headers))
            for number, value in zip(logs.tolist(), column if isinstance(column, list) else column.to_pylist(), strict=True):
                values[number] = value
    return np.arange(len(headers)), columns


def _header(log: Log, path: str, doubted: Doubted) -> dict[str, Any]:
    job = log.job
    row = {
        "job_id": job.job_id,
        "uid": job.uid,
        "user": log.user,
        "exe": job.exe,
        "app": job.app,
        "application": job.application,
        "nprocs": job.nprocs,
        "start_at": job.start_at,
        "end_at": job.end_at,
        "run_seconds": job.run_seconds,
        "format_version": log.format_version,
        "darshan_version": job.darshan_version,
        "is_partial": log.is_partial,
        "doubt": "; ".join(filter(None, (log.doubt, str(doubted), _lacks(log)))) or None,
        "path": shown(path),
        "size_bytes": log.size_bytes,
        "owner_uid": log.owner_uid,
        "archive_uid": log.archive_uid,
        "name_uid": uid_of(log.user),
    }
    return row | dict.fromkeys(_unknown(job))


def _lacks(log: Log) -> str:
    """A doubt about the sums of a log, of which a module with I/O is missing or was not read whole; empty where all were.

    What is put together from rows that were kept has the doubt already.
    """
    partly = [
        each.region.module for each in log.modules if each.region.module in _WITH_IO and each.state not in {"read", "unread"}
    ]
    unwatched = _unwatched(log)
    doubts = (
        f"records of {', '.join(partly)} could not all be read, so sums of the log may be too small" if partly else "",
        f"POSIX has no records of what {' and '.join(unwatched)} passed to it, so what moved is not known" if unwatched else "",
    )
    return "; ".join(each for each in doubts if each and each not in log.doubt)


def _unwatched(log: Log) -> list[str]:
    """Modules with records of what passed through POSIX, in a log without it, as where Darshan leaves it out (MOD_DISABLE)."""
    if any(each.region.module in _BENEATH for each in log.modules):
        return []
    found = {each.region.module for each in log.modules if each.record_count and each.region.module in _UPON_OTHERS}
    return sorted(found | ({"HEATMAP"} if _is_heated(log, "posix") else set()))


def _is_heated(log: Log, layer: str) -> bool:
    """Whether a heat map says that a layer moved bytes."""
    return any(
        layer in as_arrow(part["layer"]).filter(pc.greater(pc.list_value_length(as_arrow(part[bins])), 0)).to_pylist()
        for part in log.tables.get("heatmap_rank", ())
        for bins in ("read_bin_numbers", "write_bin_numbers")
    )


def _known_sums(log: Log, sums: Mapping[str, object]) -> dict[str, object]:
    """Sums over a log's records, None where records that are not there would be part of them."""
    if not _has_sums(log):
        return dict.fromkeys(sums)
    if not (unwatched := _unwatched(log)):
        return dict(sums)
    kept = _OF_CALLED if "MPI-IO" in unwatched else frozenset()
    return {name: value if name in kept else None for name, value in sums.items()}


def _has_sums(log: Log) -> bool:
    """Whether sums say anything: not if a module with I/O has records, of which none was read."""
    return all(each.record_count or each.state in {"read", "unread"} for each in log.modules if each.region.module in _WITH_IO)


def _summed(given: Given) -> Columns:
    tables, special = given.split
    count = len(given.logs)
    signatures = io_signature(tables, count)
    sums = totals(tables, count)._asdict() | times(tables, special, given.nprocs, given.run_seconds)._asdict()
    rows = [
        {
            **_known_sums(log, doubted.withheld(dict(zip(sums, values, strict=True)))),
            "io_signature": signature,
            # Without an application name, or a user, there is no lineage.
            "lineage_id": None
            if (job := log.job).uid is None or not job.application
            else lineage_id(job.uid, job.application, job.nprocs, signature),
        }
        for log, doubted, signature, *values in zip(given.logs, given.doubted, signatures, *sums.values(), strict=True)
    ]
    return {LOG: Column(np.arange(count)), **{name: [row[name] for row in rows] for name in rows[0]}}


# Tables that are derived from traces alone; many logs have no traces.
_FROM_TRACES: Final = frozenset(
    ("file_access", "request_size", "mpiio_posix", "file_overlap", "access_run", "coalescing", "link_detail", "link_node")
) | {"link_pattern", "link_ring", "rank_detail", "offset_detail", "ost_detail"}

# Each function gives the columns of the table that it is listed under, and no columns if there are no rows.
DERIVATIONS: Final[dict[str, Callable[[Given], Columns]]] = {
    "special_file": lambda given: given.special,
    "file_access": lambda given: file_access(given.ordered),
    "request_size": lambda given: request_sizes(given.traces),
    "rank_io": lambda given: rank_io(given.everything, given.traced, given.nprocs, given.special_ids),
    "phase": lambda given: given.phases,
    "period": lambda given: periods(given.phases, given.tables, given.traces),
    "file_phase": lambda given: file_phases(given.layers, given.run_seconds),
    "ost_io": lambda given: ost_io(given.tables, given.traces, given.lustre),
    "ost_pace": lambda given: ost_pace(given.streams, given.nprocs),
    "rank_ost": lambda given: rank_ost(given.streams),
    "mpiio_posix": lambda given: given.transforms,
    "phase_class": lambda given: class_columns(given.model),
    "file_overlap": lambda given: file_overlap(given.tables, given.ordered),
    "access_run": lambda given: given.runs,
    "coalescing": lambda given: coalescing(given.tables, given.ordered, given.nprocs, given.transforms, given.runs),
    "link_detail": lambda given: given.link_details,
    "link_node": lambda given: given.link_nodes,
    "link_pattern": lambda given: link_patterns(given.link_nodes, given.link_details),
    "link_ring": lambda given: link_ring(given.links),
    # Pictures show all requests that were traced.
    "rank_detail": lambda given: rank_detail(given.traced, given.run_seconds),
    "offset_detail": lambda given: offset_detail(given.traced, given.run_seconds),
    "ost_detail": lambda given: ost_detail(given.traced, given.lustre_of_all, given.run_seconds),
    # Columns of the log row that are not from its header.
    "log": _summed,
}
