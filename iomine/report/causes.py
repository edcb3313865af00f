"""What is wrong with a run, cause by cause, and a summary of the run in a few sentences.

Findings that are about much the same time are one cause (`cause_code` of the verdicts); its cost is what its findings add to the
one sum of the log's costs, so costs of causes add up to that sum.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final

from iomine import units
from iomine.report.charges import EXCUSE, charged
from iomine.triggers import find_trigger
from iomine.triggers.finding import shell_word
from iomine.triggers.model import Snippet
from iomine.units import counted, human_seconds, percent
from iomine.views.answers import Row, Rows

# Share of the run that a cause must cost to be worth its own place.
LEAST_RATIO: Final = 0.01
# Slowdown from which servers are called slow, as in sql/features/log_weather_profile.sql.
SLOW: Final = 1.75
_NUMBERS: Final = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
# Names of mails stand between two private signs.
_FIRST: Final = re.compile("(?:\ue000[^\ue001]*\ue001|[^\ue000])*?(?:[.](?= [A-Za-z0-9\ue000])|;(?= [A-Za-z\ue000]))")
_PYTHON: Final = "python"
# Shares of the I/O time: worth mentioning, and so large that nothing else is worth it.
_TENTH: Final = 0.1
_HALF: Final = 0.5
_NEARLY_ALL: Final = 0.9
_KINDS: Final = {
    "read": "reading",
    "write": "writing",
    "meta": "opens, stats and other metadata calls",
    "waiting": "waiting or exchange in MPI-IO",
}
# The view whose trigger says why ranks wait.
_WHY_WAITING: Final = "log_wait_profile"


@dataclass(frozen=True, slots=True)
class Cause:
    """Findings of a log that are about much the same time.

    Attributes:
        lead: the finding by which it is called.
        others: the other findings, the costliest first.
        cost_core_seconds: what they add to the sum of the log's costs, 0 where others are charged for all of their time; None
            where no cost is known.
        cost_ratio: that as a share of the run, None where either is not known.
        idle_core_seconds: for how long other ranks stood idle meanwhile, which is no part of the costs.
        idle_ratio: that as a share of the run, 0 where either is not known.
        is_small: whether costs and idle time are known to be less than a hundredth of the run.
    """

    lead: Row
    others: tuple[Row, ...]
    cost_core_seconds: float | None
    cost_ratio: float | None
    idle_core_seconds: float
    idle_ratio: float
    is_small: bool

    @classmethod
    def of(cls, lead: Row, others: tuple[Row, ...], cost: float | None, idle: float, run_core_seconds: float | None) -> "Cause":
        """A cause with its share of what the run took in all, which is None where that is not known."""
        ratio = cost / run_core_seconds if cost is not None and run_core_seconds else None
        idle_ratio = idle / run_core_seconds if run_core_seconds else 0.0
        is_small = ratio is not None and ratio + idle_ratio < LEAST_RATIO
        return cls(lead, others, cost, ratio, idle, idle_ratio, is_small)


def causes_of(findings: Rows, run_core_seconds: float | None) -> list[Cause]:
    """The causes of a log's findings, the costliest first.

    Args:
        findings: the costliest first, each with `cause_code`.
        run_core_seconds: what the run took in all, None where that is not known.
    """
    by_cause: dict[str, Rows] = {}
    for finding in findings:
        by_cause.setdefault(finding["cause_code"] or finding["code"], []).append(finding)
    causes = [_cause(code, signs, run_core_seconds) for code, signs in by_cause.items()]
    return sorted(causes, key=lambda cause: -((cause.cost_core_seconds or 0.0) + cause.idle_core_seconds))


def _cause(code: str, signs: Rows, run_core_seconds: float | None) -> Cause:
    lead = next((sign for sign in signs if sign["code"] == code), signs[0])
    cost = charged(signs)
    # A cause with a known cost that adds nothing is about time that costlier causes are charged for.
    if cost is None and any(sign["cost_core_seconds"] is not None for sign in signs):
        cost = 0.0
    idle = max(sign["idle_core_seconds"] or 0.0 for sign in signs)
    return Cause.of(lead, tuple(sign for sign in signs if sign is not lead), cost, idle, run_core_seconds)


def is_facility_cause(code: str) -> bool:
    """Whether the facility, and not the user, has to fix what a finding is about."""
    trigger = find_trigger(code)
    return trigger is not None and trigger.is_facility_cause


def core_time(core_seconds: float | None, run_core_seconds: float | None) -> str:
    """Time summed over ranks, in the unit of the run's page: core-hours, of runs below one core-hour core-seconds."""
    return "cost not known" if core_seconds is None else units.core_time(core_seconds, run_core_seconds)


