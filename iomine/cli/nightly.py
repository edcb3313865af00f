"""`iomine nightly`: what the site's settings say for one night."""
# ruff: noqa: PLC0415

import datetime as dt
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, AllowEmpty, OnlyCluster, Warehouse, as_night, database_of
from iomine.cli.terminal.failures import say_unforeseen
from iomine.cli.terminal.text import say
from iomine.errors import IomineError

if TYPE_CHECKING:
    from iomine.pipeline.digest import Order
    from iomine.pipeline.site.config import NightlySettings, SiteConfig


def command(
    *,
    night: Annotated[
        dt.date | None,
        typer.Option(
            "--date",
            metavar="DATE",
            parser=as_night,
            help="The night (UTC): a date, yesterday, or 7d for seven days ago.",
            show_default="yesterday",
        ),
    ] = None,
    cluster: OnlyCluster = None,
    allow_empty: AllowEmpty = False,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Sweep a night of each machine, and do the steps that follow.

    iomine.toml names the machines and the steps: notices to operators, mails, pages for a web server, figures for Prometheus.
    If a step fails, it is named, the other steps are still done, and the exit status is 1. Run it again to do the steps that
    are left.
    """
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline.nightly import clusters_of
    from iomine.pipeline.site.config import site_config

    Folder(warehouse).lake.check_version()
    config = site_config(warehouse)
    names = clusters_of(config, cluster)
    _check(config, warehouse)
    statuses = [
        *(_status_of(partial(_sweep, config, warehouse, name, night or as_night("yesterday"), allow_empty)) for name in names),
        *map(_status_of, _after(config.nightly, warehouse)),
    ]
    # That something failed says more than that something was rejected.
    if status := 1 if 1 in statuses else max(statuses):
        raise typer.Exit(status)


def _check(config: "SiteConfig", warehouse: Path) -> None:
    """Makes sure before hours of sweeping that what follows can be done."""
    if config.nightly.notify:
        from iomine.pipeline.notices import check_notices

        check_notices(warehouse)
    if config.nightly.digest:
        from iomine.pipeline.digest import check_order

        check_order(_order(config.nightly, warehouse))


def _order(settings: "NightlySettings", warehouse: Path) -> "Order":
    from iomine.pipeline.digest import Order

    return Order(warehouse, outbox=Path(settings.outbox) if settings.outbox else None)


def _status_of(do: Callable[[], int]) -> int:
    """The exit status of a part of the night, 1 where it fails: settings may be at fault, not who typed the command."""
    try:
        return do()
    except IomineError as error:
        say(str(error.args[0]), level="error")
    except Exception as error:  # noqa: BLE001  a defect in one step must not stop the other machines and steps
        say_unforeseen(error)
    return 1


def _sweep(config: "SiteConfig", warehouse: Path, cluster: str, night: dt.date, allow_empty: bool) -> int:
    from iomine.cli.terminal.sweeps import check_found, show, status_of, swept
    from iomine.pipeline.nightly import absent_of, sweep_of

    typer.echo(f"{cluster}, {night}")
    settings = sweep_of(config, warehouse, cluster, night)
    absent = absent_of(config, cluster, night)
    for sentence in absent:
        say(sentence)
    summary = swept(settings)
    show(summary, warehouse, as_json=False)
    if not allow_empty:
        check_found(settings, summary)
    return status_of(summary, summary.statistics) or (3 if absent else 0)


def _after(after: "NightlySettings", warehouse: Path) -> Iterator[Callable[[], int]]:
    """What follows the sweeps, in this order."""
    if after.notify:
        yield partial(_send_notices, warehouse)
    if after.digest:
        yield partial(_mail, _order(after, warehouse))
    if after.site:
        yield partial(_write_site, warehouse, Path(after.site))
    if after.metrics:
        yield partial(_write_metrics, warehouse, Path(after.metrics))


def _send_notices(warehouse: Path) -> int:
    from iomine.cli.terminal.sweeps import send_notices

    send_notices(warehouse)
    return 0


def _mail(order: "Order") -> int:
    from iomine.cli.digest import show, status_of
    from iomine.pipeline.digest import digest

    done = digest(order)
    show(done, "sent" if order.outbox is None else "written")
    return status_of(done)


def _write_site(warehouse: Path, out: Path) -> int:
    from iomine.cli.site import write_pages

    write_pages(warehouse, out)
    return 0


def _write_metrics(warehouse: Path, out: Path) -> int:
    from iomine.views.metrics import write_textfile

    write_textfile(out, database_of(warehouse))
    return 0
