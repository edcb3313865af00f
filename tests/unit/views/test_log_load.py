"""Where others' traffic stands among the slots of 30 nights, against counting them one by one."""

from datetime import UTC, date, datetime, timedelta
from statistics import median
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_cases import stage

from iomine.views.model import find_views

_VIEW = next(view for view in find_views() if view.qualified == "core.log_load")
_FIRST = datetime(2024, 4, 18, tzinfo=UTC)
_NIGHT = date(2024, 4, 18)
_OSTS = range(3)
# Multiples of this stay whole when they are parted as below, so that equal rates are equal to the last bit.
_BYTES = 2400
_amounts = st.integers(0, 8).map(lambda count: count * _BYTES)


class _Run(NamedTuple):
    """A log: its user, first slot, bytes in each slot, seconds in each, and quarters of its bytes by OST, if that is known."""

    user: str
    first: int
    moved: list[int]
    seconds: float
    quarters: dict[int, int]
    is_of_night: bool

    @property
    def slots(self) -> range:
        return range(self.first, self.first + len(self.moved))


_runs = st.lists(
    st.builds(
        _Run,
        st.sampled_from(["ada", "bob", ""]),
        st.integers(0, 36),
        st.lists(_amounts, min_size=1, max_size=3),
        st.sampled_from([150.0, 300.0, 600.0]),
        st.sampled_from([{}, {0: 4}, {0: 2, 2: 2}, {0: 1, 1: 2, 2: 1}]),
        st.booleans(),
    ),
    min_size=1,
    max_size=6,
)
_loads = st.lists(st.tuples(st.sampled_from([300.0, 600.0]), *[_amounts] * len(_OSTS)), min_size=28, max_size=39)


# Each example makes a database.
@pytest.mark.proof
@settings(max_examples=20, deadline=None)
@given(_loads, _runs)
def test_others_stand_where_they_are_counted(loads: list[tuple[float, ...]], runs: list[_Run]):
    """A log's percentile is the median over its slots and places; own bytes are taken out of all slots, also of the past."""
    got = {row["log_id"]: row["load_percentile"] for row in _answer(loads, runs)}
    for number, run in enumerate(runs):
        if run.is_of_night:
            expected = _percentile(loads, runs, run)
            assert (None if expected is None else pytest.approx(expected)) == got[str(number)]
    assert sum(run.is_of_night for run in runs) == len(got)


def _answer(loads: list[tuple[float, ...]], runs: list[_Run]) -> list[dict[str, object]]:
    traffic = [row for slot, load in enumerate(loads) for row in _load_rows(slot, load)]
    logs, osts = [], []
    key = {"cluster": "x", "night": _NIGHT}
    for number, run in enumerate(runs):
        mine = key | {"filesystem": "s", "owner": str(number), "user": run.user, "covered_seconds": run.seconds}
        traffic += [
            mine | {"begin_at": _at(slot), "moved_bytes": moved} for slot, moved in zip(run.slots, run.moved, strict=True)
        ]
        if run.is_of_night:
            logs.append(key | {"log_id": str(number)})
            osts += [key | {"log_id": str(number), "ost_id": ost, "moved_bytes": part} for ost, part in run.quarters.items()]
    with stage(_VIEW, {"core.traffic_slot": traffic, "core.log": logs, "core.ost_io": osts}) as con:
        return con.sql(_VIEW.sql).to_arrow_table().to_pylist()


def _load_rows(slot: int, load: tuple[float, ...]) -> list[dict[str, object]]:
    seconds, *moved = load
    row = {"cluster": "x", "night": _NIGHT, "begin_at": _at(slot), "filesystem": "s", "owner": "", "covered_seconds": seconds}
    return [row | {"moved_bytes": sum(moved)}, *(row | {"ost_id": ost, "moved_bytes": each} for ost, each in enumerate(moved))]


def _at(slot: int) -> datetime:
    return _FIRST + timedelta(minutes=10 * slot)


def _percentile(loads: list[tuple[float, ...]], runs: list[_Run], run: _Run) -> float | None:
    """The same, slot by slot."""
    if len(loads) < 30:
        return None
    # A user who is not known is nobody else.
    own = [run] if run.quarters or not run.user else [other for other in runs if other.user == run.user]
    found = []
    for place in run.quarters or [None]:
        others = [_others(slot, load, own, place) for slot, load in enumerate(loads)]
        found += [100 * sum(each < others[slot] for each in others) / len(loads) for slot in run.slots if slot < len(loads)]
    return median(found) if found else None


def _others(slot: int, load: tuple[float, ...], own: list[_Run], place: int | None) -> float:
    """What others moved in a slot, in bytes a second: on an OST, or on all."""
    seconds, *moved = load
    rate = (sum(moved) if place is None else moved[place]) / seconds
    for run in own:
        if slot in run.slots:
            part = 1 if place is None else run.quarters[place] / 4
            rate -= run.moved[slot - run.first] * part / max(run.seconds, seconds)
    return max(0.0, rate)
