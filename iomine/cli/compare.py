"""`iomine compare`: what changed between two nights, or between two stretches of nights."""
# ruff: noqa: PLC0415

import datetime as dt
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, AnswerFormat, Format, OnlyCluster, Warehouse, database_of
from iomine.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

Nights = tuple[dt.date, dt.date]


class Grouping(StrEnum):
    """Whose findings are compared."""

    FINDING = "finding"
    USER = "user"
    APP = "app"
    CODE = "code"


_KEYS: Final = {
    Grouping.FINDING: ('"user"', "uid", "app", "code"),
    Grouping.USER: ('"user"', "uid"),
    Grouping.APP: ("app",),
    Grouping.CODE: ("code",),
}

# $1 to $2 are the nights before, $3 to $4 those after, $5 the cluster.
_RUN: Final = """
run AS (
    SELECT *, night BETWEEN $3::DATE AND $4::DATE AS is_after
    FROM logs
    WHERE (night BETWEEN $1::DATE AND $2::DATE OR night BETWEEN $3::DATE AND $4::DATE)
        AND ($5::VARCHAR IS NULL OR cluster = $5::VARCHAR)
)
"""
# Whatever enters the statements is a name of a column that stands above; hence the exemptions.
_TOTALS: Final = f"""
WITH {_RUN},
told AS (
    SELECT cluster, night, log_id, count(*) AS finding_count, sum(charged_core_seconds) AS cost_core_seconds
    FROM findings
    GROUP BY cluster, night, log_id
)
SELECT
    min(night) AS first_night, max(night) AS last_night, count(DISTINCT night) AS night_count, count(*) AS log_count,
    sum(io_core_seconds) / nullif(sum(run_core_seconds) FILTER (WHERE io_core_seconds IS NOT NULL), 0) AS io_ratio,
    coalesce(sum(finding_count), 0)::BIGINT AS finding_count,
    sum(cost_core_seconds) AS cost_core_seconds
FROM run
LEFT JOIN told USING (cluster, night, log_id)
GROUP BY is_after
ORDER BY is_after
"""  # noqa: S608


def _changes_sql(keys: "Sequence[str]") -> str:
    """What changed, by these columns; a tenth more or less is no change."""
    whose = [key for key in keys if key != "code"]
    same_runs = " AND ".join(f"runs.{key} IS NOT DISTINCT FROM judged.{key}" for key in whose) or "true"
    return f"""
WITH {_RUN},
runs AS (
    SELECT {"".join(f"{key}, " for key in whose)}
        count(*) FILTER (WHERE NOT is_after) AS log_count_before, count(*) FILTER (WHERE is_after) AS log_count,
        -- Ranges of unlike length are compared night by night.
        (SELECT count(DISTINCT night) FILTER (WHERE NOT is_after) / count(DISTINCT night) FILTER (WHERE is_after) FROM run)
            AS night_ratio
    FROM run
    GROUP BY ALL
),
log_judged AS (
    SELECT {", ".join(keys)}, log_id, is_after,
        count(*) FILTER (WHERE state <> 'unknown') AS assessed_count,
        count(*) FILTER (WHERE state = 'fired' AND level IN ('high', 'warn')) AS finding_count,
        sum(charged_core_seconds) AS cost
    FROM run
    JOIN (SELECT * FROM verdicts WHERE ruleset = 'iomine') AS verdict USING (cluster, night, log_id)
    GROUP BY ALL
),
judged AS (
    SELECT {", ".join(keys)},
        sum(finding_count) FILTER (WHERE NOT is_after) AS found_before, sum(finding_count) FILTER (WHERE is_after) AS found_after,
        sum(cost) FILTER (WHERE NOT is_after) AS cost_before, sum(cost) FILTER (WHERE is_after) AS cost_after,
        sum(assessed_count) FILTER (WHERE is_after) AS assessed_after
    FROM log_judged
    GROUP BY ALL
    HAVING sum(finding_count) > 0
),
weighed AS (
    SELECT
        {", ".join(f"judged.{key}" for key in keys)}, log_count_before, log_count,
        coalesce(found_before, 0)::BIGINT AS finding_count_before, coalesce(found_after, 0)::BIGINT AS finding_count,
        cost_before AS cost_core_seconds_before, cost_after AS cost_core_seconds, assessed_after,
        coalesce(cost_before, cost_after) IS NOT NULL AS has_cost,
        if(has_cost, coalesce(cost_before, 0), finding_count_before) AS weight_before,
        if(has_cost, coalesce(cost_after, 0), finding_count) * night_ratio AS weight_after
    FROM judged
    JOIN runs ON {same_runs}
),
classed AS (
    SELECT
        CASE
            WHEN finding_count_before = 0 THEN 'new'
            WHEN finding_count > 0 AND weight_after > 1.1 * weight_before THEN 'more'
            WHEN finding_count > 0 AND weight_after < 0.9 * weight_before THEN 'less'
            WHEN finding_count > 0 THEN 'same'
            WHEN log_count = 0 THEN 'not run'
            WHEN coalesce(assessed_after, 0) = 0 THEN 'unknown'
            ELSE 'gone'
        END AS change,
        *
    FROM weighed
)
SELECT
    change, {", ".join(keys)}, finding_count_before, finding_count, cost_core_seconds_before, cost_core_seconds,
    log_count_before, log_count
FROM classed
WHERE change <> 'same'
ORDER BY abs(coalesce(cost_core_seconds, 0) - coalesce(cost_core_seconds_before, 0)) DESC, change, {", ".join(keys)}
"""  # noqa: S608


