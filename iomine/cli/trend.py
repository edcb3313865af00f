"""`iomine trend`: is the machine's I/O getting better or worse, night by night."""
# ruff: noqa: PLC0415

import datetime as dt
from typing import TYPE_CHECKING, Annotated, Final

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, AnswerFormat, Format, OnlyCluster, Since, Warehouse, database_of

if TYPE_CHECKING:
    import pyarrow as pa

# $1 first night, $2 cluster, $3 code, which only the second asks for.
# Sums of nights stay when their logs leave.
_TREND: Final = """
SELECT
    night, sum(log_count)::BIGINT AS log_count, sum(io_core_seconds) AS io_core_seconds,
    -- A log whose I/O time is not known must not thin out the share of the others.
    sum(io_core_seconds) / nullif(sum(timed_core_seconds), 0) AS io_ratio,
    sum(finding_count)::BIGINT AS finding_count, sum(cost_core_seconds) AS cost_core_seconds
FROM core.app_night
WHERE ($1::DATE IS NULL OR night >= $1::DATE) AND ($2::VARCHAR IS NULL OR cluster = $2::VARCHAR)
GROUP BY night
ORDER BY night
"""
_TREND_OF_CODE: Final = """
SELECT
    night, count(*) AS log_count,
    count(*) FILTER (WHERE state = 'fired') AS fired_count,
    count(*) FILTER (WHERE state = 'clear') AS clear_count,
    count(*) FILTER (WHERE state = 'not applicable') AS not_applicable_count,
    count(*) FILTER (WHERE state = 'unknown') AS unknown_count,
    sum(cost_core_seconds) AS cost_core_seconds
FROM verdicts
WHERE code = $3::VARCHAR AND ($1::DATE IS NULL OR night >= $1::DATE) AND ($2::VARCHAR IS NULL OR cluster = $2::VARCHAR)
GROUP BY night
ORDER BY night
"""


def command(
    *,
    code: Annotated[
        str | None, typer.Option("--code", metavar="CODE", help="Only verdicts of this trigger.", show_default="all findings")
    ] = None,
    since: Since = None,
    form: AnswerFormat = Format.TABLE,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Show what nights were like, one after the other.

    Of one trigger it shows on how many logs it fired, was clear, did not apply or could not be assessed. Below a table
    stand its columns as bars, from zero to the highest; a night without logs is a gap.
    """
    from iomine.cli.terminal.formats import write
    from iomine.cli.terminal.questions import ask
    from iomine.triggers import known

    night = None if since is None else since.date()
    if code is None:
        answer = ask(database_of(warehouse), _TREND, [night, cluster])
    else:
        answer = ask(database_of(warehouse), _TREND_OF_CODE, [night, cluster, known(code)])
    write(answer, form)
    if form is Format.TABLE and answer.num_rows:
        _draw(answer)


def _draw(answer: "pa.Table") -> None:
    from iomine.cli.terminal.sparks import spark
    from iomine.cli.terminal.text import width

    nights: list[dt.date] = answer["night"].to_pylist()
    days = [nights[0] + dt.timedelta(days=n) for n in range((nights[-1] - nights[0]).days + 1)]
    typer.echo(f"\n{nights[0]} to {nights[-1]}")
    for name in answer.column_names[1:]:
        values = dict(zip(nights, answer[name].to_pylist(), strict=True))
        typer.echo(f"{name:<18} {spark([values.get(day) for day in days], width() - 19)}".rstrip())
