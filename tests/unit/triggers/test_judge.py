"""All triggers judge all logs in one statement."""

import datetime as dt
from dataclasses import replace
from pathlib import Path

import pytest

from iomine.schema import table
from iomine.schema.registry import arrow_schema
from iomine.triggers import TRIGGERS, Above, Level, Setting, Trigger, judge_sql, reference_table, settings
from iomine.triggers.model import State
from iomine.views.catalog import build_catalog
from iomine.views.query import ask

MANY = Trigger(
    code="TEST-001",
    view="log_requests",
    level=Level.WARN,
    all_of=(Above("read_count", 10, why="It must be something."), Above("small_read_ratio", 0.5, why="It must be something.")),
    finding="It's {read_count} reads, '{{' and '}}'.",
    advice="Read less of {small_read_path}.",
    cases=(),
    cost="small_read_core_seconds",
    evidence="read_size_evidence",
    settings=(Setting("small_read_bytes", 1048576, why="It must be something."),),
    version="7",
)
FEW = Trigger(
    code="TEST-002",
    view="log_meta_profile",
    level=Level.INFO,
    all_of=(Above("meta_ratio", 0.1, why="It must be something."),),
    finding="{meta_ratio:.0%} metadata.",
    advice="Open less.",
    cases=(),
)
FIRST, SECOND = dt.date(2024, 4, 18), dt.date(2024, 4, 19)


def test_verdict_carries_all_that_the_lake_keeps(judge) -> None:
    """A fired verdict has its night, threshold, value, version, evidence, sentences and cost, in the order of the table."""
    reported = {"small_read_path": "/it's", "read_size_evidence": "trace"}
    (verdict,) = judge([MANY], [{"read_count": 2000, "small_read_ratio": 0.75, "small_read_core_seconds": 3.5} | reported])
    expected = {
        "cluster": "blue",
        "night": FIRST,
        "log_id": "log0",
        "ruleset": "iomine",
        "code": "TEST-001",
        "level": "warn",
        "state": "fired",
        "value": 2000.0,
        "bar": 10.0,
        "trigger_version": "7",
        "evidence": "trace",
        "finding": "It's 2,000 reads, '{' and '}'.",
        "advice": "Read less of /it's.",
        "cost_core_seconds": 3.5,
        "charged_core_seconds": None,
        "idle_core_seconds": None,
        "cause_code": "TEST-001",
        "is_facility_cause": False,
        "reason": None,
    }
    assert expected == verdict
    assert ["cluster", "night", *table("verdict").columns] == list(verdict)


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ({"read_count": 11, "small_read_ratio": 0.51}, "fired"),
        ({"read_count": 10, "small_read_ratio": 0.51}, "clear"),
        ({"read_count": 11, "small_read_ratio": 0.5}, "clear"),
        ({"read_count": None, "small_read_ratio": 0.51}, "unknown"),
        ({"read_count": 11, "small_read_ratio": None}, "unknown"),
        ({"read_count": 11, "small_read_ratio": float("nan")}, "unknown"),
        ({"read_count": 11, "small_read_ratio": float("inf")}, "unknown"),
        ({"read_count": 11, "small_read_ratio": 0.51, "is_complete": False}, "fired"),
        ({"read_count": 10, "small_read_ratio": 0.51, "is_complete": False}, "unknown"),
        ({"read_count": 10, "small_read_ratio": 0.51, "is_complete": None}, "unknown"),
        ({"read_count": 11, "small_read_ratio": 0.51, "left_out": True}, "unknown"),
    ],
)
def test_state_follows_from_what_is_known(judge, metrics: dict[str, object], expected: State) -> None:
    """All thresholds exceeded fires, whatever else is missing; what is missing or no number is unknown and never clear."""
    (verdict,) = judge([MANY], [metrics])
    assert expected == verdict["state"]


def test_sign_of_another_finding_is_no_cause_of_its_own(judge) -> None:
    """A finding without a cost has the cause of the first finding that it is a sign of; in a log without one it is its own."""
    sign = replace(FEW, code="TEST-003", level=Level.WARN, sign_of=("TEST-009", "TEST-001"))
    fired = {"small_read_ratio": 0.75, "small_read_core_seconds": 3.5, "meta_ratio": 0.5}
    logs = [fired | {"read_count": count, "claims": {"small_read_core_seconds": 3.5}} for count in (2000, 2)]
    verdicts = judge([MANY, sign], logs)
    assert {("log0", "TEST-001"): "TEST-001", ("log0", "TEST-003"): "TEST-001", ("log1", "TEST-003"): "TEST-003"} == {
        (verdict["log_id"], verdict["code"]): verdict["cause_code"] for verdict in verdicts if verdict["state"] == "fired"
    }


