"""Pages of `iomine show`, drawn with rich: a log with all that is known of it, or a job with its logs."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal

import typer
from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from iomine.cli.terminal.sparks import spark
from iomine.cli.terminal.text import width
from iomine.report.charges import EXCUSE, charged, counted_elsewhere
from iomine.report.model import again, in_words
from iomine.report.replay import replay_line
from iomine.units import MIB, counted, fine_seconds, human_bytes, human_core_seconds, human_seconds, ost_name, percent, visible
from iomine.views.answers import Row

if TYPE_CHECKING:
    from iomine.report.facts import Facts

_HOUR: Final = 3600
_LONGEST: Final = 300
_MARGIN: Final = 2
# A blank, and the divider that the table draws.
_GAP: Final = 2
# Texts are folded to at least this width; numbers are never folded.
_LEAST_FOLDED: Final = 10
# Darshan's key for MPI-IO hints.
_HINTS: Final = "h"
# Facts that a log's page needs in addition to those that are always loaded.
SHOWN: Final = ("layers", "hints", "modules", "phase_classes", "predictions", "phases", "files", "osts")
_LEVELS: Final = {"high": "bold red", "warn": "bold yellow"}


def draw(page: Iterable[RenderableType]) -> None:
    """Write a page to stdout."""
    typer.echo(_drawn(page, Console(file=sys.stdout, highlight=False, width=width())))


def plain_text(page: Iterable[RenderableType]) -> str:
    """The page as text without colours."""
    return _drawn(page, Console(highlight=False, width=width(), color_system=None))


def _drawn(page: Iterable[RenderableType], console: Console) -> str:
    with console.capture() as drawn:
        for piece in page:
            console.print(piece)
    # rich fills lines up with spaces.
    return "\n".join(line.rstrip() for line in drawn.get().splitlines())


def log_page(facts: "Facts") -> Iterator[RenderableType]:
    """All that is known of a log, piece by piece."""
    log = facts.log
    yield _title(f"{log['app'] or 'unnamed program'}  {log['log_id']}")
    yield _pairs(_head(log, facts.job))
    yield from _system_state(facts.weather)
    yield from _findings(facts.findings, log, is_excused=facts.weather["is_excused"] is True)
    yield from _notes(facts.notes)
    yield from _not_assessed(facts)
    yield from _section("Layers", _LAYERS, facts.layers)
    own = "Figures as Darshan defines them" if _is_of_tracer(log) else "Darshan's own figures"
    yield from _section(own, _OF_DARSHAN, facts.layers)
    yield from _hints(facts.hints)
    yield from _model(facts)
    yield from _section(_most("Phases", "took longest", facts.phases, "log_phase_count"), _PHASES, facts.phases)
    yield from _section(_most("Files", "took most time", facts.files, "log_file_count"), _FILES, facts.files)
    yield from _section(_most("OSTs", "took most time", facts.osts, "log_ost_count"), _OSTS, facts.osts)
    yield from _history(facts.history)


def job_page(jobs: Sequence[Row], logs: Sequence[Row]) -> Iterator[RenderableType]:
    """What the scheduler says of a job, and its logs, piece by piece.

    Args:
        jobs: rows of the view `jobs`.
        logs: the job's logs, with what `logs` says and how many findings each has.
    """
    for job in jobs:
        yield _title(f"job {job['shown_job_id'] or job['job_id']}  {job['job_name'] or ''}".rstrip())
        yield _pairs(_job_head(job))
    if not jobs:
        yield _title(f"job {logs[0]['job_id']}")
        yield _indented("No swept accounting has this job.")
    yield from _section(_counted(len(logs), "log"), _LOGS, logs)
    yield _indented(f"iomine show {logs[0]['log_id']} shows the first of them." if logs else "No log of it was swept.")


def _who(row: Row) -> str:
    return row["user"] or ("unknown" if row["uid"] is None else f"uid {row['uid']}")


def _head(log: Row, job: Row) -> Iterator[tuple[str, str]]:
    yield "who", _joined(_who(log), _named("account", job["account"]))
    yield "what", _short(log["exe"]) or "unknown"
    yield "job", _joined(log["job_id"] or "none", job["job_name"], job["job_state"], _named("partition", job["partition"]))
    yield "when", _joined(_span(log), _seconds(log["run_seconds"]))
    yield "where", _joined(log["cluster"], _counted(log["host_count"] or None, "host"))
    yield "ranks", _joined(_count(log["nprocs"]), _node_hours(job["node_count"], log["run_seconds"]))
    overlap = "calls of threads overlap, so it is cut to the run" if log["is_overlapping"] else ""
    yield "I/O", _joined(_share(log["io_ratio"], "of the run"), _core_time(log["io_core_seconds"]), overlap)
    yield "moved", f"read {_bytes(log['read_bytes'])}, written {_bytes(log['write_bytes'])}"
    if _is_of_tracer(log):
        tool, version = "traced by", log["format_version"]
    else:
        # Logs of formats before 3.00 do not say which version of Darshan wrote them.
        tool, version = "Darshan", log["darshan_version"] or _named("format", log["format_version"])
    yield tool, _joined(version, "records are missing" if log["is_partial"] else "", log["doubt"])
    yield "log", _short(log["path"])


def _is_of_tracer(log: Row) -> bool:
    """Versions of Darshan's format are numbers; other tracers have their name there."""
    return (log["format_version"] or "")[:1].isalpha()


