"""Rows that pictures read, held against the query that they come from and against the requests themselves."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import Row, darshan_rows, each, log_of
from tables import columns, rows_of, types_of

from iomine.derive import Lustre, detail, offset_detail, ost_detail, rank_detail, traces
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import read_log

# Gaps of a second are a pixel, and of an eighth of one at the fine level.
RUN_SECONDS = 2048.0
TOLERANCES = {1: 0.125, 0: 1.0}
MIB = 2**20
LAYERS = ("posix", "mpiio")
MEASURES = ("request_count", "moved_bytes", "busy_seconds", "small_count")

# Gaps and islands, as any SQL textbook has them.
MERGED = """
    WITH reached AS (
        SELECT
            *,
            MAX("end")
                OVER (PARTITION BY part, key, op ORDER BY begin ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reach
        FROM requests
    ),
    numbered AS (
        SELECT
            *,
            SUM(CASE WHEN reach IS NULL OR begin > reach + tolerance THEN 1 ELSE 0 END)
                OVER (PARTITION BY part, key, op ORDER BY begin ROWS UNBOUNDED PRECEDING) AS island
        FROM reached
    )
    SELECT
        part, key, op, MIN(begin) AS begin, MAX("end") AS "end",
        MIN(start_seconds) AS start_seconds, MAX(end_seconds) AS end_seconds,
        COUNT(*) AS request_count, SUM(length_bytes)::BIGINT AS moved_bytes, SUM(end_seconds - start_seconds) AS busy_seconds,
        COUNT(*) FILTER (length_bytes < 1048576) AS small_count, MAX(end_seconds - start_seconds) AS longest_seconds,
        FIRST(start_seconds ORDER BY end_seconds - start_seconds DESC, start_seconds) AS longest_start_seconds
    FROM numbered
    GROUP BY part, key, op, island
    ORDER BY part, key, op, begin
"""


@dataclass(frozen=True)
class Request:
    layer: str = "posix"
    file_id: int = 1
    rank: int = 0
    op: str = "read"
    offset_bytes: int = 0
    length_bytes: int = 1
    start_seconds: float = 0.0
    end_seconds: float = 0.0


def _eighths(most: int) -> st.SearchStrategy[float]:
    # Binary fractions, whose sum does not depend on the order.
    return st.integers(0, most).map(lambda eighths: eighths / 8)


def _lasting(request: Request, seconds: float) -> Request:
    return replace(request, end_seconds=request.start_seconds + seconds)


REQUESTS = st.builds(
    _lasting,
    st.builds(
        Request,
        layer=st.sampled_from(LAYERS),
        file_id=st.integers(-1, 1),
        rank=st.integers(-1, 3),
        op=st.sampled_from(["read", "write"]),
        offset_bytes=st.integers(0, 100) | st.integers(0, 2**15),
        length_bytes=st.sampled_from([0, 1, 50, MIB - 1, MIB]),
        start_seconds=_eighths(40) | _eighths(1000),
    ),
    _eighths(3) | _eighths(100),
)
TRACES = st.lists(REQUESTS, max_size=60) | st.lists(REQUESTS, min_size=30, max_size=60).map(
    lambda found: sorted(found, key=lambda request: (request.rank, request.file_id, request.op, request.start_seconds))
)
BLOCKS = st.sampled_from([1, 7, 1000])


def _tables(requests: list[Request]) -> dict[str, list[dict[str, pa.Array]]]:
    parts = [[asdict(request) for request in requests if request.layer == layer] for layer in LAYERS]
    return {"segment": [columns("segment", part) for part in parts]}


def _ranks(requests: list[Request], run_seconds: float | None = RUN_SECONDS) -> list[dict[str, Any]]:
    tables = _tables(requests)
    return rows_of(rank_detail(traces(tables), run_seconds))


def _offsets(requests: list[Request]) -> list[dict[str, Any]]:
    tables = _tables(requests)
    return rows_of(offset_detail(traces(tables), RUN_SECONDS))


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    # Of a few rows, threads wait for each other.
    with duckdb.connect(config={"threads": 1}) as con:
        yield con


def _merged(con: duckdb.DuckDBPyConnection, requests: list[dict[str, Any]]) -> defaultdict[int, list[dict[str, Any]]]:
    """Merged requests by `part`, all parts in one query: it takes longer to plan than to answer."""
    found = defaultdict(list)
    if requests:
        con.register("requests", pa.Table.from_pylist(requests))
        answer = con.execute(MERGED)
        names = [name for name, *_ in answer.description]
        for part, *values in answer.fetchall():
            found[part].append(dict(zip(names[1:], values, strict=True)))
    return found


@pytest.mark.proof
@settings(deadline=None)
@given(TRACES, BLOCKS)
def test_ranks_equal_the_query(con: duckdb.DuckDBPyConnection, requests: list[Request], block: int) -> None:
    """Each level holds what gaps and islands give in SQL, unless that is more than half of the next finer one."""
    parts = [(layer, level) for layer in LAYERS for level in TOLERANCES]
    merged_of = _merged(
        con,
        [
            asdict(request)
            | {"key": request.rank, "begin": request.start_seconds, "end": request.end_seconds}
            | {"part": part, "tolerance": TOLERANCES[level]}
            for part, (layer, level) in enumerate(parts)
            for request in requests
            if request.layer == layer
        ],
    )
    expected = []
    finer = {layer: sum(request.layer == layer for request in requests) for layer in LAYERS}
    for part, (layer, level) in enumerate(parts):
        merged = merged_of[part]
        if merged and 2 * len(merged) <= finer[layer]:
            finer[layer] = len(merged)
            about = {"layer": layer, "detail_level": level, "tolerance_seconds": TOLERANCES[level], "merged_rank_count": 1}
            expected += [about | {"rank": row.pop("key")} | row for row in merged]
    for row in expected:
        del row["begin"], row["end"]
    with patch.object(detail, "_BLOCK", block):
        got = _ranks(requests)
    assert sorted(expected, key=_place) == sorted(got, key=_place)


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(key) for key in ("layer", "detail_level", "rank", "file_id", "op", "offset_bytes", "start_seconds"))


@pytest.mark.proof
@settings(deadline=None)
@given(TRACES, BLOCKS)
def test_offsets_equal_the_query(con: duckdb.DuckDBPyConnection, requests: list[Request], block: int) -> None:
    """Each file holds what gaps and islands give in SQL, unless that is more than half of its requests."""
    by_file = defaultdict(list)
    for request in requests:
        by_file[request.layer, request.file_id].append(request)
    raw, tolerances = [], []
    for part, ((_, file_id), found) in enumerate(by_file.items()):
        extents = [(request.offset_bytes, request.offset_bytes + request.length_bytes) for request in found]
        tolerances.append((max(end for _, end in extents) - min(begin for begin, _ in extents)) // 2048)
        raw += [
            asdict(request) | {"part": part, "key": file_id, "begin": begin, "end": end, "tolerance": tolerances[part]}
            for request, (begin, end) in zip(found, extents, strict=True)
        ]
    merged_of = _merged(con, raw)
    expected = []
    for part, ((layer, _), found) in enumerate(by_file.items()):
        merged = merged_of[part]
        if 2 * len(merged) <= len(found):
            about = {"layer": layer, "tolerance_bytes": tolerances[part]}
            named = {"key": "file_id", "begin": "offset_bytes", "end": "end_offset_bytes"}
            expected += [about | {named.get(key, key): value for key, value in row.items()} for row in merged]
    with patch.object(detail, "_BLOCK", block):
        got = _offsets(requests)
    assert sorted(expected, key=_place) == sorted(got, key=_place)


@settings(deadline=None)
@given(TRACES, st.integers(2, 40))
@pytest.mark.proof
def test_nothing_is_lost_under_a_cap(requests: list[Request], most_rows: int) -> None:
    """Whatever the cap, a level adds up to the requests, its rows are further apart than its tolerance, and they are few."""
    with patch.object(detail, "_MOST_ROWS", most_rows):
        rows = _ranks(requests)
    layers = {request.layer for request in requests}
    for layer, level in {(row["layer"], row["detail_level"]) for row in rows}:
        shown = [row for row in rows if (row["layer"], row["detail_level"]) == (layer, level)]
        raw = [request for request in requests if request.layer == layer]
        expected = {
            "request_count": len(raw),
            "moved_bytes": sum(request.length_bytes for request in raw),
            "busy_seconds": sum(request.end_seconds - request.start_seconds for request in raw),
            "small_count": sum(request.length_bytes < MIB for request in raw),
        }
        assert expected == {name: sum(row[name] for row in shown) for name in MEASURES}
        assert max(request.end_seconds - request.start_seconds for request in raw) == max(row["longest_seconds"] for row in shown)
        by_key = defaultdict(list)
        for row in shown:
            by_key[row["rank"], row["op"]].append(row)
        for of_key in by_key.values():
            gaps = [later["start_seconds"] - row["end_seconds"] for row, later in pairwise(of_key)]
            assert all(gap > of_key[0]["tolerance_seconds"] for gap in gaps)
        (tolerance,) = {row["tolerance_seconds"] for row in shown}
        all_together = min(row["rank"] for row in shown) == max(row["rank"] for row in shown)
        assert len(shown) <= most_rows // len(layers) or (all_together and tolerance == 4 * TOLERANCES[level])


def _bursts(ranks: int, bursts: int, gap: float) -> list[Request]:
    """Bursts of four requests that overlap, the same on every rank."""
    starts = [(rank, burst * gap) for rank in range(ranks) for burst in range(bursts)]
    return [_lasting(Request(rank=rank, start_seconds=start), 0.0625) for rank, start in starts for _ in range(4)]


@pytest.mark.parametrize(
    ("most_rows", "tolerance", "ranks", "together", "row_count"),
    [
        (40, 0.125, [0, 1, 2, 3, 4], [1, 1, 1, 1, 1], 40),
        (39, 0.25, [0, 1, 2, 3, 4], [1, 1, 1, 1, 1], 5),
        (4, 0.5, [0, 2, 4], [2, 2, 1], 3),
        (2, 0.5, [0, 4], [4, 1], 2),
        (1, 0.5, [0], [5], 1),
    ],
)
def test_cap_doubles_the_tolerance_before_ranks_share_rows(
    most_rows: int, tolerance: float, ranks: list[int], together: list[int], row_count: int
) -> None:
    """A level with too many rows is blurred, up to four times as much, then neighbouring ranks are shown as one; rows say so."""
    with patch.object(detail, "_MOST_ROWS", most_rows):
        shown = [row for row in _ranks(_bursts(5, 8, 0.25)) if row["detail_level"] == 1]
    assert row_count == len(shown)
    assert {tolerance} == {row["tolerance_seconds"] for row in shown}
    assert list(zip(ranks, together, strict=True)) == sorted({(row["rank"], row["merged_rank_count"]) for row in shown})


def test_cap_of_offsets_doubles_the_tolerance() -> None:
    """Too many rows of a file's offsets are blurred as far as it takes."""
    requests = [Request(offset_bytes=at * 2**20) for at in range(1024) for _ in range(2)]
    assert [1023 * 2**9] * 1024 == [row["tolerance_bytes"] for row in _offsets(requests)]
    with patch.object(detail, "_MOST_ROWS", 1023):
        (row,) = _offsets(requests)
    assert (2048, 0, 1023 * 2**20 + 1) == (row["request_count"], row["offset_bytes"], row["end_offset_bytes"])
    assert 1023 * 2**11 == row["tolerance_bytes"]


@pytest.mark.parametrize(
    ("gap", "levels"),
    [(0.0625, {1}), (0.25, {1, 0}), (2.0, {1})],
)
def test_level_that_saves_less_than_half_is_left_out(gap: float, levels: set[int]) -> None:
    """Where merging further leaves more than half of the rows, the finer level, or the trace, is what is to be read."""
    assert levels == {row["detail_level"] for row in _ranks(_bursts(2, 8, gap))}
    alone = [Request(start_seconds=2.0 * second) for second in range(8)]
    assert [] == _ranks(alone)
    assert {1} == {row["detail_level"] for row in _ranks(alone * 2)}


@pytest.mark.parametrize(
    "times",
    [
        *((float("nan"), 1.0), (1.0, float("nan")), (-1.0, 1.0), (2.0, 1.0), (1.0, float("inf"))),
        *((float("-inf"), 1.0), (1.0, 1e300), (1e300, 1e300), (5000.0, 5001.0), (-1e300, 1e300)),
    ],
)
@pytest.mark.parametrize("run_seconds", [RUN_SECONDS, 0.0])
def test_times_that_make_no_sense_are_left_out(times: tuple[float, float], run_seconds: float) -> None:
    """A request outside the run changes nothing of what is shown, and alone it shows nothing."""
    odd = Request(start_seconds=times[0], end_seconds=times[1], offset_bytes=999)
    sane = _bursts(2, 8, 0.125)
    assert _ranks(sane, run_seconds) == _ranks([sane[0], odd, *sane[1:], odd], run_seconds) != []
    assert _offsets(sane) == _offsets([odd, *sane]) != []
    assert [] == _ranks([odd], run_seconds) == _offsets([odd])


@pytest.mark.parametrize(("offset", "length"), [(-1, 1), (2**62, 1), (0, 2**62), (2**63 - 1, 2**63 - 1)])
def test_offsets_that_make_no_sense_are_left_out(offset: int, length: int) -> None:
    """A request whose place in the file is not known has its place in time."""
    odd = Request(offset_bytes=offset, length_bytes=length)
    sane = _bursts(2, 8, 0.125)
    assert _offsets(sane) == _offsets([odd, *sane]) != []
    assert [] == _offsets([odd, odd])
    assert [2] == [row["request_count"] for row in _ranks([odd, odd])]


def test_sum_beyond_64_bits_is_not_known() -> None:
    """Lengths of a hostile trace that add up to more than 64 bits hold give no sum."""
    (row,) = _ranks([Request(length_bytes=2**62)] * 2)
    assert (2, None) == (row["request_count"], row["moved_bytes"])


def test_run_of_unknown_length() -> None:
    """Without the length of the run the tolerance is a share of what the trace covers."""
    requests = [_lasting(Request(start_seconds=1000.0), 0.125), _lasting(Request(start_seconds=1000.0), 0.0)]
    requests += [_lasting(Request(start_seconds=3040.0 + at), 0.0) for at in (0.0, 0.125, 8.0, 8.0)]
    assert {2048 / 16384} == {row["tolerance_seconds"] for row in _ranks(requests, None)}


def test_no_rows_no_columns() -> None:
    """A log without a trace has none of the tables."""
    for derived in (rank_detail, offset_detail):
        assert {} == derived([], 1.0)
        assert {} == derived([], None)
    assert {} == ost_detail([], Lustre({}, []), 1.0)


LAYOUT = {"file_id": 1, "rank": 0, "component": 0, "stripe_bytes": 64, "stripe_count": 3, "stripe_pattern": 1}
LAYOUT |= {"component_flags": 0, "extent_start_bytes": 0, "extent_end_bytes": -1, "ost_ids": [30, 10, 20]}


def _osts(requests: list[Request]) -> dict[str, pa.Array]:
    tables = _tables(requests) | {"lustre_component": [columns("lustre_component", [LAYOUT])]}
    return ost_detail(traces(tables), Lustre(tables, traces(tables)), RUN_SECONDS)


@pytest.mark.proof
@settings(deadline=None)
@given(TRACES, BLOCKS)
def test_osts_are_those_of_first_bytes(requests: list[Request], block: int) -> None:
    """By OST and direction, rows add up to the POSIX requests that begin there; what has no layout is left out."""
    expected: defaultdict[tuple[int, str], list[float]] = defaultdict(lambda: [0, 0, 0])
    for request in requests * 3:
        if request.layer == "posix" and request.file_id == 1:
            sums = expected[[30, 10, 20][request.offset_bytes // 64 % 3], request.op]
            for index, more in enumerate((1, request.length_bytes, request.end_seconds - request.start_seconds)):
                sums[index] += more
    with patch.object(detail, "_BLOCK", block):
        rows = rows_of(_osts(requests * 3))
    for level in {row["detail_level"] for row in rows}:
        got: defaultdict[tuple[int, str], list[float]] = defaultdict(lambda: [0, 0, 0])
        for row in rows:
            if row["detail_level"] == level:
                for index, name in enumerate(("request_count", "moved_bytes", "busy_seconds")):
                    got[row["ost_id"], row["op"]][index] += row[name]
        assert expected == got
    # Three of each leave at most a third.
    assert bool(expected) == (1 in {row["detail_level"] for row in rows})


def test_osts_see_ranks_as_one() -> None:
    """Requests of several ranks to one OST are one row, and those of one rank to several are several."""
    requests = [Request(rank=rank, offset_bytes=offset) for rank in range(3) for offset in (0, 64)]
    assert [(30, 3), (10, 3)] == [(row["ost_id"], row["request_count"]) for row in rows_of(_osts(requests))]


@pytest.mark.parametrize("name", ["rank_detail", "offset_detail", "ost_detail"])
def test_columns_are_those_of_the_table(name: str) -> None:
    """The columns have the names and types that the table declares."""
    requests = _bursts(2, 8, 0.125)
    tables = _tables(requests)
    got = _osts(requests) if name == "ost_detail" else getattr(detail, name)(traces(tables), RUN_SECONDS)
    assert {field.name: field.type for field in arrow_schema(name)} == {"log_id": pa.string()} | types_of(name, got)


@pytest.mark.parametrize("row", each(darshan_rows(), lambda row: row["file"].startswith("dxt-explorer")))
def test_real_traces_add_up(row: Row) -> None:
    """A level of a real trace holds all of its requests and bytes in less than half as many rows."""
    log = read_log(log_of(row))
    found = {trace.layer: trace for trace in traces(log.tables)}
    rows = rows_of(rank_detail(list(found.values()), log.job.run_seconds))
    assert rows
    for layer, level in {(row["layer"], row["detail_level"]) for row in rows}:
        shown = [row for row in rows if (row["layer"], row["detail_level"]) == (layer, level)]
        trace = found[layer]
        assert 2 * len(shown) <= len(trace.starts)
        assert (len(trace.starts), trace.lengths.sum()) == (
            sum(row["request_count"] for row in shown),
            sum(row["moved_bytes"] for row in shown),
        )
