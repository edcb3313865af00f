"""What reports say, gathered for many logs at once: a question costs the same for one log as for hundreds."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from iomine.errors import LimitError, UsageError
from iomine.views.answers import Ask, AskRows, Row, Rows, rows_of
from iomine.views.questions import Parameters, question

if TYPE_CHECKING:
    from iomine.report.grids import Grid

_FINDING_LEVELS: Final = ("high", "warn")
_AT_ONCE: Final = 1000
_HISTORY_DAYS: Final = 90
_MOST_DONE_WELL: Final = 3
# As in the questions under `sql/questions/report`, with the parameters of `which`.
_WANTED: Final = (
    "cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id "
    "AND list_contains($log_ids, log_id)"
)
# What is asked for where nothing is known.
JOB_COLUMNS: Final = ("job_name", "account", "partition", "job_state", "node_count", "run_seconds")
_SYSTEM_STATE: Final = (
    "weather_verdict",
    "weather_rule",
    "weather_slowdown_ratio",
    "is_slow_run",
    "is_excused",
    "own_ratio",
    "neighbour",
    "neighbour_ratio",
)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where the rows of a log lie."""

    cluster: str
    night: date
    log_id: str


@dataclass(slots=True)
class Facts:
    """What is known of one log. Rows are those of the views, the most important first.

    Attributes:
        log: its row of `logs`, with `host_count` where the hosts of its ranks are known.
        job: what accounting knows of its job.
        findings: fired verdicts of level high or warn, the costliest first, each with `title`, what it `needs`, and, where all is
            asked, `metrics`.
        notes: other fired verdicts, as findings but without `metrics`.
        unknown: verdicts that could not be reached, as `notes`, each with its `reason`.
        done_well: what the site's triggers find most often and did not find here, on the good side of their first threshold.
        not_applicable: verdicts on what the log did nothing of, as `notes`.
        weather: the system state's verdict, from `job_weather`.
        modules: its modules.
        time_kinds: what its I/O time went into, most first.
        layers: totals by layer.
        sizes: numbers of requests by size, by layer; in POSIX also how many followed the one before.
        size_sums: what traced requests of each size class moved, and how long they took, by layer and direction.
        calls: how often what was called in each layer, most first.
        access_sizes: the commonest lengths of requests in each layer.
        file_sums: files by what was done to them, and by mount.
        spreads: how evenly its I/O is spread over ranks, and over OSTs.
        meta_calls: opens and stats by time, of logs with many.
        server_slots: how much longer than usual servers took for its job, by time and kind of target.
        files: files that took most time, each with the totals of all.
        osts: slow OSTs, those that took most time, and what is known of none.
        phases: longest phases.
        phase_classes: the I/O model: classes that move most, each with the totals of all.
        class_phases: when phases of these were; those too near to be marks of their own are one row.
        predictions: how long its I/O would take on systems that IOR has measured, the fastest first.
        coalescing: what forwarders would leave of its requests.
        own_bursts: files that one rank alone wrote each, by mount.
        route: what is known of its bytes' way over the fabric, empty where nothing is.
        ways: between which switches, nodes and servers they moved, those between which most first.
        hints: metadata entries.
        history: runs of its lineage up to this one.
        app_steps: steps of the program above its calls, those with most I/O first.
        grid: when which ranks moved how much from and to storage.
        layer_grids: when which ranks moved how much through each layer, by its name, standard streams included.
        lifelines: where there is no grid, when files were opened, read, written and closed, in the order of time.
    """

    log: Row
    job: Row = field(default_factory=lambda: dict.fromkeys(JOB_COLUMNS))
    findings: Rows = field(default_factory=list)
    notes: Rows = field(default_factory=list)
    unknown: Rows = field(default_factory=list)
    done_well: Rows = field(default_factory=list)
    not_applicable: Rows = field(default_factory=list)
    weather: Row = field(default_factory=lambda: dict.fromkeys(_SYSTEM_STATE))
    modules: Rows = field(default_factory=list)
    time_kinds: Rows = field(default_factory=list)
    layers: Rows = field(default_factory=list)
    sizes: Rows = field(default_factory=list)
    size_sums: Rows = field(default_factory=list)
    calls: Rows = field(default_factory=list)
    access_sizes: Rows = field(default_factory=list)
    file_sums: Rows = field(default_factory=list)
    spreads: Rows = field(default_factory=list)
    meta_calls: Rows = field(default_factory=list)
    server_slots: Rows = field(default_factory=list)
    files: Rows = field(default_factory=list)
    osts: Rows = field(default_factory=list)
    phases: Rows = field(default_factory=list)
    phase_classes: Rows = field(default_factory=list)
    class_phases: Rows = field(default_factory=list)
    predictions: Rows = field(default_factory=list)
    coalescing: Rows = field(default_factory=list)
    own_bursts: Rows = field(default_factory=list)
    route: Row = field(default_factory=dict)
    ways: Rows = field(default_factory=list)
    hints: Rows = field(default_factory=list)
    history: Rows = field(default_factory=list)
    app_steps: Rows = field(default_factory=list)
    grid: "Grid | None" = None
    layer_grids: "dict[str, Grid]" = field(default_factory=dict)
    lifelines: Rows = field(default_factory=list)

    def is_traced(self) -> bool:
        """Whether the log has a trace; few have, and the others are not asked for what traces show."""
        return any(module["module"].startswith("DXT") for module in self.modules)

    def unknown_by_reason(self) -> list[tuple[str, Rows]]:
        """What this log lacks, and the questions that stay open for it; first what would answer most."""
        by_reason: dict[str, Rows] = defaultdict(list)
        for verdict in sorted(self.unknown, key=itemgetter("code")):
            by_reason[verdict["reason"]].append(verdict)
        return sorted(by_reason.items(), key=lambda item: -len(item[1]))


