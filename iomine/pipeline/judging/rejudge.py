"""Judges the whole history again, from what the lake holds and without reading a log.

Whatever enters a statement here is a name of ours, a date or a quoted text; hence the exemptions below.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from iomine.errors import UsageError
from iomine.lake import LakeFile, Snapshot, Warehouse, as_warehouse_errors, replaced
from iomine.pipeline import progress
from iomine.pipeline.between import commit, to_be_written
from iomine.pipeline.judging.featureless import Ask, asked_views
from iomine.pipeline.judging.fresh import fresh_files
from iomine.pipeline.judging.judge import VERDICT_ORDER
from iomine.pipeline.judging.late import VERDICT
from iomine.pipeline.judging.owners import owner_files
from iomine.pipeline.judging.rollups import OF_VERDICTS, ROLL_UPS, roll_up
from iomine.pipeline.judging.silent import silent
from iomine.pipeline.judging.spans import JUDGED_AT_ONCE, Span, spans, written
from iomine.pipeline.publish import build_views, publish
from iomine.pipeline.reports import due
from iomine.pipeline.site.collectors import site_collectors
from iomine.pipeline.site.rules import site_rules
from iomine.pipeline.site.triggers import site_triggers
from iomine.schema.registry import arrow_schema
from iomine.sqltext import quoted
from iomine.triggers.judge import features, judge_sql, settings
from iomine.triggers.model import DEFAULT_RULESET, Trigger
from iomine.triggers.site import SiteRules
from iomine.views.passing import Connection
from iomine.views.query import answer, answer_own, open_catalog, set_variables
from iomine.views.trial import SITE_LIMITS

# Planning a query takes a second, so small nights share one; and here no verdicts, whose texts take memory, are written.
_COMPARED_AT_ONCE: Final = 100_000
_WHOSE: Final = ("code", "user", "uid", "app")
_CHANGES: Final = ("now_fired_count", "no_longer_fired_count", "other_count")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What judging again did.

    Attributes:
        nights: partitions that were judged.
        logs: logs that were judged.
        verdicts: verdicts on them.
        changed: how many have another state than before; a verdict that is not there counts as unknown.
    """

    nights: int
    logs: int
    verdicts: int
    changed: int


def compare(warehouse: Warehouse, triggers: Mapping[str, Trigger], ruleset: str | None = None) -> pa.Table:
    """How the published verdicts would change, by trigger, user and app; the warehouse is only read.

    Args:
        warehouse: its last committed sweep is what counts, so another may be at work.
        triggers: what to judge by.
        ruleset: compare only its verdicts, None for all.

    Returns:
        Rows with a change, those with most first. A log counts as now fired or no longer fired whatever the other
        state is, and as other where its verdict changes between clear, not applicable and unknown.

    Raises:
        UsageError: there is no such ruleset.
        WarehouseError: there is no warehouse, or its files cannot be read.
    """
    judges = _judges(triggers, ruleset)
    _check(warehouse)
    with as_warehouse_errors(warehouse.root), TemporaryDirectory(prefix="iomine-") as folder:
        database = Path(folder) / "compare.duckdb"
        # Not the published views: those may be older than this program, whose triggers then ask for what is not there.
        snapshot, _ = _with_fresh(warehouse.lake.snapshot(), Path(folder), triggers)
        build_views(snapshot, database, rules=site_rules(warehouse))
        with open_catalog(database) as con:
            set_variables(con, settings(judges))
            answers = [
                answer_own(con, _changes_sql(ruleset, span, _judged_sql(con, database, snapshot, judges, span)))
                for span in _with_progress("compare", spans(snapshot.files, _COMPARED_AT_ONCE))
            ]
    sums = pa.concat_tables([_no_changes(), *answers]).group_by(list(_WHOSE)).aggregate([(count, "sum") for count in _CHANGES])
    changes = sums.rename_columns([*_WHOSE, *_CHANGES])
    total = pc.add(pc.add(changes["now_fired_count"], changes["no_longer_fired_count"]), changes["other_count"])
    order = [("total", "descending"), *((name, "ascending") for name in _WHOSE)]
    return changes.append_column("total", total).sort_by(order).drop_columns("total")


