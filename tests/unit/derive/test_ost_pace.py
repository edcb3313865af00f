"""How fast each OST served, and on which OST a rank's time lies."""

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from striping import Layouts, component, lustre, mirrors, place_by_hand, segment
from tables import Rows, columns, rows_of, types_of

from iomine.derive import Lustre, ost_pace, ost_streams, osts, rank_ost, traces
from iomine.schema.registry import arrow_schema

_NPROCS = 4
_WORDS = ("bytes", "count", "seconds")


def answers(layouts: Layouts, segments: Rows = (), records: Rows = (), nprocs: int = _NPROCS) -> tuple[Any, Any]:
    """Rows of `ost_pace` and of `rank_ost`."""
    tables = {
        "lustre_component": [lustre(layouts)] if layouts else [],
        "segment": [columns("segment", segments)] if segments else [],
        "posix_file": [columns("posix_file", records)] if records else [],
    }
    streams = ost_streams(tables, traces(tables), Lustre(tables, traces(tables)), nprocs)
    return rows_of(ost_pace(streams, nprocs)), rows_of(rank_ost(streams))


def record(file_id: int, rank: int, op: str, amounts: Sequence[float], furthest: int | None = None) -> dict[str, Any]:
    """A record of a file in one direction: bytes, requests and seconds, and the offset of its last byte."""
    last = amounts[0] - 1 if furthest is None else furthest
    reported = {f"{op}_{word}": amount for word, amount in zip(_WORDS, amounts, strict=True)}
    return {"file_id": file_id, "rank": rank, f"max_{op}_offset_bytes": last, **reported}


def _places(layouts: Layouts, file_id: int, begin: int, end: int) -> set[Any]:
    return {place_by_hand(layouts.get(file_id), byte) for byte in range(begin, end)}


def _streams_by_hand(layouts: Layouts, segments: Rows, records: Rows, nprocs: int) -> list[tuple[Any, ...]]:
    """OST, direction, evidence, file, rank and amounts, each request and each byte looked at."""
    lowest = 0 if nprocs == 1 else -1
    traced = {row["file_id"] for row in segments}
    found, reported = [], set()
    for op in ("read", "write"):
        for file_id in {row["file_id"] for row in records}:
            own = [row for row in records if row["file_id"] == file_id]
            end = max(row.get(f"max_{op}_offset_bytes", 0) + 1 for row in own)
            places = _places(layouts, file_id, 0, end) if end > 0 else set()
            # The counters have nothing but 0 where they are left out of a made-up record.
            is_parted = any(row["rank"] < 0 for row in own) and file_id in traced
            if len(places) != 1 or not isinstance(next(iter(places)), int) or is_parted:
                continue
            reported.add((file_id, op))
            for row in own:
                amounts = tuple(row.get(f"{op}_{word}", 0) for word in _WORDS)
                found.append((*places, op, "records", file_id, max(row["rank"], lowest), *amounts))
    for row in segments:
        if (row["file_id"], row["op"]) in reported:
            continue
        offset, length = row["offset_bytes"], row["length_bytes"]
        places = _places(layouts, row["file_id"], offset, offset + max(length, 1)) if offset >= 0 else {""}
        if len(places) == 1 and isinstance(next(iter(places)), int):
            found.append((*places, row["op"], "trace", row["file_id"], max(row["rank"], lowest), length, 1, row["end_seconds"]))
    merged: defaultdict[tuple[Any, ...], list[float]] = defaultdict(lambda: [0, 0, 0.0])
    for *key, size, count, seconds in found:
        if count > 0 and key[4] < nprocs:
            sums = merged[tuple(key)]
            merged[tuple(key)] = [sums[0] + size, sums[1] + count, sums[2] + seconds]
    return [(*key, *sums) for key, sums in merged.items()]


def _pace_by_hand(streams: Sequence[tuple[Any, ...]], nprocs: int) -> list[dict[str, Any]]:
    rows = []
    for ost, op, evidence in {stream[:3] for stream in streams}:
        own = [stream for stream in streams if stream[:3] == (ost, op, evidence)]
        others = [stream for stream in streams if stream[0] != ost and stream[1:3] == (op, evidence)]
        ranks, files = {stream[4] for stream in own}, {stream[3] for stream in own}
        several_ranks = -1 in ranks or len(ranks) > 1 or bool(ranks & {stream[4] for stream in others})
        several_files = len(files) > 1 or bool(files & {stream[3] for stream in others})
        per_byte = [seconds / size for *_, size, _, seconds in own if size > 0]
        rows.append(
            {
                "layer": "posix",
                "ost_id": ost,
                "op": op,
                "evidence": evidence,
                "request_count": sum(stream[6] for stream in own),
                "moved_bytes": sum(stream[5] for stream in own),
                "request_seconds": pytest.approx(sum(stream[7] for stream in own)),
                "rank_count": nprocs if -1 in ranks else len(ranks),
                "file_count": len(files),
                "is_comparable": several_ranks and several_files,
                "typical_seconds_per_byte": pytest.approx(statistics.median_low(per_byte)) if per_byte else None,
                "typical_seconds_per_request": pytest.approx(
                    statistics.median_low(seconds / count for *_, count, seconds in own)
                ),
            }
        )
    return rows


