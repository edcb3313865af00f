"""The one sum of a log's costs: time that several findings are about is charged once."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows_in import BY_NAME, stage

from iomine.triggers.judge import charged_sql
from iomine.triggers.model import Above, Level, Trigger

_KEYS: Final = {"cluster": "x", "night": "2024-04-18", "log_id": "a"}
# Costs that are about writes, or about all that is done with a file.
_SHARES: Final = {"small_write_core_seconds": "small_seconds", "backward_write_core_seconds": "backward_seconds"}
_FLAGS: Final = {"own_file_core_seconds": "is_own", "small_file_core_seconds": "is_small"}
_COSTS: Final = tuple(sorted([*_SHARES, *_FLAGS]))
_SECONDS: Final = st.integers(0, 40).map(lambda eighths: eighths / 8)
_FILE: Final = st.fixed_dictionaries(
    {"read": _SECONDS, "write": _SECONDS, "small_seconds": _SECONDS, "backward_seconds": _SECONDS}
    | dict.fromkeys(_FLAGS.values(), st.booleans())
)

Claims = Mapping[tuple[int, str], Mapping[str, float]]


def _trigger(cost: str) -> Trigger:
    """Fires where its cost is a second or more."""
    code = f"{cost.split('_', maxsplit=1)[0].upper()}-{900 + _COSTS.index(cost)}"
    threshold = Above(cost, 0.5, why="A test's own.")
    return Trigger(code, "log_requests", Level.HIGH, (threshold,), "It is slow.", "Change it.", (), cost=cost)


def _by_hand(files: list[dict[str, float]]) -> Claims:
    """What each cost claims of each file's time of one kind, never more than there was."""
    claims: dict[tuple[int, str], dict[str, float]] = defaultdict(dict)
    for number, file in enumerate(files):
        for kind in ("read", "write"):
            for cost, flag in _FLAGS.items():
                claims[number, kind][cost] = file[kind] if file[flag] else 0.0
        for cost, share in _SHARES.items():
            claims[number, "write"][cost] = min(file[share], file["write"])
    return claims


def _charges(files: list[dict[str, float]], reported: set[str]) -> dict[str, float]:
    given_rows = {
        "core.file_time": [
            _KEYS | {"file_id": number, "time_kind": kind, "kind_seconds": file[kind]}
            for number, file in enumerate(files)
            for kind in ("read", "write")
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
        return _charged(con, reported)


def _charged(con: duckdb.DuckDBPyConnection, reported: set[str]) -> dict[str, float]:
    columns = ", ".join(f"{9.0 if cost in reported else 0.0}::DOUBLE AS {cost}" for cost in _COSTS)
    con.execute(
        "CREATE TABLE held_log_requests AS "
        f"SELECT 'x' AS cluster, DATE '2024-04-18' AS night, 'a' AS log_id, TRUE AS is_complete, 99.0 AS most_seconds, {columns}"
    )
    con.execute("CREATE TABLE judged_log AS SELECT cluster, night, log_id, most_seconds FROM held_log_requests")
    triggers = {_trigger(cost).code: cost for cost in _COSTS}
    rows = con.execute(charged_sql([_trigger(cost) for cost in _COSTS], "core.cost_claim", "")).fetchall()
    return {triggers[code]: seconds for *_, code, seconds in rows}


# Each takes a second to plan.
@settings(max_examples=25)
@given(st.lists(_FILE, max_size=5), st.sets(st.sampled_from(_COSTS)))
def test_charges_are_the_highest_claims(files: list[dict[str, float]], reported: set[str]) -> None:
    """Of each file's time of one kind the highest claim among the findings is charged, and to that finding."""
    expected: dict[str, float] = defaultdict(float)
    for of_costs in _by_hand(files).values():
        claims = {cost: seconds for cost, seconds in of_costs.items() if cost in reported and seconds}
        if claims:
            highest = max(claims.values())
            expected[min(cost for cost, seconds in claims.items() if seconds == highest)] += highest
    got = _charges(files, reported)
    assert dict(expected) == pytest.approx(got)
    assert sum(got.values()) <= sum(file["read"] + file["write"] for file in files) + 1e-9


def test_costs_of_no_finding_are_not_charged() -> None:
    """Without findings nothing is charged, however much is claimed."""
    file = {"read": 1.0, "write": 2.0, "small_seconds": 2.0, "backward_seconds": 0.0, "is_own": True, "is_small": True}
    assert {} == _charges([file], set())
