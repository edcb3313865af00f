"""Compares two runs: what changed, and what explains the difference.

A run's length is what its slowest rank spent in I/O and the rest. What the slowest rank spent is what the mean rank spent in
reads, writes, metadata calls and waiting, and what the slowest took beyond the mean. So the difference of two lengths is the sum
of the differences of these, all in seconds of the run, and the largest is what has to be explained.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from iomine.report.causes import first_sentence
from iomine.report.charges import charged
from iomine.report.facts import Facts, Place, gather, which
from iomine.triggers import find_trigger
from iomine.units import GIB, fine_seconds, human_bytes
from iomine.views.answers import Ask, Row, Rows, rows_of
from iomine.views.questions import question

KINDS: Final = ("read", "write", "meta", "waiting")
UNEVEN: Final = "uneven"
REST: Final = "rest"
# Parts of a run's length, as people read them.
PART_WORDS: Final = {
    "read": "reads",
    "write": "writes",
    "meta": "metadata calls",
    "waiting": "waiting or exchange in MPI-IO",
    UNEVEN: "slowest rank beyond the mean",
    REST: "outside of I/O",
}
# Costs that are about some ranks, files or OSTs which take longer than the others.
_OF_FEW: Final = frozenset(
    (
        *("straggler_core_seconds", "imbalance_core_seconds", "phase_straggler_core_seconds", "slow_ost_core_seconds"),
        *("slow_file_core_seconds", "busiest_ost_core_seconds", "late_core_seconds"),
        *("rank0_read_core_seconds", "rank0_write_core_seconds", "rank0_core_seconds"),
    )
)
_OF_META: Final = frozenset(("meta_core_seconds", "create_core_seconds"))
# Lengths that differ by less differ by nothing that is worth a sentence; headers of old logs round to seconds.
_ALIKE_RATIO: Final = 0.02
_ALIKE_SECONDS: Final = 1.0
# From twice as much on people count in times, below in percent.
_TIMES: Final = 2.0
_LEAST_CHANGE: Final = 0.0005
# Half as many again, as `run_usual` has it, with its floors below which more is no difference.
_MORE: Final = 1.5
_FLOORS: Final = {"bytes": 1024.0**2, "requests": 100.0, "opens": 10.0, "files": 4.0, "other": 0.0}
# A smaller share of a run explains nothing of its length.
_LITTLE: Final = 0.01
# A finding explains a difference if it costs at least a tenth of it.
_LEAST_SHARE: Final = 0.1
_MOST_REASONS: Final = 2
_THREE_DIGITS: Final = 100
# A longer finding is replaced by its title.
_LONGEST: Final = 120
_SYSTEM_STATES: Final = ("system", "neighbour", "fabric")


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs.

    Attributes:
        facts: what its report says.
        shape: what it did, and what its I/O time was spent on.
        layouts: how its files are striped.
        ranks: how long its ranks took, the longest first.
    """

    facts: Facts
    shape: Row
    layouts: Rows
    ranks: Rows

    @property
    def log(self) -> Row:
        """Its row of `logs`."""
        return self.facts.log

    def value(self, name: str) -> float | None:
        """A number of the run, None where it is not known."""
        number: float | None = self.shape[name] if name in self.shape else self.log[name]
        return number

    @property
    def cost_core_seconds(self) -> float | None:
        """The one sum of what its findings cost; None where there are some and no cost is known."""
        return charged(self.facts.findings) if self.facts.findings else 0.0

    @property
    def mean_rank_seconds(self) -> float | None:
        """Time in I/O of the mean rank."""
        return _over(self.log["io_core_seconds"], self.log["nprocs"])

    @property
    def rank_seconds(self) -> float | None:
        """Time in I/O of the slowest rank, of the mean one where no rank is known to be the slowest."""
        slowest: float | None = self.log["slowest_rank_io_seconds"]
        return self.mean_rank_seconds if slowest is None else slowest

    @property
    def outlying_ratio(self) -> float | None:
        """How many times as long as the mean rank the slowest took."""
        slowest, mean = self.log["slowest_rank_io_seconds"], self.mean_rank_seconds
        return slowest / mean if slowest is not None and mean else None

    def parts(self) -> dict[str, float]:
        """Parts of its length in seconds, which add up to it; none where it is not known."""
        run, rank, mean = self.log["run_seconds"], self.rank_seconds, self.mean_rank_seconds
        spent = {kind: self.shape[f"{kind}_part_core_seconds"] for kind in KINDS}
        # What did no I/O has no parts.
        is_known = mean == 0 or None not in spent.values()
        if run is None or rank is None or mean is None or not is_known:
            return {}
        kinds = {kind: _over(seconds, self.log["nprocs"]) or 0.0 for kind, seconds in spent.items()}
        # Records of ranks that have files of their own do not overlap, so no rank is below the mean but for rounding.
        return kinds | {UNEVEN: rank - sum(kinds.values()), REST: run - rank}