def _rank_osts_by_hand(streams: Sequence[tuple[Any, ...]]) -> dict[int, tuple[int, Any]]:
    spent: defaultdict[int, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
    for ost, _, _, _, rank, _, _, seconds in streams:
        if rank >= 0:
            spent[rank][ost] += seconds
    most = {rank: max(of_rank.items(), key=lambda item: item[1]) for rank, of_rank in spent.items()}
    return {rank: (ost, seconds) for rank, (ost, seconds) in most.items() if seconds > 0.5 * sum(spent[rank].values())}


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["op"], row["evidence"], row["ost_id"]


_FILES = st.sampled_from([-7, 1, 5, 2**62])
_SINGLE = st.lists(st.integers(0, 5), min_size=1, max_size=1).map(lambda ids: [_whole(ids)])
_EIGHTHS = st.integers(0, 64).map(lambda eighths: eighths / 8)
_OPS = st.sampled_from(["read", "write"])


def _whole(ost_ids: Sequence[int]) -> dict[str, Any]:
    return {**component(0, -1, 4, ost_ids), "stripe_pattern": 0, "component_flags": 0}


_LAYOUTS = st.dictionaries(_FILES, st.one_of(_SINGLE, _SINGLE, mirrors()))
_SEGMENTS = st.lists(
    st.builds(
        lambda rank, *values: segment(*values) | {"rank": rank}, st.integers(0, 4), st.integers(-1, 40), st.integers(0, 12),
        _FILES, _OPS, _EIGHTHS,
    ),
    max_size=20,
)  # fmt: skip
_RECORDS = st.lists(
    st.builds(record, _FILES, st.integers(-1, 4), _OPS, st.tuples(st.integers(0, 40), st.integers(0, 9), _EIGHTHS)),
    max_size=12,
)


@settings(deadline=None)
@given(_LAYOUTS, _SEGMENTS, _RECORDS, st.sampled_from([1, 2, _NPROCS]), st.sampled_from([1, 7, 1 << 20]))
def test_pace_equals_request_by_request(layouts: Layouts, segments: Rows, records: Rows, nprocs: int, most: int) -> None:
    """Only requests with a known OST are counted, on that OST, however many requests are looked at at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(osts, "_MOST_RANGES", most)
        patch.setattr(osts, "_MOST_PARTS", most)
        pace, of_ranks = answers(layouts, segments, records, nprocs)
    streams = _streams_by_hand(layouts, segments, records, nprocs) if layouts else []
    assert sorted(_pace_by_hand(streams, nprocs), key=_key) == sorted(pace, key=_key)
    expected = {rank: (ost, pytest.approx(seconds)) for rank, (ost, seconds) in _rank_osts_by_hand(streams).items()}
    assert expected == {row["rank"]: (row["ost_id"], row["request_seconds"]) for row in of_ranks}


def test_striped_files_without_a_trace_show_nothing() -> None:
    """Where nobody knows which OST took the time, no OST gets any of it."""
    assert ([], []) == answers({1: [_whole([1, 2])]}, (), [record(1, 0, "write", (40, 4, 1.0))])


def test_requests_to_several_osts_show_nothing() -> None:
    """A request that touches two OSTs is left out; one beside it is not."""
    pace, _ = answers({1: [_whole([1, 2])]}, [segment(0, 8), segment(8, 4, seconds=2.0)], [record(1, -1, "write", (12, 2, 3.0))])
    assert [(1, 1, 4, 2.0)] == [
        tuple(row[name] for name in ("ost_id", "request_count", "moved_bytes", "request_seconds")) for row in pace
    ]


def test_rank_between_osts_has_none() -> None:
    """A rank that spends half of its time on one OST and half on another is on neither; the next one is."""
    layouts = {1: [_whole([1])], 2: [_whole([2])]}
    records = [record(file, rank, "write", (4, 1, 1.0 + rank * file)) for file in (1, 2) for rank in (0, 1)]
    assert [(1, 2, 3.0)] == [(row["rank"], row["ost_id"], row["request_seconds"]) for row in answers(layouts, (), records)[1]]


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -1.0])
def test_times_that_make_no_sense_are_no_evidence(odd: float) -> None:
    """A record whose time is no time, and a request that ends before it starts, say nothing of an OST."""
    layouts = {1: [_whole([1])], 2: [_whole([1, 2])]}
    records = [record(1, 0, "write", (4, 1, odd)), record(2, 0, "write", (4, 1, 1.0), furthest=40)]
    assert ([], []) == answers(layouts, [segment(0, 4, 2, seconds=odd)], records)


def test_columns_are_those_of_the_tables() -> None:
    """Both tables get their columns in their types, those of whole logs left out."""
    tables = {
        "lustre_component": [lustre({1: [_whole([1])]})],
        "posix_file": [columns("posix_file", [record(1, 0, "write", (4, 1, 1.0))])],
    }
    streams = ost_streams(tables, [], Lustre(tables, []), 2)
    for table, got in (("ost_pace", ost_pace(streams, 2)), ("rank_ost", rank_ost(streams))):
        expected = {field.name: field.type for field in arrow_schema(table) if field.name != "log_id"}
        assert expected == types_of(table, got)
