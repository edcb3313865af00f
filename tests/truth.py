"""How often triggers are right: verdicts on workloads of which it is known what they do.

python tests/truth.py        writes the table into docs/truth.md
"""

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from create_storms import Storm, write_storms
from shared import SHARED_DATA, Row, workloads
from sweeping import rows
from two_faults import Fault, write_pairs

from iomine.pipeline.sweep import Settings, run
from iomine.triggers import TRIGGERS
from iomine.triggers.model import State

PAGE = Path(__file__).parents[1] / "docs" / "truth.md"
_HEAD = (
    "question",
    "trigger",
    "true",
    "fired",
    "findings",
    "false",
    "wrongly fired",
    "wrong findings",
    "clear",
    "not applicable",
    "unknown",
    "precision",
    "recall",
    "Drishti",
    "precision",
    "recall",
)
_STORM_HEAD = ("program", "creates", "found", "true", "FILE-103", "POSIX-303: calls a second", "POSIX-303")
_RATE: Final = TRIGGERS["POSIX-303"].all_of[0].value
# Of several triggers one has to fire; where one is unknown, another that is clear does not count.
_STRONGEST: Final[tuple[State, ...]] = ("fired", "unknown", "clear", "not applicable")


@dataclass(frozen=True, slots=True)
class Question:
    """What is known of a workload, and the triggers that ask for it.

    Attributes:
        label: what is asked.
        codes: triggers of ruleset `iomine` of which one has to fire.
        drishti: triggers of ruleset `drishti` of which one has to fire.
        known: from a workload, what is true; None where nothing is claimed.
    """

    label: str
    codes: tuple[str, ...]
    drishti: tuple[str, ...]
    known: Callable[[Row], bool | None]


@dataclass(frozen=True, slots=True)
class Judged:
    """What was said of a log.

    Attributes:
        states: the verdict of each trigger, by code.
        reported: codes of findings.
        levels: how much the verdict of each trigger weighs, by code.
        values: the first metric of each, by code.
    """

    states: Mapping[str, State]
    reported: frozenset[str]
    levels: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)

    def state(self, codes: tuple[str, ...]) -> State:
        """What several triggers say of one question: the first of these words that one of them says."""
        return next(state for state in _STRONGEST for code in codes if self.states[code] == state)


@dataclass(frozen=True, slots=True)
class Score:
    """How a trigger's verdicts compare with what is known.

    Attributes:
        hits: workloads on which it fired rightly.
        reported: those of them that are findings.
        wrong: workloads on which it fired and should not have.
        wrongly_reported: those of them that are findings.
        missed: workloads on which it should have fired and did not.
        states: how many workloads were judged so.
    """

    hits: tuple[str, ...]
    reported: tuple[str, ...]
    wrong: tuple[str, ...]
    wrongly_reported: tuple[str, ...]
    missed: tuple[str, ...]
    states: Counter[State]

    @property
    def precision(self) -> float:
        """Share of firings that are right; 0 where nothing fired."""
        return len(self.hits) / max(1, len(self.hits) + len(self.wrong))

    @property
    def recall(self) -> float:
        """Share of what is true that fired; 0 where nothing is true."""
        return len(self.hits) / max(1, len(self.hits) + len(self.missed))


def _flag(label: str) -> Callable[[Row], bool | None]:
    return lambda workload: workload["truth"].get(label)


def _order(label: str) -> Callable[[Row], bool | None]:
    def known(workload: Row) -> bool | None:
        order = workload["truth"].get(label)
        return None if order is None else order == "random_or_backward"

    return known


def _stragglers(workload: Row) -> bool | None:
    ranks = workload["truth"].get("straggler_ranks")
    return None if ranks is None else bool(ranks)


# No labels, but what descriptions of workloads say: which of them read again do so by several ranks, which by one, and in
# which each rank carries out its part of a collective call.
_READ_BY_MANY: Final = ("s048", "s061", "s072", "s152", "s171")
_READ_BY_ONE: Final = ("s060",)
_CARRIED_OUT_BY_ALL: Final = ("s009", "s012", "s018", "s032", "s047")
_FILES_ALIKE: Final = 8


def _slow_files(workload: Row) -> bool | None:
    """Whether slow ranks make files of their own slow, of as many as that trigger needs."""
    truth = workload["truth"]
    if not truth.get("straggler_ranks"):
        return _stragglers(workload)
    return True if not truth["shared_file"] and truth["n_data_files"] >= _FILES_ALIKE else None


def _read_by_many(workload: Row) -> bool | None:
    if workload["id"].startswith(_READ_BY_MANY):
        return True
    return False if workload["id"].startswith(_READ_BY_ONE) or workload["truth"].get("redundant_reads") is False else None


