"""What `iomine.toml` says for one night, as a flow of flows: a sweep for each machine, and what should follow."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.logging import get_run_logger
from prefect.runtime import flow_run

from iomine.errors import InputError, IomineError
from iomine.flows.digest import digest
from iomine.flows.sweep import sweep
from iomine.lake import Warehouse
from iomine.pipeline.backfill import Backfill, nights
from iomine.pipeline.emptiness import emptiness
from iomine.pipeline.nightly import absent_of, clusters_of, sweep_of
from iomine.pipeline.notices import notify
from iomine.pipeline.site.config import NightlySettings, site_config
from iomine.pipeline.sweep import Settings, Summary
from iomine.post.deliver import Summary as Delivered
from iomine.views.metrics import write_textfile
from iomine.web.site import Site, site_of


def _night_named() -> str:
    """What a run is called: by its night, and by its machine where it is about one."""
    given = flow_run.parameters
    return ", ".join(filter(None, [given["cluster"], f"night of {_night_of(given['night'])}"]))


def _night_of(night: date | None) -> date:
    return night or datetime.now(UTC).date() - timedelta(days=1)


@flow(name="nightly", flow_run_name=_night_named, persist_result=False)
def nightly(warehouse: Path, cluster: str | None = None, night: date | None = None, *, allow_empty: bool = False) -> None:
    """Sweep a night of each machine, and do what should follow: notices, mails, pages, figures.

    What fails does not keep the rest from being done; the flow fails at its end.

    Args:
        warehouse: root of the warehouse; the `iomine.toml` that speaks for it names the machines.
        cluster: the only machine to sweep, None for all.
        night: the night (UTC), None for yesterday.
        allow_empty: whether a sweep may find no logs where most find some.

    Raises:
        IomineError: what failed, sentence by sentence.
    """
    config, failures = site_config(warehouse), []
    night = _night_of(night)
    for name in clusters_of(config, cluster):
        try:
            settings = sweep_of(config, warehouse, name, night)
            for absent in absent_of(config, name, night):
                get_run_logger().warning(absent)
            summary = _swept(settings, night)
            if not allow_empty and (sentence := emptiness(settings, summary)):
                raise InputError(sentence)
        except IomineError as error:
            failures.append(f"{name}: {error.args[0]}")
    for do in _after(config.nightly, warehouse):
        try:
            do()
        except IomineError as error:
            failures.append(str(error.args[0]))
    if failures:
        raise IomineError(" ".join(failures))


@flow(name="backfill", flow_run_name="nights from {since} to {until}", persist_result=False)
def backfill(warehouse: Path, since: date, until: date, cluster: str | None = None, *, newest_first: bool = False) -> None:
    """Sweep a range of nights, without mails.

    Args:
        warehouse: as for `nightly`.
        since: the first night.
        until: the last night.
        cluster: as for `nightly`.
        newest_first: whether the last night is the first to be swept.

    Raises:
        IomineError: what failed, sentence by sentence.
    """
    config, failures = site_config(warehouse), []
    names = clusters_of(config, cluster)
    going = Backfill(Warehouse(warehouse))
    for night in nights(since, until, newest_first=newest_first):
        for name in names:
            try:
                settings = sweep_of(config, warehouse, name, night, days=1)
                if going.passed_over(settings, night) is None:
                    going.swept(settings, _swept(settings, night))
            except IomineError as error:
                failures.append(f"{name}, {night}: {error.args[0]}")
    for _ in going.settled():
        pass
    if failures:
        raise IomineError(" ".join(failures))


_step = task(cache_policy=NO_CACHE, persist_result=False)


@_step
def notices(warehouse: Path) -> Delivered:
    """Send what crosses a threshold to the operators."""
    return notify(warehouse)


@_step
def pages(warehouse: Path, out: Path) -> Site:
    """Write dashboard, tables and reports as files for a web server."""
    return site_of(warehouse, out)


@_step
def figures(warehouse: Path, out: Path) -> None:
    """Write figures for node_exporter."""
    write_textfile(out, Warehouse(warehouse).database)


def _after(after: NightlySettings, warehouse: Path) -> Iterator[Callable[[], object]]:
    """What follows the sweeps, in this order."""
    if after.notify:
        yield partial(notices, warehouse)
    if after.digest:
        yield partial(digest, warehouse, outbox=Path(after.outbox) if after.outbox else None)
    if after.site:
        yield partial(pages, warehouse, Path(after.site))
    if after.metrics:
        yield partial(figures, warehouse, Path(after.metrics))


def _swept(settings: Settings, night: date) -> Summary:
    summary: Summary = sweep.with_options(flow_run_name=f"{settings.cluster}, {night}")(
        list(settings.paths),
        settings.warehouse,
        settings.cluster,
        settings.scheduler,
        settings.workers,
        slurm=settings.slurm,
        stats=list(settings.stats),
    )
    return summary
