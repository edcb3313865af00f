"""Triggers become one SQL statement that judges all logs at once.

Whatever enters the statement is a trigger's own name, checked by the model, or quoted here; hence the exemptions below.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

import pyarrow as pa

from iomine.schema import field, table
from iomine.schema.fields.site import PREFIX
from iomine.sqltext import literal, quoted
from iomine.triggers.finding import filled_sql
from iomine.triggers.model import (
    ACTIVITY,
    DEFAULT_RULESET,
    FINDING_CORE_SECONDS,
    FINDING_LEVELS,
    FINDING_RUN_RATIO,
    Above,
    Advice,
    Level,
    Threshold,
    Trigger,
    Where,
)

# The view that says whose findings are excused by what their log met with.
EXCUSES: Final = "core.slowed_log"


def settings(triggers: Sequence[Trigger]) -> dict[str, float]:
    """Values of the variables that the triggers' views work with, for the connection that judges."""
    return {setting.name: setting.default for trigger in triggers for setting in trigger.settings}


def features(triggers: Sequence[Trigger]) -> set[str]:
    """Views of features that the triggers are judged by."""
    return {ACTIVITY, *(trigger.view for trigger in triggers if not trigger.is_featureless)}


def held_name(view: str) -> str:
    """The name that the connection's own table must have, when it judges, for a view that is not a feature."""
    return f"held_{view.replace('.', '_')}"


def judge_sql(
    triggers: Sequence[Trigger],
    nights: Sequence[tuple[str, dt.date]] | None = None,
    log_ids: tuple[str, str] | None = None,
    failed: Mapping[str, str] = MappingProxyType({}),
    *,
    silent: Collection[str] = (),
) -> str:
    """One DuckDB statement that gives the verdict of every trigger on every log.

    Its columns are `cluster`, `night` and those of the table `verdict`; its rows come in no order.

    Args:
        triggers: at least one; their views are looked up in schema `core`, where the lake's features are, and those that are
            not features among the connection's own tables, as `held_name` calls them.
        nights: pairs of cluster and night to judge, None for all there are.
        log_ids: the first id to judge, and the end (exclusive); None for all.
        failed: views that are not features and could not be queried, with the reason.
        silent: codes of triggers that none of the logs can fire, whose texts take DuckDB most of its planning.

    Raises:
        ValueError: there is no trigger to judge by.
    """
    if not triggers:
        raise ValueError("Give at least one trigger to judge by.")
    where = where_sql(nights, log_ids)
    sources = [_judged_log_sql(triggers, _source(ACTIVITY), where)]
    sources += [
        f"{held_name(view)} AS ({_metrics_sql(_source(view), group, where)})" for view, group in _by_view(triggers).items()
    ]
    sources.append(f"judged AS MATERIALIZED ({judged_sql(triggers, failed, silent)})")
    # What has no cost is a cause of its own, unless it is a sign of another's.
    cause = "coalesce(blamed.lead_code, blamed_cause.lead_code, cause_code, code)"
    facilitys = ", ".join(quoted(trigger.code) for trigger in triggers if trigger.is_facility_cause) or "''"
    of_findings = {"cause_code": cause, "is_facility_cause": f"{cause} IN ({facilitys}) OR excused.log_id IS NOT NULL"}
    named = {name: f"CASE WHEN advice IS NOT NULL THEN {value} END AS {name}" for name, value in of_findings.items()}
    columns = ", ".join(named.get(name, name) for name in ("cluster", "night", *table("verdict").columns))
    sources += [f"claimed AS MATERIALIZED ({claimed_sql(triggers, 'core.cost_claim', where)})", CHARGED, *CAUSES]
    sources += [_signs_sql(triggers), BLAMED]
    # What a run is charged that others made slow is no more its user's than the time that a slow OST took.
    sources.append(
        f"excused AS (SELECT cluster, night, log_id FROM (SELECT * FROM {EXCUSES}{where}) WHERE is_excused)"  # noqa: S608
    )
    charged = "charged"
    if any(map(_has_own_cost, triggers)):
        sources.append(OWN_CHARGED)
        charged = "(FROM charged UNION ALL FROM own_charged)"
    keys = "cluster, night, log_id, code"
    joined = (
        f"LEFT JOIN {charged} USING ({keys}) "  # noqa: S608
        f"LEFT JOIN (FROM cause UNION ALL FROM sign) USING ({keys}) LEFT JOIN blamed USING ({keys}) "
        "LEFT JOIN (SELECT * RENAME (code AS cause_code) FROM blamed) AS blamed_cause USING (cluster, night, log_id, cause_code) "
        "LEFT JOIN excused USING (cluster, night, log_id)"
    )
    statement = f"SELECT {columns} FROM judged {joined}"  # noqa: S608
    return "WITH " + ",\n".join(sources) + "\n" + statement