def _stayed_independent(workload: Row) -> bool | None:
    truth = workload["truth"]
    if workload["id"].startswith(_CARRIED_OUT_BY_ALL):
        return truth["small_writes"]
    is_collective = truth.get("collective_writes"), truth.get("collective_reads")
    return False if is_collective == (False, False) or truth.get("aggregator_ranks") else None


QUESTIONS = (
    Question("small reads", ("POSIX-101",), ("P05",), _flag("small_reads")),
    Question("small writes", ("POSIX-102",), ("P06",), _flag("small_writes")),
    Question("random reads", ("POSIX-111",), ("P11",), _order("read_order")),
    Question("random writes", ("POSIX-112",), ("P13",), _order("write_order")),
    Question("misaligned requests", ("POSIX-121",), ("P08",), _flag("misaligned")),
    Question("redundant reads", ("POSIX-131", "POSIX-133"), ("P09",), _flag("redundant_reads")),
    Question("redundant writes", ("POSIX-132", "POSIX-134"), ("P10",), _flag("redundant_writes")),
    Question("read by many ranks", ("POSIX-133",), (), _read_by_many),
    Question("slow files", ("FILE-201",), (), _slow_files),
    Question("metadata time", ("POSIX-301",), ("P17",), _flag("metadata_time_over_30s")),
    Question("metadata calls", ("POSIX-302",), (), _flag("metadata_heavy")),
    Question("stragglers", ("RANK-101",), ("P19",), _stragglers),
    Question("stragglers in phases", ("PHASE-102",), ("P19",), _stragglers),
    Question("byte imbalance", ("RANK-201",), ("P18", "P21", "P22"), _flag("byte_imbalance")),
    Question("rank 0 heavy", ("RANK-303",), (), _flag("rank0_heavy")),
    Question("stdio", ("STDIO-101",), ("S01",), _flag("stdio_heavy")),
    Question("independent reads", ("MPIIO-101",), ("M02",), _flag("independent_reads")),
    Question("independent writes", ("MPIIO-102",), ("M03",), _flag("independent_writes")),
    Question("collective in vain", ("MPIIO-103",), (), _stayed_independent),
)


def judged(warehouse: Path, *folders: Path) -> dict[str, Judged]:
    """Sweeps the workloads, and the logs of other folders; what was said, by the name of the log."""
    run(Settings((SHARED_DATA / "groundtruth" / "logs", *folders), warehouse, workers=1))
    query = """
    SELECT path, list(code) AS codes, list(state) AS states, list(level) AS levels, list("value") AS "values",
        list(code) FILTER (state = 'fired' AND level IN ('high', 'warn') AND ruleset = 'iomine') AS reported
    FROM verdicts
    JOIN logs USING (log_id)
    GROUP BY path
    """
    return {
        Path(row["path"]).name: Judged(
            dict(zip(row["codes"], row["states"], strict=True)),
            frozenset(row["reported"] or ()),
            dict(zip(row["codes"], row["levels"], strict=True)),
            dict(zip(row["codes"], row["values"], strict=True)),
        )
        for row in rows(warehouse, query)
    }


def score(question: Question, codes: tuple[str, ...], verdicts: Mapping[str, Judged]) -> Score:
    """Verdicts of the codes, of which one has to fire; a log that could not be read says nothing."""
    said = [
        (workload["id"], truth, verdict)
        for workload in workloads()
        for verdict in [verdicts.get(Path(workload["log"]).name)]
        for truth in [question.known(workload)]
        if verdict is not None and truth is not None
    ]
    fired = [(id_, truth, bool(verdict.reported & set(codes))) for id_, truth, verdict in said if verdict.state(codes) == "fired"]
    return Score(
        hits=tuple(id_ for id_, truth, _ in fired if truth),
        reported=tuple(id_ for id_, truth, is_reported in fired if truth and is_reported),
        wrong=tuple(id_ for id_, truth, _ in fired if not truth),
        wrongly_reported=tuple(id_ for id_, truth, is_reported in fired if not truth and is_reported),
        missed=tuple(id_ for id_, truth, verdict in said if truth and verdict.state(codes) != "fired"),
        states=Counter(verdict.state(codes) for _, _, verdict in said),
    )


