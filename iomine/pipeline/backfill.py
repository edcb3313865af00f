"""A range of nights, swept one after the other: in which order, how fast, what is passed over, and what is settled at the end."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from iomine.lake import Snapshot, Warehouse
from iomine.pipeline.corrections import settle_noted, unsettled
from iomine.pipeline.ingest.find import find_logs
from iomine.pipeline.ingest.known import final_rejects, log_count, unchanged
from iomine.pipeline.ingest.reader import Limits
from iomine.pipeline.reports import is_due
from iomine.pipeline.site.retention import site_packing
from iomine.pipeline.sweep import Counts, Settings, Summary

# Days between a folder's day and the nights of its logs; a sweep has to look for logs further away.
_NEAR_DAYS: Final = 2


class Backfill:
    """Nights of a warehouse that are swept in any order, by a process that may be killed and begun again.

    Args:
        warehouse: as it is before the first of them is swept.

    Raises:
        WarehouseError: it is of another schema version, or cannot be read.
    """

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._before = warehouse.lake.snapshot()
        self._newest: dict[str, date] = {}
        for file in self._before.of("log"):
            if file.cluster and file.night:
                self._has(file.cluster, [file.night])

    def passed_over(self, settings: Settings, night: date) -> Counts | None:
        """The counts that a sweep of a night would report if all of its logs are known; None if the sweep has to be made.

        A night that is to be swept after later ones is noted, so that it will be settled.

        Raises:
            UsageError: a path is gone.
            InputError: a path cannot be opened.
            WarehouseError: the note cannot be written.
        """
        counts = known_counts(self._before, settings, night)
        if counts is None and night < self._newest.get(settings.cluster, night):
            unsettled(self._warehouse).add([(settings.cluster, night)])
        # The next sweep reports what a killed sweep committed but did not report, whatever that next sweep finds.
        return None if is_due(self._warehouse) else counts

    def swept(self, settings: Settings, summary: Summary) -> None:
        """Notes the nights of a sweep that was made."""
        self._has(settings.cluster, summary.nights)

    def settled(self) -> Iterator[tuple[str, int]]:
        """Settles nights that were swept before earlier ones, as `settle_noted` does."""
        return settle_noted(self._warehouse)

    def _has(self, cluster: str, nights: Sequence[date]) -> None:
        self._newest[cluster] = max([*nights, self._newest.get(cluster, date.min)])


def nights(since: date, until: date, *, newest_first: bool) -> Iterator[date]:
    """The nights from one to another, both included."""
    every = range(since.toordinal(), until.toordinal() + 1)
    return (date.fromordinal(day) for day in (reversed(every) if newest_first else every))


def known_counts(snapshot: Snapshot, settings: Settings, night: date) -> Counts | None:
    """The counts that a sweep would report, without opening a log; None if it has to open one, or to do anything else.

    Args:
        snapshot: the lake, read at any time after logs were last forgotten.
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
        """How long a sweep of these paths should take, judged by what it read: known logs cost almost nothing."""
        if not summary.found or (self.files is None and self.size_bytes is None):
            return 0.0
        sizes = [each.size_bytes for each in find_logs(paths, Limits().file_bytes)]
        read_ratio = (summary.found - summary.known) / summary.found
        return read_ratio * max(len(sizes) / (self.files or math.inf), sum(sizes) / (self.size_bytes or math.inf))
