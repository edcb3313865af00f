"""One sweep from paths to published views, stage by stage.

    find → identify → read → merge → judge → commit → publish → report

Nothing that readers see changes before `publish`, and nothing that the next sweep builds on before the last line of
`commit`. Each stage may be run again: what it writes has new names every time.
"""

import json
import os
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from iomine import __version__
from iomine.errors import LostLogsError, UnreadableError, UsageError, WorkersError
from iomine.lake import LakeFile, Warehouse, check_cluster, faults_told, write_file
from iomine.pipeline import progress
from iomine.pipeline.ingest import plan
from iomine.pipeline.ingest.find import Candidate, find, is_visible, shown
from iomine.pipeline.ingest.reader import Limits, Refused
from iomine.pipeline.ingest.statistics import InputBatch, NewInput, digest_all, is_known, known_keys, read_inputs
from iomine.pipeline.ingest.work import after_deaths, after_input_deaths, identify_all, merge_all, read_batch
from iomine.pipeline.judging.judge import judge, replaced, site_triggers
from iomine.pipeline.judging.rollups import KNOWN, known_logs
from iomine.pipeline.judging.weather import READINGS
from iomine.pipeline.publish import publish
from iomine.pipeline.reports import note_due, report_due, retire
from iomine.pipeline.site.retention import days_of_reports, expired, site_retention
from iomine.pipeline.site.zones import site_zone
from iomine.pipeline.workers.cluster import LOST, Workers, local_workers, map_unordered, own_workers, standing_workers
from iomine.pipeline.workers.slurm import SlurmSite, check_choice, site_of, slurm_workers
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import GONE, Identity
from iomine.sources.model import LARGEST_BYTES

if TYPE_CHECKING:
    from iomine.triggers import Trigger

_GRACE_DAYS: Final = 7
# Workers may be gone for a moment.
RETRY_SECONDS: Final = 10.0
Found = TypeVar("Found")
Done = TypeVar("Done")


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

    Raises:
        UsageError: the cluster's name is none, or workers are asked for in more ways than one.
    """

    paths: tuple[Path, ...]
    warehouse: Path
    cluster: str = "default"
    scheduler: str | None = None
    workers: int | None = None
    limits: Limits = field(default_factory=Limits)
    slurm: bool = False
    stats: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        check_cluster(self.cluster)
        check_choice(slurm=self.slurm, scheduler=self.scheduler, workers=self.workers)


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of inputs of one kind. Found is always ingested + known + rejected.

    Attributes:
        found: how many there were.
        ingested: those read and committed.
        known: those that the lake had already, or that were twice among the found.
        rejected: those that could not be read.
    """

    found: int = 0
    ingested: int = 0
    known: int = 0
    rejected: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    """What a sweep did. Found is always ingested + known + rejected.

    Attributes:
        sweep_id: its identifier.
        found: candidates for logs.
        ingested: logs read and committed.
        known: logs whose bytes the lake had already, or had twice among the candidates.
        rejected: candidates that could not be read.
        statistics: the same of readings of servers and accounting, of which an archive may hold many.
        reasons: how many of all were rejected for each reason.
        nights: nights that got logs.
        findings: findings about the logs of those nights.
        seconds: how long it took.
        reports: reports that say anything else than before.
        unreported: why other reports could not be written.
    """

    sweep_id: str
    found: int
    ingested: int
    known: int
    rejected: int
    statistics: Counts
    reasons: dict[str, int]
    nights: tuple[date, ...]
    findings: int
    seconds: float
    reports: int = 0
    unreported: tuple[str, ...] = ()