def gather(ask: Ask, places: Iterable[Place]) -> Iterator[Facts]:
    """All facts of logs, in the order of clusters, nights and ids.

    Args:
        ask: answers queries over the published views.
        places: where the logs lie; those that are not there are left out.
    """

    def ask_rows(sql: str, parameters: Parameters | None = None) -> Rows:
        return rows_of(ask(sql, parameters))

    for of_batch in _batches(places):
        facts = _gathered(ask_rows, of_batch, _LISTS)

        def rows(sql: str, wanted: Mapping[str, object] = which(of_batch)) -> dict[str, Rows]:
            return _by(ask_rows(sql, wanted), "log_id")

        for log_id, (route,) in rows(question("report/routes")).items():
            facts[log_id].route = route
        _add_metrics(facts, rows)
        _add_pictures(facts, of_batch, ask)
        yield from _in_order(facts, of_batch)


def gather_lists(ask_rows: AskRows, places: Iterable[Place], lists: Collection[str]) -> Iterator[Facts]:
    """Some facts of logs, in the order of clusters, nights and ids, of which none needs more than rows.

    Args:
        ask_rows: answers queries over the published views.
        places: where the logs lie; those that are not there are left out.
        lists: what of each is asked beside its row, its job, its verdicts, the system state and its history.
    """
    for of_batch in _batches(places):
        yield from _in_order(_gathered(ask_rows, of_batch, lists), of_batch)


def _batches(places: Iterable[Place]) -> Iterator[list[Place]]:
    """Logs of one cluster that are asked about at once."""
    for _, of_cluster in groupby(sorted(set(places)), key=lambda place: place.cluster):
        logs = list(of_cluster)
        yield from (logs[first : first + _AT_ONCE] for first in range(0, len(logs), _AT_ONCE))


def _in_order(facts: Mapping[str, Facts], places: Iterable[Place]) -> Iterator[Facts]:
    return (facts[place.log_id] for place in places if place.log_id in facts)


