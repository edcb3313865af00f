"""How often triggers are right: verdicts on workloads of which it is known what they do.

python tests/truth.py        writes the table into docs/truth.md
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from shared import SHARED_DATA, Row, workloads
from sweeping import rows, run

from iomine.pipeline.sweep import Settings

PAGE = Path(__file__).parents[1] / "docs" / "truth.md"
_HEAD = (
    "question",
    "trigger",
    "true",
    "false",
    "wrongly fired",
    "missed",
    "precision",
    "recall",
    "Drishti",
    "precision",
    "recall",
)


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
class Score:
    """How a trigger's verdicts compare with what is known.

    Attributes:
        hits: workloads on which it fired rightly.
        wrong: workloads on which it fired and should not have.
        missed: workloads on which it should have fired and did not.
        right_not: how many workloads it left alone rightly.
    """

    hits: tuple[str, ...]
    wrong: tuple[str, ...]
    missed: tuple[str, ...]
    right_not: int

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


def fired_codes(warehouse: Path) -> dict[str, set[str]]:
    """Sweeps the workloads; the codes that fired, by the name of the log."""
    run(Settings((SHARED_DATA / "groundtruth" / "logs",), warehouse, workers=1))
    query = "SELECT path, list(code) FILTER (WHERE state = 'fired') AS codes FROM verdicts JOIN logs USING (log_id) GROUP BY path"
    return {Path(row["path"]).name: set(row["codes"] or ()) for row in rows(warehouse, query)}


def score(question: Question, codes: tuple[str, ...], fired: Mapping[str, set[str]]) -> Score:
    """Verdicts of the codes, of which one has to fire; a log that could not be read says nothing."""
    ids: dict[tuple[bool, bool], list[str]] = {(truth, saying): [] for truth in (True, False) for saying in (True, False)}
    for workload in workloads():
        name = Path(workload["log"]).name
        truth = question.known(workload)
        if name in fired and truth is not None:
            ids[truth, bool(fired[name] & set(codes))].append(workload["id"])
    return Score(tuple(ids[True, True]), tuple(ids[False, True]), tuple(ids[True, False]), len(ids[False, False]))


def page(fired: Mapping[str, set[str]]) -> str:
    """The table, and the workloads behind each number that is not perfect."""
    table: list[tuple[object, ...]] = [_HEAD, ("---",) * len(_HEAD)]
    notes = []
    for question in QUESTIONS:
        ours, theirs = score(question, question.codes, fired), score(question, question.drishti, fired)
        true, false = len(ours.hits) + len(ours.missed), len(ours.wrong) + ours.right_not
        table.append(
            (
                *(question.label, ", ".join(question.codes), true, false, len(ours.wrong), len(ours.missed)),
                *(f"{ours.precision:.2f}", f"{ours.recall:.2f}", ", ".join(question.drishti)),
                *((f"{theirs.precision:.2f}", f"{theirs.recall:.2f}") if question.drishti else ("", "")),
            )
        )
        notes += [f"- {', '.join(question.codes)} fired on `{id_}`, which has no such label." for id_ in ours.wrong]
        notes += [f"- {', '.join(question.codes)} missed `{id_}`." for id_ in ours.missed]
    return "\n".join(
        (
            "# How often triggers are right",
            "",
            "<!-- Written by tests/truth.py. -->",
            "",
            f"Verdicts on {len(fired)} logs of programs that were run to show known behaviour. Labels speak of what a program",
            "asked for; where a label claims nothing, the workload is left out. Two questions have no label and go by what is",
            "said of each workload: read by many ranks, and collective in vain. Both rulesets judged the same logs.",
            "",
            *("| " + " | ".join(str(cell) for cell in row) + " |" for row in table),
            "",
            "## Where verdict and label differ",
            "",
            *notes,
            "",
        )
    )


def main() -> None:
    """Writes the page."""
    with TemporaryDirectory() as folder:
        PAGE.write_text(page(fired_codes(Path(folder))))
    sys.stdout.write(f"{PAGE}\n")


if __name__ == "__main__":
    main()
