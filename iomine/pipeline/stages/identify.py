"""Separates new inputs from known ones, and from files that are not inputs."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import partial
from typing import Generic, TypeVar

from iomine.errors import UnreadableError
from iomine.lake import Snapshot
from iomine.pipeline import progress
from iomine.pipeline.ingest import plan
from iomine.pipeline.ingest.find import Candidate, shown
from iomine.pipeline.ingest.known import KnownFile, Unchanged, final_rejects, is_settled, known_ids, log_count, unchanged
from iomine.pipeline.ingest.reader import CHANGED, Refused
from iomine.pipeline.ingest.statistics import NewInput, hash_all, is_known, known_keys
from iomine.pipeline.ingest.work import identify_all
from iomine.pipeline.site.retention import kept_from
from iomine.pipeline.stages.context import Reject, Sweep, rejected
from iomine.pipeline.stages.find import Found
from iomine.sources.darshan import Identity
from iomine.sources.darshan.packed import is_packed

New = TypeVar("New")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class _LookedAt:
    """A candidate, or the files of a run, and what it is.

    Attributes:
        candidate: it, or the first file of the run.
        identity: what it is, or why that cannot be said.
        members: the files of a run, and of a trace that is a folder.
        states: digests of path and state of files that need not be opened again while they are the same.
    """

    candidate: Candidate
    identity: Identity | UnreadableError
    members: tuple[str, ...]
    states: tuple[int, ...]

    @property
    def file_state(self) -> int | None:
        """The state of a log, None of a run or of one that is not to be remembered."""
        return None if self.members or not self.states else self.states[0]


@dataclass(frozen=True, slots=True)
class Inputs(Generic[New]):
    """Inputs of one kind, once each was looked at.

    Attributes:
        new: those to be read.
        known: how many the lake has already, or were twice among the found.
        rejects: those that cannot be read.
        at_hand: those of the known that may be packed, where a site has logs packed.
        elsewhere: how many of the known belong to each other cluster.
    """

    new: tuple[New, ...]
    known: int
    rejects: tuple[Reject, ...]
    at_hand: tuple[New, ...] = ()
    elsewhere: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Identified:
    """What the candidates are.

    Attributes:
        found: the candidates.
        logs: logs among them.
        statistics: readings and accounting among them, members of archives included.
        log_count: logs that were found; the files of one run are one.
        files: those that need not be opened again once the lake has their logs.
    """

    found: Found
    logs: Inputs[plan.NewLog]
    statistics: Inputs[NewInput]
    log_count: int
    files: tuple[KnownFile, ...] = ()


def identify(sweep: Sweep, found: Found) -> Identified:
    """Looks at each candidate's bytes.

    Raises:
        WorkersError: workers were lost, or do not see the files.
    """
    # Logs that this very reader could not decode, by hash: to read them again would end the same way.
    final = final_rejects(found.snapshot)
    unread = {row["sha256"]: row for row in final if row["stage"] == "read"}
    same = _unchanged(sweep, found, final)
    to_open = [candidate for candidate in found.logs if candidate.path not in same.known and candidate.path not in same.refused]
    looked_at = _as_runs(_looked_at(sweep, "identify", to_open, identify_all), sweep.started_at)
    logs, files = _logs(sweep, found.snapshot, looked_at, unread)
    rejects, known = [*_unreadable(found.logs), *same.refused.values()], log_count(same.known)
    count = len(looked_at) + len(rejects) + known
    elsewhere = logs.elsewhere + _elsewhere(sweep, same)
    logs = replace(logs, known=logs.known + known, rejects=(*rejects, *logs.rejects), elsewhere=elsewhere)
    # A state takes as much memory as the rest of a candidate, and is no longer needed.
    paths = tuple(candidate._replace(state=None) for candidate in found.logs)
    return Identified(replace(found, logs=paths), logs, _statistics(sweep, found, unread), count, files)


def _unchanged(sweep: Sweep, found: Found, rejects: Sequence[Reject]) -> Unchanged:
    if sweep.settings.recheck:
        return Unchanged({}, {}, {})
    return unchanged(found.snapshot, found.logs, rejects, partial(_is_due, sweep))


def _elsewhere(sweep: Sweep, same: Unchanged) -> Counter[str]:
    """How many logs that need not be opened belong to each other cluster."""
    counts = Counter[str]()
    for cluster in set(same.clusters.values()) - {sweep.settings.cluster}:
        counts[cluster] = log_count({path: file for path, file in same.known.items() if same.clusters[file.log_id] == cluster})
    return +counts


def _is_due(sweep: Sweep, path: str, night: date) -> bool:
    """Whether a file may be packed by this sweep, which asks for its digest."""
    if not (days := sweep.packing.after_days):
        return False
    today = sweep.started_at.date()
    return night < kept_from(today, days, today) and not is_packed(path)


def _logs(
    sweep: Sweep, snapshot: Snapshot, looked_at: Sequence[_LookedAt], unread: Mapping[str, Reject]
) -> tuple[Inputs[plan.NewLog], tuple[KnownFile, ...]]:
    """Logs that were looked at, and files that need not be again."""
    new: list[plan.NewLog] = []
    rejects: list[Reject] = []
    files: list[KnownFile] = []
    cluster = sweep.settings.cluster
    cluster_of = known_ids(snapshot, {each.identity.log_id for each in looked_at if isinstance(each.identity, Identity)})
    at_hand: list[plan.NewLog] = []
    known, elsewhere = 0, Counter[str]()
    for each in looked_at:
        path, identity, state = each.candidate.path, each.identity, each.file_state
        if isinstance(identity, UnreadableError):
            size, is_final = each.candidate.size_bytes, identity.is_final
            rejects.append(rejected(path, "identify", identity.reason, is_final=is_final, size_bytes=size))
            continue
        night, sha256, log_id = identity.night, identity.sha256, identity.log_id
        if night is None:
            row = rejected(
                path, "identify", identity.reason,
                is_final=True, size_bytes=identity.size_bytes, sha256=sha256, file_state=state,
            )  # fmt: skip
            rejects.append(row)
        elif log_id not in cluster_of and sha256 in unread:
            rejects.append(unread[sha256] | {"path": shown(path), "file_state": state})
        else:
            log = plan.NewLog(path, log_id, sha256, identity.size_bytes, night, each.members, state)
            count = None if state is not None else len(each.states)
            files += (KnownFile(key, night, log_id, count) for key in each.states)
            if log_id not in cluster_of:
                cluster_of[log_id] = cluster
                new.append(log)
                continue
            known += 1
            elsewhere[cluster_of[log_id]] += 1
            if sweep.packing.after_days:
                at_hand.append(log)
    del elsewhere[cluster]
    return Inputs(tuple(new), known, tuple(rejects), tuple(at_hand), elsewhere), tuple(files)


def _as_runs(looked_at: Iterable[tuple[Candidate, Identity | UnreadableError]], begun_at: datetime) -> list[_LookedAt]:
    """Logs in the order of their paths, with one entry for all files of a run."""
    logs: list[_LookedAt] = []
    parts: dict[str, tuple[Candidate, Identity]] = {}
    for candidate, identity in looked_at:
        if isinstance(identity, UnreadableError):
            logs.append(_LookedAt(candidate, identity, (), ()))
        elif None not in (candidate.state, identity.state) and candidate.state != identity.state:
            # It is still being written.
            logs.append(_LookedAt(candidate, UnreadableError(CHANGED, is_final=False), (), ()))
        elif identity.extent is None:
            logs.append(_LookedAt(candidate, identity, identity.members, _states([(candidate, identity)], begun_at)))
        else:
            parts[candidate.path] = (candidate, identity)
    if parts:
        logs += _whole_runs(parts, begun_at)
    return sorted(logs, key=lambda log: log.candidate.path)


def _whole_runs(parts: Mapping[str, tuple[Candidate, Identity]], begun_at: datetime) -> Iterator[_LookedAt]:
    from iomine.pipeline.ingest.runs import runs_of  # noqa: PLC0415  loads all that derives

    for run, members in runs_of((path, identity) for path, (_, identity) in parts.items()):
        files = [parts[path] for path in members]
        states = _states(files, begun_at)
        # Of a run, all files have to be as they were.
        yield _LookedAt(files[0][0], run, members, states if len(states) == len(files) else ())


def _states(files: Iterable[tuple[Candidate, Identity]], begun_at: datetime) -> tuple[int, ...]:
    """Digests of path and state of files that were found and read in one state, which will show any change."""
    return tuple(
        candidate.state.key(candidate.path)
        for candidate, identity in files
        if candidate.state is not None and candidate.state == identity.state and is_settled(candidate.state, begun_at)
    )


def _statistics(sweep: Sweep, found: Found, remembered: Mapping[str, Reject]) -> Inputs[NewInput]:
    new: list[NewInput] = []
    rejects = _unreadable(found.statistics)
    keys = known_keys(found.snapshot.rows("source_file"), sweep.settings.cluster) if found.statistics else set()
    looked_at = _looked_at(sweep, "identify statistics", found.statistics, hash_all, sweep.zone)
    known = 0
    for candidate, inputs in sorted(looked_at, key=lambda pair: pair[0].path):
        for each in inputs:
            if isinstance(each, Refused):
                # Of an archive or a member of one, the size of the archive is all that is known.
                size = candidate.size_bytes
                rejects.append(rejected(each.path, "identify", each.reason, is_final=each.is_final, size_bytes=size))
            elif is_known(each.key, keys):
                known += 1
            elif each.key.sha256 in remembered:
                rejects.append(remembered[each.key.sha256] | {"path": shown(each.path)})
            else:
                keys.add(each.key)
                new.append(each)
    return Inputs(tuple(new), known, tuple(rejects))


def _unreadable(candidates: Sequence[Candidate]) -> list[Reject]:
    """Rejects of candidates that could not even be looked at."""
    return [
        rejected(candidate.path, "find", candidate.reason, is_final=False, size_bytes=candidate.size_bytes)
        for candidate in candidates
        if candidate.reason
    ]


def _looked_at(
    sweep: Sweep, stage: str, candidates: Sequence[Candidate], look: Callable[..., list[Answer]], *given: str
) -> Iterator[tuple[Candidate, Answer]]:
    """Candidates and what they are, as workers say; `look` is given paths, and `given`."""
    readable = [candidate for candidate in candidates if not candidate.reason]
    if not readable:
        return
    # An archive of statistics may hold anything, so that no sweep looks into one itself.
    is_little = look is identify_all and plan.is_little(candidate.size_bytes for candidate in readable)
    workers = sweep.pool.workers(is_little=is_little)
    pieces = plan.cut(((candidate, candidate.size_bytes) for candidate in readable), workers.capacity())
    done = 0
    # Drawn as they are handed out: so many paths need not be in memory twice.
    paths = ([candidate.path for candidate in piece] for piece, _ in sorted(pieces, key=lambda sized: -sized[1]))
    by_path = {candidate.path: candidate for candidate in readable}
    for piece, answers in workers.map(look, paths, *given):
        yield from ((by_path[path], answer) for path, answer in zip(piece, answers, strict=True))
        done += len(piece)
        progress.report(stage, done, len(readable))
