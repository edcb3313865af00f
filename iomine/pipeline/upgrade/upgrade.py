"""Upgrades a warehouse: sweeps its content into a second lake, which then replaces its own.

The reasons are in docs/decisions/upgrade.md. The second lake is in the warehouse's folder `upgrade` and grows by sweeps, each of
some nights of a cluster, which know each other's work as all sweeps do. So a killed upgrade continues where it stopped.
"""

import json
import os
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from iomine import __version__
from iomine.errors import WarehouseError
from iomine.lake import LakeFile, LakeWriter, Partition, Snapshot, Warehouse, as_warehouse_errors, write_file
from iomine.pipeline import progress
from iomine.pipeline.ingest import find as paths
from iomine.pipeline.ingest.find import Candidate, is_visible
from iomine.pipeline.ingest.plan import NewLog
from iomine.pipeline.ingest.reader import Limits
from iomine.pipeline.ingest.statistics import NewInput
from iomine.pipeline.publish import publish
from iomine.pipeline.reports import due
from iomine.pipeline.site.triggers import site_triggers
from iomine.pipeline.site.zones import site_most_processes
from iomine.pipeline.stages import context
from iomine.pipeline.stages.commit import commit
from iomine.pipeline.stages.context import Reject, Sweep, begun
from iomine.pipeline.stages.find import Found
from iomine.pipeline.stages.identify import Identified, Inputs, identify
from iomine.pipeline.stages.judge import judge
from iomine.pipeline.stages.merge import merge
from iomine.pipeline.stages.read import read
from iomine.pipeline.upgrade.carry import carried, closed_nights, to_carry
from iomine.pipeline.upgrade.kept import LEFT, KeptLogs, rebuild
from iomine.pipeline.workers.pool import WorkerPool
from iomine.pipeline.workers.slurm import check_choice, site_of
from iomine.schema import SCHEMA_VERSION, mismatch
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan.packed import parts_of
from iomine.sources.model import LARGEST_BYTES

_FOLDER: Final = "upgrade"
_NOTE: Final = "upgrade.json"
_SWEEP: Final = "sweep"
# Logs that a worker rebuilds at a time.
_PIECE: Final = 100
# Logs after which what was done so far is kept, should the upgrade be killed.
_AT_ONCE: Final = 20_000


@dataclass(frozen=True, slots=True)
class Settings:
    """What an upgrade is to do.

    Attributes:
        warehouse: root of the warehouse.
        paths: folders and files to look through for logs that are no longer where they were.
        stats: the same for readings of servers and accounting.
        scheduler: address of a Dask scheduler, None for workers of its own.
        workers: how many of its own.
        slurm: whether workers are jobs, as the warehouse's `slurm.toml` describes them.
        limits: what one log may take.

    Raises:
        UsageError: workers are asked for in more ways than one.
    """

    warehouse: Path
    paths: tuple[Path, ...] = ()
    stats: tuple[Path, ...] = ()
    scheduler: str | None = None
    workers: int | None = None
    slurm: bool = False
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        check_choice(slurm=self.slurm, scheduler=self.scheduler, workers=self.workers)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an upgrade did. Logs of the warehouse are read + rebuilt + rejected.

    Attributes:
        version_before: version of the schema, that of this program where there was nothing to do.
        version: version of the schema now.
        read: logs that were read again.
        rebuilt: logs whose files are gone, worked out from the rows that were kept of them.
        rejected: logs that this program cannot read.
        incomplete: rebuilt logs that had lost rows from which something is derived; that is unknown now.
        statistics_read: readings and accounting that were read again.
        statistics_kept: those whose rows were kept.
        closed_nights: nights whose logs had left, of which sums were kept.
        seconds: how long it took, without what a killed upgrade did before.
    """

    version_before: int
    version: int
    read: int = 0
    rebuilt: int = 0
    rejected: int = 0
    incomplete: int = 0
    statistics_read: int = 0
    statistics_kept: int = 0
    closed_nights: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is swept at once.

    Attributes:
        id: of the sweep.
        cluster: the machine.
        nights: its nights.
        is_first: whether it is the first of its cluster, which takes readings and rows without a night.
        is_first_of_all: whether it is the first of all, which takes rows without a cluster.
    """

    id: str
    cluster: str
    nights: tuple[date, ...]
    is_first: bool
    is_first_of_all: bool