def _gathered(ask: AskRows, places: Sequence[Place], lists: Collection[str]) -> dict[str, Facts]:
    """What rows say of logs of one cluster, by log."""
    wanted = which(places)

    def rows(sql: str) -> dict[str, Rows]:
        return _by(ask(sql, wanted), "log_id")

    facts = {log_id: Facts(log) for log_id, (log,) in rows(question("report/logs")).items()}
    history = _history(places)
    for name in lists:
        # To plan a question about predictions takes longer than any other, and few sites measure with IOR.
        if name == "predictions" and not ask(_HAS_IOR):
            continue
        for log_id, found in rows(question(f"report/{name}")).items():
            setattr(facts[log_id], name, found)
    for log_id, (state,) in rows(question("report/system_state")).items():
        facts[log_id].weather = state
    earlier = _by(ask(question("report/history"), wanted | history), "of_log_id")
    for log_id, runs in earlier.items():
        facts[log_id].history = runs
    for of_log in facts.values():
        of_log.sizes = [_sized(row) for row in of_log.sizes]
        of_log.done_well = [verdict for verdict in of_log.done_well if _is_well(verdict)][:_MOST_DONE_WELL]
    _add_verdicts(facts, rows)
    _add_jobs(facts, ask, {"cluster": places[0].cluster} | history)
    return facts


# Questions of which the answers are rows of a log.
_LISTS: Final = (
    *("modules", "time_kinds", "layers", "sizes", "files", "osts", "phases", "phase_classes", "class_phases", "coalescing"),
    *(
        "own_bursts",
        "ways",
        "hints",
        "done_well",
        "calls",
        "access_sizes",
        "file_sums",
        "spreads",
        "meta_calls",
        "server_slots",
        "app_steps",
        "predictions",
    ),
)
_HAS_IOR: Final = "SELECT 1 FROM core.ior_test LIMIT 1"


def _is_well(verdict: Row) -> bool:
    """Whether a trigger is clear by its first threshold, and not only since little was lost beyond it."""
    from iomine.triggers import find_trigger  # noqa: PLC0415  loads every trigger

    trigger = find_trigger(verdict["code"])
    if trigger is None or verdict["value"] is None:
        return False
    return bool(verdict["value"] <= verdict["bar"] if trigger.all_of[0].side == "above" else verdict["value"] >= verdict["bar"])


def _sized(row: Row) -> Row:
    counts = [value for name, value in row.items() if "_size_" in name and value]
    return row | {"log_request_count": sum(counts), "most_count": max(counts, default=0)}


def which(places: Sequence[Place]) -> dict[str, object]:
    """Parameters of the questions about these logs, all of one cluster."""
    nights = [place.night for place in places]
    ids = [place.log_id for place in places]
    # Ranges spare DuckDB files and row groups, a list of values does so only where no view joins.
    edges = {"first_night": min(nights), "last_night": max(nights), "first_log_id": min(ids), "last_log_id": max(ids)}
    return {"cluster": places[0].cluster, **edges, "log_ids": ids}


def _history(places: Sequence[Place]) -> dict[str, object]:
    nights = [place.night for place in places]
    # A job ends after its runs, and its log may have ended before midnight.
    first, last = min(nights) - timedelta(days=_HISTORY_DAYS), max(nights) + timedelta(days=1)
    return {"first_history_night": first, "last_history_night": last}


def _by(rows: Rows, key: str) -> dict[str, Rows]:
    """Rows by their value of a column."""
    found: dict[str, Rows] = defaultdict(list)
    for row in rows:
        found[row[key]].append(row)
    return found