def test_finding_that_knows_who_is_to_blame_is_a_sign_of_that_finding(judge) -> None:
    """Stragglers on a slow OST are a sign of it even if they cost more, with all that is a sign of theirs; others are not."""
    stragglers, slow, small = TRIGGERS["RANK-101"], TRIGGERS["LUSTRE-203"], TRIGGERS["POSIX-102"]
    fired = {each.metric: each.value + 1 for trigger in (stragglers, slow, small) for each in trigger.all_of}
    costs = {stragglers.cost: 9.0, slow.cost: 5.0, small.cost: 8.0}
    log = fired | costs | {"claims": costs}
    verdicts = judge(
        [stragglers, slow, small],
        [
            log | {"straggler_ost_id": 14},
            log,
            log | {"straggler_ost_id": 14, "slow_ost_count": 0},
            log | {"straggler_ost_id": 14, "straggler_link": "a to b"},
        ],
    )
    codes = {stragglers.code: "RANK-101", slow.code: "RANK-101", small.code: "RANK-101"}
    expected = [
        dict.fromkeys(codes, "LUSTRE-203"),
        codes,
        {code: cause for code, cause in codes.items() if code != "LUSTRE-203"},
        # The link explains more than the OST does, and no finding of this log is about it.
        codes,
    ]
    found = [
        {each["code"]: each["cause_code"] for each in verdicts if each["log_id"] == f"log{number}" and each["cause_code"]}
        for number in range(4)
    ]
    assert expected == found
    # A cause is the facility's, with all its signs, if it is named after what the facility has to fix.
    facilitys = [
        {each["is_facility_cause"] for each in verdicts if each["log_id"] == f"log{number}" and each["cause_code"]}
        for number in range(4)
    ]
    assert [{True}, {False}, {False}, {False}] == facilitys
    assert {None} == {each["is_facility_cause"] for each in verdicts if not each["cause_code"]}


def test_findings_of_a_run_that_others_made_slow_are_the_facilitys(judge) -> None:
    """Whatever is found in an excused run, its user is not charged for it; causes are called as ever."""
    slow, small = TRIGGERS["LUSTRE-203"], TRIGGERS["POSIX-102"]
    fired = {each.metric: each.value + 1 for trigger in (slow, small) for each in trigger.all_of}
    costs = {slow.cost: 5.0, small.cost: 8.0}
    claims = {"claims": {small.cost: 8.0}}
    logs = [fired | costs | claims | {"is_excused": is_excused} for is_excused in (True, False, None)]
    verdicts = judge([slow, small], [*logs, logs[0] | {"small_write_count": 0, "slow_ost_count": 0}])
    found = {(each["log_id"], each["code"]): (each["cause_code"], each["is_facility_cause"]) for each in verdicts}
    assert [True, False, False] == [found[f"log{number}", small.code][1] for number in range(3)]
    assert [True, True, True] == [found[f"log{number}", slow.code][1] for number in range(3)]
    assert {small.code} == {found[f"log{number}", small.code][0] for number in range(3)}
    # What found nothing is nobody's.
    assert (None, None) == found["log3", slow.code]


def test_what_explains_stragglers_needs_no_cost_to_give_its_code_to_their_cause(judge) -> None:
    """A faulty link has no cost of its own."""
    stragglers, link = TRIGGERS["RANK-101"], TRIGGERS["FABRIC-101"]
    fired = {each.metric: each.value + 1 for trigger in (stragglers, link) for each in trigger.all_of}
    log = fired | {stragglers.cost: 9.0, "straggler_link": "a to b", "claims": {stragglers.cost: 9.0}}
    verdicts = judge([stragglers, link], [log])
    assert {"RANK-101": "FABRIC-101", "FABRIC-101": "FABRIC-101"} == {each["code"]: each["cause_code"] for each in verdicts}


