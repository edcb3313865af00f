"""A night as the site's settings describe it: what is swept of each cluster."""

from collections.abc import Iterable
from datetime import date
from pathlib import Path

from iomine.errors import InputError, UsageError, did_you_mean
from iomine.pipeline.site.config import SiteConfig, folders
from iomine.pipeline.sweep import Settings


def clusters_of(config: SiteConfig, cluster: str | None) -> tuple[str, ...]:
    """The clusters to sweep, all or the one that is named.

    Raises:
        UsageError: there is none, or none of this name.
    """
    if cluster is not None and cluster not in config.clusters:
        hint = did_you_mean(cluster, config.clusters) or f"there are {', '.join(config.clusters) or 'none'}."
        raise UsageError(f"The settings have no cluster {cluster}: {hint}")
    if not config.clusters:
        raise UsageError("The settings name no cluster: write [clusters.NAME] with logs = [...] into iomine.toml.")
    return tuple(config.clusters) if cluster is None else (cluster,)


def sweep_of(config: SiteConfig, warehouse: Path, cluster: str, night: date, days: int | None = None) -> Settings:
    """What is swept of a cluster for a night: those of its folders that are there.

    Args:
        config: the site's settings.
        warehouse: its root.
        cluster: one of the settings'.
        night: the last day of which folders are swept.
        days: of how many days; None for as many as the settings say.

    Raises:
        InputError: none of the folders of logs is there.
    """
    given, workers = config.clusters[cluster], config.workers
    days = days or given.days
    there = _there(given.logs, night, days)
    if given.logs and not there:
        missing = ", ".join(map(str, folders(given.logs, night, days)))
        raise InputError(
            f"None of the folders of {cluster} is there for {night}: {missing}. Mount them, or correct clusters.{cluster}.logs."
        )
    return Settings(
        there,
        warehouse,
        cluster,
        workers.scheduler or None,
        workers.count or None,
        slurm=workers.slurm,
        stats=_there(given.stats, night, days),
    )


def absent_of(config: SiteConfig, cluster: str, night: date) -> list[str]:
    """A sentence for each place of a cluster's logs or statistics that has nothing for a night, not even an empty folder."""
    given = config.clusters[cluster]
    return [
        f"{pattern} has nothing for {night}: mount it, or correct clusters.{cluster}.{name}."
        for name, patterns in (("logs", given.logs), ("stats", given.stats))
        for pattern in patterns
        if not _there([pattern], night, given.days)
    ]


def _there(patterns: Iterable[str], night: date, days: int) -> tuple[Path, ...]:
    return tuple(path for path in folders(patterns, night, days) if _is_there(path))


def _is_there(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        # The sweep says why it cannot be looked at.
        return True
    return True
