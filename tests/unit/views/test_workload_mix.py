"""How `workload_mix` merges the classes of many logs, against the function that makes classes of phases."""

import random
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cache
from itertools import combinations
from typing import Any, Final

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows_in import BY_NAME, stage

from iomine.derive.model.similarity import ALIKE, joined_by_likeness
from iomine.schema.registry import arrow_schema
from iomine.views.questions import find_question

VIEW: Final = BY_NAME["main.workload_mix"]
QUESTION: Final = find_question("cli/workload")
KIND: Final = ("cluster", "layer", "op", "access", "request_order", "is_collective")
MEASURES: Final = ("rank_count", "requests_per_rank", "bytes_per_rank", "request_bytes")
# Values near each other, so that chains form: each is like its neighbour, and the ends are not alike.
CLASSES: Final = st.lists(
    st.fixed_dictionaries(
        {
            "cluster": st.sampled_from(["x", "x", "y"]),
            "layer": st.just("posix"),
            "op": st.just("read"),
            "access": st.sampled_from(["own", "own", None]),
            "request_order": st.just("single"),
            "is_collective": st.sampled_from([False, False, None]),
            "rank_count": st.sampled_from([9, 10, 11, 12, 13]),
            "requests_per_rank": st.sampled_from([0, 10, 10, 10]),
            "bytes_per_rank": st.sampled_from([81, 90, 91, 99, 100]),
            "request_bytes": st.sampled_from([8, 9, 10, 11]),
            "moved_bytes": st.integers(1, 30),
            "ior_options": st.sampled_from(["-a", "-b"]),
            "log_id": st.sampled_from("abc"),
        }
    ),
    min_size=1,
    max_size=60,
)


# Databases that all examples share.
_open = ExitStack()


@cache
def _database() -> duckdb.DuckDBPyConnection:
    return _open.enter_context(stage(VIEW, {}))


@cache
def _asked() -> duckdb.DuckDBPyConnection:
    return _open.enter_context(stage(QUESTION, {"main.phase_class": [{"log_id": "a"}]}))


def _merged(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    con = _database()
    table = pa.Table.from_pylist(list(rows), pa.schema([field for field in _columns() if field.name in rows[0]]))
    con.register("rows", table)
    con.execute("DELETE FROM main.phase_class")
    con.execute(f"INSERT INTO main.phase_class ({', '.join(table.column_names)}) FROM rows")
    return con.sql(VIEW.sql).to_arrow_table().to_pylist()


def _columns() -> list[pa.Field]:
    return [*arrow_schema("phase_class"), pa.field("cluster", pa.string()), pa.field("night", pa.date32())]


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in (*KIND, *MEASURES))


def _expected(rows: Sequence[dict[str, Any]]) -> dict[tuple[Any, ...], tuple[int, int, int, str]]:
    """Weight, classes, logs and options of each class, by the kind and measures of its heaviest."""
    same = defaultdict(list)
    for row in rows:
        same[_key(row)].append(row)

    def rank(key: tuple[Any, ...]) -> tuple[Any, ...]:
        return (-sum(row["moved_bytes"] for row in same[key]), *((value is None, value or 0) for value in key))

    points = sorted(same, key=rank)
    kinds = {kind: number for number, kind in enumerate(dict.fromkeys(key[: len(KIND)] for key in points))}
    measures = np.array([key[len(KIND) :] for key in points], np.float64)
    classes = joined_by_likeness(np.array([kinds[key[: len(KIND)]] for key in points]), measures)
    found = {}
    for number in range(int(classes.max()) + 1):
        members = [points[place] for place in np.flatnonzero(classes == number)]
        held = [row for key in members for row in same[key]]
        options = defaultdict(int)
        for row in same[members[0]]:
            options[row["ior_options"]] += row["moved_bytes"]
        heaviest = min(options, key=lambda name: (-options[name], name))
        found[members[0]] = (sum(row["moved_bytes"] for row in held), len(held), len({row["log_id"] for row in held}), heaviest)
    return found


@pytest.mark.proof
@settings(max_examples=50)
@given(CLASSES)
def test_alike_classes_are_merged_as_phases_are(rows: list[dict[str, Any]]) -> None:
    """The heaviest takes what is like it, then the heaviest of the rest, whatever chains there are between them."""
    merged = _merged(rows)
    got = {_key(row): (row["moved_bytes"], row["class_count"], row["log_count"], row["ior_options"]) for row in merged}
    assert _expected(rows) == got
    for cluster in {row["cluster"] for row in rows}:
        own = [row for row in merged if row["cluster"] == cluster]
        assert list(range(1, len(own) + 1)) == [row["workload_class"] for row in own]
        assert sum(row["workload_bytes_ratio"] for row in own) == pytest.approx(1)
        assert own[-1]["cumulative_bytes_ratio"] == 1