ASKED = replace(
    MANY,
    applies_to=(Above("data_read_count", 0, why="It must be something."), Above("write_count", 0, why="It must be something.")),
    lacks=("posix_lack", "trace_lack"),
)


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        # What was not done by a complete log does not apply, whatever else is known.
        ({"data_read_count": 0}, "not applicable"),
        ({"data_read_count": 0, "read_count": 3, "small_read_ratio": 0.1}, "not applicable"),
        ({"data_read_count": 0, "is_complete": False}, "not applicable"),
        # What was seen fires nevertheless.
        ({"data_read_count": 0, "read_count": 11, "small_read_ratio": 0.51}, "fired"),
        ({"data_read_count": 1}, "unknown"),
        ({"data_read_count": None}, "unknown"),
        # A count of the view says nothing where something is lacking.
        ({"write_count": 0}, "not applicable"),
        ({"write_count": 0, "is_complete": False}, "unknown"),
        ({"write_count": 0, "trace_lack": "No trace."}, "unknown"),
        ({"write_count": 1, "read_count": 3, "small_read_ratio": 0.1}, "clear"),
    ],
)
def test_what_was_not_done_does_not_apply(judge, metrics: dict[str, object], expected: State) -> None:
    """A question does not apply where the log did nothing of the kind, and only where that is known."""
    (verdict,) = judge([ASKED], [metrics])
    assert expected == verdict["state"]
    assert (expected == "unknown") == (verdict["reason"] is not None)


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ({"posix_lack": "No POSIX.", "trace_lack": "No trace."}, "No POSIX."),
        ({"trace_lack": "No trace."}, "No trace."),
        (
            {"read_count": 3},
            "Its records lack small_read_ratio: Share of reads that were small. It needs the module's records, whole.",
        ),
        (
            {"read_count": 3, "small_read_ratio": 0.1, "is_complete": False},
            "Some of what it needs is missing: the module's records, whole.",
        ),
        ({"read_count": 3, "small_read_ratio": 0.1, "trace_lack": "No trace."}, None),
    ],
)
def test_unknown_verdict_says_what_this_log_lacks(judge, metrics: dict[str, object], expected: str | None) -> None:
    """The reason is the first thing that this log lacks, then the metric that is missing; other states have none."""
    (verdict,) = judge([ASKED], [metrics])
    assert expected == verdict["reason"]


def test_only_fired_verdicts_speak_and_cost(judge) -> None:
    """A clear verdict keeps its value and threshold, but has no sentences and no cost."""
    (verdict,) = judge([MANY], [{"read_count": 3, "small_read_ratio": 0.75, "small_read_core_seconds": 3.5}])
    expected = {"state": "clear", "value": 3.0, "bar": 10.0, "finding": None, "advice": None, "cost_core_seconds": None}
    assert expected == {name: verdict[name] for name in expected}


@pytest.mark.parametrize(("cost", "level"), [(1.0, "warn"), (0.999, "info"), (None, "warn")])
def test_what_cost_next_to_nothing_is_no_finding(judge, cost: float | None, level: str) -> None:
    """A fired verdict on requests that took less than a core-second is info, without advice; one of unknown cost is a finding."""
    (verdict,) = judge([MANY], [{"read_count": 11, "small_read_ratio": 0.75, "small_read_core_seconds": cost}])
    assert ("fired", level, level == "warn") == (verdict["state"], verdict["level"], verdict["advice"] is not None)


@pytest.mark.parametrize(
    ("cost", "idle", "level"), [(0.5, 0.5, "warn"), (0.5, 0.49, "info"), (0.5, None, "info"), (None, 9.0, "warn")]
)
def test_idle_ranks_decide_what_is_a_finding(judge, cost: float | None, idle: float | None, level: str) -> None:
    """A fired verdict that cost almost nothing is a finding where others stood idle for long; both times are kept apart."""
    trigger = replace(MANY, idle="straggler_idle_core_seconds")
    metrics = {"read_count": 2000, "small_read_ratio": 0.75, "small_read_core_seconds": cost, "straggler_idle_core_seconds": idle}
    (verdict,) = judge([trigger], [metrics])
    assert (level, cost, idle) == (verdict["level"], verdict["cost_core_seconds"], verdict["idle_core_seconds"])
    assert (level == "warn") == bool(verdict["advice"])


@pytest.mark.parametrize(
    ("cost", "nprocs", "level"), [(0.04, 128, "info"), (0.04, 9, "warn"), (1.0, 128, "warn"), (0.04, None, "warn")]
)
def test_idle_ranks_decide_only_if_a_part_of_the_run_was_lost(judge, cost: float, nprocs: int | None, level: str) -> None:
    """Of many ranks all but one stand idle beside any request; a thousandth of the run is 75.8 or 5.3 core-seconds."""
    trigger = replace(MANY, idle="straggler_idle_core_seconds")
    metrics = {"read_count": 2000, "small_read_ratio": 0.75, "small_read_core_seconds": cost, "straggler_idle_core_seconds": 5.3}
    (verdict,) = judge([trigger], [metrics | {"run_seconds": 592.0, "nprocs": nprocs}])
    assert (level, level == "warn") == (verdict["level"], bool(verdict["advice"]))