def rejudge(warehouse: Warehouse, triggers: Mapping[str, Trigger], ruleset: str | None = None) -> Outcome:
    """Judges all logs, commits the verdicts and publishes them; readers see all of them or none.

    Features that other statements gave, of an earlier iomine, are worked out again first. The next sweep writes the reports that
    changed.

    Args:
        warehouse: where the logs lie.
        triggers: what to judge by.
        ruleset: judge by its triggers only and leave other verdicts as they are, None for all.

    Raises:
        UsageError: there is no such ruleset, or collectors that the site names are not fit.
        WarehouseError: there is no warehouse, a sweep is writing to it, or its files cannot be read or written.
    """
    judges, collectors = _judges(triggers, ruleset), site_collectors(warehouse)
    _check(warehouse)
    with to_be_written(warehouse) as (lake, staging):
        database = staging / "judge.duckdb"
        snapshot, fresh = _with_fresh(lake.snapshot, staging, triggers)
        build_views(snapshot, database, rules=site_rules(warehouse))
        found = spans(snapshot.files, JUDGED_AT_ONCE)
        changed = 0

        def verdicts(span: Span) -> pa.Table:
            nonlocal changed
            judged = answer_own(con, _verdicts_sql(ruleset, span, _judged_sql(con, database, snapshot, judges, span)))
            changed += pc.sum(judged["is_changed"]).as_py() or 0
            kept = answer_own(con, _kept_sql(ruleset, span))
            return pa.concat_tables([kept, judged.filter(pc.is_valid(judged["state"])).select(kept.column_names)])

        with open_catalog(database) as con:
            set_variables(con, settings(judges))
            files = written(staging, VERDICT, _with_progress("judge", found), verdicts, *VERDICT_ORDER)
        nights = {partition for span in found for partition in span.partitions}
        if files:
            due(warehouse).add(nights)
            commit(lake, staging, [*fresh, *files, *_sums(snapshot, staging, [*fresh, *files], ruleset, collectors)])
        publish(warehouse, triggers.values(), lake.snapshot)
    return Outcome(len(nights), sum(span.logs for span in found), sum(file.row_count for file in files), changed)


@dataclass(frozen=True, slots=True)
class Trial:
    """What triggers would have said of the newest night.

    Attributes:
        night: the night.
        states: logs by trigger and state.
        findings: logs with a finding, by trigger and by the user whose they are.
    """

    night: date
    states: Mapping[str, Mapping[str, int]]
    findings: Mapping[str, Mapping[str, int]]


def try_on_newest(warehouse: Warehouse, triggers: Mapping[str, Trigger], rules: SiteRules) -> Trial | None:
    """What triggers would have said of the newest night, of all machines; None where there is none. The warehouse is only read.

    Args:
        warehouse: its last committed sweep is what counts.
        triggers: the triggers.
        rules: the site's rules that they are among.

    Raises:
        WarehouseError: there is no warehouse, or its files cannot be read.
    """
    _check(warehouse)
    with as_warehouse_errors(warehouse.root), TemporaryDirectory(prefix="iomine-") as folder:
        database = Path(folder) / "try.duckdb"
        snapshot = warehouse.lake.snapshot()
        nights = sorted({partition for file in snapshot.of("log") if (partition := file.partition)})
        newest = max((night for _, night in nights), default=None)
        found = [Span(cluster, (night,), 0) for cluster, night in nights if night == newest]
        snapshot, _ = _with_fresh(snapshot, Path(folder), site_triggers(warehouse, rules=rules), newest)
        build_views(snapshot, database, rules=rules)
        judges = list(triggers.values())
        with open_catalog(database) as con:
            set_variables(con, settings(judges))
            answers = [answer_own(con, _trial_sql(span, _judged_sql(con, database, snapshot, judges, span))) for span in found]
    states: dict[str, Counter[str]] = {code: Counter() for code in triggers}
    findings: dict[str, Counter[str]] = {code: Counter() for code in triggers}
    for row in chain.from_iterable(each.to_pylist() for each in answers):
        states[row["code"]][row["state"]] += row["logs"]
        findings[row["code"]][row["owner"]] += row["findings"]
    return Trial(newest, states, {code: +counted for code, counted in findings.items()}) if newest else None


def _trial_sql(span: Span, judged: str) -> str:
    owner = "coalesce(\"user\", uid::VARCHAR, 'nobody known')"
    owners = f"SELECT log_id, {owner} AS owner FROM core.log WHERE {span.where}"  # noqa: S608
    return (
        "SELECT code, state, owner, count(*) AS logs, count(advice) AS findings "  # noqa: S608
        f"FROM ({judged}) JOIN ({owners}) USING (log_id) GROUP BY ALL"
    )


def _judges(triggers: Mapping[str, Trigger], ruleset: str | None) -> list[Trigger]:
    judges = [trigger for trigger in triggers.values() if ruleset in {None, trigger.ruleset}]
    if not judges:
        names = sorted({trigger.ruleset for trigger in triggers.values()})
        raise UsageError(f"There is no ruleset {ruleset}: choose {' or '.join(names)}.")
    return judges


def _check(warehouse: Warehouse) -> None:
    """Says where there is no warehouse, in the words that all commands use."""
    open_catalog(warehouse.database).close()


def _with_progress(stage: str, found: list[Span]) -> Iterator[Span]:
    """The spans, with word of how many of their logs are done."""
    total = sum(span.logs for span in found)
    done = 0
    for span in found:
        yield span
        done += span.logs
        progress.report(stage, done, total)


