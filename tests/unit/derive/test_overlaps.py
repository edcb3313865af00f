"""Bytes that are moved more than once, and stripes that several ranks touch."""

from collections import Counter, defaultdict
from itertools import groupby, zip_longest
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import Row, each, log_of, truth_of, workloads
from tables import Rows, columns, rows_of, types_of

from iomine.derive import file_access, file_overlap, in_order, traces
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import read_log

HOSTS = {0: "cn001", 1: "cn002", 2: "cn001", 3: "cn001"}
FILES = (-7, 3, 2**62)
NEEDING_OFFSETS = (
    *("touched_bytes", "again_rank_bytes", "again_host_bytes", "again_bytes", "overlap_bytes", "overlap_rank_count"),
    *("straddle_count", "shared_stripe_count"),
)

_SEGMENT = st.fixed_dictionaries(
    {
        "rank": st.sampled_from([*HOSTS]),
        "offset_bytes": st.integers(0, 40),
        "length_bytes": st.integers(0, 12),
        "start_seconds": st.integers(0, 4).map(float),
    }
)
# Some requests of one file and direction; now and then the offset of one is not known.
_OF_FILE = st.tuples(
    st.fixed_dictionaries({"file_id": st.sampled_from(FILES), "op": st.sampled_from(["read", "write"])}),
    st.lists(_SEGMENT, min_size=4, max_size=20),
    st.sampled_from([{}, {}, {}, {"offset_bytes": -1, "length_bytes": 1}]),
)
_TRACES = st.tuples(st.lists(_OF_FILE, max_size=4), st.randoms(use_true_random=False)).map(
    lambda drawn: drawn[1].sample(
        rows := [of_file | row | odd for of_file, rows, odd in drawn[0] for row, odd in zip_longest(rows, [odd], fillvalue={})],
        len(rows),
    )
)
# Stripe sizes of the components of a file's layout, and how many bytes each component covers.
_LAYOUT = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 25)), min_size=1, max_size=3)


def layout_rows(file_id: int, layout: Rows, **more: int) -> list[dict[str, Any]]:
    start, rows = 0, []
    for component, (size, length) in enumerate(layout):
        rows.append({"file_id": file_id, "rank": -1, "component": component, "stripe_bytes": size, "extent_start_bytes": start})
        start += length
    return [row | more for row in rows]


def overlaps(rows: Rows, layouts: Rows = (), layer: str = "posix") -> list[dict[str, Any]]:
    ranks = [{"rank": rank, "host": host} for rank, host in HOSTS.items()]
    tables = {
        "segment": [columns("segment", [{"layer": layer, **row} for row in rows])],
        "dxt_file": [columns("dxt_file", ranks)],
    }
    if layouts:
        tables["lustre_component"] = [columns("lustre_component", layouts)]
    return rows_of(file_overlap(tables, in_order(traces(tables))))


def stripe(layout: Rows, byte: int) -> tuple[int, int]:
    """Component and number of the stripe of a byte."""
    starts = [sum(length for _, length in layout[:index]) for index in range(len(layout))]
    component = max(index for index, start in enumerate(starts) if start <= byte)
    return component, byte // layout[component][0]


def overlap_by_hand(rows: Rows, layout: Rows | None) -> dict[str, Any]:
    """A row from all requests of one file and direction, byte by byte."""
    moved = sum(row["length_bytes"] for row in rows)
    found = {"layer": "posix", "file_id": rows[0]["file_id"], "op": rows[0]["op"], "moved_bytes": moved}
    if any(row["offset_bytes"] < 0 for row in rows):
        return found | dict.fromkeys(NEEDING_OFFSETS)
    by_rank: dict[int, set[int]] = defaultdict(set)
    by_host: dict[str, set[int]] = defaultdict(set)
    straddling = 0
    for row in rows:
        touched = range(row["offset_bytes"], row["offset_bytes"] + row["length_bytes"])
        by_rank[row["rank"]] |= {*touched}
        by_host[HOSTS[row["rank"]]] |= {*touched}
        straddling += len({stripe(layout, byte) for byte in touched}) > 1 if layout else 0
    of_ranks = [touched for touched in by_rank.values() if touched]
    touchers = Counter(byte for touched in of_ranks for byte in touched)
    several = {byte for byte, count in touchers.items() if count > 1}
    return found | {
        "touched_bytes": len(touchers),
        "again_rank_bytes": moved - sum(map(len, of_ranks)),
        "again_host_bytes": sum(map(len, of_ranks)) - sum(map(len, by_host.values())),
        "again_bytes": moved - len(touchers),
        "overlap_bytes": len(several),
        "overlap_rank_count": sum(bool(touched & several) for touched in of_ranks),
        "straddle_count": straddling if layout else None,
        "shared_stripe_count": shared_stripes(of_ranks, layout) if layout else None,
    }