def _job_head(job: Row) -> Iterator[tuple[str, str]]:
    yield "who", _joined(_who(job), _named("account", job["account"]))
    yield "state", _joined(job["job_state"], _named("exit", job["exit_code"]), _named("partition", job["partition"]))
    yield "when", _joined(_span(job), _seconds(job["run_seconds"]))
    yield "where", _joined(job["cluster"], _counted(job["node_count"], "node"), _counted(job["core_count"], "core"))
    yield "node-hours", "unknown" if job["node_hours"] is None else f"{job['node_hours']:,.1f}"
    yield "moved", f"read {_bytes(job['read_bytes'])}, written {_bytes(job['write_bytes'])}"
    if job["finding_count"]:
        yield "findings", _joined(counted(job["finding_count"], "finding"), _cost_of(job))


def _cost_of(job: Row) -> str:
    if job["cost_core_seconds"] is None:
        return ""
    facilitys = job["facility_cost_core_seconds"]
    apart = f", {_core_time(facilitys)} of that for the facility to fix" if facilitys else ""
    return f"{_core_time(job['cost_core_seconds'])} in all{apart}"


def _system_state(state: Row) -> Iterator[RenderableType]:
    yield _heading("System state")
    if state["weather_verdict"] is None:
        yield _indented("unknown: no statistics of servers were swept for this night.")
        return
    yield _indented(f"{state['weather_verdict']}: {state['weather_rule']}")
    if state["weather_slowdown_ratio"] is not None:
        yield _indented(f"Servers made its I/O {state['weather_slowdown_ratio']:.2f} times as long as usual.")
    if state["weather_verdict"] == "neighbour":
        yield _indented(f"The neighbour is {_short(state['neighbour'])}, with {_ratio(state['neighbour_ratio'])} of the load.")
    if state["is_excused"]:
        yield _indented(EXCUSE)


def _findings(rows: Sequence[Row], log: Row, *, is_excused: bool) -> Iterator[RenderableType]:
    yield _heading(f"{_counted(len(rows), 'finding')}, the costliest first" if rows else "No findings")
    if (whole := charged(rows)) is not None:
        facilitys = None if is_excused else charged([row for row in rows if row["is_facility_cause"]])
        apart = f", {_core_time(facilitys)} of that for the facility to fix" if facilitys else ""
        once = " Time that several are about is counted once." if len(rows) > 1 else ""
        yield _indented(f"Together {_of_io(whole, log)}{apart}.{once}")
    for row in rows:
        yield Text.assemble("  ", (row["code"], _LEVELS.get(row["level"], "")), f"  {row['title']}  ", (_cost(row, log), "bold"))
        yield _indented(row["finding"], 4)
        yield _indented(f"Change: {row['advice']}", 4)
        if row["evidence"]:
            yield _indented(f"Known from: {row['evidence']}", 4)
    if rows:
        yield _indented(f"iomine explain {rows[0]['code']} says more of the first.")


def _notes(rows: Sequence[Row]) -> Iterator[RenderableType]:
    if rows:
        yield _heading("Good to know")
    for row in rows:
        yield _indented(f"{row['code']}  {row['finding']}")


