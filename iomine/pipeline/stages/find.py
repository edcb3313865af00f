"""Finds what there is to be read."""

from dataclasses import dataclass

from iomine.lake import Snapshot
from iomine.pipeline.ingest import find as paths
from iomine.pipeline.ingest.find import Candidate
from iomine.pipeline.stages.context import Sweep
from iomine.sources.model import LARGEST_BYTES


@dataclass(frozen=True, slots=True)
class Found:
    """What there is to be read, and what there is already.

    Attributes:
        logs: candidates for logs.
        statistics: candidates for readings of servers and accounting.
        snapshot: the lake before the sweep.
    """

    logs: tuple[Candidate, ...]
    statistics: tuple[Candidate, ...]
    snapshot: Snapshot


def find(sweep: Sweep) -> Found:
    """Candidates below the paths of the sweep's settings."""
    settings = sweep.settings
    logs = paths.find_logs(settings.paths, settings.limits.file_bytes)
    statistics = paths.find(settings.stats, LARGEST_BYTES, paths.is_visible)
    return Found(tuple(logs), tuple(statistics), sweep.lake.snapshot)