# Costs may be about the same requests, so of each group of claims only the highest counts among those that have a finding.
# In order, since the same floats added up in another order give another last digit.
CHARGED: Final = """charged AS (
    SELECT cluster, night, log_id, code, SUM(claim_core_seconds ORDER BY claim_core_seconds) AS charged_core_seconds
    FROM (
        FROM claimed
        WHERE claim_group > 0
        QUALIFY row_number() OVER
            (PARTITION BY cluster, night, log_id, claim_group ORDER BY claim_core_seconds DESC, cost_name, code) = 1
    )
    GROUP BY ALL
)"""
# The files that a site's own cost is about are not known, so it may be the same time as all other costs: the largest is charged
# only for the part that exceeds the sum of these.
OWN_CHARGED: Final = """own_charged AS (
    SELECT
        cluster, night, log_id, code,
        -- The same floats added up otherwise differ in their last digits.
        CASE
            WHEN others_core_seconds IS NULL THEN claim_core_seconds
            WHEN claim_core_seconds > others_core_seconds * (1 + 1e-9) THEN claim_core_seconds - others_core_seconds
            ELSE 0
        END AS charged_core_seconds
    FROM (
        FROM claimed
        WHERE claim_group = 0
        QUALIFY row_number() OVER (PARTITION BY cluster, night, log_id ORDER BY claim_core_seconds DESC, code) = 1
    )
    LEFT JOIN (
        SELECT cluster, night, log_id, SUM(charged_core_seconds ORDER BY charged_core_seconds) AS others_core_seconds
        FROM charged
        GROUP BY ALL
    ) USING (cluster, night, log_id)
)"""
# Share of a finding's time that another finding must be about too, so that both are one cause.
SAME_CAUSE_RATIO: Final = 0.8
# Findings that are about much the same time are one cause. It is called by a finding of level high that is about at least half
# of it, where there is one, since that says more than the costliest.
CAUSES: Final = (
    """weighed AS (
    SELECT cluster, night, log_id, code, any_value(level) AS level, SUM(claim_core_seconds ORDER BY claim_core_seconds) AS weight
    FROM claimed
    GROUP BY ALL
)""",
    """shared AS (
    SELECT
        one.cluster, one.night, one.log_id, one.code, other.code AS other_code,
        LEAST(one.claim_core_seconds, other.claim_core_seconds) AS both_seconds
    FROM claimed AS one
    JOIN claimed AS other USING (cluster, night, log_id, claim_group)
    WHERE one.code <> other.code
)""",
    f"""beneath AS (
    SELECT cluster, night, log_id, code, arg_max(other_code, other.weight ORDER BY other_code) AS other_code
    FROM (
        SELECT cluster, night, log_id, code, other_code, SUM(both_seconds ORDER BY both_seconds) AS shared_core_seconds
        FROM shared
        GROUP BY ALL
    )
    JOIN weighed AS one USING (cluster, night, log_id, code)
    JOIN (SELECT * RENAME (code AS other_code) FROM weighed) AS other USING (cluster, night, log_id, other_code)
    WHERE shared_core_seconds >= {SAME_CAUSE_RATIO} * one.weight AND (other.weight, code) > (one.weight, other_code)
    GROUP BY cluster, night, log_id, code
)""",  # noqa: S608  a number of ours
    # A finding may be below another one that is itself below a third one; longer chains are rare.
    """rooted AS (
    SELECT weighed.*, coalesce(third.other_code, second.other_code, first.other_code, weighed.code) AS root_code
    FROM weighed
    LEFT JOIN beneath AS first USING (cluster, night, log_id, code)
    LEFT JOIN beneath AS second
        ON second.cluster = first.cluster AND second.night = first.night AND second.log_id = first.log_id
        AND second.code = first.other_code
    LEFT JOIN beneath AS third
        ON third.cluster = second.cluster AND third.night = second.night AND third.log_id = second.log_id
        AND third.code = second.other_code
)""",
    """cause AS (
    SELECT
        cluster, night, log_id, code, first_value(code) OVER (
            PARTITION BY cluster, night, log_id, root_code
            ORDER BY 2 * weight < heaviest, level <> 'high', weight DESC, code
        ) AS cause_code
    FROM (SELECT *, MAX(weight) OVER (PARTITION BY cluster, night, log_id, root_code) AS heaviest FROM rooted)
)""",
)

