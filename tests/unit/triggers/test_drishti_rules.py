"""What ruleset `drishti` holds, and the one thing that its checks need beyond others: `unless`."""

import pytest

from iomine.triggers import TRIGGERS, Above, Case, Level, Trigger
from iomine.triggers.model import State

DRISHTI = {code: trigger for code, trigger in TRIGGERS.items() if trigger.ruleset == "drishti"}
NEITHER = "It must be something."
ORDERLY = Trigger(
    code="T01",
    view="drishti_posix",
    level=Level.OK,
    all_of=(Above("read_count", 0, why=NEITHER),),
    finding="{read_count} reads.",
    advice="Nothing.",
    cases=(),
    unless=(Above("random_read_ratio", 0.2, why=NEITHER), Above("random_read_count", 1000, why=NEITHER)),
    ruleset="test",
)


def test_all_of_drishtis_checks_are_there() -> None:
    """The codes are Drishti's, each at its level; P20 was never given out."""
    expected = {
        Level.HIGH: "S01 P05 P06 P07 P08 P11 P13 P15 P16 P17 P18 P19 P21 P22 M02 M03 M09",
        Level.WARN: "P09 P10 M01 M06 M07",
        Level.INFO: "P01 P02 P03 P04",
        Level.OK: "P12 P14 M04 M05 M08 M10",
    }
    assert {code: level for level, codes in expected.items() for code in codes.split()} == {
        code: trigger.level for code, trigger in DRISHTI.items()
    }


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ("S01 P01 P02 P03 P04 P07 P08", (0.10,)),
        ("P05 P06 P15 P16", (0.10, 1000)),
        ("P11 P13", (0.20, 1000)),
        ("P17", (30,)),
        ("P18 P19", (0.15,)),
        ("P21 P22", (0.30,)),
        ("P09 P10 P12 P14 M01 M04 M05 M06 M07", (0,)),
        ("M02 M03", (1000,)),
        ("M10", (1,)),
        ("M08 M09", (1, 0)),
    ],
)
def test_bars_are_drishtis_defaults(codes: str, expected: tuple[float, ...]) -> None:
    """Without settings of a site, numbers are held against what Drishti 0.8 ships with."""
    assert dict.fromkeys(codes.split(), expected) == {
        code: tuple(above.value for above in DRISHTI[code].all_of) for code in codes.split()
    }


@pytest.mark.parametrize("code", [code for code, trigger in DRISHTI.items() if trigger.unless])
def test_cases_show_both_sides_of_unless(code: str) -> None:
    """A trigger with `unless` has a case that it silences, and fires exactly on each of its thresholds."""
    trigger = DRISHTI[code]
    silenced = [
        case
        for case in trigger.cases
        if all(_number(case, above.metric) > above.value for above in trigger.thresholds)
        and case.metrics.get("is_complete", True)
    ]
    fired = [case for case in trigger.cases if case.state == "fired"]
    assert {"clear"} == {case.state for case in silenced}
    assert [] == [
        above.metric for above in trigger.unless if not any(_number(case, above.metric) == above.value for case in fired)
    ]


def _number(case: Case, metric: str) -> float:
    value = case.metrics[metric]
    return float("-inf") if value is None else float(value)


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ({"read_count": 1, "random_read_ratio": 0.1, "random_read_count": 1}, "fired"),
        ({"read_count": 1, "random_read_ratio": 0.2, "random_read_count": 1001}, "fired"),
        ({"read_count": 1, "random_read_ratio": 0.3, "random_read_count": 1000}, "fired"),
        ({"read_count": 1, "random_read_ratio": 0.3, "random_read_count": 1001}, "clear"),
        ({"read_count": 0, "random_read_ratio": 0.1, "random_read_count": 1}, "clear"),
        ({"read_count": 1, "random_read_ratio": None, "random_read_count": 1}, "unknown"),
        ({"read_count": 1, "random_read_ratio": 0.3, "random_read_count": 1001, "is_complete": False}, "unknown"),
    ],
)
def test_unless_silences_when_all_of_it_holds(judge, metrics: dict[str, object], expected: State) -> None:
    """Only if every threshold of `unless` is exceeded does the trigger hold its tongue; without its metrics nothing is known."""
    (verdict,) = judge([ORDERLY], [metrics])
    assert expected == verdict["state"]


@pytest.mark.parametrize(
    ("unless", "demand"),
    [
        (Above("no_such_field", 0, why=NEITHER), "no_such_field must be a field"),
        (Above("write_count", 0, why=" "), "must say why"),
        (Above("write_count", float("inf"), why=NEITHER), "must be a number"),
    ],
)
def test_unless_out_of_form_is_refused(unless: Above, demand: str) -> None:
    """What silences a trigger is held to the same form as what makes it fire."""
    with pytest.raises(ValueError, match=demand):
        Trigger("T02", "drishti_posix", Level.OK, ORDERLY.all_of, "Reads.", "Nothing.", (), unless=(unless,))


def test_cases_must_name_the_metrics_of_unless() -> None:
    """A case that leaves out what silences a trigger would be unknown by oversight."""
    cases = (Case("half a case", {"read_count": 1}, state="unknown"),)
    with pytest.raises(ValueError, match="'half a case' must name"):
        Trigger("T02", "drishti_posix", Level.OK, ORDERLY.all_of, "Reads.", "Nothing.", cases, unless=ORDERLY.unless)


@pytest.mark.parametrize(("evidence", "expected"), [(2, "fired"), (1, "unknown"), (None, "unknown")])
def test_only_accounting_convinces_drishti_of_the_nodes(judge, evidence: int | None, expected: State) -> None:
    """With the hosts in the log alone, the checks on aggregators say nothing, as Drishti does without accounting."""
    row = {"node_evidence": evidence, "is_complete": False}
    got = {
        code: judge([DRISHTI[code]], [row | {"aggregator_order": order, "aggregators_differ": abs(order)}])[0]["state"]
        for code, order in (("M08", -1), ("M09", 1), ("M10", 0))
    }
    assert dict.fromkeys(("M08", "M09", "M10"), expected) == got
