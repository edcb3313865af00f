"""`iomine simulate`: a simulated facility whose true state is known."""
# ruff: noqa: PLC0415

import datetime as dt
import shlex
from pathlib import Path
from typing import Annotated

import typer

from iomine.cli.options import DEFAULT_CLUSTER, Cluster, Workers
from iomine.cli.terminal.text import say


def command(
    *,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write to; it must be empty or not there yet.")],
    logs: Annotated[int, typer.Option("--logs", metavar="N", min=0, help="Darshan logs in all.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", metavar="S", min=0, help="The same seed gives the same facility.")] = 0,
    days: Annotated[int, typer.Option("--days", metavar="D", min=1, help="Nights that the logs are spread over.")] = 7,
    start: Annotated[
        dt.datetime,
        typer.Option("--start", metavar="DATE", formats=["%Y-%m-%d"], help="First day.", show_default="2026-01-05"),
    ] = dt.datetime(2026, 1, 5, tzinfo=dt.UTC),
    dxt_ratio: Annotated[float, typer.Option("--dxt-ratio", metavar="R", min=0, max=1, help="Share of logs with traces.")] = 0.1,
    heatmap_ratio: Annotated[
        float, typer.Option("--heatmap-ratio", metavar="R", min=0, max=1, help="Share of logs with heat maps.")
    ] = 0.9,
    archetype: Annotated[
        str | None,
        typer.Option("--archetype", metavar="NAME", help="All users run this, such as trace_flush.", show_default="a mix"),
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of that archetype, such as nprocs=64 or rank_bytes=4MiB."),
    ] = None,
    incidents: Annotated[
        bool, typer.Option("--incidents/--no-incidents", help="Whether links degrade, OSTs run hot, and programs change.")
    ] = True,
    cluster: Cluster = DEFAULT_CLUSTER,
    workers: Workers = None,
) -> None:
    """Write nights of a simulated facility, and the truth about them.

    Darshan logs, Lustre statistics, fabric counters and accounting that agree: see docs/simulate.md.
    """
    from iomine.cli.terminal.progress import progress_shown
    from iomine.lake import check_cluster
    from iomine.pipeline import progress
    from iomine.simulate import Settings, simulate
    from iomine.units import human_seconds

    check_cluster(cluster)
    parameters = dict(map(_parameter, assignments or ()))
    ratios = dxt_ratio, heatmap_ratio
    settings = Settings(out, logs, seed, days, cluster, start.date(), *ratios, workers, archetype, parameters, incidents)
    with progress_shown():
        summary = simulate(settings, progress.report)
    rate = summary.logs / max(summary.seconds, 1e-9)
    typer.echo(f"{summary.logs:,} logs of {summary.jobs:,} jobs in {human_seconds(summary.seconds)}, {rate:,.0f} logs a second")
    for name, count in summary.archetypes.items():
        typer.echo(f"  {count:>8,}  {name}")
    for incident in summary.incidents:
        typer.echo(f"  incident: {incident}")
    stats = " ".join(f"--stats {shlex.quote(str(out / name))}" for name in ("lustre", "slurm", "fabric"))
    say(f"Next: iomine sweep {shlex.quote(str(out / 'darshan'))} {stats} --cluster {cluster}")


def _parameter(assignment: str) -> tuple[str, int]:
    from iomine.errors import UsageError
    from iomine.units import bytes_of

    name, _, value = assignment.partition("=")
    try:
        return name, bytes_of(value) if name.endswith("_bytes") and not value.isdecimal() else int(value)
    except ValueError as error:
        raise UsageError(
            f"--set {assignment!r} sets nothing: write NAME=VALUE, such as nprocs=8640 or rank_bytes=64MiB."
        ) from error
