"""Thresholds on either side: SQL judges as the few lines of Python below do, whatever is known of a log."""

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iomine.cli.explain import page_text
from iomine.report.page import _numbers
from iomine.triggers import TRIGGERS, Above, Below, Level, Manual, Threshold, Trigger
from iomine.triggers.model import State
from iomine.triggers.thresholds import parse_thresholds, shipped_thresholds, with_thresholds

WHY = "It must be something."
# Counts, ratios and seconds of one view, whole numbers and others.
METRICS = ("read_count", "small_read_count", "small_read_ratio", "small_read_core_seconds")
TRIGGER = Trigger(
    code="TEST-001",
    view="log_requests",
    level=Level.WARN,
    all_of=(Below("read_count", 10, why=WHY),),
    finding="{read_count} reads.",
    advice="Read more.",
    cases=(),
)

# Few numbers, so that metrics often lie exactly on a threshold.
_NUMBERS = st.sampled_from((0, 1, 2))
_VALUES = st.one_of(st.none(), _NUMBERS)
_FLOATS = st.one_of(_VALUES, st.sampled_from((math.nan, math.inf, -math.inf)))


@st.composite
def triggers(draw: st.DrawFn) -> Trigger:
    """A trigger on some of the metrics, each above or below a number, some of them silencing it."""
    metrics = draw(st.permutations(METRICS))
    held = draw(st.integers(1, len(metrics)))
    silent = draw(st.integers(0, held - 1))
    thresholds = [draw(st.sampled_from((Above, Below)))(metric, draw(_NUMBERS), why=WHY) for metric in metrics[:held]]
    return replace(TRIGGER, all_of=tuple(thresholds[silent:]), unless=tuple(thresholds[:silent]))


def _rows() -> st.SearchStrategy[dict[str, object]]:
    values = {name: _VALUES if name.endswith("_count") else _FLOATS for name in METRICS}
    return st.fixed_dictionaries(values | {"is_complete": st.sampled_from((True, False, None))})


def _holds(threshold: Threshold, value: float) -> bool:
    return value > threshold.value if isinstance(threshold, Above) else value < threshold.value


def _state(trigger: Trigger, row: Mapping[str, object]) -> State:
    numbers = {name: value for name in METRICS if (value := row[name]) is not None and math.isfinite(value)}
    is_known = all(each.metric in numbers for each in trigger.thresholds)
    if is_known and all(_holds(each, numbers[each.metric]) for each in trigger.all_of):
        silences = [_holds(each, numbers[each.metric]) for each in trigger.unless]
        if not silences or not all(silences):
            return "fired"
    return "clear" if is_known and row["is_complete"] is True else "unknown"


# Each example makes a database, and the fixture holds nothing between them.
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trigger=triggers(), rows=st.lists(_rows(), min_size=1, max_size=12))
@pytest.mark.proof
def test_states_are_those_of_a_reference(judge, trigger: Trigger, rows: list[dict[str, object]]) -> None:
    """Above and below, alone and together, in `all_of` and in `unless`, on whatever is known of a log."""
    states = {verdict["log_id"]: verdict["state"] for verdict in judge([trigger], rows)}
    assert {f"log{n}": _state(trigger, row) for n, row in enumerate(rows)} == states


@pytest.mark.parametrize(("value", "expected"), [(9, "fired"), (10, "clear"), (11, "clear"), (None, "unknown")])
def test_below_fires_below_its_threshold_only(judge, value: int | None, expected: State) -> None:
    """Exactly on the threshold is clear, as it is above one; a verdict carries value and threshold alike."""
    (verdict,) = judge([TRIGGER], [{"read_count": value}])
    assert (expected, value, 10.0) == (verdict["state"], verdict["value"], verdict["bar"])


def test_a_site_moves_a_threshold_and_not_its_side() -> None:
    """The file of a site's thresholds sets the number of either kind; the trigger still fires on the same side of it."""
    (threshold,) = parse_thresholds("[TEST-001]\nread_count = 3\n", {"TEST-001": TRIGGER})
    moved = with_thresholds({"TEST-001": TRIGGER}, [threshold])["TEST-001"]
    assert (Below("read_count", 3.0, why=WHY),) == moved.all_of
    assert {"read_count": 3.0} == shipped_thresholds(moved)


def test_drishtis_check_of_few_aggregators_reads_as_it_is_said(judge) -> None:
    """M08 fires where aggregators are below nodes: on fewer, not on as many or more."""
    metrics = [{"aggregator_order": order, "node_evidence": 2} for order in (-1, 0, 1)]
    assert ["fired", "clear", "clear"] == [verdict["state"] for verdict in judge([TRIGGERS["M08"]], metrics)]


def test_manual_pages_and_reports_say_on_which_side() -> None:
    """People read whether a trigger fires above or below, and are shown first what lies furthest beyond."""
    page = page_text(Manual(replace(TRIGGER, level=Level.INFO), "Few reads", "Few."))
    assert "`read_count` below 10: " in page
    assert "ORDER BY value ASC" in page
    ((value, _, side),) = _numbers(TRIGGER, {"bar": 10.0, "metrics": {"read_count": 3}}, None)
    assert ("3", "fires below 10") == (value, side)
