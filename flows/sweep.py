"""The nightly sweep as a Prefect flow: one task per stage, however many logs there are."""

from dataclasses import asdict
from pathlib import Path

from prefect import flow, task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State

from iomine.errors import WorkersError
from iomine.pipeline.sweep import RETRY_SECONDS, Settings, Summary, Sweep

# The lake says what is done already, so Prefect must not: its cache looks at inputs and never at the files.
_stage = task(cache_policy=NO_CACHE, persist_result=False)


def _workers_were_lost(_task: object, _run: object, state: State[object]) -> bool:
    return isinstance(state.result(raise_on_failure=False), WorkersError)


# What a failed try wrote is never committed.
_retried = task(
    cache_policy=NO_CACHE,
    persist_result=False,
    retries=1,
    retry_delay_seconds=RETRY_SECONDS,
    retry_condition_fn=_workers_were_lost,
)


@_stage
def find(sweep: Sweep) -> int:
    """Find candidates, and put right what a dead sweep left."""
    return sweep.find()


@_retried
def identify(sweep: Sweep) -> int:
    """Tell new inputs from known ones."""
    return sweep.identify()


@_retried
def read(sweep: Sweep) -> int:
    """Read the new inputs into staged Parquet."""
    return sweep.read()


@_retried
def merge(sweep: Sweep) -> int:
    """Make the new files of every touched partition."""
    return sweep.merge()


@_retried
def judge(sweep: Sweep) -> int:
    """Judge the logs of every touched night."""
    return sweep.judge()


@_stage
def commit(sweep: Sweep) -> None:
    """Commit all tables, and last the sweep itself."""
    sweep.commit()


@_stage
def publish(sweep: Sweep) -> Summary:
    """Show readers the new state, all tables at once."""
    return sweep.publish()


@_retried
def report(sweep: Sweep) -> Summary:
    """Write the reports of logs with findings."""
    return sweep.report()


@flow(name="sweep", persist_result=False)
def sweep(
    paths: list[Path],
    warehouse: Path,
    cluster: str = "default",
    scheduler: str | None = None,
    workers: int | None = None,
    *,
    slurm: bool = False,
    stats: list[Path] | None = None,
) -> Summary:
    """Sweep the logs under the paths into the warehouse.

    Args:
        paths: folders and files to look through for logs.
        warehouse: root of the warehouse.
        cluster: the machine that the logs came from.
        scheduler: address of a Dask scheduler, None for workers of the sweep's own.
        workers: how many of its own.
        slurm: whether workers are jobs, as the warehouse's `slurm.toml` describes them.
        stats: folders and files of server statistics and accounting.
    """
    return _stages(Settings(tuple(paths), warehouse, cluster, scheduler, workers, slurm=slurm, stats=tuple(stats or ())))


def run(settings: Settings) -> Summary:
    """Sweep as a flow without parameters, of which Prefect takes half a megabyte at most and only what is UTF-8."""

    def stages() -> Summary:
        return _stages(settings)

    return flow(name=sweep.name, persist_result=False)(stages)()


def _stages(settings: Settings) -> Summary:
    with Sweep(settings) as begun:
        find(begun)
        identify(begun)
        read(begun)
        merge(begun)
        judge(begun)
        commit(begun)
        publish(begun)
        summary = report(begun)
    _tell(summary, settings.warehouse)
    return summary


def _tell(summary: Summary, warehouse: Path) -> None:
    create_table_artifact(
        key="sweep-summary",
        table=[
            {"what": what, "how many": how_many}
            for what, how_many in (
                ("found", summary.found),
                ("ingested", summary.ingested),
                ("known", summary.known),
                ("rejected", summary.rejected),
                *((f"statistics {what}", how_many) for what, how_many in asdict(summary.statistics).items()),
                ("findings", summary.findings),
                ("reports written anew", summary.reports),
            )
        ],
        description=f"Sweep {summary.sweep_id}",
    )
    create_markdown_artifact(key="sweep-warehouse", markdown=f"[Warehouse]({warehouse.absolute().as_uri()})")