def command(
    *,
    before: Annotated[str, typer.Argument(metavar="NIGHT", help="A night, or a range such as 2026-11-01..2026-11-07.")],
    after: Annotated[str, typer.Argument(metavar="NIGHT", help="The same, to compare with it.")],
    by: Annotated[
        Grouping, typer.Option("--by", help="Compare each user's programs by trigger, or by one of these alone.")
    ] = Grouping.FINDING,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="The largest only.", show_default="all")
    ] = None,
    form: AnswerFormat = Format.TABLE,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Show which findings are new, gone, more or less, from one night to another.

    Those of users and programs that did not run are told apart from those that are gone (not run), and so are those that
    could not be assessed any more (unknown). Ranges are compared by their means for a night.
    """
    from iomine.cli.terminal.formats import write
    from iomine.cli.terminal.questions import ask

    nights = [_nights(before), _nights(after)]
    _check_apart(*nights)
    parameters = [*nights[0], *nights[1], cluster]
    totals = ask(database_of(warehouse), _TOTALS, parameters)
    for first, last in nights:
        _check_there(database_of(warehouse), totals["first_night"].to_pylist(), first, last, cluster)
    changes = ask(database_of(warehouse), _changes_sql(_KEYS[by]), parameters)
    if form is Format.TABLE:
        write(totals, form)
        typer.echo("" if changes.num_rows else "\nNothing changed by more than a tenth.")
    if changes.num_rows or form is not Format.TABLE:
        write(changes.slice(0, limit), form)


def _nights(text: str) -> Nights:
    first, dots, last = text.partition("..")
    try:
        nights = dt.date.fromisoformat(first), dt.date.fromisoformat(last if dots else first)
    except ValueError as error:
        raise UsageError(f"{text} is no night: write 2026-11-01, or 2026-11-01..2026-11-07 for a range.") from error
    if nights[0] > nights[1]:
        raise UsageError(f"{text} ends before it begins: write {last}..{first}.")
    return nights


def _check_apart(before: Nights, after: Nights) -> None:
    if before[0] <= after[1] and after[0] <= before[1]:
        raise UsageError("The nights to compare overlap: give nights, or ranges, that lie apart.")


def _check_there(database: Path, there: list[dt.date], first: dt.date, last: dt.date, cluster: str | None) -> None:
    from iomine.cli.terminal.questions import ask

    if any(first <= night <= last for night in there):
        return
    nearest = (
        "SELECT night FROM logs WHERE $2::VARCHAR IS NULL OR cluster = $2 GROUP BY night ORDER BY abs(night - $1), night LIMIT 1"
    )
    near = ask(database, nearest, [first, cluster])["night"].to_pylist()
    hint = f"the nearest that has some is {near[0]}." if near else "the warehouse has none at all."
    asked = f"{first}" if first == last else f"{first} to {last}"
    raise UsageError(f"There are no logs of {asked}: {hint}")