def _not_assessed(facts: "Facts") -> Iterator[RenderableType]:
    faulty = [row for row in facts.modules if row["state"] != "read" or row["is_partial"]]
    if not facts.unknown and not facts.not_applicable and not faulty:
        return
    yield _heading("What could not be assessed")
    for reason, verdicts in facts.unknown_by_reason():
        yield _indented(f"{', '.join(verdict['code'] for verdict in verdicts)}: {reason}")
    if facts.not_applicable:
        codes = ", ".join(verdict["code"] for verdict in facts.not_applicable)
        yield _indented(f"Not applicable, since the run did nothing of the kind: {codes}")
    for row in faulty:
        why = row["reason"] or ("records are missing" if row["is_partial"] else "")
        yield _indented(f"Module {row['module']} is {row['state']}{f': {why}' if why else ''}")


def _hints(rows: Sequence[Row]) -> Iterator[RenderableType]:
    """What the log says of itself: MPI-IO's hints, which Darshan notes in one entry, and other metadata."""
    if not rows:
        return
    yield _heading(_most("Metadata and MPI-IO hints", "come first", rows, "log_hint_count"))
    for row in rows:
        if row["key"] == _HINTS:
            yield from (_indented(f"hint {_short(hint)}") for hint in row["entry"].split(";") if hint)
        else:
            yield _indented(f"{_short(row['key'])}  {_short(row['entry'])}")


def _model(facts: "Facts") -> Iterator[RenderableType]:
    rows = facts.phase_classes
    if not rows:
        return
    yield _heading("I/O model")
    yield _indented(in_words(rows))
    yield from _section(_most("Phase classes", "move most", rows, "log_class_count"), _CLASSES, rows)
    yield from _section("Where the time of the mean rank goes", _TIMES, rows)
    predicted = facts.predictions
    yield from _section(_most("Predicted times", "are fastest", predicted, "log_system_count"), _PREDICTIONS, predicted)
    yield _heading("Lines of IOR that do the same")
    for row in rows:
        reason = f": {row['replay_reason']}" if row["replay_reason"] else ""
        if row["is_relevant"]:
            yield _indented(f"class {row['phase_class']}, {row['replay_fidelity'] or 'no line'}{reason}")
            yield _indented(replay_line(row) or "", 4)
    log_id = facts.log["log_id"]
    yield _indented(
        f"iomine model {log_id} has all classes; iomine predict {log_id} --on all says how long each takes elsewhere."
    )
    if not predicted:
        yield _indented("For that it needs outputs of IOR, which iomine sweep --stats PATH reads.")


def _history(rows: Sequence[Row]) -> Iterator[RenderableType]:
    yield from _section("History: latest runs of this user and program at this scale", _RUNS, rows)
    if len(rows) > 1:
        ratios = [row["io_ratio"] for row in rows]
        yield _indented(f"share of I/O, oldest first: {spark(ratios, len(ratios))}")


# A column's head, the text that it shows of a row, and its alignment; `fold` is for long texts.
Column = tuple[str, Callable[[Row], str], Literal["left", "right", "fold"]]


def _section(title: str, columns: Sequence[Column], rows: Sequence[Row]) -> Iterator[RenderableType]:
    if not rows:
        return
    yield _heading(title)
    cells = [(name, side, [shown(row) for row in rows]) for name, shown, side in columns]
    for block in _blocks(cells, width() - _MARGIN):
        yield Padding(_table(block), (0, 0, 0, _MARGIN))


# A column's head, its alignment, and its text for each row.
Cells = tuple[str, Literal["left", "right", "fold"], list[str]]


def _blocks(columns: Sequence[Cells], available: int) -> Iterator[list[Cells]]:
    """Blocks of columns that fit side by side: those that do not fit stand below, each block after the first column."""
    first, *others = columns
    block = [first]
    for column in others:
        if len(block) > 1 and sum(map(_needed, (*block, column))) > available:
            yield block
            block = [first]
        block.append(column)
    yield block


def _needed(column: Cells) -> int:
    head, side, cells = column
    longest = max(map(cell_len, (head, *cells)))
    return _GAP + (min(longest, _LEAST_FOLDED) if side == "fold" else longest)


def _table(columns: Sequence[Cells]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), pad_edge=False)
    for column in columns:
        head, side, _ = column
        table.add_column(
            head,
            justify="right" if side == "right" else "left",
            overflow="fold",
            no_wrap=side != "fold",
            min_width=_needed(column) - _GAP,
        )
    for row in zip(*(cells for _, _, cells in columns), strict=True):
        table.add_row(*map(Text, row))
    return table


