"""`iomine model`: the I/O model of a log, or of each log of a job, and the IOR lines that replay it."""
# ruff: noqa: PLC0415

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from iomine.cli.meant import LogOrJob, meant
from iomine.cli.options import DEFAULT_WAREHOUSE, Format, OnlyCluster, Warehouse, database_of
from iomine.cli.terminal.text import say

if TYPE_CHECKING:
    import pyarrow as pa

_WHAT: Final = (
    *("log_id", "phase_class", "layer", "op", "access", "request_order", "phase_count", "rank_count", "requests_per_rank"),
    *("request_bytes", "moved_bytes", "weight_ratio"),
)
_WHEN: Final = (
    *("log_id", "phase_class", "start_seconds", "end_seconds", "gap_seconds", "rank_call_seconds", "rank_wait_seconds"),
    *("rank_exchange_seconds", "storage_seconds", "rank_meta_seconds"),
)


def command(
    what: LogOrJob,
    *,
    replay: Annotated[
        Path | None, typer.Option("--replay", metavar="DIR", help="Write a script for each log there that replays it with IOR.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for machines.")] = False,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Show the I/O model of a log, or of each log of a job.

    Phases that do the same are one class. Each class is shown with what it does, where its time goes, the line of IOR that
    replays it, and how close the replay comes to the program: exact, unordered, or the same bytes in other places.
    """
    from iomine.cli.terminal.questions import ask_own
    from iomine.views.encode import records
    from iomine.views.questions import question

    database = database_of(warehouse)
    asked = meant(database, what, cluster).asked(database)
    classes = ask_own(database, question("cli/model"), asked)
    scripts = _written(replay, classes.to_pylist()) if replay is not None else []
    if as_json:
        typer.echo(json.dumps({"classes": list(records(classes)), "scripts": [str(script) for script in scripts]}))
    elif classes.num_rows:
        _show(classes, scripts)
    else:
        say(f"{what} has no I/O model: it moved no bytes, or its model could not be computed.")


def _show(classes: "pa.Table", scripts: list[Path]) -> None:
    from iomine.cli.terminal.formats import write
    from iomine.report.replay import replay_line
    from iomine.units import visible

    for names in (_WHAT, _WHEN):
        write(classes.select(names), Format.TABLE, whole="--json")
        typer.echo()
    for row in classes.to_pylist():
        reason = f" ({row['replay_reason']})" if row["replay_reason"] else ""
        typer.echo(visible(f"# {row['log_id']} class {row['phase_class']}: {row['replay_fidelity'] or 'no line'}{reason}"))
        if line := replay_line(row):
            typer.echo(line)
    for script in scripts:
        typer.echo(visible(str(script)))


def _written(folder: Path, classes: list[dict[str, Any]]) -> list[Path]:
    """Writes the script of each log."""
    from iomine.cli.terminal.scripts import write_scripts
    from iomine.report.replay import replay_script

    log_ids = dict.fromkeys(row["log_id"] for row in classes)
    texts = {log_id: replay_script(log_id, (row for row in classes if row["log_id"] == log_id)) for log_id in log_ids}
    return write_scripts(folder, texts)
