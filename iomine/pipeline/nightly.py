"""A night as the site's settings describe it: what is swept of each cluster, in which order and how fast."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from iomine.errors import InputError, UsageError, did_you_mean
from iomine.lake import Snapshot, Warehouse
from iomine.pipeline.ingest.find import find_logs
from iomine.pipeline.ingest.known import final_rejects, log_count, unchanged
from iomine.pipeline.ingest.reader import Limits
from iomine.pipeline.site.config import SiteConfig, folders
from iomine.pipeline.site.retention import site_packing
from iomine.pipeline.sweep import Counts, Settings, Summary

# Days between a folder's day and the nights of its logs; those that lie further away are looked for by a sweep.
_NEAR_DAYS: Final = 2


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


def newest_nights(snapshot: Snapshot) -> dict[str, date]:
    """The newest night of each cluster that has logs."""
    found: dict[str, date] = {}
    for file in snapshot.of("log"):
        if file.cluster and file.night:
            found[file.cluster] = max(file.night, found.get(file.cluster, file.night))
    return found


def known_counts(snapshot: Snapshot, settings: Settings, night: date) -> Counts | None:
    """What a sweep would say of its logs without opening any; None where it has to open one, or to read anything else.

    Args:
        snapshot: the lake, as of any time since which nothing was forgotten.
        settings: what would be swept.
        night: the day of its folders.

    Raises:
        UsageError: a path is gone.
        InputError: a path cannot be opened.
    """
    if settings.stats or site_packing(Warehouse(settings.warehouse)).after_days:
        return None
    candidates = find_logs(settings.paths, settings.limits.file_bytes)
    near = timedelta(days=_NEAR_DAYS)
    try:
        nearby = snapshot.between(night - near, night + near)
        same = unchanged(nearby, candidates, final_rejects(nearby), lambda *_: False)
    except FileNotFoundError:
        # Sweeps since have replaced it, and removed what it names.
        return None
    if len(same.known) + len(same.refused) < len(candidates):
        return None
    known, refused = log_count(same.known), len(same.refused)
    return Counts(known + refused, known=known, rejected=refused)


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