@settings(max_examples=10)
@given(CLASSES, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows: list[dict[str, Any]], chance: random.Random) -> None:
    """Classes, weights and lines are the same each time."""
    other = list(rows)
    chance.shuffle(other)
    assert _merged(rows) == _merged(other)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.booleans()), min_size=1, max_size=7), st.data())
def test_no_fewer_classes_hold_as_much(weights: list[tuple[int, int, bool]], data: st.DataObject) -> None:
    """No smaller set of classes with lines reaches the share; if none does, all that weigh something are taken."""
    by = data.draw(st.sampled_from(["bytes", "cost"]))
    total = sum(weight[by == "cost"] for weight in weights)
    cover = data.draw(st.integers(1, max(total, 1))) / max(total, 1)
    con = _asked()
    con.execute("DELETE FROM main.phase_class")
    for number, (moved_bytes, seconds, has_line) in enumerate(weights, 1):
        # None is like another.
        values = [str(number), 2**number, moved_bytes, seconds, "-w" if has_line else None]
        columns = "cluster, log_id, layer, rank_count, caller_count, bytes_per_rank, moved_bytes, rank_call_seconds, ior_options"
        con.execute(f"INSERT INTO main.phase_class ({columns}) VALUES ('x', $1, $1, 1, 1, $2, $3, $4, $5)", values)
    found = con.sql(QUESTION.sql, params={"weighed_by": by, "cover": cover}).to_arrow_table().to_pylist()
    got = [row["workload_ratio"] * total for row in found if row["ior_options"]]
    lined = [weight[by == "cost"] for weight in weights if weight[2]]
    enough = [size for size in range(len(lined) + 1) for some in combinations(lined, size) if sum(some) >= cover * total - 1e-9]
    expected = min(enough) if enough and total else sum(weight > 0 for weight in lined)
    assert expected == len(got)
    assert sum(sorted(lined)[len(lined) - expected :]) == pytest.approx(sum(got))


def test_the_view_and_the_model_have_one_likeness() -> None:
    """The number stands in SQL too."""
    assert VIEW.sql.count(f">= {ALIKE} *") == len(MEASURES)


@pytest.mark.proof
def test_a_hundred_thousand_logs_are_merged_in_seconds() -> None:
    """300,000 classes of 3,000 programs, whose requests and ranks lie everywhere."""
    chance, programs, count = np.random.default_rng(1), 3_000, 300_000
    program = chance.zipf(1.3, count) % programs
    request = (2 ** chance.integers(6, 25, programs) * chance.choice([1, 1, 0.77, 0.31], programs)).astype(np.int64)[program]
    ranks = (2 ** chance.integers(0, 13, programs) * chance.choice([1, 1, 3, 9], programs))[program]
    per_rank = np.maximum(np.exp(chance.normal(4, 3, programs))[program] * np.exp(chance.normal(0, 0.3, count)), 1).astype(int)
    table = pa.table(
        {
            "cluster": ["x"] * count,
            "log_id": [f"{number:016x}" for number in chance.integers(0, 100_000, count)],
            "phase_class": np.ones(count, np.int64),
            "layer": np.array(["posix", "mpiio"])[chance.integers(0, 2, count)],
            "op": np.array(["read", "write"])[chance.integers(0, 2, count)],
            "access": np.array(["own", "shared"])[chance.integers(0, 2, count)],
            "rank_count": ranks,
            "requests_per_rank": per_rank,
            "bytes_per_rank": per_rank * request,
            "request_bytes": request,
            "moved_bytes": ranks * per_rank * request,
            "ior_options": ["-w"] * count,
        }
    )
    with stage(VIEW, {}) as con:
        con.register("rows", table)
        con.execute(f"INSERT INTO main.phase_class ({', '.join(table.column_names)}) FROM rows")
        before = time.perf_counter()
        merged = con.sql(VIEW.sql).to_arrow_table()
        seconds = time.perf_counter() - before
    assert count == sum(merged["class_count"].to_pylist())
    # Without islands it takes a minute.
    assert seconds < 30