def _judged_sql(con: Connection, database: Path, snapshot: Snapshot, judges: list[Trigger], span: Span) -> str:
    """The statement that judges a span, once the connection holds what it asks for beside features."""

    @contextmanager
    def opened(_view: str, _triggers: Sequence[Trigger]) -> Iterator[Ask]:
        with open_catalog(database, SITE_LIMITS) as apart:
            set_variables(apart, settings(judges))
            yield partial(answer, apart, limits=SITE_LIMITS)

    failed: dict[str, str] = {}
    for asked in asked_views(judges, span.where, opened):
        con.register(asked.name, asked.rows)
        failed |= {asked.view: asked.fault} if asked.fault else {}
    asked_features = features(judges)
    files = [file for file in snapshot.files if file.table in asked_features and file.partition in span.partitions]
    return judge_sql(judges, span.partitions, span.log_ids, failed, silent=silent(judges, files))


def _with_fresh(
    snapshot: Snapshot, staging: Path, triggers: Mapping[str, Trigger], night: date | None = None
) -> tuple[Snapshot, list[LakeFile]]:
    """The snapshot with features that are today's, of all nights or one, and the files of those that were not."""
    of_nights = snapshot.between(night, night) if night else snapshot
    files = fresh_files(of_nights.files, staging, list(triggers.values()))
    for table in {file.table for file in files}:
        snapshot = snapshot.after(table, snapshot.versions.get(table, 0), [file for file in files if file.table == table])
    return snapshot, files


def _verdicts_sql(ruleset: str | None, span: Span, judged: str) -> str:
    return (
        "SELECT * EXCLUDE (whose, by_code, becomes, was), becomes <> was AS is_changed "  # noqa: S608
        f"FROM {_judged_beside_stored(judged, ruleset, span)}"
    )


def _kept_sql(ruleset: str | None, span: Span) -> str:
    columns = ", ".join(("cluster", "night", *arrow_schema("verdict").names))
    others = "false" if ruleset is None else f"ruleset <> {quoted(ruleset)}"
    return f"SELECT {columns} FROM core.verdict WHERE {span.where} AND {others}"  # noqa: S608


def _changes_sql(ruleset: str | None, span: Span, judged: str) -> str:
    return (
        'SELECT by_code AS code, log."user", log.uid, log.app, '  # noqa: S608
        "count(*) FILTER (becomes = 'fired') AS now_fired_count, "
        "count(*) FILTER (was = 'fired') AS no_longer_fired_count, "
        "count(*) FILTER (becomes <> 'fired' AND was <> 'fired') AS other_count "
        f"FROM {_judged_beside_stored(judged, ruleset, span)} AS verdict "
        f"JOIN (SELECT * FROM core.log WHERE {span.where}) AS log ON log.log_id = verdict.whose "
        "WHERE becomes <> was GROUP BY ALL"
    )


def _judged_beside_stored(judged: str, ruleset: str | None, span: Span) -> str:
    where = span.where if ruleset is None else f"{span.where} AND ruleset = {quoted(ruleset)}"
    stored = f"SELECT log_id, code, state FROM core.verdict WHERE {where}"  # noqa: S608
    # Triggers that were withdrawn are stored only, new ones are judged only.
    return (
        "(SELECT judged.*, coalesce(judged.log_id, stored.log_id) AS whose, coalesce(judged.code, stored.code) AS by_code, "  # noqa: S608
        "coalesce(judged.state, 'unknown') AS becomes, coalesce(stored.state, 'unknown') AS was "
        f"FROM ({judged}) AS judged FULL JOIN ({stored}) AS stored "
        "ON judged.log_id = stored.log_id AND judged.code = stored.code)"
    )


def _no_changes() -> pa.Table:
    kinds = {name: arrow_schema("verdict" if name == "code" else "log").field(name).type for name in _WHOSE}
    return pa.schema([*kinds.items(), *((name, pa.int64()) for name in _CHANGES)]).empty_table()


def _sums(
    snapshot: Snapshot, staging: Path, new: list[LakeFile], ruleset: str | None, collectors: Sequence[int]
) -> list[LakeFile]:
    """Sums of the nights that were judged: of findings, which other rulesets have none of, and all where features changed."""
    has_features = any(file.table != VERDICT for file in new)
    if ruleset not in {None, DEFAULT_RULESET} and not has_features:
        return []
    there, nights = replaced(snapshot.files, new), {file.partition for file in new if file.partition}
    doubts = owner_files(staging, there, nights, collectors)
    # Sums without findings change only with features, and with the logs that they leave out.
    views = ROLL_UPS if doubts or has_features else OF_VERDICTS
    return [*doubts, *roll_up(staging, replaced(there, doubts), nights, views)]