@dataclass(frozen=True, slots=True)
class Change:
    """A finding of one of the two runs, or of both.

    Attributes:
        change: `gone`, `new` or `same`; `not assessed` where the other run's log could not show it.
        code: of the trigger.
        title: what the trigger looks for.
        first: the first run's verdict, None where it has no such finding.
        second: the second run's.
    """

    change: str
    code: str
    title: str
    first: Row | None
    second: Row | None

    @property
    def cost_core_seconds(self) -> float:
        """The larger of what it cost, with the time in which other ranks stood idle."""
        return max(_lost(each) for each in (self.first, self.second) if each)


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of both runs.

    Attributes:
        name: the view's column.
        words: what people call it.
        kind: `seconds`, `core-seconds`, `bytes` or `count`.
        first: of the first run, None where it is not known.
        second: of the second run.
    """

    name: str
    words: str
    kind: str
    first: float | None
    second: float | None

    @property
    def difference(self) -> float | None:
        """How much more the second is."""
        return None if self.first is None or self.second is None else self.second - self.first

    @property
    def is_part(self) -> bool:
        """Whether it is a part of the one above."""
        return self.name.endswith("_part_core_seconds")

    @property
    def shown(self) -> tuple[str, str, str]:
        """Both numbers for people, and what changed."""
        return self._word(self.first), self._word(self.second), self._change()

    def _word(self, number: float | None) -> str:
        return "?" if number is None else _WORDS[self.kind](number)

    def _change(self) -> str:
        first, second, difference = self.first, self.second, self.difference
        if first is None or second is None or difference is None:
            return "?"
        if not difference:
            return "same"
        if not first or not second or abs(difference / first) < _LEAST_CHANGE:
            return f"{'+' if difference > 0 else '-'}{self._word(abs(difference))}"
        times = second / first
        if times >= _TIMES:
            return f"{_times(times)} times"
        return f"1/{_times(1 / times)}" if times <= 1 / _TIMES else f"{difference / first:+.1%}"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two runs, the second compared with the first."""

    first: Side
    second: Side

    def measures(self) -> list[Measure]:
        """Numbers of both, in the order in which people ask for them."""
        sides = self.first, self.second
        costs = Measure(
            "cost_core_seconds", "cost of findings, core s", "core-seconds", *(each.cost_core_seconds for each in sides)
        )
        return [*(Measure(*named, *(each.value(named[0]) for each in sides)) for named in _MEASURES), costs]

    def changes(self) -> list[Change]:
        """Findings gone, new and the same, the costliest first of each."""
        first, second = ({row["code"]: row for row in each.facts.findings} for each in (self.first, self.second))
        found = [
            Change(self._change(code), code, (first.get(code) or second[code])["title"], first.get(code), second.get(code))
            for code in {**first, **second}
        ]
        return sorted(found, key=lambda each: (list(CHANGE_WORDS).index(each.change), -each.cost_core_seconds, each.code))

    def _change(self, code: str) -> str:
        is_found = [any(row["code"] == code for row in each.facts.findings) for each in (self.first, self.second)]
        is_unknown = [any(row["code"] == code for row in each.facts.unknown) for each in (self.first, self.second)]
        if all(is_found):
            return "same"
        if any(is_unknown):
            return "not assessed"
        return "gone" if is_found[0] else "new"

    def difference(self) -> dict[str, float]:
        """How many seconds more the second run took by part, which add up to that of its length; none where that is not known."""
        first, second = self.first.parts(), self.second.parts()
        return {part: second[part] - first[part] for part in PART_WORDS} if first and second else {}

    def explained(self) -> list[str]:
        """What explains the difference, in a sentence, and then what else to know before trusting it."""
        return list(_explained(self))


# What people ask of a finding first: is it gone, is there a new one.
CHANGE_WORDS: Final = {
    "gone": "Gone",
    "new": "New",
    "same": "The same",
    "not assessed": "In one run only; the other's log could not show it",
}


