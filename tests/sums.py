"""That the sums of what findings cost agree, wherever they are shown."""

from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

from iomine.digest.known import Scope, gather
from iomine.digest.sentences import opening
from iomine.report import facts
from iomine.report.causes import causes_of, is_facility_cause
from iomine.report.charges import charged
from iomine.units import core_hours
from iomine.views.query import ask as ask_catalog
from iomine.web.panels import PANELS
from iomine.web.window import Window

Row = dict[str, Any]
_LOGS = """
SELECT
    cluster, night, log_id, "user", uid, app, io_core_seconds, run_core_seconds, is_excused,
    sum(charged_core_seconds) AS charged_core_seconds, max(cost_core_seconds) AS highest_cost,
    sum(charged_core_seconds) FILTER (is_facility_cause) AS facility_core_seconds
FROM logs
LEFT JOIN (
    SELECT
        cluster, night, log_id,
        coalesce(is_excused OR (weather_verdict = 'unexplained' AND is_slow_run), false) AS is_excused
    FROM job_weather
) USING (cluster, night, log_id)
LEFT JOIN (SELECT cluster, night, log_id, charged_core_seconds, cost_core_seconds, is_facility_cause FROM findings)
    USING (cluster, night, log_id)
GROUP BY ALL
"""
_ROUNDING = 1 + 1e-9
# What users are named by, worked out of findings: keys, then the whole and the facility's part.
_PARTS = {
    'SELECT "user", uid, code, cost_core_seconds, facility_cost_core_seconds FROM findings_by_user': """
        SELECT "user", uid, code, sum(cost_core_seconds), sum(cost_core_seconds) FILTER (is_facility_cause)
        FROM confirmed GROUP BY ALL
    """,
    "SELECT code, cost_core_seconds, facility_cost_core_seconds FROM findings_by_trigger": """
        SELECT code, sum(cost_core_seconds), sum(cost_core_seconds) FILTER (is_facility_cause) FROM confirmed GROUP BY ALL
    """,
    'SELECT "user", uid, app, recent_cost_core_seconds, recent_facility_cost_core_seconds FROM worst_offenders': """
        SELECT
            "user", uid, app, sum(charged_core_seconds) FILTER (age BETWEEN 0 AND 6),
            sum(charged_core_seconds) FILTER (age BETWEEN 0 AND 6 AND is_facility_cause)
        FROM confirmed GROUP BY ALL
    """,
    # Nothing in it is the facility's.
    "SELECT cluster, log_id, finding_ratio, 0 FROM job_weather WHERE finding_ratio IS NOT NULL": """
        SELECT cluster, log_id, sum(charged_core_seconds) / any_value(io_core_seconds), 0
        FROM confirmed WHERE NOT is_facility_cause AND io_core_seconds > 0 GROUP BY ALL
    """,
    'SELECT "user", uid, app, code, night_count, 0 FROM repeat_offenders': """
        SELECT "user", uid, app, code, count(DISTINCT night), 0
        FROM confirmed WHERE NOT is_facility_cause GROUP BY ALL HAVING count(DISTINCT night) >= 3
    """,
}
_CONFIRMED = """
    WITH night AS (SELECT cluster, night FROM core.log GROUP BY ALL HAVING count(end_at) > 0),
    newest AS (SELECT cluster, least(max(night), current_date) AS newest_night FROM night GROUP BY cluster),
    confirmed AS (
        SELECT findings.*, io_core_seconds, newest_night - findings.night AS age
        FROM findings
        JOIN (SELECT cluster, night, log_id, io_core_seconds, is_owner_confirmed FROM logs) USING (cluster, night, log_id)
        JOIN newest USING (cluster)
        WHERE is_owner_confirmed IS DISTINCT FROM false
    )
"""
# A cost, and what of a log's charges it adds up.
_COSTS = {"cost_core": "charged_core_seconds", "facility_cost_core": "facility_core_seconds"}


def disagreements(database: Path) -> list[object]:
    """What is wrong with the sums of a published warehouse.

    Of each log: its charges are at most its I/O time and its run, no finding costs more than the I/O time, and its report says
    the same sum, and of it the facility's part: that of causes named after what the facility has to fix, or all of a run that
    its report excuses. Of programs, nights and users: `worst_offenders`, `trends`, the dashboard and the mail to the user say
    what the charges of the logs add up to, and the facility's part; views that name users by their findings, and the verdict
    against an application, say what is worked out of the findings alone.
    """
    ask = partial(ask_catalog, database)
    logs = ask(_LOGS).to_pylist()
    assert any(log["charged_core_seconds"] for log in logs)
    return [*_of_logs(ask, logs), *_of_groups(ask, logs), *_of_parts(ask), *_of_mails(ask, logs)]


def _of_parts(ask: Any) -> list[object]:
    def answer(sql: str) -> set[tuple[object, ...]]:
        rows = ask(sql).to_pylist()
        return {(*keys, _digits(whole), _digits(part)) for *keys, whole, part in (row.values() for row in rows) if whole}

    return [
        (sql, answer(sql) ^ answer(_CONFIRMED + recomputed))
        for sql, recomputed in _PARTS.items()
        if answer(sql) != answer(_CONFIRMED + recomputed)
    ]


