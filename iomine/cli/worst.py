"""`iomine worst`: who makes the machine's file systems work the most, or in vain."""
# ruff: noqa: PLC0415

from enum import StrEnum
from typing import Annotated

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, AnswerFormat, Format, OnlyCluster, Since, Warehouse, database_of


class Order(StrEnum):
    """What makes an offender worse than another."""

    COST = "cost"
    IO = "io"
    FINDINGS = "findings"
    BYTES = "bytes"


# $1 first night, $2 cluster, $3 order, $4 limit.
_WORST = """
WITH offender AS (
    SELECT
        "user", uid, app,
        sum(log_count)::BIGINT AS log_count,
        sum(io_core_seconds) AS io_core_seconds,
        sum(run_core_seconds) AS run_core_seconds,
        sum(io_core_seconds) / nullif(sum(timed_core_seconds), 0) AS io_ratio,
        sum(finding_count)::BIGINT AS finding_count,
        sum(cost_core_seconds) AS cost_core_seconds,
        try_cast(sum(read_bytes) AS BIGINT) AS read_bytes,
        try_cast(sum(write_bytes) AS BIGINT) AS write_bytes,
        min(night) AS first_night,
        max(night) AS last_night,
        sum(doubtful_log_count)::BIGINT AS doubtful_log_count
    FROM core.app_night
    WHERE ($1::DATE IS NULL OR night >= $1::DATE) AND ($2::VARCHAR IS NULL OR cluster = $2::VARCHAR)
    GROUP BY "user", uid, app
)
SELECT * FROM offender
ORDER BY
    CASE $3::VARCHAR
        WHEN 'cost' THEN cost_core_seconds
        WHEN 'io' THEN io_core_seconds
        WHEN 'findings' THEN finding_count
        ELSE read_bytes::DOUBLE + write_bytes
    END DESC NULLS LAST,
    io_core_seconds DESC NULLS LAST, log_count DESC, uid, "user", app
LIMIT $4::BIGINT
"""


def command(
    *,
    by: Annotated[Order, typer.Option("--by", help="What to rank by.")] = Order.COST,
    since: Since = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many to name.")] = 20,
    form: AnswerFormat = Format.TABLE,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Name the worst offenders, by user and program.

    By cost ranks by the core-seconds in requests that findings are about, by io by all I/O core-seconds.
    """
    from iomine.cli.terminal.formats import write
    from iomine.cli.terminal.questions import ask

    night = None if since is None else since.date()
    write(ask(database_of(warehouse), _WORST, [night, cluster, by.value, limit]), form)