@dataclass(frozen=True, slots=True)
class _Upgrade:
    """An upgrade at work.

    Attributes:
        settings: what to do.
        old: the older lake.
        version: of its schema.
        beside: a warehouse in the warehouse, whose lake takes the place of the older one.
        pool: the workers.
        found: logs under the paths that were given, by id.
        stats: candidates for readings under the paths that were given.
    """

    settings: Settings
    old: Snapshot
    version: int
    beside: Warehouse
    pool: WorkerPool
    found: Mapping[str, NewLog]
    stats: Sequence[Candidate]


def upgrade(settings: Settings) -> Outcome:
    """Makes a warehouse one of this program's version; readers see it as it was until all of it is done.

    Raises:
        BusyError: a sweep is writing to it.
        UsageError: something that the site has set is not fit.
        WarehouseError: there is none, it is of a newer version, or its files cannot be read or written.
        WorkersError: workers were lost.
    """
    begun_at = time.monotonic()
    warehouse = Warehouse(settings.warehouse)
    if (version := warehouse.lake.version()) is None:
        raise WarehouseError(f"There is no warehouse with tables at {warehouse.root}: name one with --warehouse.")
    if version > SCHEMA_VERSION:
        raise WarehouseError(mismatch(warehouse.root, version))
    with as_warehouse_errors(warehouse.root), warehouse.locked(of_any_version=True):
        # Another upgrade may have ended meanwhile.
        version = warehouse.lake.version() or version
        outcome = Outcome(version, SCHEMA_VERSION)
        beside = Warehouse(warehouse.root / _FOLDER)
        if version < SCHEMA_VERSION:
            outcome = _upgraded(settings, warehouse, beside, version)
            warehouse.lake.set_version(SCHEMA_VERSION)
        # One that was killed may have left this to do.
        publish(warehouse, site_triggers(warehouse).values())
        shutil.rmtree(beside.root, ignore_errors=True)
    return replace(outcome, seconds=time.monotonic() - begun_at)


def _upgraded(settings: Settings, warehouse: Warehouse, beside: Warehouse, version: int) -> Outcome:
    old = warehouse.lake.snapshot_of_any_version()
    upgrade_id = _begun_before(beside, old, version)
    if old.rows(_SWEEP)["sweep_id"][-1].as_py() == upgrade_id:
        # It was killed when all was done except setting the version.
        return _outcome(beside, old, version)
    for file in warehouse.root.glob("*.toml"):
        shutil.copy2(file, beside.root)
    slurm = site_of(warehouse.root) if settings.slurm else None
    with WorkerPool(settings.scheduler, settings.workers, slurm, beside.root) as pool:
        work = _Upgrade(settings, old, version, beside, pool, {}, ())
        units = _units(old)
        done = set(beside.lake.snapshot().rows(_SWEEP)["sweep_id"].to_pylist())
        to_do = [unit for unit in units if unit.id not in done]
        if to_do and (settings.paths or settings.stats):
            work = _with_given(work)
        for unit in to_do:
            progress.report("upgrade", len(units) - len(to_do) + to_do.index(unit), len(units))
            _sweep(work, unit)
        progress.report("upgrade", len(units), len(units))
    outcome = _outcome(beside, old, version)
    _take_over(warehouse, beside, upgrade_id, outcome)
    return outcome


def _begun_before(beside: Warehouse, old: Snapshot, version: int) -> str:
    """Id of the upgrade that has begun on this very state of the warehouse; otherwise of a new one, whose lake is empty."""
    note = beside.root / _NOTE
    state = {"from": version, "to": SCHEMA_VERSION, "sweep": old.versions[_SWEEP], "reader_version": __version__}
    last = old.rows(_SWEEP)["sweep_id"][-1].as_py()
    if note.exists():
        there = json.loads(note.read_text(encoding="utf-8"))
        upgrade_id = str(there.pop("id"))
        if there == state or last == upgrade_id:
            return upgrade_id
    shutil.rmtree(beside.root, ignore_errors=True)
    beside.create()
    upgrade_id = uuid.uuid4().hex
    part = beside.root / f".{_NOTE}"
    part.write_text(json.dumps(state | {"id": upgrade_id}), encoding="utf-8")
    part.replace(note)
    return upgrade_id