def gather_pair(ask: Ask, first: Place, second: Place) -> Pair:
    """What is known of two runs.

    Args:
        ask: answers queries over the published views.
        first: the run to which the second is compared; it is there, as the second is.
        second: the other run.
    """
    facts = {(each.log["cluster"], each.log["log_id"]): each for each in gather(ask, (first, second))}
    return Pair(*(_side(ask, place, facts[place.cluster, place.log_id]) for place in (first, second)))


def _side(ask: Ask, place: Place, facts: Facts) -> Side:
    wanted = which([place])
    rows = {name: rows_of(ask(question(f"compare/{name}"), wanted)) for name in ("shape", "layouts", "ranks")}
    shape = rows["shape"][0] if rows["shape"] else dict.fromkeys(_SHAPE)
    return Side(facts, shape, rows["layouts"], rows["ranks"])


def _over(whole: float | None, count: int | None) -> float | None:
    return whole / count if whole is not None and count else None


def _lost(finding: Row) -> float:
    return (finding["cost_core_seconds"] or 0.0) + (finding["idle_core_seconds"] or 0.0)


def _explained(pair: Pair) -> Iterator[str]:
    """What explains the difference, and then whether the file system was slow, and whether the runs are of one size."""
    parts = pair.difference()
    if parts:
        lead, pace = [_lead(pair, parts)], list(_pace_sentence(pair, parts))
        # Where neither gained a second, what a byte took is the difference.
        yield from (*pace, *lead) if _is_little(pair) else (*lead, *pace)
        yield from _system_sentence(pair, sum(parts.values()) - parts[REST])
    else:
        yield "The difference cannot be explained: of one of the runs its length, or the time of its I/O, is not known."
    yield from _size_sentence(pair)


def _lead(pair: Pair, parts: dict[str, float]) -> str:
    """How the lengths of the runs and their I/O differ, where most of that went, and why."""
    longer, of_io = sum(parts.values()), sum(parts.values()) - parts[REST]
    runs = [each.log["run_seconds"] for each in (pair.first, pair.second)]
    of_ranks = [each.rank_seconds or 0.0 for each in (pair.first, pair.second)]
    whose = "the I/O of its slowest rank" if _is_parallel(pair) else "its I/O"
    is_run_alike = _is_alike(*runs, least=_ALIKE_SECONDS)
    length = f"Both runs took about as long ({_instead(runs)})" if is_run_alike else f"The second run {_took(longer, runs)}"
    if _is_little(pair):
        io = "and so did their I/O" if is_run_alike else "and hardly any of that is I/O"
        return f"{length}, {io} ({_instead(of_ranks)})."
    sign, part = 1 if of_io > 0 else -1, _main_part(parts)
    why = "; ".join([*_finding_reason(pair, part, parts[part]), *list(_shape_reasons(pair, part, parts[part]))[:_MOST_REASONS]])
    because = f": {why}" if why else ""
    if not is_run_alike and longer * of_io > 0:
        went = "went into" if sign > 0 else "had gone into"
        most = fine_seconds(min(abs(parts[part]), abs(longer)))
        return f"{length}; {most} of that {went} {_part_words(pair, part, sign)}{because}."
    joined = "but" if is_run_alike else "though"
    of_part = f"{fine_seconds(abs(parts[part]))} {'more' if sign > 0 else 'less'} in {_part_words(pair, part, sign)}"
    return f"{length}, {joined} {whose} {_took(of_io, of_ranks)}, {of_part}{because}."


def _pace_sentence(pair: Pair, parts: dict[str, float]) -> Iterator[str]:
    """How long a GiB took, where the runs did not move as much, and whether the slowest rank still stands out as it did."""
    moved = [_moved(each) for each in (pair.first, pair.second)]
    if not all(moved) or not _differ(moved[0], moved[1]):
        return
    paces = [(each.rank_seconds or 0.0) / (bytes_ / GIB) for each, bytes_ in zip((pair.first, pair.second), moved, strict=True)]
    if not _differ(*paces):
        return
    whose = "the slowest rank of the second run" if _is_parallel(pair) else "the second run"
    said = f"For each GiB {whose} was in I/O for {_instead(paces)}"
    outlying = [each.outlying_ratio or 0.0 for each in (pair.first, pair.second)]
    is_same_way = _differ(*outlying) and (outlying[1] > outlying[0]) == (paces[1] > paces[0])
    # Where the lead is about that rank, all of it was said.
    if not is_same_way or (_main_part(parts) == UNEVEN and not _is_little(pair)):
        yield f"{said}."
        return
    side, name = (pair.second, "second") if paces[1] > paces[0] else (pair.first, "first")
    of_few = sorted((row for row in side.facts.findings if _is_about(row["code"], UNEVEN)), key=_lost)
    found = f"; of the {name} run {of_few[-1]['code']} says: {of_few[-1]['title']}" if of_few else ""
    yield f"{said}: {outlying[1]:.1f} times as long as its mean rank instead of {outlying[0]:.1f} times{found}."


