"""Ruleset `iomine` on workloads of which it is known what they do."""

from pathlib import Path

import pytest
from truth import PAGE, QUESTIONS, Question, fired_codes, page, score

# Questions whose labels contradict themselves, with the reason.
DISPUTED: dict[str, str] = {}


@pytest.fixture(scope="module")
def fired(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Codes that fired, by the name of the log."""
    return fired_codes(tmp_path_factory.mktemp("warehouse"))


@pytest.mark.parametrize("question", [pytest.param(question, id=question.label) for question in QUESTIONS])
def test_verdicts_are_right(question: Question, fired: dict[str, set[str]]) -> None:
    """At least 95 of 100 firings are right, and at least 95 of 100 workloads that should fire do."""
    ours = score(question, question.codes, fired)
    assert ours.hits
    assert (ours.precision >= 0.95, ours.recall >= 0.95) == (True, True), (ours.wrong, ours.missed)


def test_the_table_is_what_came_out(fired: dict[str, set[str]]) -> None:
    """docs/truth.md says what these verdicts say; `python tests/truth.py` writes it anew."""
    assert page(fired) == PAGE.read_text()