# Where a finding knows that the facility is to blame, its cause is called by the finding that says so, whichever cost more.
BLAMED: Final = """blamed AS (
    SELECT DISTINCT cluster, night, log_id, unnest([code, sign_of_code]) AS code, sign_of_code AS lead_code
    FROM judged
    SEMI JOIN (SELECT cluster, night, log_id, code AS sign_of_code FROM judged WHERE advice IS NOT NULL)
        USING (cluster, night, log_id, sign_of_code)
)"""


def _signs_sql(triggers: Sequence[Trigger]) -> str:
    """Causes of findings without a cost that are signs of another finding of their log."""
    signs = [
        f"({quoted(trigger.code)}, {quoted(code)}, {place})" for trigger in triggers for place, code in enumerate(trigger.sign_of)
    ]
    values = ", ".join(signs or ("('', '', 0)",))
    return (
        "sign AS (SELECT cluster, night, log_id, named.code, arg_min(cause_code, place) AS cause_code "  # noqa: S608
        f"FROM cause JOIN (VALUES {values}) AS named (code, sign_of, place) ON cause.code = sign_of GROUP BY ALL)"
    )


def claimed_sql(triggers: Sequence[Trigger], claims: str, where: str) -> str:
    """What each finding among the rows of `judged_sql` claims of its log's time."""
    claimed = (
        "SELECT cluster, night, log_id, code, level, cost_name, claim_group, claim_core_seconds "  # noqa: S608
        f"FROM judged JOIN (SELECT * FROM {claims}{where}) USING (cluster, night, log_id, cost_name) "
        # If the I/O time of a log is not known, the part that they cost is not known either.
        "SEMI JOIN (FROM judged_log WHERE most_seconds IS NOT NULL) USING (cluster, night, log_id)"
    )
    if own := sorted({trigger.cost for trigger in triggers if trigger.cost and _has_own_cost(trigger)}):
        claimed += (
            " UNION ALL SELECT cluster, night, log_id, code, level, cost_name, 0, cost_core_seconds FROM judged "  # noqa: S608
            f"WHERE cost_name IN ({', '.join(map(quoted, own))}) AND cost_core_seconds IS NOT NULL"
        )
    return claimed


def _has_own_cost(trigger: Trigger) -> bool:
    return trigger.cost is not None and trigger.cost.startswith(PREFIX)


def _source(view: str) -> str:
    return f"temp.main.{held_name(view)}" if "." in view else f"core.{view}"


def where_sql(nights: Sequence[tuple[str, dt.date]] | None, log_ids: tuple[str, str] | None = None) -> str:
    """A WHERE clause that keeps rows of these nights, empty for all.

    Args:
        nights: pairs of cluster and night, None for all there are.
        log_ids: of these nights, the first id to keep, and the end (exclusive); None for all.
    """
    if nights is None:
        return ""
    if not nights:
        return " WHERE false"
    clusters = ", ".join(sorted({quoted(cluster) for cluster, _ in nights}))
    dates = ", ".join(sorted({literal(night) for _, night in nights}))
    pairs = ", ".join(f"({quoted(cluster)}, {literal(night)})" for cluster, night in nights)
    first, last = (literal(edge({night for _, night in nights})) for edge in (min, max))
    # Only conditions on a single column spare DuckDB the files of other nights, and where a view joins, only a range.
    span = f"night BETWEEN {first} AND {last}"
    ids = "" if log_ids is None else f" AND log_id >= {quoted(log_ids[0])} AND log_id < {quoted(log_ids[1])}"
    return f" WHERE cluster IN ({clusters}) AND night IN ({dates}) AND {span} AND (cluster, night) IN ({pairs}){ids}"