def _moved(side: Side) -> float:
    """Bytes that the run moved, 0 where that is not known."""
    read, written = side.log["read_bytes"], side.log["write_bytes"]
    return 0.0 if read is None or written is None else float(read + written)


def _differ(first: float, second: float) -> bool:
    return first > 0 and second > 0 and not 1 / _MORE < second / first < _MORE


def _is_little(pair: Pair) -> bool:
    """Whether their I/O differs by next to nothing of the longer run."""
    longest = max(each.log["run_seconds"] for each in (pair.first, pair.second))
    return _is_alike(pair.first.rank_seconds or 0.0, pair.second.rank_seconds or 0.0, least=_LITTLE * longest)


def _main_part(parts: dict[str, float]) -> str:
    """The part of I/O that most of its difference lies in."""
    sign = 1 if sum(parts.values()) > parts[REST] else -1
    return max((name for name in parts if name != REST), key=lambda name: parts[name] * sign)


def _part_words(pair: Pair, part: str, sign: int) -> str:
    if part != UNEVEN:
        return PART_WORDS[part]
    side = pair.second if sign > 0 else pair.first
    rank = side.log["slowest_rank"]
    named = "the slowest rank" if rank is None else f"rank {rank:,}"
    times = (
        f"{fine_seconds(side.rank_seconds or 0.0)} in I/O where the mean rank took {fine_seconds(side.mean_rank_seconds or 0.0)}"
    )
    return f"{named} alone, which took {times}"


def _finding_reason(pair: Pair, part: str, seconds: float) -> Iterator[str]:
    change, side = ("new", pair.second) if seconds > 0 else ("gone", pair.first)
    least = _LEAST_SHARE * abs(seconds) * (1 if part == UNEVEN else side.log["nprocs"])
    for each in pair.changes():
        finding = each.second if seconds > 0 else each.first
        if each.change == change and finding and _is_about(each.code, part) and _lost(finding) >= least:
            said = first_sentence(finding["finding"]).rstrip(".")
            yield f"{said if len(said) <= _LONGEST else each.title} ({each.code}, {change})"
            return


def _is_about(code: str, part: str) -> bool:
    trigger = find_trigger(code)
    if trigger is None or trigger.cost is None:
        return False
    if part == UNEVEN:
        return trigger.cost in _OF_FEW
    if part == "meta":
        return trigger.cost in _OF_META
    return trigger.cost not in _OF_META and trigger.op in {None, part}


def _shape_reasons(pair: Pair, part: str, seconds: float) -> Iterator[str]:
    """What the second run did differently that explains the difference: fewer OSTs, or more of anything else, take longer."""
    names = {"read": ("read_bytes", "read_count"), "write": ("write_bytes", "write_count"), "meta": ("open_count",)}
    others = () if part == UNEVEN else (*names.get(part, ()), "file_count", "nprocs")
    for name in ("osts_per_file", *others):
        first, second = pair.first.value(name), pair.second.value(name)
        what, floor, is_more = _REASONS[name]
        if first is None or second is None or first + floor <= 0 or second + floor <= 0:
            continue
        times = (second + floor) / (first + floor)
        if times >= _MORE if (seconds > 0) is is_more else times <= 1 / _MORE:
            yield what(second, first)


def _system_sentence(pair: Pair, of_rank: float) -> Iterator[str]:
    side, name = (pair.second, "second") if of_rank > 0 else (pair.first, "first")
    state = side.facts.weather
    if state["weather_verdict"] in _SYSTEM_STATES:
        slow = state["weather_slowdown_ratio"]
        times = f": servers made its I/O {slow:.1f} times as long as usual" if slow else ""
        yield f"The file system was slow during the {name} run{times}."