def summary(log: Row, kinds: Rows, causes: Sequence[Cause], unknown: Rows, state: Row) -> list[str]:
    """The whole of a run in one to six sentences: what its time went into, and what its findings cost.

    Args:
        log: its row of `logs`.
        kinds: what its I/O time went into, most first.
        causes: the costliest first.
        unknown: verdicts that could not be reached.
        state: of the system, from `job_weather`.
    """
    said = outcome(log["run_core_seconds"], causes, len(unknown))
    spent = share(log["io_ratio"], kinds, process_count=log["nprocs"])
    excuse = [EXCUSE] if state["is_excused"] and any(not cause.is_small for cause in causes) else []
    return [spent, *_slowest(log), *_waiting(kinds, unknown), *own_load(state, "this user's"), said, *excuse]


def share(ratio: float | None, kinds: Rows, whole: str = "the run", process_count: int | None = None) -> str:
    """What went into I/O, and into which kinds of it.

    Args:
        ratio: the share, None where it is not known.
        kinds: what the I/O time went into, most first.
        whole: what it is a share of.
        process_count: ranks of the run; one alone waits for nobody.
    """
    if ratio is None:
        return f"How much of {whole} went into I/O is not known."
    if not ratio:
        return "There was no I/O that took time."
    words = _KINDS | {"waiting": "MPI-IO itself"} if process_count == 1 else _KINDS
    spent = [(row["kind_core_seconds"], words[row["time_kind"]]) for row in kinds if row["kind_core_seconds"]]
    known = [(seconds / sum(each for each, _ in spent), what) for seconds, what in spent]
    most = [f"{percent(part)} into {what}" for part, what in known if part >= _TENTH][:2]
    if known and known[0][0] >= _NEARLY_ALL:
        return f"{_begun(ratio, whole)} went into I/O, nearly all of that into {known[0][1]}."
    parts = f"; of that, {' and '.join(most)}" if most else ""
    return f"{_begun(ratio, whole)} went into I/O{parts}."


def _slowest(log: Row) -> list[str]:
    """A rank that was in I/O for much longer than the others, which may have waited for it."""
    seconds, run, ratio = log["slowest_rank_io_seconds"], log["run_seconds"], log["io_ratio"]
    if not seconds or not run or ratio is None or seconds / run < max(_TENTH, 2 * ratio):
        return []
    rank = log["slowest_rank"]
    which = "One rank" if rank is None or rank < 0 else f"Rank {rank:,}"
    return [f"{which} was in I/O for {human_seconds(min(seconds, run))} of {human_seconds(run)}."]


def _waiting(kinds: Rows, unknown: Rows) -> list[str]:
    """A sentence that the reason why ranks wait is unknown, if waiting is most of the I/O time."""
    seconds = {row["time_kind"]: row["kind_core_seconds"] or 0.0 for row in kinds}
    reason = next((verdict["reason"] for verdict in unknown if _view_of(verdict) == _WHY_WAITING), None)
    if not reason or seconds.get("waiting", 0.0) < max(_HALF * sum(seconds.values()), 1.0):
        return []
    return [f"Why ranks wait is not known: {reason[0].lower()}{reason[1:]}"]


def _view_of(verdict: Row) -> str | None:
    trigger = find_trigger(verdict["code"])
    return trigger.view if trigger else None


def own_load(state: Row, whose: str) -> list[str]:
    """A sentence that servers were slow under a user's own load, if they were.

    Args:
        state: of the system, from `job_weather`: `weather_slowdown_ratio` and `own_ratio`, None where that is not known.
        whose: the load was, in words.
    """
    slowdown, own = state["weather_slowdown_ratio"], state["own_ratio"]
    if slowdown is None or own is None or slowdown < SLOW or own < _HALF:
        return []
    how_much = "nearly all" if own >= _NEARLY_ALL else percent(own)
    return [f"Servers were {slowdown:.1f} times as slow as usual, and {how_much} of their load was {whose}."]


def _begun(ratio: float, whole: str) -> str:
    return f"Less than 1% of {whole}" if ratio < LEAST_RATIO else f"{percent(ratio)} of {whole}"


