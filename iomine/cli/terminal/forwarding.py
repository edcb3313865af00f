"""What gathering would change for a log: from stored rows, or from its trace if options ask for another way to gather."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from iomine.derive import as_traced, coalescing, in_order, traces
from iomine.derive.batch import LOG
from iomine.derive.coalesce import CAP_BYTES, TICK, WINDOWS, Forwarders, Ways, Window, by_blocks, by_host
from iomine.derive.trace import Tables
from iomine.errors import UsageError
from iomine.report.facts import Place, which
from iomine.report.forwarding import (
    advice,
    files_advice,
    files_say,
    gathered_files,
    groups_of,
    is_vain,
    says,
    vain_words,
    window_decides,
)
from iomine.units import counted
from iomine.views.answers import Ask, Row, Rows
from iomine.views.questions import question

# Tables and columns from which a log's requests are derived again.
_NEEDED: Final = {
    "segment": ("layer", "file_id", "rank", "op", "offset_bytes", "length_bytes", "start_seconds", "end_seconds"),
    "lustre_component": ("file_id", "rank", "component_flags", "mirror_id", "extent_start_bytes", "stripe_bytes"),
    "file_name": ("file_id", "mount"),
    "dxt_file": ("rank", "host"),
    "apmpi_rank": ("rank", "host"),
    "mpiio_posix": ("aggregator_ranks",),
    "access_run": ("layer", "file_id", "op", "pattern", "request_count"),
}
_OF_LOG: Final = "cluster = $cluster AND night = $night AND log_id = $log_id"
_NPROCS: Final = f"SELECT nprocs FROM core.log WHERE {_OF_LOG}"  # noqa: S608  ours
_TRACED: Final = f"SELECT traced_count, request_count, is_whole FROM main.traces WHERE layer = 'posix' AND {_OF_LOG}"  # noqa: S608


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for, None where nothing is.

    Attributes:
        mapping: how ranks go to forwarders: `host` or `blocks`.
        count: forwarders.
        ratio: ranks to a forwarder.
        window: seconds, or a tick.
        cap_bytes: most bytes that are sent at once.
        stripe_bytes: of all files.
        within: seconds in which files are to be written.
    """

    mapping: str | None
    count: int | None
    ratio: int | None
    window: Window | None
    cap_bytes: int | None
    stripe_bytes: int | None
    within: float | None


@dataclass(frozen=True, slots=True)
class Change:
    """What gathering would change for a log.

    Attributes:
        log_id: the log.
        nprocs: its ranks.
        says: sentences.
        advice: what to set.
        forwarding: rows as in the table `coalescing`.
        files: rows of `gathered_files`.
    """

    log_id: str
    nprocs: int
    says: list[str]
    advice: list[str]
    forwarding: Rows
    files: Rows