def _of(name: str, shown: Callable[[Any], str]) -> Callable[[Row], str]:
    return lambda row: shown(row[name])


def _count(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _bytes(value: int | None) -> str:
    return "?" if value is None else human_bytes(value)


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


def _seconds(value: float | None) -> str:
    return "?" if value is None else human_seconds(value)


def _fine_seconds(value: float | None) -> str:
    return "?" if value is None else fine_seconds(value)


def _word(value: str | None) -> str:
    return value or "?"


def _ratio(value: float | None) -> str:
    return "?" if value is None else f"{value:.1%}"


def _core_time(seconds: float | None) -> str:
    return "?" if seconds is None else human_core_seconds(seconds)


def _short(text: str | None) -> str:
    """A text that a user wrote, in one line without control characters, cut if it is long."""
    shown = visible(text or "")
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"


def _time(value: datetime | None) -> str:
    return "?" if value is None else f"{value:%Y-%m-%d %H:%M}"


def _pace(row: Row) -> str:
    slowness = row["slowness_ratio"]
    return "?" if slowness is None else f"{slowness:.2f}{' slow' if row['is_slow'] else ''}"


_MOVED: Final[tuple[Column, ...]] = (
    ("read", _of("read_bytes", _bytes), "right"),
    ("written", _of("write_bytes", _bytes), "right"),
)
_LAYERS: Final[tuple[Column, ...]] = (
    ("layer", _of("layer", str), "left"),
    ("files", _of("file_count", _count), "right"),
    *_MOVED,
    ("reads", _of("read_count", _count), "right"),
    ("writes", _of("write_count", _count), "right"),
    ("in reads", _of("read_core_seconds", _core_time), "right"),
    ("in writes", _of("write_core_seconds", _core_time), "right"),
    ("in metadata", _of("meta_core_seconds", _core_time), "right"),
    ("per second", _of("moved_bytes_per_second", _bytes), "right"),
)
# Under the names and in the units that PyDarshan and darshan-parser --perf print.
_OF_DARSHAN: Final[tuple[Column, ...]] = (
    ("layer", _of("layer", str), "left"),
    (
        "agg_perf_by_slowest, MiB/s",
        _of("moved_bytes_per_second", lambda rate: "?" if rate is None else f"{rate / MIB:,.6f}"),
        "right",
    ),
    ("agg_time_by_slowest, s", _of("slowest_io_seconds", lambda seconds: "?" if seconds is None else f"{seconds:,.6f}"), "right"),
    ("total_bytes", lambda row: _count(_sum(row["read_bytes"], row["write_bytes"])), "right"),
)
_PHASES: Final[tuple[Column, ...]] = (
    ("phase", _of("phase", _count), "right"),
    ("from", _of("start_seconds", _seconds), "right"),
    ("for", lambda row: _seconds(row["end_seconds"] - row["start_seconds"]), "right"),
    *_MOVED,
    ("ranks", _of("rank_count", _count), "right"),
    ("slowest rank", _of("slowest_rank", _count), "right"),
    ("stragglers", _of("straggler_count", _count), "right"),
)
_CLASSES: Final[tuple[Column, ...]] = (
    ("class", lambda row: f"{row['phase_class']} {row['op']}", "left"),
    ("layer", _of("layer", str), "left"),
    ("phases", _of("phase_count", _count), "right"),
    ("from", _of("start_seconds", _fine_seconds), "right"),
    ("to", _of("end_seconds", _fine_seconds), "right"),
    ("again", lambda row: again(row) or "?", "left"),
    ("moved", _of("moved_bytes", _bytes), "right"),
    ("share", _of("weight_ratio", _ratio), "right"),
    ("ranks", _of("rank_count", _count), "right"),
    ("requests", _of("requests_per_rank", _count), "right"),
    ("request", _of("request_bytes", _bytes), "right"),
    ("order", _of("request_order", _word), "left"),
    ("files", lambda row: f"{_count(row['file_count'])} {row['access']}", "left"),
    ("known from", _of("evidence", str), "left"),
)
_TIMES: Final[tuple[Column, ...]] = (
    ("class", lambda row: f"{row['phase_class']} {row['op']}", "left"),
    ("in requests", _of("rank_call_seconds", _fine_seconds), "right"),
    ("waiting", _of("rank_wait_seconds", _fine_seconds), "right"),
    ("exchange", _of("rank_exchange_seconds", _fine_seconds), "right"),
    ("storage", _of("rank_storage_seconds", _fine_seconds), "right"),
    ("opens and closes", _of("rank_meta_seconds", _fine_seconds), "right"),
)
_PREDICTIONS: Final[tuple[Column, ...]] = (
    ("system", _of("system", _short), "fold"),
    ("predicted", _of("predicted_seconds", _fine_seconds), "right"),
    ("at least", _of("least_predicted_seconds", _fine_seconds), "right"),
    ("at most", _of("most_predicted_seconds", _fine_seconds), "right"),
    ("measured", _of("measured_seconds", _fine_seconds), "right"),
    ("of bytes", _of("predicted_bytes_ratio", _ratio), "right"),
)
_FILES: Final[tuple[Column, ...]] = (
    *_MOVED,
    ("in I/O", _of("io_seconds", _core_time), "right"),
    ("ranks", _of("rank_count", _count), "right"),
    ("on", _of("fs_type", _short), "left"),
    ("path", _of("path", _short), "fold"),
)
_OSTS: Final[tuple[Column, ...]] = (
    ("OST", lambda row: _short(row["reason"]) or "?" if row["ost_id"] is None else ost_name(row["ost_id"]), "fold"),
    ("in requests", _of("request_seconds", _core_time), "right"),
    ("of median OST's", _pace, "right"),
    *_MOVED,
    ("known from", _of("evidence", _short), "left"),
)
_RUN: Final[tuple[Column, ...]] = (
    ("start (UTC)", _of("start_at", _time), "left"),
    ("run", _of("run_seconds", _seconds), "right"),
    ("I/O", _of("io_ratio", _ratio), "right"),
    ("moved", lambda row: _bytes(_sum(row["read_bytes"], row["write_bytes"])), "right"),
    ("findings", _of("finding_count", _count), "right"),
)
_RUNS: Final[tuple[Column, ...]] = (("log", _of("log_id", str), "fold"), *_RUN)
_LOGS: Final[tuple[Column, ...]] = (
    ("log", _of("log_id", str), "left"),
    ("program", _of("app", _short), "fold"),
    ("ranks", _of("nprocs", _count), "right"),
    *_RUN,
)


def _cost(row: Row, log: Row) -> str:
    cost = row["cost_core_seconds"]
    if cost is None:
        return ""
    elsewhere = counted_elsewhere(row, _core_time)
    idle = f", and other ranks idle for {_core_time(row['idle_core_seconds'])}" if row["idle_core_seconds"] else ""
    return _of_io(cost, log) + (f", {elsewhere}" if elsewhere else "") + idle


def _of_io(core_seconds: float, log: Row) -> str:
    """Core-time, and what that is of the log's time in I/O."""
    whole = log["io_core_seconds"]
    return _core_time(core_seconds) + (f", {percent(core_seconds / whole)} of its I/O" if whole else "")


def _most(title: str, most: str, rows: Sequence[Row], total: str) -> str:
    count = rows[0][total] if rows else 0
    return f"{title}: the {len(rows)} of {count:,} that {most}" if count > len(rows) else title


def _span(row: Row) -> str:
    if row["start_at"] is None and row["end_at"] is None:
        return "unknown"
    return f"{_time(row['start_at'])} to {_time(row['end_at'])} UTC"


def _share(ratio: float | None, of: str) -> str:
    return "share unknown" if ratio is None else f"{ratio:.1%} {of}"


def _node_hours(node_count: int | None, seconds: float | None) -> str:
    if not node_count or seconds is None:
        return ""
    return f"{node_count * seconds / _HOUR:,.1f} node-hours on {counted(node_count, 'node')}"


def _counted(count: int | None, what: str) -> str:
    return "" if count is None else counted(count, what)


def _named(name: str, value: str | None) -> str:
    return f"{name} {value}" if value else ""


def _joined(*texts: str | None) -> str:
    return ", ".join(_short(text) for text in texts if text) or "unknown"


def _title(text: str) -> Text:
    return Text(f"\n{_short(text)}", style="bold")


def _heading(text: str) -> Text:
    return Text(f"\n{_short(text)}", style="bold cyan")


def _indented(text: str, by: int = 2) -> Padding:
    return Padding(Text(visible(text)), (0, 0, 0, by))


def _pairs(pairs: Iterator[tuple[str, str]]) -> Padding:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column(overflow="fold")
    for name, value in pairs:
        grid.add_row(name, Text(value))
    return Padding(grid, (0, 0, 0, 2))