def _size_sentence(pair: Pair) -> Iterator[str]:
    """Whether the runs are of one size, so that they can be compared."""
    floor = _FLOORS["bytes"]
    differ = []
    for name, what in (("read_bytes", "read"), ("write_bytes", "written")):
        first, second = pair.first.value(name), pair.second.value(name)
        if first is not None and second is not None and not 1 / _MORE < (second + floor) / (first + floor) < _MORE:
            differ.append(_bytes_instead(what, second, first))
    ranks = [each.log["nprocs"] or 0 for each in (pair.first, pair.second)]
    if ranks[0] != ranks[1]:
        differ.append(_instead_of("ranks", ranks[1], ranks[0]))
    if differ:
        yield f"The runs are not of one size: {', '.join(differ)}."


def _is_parallel(pair: Pair) -> bool:
    return any((each.log["nprocs"] or 0) > 1 for each in (pair.first, pair.second))


def _is_alike(first: float, second: float, *, least: float) -> bool:
    return abs(second - first) <= max(least, _ALIKE_RATIO * max(first, second))


def _took(seconds: float, both: list[float]) -> str:
    return f"took {fine_seconds(abs(seconds))} {'longer' if seconds > 0 else 'less'} ({_instead(both)})"


def _instead(both: list[float]) -> str:
    first, second = map(fine_seconds, both)
    return first if first == second else f"{second} instead of {first}"


def core_seconds(seconds: float) -> str:
    """Core-seconds in about three digits."""
    return f"{seconds:,.0f}" if seconds >= _THREE_DIGITS else f"{seconds:.3g}"


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"  # noqa: PLR2004  two digits


def _count(number: float) -> str:
    return f"{number:,.0f}" if number == int(number) else f"{number:,.1f}"


_WORDS: Final[dict[str, Callable[[float], str]]] = {
    "seconds": fine_seconds,
    "core-seconds": core_seconds,
    "bytes": human_bytes,
    "count": _count,
}
_MEASURES: Final = (
    ("run_seconds", "run time", "seconds"),
    ("slowest_rank_io_seconds", "I/O of slowest rank", "seconds"),
    ("io_core_seconds", "I/O of all ranks, core s", "core-seconds"),
    ("read_part_core_seconds", "reads, core s", "core-seconds"),
    ("write_part_core_seconds", "writes, core s", "core-seconds"),
    ("meta_part_core_seconds", "metadata calls, core s", "core-seconds"),
    ("waiting_part_core_seconds", "waiting or exchange in MPI-IO, core s", "core-seconds"),
    ("nprocs", "ranks", "count"),
    ("read_bytes", "bytes read", "bytes"),
    ("write_bytes", "bytes written", "bytes"),
    ("read_count", "reads", "count"),
    ("write_count", "writes", "count"),
    ("open_count", "opens", "count"),
    ("file_count", "files", "count"),
    ("osts_per_file", "OSTs for each file", "count"),
)
_SHAPE: Final = (*(f"{kind}_part_core_seconds" for kind in KINDS), "open_count", "file_count", "osts_per_file")


def _instead_of(what: str, second: float, first: float) -> str:
    return f"{_count(second)} {what} instead of {_count(first)}"


def _osts(second: float, first: float) -> str:
    return f"{_count(second)} OST{'' if second == 1 else 's'} for each file instead of {_count(first)}"


def _bytes_instead(what: str, second: float, first: float) -> str:
    return f"{human_bytes(second)} {what} instead of {human_bytes(first)}"


# How a difference is put, what is added to both before they are compared, and whether more of it takes longer.
_REASONS: Final[dict[str, tuple[Callable[[float, float], str], float, bool]]] = {
    "osts_per_file": (_osts, _FLOORS["other"], False),
    "read_bytes": (partial(_bytes_instead, "read"), _FLOORS["bytes"], True),
    "write_bytes": (partial(_bytes_instead, "written"), _FLOORS["bytes"], True),
    "read_count": (partial(_instead_of, "reads"), _FLOORS["requests"], True),
    "write_count": (partial(_instead_of, "writes"), _FLOORS["requests"], True),
    "open_count": (partial(_instead_of, "opens"), _FLOORS["opens"], True),
    "file_count": (partial(_instead_of, "files"), _FLOORS["files"], True),
    "nprocs": (partial(_instead_of, "ranks"), _FLOORS["other"], True),
}