@pytest.mark.parametrize(
    ("meta_ratio", "cost", "level"),
    [(0.51, 5.0, "high"), (0.5, 5.0, "warn"), (None, 5.0, "warn"), (0.51, 0.5, "info")],
)
def test_more_of_it_weighs_high(judge, meta_ratio: float | None, cost: float, level: str) -> None:
    """Above a further threshold a fired verdict is high; the unknown does not raise it, and what cost nothing stays info."""
    trigger = replace(MANY, high=Above("meta_ratio", 0.5, why="It is most of the time."))
    metrics = {"read_count": 11, "small_read_ratio": 0.75, "small_read_core_seconds": cost, "meta_ratio": meta_ratio}
    (verdict,) = judge([trigger], [metrics])
    assert ("fired", level) == (verdict["state"], verdict["level"])


def test_settings_are_what_views_are_given() -> None:
    """The numbers that views work with are named by the triggers that need them."""
    assert {"small_read_bytes": 1048576} == settings([MANY, FEW])


def test_every_trigger_judges_every_log(judge) -> None:
    """There is one verdict for each pair of trigger and log."""
    verdicts = judge([FEW, MANY], [{"meta_ratio": 0.2, "read_count": 1, "small_read_ratio": 0.1}, {"meta_ratio": None}])
    expected = [
        ("TEST-001", "log0", "clear"),
        ("TEST-001", "log1", "unknown"),
        ("TEST-002", "log0", "fired"),
        ("TEST-002", "log1", "unknown"),
    ]
    assert expected == sorted((verdict["code"], verdict["log_id"], verdict["state"]) for verdict in verdicts)


@pytest.mark.parametrize(
    ("nights", "expected"),
    [
        (None, ["log0", "log1", "log2"]),
        ([("blue", FIRST), ("o'red", SECOND)], ["log0", "log2"]),
        ([("blue", SECOND)], ["log1"]),
        ([("o'red", FIRST)], []),
        ([], []),
    ],
)
def test_nights_that_are_not_asked_for_are_left_alone(judge, nights, expected: list[str]) -> None:
    """Only logs of the given pairs of cluster and night are judged; a cluster's name may hold a quote."""
    rows = [{"night": FIRST}, {"night": SECOND}, {"night": SECOND, "cluster": "o'red"}]
    assert expected == [verdict["log_id"] for verdict in judge([MANY], rows, nights)]


def test_all_triggers_fit_into_one_statement(judge) -> None:
    """The shipped triggers judge a log that has nothing at all, and know nothing of it."""
    verdicts = judge(TRIGGERS.values(), [{}])
    assert dict.fromkeys(TRIGGERS, "unknown") == {verdict["code"]: verdict["state"] for verdict in verdicts}


def test_verdicts_are_the_same_without_the_texts_of_those_that_fire_nowhere(judge) -> None:
    rows = [dict(case.metrics) for trigger in TRIGGERS.values() for case in trigger.cases if case.state != "fired"]
    all_said = judge(TRIGGERS.values(), rows)
    silent = set(TRIGGERS) - {verdict["code"] for verdict in all_said if verdict["state"] == "fired"}
    assert len(silent) > 5

    def in_order(verdicts):
        return sorted(verdicts, key=lambda verdict: (verdict["log_id"], verdict["code"]))

    assert in_order(all_said) == in_order(judge(TRIGGERS.values(), rows, silent=silent))


def test_verdicts_have_the_types_of_the_table(tmp_path: Path) -> None:
    """On a catalog as it is shipped, the statement's columns are those of the lake's table, in name and type."""
    build_catalog(tmp_path / "iomine.duckdb", {}, {"triggers": reference_table()}, {})
    verdicts = ask(tmp_path / "iomine.duckdb", judge_sql(list(TRIGGERS.values()), [("blue", FIRST)]))
    expected = arrow_schema("verdict", with_partition_keys=True)
    assert expected.equals(verdicts.schema, check_metadata=False)


def test_judging_by_nothing_is_refused() -> None:
    """Without a trigger there is no statement."""
    with pytest.raises(ValueError, match="at least one trigger"):
        judge_sql([])