def _add_pictures(facts: Mapping[str, Facts], places: Sequence[Place], ask: Ask) -> None:
    from iomine.report.grids import grids_of, on_storage  # noqa: PLC0415  loads NumPy and Arrow

    known = [place for place in places if place.log_id in facts]
    if traced := [place for place in known if facts[place.log_id].is_traced()]:
        for log_id, sums in _by(rows_of(ask(question("report/size_sums"), which(traced))), "log_id").items():
            facts[log_id].size_sums = sums
    grids = sorted(grids_of(ask(question("report/grid"), which(known))), key=itemgetter(0, 1)) if known else []
    for log_id, of_log in groupby(grids, key=itemgetter(0)):
        facts[log_id].layer_grids = {layer: grid for _, layer, grid in of_log}
        facts[log_id].grid = on_storage(facts[log_id].layer_grids, facts[log_id].log)
    if without := [place for place in known if facts[place.log_id].grid is None]:
        for log_id, lines in _by(rows_of(ask(question("report/lifelines"), which(without))), "log_id").items():
            facts[log_id].lifelines = lines


def _add_verdicts(facts: Mapping[str, Facts], rows: Callable[[str], dict[str, Rows]]) -> None:
    for log_id, verdicts in rows(question("report/verdicts")).items():
        of_log = facts[log_id]
        of_log.unknown = [verdict for verdict in verdicts if verdict["state"] == "unknown"]
        of_log.not_applicable = [verdict for verdict in verdicts if verdict["state"] == "not applicable"]
        fired = [verdict for verdict in verdicts if verdict["state"] == "fired"]
        of_log.findings = [verdict for verdict in fired if verdict["level"] in _FINDING_LEVELS]
        of_log.notes = [verdict for verdict in fired if verdict["level"] not in _FINDING_LEVELS]


def _add_metrics(facts: Mapping[str, Facts], rows: Callable[[str], dict[str, Rows]]) -> None:
    from iomine.triggers import find_trigger  # noqa: PLC0415  loads every trigger

    codes = {finding["code"] for of_log in facts.values() for finding in of_log.findings}
    # To say which these are takes a walk through all texts of a trigger.
    shown = {code: (trigger.view, trigger.shown) for code in codes if (trigger := find_trigger(code))}
    metrics = {view: _metrics(view, sql, rows) for view, sql in _metric_questions(shown).items()}
    for log_id, of_log in facts.items():
        for finding in of_log.findings:
            view, names = shown.get(finding["code"], ("", ()))
            values = metrics.get(view, {}).get(log_id)
            finding["metrics"] = {name: values[0][name] for name in names} if values else {}


def _metrics(view: str, sql: str, rows: Callable[[str], dict[str, Rows]]) -> dict[str, Rows]:
    if "." not in view:
        return rows(sql)
    try:
        return rows(sql)
    except (UsageError, LimitError):
        # A view of the site that fails costs its findings their numbers, and no report.
        return {}


def title_of(code: str) -> str:
    """What a trigger finds, in a few words."""
    from iomine.triggers import find_manual  # noqa: PLC0415  loads every trigger

    return page.title if (page := find_manual(code)) else code


def _metric_questions(shown: Mapping[str, tuple[str, Sequence[str]]]) -> dict[str, str]:
    """The question to each view for what findings show of it, by view.

    Args:
        shown: view and columns of triggers, by code.
    """
    metrics: dict[str, dict[str, None]] = defaultdict(dict)
    for _, (view, names) in sorted(shown.items()):
        metrics[view] |= dict.fromkeys(names)
    # Views and columns are triggers' own names, which their model has checked.
    return {
        view: f"SELECT log_id, {', '.join(names)} FROM {view if '.' in view else f'core.{view}'} WHERE {_WANTED}"  # noqa: S608
        for view, names in metrics.items()
    }


def _add_jobs(facts: Mapping[str, Facts], ask: AskRows, history: Mapping[str, object]) -> None:
    jobs = {of_log.log["job_id"] for of_log in facts.values() if of_log.log["job_id"]}
    if not jobs:
        return
    found = _by(ask(question("report/jobs"), {**history, "job_ids": sorted(jobs)}), "job_id")
    for of_log in facts.values():
        of_log.job = next(iter(found.get(of_log.log["job_id"], ())), of_log.job)