class Sweep:
    """A sweep in progress; as a context it holds the warehouse's lock.

    Args:
        settings: what to do.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.id = uuid.uuid4().hex
        self.started_at = datetime.now(UTC)
        self._warehouse = Warehouse(settings.warehouse)
        self._staging = self._warehouse.staging / self.id
        self._stack = ExitStack()
        self._workers: Workers | None = None
        self._site: SlurmSite | None = None
        self._candidates: list[Candidate] = []
        self._inputs: list[Candidate] = []
        self._new: list[plan.NewLog] = []
        self._new_inputs: list[NewInput] = []
        self._read_inputs: list[Mapping[str, Any]] = []
        self._known = 0
        self._known_inputs = 0
        self._known_when_read = 0
        self._ingested = 0
        self._rejects: list[dict[str, Any]] = []
        self._input_rejects: list[dict[str, Any]] = []
        self._staged: list[LakeFile] = []
        self._merged: list[LakeFile] = []
        self._judged: list[LakeFile] = []
        self._findings = 0
        self._triggers: dict[str, Trigger] = {}
        self._days: dict[str, int] = {}
        self._zone = ""

    def __enter__(self) -> Self:
        # What a site has set unfit should not be found out after hours of reading.
        self._triggers = site_triggers(self._warehouse)
        self._days = site_retention(self._warehouse)
        self._zone = site_zone(self._warehouse, self.settings.cluster)
        if self.settings.slurm:
            self._site = site_of(self._warehouse.root)
        with ExitStack() as stack:
            stack.enter_context(faults_told(self._warehouse.root))
            stack.enter_context(self._warehouse.locked())
            self._warehouse.clear_staging()
            stack.callback(self._warehouse.clear_staging)
            # A worker that does not find it there has another file system before it.
            self._staging.mkdir(parents=True)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, trace)

    def find(self) -> int:
        """Finds the candidates, and puts right what a sweep that died has left; returns how many files there are."""
        self._candidates = find(self.settings.paths, self.settings.limits.file_bytes)
        self._inputs = find(self.settings.stats, LARGEST_BYTES, is_visible)
        lake = self._warehouse.lake
        lake.roll_back(self._staging)
        lake.vacuum(_GRACE_DAYS)
        return len(self._candidates) + len(self._inputs)

    def identify(self) -> int:
        """Tells new inputs from known ones and from what is none; returns how many are new."""
        self._new, self._new_inputs, self._known, self._known_inputs = [], [], 0, 0
        self._rejects, self._input_rejects = (
            [
                self._reject(candidate.path, "find", candidate.reason, is_final=False, size_bytes=candidate.size_bytes)
                for candidate in candidates
                if candidate.reason
            ]
            for candidates in (self._candidates, self._inputs)
        )
        remembered = self._remembered_rejects()
        self._identify_logs(remembered)
        self._identify_inputs(remembered)
        return len(self._new) + len(self._new_inputs)

    def _identify_logs(self, remembered: Mapping[str, dict[str, Any]]) -> None:
        readable = [candidate for candidate in self._candidates if not candidate.reason]
        identified = sorted(self._identified("identify", readable, identify_all), key=lambda pair: pair[0].path)
        known_ids = self._known_ids({identity.log_id for _, identity in identified if isinstance(identity, Identity)})
        for candidate, identity in identified:
            if isinstance(identity, UnreadableError):
                self._rejects.append(
                    self._reject(
                        candidate.path, "identify", identity.reason, is_final=identity.is_final, size_bytes=candidate.size_bytes
                    )
                )
            elif identity.night is None:
                self._rejects.append(
                    self._reject(
                        candidate.path,
                        "identify",
                        identity.reason,
                        is_final=True,
                        sha256=identity.sha256,
                        size_bytes=identity.size_bytes,
                    )
                )
            elif identity.log_id in known_ids:
                self._known += 1
            elif identity.sha256 in remembered:
                self._rejects.append(remembered[identity.sha256] | {"path": shown(candidate.path)})
            else:
                known_ids.add(identity.log_id)
                self._new.append(plan.NewLog(candidate.path, identity, identity.night))

    def _identify_inputs(self, remembered: Mapping[str, dict[str, Any]]) -> None:
        known = known_keys(self._source_files()) if self._inputs else set()
        readable = [candidate for candidate in self._inputs if not candidate.reason]
        identified = self._identified("identify statistics", readable, digest_all, self._zone)
        for candidate, found in sorted(identified, key=lambda pair: pair[0].path):
            for each in found:
                if isinstance(each, Refused):
                    # Of an archive or a member of one, the size of the archive is all that is known.
                    self._input_rejects.append(
                        self._reject(each.path, "identify", each.reason, is_final=each.is_final, size_bytes=candidate.size_bytes)
                    )
                elif is_known(each.key, known):
                    self._known_inputs += 1
                elif each.key.sha256 in remembered:
                    self._input_rejects.append(remembered[each.key.sha256] | {"path": shown(each.path)})
                else:
                    known.add(each.key)
                    self._new_inputs.append(each)

    def read(self) -> int:
        """Reads the new inputs into staged files; returns how many could be read."""
        self._staged, self._ingested, self._read_inputs = [], 0, []
        self._known_when_read = 0
        self._rejects, self._input_rejects = (
            [reject for reject in rejects if reject["stage"] != "read" or reject["at"] < self.started_at]
            for rejects in (self._rejects, self._input_rejects)
        )
        if self._new:
            self._read_logs()
        if self._new_inputs:
            self._read_statistics()
        return self._ingested + len(self._read_inputs)

    def _read_logs(self) -> None:
        identity_of = {log.path: log.identity for log in self._new}
        work = plan.batches(self.settings.cluster, self._new, self._capacity())
        done = 0
        given = (self._staging, self.settings.limits)
        for batch, result in map_unordered(self._hired(), read_batch, work, *given, after_deaths=after_deaths):
            self._staged += result.files
            self._ingested += result.log_count
            for refused in result.refused:
                log = identity_of[refused.path]
                self._rejects.append(
                    self._reject(
                        refused.path,
                        "read",
                        refused.reason,
                        is_final=refused.is_final,
                        sha256=log.sha256,
                        size_bytes=log.size_bytes,
                    )
                )
            done += len(batch.logs)
            progress.tell("read", done, len(self._new))

    def _read_statistics(self) -> None:
        """Reads of equal bytes one first: only then it is known whether the others are readings of other moments."""
        firsts: dict[str, NewInput] = {}
        others = [each for each in self._new_inputs if firsts.setdefault(each.key.sha256, each) is not each]
        self._read_each(list(firsts.values()), 0)
        known = known_keys(pa.Table.from_pylist(self._read_inputs, schema=arrow_schema("source_file")))
        new = [each for each in others if not is_known(each.key, known)]
        self._known_when_read = len(others) - len(new)
        self._read_each(new, len(firsts) + self._known_when_read)

    def _read_each(self, inputs: Sequence[NewInput], done: int) -> None:
        pieces = plan.cut(((each, each.size_bytes) for each in inputs), self._capacity())
        work = [InputBatch(self.settings.cluster, self._zone, tuple(piece)) for piece, _ in pieces]
        for batch, result in map_unordered(self._hired(), read_inputs, work, self._staging, after_deaths=after_input_deaths):
            self._staged += result.files
            self._read_inputs += result.rows
            self._input_rejects += [
                self._reject(
                    each.path,
                    "read",
                    error.reason,
                    is_final=error.is_final,
                    sha256=each.key.sha256,
                    size_bytes=each.size_bytes,
                )
                for each, error in result.refused
            ]
            done += len(batch.inputs)
            progress.tell("read statistics", done, len(self._new_inputs))

    def merge(self) -> int:
        """Makes the new files of every partition that got rows; returns how many files."""
        self._merged = []
        if not self._staged:
            return 0
        there: dict[tuple[str, str | None, date | None], list[LakeFile]] = {}
        lake = self._warehouse.lake
        touched = {(file.table, file.cluster, file.night) for file in self._staged}
        for file in [*lake.files(lake.pins()), *sorted(self._staged, key=_first)]:
            if (partition := (file.table, file.cluster, file.night)) in touched:
                there.setdefault(partition, []).append(file)
        merges = [(tuple(files), sum(file.size_bytes for file in files)) for files in there.values()]
        merges.sort(key=lambda merge: -merge[1])
        pieces = [piece for piece, _ in plan.cut(merges, self._capacity())]
        done = 0
        for piece, files in map_unordered(self._hired(), merge_all, pieces, self._staging):
            self._merged += files
            done += len(piece)
            progress.tell("merge", done, len(merges))
        return len(self._merged)

    def judge(self) -> int:
        """Judges the logs of every night that got some; returns the number of findings."""
        if not self._merged:
            return 0
        there = replaced(self._warehouse.lake.files(self._warehouse.lake.pins()), self._merged)
        # Late readings must not take the place of what was worked out from all, once those are past their days.
        left = {(table, night) for table, night in self._past(there) if table in READINGS}
        merged = [file for file in self._merged if (file.table, file.night) not in left]
        self._judged, self._findings = judge(self._warehouse, self._staging, merged, self._triggers, self._hired)
        return self._findings

    def _past(self, there: list[LakeFile]) -> set[tuple[str, date]]:
        """Tables and nights that are past their days."""
        return expired(self._days, there, self.settings.cluster, self.started_at.date())

    def commit(self) -> None:
        """Commits all tables, rid of rows that are past their days, and last the sweep itself.

        Raises:
            LostLogsError: what was found is not what was ingested, known or rejected; nothing is committed then.
        """
        self._check_counts()
        lake = self._warehouse.lake
        cluster = self.settings.cluster
        new = replaced(self._merged, self._judged)
        there = replaced(lake.files(lake.pins()), new)
        past = self._past(there)
        new += known_logs(self._staging, there, {(cluster, night) for table, night in past if table == "log"})
        note_due(self._warehouse, {(file.cluster, file.night) for file in self._judged if file.cluster and file.night})
        for table in sorted({file.table for file in new} | {table for table, _ in past}):
            files = [file for file in new if file.table == table and (table, file.night) not in past]
            lake.commit(table, files, self.id, [(cluster, night) for name, night in past if name == table])
        rejects = pa.Table.from_pylist(self._all_rejects(), schema=arrow_schema("reject"))
        lake.commit("reject", [write_file(self._staging, "reject", rejects)], self.id)
        if self._read_inputs:
            rows = pa.Table.from_pylist(self._read_inputs, schema=arrow_schema("source_file"))
            sources = pa.concat_tables([self._source_files(), rows])
            lake.commit("source_file", [write_file(self._staging, "source_file", sources)], self.id)
        versions = {table: version for table, version in lake.versions().items() if table != "sweep"}
        row = {
            "sweep_id": self.id,
            "cluster": cluster,
            "paths": [shown(str(path.absolute())) for path in (*self.settings.paths, *self.settings.stats)],
            "start_at": self.started_at,
            "end_at": datetime.now(UTC),
            "found_count": len(self._candidates),
            "ingested_count": self._ingested,
            "known_count": self._known,
            "rejected_count": len(self._rejects),
            **{f"statistics_{name}_count": count for name, count in asdict(self._statistics).items()},
            "reader_version": __version__,
            "table_versions": json.dumps(versions, sort_keys=True),
        }
        sweeps = [*self._rows("sweep"), row]
        rows = pa.Table.from_pylist(sweeps, schema=arrow_schema("sweep"))
        lake.commit("sweep", [write_file(self._staging, "sweep", rows)], self.id)

    def _check_counts(self) -> None:
        found, rejected = len(self._candidates), len(self._rejects)
        if (held := self._ingested + self._known + rejected) != found:
            raise LostLogsError(
                f"Of {found:,} logs found, {self._ingested:,} were ingested, {self._known:,} known and {rejected:,} rejected, "
                f"which is {held:,}: nothing was committed; sweep again, and report it where it stays so."
            )

    def publish(self) -> Summary:
        """Shows readers the new state, all tables at once."""
        publish(self._warehouse, self._triggers.values())
        return self._summary()

    def report(self) -> Summary:
        """Writes reports of logs with findings, where they say anything else than before, and drops those past their days."""
        reported = report_due(self._warehouse, self._hired)
        if days := days_of_reports(self._days):
            retire(self._warehouse, days)
        return replace(self._summary(), reports=reported.new_count, unreported=reported.faults)

    def _summary(self) -> Summary:
        return Summary(
            sweep_id=self.id,
            found=len(self._candidates),
            ingested=self._ingested,
            known=self._known,
            rejected=len(self._rejects),
            statistics=self._statistics,
            reasons=dict(Counter(reject["reason"] for reject in (*self._rejects, *self._input_rejects)).most_common()),
            nights=tuple(sorted({file.night for file in self._staged if file.night and file.table == "log"})),
            findings=self._findings,
            seconds=(datetime.now(UTC) - self.started_at).total_seconds(),
        )

    @property
    def _statistics(self) -> Counts:
        """What became of readings. How many an archive holds is not known before it is looked into."""
        counts = len(self._read_inputs), self._known_inputs + self._known_when_read, len(self._input_rejects)
        return Counts(sum(counts), *counts)

    def _hired(self) -> Workers:
        """The workers, asked for when there is work for them, and anew where their scheduler was lost."""
        if self._workers is None or self._workers.are_lost:
            try:
                self._workers = self._stack.enter_context(self._any_workers())
            except UsageError as error:
                if self._workers is None:
                    raise
                # It was no misuse when the sweep began.
                raise WorkersError(LOST) from error
        return self._workers

    def _any_workers(self) -> AbstractContextManager[Workers]:
        if self._site is not None:
            return slurm_workers(self._site, self._staging)
        if self.settings.scheduler is not None:
            return standing_workers(self.settings.scheduler)
        return own_workers(self.settings.workers)

    def _capacity(self) -> int:
        """How many logs may be read at a time."""
        if self._site is not None or self.settings.scheduler is not None:
            return self._hired().capacity()
        return self.settings.workers or local_workers()

    def _identified(
        self, stage: str, candidates: list[Candidate], look: Callable[..., list[Found]], *given: str
    ) -> Iterator[tuple[Candidate, Found]]:
        """Candidates and what they are, as workers say; `look` is given paths, and `given`."""
        if not candidates:
            return
        pieces = plan.cut(((candidate, candidate.size_bytes) for candidate in candidates), self._capacity())
        done = 0
        # Drawn as they are handed out: so many paths need not be in memory twice.
        paths = ([candidate.path for candidate in piece] for piece, _ in sorted(pieces, key=lambda sized: -sized[1]))
        by_path = {candidate.path: candidate for candidate in candidates}
        for piece, identities in map_unordered(self._hired(), look, paths, *given):
            yield from ((by_path[path], identity) for path, identity in zip(piece, identities, strict=True))
            done += len(piece)
            progress.tell(stage, done, len(candidates))

    def _reject(
        self, path: str, stage: str, reason: str, *, is_final: bool, sha256: str | None = None, size_bytes: int = 0
    ) -> dict[str, Any]:
        """A row of the table `reject`."""
        if reason == GONE and os.path.exists(path):  # noqa: PTH110  paths of any bytes
            raise WorkersError(
                f"Workers do not see {shown(path)}, which is there: mount its file system on all of them, and sweep again."
            )
        return {
            "path": shown(path),
            "sha256": sha256,
            "size_bytes": size_bytes,
            "stage": stage,
            "reason": reason,
            "is_final": is_final,
            "reader_version": __version__,
            "at": datetime.now(UTC),
        }

    def _rows(self, table: str) -> list[dict[str, Any]]:
        lake = self._warehouse.lake
        files = [file for file in lake.files(lake.pins()) if file.table == table]
        return [row for file in files for row in pq.read_table(file.path, schema=arrow_schema(table)).to_pylist()]

    def _source_files(self) -> pa.Table:
        """Inputs other than logs that were read before."""
        lake, schema = self._warehouse.lake, arrow_schema("source_file")
        files = [file.path for file in lake.files(lake.pins()) if file.table == "source_file"]
        return pa.concat_tables([schema.empty_table(), *(pq.read_table(file, schema=schema) for file in files)])

    def _known_ids(self, asked: set[str]) -> set[str]:
        """Which of these the lake has; the ids of a long history would not fit in memory together."""
        lake = self._warehouse.lake
        wanted = pa.array(asked, pa.string())
        known: set[str] = set()
        for file in lake.files(lake.pins()):
            if file.table in {"log", KNOWN}:
                ids = pq.read_table(file.path, columns=["log_id"])["log_id"]
                known.update(ids.filter(pc.is_in(ids, wanted)).to_pylist())
        return known

    def _remembered_rejects(self) -> dict[str, dict[str, Any]]:
        """Logs that this very reader could not decode, by digest: reading them again would end the same way."""
        return {
            row["sha256"]: row
            for row in self._rows("reject")
            if row["stage"] == "read" and row["is_final"] and row["reader_version"] == __version__
        }

    def _all_rejects(self) -> list[dict[str, Any]]:
        """Rejects of earlier sweeps, but for what this sweep has looked at again, and its own."""
        looked_at = {shown(candidate.path) for candidate in (*self._candidates, *self._inputs)}
        # Members of archives lie below them, as files do below folders that are candidates only where they cannot be opened.
        readable = {shown(candidate.path) for candidate in self._inputs if not candidate.reason}
        earlier = (row for row in self._rows("reject") if row["path"] not in looked_at)
        left = [row for row in earlier if readable.isdisjoint(map(str, Path(row["path"]).parents))]
        return [*left, *self._rejects, *self._input_rejects]


def _first(file: LakeFile) -> str:
    """What is least in a staged file's first column, such as the log id, by which files are laid end to end."""
    first, *_ = arrow_schema(file.table).names
    return str(pc.min(pq.read_table(file.path, columns=[first])[first]).as_py())


def run(settings: Settings) -> Summary:
    """A whole sweep, without Prefect. A stage that lost its workers is tried once more."""
    with Sweep(settings) as begun:
        begun.find()
        for stage in (begun.identify, begun.read, begun.merge, begun.judge):
            _retried(stage)
        begun.commit()
        begun.publish()
        return _retried(begun.report)


def _retried(stage: Callable[[], Done]) -> Done:
    try:
        return stage()
    except WorkersError:
        # What the failed try wrote is never committed.
        time.sleep(RETRY_SECONDS)
    return stage()