def _judged_log_sql(triggers: Sequence[Trigger], source: str, where: str) -> str:
    of_log = "io_core_seconds AS most_seconds, run_seconds * nprocs AS whole_core_seconds"
    return (
        f"judged_log AS (SELECT {', '.join(_of_log(triggers))} "  # noqa: S608
        f"FROM (SELECT cluster, night, log_id, {of_log} FROM core.log{where}) "
        f"LEFT JOIN (SELECT * FROM {source}{where}) USING (cluster, night, log_id))"
    )


def _of_log(triggers: Sequence[Trigger]) -> tuple[str, ...]:
    """The columns of `judged_log` that the triggers need."""
    activity = dict.fromkeys(name for trigger in triggers for name in trigger.activity)
    return ("cluster", "night", "log_id", "most_seconds", "whole_core_seconds", *activity)


def rows_sql(view: str, triggers: Sequence[Trigger], columns: Collection[str], where: str) -> str:
    """The rows of a view that is not a feature, as triggers are judged by them.

    Args:
        view: with its schema.
        triggers: that ask it.
        columns: that it has.
        where: a WHERE clause, or nothing.
    """
    # A log of a run that was cut short is not complete.
    is_complete = "is_complete" if "is_complete" in columns else "NOT is_cut AS is_complete"
    metrics = dict.fromkeys(column for trigger in triggers for column in trigger.columns)
    return (
        f"SELECT cluster, night, log_id, {', '.join((is_complete, *metrics))} FROM (SELECT * FROM {view}{where}) "  # noqa: S608
        f"JOIN (SELECT cluster, night, log_id, is_partial AS is_cut FROM core.log{where}) USING (cluster, night, log_id)"
    )


def _metrics_sql(source: str, triggers: Sequence[Trigger], where: str) -> str:
    metrics = dict.fromkeys(column for trigger in triggers for column in trigger.columns)
    # Only the columns that these triggers need: DuckDB spends most of its planning on finding unused columns.
    columns = ", ".join((*(f"judged_log.{name}" for name in _of_log(triggers)), *map(_metric_sql, metrics)))
    # A log that the view forgot must come out as unknown, not be left out.
    return (
        f"SELECT {columns}, coalesce(profile.is_complete, false) AS is_complete "  # noqa: S608
        f"FROM judged_log LEFT JOIN (SELECT * FROM {source}{where}) AS profile USING (cluster, night, log_id)"
    )


def _metric_sql(metric: str) -> str:
    if pa.types.is_floating(field(metric).type):
        # To DuckDB NaN is greater than any number, and minus infinity is below all.
        return f"CASE WHEN isfinite(profile.{metric}) THEN profile.{metric} END AS {metric}"
    return f"profile.{metric}"


def judged_sql(
    triggers: Sequence[Trigger], failed: Mapping[str, str] = MappingProxyType({}), silent: Collection[str] = ()
) -> str:
    """The verdicts by the metrics of each view, which are looked up as `held_name` calls them.

    Beside columns of the table `verdict` there are two of what is a finding: `cost_name`, the name of its cost, and
    `sign_of_code`, the code of the finding that says which part of the facility is to blame for it.

    Args:
        triggers: what to judge by.
        failed: as for `judge_sql`.
        silent: as for `judge_sql`.
    """
    selects = []
    for view, group in _by_view(triggers).items():
        of_group = [(each, each.code not in silent) for each in group]
        verdicts = ", ".join(_verdict_sql(each, failed.get(view), can_fire=can_fire) for each, can_fire in of_group)
        states = ", ".join(f"{_state_sql(each, can_fire=can_fire)} AS {_state_of(each)}" for each, can_fire in of_group)
        judged = f"(SELECT *, {states} FROM {held_name(view)})"  # noqa: S608
        selects.append(f"SELECT cluster, night, log_id, unnest([{verdicts}], max_depth := 2) FROM {judged}")  # noqa: S608
    return "\nUNION ALL\n".join(selects)


