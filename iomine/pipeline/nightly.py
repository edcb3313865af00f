"""A night as the site's settings describe it: what is swept of each cluster, in which order and how fast."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from iomine.errors import InputError, UsageError, did_you_mean
from iomine.lake import Warehouse
from iomine.pipeline.ingest.find import find_logs
from iomine.pipeline.ingest.reader import Limits
from iomine.pipeline.site.config import SiteConfig, folders
from iomine.pipeline.sweep import Settings, Summary


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


def nights(since: date, until: date, *, newest_first: bool) -> Iterator[date]:
    """The nights from one to another, both included."""
    every = range(since.toordinal(), until.toordinal() + 1)
    return (date.fromordinal(day) for day in (reversed(every) if newest_first else every))


def out_of_order(warehouse: Warehouse, clusters: Iterable[str], since: date, *, newest_first: bool) -> list[str]:
    """Clusters with nights that will have been swept before earlier ones.

    Args:
        warehouse: before the nights are swept.
        clusters: whose nights are to be swept.
        since: the first of them.
        newest_first: whether it comes last.
    """
    later = {file.cluster for file in warehouse.lake.snapshot().of("log") if file.night and file.night > since}
    return [cluster for cluster in clusters if newest_first or cluster in later]


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast logs may be read, averaged over a sweep.

    Attributes:
        files: in a second, None for any number.
        size_bytes: in a second, None for any number.
    """

    files: float | None = None
    size_bytes: float | None = None

    def seconds(self, paths: Sequence[Path], summary: Summary) -> float:
        """How long a sweep of these paths should take, by what it read: logs that were known cost next to nothing."""
        if not summary.found or (self.files is None and self.size_bytes is None):
            return 0.0
        sizes = [each.size_bytes for each in find_logs(paths, Limits().file_bytes)]
        read_ratio = (summary.found - summary.known) / summary.found
        return read_ratio * max(len(sizes) / (self.files or math.inf), sum(sizes) / (self.size_bytes or math.inf))
