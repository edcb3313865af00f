"""Separates new inputs from known ones, and from files that are no inputs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from iomine import __version__
from iomine.errors import UnreadableError
from iomine.lake import Snapshot
from iomine.pipeline import progress
from iomine.pipeline.ingest import plan
from iomine.pipeline.ingest.find import Candidate, shown
from iomine.pipeline.ingest.reader import Refused
from iomine.pipeline.ingest.runs import runs_of
from iomine.pipeline.ingest.statistics import NewInput, hash_all, is_known, known_keys
from iomine.pipeline.ingest.work import identify_all
from iomine.pipeline.judging.rollups import KNOWN
from iomine.pipeline.stages.context import Reject, Sweep, rejected
from iomine.pipeline.stages.find import Found
from iomine.sources.darshan import Identity

New = TypeVar("New")
Answer = TypeVar("Answer")


# A candidate, what it is, and the files of a run whose first it is.
_LookedAt = tuple[Candidate, Identity | UnreadableError, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Inputs(Generic[New]):
    """Inputs of one kind, once each was looked at.

    Attributes:
        new: those to be read.
        known: how many the lake has already, or were twice among the found.
        rejects: those that cannot be read.
        at_hand: those of the known that may be packed, where a site has logs packed.
    """

    new: tuple[New, ...]
    known: int
    rejects: tuple[Reject, ...]
    at_hand: tuple[New, ...] = ()


@dataclass(frozen=True, slots=True)
class Identified:
    """What the candidates are.

    Attributes:
        found: the candidates.
        logs: logs among them.
        statistics: readings and accounting among them, members of archives included.
        log_count: logs that were found; the files of one run are one.
    """

    found: Found
    logs: Inputs[plan.NewLog]
    statistics: Inputs[NewInput]
    log_count: int


def identify(sweep: Sweep, found: Found) -> Identified:
    """Looks at each candidate's bytes.

    Raises:
        WorkersError: workers were lost, or do not see the files.
    """
    # Logs that this very reader could not decode, by hash: to read them again would end the same way.
    remembered = {
        row["sha256"]: row
        for row in found.snapshot.rows("reject").to_pylist()
        if row["stage"] == "read" and row["is_final"] and row["reader_version"] == __version__
    }
    logs, log_count = _logs(sweep, found, remembered)
    return Identified(found, logs, _statistics(sweep, found, remembered), log_count)


def _logs(sweep: Sweep, found: Found, remembered: Mapping[str, Reject]) -> tuple[Inputs[plan.NewLog], int]:
    """Logs among the candidates, and how many they are."""
    new: list[plan.NewLog] = []
    rejects = _unreadable(found.logs)
    looked_at = _as_runs(_looked_at(sweep, "identify", found.logs, identify_all))
    log_count = len(rejects) + len(looked_at)
    known_ids = _known_ids(found.snapshot, {identity.log_id for _, identity, _ in looked_at if isinstance(identity, Identity)})
    at_hand: list[plan.NewLog] = []
    known = 0
    for candidate, identity, members in looked_at:
        path = candidate.path
        if isinstance(identity, UnreadableError):
            size, is_final = candidate.size_bytes, identity.is_final
            rejects.append(rejected(path, "identify", identity.reason, is_final=is_final, size_bytes=size))
        elif identity.night is None:
            size, sha256 = identity.size_bytes, identity.sha256
            rejects.append(rejected(path, "identify", identity.reason, is_final=True, size_bytes=size, sha256=sha256))
        elif identity.log_id in known_ids:
            known += 1
            if sweep.packing.after_days:
                at_hand.append(plan.NewLog(path, identity, identity.night, members))
        elif identity.sha256 in remembered:
            rejects.append(remembered[identity.sha256] | {"path": shown(path)})
        else:
            known_ids.add(identity.log_id)
            new.append(plan.NewLog(path, identity, identity.night, members))
    return Inputs(tuple(new), known, tuple(rejects), tuple(at_hand)), log_count


def _as_runs(looked_at: Iterable[tuple[Candidate, Identity | UnreadableError]]) -> list[_LookedAt]:
    """Logs in the order of their paths, with one in place of all files of a run."""
    logs: list[_LookedAt] = []
    parts: list[tuple[Candidate, Identity]] = []
    for candidate, identity in looked_at:
        if isinstance(identity, Identity) and identity.extent is not None:
            parts.append((candidate, identity))
        else:
            logs.append((candidate, identity, identity.members if isinstance(identity, Identity) else ()))
    candidates = {candidate.path: candidate for candidate, _ in parts}
    for run, members in runs_of((candidate.path, identity) for candidate, identity in parts):
        logs.append((candidates[members[0]], run, members))
    return sorted(logs, key=lambda log: log[0].path)


def _statistics(sweep: Sweep, found: Found, remembered: Mapping[str, Reject]) -> Inputs[NewInput]:
    new: list[NewInput] = []
    rejects = _unreadable(found.statistics)
    keys = known_keys(found.snapshot.rows("source_file")) if found.statistics else set()
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
    pieces = plan.cut(((candidate, candidate.size_bytes) for candidate in readable), sweep.pool.capacity())
    done = 0
    # Drawn as they are handed out: so many paths need not be in memory twice.
    paths = ([candidate.path for candidate in piece] for piece, _ in sorted(pieces, key=lambda sized: -sized[1]))
    by_path = {candidate.path: candidate for candidate in readable}
    # An archive of statistics may hold anything, so that no sweep looks into one itself.
    is_little = look is identify_all and plan.is_little(candidate.size_bytes for candidate in readable)
    workers = sweep.pool.workers(is_little=is_little)
    for piece, answers in workers.map(look, paths, *given):
        yield from ((by_path[path], answer) for path, answer in zip(piece, answers, strict=True))
        done += len(piece)
        progress.report(stage, done, len(readable))


def _known_ids(snapshot: Snapshot, asked: set[str]) -> set[str]:
    """Which of these the lake has; the ids of a long history would not fit in memory together."""
    wanted = pa.array(asked, pa.string())
    known: set[Any] = set()
    for file in snapshot.of("log", KNOWN):
        ids = pq.read_table(file.path, columns=["log_id"])["log_id"]
        known.update(ids.filter(pc.is_in(ids, wanted)).to_pylist())
    return known
