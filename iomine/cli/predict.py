"""`iomine predict`: how long a log's or a job's I/O would take on another system, by what IOR measured there."""
# ruff: noqa: PLC0415

import json
from typing import TYPE_CHECKING, Annotated, Final

import typer

from iomine.cli.meant import LogOrJob, meant
from iomine.cli.options import DEFAULT_WAREHOUSE, Format, OnlyCluster, Warehouse, database_of
from iomine.cli.terminal.text import say
from iomine.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

ALL: Final = "all"
_SYSTEMS: Final = "SELECT DISTINCT system FROM core.ior_test ORDER BY system"
_CLASS_COLUMNS: Final = (
    *("log_id", "system", "phase_class", "op", "moved_bytes", "predicted_seconds", "least_predicted_seconds"),
    *("most_predicted_seconds", "ior_distance"),
)


def command(
    what: LogOrJob,
    *,
    on: Annotated[str, typer.Option("--on", metavar="SYSTEM", help="A system that IOR measured; all compares them.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for machines.")] = False,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Predict how long a log's I/O would take on another system.

    For a job, each log is shown. The time is that of the mean rank in reads and writes: the program's waiting and
    exchange as traced, plus its bytes at the data rate of IOR's nearest test. If none is near, the IOR line to run is printed.
    If five runs of the lineage in the 30 days before ran on measured systems, the median ratio of measured to predicted
    time, and the time corrected by it, are shown too.
    """
    from iomine.cli.terminal.questions import ask_own
    from iomine.views.encode import records
    from iomine.views.questions import question

    database = database_of(warehouse)
    asked = meant(database, what, cluster).asked(database)
    first_night = asked.pop("first_night")
    asked["system"] = _known(on, ask_own(database, _SYSTEMS)["system"].to_pylist())
    runs = ask_own(database, question("cli/predict_runs"), {name: asked[name] for name in ("cluster", "log_ids")}).to_pylist()
    known = {"run_ids": [run["log_id"] for run in runs], "first_night": min((run["night"] for run in runs), default=None)}
    predictions = ask_own(database, question("cli/predict"), asked | known)
    classes = ask_own(database, question("cli/predict_classes"), asked | {"first_night": first_night})
    if as_json:
        typer.echo(json.dumps({"predictions": list(records(predictions)), "classes": list(records(classes))}))
    elif predictions.num_rows:
        _show(predictions if on == ALL else predictions.drop_columns(["difference"]), classes)
    else:
        say("There is nothing to predict: no log has an I/O model.")


def _known(on: str, systems: list[str]) -> str | None:
    """The system that is asked for, None for all.

    Raises:
        UsageError: IOR has not measured it.
    """
    if not systems:
        raise UsageError("IOR has measured no system: `iomine sweep --stats PATH` reads its outputs.")
    if on in systems:
        return on
    if on != ALL:
        raise UsageError(f"IOR has not measured {on}: it has measured {', '.join(systems)}.")
    return None


def _show(predictions: "pa.Table", classes: "pa.Table") -> None:
    from iomine.cli.terminal.formats import write
    from iomine.units import visible

    # Columns without any value would take the room of the others.
    known = [name for name in predictions.column_names if predictions[name].null_count < predictions.num_rows]
    write(predictions.select(known), Format.TABLE, whole="--json")
    typer.echo()
    write(classes.select(_CLASS_COLUMNS), Format.TABLE, whole="--json")
    unknown = [row for row in classes.to_pylist() if row["reason"]]
    if unknown:
        typer.echo()
    for row in unknown:
        typer.echo(visible(f"# {row['log_id']} class {row['phase_class']} on {row['system']}: {row['reason']}"))
        if row["ior_line"]:
            typer.echo(row["ior_line"])