def _by_view(triggers: Sequence[Trigger]) -> dict[str, list[Trigger]]:
    """Triggers share views, so each view is worked out once, and all of its triggers are judged by one query."""
    found: dict[str, list[Trigger]] = defaultdict(list)
    for trigger in triggers:
        found[trigger.view].append(trigger)
    return found


def _state_of(trigger: Trigger) -> str:
    """The column of the trigger's state beside those of its view."""
    return f'"state of {trigger.code}"'


def _verdict_sql(trigger: Trigger, fault: str | None, *, can_fire: bool) -> str:
    first = trigger.all_of[0]
    state = _state_of(trigger)
    columns = {
        "ruleset": quoted(trigger.ruleset),
        "code": quoted(trigger.code),
        "level": _level_sql(trigger, can_fire=can_fire),
        "state": state,
        "value": f"{first.metric}::DOUBLE",
        "bar": _threshold_sql(first),
        "trigger_version": quoted(trigger.version),
        "evidence": f"{trigger.evidence or 'NULL'}::VARCHAR",
        "finding": "NULL::VARCHAR",
        "advice": "NULL::VARCHAR",
        "cost_core_seconds": "NULL::DOUBLE",
        "idle_core_seconds": "NULL::DOUBLE",
        "reason": f"CASE WHEN {state} = 'unknown' THEN {quoted(fault) if fault else _reason_sql(trigger)} END",
        "cost_name": "NULL::VARCHAR",
        "sign_of_code": "NULL::VARCHAR",
    }
    if can_fire:
        is_finding = _is_finding_sql(trigger)
        columns |= {
            "finding": f"CASE WHEN {state} = 'fired' THEN {_text_sql(trigger, 'finding')} END",
            # Only findings need advice, and advice is long.
            "advice": f"CASE WHEN {is_finding} THEN {_text_sql(trigger, 'advice')} END",
            "cost_core_seconds": f"CASE WHEN {state} = 'fired' THEN {_cost_sql(trigger)} END::DOUBLE",
            "idle_core_seconds": f"CASE WHEN {state} = 'fired' THEN {trigger.idle or 'NULL'} END::DOUBLE",
            "cost_name": f"CASE WHEN {is_finding} THEN {quoted(trigger.cost) if trigger.cost else 'NULL'} END::VARCHAR",
            "sign_of_code": f"CASE WHEN {is_finding} THEN {_sign_of_sql(trigger)} END::VARCHAR",
        }
    return f"{{{', '.join(f'{name}: {value}' for name, value in columns.items())}}}"


def _text_sql(trigger: Trigger, text: Literal["finding", "advice"]) -> str:
    """A text, or the first of those instead whose metric is known."""
    if text == "finding":
        usual, *others = map(filled_sql, trigger.templates("finding"))
    else:
        usual, *others = map(_advice_sql, trigger.advices)
    cases = [f"WHEN {each.known} IS NOT NULL THEN {other}" for each, other in zip(trigger.instead, others, strict=True)]
    return f"CASE {' '.join(cases)} ELSE {usual} END" if cases else usual


def _sign_of_sql(trigger: Trigger) -> str:
    """The code of the finding that the text which is said is a sign of."""
    cases = (f"WHEN {each.known} IS NOT NULL THEN {literal(each.sign_of)}" for each in trigger.instead)
    return f"CASE {' '.join(cases)} END" if any(each.sign_of for each in trigger.instead) else "NULL"


def _advice_sql(advice: Advice) -> str:
    """The parts of an advice that are for the log, joined by spaces."""
    said = (
        filled_sql(part) if isinstance(part, str) else f"CASE WHEN {_holds_sql(part)} THEN {filled_sql(part.text)} END"
        for part in advice
    )
    return f"concat_ws(' ', {', '.join(said)})"


def _holds_sql(part: Where) -> str:
    holds = " AND ".join(
        f"{metric} IS NOT NULL"
        if pa.types.is_string(field(metric).type)
        else f"coalesce({metric} > {literal(float(part.above))}, true)"
        for metric in part.metrics
    )
    return f"NOT ({holds})" if part.is_not else holds