def shared_stripes(of_ranks: list[set[int]], layout: Rows) -> int:
    ranks_of_stripe = Counter(number for touched in of_ranks for number in {stripe(layout, byte) for byte in touched})
    return sum(count > 1 for count in ranks_of_stripe.values())


@settings(deadline=None)
@given(_TRACES, st.dictionaries(st.sampled_from(FILES), _LAYOUT, min_size=1))
def test_overlaps_equal_brute_force(rows: Rows, layouts: dict[int, Rows]) -> None:
    """Whatever the order of a trace, each file and direction gives what going through it byte by byte gives."""

    def key(row):
        return row["file_id"], row["op"] == "write"

    expected = [
        overlap_by_hand(list(found), layouts.get(file_id)) for (file_id, _), found in groupby(sorted(rows, key=key), key=key)
    ]
    assert expected == overlaps(rows, [row for file_id, layout in layouts.items() for row in layout_rows(file_id, layout)])


@settings(deadline=None)
@given(_TRACES, st.integers(0, 2**56))
def test_far_offsets_make_no_difference(rows: Rows, far: int) -> None:
    """Where in the file it all happens changes nothing of what is found."""
    shifted = [row | {"offset_bytes": row["offset_bytes"] + far} for row in rows if row["offset_bytes"] >= 0]
    assert overlaps([row for row in rows if row["offset_bytes"] >= 0]) == overlaps(shifted)


@settings(deadline=None)
@given(_TRACES)
def test_touched_bytes_are_those_of_the_order(rows: Rows) -> None:
    """Bytes moved and touched are what the table of accesses says, which finds them in another way."""
    found = traces({"segment": [columns("segment", [{"layer": "posix", **row} for row in rows])]})
    names = ("layer", "file_id", "op", "moved_bytes", "touched_bytes")
    accesses = [{name: row[name] for name in names} for row in rows_of(file_access(in_order(found)))]
    assert accesses == [{name: row[name] for name in names} for row in overlaps(rows)]


def test_columns_are_those_of_the_table() -> None:
    """All columns of the table come, in the types of the schema."""
    tables = {"segment": [columns("segment", [{"layer": "posix", "op": "read", "length_bytes": 1}])]}
    assert {field.name: field.type for field in arrow_schema("file_overlap") if field.name != "log_id"} == types_of(
        "file_overlap", file_overlap(tables, in_order(traces(tables)))
    )


def test_nothing_without_a_trace() -> None:
    """A log without a trace has no rows, nor has one whose trace holds no requests."""
    assert {} == file_overlap({}, [])
    assert [] == overlaps([])


def test_neighbours_do_not_overlap() -> None:
    """Ranks that touch the bytes next to those that others share have no part in them."""
    rows = [{"op": "write", "offset_bytes": offset, "length_bytes": 5, "rank": rank} for rank, offset in enumerate((0, 5, 5, 10))]
    (row,) = overlaps(rows)
    assert (5, 2) == (row["overlap_bytes"], row["overlap_rank_count"])


def test_requests_without_length() -> None:
    """Requests that moved nothing touch nothing."""
    (row,) = overlaps([{"op": "read", "offset_bytes": 5}], layout_rows(0, [(4, 9)]))
    assert [0] * 8 == [row[name] for name in NEEDING_OFFSETS]


def test_requests_without_offsets() -> None:
    """What needs offsets is NULL for a file and direction with an offset that is not to be believed, and only there."""
    layout = layout_rows(0, [(4, 9)])
    for odd in ({"offset_bytes": -1}, {"offset_bytes": 2**61}, {"offset_bytes": 0, "length_bytes": 2**61}):
        rows = [{"op": "write", "length_bytes": 5, "rank": rank} | odd for rank in (0, 1)]
        sound = [{"op": "read", "offset_bytes": 8, "length_bytes": 5, "rank": rank} for rank in (0, 2)]
        read, write = overlaps([*rows, *sound], layout, layer="mpiio")
        assert [None] * 8 == [write[name] for name in NEEDING_OFFSETS]
        assert [5, 0, 5, 5, 5, 2, 2, 2] == [read[name] for name in NEEDING_OFFSETS]


def test_files_too_far_apart() -> None:
    """Files that add up to more than 64 bits hold have no overlaps that are known, and what was moved is."""
    rows = [
        {"file_id": file_id, "op": "read", "offset_bytes": offset, "length_bytes": 7}
        for file_id in range(5)
        for offset in (0, 2**60)
    ]
    for row in overlaps(rows):
        assert 14 == row["moved_bytes"]
        assert [None] * 8 == [row[name] for name in NEEDING_OFFSETS]


