"""The one sum of a log's costs: time that several findings are about is charged once; and which findings are one cause."""

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Final

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows_in import BY_NAME, stage

from iomine.triggers import TRIGGERS
from iomine.triggers.judge import CAUSES, CHARGED, OWN_CHARGED, SAME_CAUSE_RATIO, claimed_sql, judged_sql
from iomine.triggers.model import Above, Level, Trigger

_KEYS: Final = {"cluster": "x", "night": "2024-04-18", "log_id": "a"}
# Costs that are about writes, and about files: with each of the latter the kinds of time that it is about.
_SHARES: Final = {"small_write_core_seconds": "small_seconds", "backward_write_core_seconds": "backward_seconds"}
_FLAGS: Final = {"own_file_core_seconds": "is_own", "small_file_core_seconds": "is_small"}
_KINDS: Final = ("read", "write", "meta")
_KINDS_OF: Final = {"own_file_core_seconds": ("meta",), "small_file_core_seconds": _KINDS}
_COSTS: Final = tuple(sorted([*_SHARES, *_FLAGS]))
_SECONDS: Final = st.integers(0, 40).map(lambda eighths: eighths / 8)
_FILE: Final = st.fixed_dictionaries(
    dict.fromkeys((*_KINDS, *_SHARES.values()), _SECONDS) | dict.fromkeys(_FLAGS.values(), st.booleans())
)

Claims = Mapping[tuple[int, str], Mapping[str, float]]
Found = Mapping[str, tuple[float | None, str]]


def _trigger(cost: str) -> Trigger:
    """Fires where its cost is a second or more."""
    code = f"{cost.split('_', maxsplit=1)[0].upper()}-{900 + _COSTS.index(cost)}"
    threshold = Above(cost, 0.5, why="A test's own.")
    level = Level.HIGH if cost in _SHARES else Level.WARN
    return Trigger(code, "log_requests", level, (threshold,), "It is slow.", "Change it.", (), cost=cost)


def _by_hand(files: list[dict[str, float]]) -> Claims:
    """What each cost claims of each file's time of one kind, never more than there was."""
    claims: dict[tuple[int, str], dict[str, float]] = defaultdict(dict)
    for number, file in enumerate(files):
        for cost, flag in _FLAGS.items():
            for kind in _KINDS_OF[cost]:
                claims[number, kind][cost] = file[kind] if file[flag] else 0.0
        for cost, share in _SHARES.items():
            claims[number, "write"][cost] = min(file[share], file["write"])
    return claims


def _found(files: list[dict[str, float]], reported: set[str]) -> Found:
    """What each finding is charged, and the cost by whose finding its cause is called."""
    given_rows = {
        "core.file_time": [
            _KEYS | {"file_id": number, "time_kind": kind, "kind_seconds": file[kind]}
            for number, file in enumerate(files)
            for kind in _KINDS
            if file[kind]
        ],
        "core.request_time": [
            _KEYS | {"file_id": number, "layer": "posix", "op": "write"} | {name: file[name] for name in _SHARES.values()}
            for number, file in enumerate(files)
        ],
        "core.data_file": [
            _KEYS | {"file_id": number, "stdio_core_seconds": 0.0} | {name: file[name] for name in _FLAGS.values()}
            for number, file in enumerate(files)
        ],
    }
    with stage(BY_NAME["feature.cost_claim"], given_rows) as con:
        con.execute(f"CREATE TABLE core.cost_claim AS {BY_NAME['feature.cost_claim'].sql}")
        return _judged(con, reported)


def _judged(con: duckdb.DuckDBPyConnection, reported: set[str]) -> Found:
    columns = ", ".join(f"{9.0 if cost in reported else 0.0}::DOUBLE AS {cost}" for cost in _COSTS)
    con.execute(
        "CREATE TABLE held_log_requests AS "
        f"SELECT 'x' AS cluster, DATE '2024-04-18' AS night, 'a' AS log_id, TRUE AS is_complete, 99.0 AS most_seconds, {columns}"
    )
    con.execute("CREATE TABLE judged_log AS SELECT cluster, night, log_id, most_seconds FROM held_log_requests")
    triggers = {_trigger(cost).code: cost for cost in _COSTS}
    judges = [_trigger(cost) for cost in _COSTS]
    judged = f"judged AS ({judged_sql(judges)})"
    claimed = f"claimed AS ({claimed_sql(judges, 'core.cost_claim', '')})"
    sources = ", ".join((judged, claimed, CHARGED, *CAUSES))
    rows = con.execute(f"WITH {sources} SELECT code, charged_core_seconds, cause_code FROM cause LEFT JOIN charged USING (code)")
    return {triggers[code]: (seconds, triggers[cause]) for code, seconds, cause in rows.fetchall()}


