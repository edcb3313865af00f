"""`iomine pattern`: what the traffic patterns of a log, or of each log of a job, are called."""
# ruff: noqa: PLC0415

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from iomine.cli.meant import LogOrJob, meant
from iomine.cli.options import DEFAULT_WAREHOUSE, Format, OnlyCluster, Warehouse, database_of
from iomine.cli.terminal.text import say

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN: Final = (
    *("log_id", "ring", "op", "metric", "node_level", "traffic_pattern", "link_node_count", "spread_decades", "outlying_count"),
    *("outlying_ratio", "band_count", "period_node_count", "coincides_with"),
)


def command(
    what: LogOrJob,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for machines.")] = False,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Name the traffic patterns of a log, or of each log of a job.

    A pattern is circular, outlier, striped or noisy. Latencies and sizes of traced requests have patterns of their own, by rank,
    host, carrier and OST. docs/patterns.md says what they mean.
    """
    import json

    from iomine.cli.terminal.questions import ask_own
    from iomine.views.encode import records
    from iomine.views.questions import question

    database = database_of(warehouse)
    asked = meant(database, what, cluster).asked(database)
    rows = ask_own(database, question("cli/pattern"), asked)
    if as_json:
        typer.echo(json.dumps({"patterns": list(records(rows))}))
    elif rows.num_rows:
        _show(rows)
    else:
        say(f"{what} has no pattern: no trace shows its requests.")


def _show(rows: "pa.Table") -> None:
    import pyarrow.compute as pc

    from iomine.cli.terminal.formats import write
    from iomine.units import visible

    write(rows.filter(pc.field("node_level").is_valid()).select(_SHOWN), Format.TABLE, whole="--json")
    # Rings lack what their rows say, each the same.
    for line in dict.fromkeys(line for words in (_of_pattern, _of_ring) for row in rows.to_pylist() for line in words(row)):
        typer.echo(visible(line))


def _of_pattern(row: dict[str, Any]) -> list[str]:
    from iomine.report.patterns import is_worth_saying, pattern_sentence

    return [f"{row['log_id']}: {pattern_sentence(row)}"] if row["node_level"] and is_worth_saying(row) else []


def _of_ring(row: dict[str, Any]) -> list[str]:
    from iomine.report.patterns import ring_sentences

    return [f"{row['log_id']}: {sentence}" for sentence in ring_sentences(row)]