def test_hosts_that_are_not_known() -> None:
    """Whether a host's ranks share what they touch is not known where nothing names the host of one of them."""
    rows = [{"file_id": file_id, "op": "read", "length_bytes": 5, "rank": rank} for file_id, rank in ((1, 0), (1, 9), (2, 2))]
    assert [(None, 5), (0, 0)] == [(row["again_host_bytes"], row["again_bytes"]) for row in overlaps(rows)]


@pytest.mark.parametrize(
    "odd",
    [
        [{"stripe_bytes": 0}],
        [{"stripe_bytes": -1}],
        [{"extent_start_bytes": -5}],
        [{}, {"stripe_bytes": 0, "extent_start_bytes": 9}],
        [{"stripe_bytes": None, "extent_start_bytes": None}],
    ],
)
def test_layouts_that_make_no_sense(odd: Rows) -> None:
    """A layout without a stripe size, or with a component before the file's begin, is none; another file's is not harmed."""
    sound = {"file_id": 2, "stripe_bytes": 4, "extent_start_bytes": 0}
    rows = [{"file_id": file_id, "op": "write", "offset_bytes": 3, "length_bytes": 2} for file_id in (1, 2)]
    layouts = [sound | {"file_id": 1} | part for part in odd]
    assert [None, 1] == [row["straddle_count"] for row in overlaps(rows, [*layouts, sound])]


def test_layout_of_each_rank() -> None:
    """Where each rank has a record of a file's layout, one is taken; and of its mirrors the first."""
    layouts = [
        {"file_id": 1, "rank": rank, "mirror_id": mirror, "stripe_bytes": 4 * mirror + 3 * rank, "extent_start_bytes": 0}
        for rank in (0, 1)
        for mirror in (1, 2)
    ]
    (row,) = overlaps([{"file_id": 1, "op": "write", "offset_bytes": 3, "length_bytes": 2}], layouts)
    assert 1 == row["straddle_count"]


def test_stale_mirrors_do_not_serve() -> None:
    """Of mirrors the first in sync counts; where all are stale, the layout says nothing."""
    write = {"op": "write", "offset_bytes": 3, "length_bytes": 2}
    stale = {"mirror_id": 1, "component_flags": 1, "stripe_bytes": 100, "extent_start_bytes": 0}
    in_sync = stale | {"mirror_id": 2, "component_flags": 0, "stripe_bytes": 4}
    layouts = [{"file_id": 1} | stale, {"file_id": 1} | in_sync, {"file_id": 2} | stale]
    rows = overlaps([{"file_id": file_id} | write for file_id in (1, 2)], layouts)
    assert [1, None] == [row["straddle_count"] for row in rows]


def test_layout_that_starts_after_the_requests() -> None:
    """A layout with a hole before its first component is taken from there for what lies before it."""
    rows = [{"file_id": file_id, "op": "write", "offset_bytes": 3, "length_bytes": 2} for file_id in (1, 2)]
    layouts = [{"file_id": file_id, "stripe_bytes": size, "extent_start_bytes": 2**61} for file_id, size in ((1, 4), (2, 100))]
    assert [1, 0] == [row["straddle_count"] for row in overlaps(rows, layouts)]


def test_many_stripes_are_counted_one_by_one() -> None:
    """Two ranks that both write a terabyte share each of its stripes."""
    rows = [{"op": "write", "length_bytes": 2**40, "rank": rank} for rank in (0, 1)]
    (row,) = overlaps(rows, layout_rows(0, [(2**16, 2**20), (2**20, 2**50)]))
    assert 2**4 + 2**20 - 1 == row["shared_stripe_count"]


def _claims(row: Row) -> bool:
    truth = truth_of(row)
    uses = ("mpiio_used", "stdio_heavy", "hdf5_used", "collective_writes", "collective_reads")
    return bool(truth.get("dxt") and truth.get("self_accounting") and not any(truth["truth"].get(use) for use in uses))


@pytest.mark.parametrize("row", each(workloads(), _claims))
def test_known_workloads(row: Row) -> None:
    """Bytes are moved again in a program that says so, and in no other."""
    tables = read_log(log_of(row)).tables
    rows = rows_of(file_overlap(tables, in_order(traces(tables))))
    for op in ("read", "write"):
        redundant = truth_of(row)["truth"].get(f"redundant_{op}s")
        if redundant is not None:
            of_op = [found for found in rows if found["op"] == op]
            assert redundant == (sum(found["again_bytes"] for found in of_op) > 0)
