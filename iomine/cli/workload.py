"""`iomine workload`: the fewest classes that hold most of what a machine's programs do, as IOR lines with weights."""
# ruff: noqa: PLC0415

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from iomine.cli.narrowing import Narrowing
from iomine.cli.options import DEFAULT_WAREHOUSE, Format, OnlyCluster, Since, Warehouse, database_of
from iomine.cli.terminal.text import say
from iomine.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

_CLUSTERS: Final = "SELECT DISTINCT cluster FROM phase_class WHERE $1::DATE IS NULL OR night >= $1::DATE ORDER BY cluster"
_SHOWN: Final = (
    *("workload_class", "class_words", "app", "log_count", "moved_bytes", "request_core_seconds", "workload_ratio"),
    "cumulative_ratio",
)


class Weight(StrEnum):
    """What a class weighs."""

    BYTES = "bytes"
    COST = "cost"


_UNITS: Final = {Weight.BYTES: "bytes", Weight.COST: "core-seconds"}


def command(
    *,
    cover: Annotated[
        float,
        typer.Option("--cover", metavar="SHARE", help="Share of the bytes or core-seconds to cover, above 0 and at most 1."),
    ] = 0.8,
    by: Annotated[Weight, typer.Option("--by", help="What to cover: bytes, or core-seconds in requests (cost).")] = Weight.BYTES,
    since: Since = None,
    replay: Annotated[
        Path | None,
        typer.Option("--replay", metavar="DIR", help="Write a script there, workload.sh, that runs the lines with IOR."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for machines.")] = False,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Make a benchmark of what a machine's programs do.

    The benchmark is the fewest classes of I/O that hold the share --cover of the bytes, or of the core-seconds in requests, as
    IOR lines with their weights. Similar classes of all logs are merged. I/O that IOR cannot replay is named with its share.
    """
    from iomine.cli.terminal.questions import ask_own
    from iomine.views.encode import records
    from iomine.views.questions import question

    if not 0 < cover <= 1:
        raise UsageError(f"--cover is {cover:g}: name a share above 0 and at most 1, such as 0.8.")
    database = database_of(warehouse)
    first_night = None if since is None else str(since)
    clusters = ask_own(database, _CLUSTERS, [first_night])["cluster"].to_pylist() if cluster is None else [cluster]
    if len(clusters) > 1:
        raise UsageError(f"The logs are of several machines, {', '.join(clusters)}: name one with --cluster.")
    asked = {"first_night": first_night, "only_cluster": cluster}
    variables = {name: value for name, value in asked.items() if value is not None}
    mix = ask_own(database, question("cli/workload"), {"weighed_by": by.value, "cover": cover}, variables=variables)
    count = mix.num_rows - mix["ior_options"].null_count
    chosen, left = mix.slice(0, count), mix.slice(count)
    script = _written(replay, database, chosen) if replay is not None and count else None
    if as_json:
        covered = chosen["cumulative_ratio"][-1].as_py() if count else 0.0
        parts = {"covered_ratio": covered, "classes": list(records(chosen)), "without_line": list(records(left))}
        typer.echo(json.dumps(parts | {"script": script and str(script)}))
    elif mix.num_rows:
        _show(chosen, left, cover, _UNITS[by], script)
    else:
        Narrowing(cluster=cluster).check(database)
        say("There is no workload: no log that is asked for has an I/O model.")


def _written(folder: Path, database: Path, chosen: "pa.Table") -> Path:
    """Writes the script, with paths and stripes of the phase classes that stand for the classes."""
    from iomine.cli.terminal.questions import ask_own
    from iomine.cli.terminal.scripts import write_scripts
    from iomine.report.replay import workload_script
    from iomine.views.questions import question

    rows = chosen.to_pylist()
    asked = {
        "cluster": rows[0]["cluster"],
        "log_ids": sorted({row["log_id"] for row in rows}),
        "first_night": min(row["night"] for row in rows),
    }
    models = ask_own(database, question("cli/model"), asked).to_pylist()
    by_class = {(model["log_id"], model["phase_class"]): model for model in models}
    (script,) = write_scripts(
        folder, {"workload": workload_script(by_class[row["log_id"], row["phase_class"]] | row for row in rows)}
    )
    return script


def _show(chosen: "pa.Table", left: "pa.Table", cover: float, unit: str, script: Path | None) -> None:
    from iomine.cli.terminal.formats import write
    from iomine.report.replay import replay_line, weight_text
    from iomine.units import visible

    rows = chosen.to_pylist()
    if rows:
        write(chosen.select(_SHOWN), Format.TABLE, whole="--json")
        typer.echo()
    for row in rows:
        reason = f" ({row['replay_reason']})" if row["replay_reason"] else ""
        typer.echo(visible(f"# class {row['workload_class']}: {weight_text(row)}; replay: {row['replay_fidelity']}{reason}"))
        typer.echo(replay_line(row))
    typer.echo()
    typer.echo(_covered(rows, left.to_pylist(), cover, unit))
    for row in left.to_pylist():
        typer.echo(visible(f"No line for {row['workload_ratio'] or 0:.1%}: {row['class_words']}. {row['replay_reason']}"))
    unweighed = (chosen if rows else left)["all_unweighed_class_count"][0].as_py()
    if unweighed:
        typer.echo(f"Phase classes without known bytes or time, which have no weight: {unweighed:,}.")
    if script is not None:
        typer.echo(visible(str(script)))


def _covered(rows: list[dict[str, Any]], left: list[dict[str, Any]], cover: float, unit: str) -> str:
    total = [*rows, *left][0]["workload_class_count"]
    if not rows:
        return f"No line of IOR holds any of the {unit}."
    covered = rows[-1]["cumulative_ratio"]
    lack = "" if covered >= cover else f", less than the {cover:.1%} asked for: no other class has a line"
    return f"{len(rows):,} of {total:,} classes hold {covered:.1%} of the {unit}{lack}."