def _units(old: Snapshot) -> list[_Unit]:
    counts: dict[str, dict[date, int]] = {}
    for file in old.files:
        if file.cluster is not None:
            nights = counts.setdefault(file.cluster, {})
            if file.table == "log" and file.night is not None:
                nights[file.night] = nights.get(file.night, 0) + file.row_count
    for row in old.rows("source_file").to_pylist():
        counts.setdefault(row["cluster"], {})
    units: list[_Unit] = []
    for cluster, nights in sorted(counts.items()):
        for number, part in enumerate(_parts(nights)):
            units.append(_Unit(f"{cluster}/{number}", cluster, tuple(part), not number, not units))
    return units


def _parts(nights: Mapping[date, int]) -> Iterator[list[date]]:
    """Nights that are swept together, the oldest first; one part at least."""
    part: list[date] = []
    count = 0
    for night in sorted(nights):
        if part and count + nights[night] > _AT_ONCE:
            yield part
            part, count = [], 0
        part.append(night)
        count += nights[night]
    yield part


@contextmanager
def _begun(work: _Upgrade, cluster: str, sweep_id: str) -> Iterator[Sweep]:
    """A sweep into the lake beside, with the workers of the upgrade."""
    with begun(context.Settings((), work.beside.root, cluster, limits=work.settings.limits)) as sweep:
        yield replace(sweep, id=sweep_id, pool=work.pool)


def _with_given(work: _Upgrade) -> _Upgrade:
    """What lies under the paths that were given."""
    settings = work.settings
    logs = paths.find_logs(settings.paths, settings.limits.file_bytes)
    stats = paths.find(settings.stats, LARGEST_BYTES, is_visible)
    with _begun(work, next(iter(_units(work.old))).cluster, uuid.uuid4().hex) as sweep:
        identified = identify(sweep, Found(tuple(logs), (), Snapshot({}, {})))
    return replace(work, found={log.log_id: log for log in identified.logs.new}, stats=stats)


def _sweep(work: _Upgrade, unit: _Unit) -> None:
    """Sweeps a unit into the lake beside, which has all of it then, or nothing."""
    with _begun(work, unit.cluster, unit.id) as sweep:
        wanted = _logs_of(work.old, unit)
        identified, inputs_left = _identified(work, unit, sweep, wanted)
        staged = read(sweep, identified)
        at_hand = {log.log_id for log in identified.logs.new}
        files = [*staged.files, *_rebuilt(work, sweep, unit, {log_id for log_id in wanted if log_id not in at_hand})]
        sources: list[Mapping[str, Any]] = [*staged.sources, *inputs_left]
        rejects: list[Reject] = [*staged.log_rejects]
        if unit.is_first:
            is_kept = bool(inputs_left)
            files += carried(sweep.staging, list(to_carry(work.old, unit.cluster, with_readings=is_kept)), work.version)
        if unit.is_first_of_all:
            files += carried(sweep.staging, work.old.of("mail"), work.version)
            # Whether this program can read them is not known yet.
            rejects += [row | {"is_final": False} for row in work.old.rows("reject").to_pylist()]
        staged = replace(staged, files=tuple(files), sources=tuple(sources), log_rejects=tuple(rejects))
        commit(sweep, judge(sweep, merge(sweep, staged)))


def _logs_of(old: Snapshot, unit: _Unit) -> dict[str, str]:
    """Paths of a unit's logs, by id."""
    nights = set(unit.nights)
    parts = [
        pq.read_table(file.path, columns=["log_id", "path"])
        for file in old.of("log")
        if file.cluster == unit.cluster and file.night in nights
    ]
    return {log_id: path for part in parts for log_id, path in zip(*(column.to_pylist() for column in part.columns), strict=True)}