def _cost_sql(trigger: Trigger) -> str:
    """What a finding costs: no more than the log's I/O time, and NULL where that is not known."""
    return (
        f"CASE WHEN {trigger.cost} > most_seconds THEN most_seconds WHEN most_seconds >= 0 THEN {trigger.cost} END"
        if trigger.cost
        else "NULL"
    )


def _level_sql(trigger: Trigger, *, can_fire: bool) -> str:
    level = quoted(trigger.level)
    if trigger.high:
        level = f"CASE WHEN {_all_hold_sql((trigger.high,))} THEN {quoted(Level.HIGH)} ELSE {level} END"
    if not can_fire or trigger.cost is None or trigger.level not in FINDING_LEVELS:
        return level
    is_little = f"NOT {_matters_sql(trigger)}"
    return f"CASE WHEN {_state_of(trigger)} = 'fired' AND {is_little} THEN {quoted(Level.INFO)} ELSE {level} END"


def _is_finding_sql(trigger: Trigger) -> str:
    if trigger.ruleset != DEFAULT_RULESET or trigger.level not in FINDING_LEVELS:
        return "false"
    return f"{_state_of(trigger)} = 'fired' AND {_matters_sql(trigger)}"


def _matters_sql(trigger: Trigger) -> str:
    """Whether a fired verdict is a finding: by its cost, with the time in which others stood idle where that is known.

    Idle time grows with the ranks: beside a request of a millisecond, ten thousand of them stand idle for ten core-seconds. So
    where the cost alone is too little, what is lost must also be a part of the run. What is not known is no reason against it.
    """
    if not trigger.idle:
        return f"coalesce({trigger.cost or 'NULL'} >= {FINDING_CORE_SECONDS!r}, true)"
    lost = f"({trigger.cost or 'NULL'} + coalesce({trigger.idle}, 0))"
    is_part = f"coalesce({lost} >= {FINDING_RUN_RATIO!r} * whole_core_seconds, true)"
    is_enough = f"({trigger.cost or 'NULL'} >= {FINDING_CORE_SECONDS!r} OR {is_part})"
    return f"coalesce({lost} >= {FINDING_CORE_SECONDS!r} AND {is_enough}, true)"


def _state_sql(trigger: Trigger, *, can_fire: bool) -> str:
    """A trigger may fire on an incomplete log; it is clear only on a complete one."""
    missing = " OR ".join(f"{each.metric} IS NULL" for each in trigger.all_of + trigger.unless)
    holds = _all_hold_sql(trigger.all_of)
    if trigger.unless:
        holds += f" AND NOT ({_all_hold_sql(trigger.unless)})"
    fired = f"WHEN NOT ({missing}) AND {holds} THEN 'fired'" if can_fire else ""
    none = " OR ".join(_none_sql(trigger, above) for above in trigger.applies_to) or "false"
    return f"CASE {fired} WHEN {none} THEN 'not applicable' WHEN is_complete AND NOT ({missing}) THEN 'clear' ELSE 'unknown' END"


def _none_sql(trigger: Trigger, above: Above) -> str:
    """A column of `log_activity` is NULL where the log is incomplete; one of the view is not."""
    none = f"{above.metric} <= {_threshold_sql(above)}"
    if above.metric in trigger.activity:
        return none
    return " AND ".join(("is_complete", *(f"{lack} IS NULL" for lack in trigger.lacks), none))


def _reason_sql(trigger: Trigger) -> str:
    """What the log lacks; if `log_activity` names nothing, the metric that its records lack and what would give it."""
    lacking = " ".join(
        f"WHEN {each.metric} IS NULL THEN "
        + quoted(f"Its records lack {each.metric}: {trigger.about(each.metric)} It needs {trigger.needs}.")
        for each in trigger.thresholds
    )
    needs = quoted(f"Some of what it needs is missing: {trigger.needs}.")
    return f"coalesce({', '.join((*trigger.lacks, f'CASE {lacking} ELSE {needs} END'))})"


def _all_hold_sql(thresholds: Sequence[Threshold]) -> str:
    return " AND ".join(f"{each.metric} {each.sign} {_threshold_sql(each)}" for each in thresholds)


def _threshold_sql(threshold: Threshold) -> str:
    return literal(float(threshold.value))
