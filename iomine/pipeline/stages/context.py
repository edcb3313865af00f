"""What all stages of a sweep share."""

import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from iomine import __version__
from iomine.errors import LostLogsError, WorkersError
from iomine.lake import LakeFile, LakeWriter, Warehouse, as_warehouse_errors, check_cluster
from iomine.pipeline.ingest.find import shown
from iomine.pipeline.ingest.reader import Limits
from iomine.pipeline.site.collectors import site_collectors
from iomine.pipeline.site.retention import Packing, expired, site_packing, site_retention
from iomine.pipeline.site.triggers import site_triggers
from iomine.pipeline.site.views import site_views
from iomine.pipeline.site.zones import site_zone
from iomine.pipeline.workers.pool import WorkerPool
from iomine.pipeline.workers.slurm import check_choice, site_of
from iomine.sources.darshan import GONE
from iomine.whole import clear_unfinished

if TYPE_CHECKING:
    from iomine.triggers import Trigger

GRACE_DAYS: Final = 7

# A row of the table `reject`.
Reject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """What a sweep is to do.

    Attributes:
        paths: folders and files to look through for logs.
        warehouse: root of the warehouse.
        cluster: the machine that the logs came from.
        scheduler: address of a Dask scheduler, None for workers of the sweep's own.
        workers: how many of its own.
        limits: what one log may take.
        slurm: whether workers are jobs, as the warehouse's `slurm.toml` describes them.
        stats: folders and files of server statistics and accounting.
        recheck: whether to open files too that have not changed since a sweep read them.

    Raises:
        UsageError: the cluster's name is not valid, or workers are asked for in more ways than one.
    """

    paths: tuple[Path, ...]
    warehouse: Path
    cluster: str = "default"
    scheduler: str | None = None
    workers: int | None = None
    limits: Limits = field(default_factory=Limits)
    slurm: bool = False
    stats: tuple[Path, ...] = ()
    recheck: bool = False

    def __post_init__(self) -> None:
        check_cluster(self.cluster)
        check_choice(slurm=self.slurm, scheduler=self.scheduler, workers=self.workers)


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep that has begun: the warehouse is locked, and what a dead sweep left is put right.

    Attributes:
        settings: what to do.
        id: its identifier.
        started_at: when it began.
        warehouse: where it works.
        staging: the folder for what is not committed yet.
        lake: the tables, opened once.
        pool: its workers.
        triggers: what to judge by.
        days: for how many days rows are kept, by table.
        packing: which logs to pack, and where to.
        zone: name of the time zone of readings without one.
    """

    settings: Settings
    id: str
    started_at: datetime
    warehouse: Warehouse
    staging: Path
    lake: LakeWriter
    pool: WorkerPool
    triggers: "dict[str, Trigger]"
    days: dict[str, int]
    packing: Packing
    zone: str

    def past(self, files: Sequence[LakeFile]) -> set[tuple[str, date]]:
        """Tables and nights that are past their days, of the lake's files as they will be."""
        return expired(self.days, files, self.settings.cluster, self.started_at.date())


@contextmanager
def begun(settings: Settings) -> Iterator[Sweep]:
    """A sweep that holds the warehouse's lock for as long as the context lasts.

    Raises:
        BusyError: another sweep is at work on this warehouse.
        UsageError: something that the site has set is not fit.
        WarehouseError: the warehouse cannot be read or written, or is of another schema version.
    """
    warehouse, sweep_id = Warehouse(settings.warehouse), uuid.uuid4().hex
    # A wrong setting of the site should be found before hours of reading.
    triggers, zone = site_triggers(warehouse), site_zone(warehouse, settings.cluster)
    days, packing = site_retention(warehouse), site_packing(warehouse)
    slurm = site_of(warehouse.root) if settings.slurm else None
    site_views(warehouse)
    site_collectors(warehouse)
    staging = warehouse.staging / sweep_id
    with as_warehouse_errors(warehouse.root), warehouse.locked():
        warehouse.clear_staging()
        clear_unfinished(warehouse.root)
        try:
            # A worker that does not find it there sees another file system.
            staging.mkdir(parents=True)
            lake = LakeWriter(warehouse.lake, staging)
            lake.tidy(GRACE_DAYS)
            with WorkerPool(settings.scheduler, settings.workers, slurm, staging) as pool:
                now = datetime.now(UTC)
                yield Sweep(settings, sweep_id, now, warehouse, staging, lake, pool, triggers, days, packing, zone)
        finally:
            warehouse.clear_staging()


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of inputs of one kind.

    Attributes:
        found: how many there were.
        ingested: those read, to be committed or committed.
        known: those that the lake had already, or that were twice among the found.
        rejected: those that could not be read.

    Raises:
        LostLogsError: found is not ingested + known + rejected.
    """

    found: int = 0
    ingested: int = 0
    known: int = 0
    rejected: int = 0

    def __post_init__(self) -> None:
        if (held := self.ingested + self.known + self.rejected) != self.found:
            raise LostLogsError(
                f"Of {self.found:,} logs found, {self.ingested:,} were ingested, {self.known:,} known and {self.rejected:,} "
                f"rejected, which is {held:,}: nothing was committed; sweep again, and report it if it happens again."
            )


def rejected(
    path: str,
    stage: str,
    reason: str,
    *,
    is_final: bool,
    size_bytes: int,
    sha256: str | None = None,
    file_state: int | None = None,
) -> Reject:
    """A row of the table `reject`.

    Raises:
        WorkersError: workers do not see a file that is there.
    """
    if reason == GONE and os.path.exists(path):  # noqa: PTH110  paths of any bytes
        raise WorkersError(
            f"Workers do not see {shown(path)}, which is there: mount its file system on all of them, and sweep again."
        )
    return {
        "path": shown(path),
        "sha256": sha256,
        "size_bytes": size_bytes,
        "file_state": file_state,
        "stage": stage,
        "reason": reason,
        "is_final": is_final,
        "reader_version": __version__,
        "at": datetime.now(UTC),
    }