def _causes_by_hand(claims: Claims, reported: set[str]) -> dict[str, str]:
    """By whose finding each cause is called."""
    weights = {cost: sum(of_costs.get(cost, 0.0) for of_costs in claims.values()) for cost in reported}
    order = sorted((cost for cost in reported if weights[cost]), key=lambda cost: (-weights[cost], _trigger(cost).code))
    above: dict[str, str] = {}
    for place, cost in enumerate(order):
        for other in order[:place]:
            both = sum(min(of_costs.get(cost, 0.0), of_costs.get(other, 0.0)) for of_costs in claims.values())
            if both >= SAME_CAUSE_RATIO * weights[cost]:
                above[cost] = above.get(other, other)
                break
    members = defaultdict(list)
    for cost in order:
        members[above.get(cost, cost)].append(cost)
    called = {}
    for root, costs in members.items():
        large = [cost for cost in costs if 2 * weights[cost] >= weights[root]]
        called |= dict.fromkeys(costs, next((cost for cost in large if cost in _SHARES), root))
    return called


# Each takes a second to plan.
@settings(max_examples=25)
@given(st.lists(_FILE, max_size=5), st.sets(st.sampled_from(_COSTS)))
def test_charges_are_the_highest_claims_and_causes_share_them(files: list[dict[str, float]], reported: set[str]) -> None:
    """Of each file's time of one kind the highest claim among the findings is charged, and to that finding."""
    expected: dict[str, float] = defaultdict(float)
    by_hand = _by_hand(files)
    for of_costs in by_hand.values():
        claims = {cost: seconds for cost, seconds in of_costs.items() if cost in reported and seconds}
        if claims:
            highest = max(claims.values())
            expected[min(cost for cost, seconds in claims.items() if seconds == highest)] += highest
    found = _found(files, reported)
    got = {cost: seconds for cost, (seconds, _) in found.items() if seconds is not None}
    assert dict(expected) == pytest.approx(got)
    assert _causes_by_hand(by_hand, reported) == {cost: cause for cost, (_, cause) in found.items()}
    assert sum(got.values()) <= sum(file[kind] for file in files for kind in _KINDS) + 1e-9


def test_costs_of_no_finding_are_not_charged() -> None:
    """Without findings nothing is charged, however much is claimed."""
    file = dict.fromkeys(_KINDS, 1.0) | {"small_seconds": 2.0, "backward_seconds": 0.0, "is_own": True, "is_small": True}
    assert {} == _found([file], set())


@given(st.lists(_SECONDS, max_size=4), st.lists(_SECONDS, max_size=3))
def test_costs_of_a_sites_own_are_charged_as_far_as_they_exceed_others(others: list[float], own: list[float]) -> None:
    """Whatever they are about, the sum of a log is the larger one: of all others, or of the largest of them."""
    claims = [(f"POSIX-{number}", number + 1, seconds) for number, seconds in enumerate(others)]
    claims += [(f"SITE-{number}", 0, seconds) for number, seconds in enumerate(own)]
    keys = "cluster VARCHAR, night DATE, log_id VARCHAR, code VARCHAR"
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE claimed ({keys}, cost_name VARCHAR, claim_group BIGINT, claim_core_seconds DOUBLE)")
        for code, group, seconds in claims:
            con.execute("INSERT INTO claimed VALUES ('x', DATE '2024-04-18', 'a', ?, ?, ?, ?)", [code, code, group, seconds])
        charged = "SELECT code, charged_core_seconds FROM charged UNION ALL SELECT code, charged_core_seconds FROM own_charged"
        found = dict(con.execute(f"WITH {CHARGED}, {OWN_CHARGED} {charged}").fetchall())
    assert max(sum(others), *own, 0.0) == pytest.approx(sum(found.values()))
    assert {f"POSIX-{number}": seconds for number, seconds in enumerate(others)} == {
        code: seconds for code, seconds in found.items() if code.startswith("POSIX")
    }


def test_costs_that_claim_are_listed_in_order() -> None:
    """A cost that is claimed and not listed would fail the judging of its log; the order numbers the groups of claims."""
    claiming, _, after = BY_NAME["feature.cost_claim"].sql.partition("::ENUM(")
    listed = re.findall(r"'(\w+)'", after.partition(")")[0])
    assert sorted(listed) == listed
    assert set(listed) <= {trigger.cost for trigger in TRIGGERS.values()}
    # Some are put together, such as that of small reads.
    assert {name for name in re.findall(r"'(\w+_core_seconds)'", claiming) if not name.startswith("_")} <= set(listed)