def _of_logs(ask: Any, logs: list[Row]) -> list[object]:
    wrong: list[object] = []
    for log in logs:
        most = min(log["io_core_seconds"] or 0.0, log["run_core_seconds"] or 0.0) * _ROUNDING
        wrong += [
            (log["log_id"], name, log[name], most) for name in ("charged_core_seconds", "highest_cost") if (log[name] or 0) > most
        ]
    places = [facts.Place(log["cluster"], log["night"], log["log_id"]) for log in logs]
    by_id = {log["log_id"]: log for log in logs}
    for of_log in facts.gather(ask, places):
        log = by_id[of_log.log["log_id"]]
        reported = charged(of_log.findings)
        causes = causes_of(of_log.findings, log["run_core_seconds"])
        facilitys = sum(
            cause.cost_core_seconds or 0.0
            for cause in causes
            if of_log.weather["is_excused"] or is_facility_cause(cause.lead["code"])
        )
        said = (("charged_core_seconds", reported), ("facility_core_seconds", facilitys))
        wrong += [(log["log_id"], "report", name, sum_, log[name]) for name, sum_ in said if _digits(sum_) != _digits(log[name])]
    return wrong


def _of_groups(ask: Any, logs: list[Row]) -> list[object]:
    nights = sorted({log["night"] for log in logs})
    window = Window(nights[0], nights[-1], None, tuple({log["cluster"] for log in logs}))
    panel = next(panel for panel in PANELS if panel.name == "offenders").statement(window)
    hours = ask(panel.sql, panel.values).to_pylist()
    shown = [row | {f"{name}_seconds": (row[f"{name}_hours"] or 0.0) * 3600 for name in _COSTS} for row in hours]
    program = ("user", "uid", "app")
    return [
        *_differ("worst_offenders", logs, ask("SELECT * FROM worst_offenders").to_pylist(), program),
        *_differ("trends", logs, ask("SELECT * FROM trends").to_pylist(), ("night",)),
        *_differ("dashboard", logs, shown, program),
    ]


def _of_mails(ask: Any, logs: list[Row]) -> list[object]:
    nights = [log["night"] for log in logs]
    known = gather(ask, Scope("user", {}, min(nights), max(nights)))
    # What others made slow, and what is unexplained, is mailed without its cost; what is over is not mailed at all.
    gone = {
        (row["cluster"], row["lineage_id"], row["code"])
        for row in ask(
            "SELECT cluster, lineage_id, code FROM advice_outcomes WHERE is_over AND outcome IN ('gone', 'not told')"
        ).to_pylist()
    }
    own: dict[str, float] = defaultdict(float)
    facilitys: dict[str, float] = defaultdict(float)
    for row in ask(
        'SELECT cluster, log_id, lineage_id, "user", code, charged_core_seconds, is_facility_cause FROM findings'
    ).to_pylist():
        excused = any(log["is_excused"] for log in logs if log["log_id"] == row["log_id"])
        if row["user"] and not excused and (row["cluster"], row["lineage_id"], row["code"]) not in gone:
            (facilitys if row["is_facility_cause"] else own)[row["user"]] += row["charged_core_seconds"] or 0.0
    wrong: list[object] = []
    for user in own.keys() | facilitys.keys():
        known_of, expected = known[user], (own[user], facilitys[user])
        of_nights = [(row["cost_core_seconds"] or 0.0, row["facility_cost_core_seconds"] or 0.0) for row in known_of.nights]
        summed = (sum(whole - part for whole, part in of_nights), sum(part for _, part in of_nights))
        of_causes = sum(cause.own_core_seconds or 0.0 for cause in known_of.causes)
        reported = ((summed[0], expected[0]), (summed[1], expected[1]), (of_causes, expected[0]))
        wrong += [(user, got, right) for got, right in reported if _digits(got) != _digits(right)]
        # Printed as pages print it.
        said = opening(known_of, min(nights), max(nights), "user")
        words = (f"runs cost {core_hours(expected[0])}", f"fix cost {'another ' * bool(expected[0])}{core_hours(expected[1])}.")
        wrong += [(user, said, right) for right, word in zip(expected, words, strict=True) if bool(right) != (word in said)]
    return wrong


def _differ(place: str, logs: list[Row], rows: list[Row], keys: tuple[str, ...]) -> list[object]:
    """What rows say that the logs do not add up to."""
    wrong: list[object] = []
    for name, charge in _COSTS.items():
        expected, got = (_sums(each, keys, column) for each, column in ((logs, charge), (rows, f"{name}_seconds")))
        wrong += [(place, name, key, got[key], expected[key]) for key in got if _digits(got[key]) != _digits(expected[key])]
    return wrong


def _sums(rows: list[Row], keys: tuple[str, ...], column: str) -> dict[tuple[object, ...], float]:
    sums: dict[tuple[object, ...], float] = defaultdict(float)
    for row in rows:
        sums[tuple(row[key] for key in keys)] += row[column] or 0.0
    return sums


def _digits(seconds: float | None) -> str:
    """As printed; sums of the same numbers in another order differ in digits that nobody prints."""
    return f"{seconds or 0.0:.6g}"