def outcome(run_core_seconds: float | None, causes: Sequence[Cause], unknown_count: int) -> str:
    """What was found, what that cost, and which causes the facility has to fix."""
    large = [cause for cause in causes if not cause.is_small]
    if not large:
        nothing = "Nothing that costs 1% of the run was found wrong" if causes else "Nothing was found wrong"
        left = f"; {counted(unknown_count, 'question')} could not be answered" if unknown_count else ""
        return f"{nothing}{left}."
    whole = sum(cause.cost_core_seconds or 0.0 for cause in causes)
    own = [cause for cause in large if not is_facility_cause(cause.lead["code"])]
    said = [_to_fix(own, whole, run_core_seconds)] if own else []
    if others := [_begun_small(cause.lead["title"]) for cause in large if is_facility_cause(cause.lead["code"])]:
        said.append(f"For the facility to fix, not for the user: {'; '.join(others)}.")
    return " ".join(said)


def _to_fix(causes: Sequence[Cause], whole: float, run_core_seconds: float | None) -> str:
    """How many causes the user can change, at least one, and what they cost; `whole` is what all causes cost."""
    cost = sum(cause.cost_core_seconds or 0.0 for cause in causes)
    idle = max(cause.idle_core_seconds for cause in causes)
    is_one = len(causes) == 1
    said = f"{_NUMBERS.get(len(causes), str(len(causes))).capitalize()} {'cause' if is_one else 'causes'} to fix"
    if not cost and not idle:
        return f"{said}; what {'it costs' if is_one else 'they cost'} is not known."
    cost_, whole_ = (core_time(seconds, run_core_seconds) for seconds in (cost, whole))
    if cost_ != whole_:
        cost_ = f"{cost_.rpartition(' ')[0]} of the {whole_} of all findings"
    stood = f", and other ranks stood idle for {core_time(idle, run_core_seconds)}" if idle > cost else ""
    return f"{said} cost{'s' if is_one else ''} {cost_}{stood}."


def _begun_small(title: str) -> str:
    return f"{title[0].lower()}{title[1:]}"


def first_sentence(text: str | None) -> str:
    """The first sentence of a text; a full stop ends none within a number, nor within a name that stands between marks."""
    found = _FIRST.match(text or "")
    return (text or "") if found is None else f"{found[0][:-1]}."


def likeliest(finding: Row, row: Row) -> Snippet | None:
    """The program that suits a run best, with the run's own names in a shell's lines; None where none suits it.

    Only programs with HDF5 or MPI-IO, and runs on several nodes, get what is for these; Python comes before C for Python.

    Args:
        finding: with its `code` and `metrics`.
        row: of the run: `app`, `application`, `has_hdf5`, `has_mpiio`, `node_count`.
    """
    code = finding["code"]
    used = {
        "H5": row["has_hdf5"],
        "h5py": row["has_hdf5"],
        "MPI_File_": row["has_mpiio"],
        "MPI.File": row["has_mpiio"],
        "romio": row["has_mpiio"],
        "--exclude": row["node_count"] != 1,
        # Streams have buffers, requests of MPI-IO do not pass through them.
        "setvbuf": not row["has_mpiio"] or "stdio_path" in finding["metrics"],
        # A barrier shows how long ranks wait for the last one, which they do in collective calls only.
        "MPI_Barrier": finding["metrics"].get("waited_for") is not None,
    }
    trigger = find_trigger(code)
    snippets = [
        snippet
        for snippet in (trigger.snippets if trigger else ())
        if all(is_used for word, is_used in used.items() if word in snippet.code)
    ]
    is_python = _PYTHON in (row["app"] or "").lower() or (row["application"] or "").endswith(".py")

    def fitness(snippet: Snippet) -> tuple[bool, bool]:
        uses_hdf5 = "h5py" in snippet.code or "H5" in snippet.code
        return uses_hdf5 == bool(row["has_hdf5"]), (snippet.language == _PYTHON) == is_python

    if not snippets:
        return None
    # A shell's few lines suit any program, and stand first where they are all that is needed.
    best = snippets[0] if snippets[0].language == "shell" else max(snippets, key=fitness)
    return replace(best, code=_with_names(best, finding["metrics"]))


def _with_names(snippet: Snippet, metrics: Row) -> str:
    """The lines with what the finding names in place of examples, as far as it is known."""
    path = next((value for name, value in metrics.items() if name.endswith("_path") and value), None)
    names = dict(metrics)
    if path is not None:
        names |= {"file": path, "folder": str(PurePosixPath(path).parent)}
    shown = {word: shell_word(str(names[name])) for word, name in snippet.places if names.get(name) is not None}
    # At once, since a name may hold the word for another.
    words = "|".join(map(re.escape, shown))
    return re.sub(rf"(?<!\w)(?:{words})(?!\w)", lambda found: shown[found[0]], snippet.code) if shown else snippet.code
