"""Every case under tests/cases/questions, and that each question that works something out has one."""

import re
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from rows_in import beside_a_doubtful_owner, stage

from iomine.views.questions import Question, find_questions

CASES: Final = Path(__file__).parents[2] / "cases" / "questions"
# What ranks, sums up or mails, of those that have rows of single logs before them.
_OF_OWNERS: Final = frozenset(
    (
        *(
            "cli/trend_of_code",
            "compare/changes",
            "compare/nearest_night",
            "compare/run",
            "compare/totals",
            "compare/usual",
            "digest/run",
            "report/history",
            "report/job_causes",
            "web/blame",
            "web/costly_files",
            "web/found_subjects",
        ),
        *(f"web/subject_{name}" for name in ("applications", "causes", "nights", "run", "runs", "targets", "users")),
        *("web/target_runs", "web/target_users"),
    )
)
QUESTIONS: Final = {question.name: question for question in find_questions()}
# A plain lookup joins nothing, calls no function except for whether a value is in a list, and has no CASE.
_WORKS_OUT: Final = re.compile(r"\b(JOIN|GROUP BY|UNION|CASE|WITH|OVER)\b|\b(?!list_contains)\w+\(")


@dataclass(frozen=True, slots=True)
class QuestionCase:
    """One file under tests/cases/questions: rows and parameters in, exact rows out; a key left out is NULL.

    Where the question orders its rows, so does the case, unless it says that they may come in any order.
    """

    question: Question
    name: str
    given: dict[str, list[dict[str, Any]]]
    parameters: dict[str, Any]
    expect: list[dict[str, Any]]
    ordered: bool

    def __str__(self) -> str:
        """The name that pytest shows."""
        return f"{self.question.name}-{self.name}"


def _load(path: Path) -> QuestionCase:
    case = tomllib.loads(path.read_text(encoding="utf-8"))
    assert case.pop("why")
    question = QUESTIONS[f"{path.parts[-3]}/{path.parts[-2]}"]
    ordered = case.pop("ordered", "\nORDER BY" in question.query)
    return QuestionCase(question, path.stem, case.pop("given", {}), case.pop("parameters", {}), ordered=ordered, **case)


_LOADED: Final = [_load(path) for path in sorted(CASES.glob("*/*/*.toml"))]


@pytest.mark.parametrize("case", _LOADED, ids=str)
def test_question_answers_its_case(case: QuestionCase):
    """A question gives exactly the rows that its case expects."""
    assert case.parameters.keys() <= set(case.question.parameters)
    with stage(case.question, case.given) as con:
        answer = con.execute(case.question.sql, dict.fromkeys(case.question.parameters) | case.parameters)
        columns = [name for name, *_ in answer.description]
        got = [dict(zip(columns, row, strict=True)) for row in answer.fetchall()]
    expected = [dict.fromkeys(columns) | row for row in case.expect]
    if not case.ordered:
        expected, got = sorted(expected, key=repr), sorted(got, key=repr)
    assert expected == got


@pytest.mark.parametrize("case", [case for case in _LOADED if case.question.name in _OF_OWNERS], ids=str)
def test_what_sums_up_logs_leaves_out_those_of_doubtful_owners(case: QuestionCase):
    """A log that its owner may not have written changes no ranking, no sum and nothing that is usual, and is in no mail."""
    parameters = dict.fromkeys(case.question.parameters) | case.parameters

    def answered(given: dict[str, list[dict[str, Any]]]) -> list[str]:
        with stage(case.question, given) as con:
            return sorted(map(repr, con.execute(case.question.sql, parameters).fetchall()))

    for without, doubted in beside_a_doubtful_owner(case.question, case.given):
        assert answered(without) == answered(doubted)


def test_all_runs_whose_history_a_new_one_changes_are_beside_it():
    """Reports are asked for again of exactly the runs that `report/history` answers otherwise."""
    night, first = date(2024, 4, 18), datetime(2024, 4, 18, tzinfo=UTC)
    nights = {"first_night": night, "last_night": night}
    of_lineage = {"cluster": "x", "night": night, "lineage_id": "1", "job_id": "", "nprocs": 1, "run_seconds": 10.0}
    runs: list[dict[str, Any]] = [
        of_lineage | {"log_id": f"{number:03}", "start_at": first + timedelta(minutes=number), "io_core_seconds": float(number)}
        for number in range(150)
    ]
    # It takes longer than all others, so that what is usual is another with it.
    runs[20]["io_core_seconds"] = 1e6
    new = runs[20]["log_id"]
    ids = {"first_log_id": "000", "last_log_id": "999", "log_ids": [run["log_id"] for run in runs]}
    asked = {"cluster": "x", **ids, **nights, "first_history_night": night, "last_history_night": night}

    def histories(among: list[dict[str, Any]]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        question = QUESTIONS["report/history"]
        with stage(question, {"core.log": among}) as con:
            for of_log_id, *row in con.execute(question.sql, asked).fetchall():
                found[of_log_id].append(repr(row))
        return found

    before, after = histories([run for run in runs if run["log_id"] != new]), histories(runs)
    beside = QUESTIONS["reports/beside"]
    with stage(beside, {"core.log": runs}) as con:
        found = {log_id for log_id, _ in con.execute(beside.sql, {"log_ids": [new], **nights}).fetchall()}
    assert found == {log_id for log_id, rows in after.items() if rows != before.get(log_id)}
    assert len(found) == 101


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=lambda each: each.name)
def test_a_question_that_works_something_out_has_a_case(question: Question):
    """A question is tested unless it only looks rows up."""
    assert not _WORKS_OUT.search(question.query) or any(case.question is question for case in _LOADED)


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=lambda each: each.name)
def test_the_header_names_what_the_query_asks_for(question: Question):
    """Relations, parts and parameters are those of the query, no more and no fewer."""
    named = set(re.findall(r"(?<!DISTINCT )(?:FROM|JOIN) (\w+\.\w+)", question.sql))
    assert (named, set(re.findall(r"\$(\w+)", question.sql))) == (set(question.reads), set(question.parameters))
    assert all(re.search(rf"(?:FROM|JOIN) {part.name.partition('/')[2]}\b", question.sql) for part in question.parts)


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=lambda each: each.name)
def test_a_question_can_be_prefixed_by_its_parts(question: Question):
    """The query begins with WITH or SELECT, so that parts can stand before it."""
    assert question.query.startswith(("WITH ", "SELECT\n", "SELECT "))