def page(verdicts: Mapping[str, Judged], pairs: Mapping[str, tuple[Fault, Fault]], storms: Mapping[str, Storm]) -> str:
    """The tables, and the workloads behind each number that is not perfect."""
    table: list[tuple[object, ...]] = [_HEAD, ("---",) * len(_HEAD)]
    notes = []
    for question in QUESTIONS:
        ours = score(question, question.codes, verdicts)
        true = len(ours.hits) + len(ours.missed)
        table.append(
            (
                *(question.label, ", ".join(question.codes), true, len(ours.hits), len(ours.reported)),
                *(ours.states.total() - true, len(ours.wrong), len(ours.wrongly_reported)),
                *(ours.states[state] for state in ("clear", "not applicable", "unknown")),
                *(f"{ours.precision:.2f}", f"{ours.recall:.2f}", ", ".join(question.drishti)),
                *_drishti(question, verdicts),
            )
        )
        notes += [f"- {', '.join(question.codes)} fired on `{id_}`, which has no such label." for id_ in ours.wrong]
        notes += [f"- {', '.join(question.codes)} missed `{id_}`." for id_ in ours.missed]
    made = {*pairs, *storms}
    both = [
        ("two faults", "triggers", "fired", "findings"),
        ("---",) * 4,
        *(_both(pair, verdicts[name]) for name, pair in pairs.items()),
    ]
    return "\n".join(
        (
            "# How often triggers are right",
            "",
            "<!-- Written by tests/truth.py. -->",
            "",
            f"Verdicts on {len(verdicts.keys() - made)} logs of programs that were run to show known behaviour. Labels speak",
            "of what a program asked for; where a label claims nothing, the workload is left out. Two questions have no label",
            "and go by what is said of each workload: read by many ranks, and collective in vain. Both rulesets judged the same",
            "logs. What fired is a finding if it cost a core-second or more, or an unknown time. What did not fire is clear,",
            "not applicable (the program did nothing of the kind), or unknown.",
            "",
            *_lines(table),
            "",
            "## Where verdict and label differ",
            "",
            *notes,
            "",
            "## Two faults at once",
            "",
            f"Logs of {len(pairs)} programs that the simulator's model of programs ran, each of which does two things wrong, one",
            "after the other: how many of the two triggers fired, and how many are findings.",
            "",
            *_lines(both),
            "",
            "## Storms of creates",
            "",
            f"Logs of {len(storms)} programs that the simulator's model of programs ran, of which it is known how many files",
            "they create within their busiest second. POSIX-303 holds the mean from the first open to the last close against",
            f"{_RATE:,.0f} a second.",
            "",
            *_lines(
                [_STORM_HEAD, ("---",) * len(_STORM_HEAD), *(_storm(storm, verdicts[name]) for name, storm in storms.items())]
            ),
            "",
            _unstormed(verdicts, made),
            "",
        )
    )


def _drishti(question: Question, verdicts: Mapping[str, Judged]) -> tuple[str, str]:
    if not question.drishti:
        return "", ""
    theirs = score(question, question.drishti, verdicts)
    return f"{theirs.precision:.2f}", f"{theirs.recall:.2f}"


def _both(pair: tuple[Fault, Fault], verdict: Judged) -> tuple[object, ...]:
    codes = [fault.code for fault in pair]
    fired = sum(verdict.states[code] == "fired" for code in codes)
    labels = " and ".join(fault.label for fault in pair)
    return labels, ", ".join(codes), f"{fired} of 2", f"{len(verdict.reported.intersection(codes))} of 2"


def _storm(storm: Storm, verdict: Judged) -> tuple[object, ...]:
    true = " ".join(filter(None, (storm.state, storm.level)))
    state = verdict.states["FILE-103"]
    said = f"{state} {verdict.levels['FILE-103']}" if state == "fired" else state
    other, rate = verdict.states["POSIX-303"], verdict.values["POSIX-303"]
    return storm.label, f"{storm.peak:,}", f"{verdict.values['FILE-103']:,.0f}", true, said, f"{rate:,.1f}", other


def _unstormed(verdicts: Mapping[str, Judged], made: Collection[str]) -> str:
    states = Counter(verdict.states["FILE-103"] for name, verdict in verdicts.items() if name not in made)
    counts = ", ".join(f"{state} on {states[state]}" for state in _STRONGEST if states[state])
    return f"No labelled program creates a thousand files within a second: on their logs FILE-103 is {counts}."


def _lines(table: Iterable[tuple[object, ...]]) -> list[str]:
    return ["| " + " | ".join(str(cell) for cell in row) + " |" for row in table]


def main() -> None:
    """Writes the page."""
    with TemporaryDirectory() as folder, TemporaryDirectory() as logs:
        pairs, storms = write_pairs(Path(logs)), write_storms(Path(logs))
        PAGE.write_text(page(judged(Path(folder), Path(logs)), pairs, storms))
    sys.stdout.write(f"{PAGE}\n")


if __name__ == "__main__":
    main()