def _identified(
    work: _Upgrade, unit: _Unit, sweep: Sweep, wanted: Mapping[str, str]
) -> tuple[Identified, list[Mapping[str, Any]]]:
    """What of a unit there is to be read, and rows of `source_file` whose readings are kept as they are."""
    logs = [Candidate(path, 0) for path in wanted.values() if _is_there(path)]
    sources = [row for row in work.old.rows("source_file").to_pylist() if row["cluster"] == unit.cluster] if unit.is_first else []
    stats = [*work.stats, *_places(sources)] if sources else []
    snapshot = sweep.lake.snapshot
    looked_at = identify(sweep, Found(tuple(logs), tuple({each.path: each for each in stats}.values()), snapshot))
    new = {log.log_id: log for log in looked_at.logs.new if log.log_id in wanted}
    new = {log_id: work.found[log_id] for log_id in wanted if log_id in work.found} | new
    inputs = _inputs(looked_at.statistics.new, sources)
    # Each log of the warehouse is found, read or known, wherever it lies by now.
    found = Found(tuple(Candidate(path, 0) for path in wanted.values()), (), snapshot)
    identified = Identified(found, Inputs(tuple(new.values()), len(wanted) - len(new), ()), Inputs(inputs, 0, ()), len(wanted))
    return identified, [] if inputs else [row | {"doubt": row["doubt"] or None} for row in sources]


def _inputs(new: Sequence[NewInput], sources: Sequence[Mapping[str, Any]]) -> tuple[NewInput, ...]:
    """Readings that were read before, if all of them are there: rows do not say which of them they are from."""
    wanted = {row["sha256"] for row in sources}
    inputs = tuple(each for each in new if each.key.sha256 in wanted)
    return inputs if wanted == {each.key.sha256 for each in inputs} else ()


def _is_there(path: str) -> bool:
    parts = parts_of(path)
    return os.path.exists(path) or (parts is not None and os.path.exists(parts[0]))  # noqa: PTH110  paths of any bytes


def _places(sources: Sequence[Mapping[str, Any]]) -> list[Candidate]:
    """Files that readings were read from, archives for their members, and those beside them that may have the same bytes.

    Servers that did nothing say the same twice; earlier versions took the second for known, and did not note it.
    """
    found = {place: None for path in map(_path, sources) for place in (path, *path.parents) if place.is_file()}
    sizes = {row["size_bytes"] for row in sources}
    beside = (place for folder in {place.parent for place in found} for place in folder.iterdir() if is_visible(place.name))
    found |= {place: None for place in sorted(beside) if place.is_file() and place.stat().st_size in sizes}
    return [Candidate(str(place), place.stat().st_size) for place in found]


def _path(source: Mapping[str, Any]) -> Path:
    return Path(source["path"])


def _rebuilt(work: _Upgrade, sweep: Sweep, unit: _Unit, gone: set[str]) -> list[LakeFile]:
    """Staged files of logs whose own files are gone."""
    by_partition: dict[Partition, dict[str, tuple[Path, ...]]] = {}
    for file in work.old.files:
        if file.partition and file.cluster == unit.cluster and file.night in unit.nights:
            tables = by_partition.setdefault(file.partition, {})
            tables[file.table] = (*tables.get(file.table, ()), file.path)
    most = site_most_processes(sweep.warehouse, unit.cluster)
    pieces = [
        KeptLogs(cluster, night, ids[first : first + _PIECE], tables, most)
        for (cluster, night), tables in sorted(by_partition.items())
        for ids in [tuple(sorted(gone.intersection(_ids(tables.get("log", ())))))]
        for first in range(0, len(ids), _PIECE)
    ]
    if not pieces:
        return []
    files: list[LakeFile] = []
    done = 0
    for piece, new in sweep.pool.workers().map(rebuild, pieces, sweep.staging):
        files += new
        done += len(piece.log_ids)
        progress.report("rebuild", done, len(gone))
    return files


