"""Triggers become one SQL statement that judges all logs at once.

Whatever enters the statement is a trigger's own name, checked by the model, or quoted here; hence the exemptions below.
"""

import datetime as dt
from collections.abc import Collection, Sequence

import pyarrow as pa

from iomine.schema import field, table
from iomine.triggers.finding import filled_sql, quoted
from iomine.triggers.model import DEFAULT_RULESET, TELLING_CORE_SECONDS, TOLD, Above, Level, Trigger


def settings(triggers: Sequence[Trigger]) -> dict[str, float]:
    """Values of the variables that the triggers' views work with, for the connection that judges."""
    return {setting.name: setting.default for trigger in triggers for setting in trigger.settings}


def judge_sql(
    triggers: Sequence[Trigger],
    nights: Sequence[tuple[str, dt.date]] | None = None,
    computed: Collection[str] = (),
    log_ids: tuple[str, str] | None = None,
) -> str:
    """One DuckDB statement that gives the verdict of every trigger on every log.

    Its columns are `cluster`, `night` and those of the table `verdict`; its rows come in no order.

    Args:
        triggers: at least one; their views are looked up in schema `core`, where the lake's features are.
        nights: pairs of cluster and night to judge, None for all there are.
        computed: views that are worked out anew, in schema `feature`.
        log_ids: the first id to judge, and the first behind it; None for all.

    Raises:
        ValueError: there is no trigger to judge by.
    """
    if not triggers:
        raise ValueError("Give at least one trigger to judge by.")
    views = {trigger.view: [other for other in triggers if other.view == trigger.view] for trigger in triggers}
    where = where_sql(nights, log_ids)
    sources = [f"judged_log AS (SELECT cluster, night, log_id FROM core.log{where})"]  # noqa: S608
    # Triggers share views, so each view is worked out once however many ask for it.
    sources += [
        f"held_{view} AS MATERIALIZED ({_metrics_sql(_source(view, computed), group, where)})" for view, group in views.items()
    ]
    columns = ", ".join(("cluster", "night", *table("verdict").columns))
    arms = "\nUNION ALL\n".join(_verdict_sql(trigger) for trigger in triggers)
    statement = f"SELECT {columns} FROM (\n{arms}\n)"  # noqa: S608
    return "WITH " + ",\n".join(sources) + "\n" + statement


def _source(view: str, computed: Collection[str]) -> str:
    return f"feature.{view}" if view in computed else f"core.{view}"


def where_sql(nights: Sequence[tuple[str, dt.date]] | None, log_ids: tuple[str, str] | None = None) -> str:
    """A WHERE clause that keeps rows of these nights, empty for all.

    Args:
        nights: pairs of cluster and night, None for all there are.
        log_ids: of these nights, the first id to keep, and the first behind it; None for all.
    """
    if nights is None:
        return ""
    if not nights:
        return " WHERE false"
    clusters = ", ".join(sorted({quoted(cluster) for cluster, _ in nights}))
    dates = ", ".join(sorted({_date_sql(night) for _, night in nights}))
    pairs = ", ".join(f"({quoted(cluster)}, {_date_sql(night)})" for cluster, night in nights)
    first, last = (_date_sql(edge({night for _, night in nights})) for edge in (min, max))
    # Only conditions on a single column spare DuckDB the files of other nights, and where a view joins, only a range.
    span = f"night BETWEEN {first} AND {last}"
    ids = "" if log_ids is None else f" AND log_id >= {quoted(log_ids[0])} AND log_id < {quoted(log_ids[1])}"
    return f" WHERE cluster IN ({clusters}) AND night IN ({dates}) AND {span} AND (cluster, night) IN ({pairs}){ids}"


def _date_sql(night: dt.date) -> str:
    return f"DATE {quoted(night.isoformat())}"


def _metrics_sql(source: str, triggers: Sequence[Trigger], where: str) -> str:
    metrics = dict.fromkeys(metric for trigger in triggers for metric in trigger.metrics)
    columns = ", ".join(_metric_sql(metric) for metric in metrics)
    # A log that the view forgot must come out as unknown, not be left out.
    return (
        f"SELECT cluster, night, log_id, coalesce(profile.is_complete, false) AS is_complete, {columns} "  # noqa: S608
        f"FROM judged_log LEFT JOIN (SELECT * FROM {source}{where}) AS profile USING (cluster, night, log_id)"
    )


def _metric_sql(metric: str) -> str:
    if pa.types.is_floating(field(metric).type):
        # To DuckDB NaN is greater than any bar.
        return f"CASE WHEN isfinite(profile.{metric}) THEN profile.{metric} END AS {metric}"
    return f"profile.{metric}"


def _verdict_sql(trigger: Trigger) -> str:
    first = trigger.all_of[0]
    cost, evidence = trigger.cost or "NULL", trigger.evidence or "NULL"
    return (
        f"SELECT cluster, night, log_id, {quoted(trigger.ruleset)} AS ruleset, {quoted(trigger.code)} AS code, "  # noqa: S608
        f"{_level_sql(trigger)} AS level, state, {first.metric}::DOUBLE AS value, {_bar_sql(first)} AS bar, "
        f"{quoted(trigger.version)} AS trigger_version, {evidence}::VARCHAR AS evidence, "
        f"CASE WHEN state = 'fired' THEN {filled_sql(trigger.finding)} END AS finding, "
        # What is not told anyone needs no advice, and advice is long.
        f"CASE WHEN {_is_told_sql(trigger)} THEN {filled_sql(trigger.advice)} END AS advice, "
        f"CASE WHEN state = 'fired' THEN {cost} END::DOUBLE AS cost_core_seconds "
        f"FROM (SELECT *, {_state_sql(trigger)} AS state FROM held_{trigger.view})"
    )


def _level_sql(trigger: Trigger) -> str:
    level = quoted(trigger.level)
    if trigger.cost is None or trigger.level not in TOLD:
        return level
    return f"CASE WHEN state = 'fired' AND {trigger.cost} < {TELLING_CORE_SECONDS!r} THEN {quoted(Level.INFO)} ELSE {level} END"


def _is_told_sql(trigger: Trigger) -> str:
    if trigger.ruleset != DEFAULT_RULESET or trigger.level not in TOLD:
        return "false"
    return f"state = 'fired' AND coalesce({trigger.cost or 'NULL'} >= {TELLING_CORE_SECONDS!r}, true)"


def _state_sql(trigger: Trigger) -> str:
    """What was seen suffices to fire, even in a log that lacks something; to be clear, nothing may be missing."""
    missing = " OR ".join(f"{above.metric} IS NULL" for above in trigger.bars)
    exceeded = _all_above_sql(trigger.all_of)
    if trigger.unless:
        exceeded += f" AND NOT ({_all_above_sql(trigger.unless)})"
    return f"CASE WHEN {missing} THEN 'unknown' WHEN {exceeded} THEN 'fired' WHEN is_complete THEN 'clear' ELSE 'unknown' END"


def _all_above_sql(bars: Sequence[Above]) -> str:
    return " AND ".join(f"{above.metric} > {_bar_sql(above)}" for above in bars)


def _bar_sql(above: Above) -> str:
    return f"{float(above.bar)!r}::DOUBLE"
