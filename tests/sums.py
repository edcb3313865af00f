"""That the sums of what findings cost agree, wherever they are shown."""

from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

from iomine.digest.known import Scope, gather
from iomine.digest.sentences import opening
from iomine.report import facts
from iomine.report.causes import charged
from iomine.units import core_hours
from iomine.views.query import ask as ask_catalog
from iomine.web.panels import PANELS
from iomine.web.window import Window

Row = dict[str, Any]
_LOGS = """
SELECT
    cluster, night, log_id, "user", uid, app, io_core_seconds, run_core_seconds, is_excused,
    sum(charged_core_seconds) AS charged_core_seconds, max(cost_core_seconds) AS highest_cost
FROM logs
LEFT JOIN (
    SELECT
        cluster, night, log_id,
        coalesce(weather_verdict IN ('system', 'neighbour', 'fabric') OR (weather_verdict = 'unexplained' AND is_slow_run), false)
            AS is_excused
    FROM job_weather
) USING (cluster, night, log_id)
LEFT JOIN (SELECT cluster, night, log_id, charged_core_seconds, cost_core_seconds FROM findings) USING (cluster, night, log_id)
GROUP BY ALL
"""
_ROUNDING = 1 + 1e-9


def disagreements(database: Path) -> list[object]:
    """What is wrong with the sums of a published warehouse.

    Of each log: its charges are at most its I/O time and its run, no finding costs more than the I/O time, and its report says
    the same sum. Of programs, nights and users: `worst_offenders`, `trends`, the dashboard and the mail to the user say what
    the charges of the logs add up to.
    """
    ask = partial(ask_catalog, database)
    logs = ask(_LOGS).to_pylist()
    assert any(log["charged_core_seconds"] for log in logs)
    return [*_of_logs(ask, logs), *_of_groups(ask, logs), *_of_mails(ask, logs)]


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
        if _digits(reported) != _digits(log["charged_core_seconds"]):
            wrong.append((log["log_id"], "report", reported, log["charged_core_seconds"]))
    return wrong


def _of_groups(ask: Any, logs: list[Row]) -> list[object]:
    nights = sorted({log["night"] for log in logs})
    window = Window(nights[0], nights[-1], None, tuple({log["cluster"] for log in logs}))
    panel = next(panel for panel in PANELS if panel.name == "offenders").statement(window)
    hours = ask(panel.sql, panel.values).to_pylist()
    program = ("user", "uid", "app")
    return [
        *_differ("worst_offenders", _sums(logs, program), ask("SELECT * FROM worst_offenders").to_pylist(), program),
        *_differ("trends", _sums(logs, ("night",)), ask("SELECT * FROM trends").to_pylist(), ("night",)),
        *_differ(
            "dashboard",
            _sums(logs, program),
            [row | {"cost_core_seconds": row["cost_core_hours"] and row["cost_core_hours"] * 3600} for row in hours],
            program,
        ),
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
    expected: dict[str, float] = defaultdict(float)
    for row in ask('SELECT cluster, log_id, lineage_id, "user", code, charged_core_seconds FROM findings').to_pylist():
        excused = any(log["is_excused"] for log in logs if log["log_id"] == row["log_id"])
        if row["user"] and not excused and (row["cluster"], row["lineage_id"], row["code"]) not in gone:
            expected[row["user"]] += row["charged_core_seconds"] or 0.0
    wrong: list[object] = []
    for user, seconds in expected.items():
        of_nights = sum(row["cost_core_seconds"] or 0.0 for row in known[user].nights)
        of_causes = sum(cause.cost_core_seconds or 0.0 for cause in known[user].causes)
        wrong += [(user, reported, seconds) for reported in (of_nights, of_causes) if _digits(reported) != _digits(seconds)]
        # Printed as pages print it.
        said = opening(known[user], min(nights), max(nights), "user")
        wrong += [(user, said, seconds)] if seconds and f"cost {core_hours(seconds)}" not in said else []
    return wrong


def _sums(logs: list[Row], keys: tuple[str, ...]) -> dict[tuple[object, ...], float]:
    sums: dict[tuple[object, ...], float] = defaultdict(float)
    for log in logs:
        sums[tuple(log[key] for key in keys)] += log["charged_core_seconds"] or 0.0
    return sums


def _differ(place: str, expected: dict[tuple[object, ...], float], rows: list[Row], keys: tuple[str, ...]) -> list[object]:
    got: dict[tuple[object, ...], float] = defaultdict(float)
    for row in rows:
        got[tuple(row[key] for key in keys)] += row["cost_core_seconds"] or 0.0
    return [(place, key, got[key], expected[key]) for key in got if _digits(got[key]) != _digits(expected[key])]


def _digits(seconds: float | None) -> str:
    """As printed; sums of the same numbers in another order differ in digits that nobody prints."""
    return f"{seconds or 0.0:.6g}"
