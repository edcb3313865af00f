"""Ruleset `iomine` on workloads of which it is known what they do."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from create_storms import Storm, write_storms
from sums import disagreements
from truth import PAGE, QUESTIONS, Judged, Question, judged, page, score
from two_faults import Fault, write_pairs

# Questions whose labels contradict themselves, with the reason.
DISPUTED: dict[str, str] = {}

Pairs = Mapping[str, tuple[Fault, Fault]]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Pairs]:
    """A folder with logs of two faults each, and the faults by the name of the log."""
    folder = tmp_path_factory.mktemp("pairs")
    return folder, write_pairs(folder)


@pytest.fixture(scope="module")
def storms(pairs: tuple[Path, Pairs]) -> Mapping[str, Storm]:
    """Programs that create files, by the name of the log, which lies in the same folder."""
    return write_storms(pairs[0])


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gets what was swept."""
    return tmp_path_factory.mktemp("warehouse")


@pytest.fixture(scope="module")
def verdicts(shared_data: Path, pairs: tuple[Path, Pairs], storms: Mapping[str, Storm], warehouse: Path) -> dict[str, Judged]:
    """What was said, by the name of the log."""
    assert storms
    return judged(warehouse, pairs[0])


@pytest.mark.parametrize("question", [pytest.param(question, id=question.label) for question in QUESTIONS])
def test_verdicts_are_right(question: Question, verdicts: dict[str, Judged]) -> None:
    """At least 95 of 100 firings are right, and at least 95 of 100 workloads that should fire do."""
    ours = score(question, question.codes, verdicts)
    assert ours.hits
    assert (ours.precision >= 0.95, ours.recall >= 0.95) == (True, True), (ours.wrong, ours.missed)


def test_both_of_two_faults_are_found_and_reported(pairs: tuple[Path, Pairs], verdicts: dict[str, Judged]) -> None:
    """One fault does not hide another: of at least ten programs with two faults each, both are findings."""
    expected = {name: {fault.code for fault in pair} for name, pair in pairs[1].items()}
    assert expected == {name: verdicts[name].reported & codes for name, codes in expected.items()}
    assert len(expected) >= 10


def test_sums_of_costs_agree(verdicts: dict[str, Judged], warehouse: Path) -> None:
    """What findings cost is one sum for each log, wherever it is shown, and never more than the I/O time or the run."""
    assert [] == disagreements(warehouse / "iomine.duckdb")


def test_the_table_is_what_came_out(pairs: tuple[Path, Pairs], storms: Mapping[str, Storm], verdicts: dict[str, Judged]) -> None:
    """docs/truth.md says what these verdicts say; `python tests/truth.py` writes it anew."""
    assert page(verdicts, pairs[1], storms) == PAGE.read_text()
