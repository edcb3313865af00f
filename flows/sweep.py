"""The nightly sweep as a Prefect flow: one task per stage, however many logs there are."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Generic, TypeVar

from prefect import flow, task
from prefect.artifacts import create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State

from iomine.errors import IomineError, WorkersError
from iomine.flows.api import is_there
from iomine.pipeline.sweep import (
    RETRY_SECONDS,
    Settings,
    Summary,
    Sweep,
    begun,
    commit,
    find,
    identify,
    judge,
    merge,
    publish,
    read,
    report,
)

Given = TypeVar("Given")
Result = TypeVar("Result")
Run = TypeVar("Run", bound=Callable[..., object])


class Held(Generic[Result]):
    """A result on its way from task to task, which Prefect must not look into: it visits every candidate otherwise.

    Args:
        value: the result.
    """

    __slots__ = ("value",)

    def __init__(self, value: Result) -> None:
        self.value = value


Stage = Callable[[Held[Sweep], Held[Given]], Held[Result]]


def _workers_were_lost(_task: object, _run: object, state: State[object]) -> bool:
    return isinstance(state.result(raise_on_failure=False), WorkersError)


def _first(stage: Callable[[Sweep], Result]) -> Callable[[Held[Sweep]], Held[Result]]:
    """The stage that needs no other's result as a task."""

    def run_stage(sweep: Held[Sweep]) -> Held[Result]:
        return Held(stage(sweep.value))

    return _task_of(stage, run_stage)


def _task(stage: Callable[[Sweep, Given], Result], *, retries: int = 0) -> Stage[Given, Result]:
    """A stage as a task. What a failed try wrote is never committed, so that it may be tried again."""

    def run_stage(sweep: Held[Sweep], given: Held[Given]) -> Held[Result]:
        return Held(stage(sweep.value, given.value))

    return _task_of(stage, run_stage, retries)


def _task_of(stage: Callable[..., object], run_stage: Run, retries: int = 0) -> Run:
    # The lake says what is done already, so Prefect must not: its cache looks at inputs and never at the files.
    as_task = task(
        name=stage.__name__,
        task_run_name=stage.__name__,
        description=stage.__doc__,
        cache_policy=NO_CACHE,
        persist_result=False,
        retries=retries,
        retry_delay_seconds=RETRY_SECONDS,
        retry_condition_fn=_workers_were_lost,
    )
    made: Run = as_task(run_stage)  # type: ignore[assignment]  # a task is called as its function is
    return made


@flow(name="sweep", flow_run_name="{cluster}", persist_result=False)
def sweep(
    paths: list[Path],
    warehouse: Path,
    cluster: str = "default",
    scheduler: str | None = None,
    workers: int | None = None,
    *,
    slurm: bool = False,
    stats: list[Path] | None = None,
    recheck: bool = False,
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
        recheck: whether to open files too that have not changed since a sweep read them.
    """
    settings = Settings(
        tuple(paths), warehouse, cluster, scheduler, workers, slurm=slurm, stats=tuple(stats or ()), recheck=recheck
    )
    return _stages(settings)


def run(settings: Settings, warn: Callable[[str], None]) -> Summary:
    """Sweep as a flow without parameters, of which Prefect takes half a megabyte at most and only what is UTF-8.

    Args:
        settings: what to do.
        warn: is given a sentence where Prefect was lost after everything had been published.
    """
    done: list[Summary] = []

    def stages() -> Summary:
        return _stages(settings, done.append)

    try:
        return flow(name=sweep.name, flow_run_name=settings.cluster, persist_result=False)(stages)()
    except Exception:
        if not done or is_there():
            raise
        warn("Prefect's API was lost, so it does not show how this sweep ended: everything is published.")
        return done[0]


def _stages(settings: Settings, is_done: Callable[[Summary], None] = lambda _: None) -> Summary:
    with begun(settings) as begun_sweep:
        sweep = Held(begun_sweep)
        found = _first(find)(sweep)
        identified = _task(identify, retries=1)(sweep, found)
        staged = _task(read, retries=1)(sweep, identified)
        merged = _task(merge, retries=1)(sweep, staged)
        judged = _task(judge, retries=1)(sweep, merged)
        committed = _task(commit)(sweep, judged)
        published = _with_or_without(publish, sweep, committed)
        summary = _with_or_without(report, sweep, published, retries=1).value
    is_done(summary)
    if is_there():
        _publish_summary(summary, settings)
    return summary


def _with_or_without(
    stage: Callable[[Sweep, Given], Result], sweep: Held[Sweep], given: Held[Given], *, retries: int = 0
) -> Held[Result]:
    """A stage after the commit as a task; where Prefect is lost it is run all the same, and may be run twice."""
    if is_there():
        try:
            return _task(stage, retries=retries)(sweep, given)
        except IomineError:
            raise
        except Exception:
            if is_there():
                raise
    return Held(stage(sweep.value, given.value))


def _publish_summary(summary: Summary, settings: Settings) -> None:
    nights = f" of nights from {summary.nights[0]} to {summary.nights[-1]}" if summary.nights else ""
    create_table_artifact(
        key="sweep-summary",
        table=[
            {"what": what, "how many": how_many}
            for what, how_many in (
                ("found", summary.found),
                ("ingested", summary.ingested),
                ("known", summary.known),
                ("rejected", summary.rejected),
                # Prefect's page shows ten rows.
                *((f"rejected: {reason}", how_many) for reason, how_many in summary.reasons.items()),
                ("findings", summary.findings),
                ("reports written anew", summary.reports),
                *((f"statistics {what}", how_many) for what, how_many in asdict(summary.statistics).items()),
            )
        ],
        description=f"{settings.cluster}: {summary.ingested:,} new logs{nights}, {summary.findings:,} findings, "
        f"{summary.rejected:,} rejected. Sweep {summary.sweep_id} into {settings.warehouse.absolute()}.",
    )