def change_of(ask: Ask, place: Place, asked: Asked) -> Change:
    """What gathering would change for a log.

    Args:
        ask: answers queries over the published views.
        place: where its rows lie.
        asked: how to gather.

    Raises:
        UsageError: it has not as many ranks as forwarders are asked for, or its hosts are not known.
    """
    about = {"cluster": place.cluster, "night": place.night, "log_id": place.log_id}
    nprocs = max(1, ask(_NPROCS, about)["nprocs"].to_pylist()[0] or 1)
    count = -(-nprocs // asked.ratio) if asked.ratio else asked.count
    if count is not None and count > nprocs:
        raise UsageError(f"{place.log_id} ran on {counted(nprocs, 'rank')}, fewer than {count:,} forwarders: give fewer.")
    wanted = which([place])
    rows = _kept(ask(question("report/coalescing"), wanted).to_pylist(), asked, count)
    if rows is None:
        rows = _anew(_tables(ask, about), nprocs, asked, count)
    change = Change(place.log_id, nprocs, [], [], _shown(rows, asked), [])
    _add_requests(change, [row for row in rows if row["layer"] == "posix"], asked)
    if not any(row["layer"] == "posix" for row in change.forwarding):
        change.says.append(_nothing(ask(_TRACED, about).to_pylist()))
    for burst in ask(question("report/own_bursts"), wanted).to_pylist():
        files = gathered_files(burst, _counts(asked, count, burst), asked.within)
        change.says.append(files_say(burst, files, is_asked=asked.within is not None))
        change.advice.extend(files_advice(files))
        change.files.extend(files)
    return change


def _add_requests(change: Change, rows: Rows, asked: Asked) -> None:
    for group in groups_of(rows):
        if shown := _shown(group, asked):
            change.says.append(says(shown, change.nprocs))
            change.advice.extend(advice(shown, change.nprocs))
        # One window alone would not show whether the window matters.
        change.says.extend(filter(None, [window_decides(group, change.nprocs)]))
        # With another number of forwarders, or longer pieces, it might.
        if asked.mapping is None and asked.cap_bytes is None and is_vain(group):
            change.says.append(vain_words(group))


def _shown(rows: Rows, asked: Asked) -> Rows:
    """Rows of the window that is asked for."""
    seconds = None if isinstance(asked.window, str) else asked.window
    return rows if asked.window is None else [row for row in rows if row["window_seconds"] == seconds]


def _nothing(traces_of_log: Rows) -> str:
    if not traces_of_log:
        return "The effect of forwarders on its requests is unknown: the run was not traced (DXT_ENABLE_IO_TRACE=1)."
    return "Nothing would change: its requests are few, or none touch, or they are as large as what forwarders send."


def _counts(asked: Asked, count: int | None, burst: Row) -> Sequence[tuple[str, int]] | None:
    if asked.mapping is None:
        return None
    if asked.mapping == "host":
        return [("host", burst["host_count"])] if burst["host_count"] else []
    return [("blocks", count or 1)]


def _kept(rows: Rows, asked: Asked, count: int | None) -> Rows | None:
    """Rows of the table that are asked for, in all windows; None where it has none of the kind."""
    if asked.window not in {None, *WINDOWS} or asked.cap_bytes not in {None, CAP_BYTES} or asked.stripe_bytes is not None:
        return None
    if asked.mapping is None:
        return rows
    return [row for row in rows if row["mapping"] == asked.mapping and count in {None, row["forwarder_count"]}] or None


def _anew(tables: Tables, nprocs: int, asked: Asked, count: int | None) -> Rows:
    """Rows of the way that is asked for, and of the table's windows with it."""
    forwarders = _forwarders(asked, count, nprocs, tables)
    windows = tuple(dict.fromkeys((*WINDOWS, asked.window or TICK)))
    ways = Ways(forwarders, windows, asked.cap_bytes or CAP_BYTES, asked.stripe_bytes)
    transforms, runs = ((*tables.get(name, ()), {})[0] for name in ("mpiio_posix", "access_run"))
    found = coalescing(tables, in_order(traces(tables)), nprocs, transforms, runs, ways=ways)
    found.pop(LOG, None)
    return pa.table(found).to_pylist() if found else []


def _forwarders(asked: Asked, count: int | None, nprocs: int, tables: Tables) -> list[Forwarders] | None:
    if asked.mapping is None:
        return None
    if asked.mapping == "blocks":
        return [by_blocks(nprocs, count or 1)]
    hosts = by_host(nprocs, tables)
    if hosts is None:
        raise UsageError("The hosts of its ranks are not known: give a number of forwarders with --forwarders.")
    return [hosts]


def _tables(ask: Ask, about: Row) -> Tables:
    """A log's tables as a reader gives them; those without rows are left out."""
    found = {name: ask(f"SELECT {', '.join(names)} FROM core.{name} WHERE {_OF_LOG}", about) for name, names in _NEEDED.items()}  # noqa: S608
    return {name: _parts(name, answer) for name, answer in found.items() if answer.num_rows}


def _parts(name: str, answer: pa.Table) -> Sequence[Mapping[str, Any]]:
    if name == "segment":
        return as_traced(answer)
    part = {column: answer[column].combine_chunks() for column in answer.column_names}
    if "host" in part:
        return [part | {"host": part["host"].cast(pa.string()).dictionary_encode()}]
    # Columns of few rows are lists.
    return [answer.to_pydict()] if name == "file_name" else [part]