def _ids(paths_of_logs: Iterable[Path]) -> list[str]:
    return [log_id for path in paths_of_logs for log_id in pq.read_table(path, columns=["log_id"])["log_id"].to_pylist()]


def _outcome(beside: Warehouse, old: Snapshot, version: int) -> Outcome:
    """What is in the lake beside, whoever put it there."""
    new = beside.lake.snapshot()
    units = new.rows(_SWEEP)
    sums = {
        name: pc.sum(units[f"{name}_count"]).as_py() or 0 for name in ("ingested", "known", "rejected", "statistics_ingested")
    }
    clusters = {unit.cluster for unit in _units(old)}
    modules = (pq.read_table(file.path, columns=["log_id", "reason"]) for file in new.of("module"))
    left = {log_id for rows in modules for log_id in rows.filter(pc.equal(rows["reason"], LEFT))["log_id"].to_pylist()}
    return Outcome(
        version,
        SCHEMA_VERSION,
        read=sums["ingested"],
        rebuilt=sums["known"],
        rejected=sums["rejected"],
        incomplete=len(left),
        statistics_read=sums["statistics_ingested"],
        statistics_kept=new.rows("source_file").num_rows - sums["statistics_ingested"],
        closed_nights=sum(len(closed_nights(old, cluster)) for cluster in clusters),
    )


def _take_over(warehouse: Warehouse, beside: Warehouse, upgrade_id: str, outcome: Outcome) -> None:
    """Replaces the older lake by the second one. The last commit is that of the table `sweep`, which makes it final."""
    new = beside.lake.snapshot()
    warehouse.clear_staging()
    staging = warehouse.staging / upgrade_id
    staging.mkdir(parents=True)
    # One without a version is not to look like a new one halfway.
    if (version := warehouse.lake.version()) is not None:
        warehouse.lake.set_version(version)
    lake = LakeWriter(warehouse.lake, staging, of_any_version=True)
    sweeps = lake.snapshot.rows(_SWEEP)
    due(warehouse).add({file.partition for file in new.of("log") if file.partition})
    tables = sorted({file.table for file in (*new.files, *lake.snapshot.files)} - {_SWEEP})
    for done, table in enumerate(tables):
        lake.commit(table, [_linked(staging, file) for file in new.of(table)], upgrade_id, is_whole=True)
        progress.report("commit", done + 1, len(tables))
    row = _row(upgrade_id, lake.snapshot, outcome, sorted({unit.cluster for unit in _units(new)}))
    rows = pa.concat_tables([sweeps, pa.Table.from_pylist([row], schema=arrow_schema(_SWEEP))])
    lake.commit(_SWEEP, [write_file(staging, _SWEEP, rows)], upgrade_id, is_whole=True)
    warehouse.clear_staging()


def _linked(staging: Path, file: LakeFile) -> LakeFile:
    """The file once more, to be moved into the lake: should the upgrade be killed meanwhile, it is needed again."""
    path = staging / f"part-{uuid.uuid4().hex}.parquet"
    try:
        path.hardlink_to(file.path)
    except OSError:
        # Not every file system has links.
        shutil.copy2(file.path, path)
    return replace(file, path=path)


def _row(upgrade_id: str, snapshot: Snapshot, outcome: Outcome, clusters: Sequence[str]) -> dict[str, object]:
    now = datetime.now(UTC)
    return {
        "sweep_id": upgrade_id,
        "cluster": clusters[0] if len(clusters) == 1 else None,
        "paths": [],
        "start_at": now,
        "end_at": now,
        "found_count": outcome.read + outcome.rebuilt + outcome.rejected,
        "ingested_count": outcome.read,
        "known_count": outcome.rebuilt,
        "rejected_count": outcome.rejected,
        "statistics_found_count": outcome.statistics_read + outcome.statistics_kept,
        "statistics_ingested_count": outcome.statistics_read,
        "statistics_known_count": outcome.statistics_kept,
        "statistics_rejected_count": 0,
        "reader_version": __version__,
        "table_versions": json.dumps({name: at for name, at in snapshot.versions.items() if name != _SWEEP}, sort_keys=True),
    }
