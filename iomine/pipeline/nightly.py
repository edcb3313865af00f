"""A night as the site's settings describe it: what is swept of each cluster."""

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
    logs, stats = (folders(patterns, night, days or given.days) for patterns in (given.logs, given.stats))
    there = tuple(path for path in logs if path.exists())
    if logs and not there:
        missing = ", ".join(map(str, logs))
        raise InputError(
            f"None of the folders of {cluster} is there for {night}: {missing}. Mount them, or mend clusters.{cluster}.logs."
        )
    return Settings(
        there,
        warehouse,
        cluster,
        workers.scheduler or None,
        workers.count or None,
        slurm=workers.slurm,
        stats=tuple(path for path in stats if path.exists()),
    )
