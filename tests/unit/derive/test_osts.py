"""Bytes, requests and time by OST."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import Row, darshan_rows, each, log_of
from striping import STALE, Component, Layouts, component, lustre, mirrors, place_by_hand, segment
from tables import Rows, columns, rows_of, types_of

from iomine.derive import Lustre, ost_io, osts, traces
from iomine.derive.layouts import MIRRORED, NO_LAYOUT, NO_OFFSET, NO_OST, NO_SENSE, ON_MDT, Place
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import read_log

_MOST = 2**63 - 1


def answer(layouts: Layouts = {}, segments: Rows = (), records: Rows = (), **more: Any) -> list[dict[str, Any]]:  # noqa: B006
    tables = {
        "lustre_component": [lustre(layouts)],
        "segment": [columns("segment", segments)] if segments else [],
        "posix_file": [columns("posix_file", records)],
        **more,
    }
    return rows_of(ost_io(tables, traces(tables), Lustre(tables, traces(tables))))


def by_place(rows: Rows, measure: str) -> dict[Place, Any]:
    assert len({(row["op"], row["evidence"]) for row in rows}) == 1
    return {row["reason"] or row["ost_id"]: row[measure] for row in rows}


def moved(*args: Any, **more: Any) -> dict[Place, Any]:
    return by_place(answer(*args, **more), "moved_bytes")


def rows_by_hand(layouts: Layouts, segments: Rows) -> dict[tuple[Place, str], tuple[int, int, float, int]]:
    """Requests, bytes, time and files by place and direction, byte by byte."""
    requests, sizes = defaultdict(int), defaultdict(int)
    seconds, files = defaultdict(float), defaultdict(set)
    for row in segments:
        offset, length = row["offset_bytes"], row["length_bytes"]
        first = offset if offset >= 0 else -max(length, 1)
        places = [place_by_hand(layouts.get(row["file_id"]), first + byte) for byte in range(max(length, 1))]
        for place in set(places):
            key = place, row["op"]
            requests[key] += 1
            sizes[key] += places.count(place) if length else 0
            seconds[key] += row["end_seconds"] * places.count(place) / len(places)
            files[key].add(row["file_id"])
    return {key: (requests[key], sizes[key], pytest.approx(seconds[key]), len(files[key])) for key in requests}


_LAYOUTS = st.dictionaries(st.sampled_from([-7, 1, 2**62]), mirrors())
_SEGMENTS = st.lists(
    st.builds(
        segment,
        st.integers(-1, 70),
        st.integers(0, 80),
        st.sampled_from([-7, 1, 2**62, 5]),
        st.sampled_from(["read", "write"]),
        st.integers(0, 64).map(lambda eighths: eighths / 8),
    ),
    max_size=20,
)


@settings(deadline=None)
@given(_LAYOUTS, _SEGMENTS, st.sampled_from([1, 7, 1 << 20]))
def test_trace_equals_byte_by_byte(layouts: Layouts, segments: Rows, most: int) -> None:
    """Each byte is on the OST of its stripe or under its reason, however many requests are taken apart at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(osts, "_MOST_RANGES", most)
        patch.setattr(osts, "_MOST_PARTS", most)
        rows = answer(layouts, segments)
    assert {"trace"} >= {row["evidence"] for row in rows}
    assert all((row["ost_id"] is None) != (row["reason"] is None) for row in rows)
    got = {
        (row["reason"] or row["ost_id"], row["op"]): (
            *(row["request_count"], row["moved_bytes"], row["request_seconds"], row["file_count"]),
        )
        for row in rows
    }
    assert rows_by_hand(layouts, segments) == got
    assert sum(row["length_bytes"] for row in segments) == sum(row["moved_bytes"] for row in rows)


@settings(deadline=None)
@given(
    _LAYOUTS, st.lists(st.tuples(st.sampled_from([-7, 1, 2**62, 5]), st.integers(1, 200)), max_size=4, unique_by=lambda at: at[0])
)
def test_files_written_once_are_spread_exactly(layouts: Layouts, ends: Sequence[tuple[int, int]]) -> None:
    """Where every byte of files was written once, spreading what records say puts each where a trace would."""
    records = [
        {"file_id": file_id, "write_bytes": end, "write_count": 1, "max_write_offset_bytes": end - 1} for file_id, end in ends
    ]
    traced = answer(layouts, [segment(0, end, file_id, seconds=0.0) for file_id, end in ends])
    spread = answer(layouts, (), records)
    assert [row["evidence"] for row in spread] == ["spread"] * len(traced)
    for measure in ("ost_id", "reason", "moved_bytes", "file_count"):
        assert [row[measure] for row in traced] == [row[measure] for row in spread]


@settings(deadline=None)
@given(_LAYOUTS, st.lists(st.integers(1, 2**50), min_size=1, max_size=4), st.integers(-1, 200))
def test_spread_bytes_add_up(layouts: Layouts, sizes: Sequence[int], furthest: int) -> None:
    """However records' bytes compare with the part of the file that they went to, each is counted once."""
    records = [{"file_id": 1, "rank": rank, "read_bytes": size, "read_count": 1} for rank, size in enumerate(sizes)]
    rows = answer(layouts, (), [{**record, "max_read_offset_bytes": furthest} for record in records])
    assert sum(sizes) == sum(row["moved_bytes"] for row in rows)


def test_stripes_count_from_the_beginning_of_the_file() -> None:
    """A component that begins amid a round of stripes goes on with the OST whose turn it is."""
    layout = {1: [component(0, 10, 10, [7]), component(10, -1, 10, [3, 4, 5])]}
    assert {4: 10, 5: 2} == moved(layout, [segment(10, 12)])


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        pytest.param([component(0, -1, 4, [1], stripe_pattern=2)], ON_MDT, id="pattern of liblustreapi"),
        pytest.param([component(0, -1, 4, [], stripe_pattern=0x100)], ON_MDT, id="pattern as it is on disk"),
        pytest.param([component(0, -1, 4, [])], NO_OST, id="not yet instantiated"),
        pytest.param([component(100, -1, 4, [1])], NO_OST, id="beyond all components"),
        pytest.param([], NO_OST, id="a record without components"),
        pytest.param([component(0, -1, 4, [1]), component(0, -1, 4, [1], mirror_id=1)], MIRRORED, id="mirrors"),
        pytest.param([component(0, -1, 0, [1])], NO_SENSE, id="no stripe size"),
        pytest.param([component(0, -1, -4, [1])], NO_SENSE, id="negative stripe size"),
        pytest.param([component(0, -1, 2**60 + 2, [1])], NO_SENSE, id="liblustreapi's word for a default"),
        pytest.param([component(0, -1, 4, [1, 2], stripe_count=3)], NO_SENSE, id="OSTs missing"),
        pytest.param([component(0, -1, 4, [1, -1])], NO_SENSE, id="negative OST"),
        pytest.param([component(-5, -1, 4, [1])], NO_SENSE, id="negative start"),
        pytest.param([component(5, 4, 4, [1])], NO_SENSE, id="ends before it starts"),
        pytest.param([component(5, -_MOST, 4, [1])], NO_SENSE, id="negative end"),
    ],
)
def test_no_ost_is_known(parts: Sequence[Component], reason: str) -> None:
    """What has no OST that is known keeps its bytes, requests and time, and says why."""
    [row] = answer({1: parts}, [segment(0, 9)])
    expected = {"ost_id": None, "reason": reason, "request_count": 1, "moved_bytes": 9, "request_seconds": 1.0, "file_count": 1}
    assert expected == {name: row[name] for name in expected}


def test_stale_mirror_serves_nothing() -> None:
    """Bytes that one mirror alone has in sync lie on its OSTs."""
    mirrors = [component(0, -1, 4, [1], component_flags=0x10 | STALE), component(0, -1, 4, [2], component_flags=0x10)]
    assert {2: 9} == moved({1: mirrors}, [segment(0, 9)])


def test_flags_that_are_not_known() -> None:
    """Records of version 1 know neither pattern nor flags, and are striped."""
    layout = {1: [component(0, -1, 4, [1, 2], stripe_pattern=-1, component_flags=-1)]}
    assert {1: 5, 2: 4} == moved(layout, [segment(0, 9)])


def test_request_counts_once_on_an_ost() -> None:
    """A request that meets an OST in two components, or twice in an overstriped one, is one request to it."""
    layout = {1: [component(0, 8, 4, [1, 2]), component(8, -1, 4, [1, 1])]}
    assert {1: 1, 2: 1} == by_place(answer(layout, [segment(0, 16)]), "request_count")


@pytest.mark.parametrize(
    ("offset", "length"),
    [(-1, 9), (-_MOST, 9), (_MOST, 9), (2**60 + 1, 9), (0, 2**60 + 1), (5, 2**63 - 2**10), (-_MOST, 2**63 - 2**10)],
)
def test_requests_that_cannot_be_trusted(offset: int, length: int) -> None:
    """A request with an offset or a length that no file has is counted to the byte, and on no OST."""
    layout = {1: [component(0, -1, 4, [1, 2])]}
    assert {NO_OFFSET: length, 1: 5, 2: 4} == moved(layout, [segment(offset, length), segment(0, 9)])


def test_negative_length() -> None:
    """A negative length is no bytes."""
    assert {2: 0} == moved({1: [component(0, -1, 4, [1, 2])]}, [segment(4, -9)])


def test_sum_beyond_64_bits_is_not_known() -> None:
    """Bytes that 64 bits do not hold are NULL, and those of other OSTs stay."""
    rows = answer({1: [component(0, -1, 2**60, [1, 2])]}, [segment(0, 2**60)] * 8 + [segment(2**60, 3)])
    assert {1: None, 2: 3} == by_place(rows, "moved_bytes")
    assert {1: 8, 2: 1} == by_place(rows, "request_count")
    # Three times too little for a float to notice.
    assert {NO_OFFSET: None} == moved({}, [segment(-1, 2**63 - 2**10), *[segment(-1, 511)] * 3])


@pytest.mark.parametrize("end", [float("nan"), float("inf"), -1.0, 1e300])
def test_odd_times(end: float) -> None:
    """A request whose times make no sense counts, and adds no time."""
    [row] = answer({}, [segment(0, 9), segment(0, 9, seconds=end)])
    assert (2, 18, 1.0) == (row["request_count"], row["moved_bytes"], row["request_seconds"])


def test_other_layers_are_left_out() -> None:
    """What MPI-IO moved is counted where it passed through POSIX, and nowhere else."""
    above = {**segment(0, 9), "layer": "mpiio"}
    tables = {"segment": [columns("segment", [above]), columns("segment", [segment(0, 5)])]}
    [row] = rows_of(ost_io(tables, traces(tables), Lustre(tables, traces(tables))))
    assert ("posix", NO_LAYOUT, 5) == (row["layer"], row["reason"], row["moved_bytes"])


def test_each_rank_has_a_record_of_the_layout() -> None:
    """Layouts that several ranks recorded are no mirrors."""
    layout = {1: [component(0, -1, 4, [1])]}
    assert {1: 9} == moved(segments=[segment(0, 9)], lustre_component=[lustre(layout, 0), lustre(layout, 1)])


def test_what_a_trace_lacks_is_spread() -> None:
    """What a record counts beyond its file's trace is spread, with the time that is left."""
    record = {"file_id": 1, "write_bytes": 24, "write_count": 3, "write_seconds": 4.0, "max_write_offset_bytes": 15}
    rows = answer({1: [component(0, -1, 4, [1, 2, 3])]}, [segment(0, 4)], [record])
    assert {1: 4} == by_place([row for row in rows if row["evidence"] == "trace"], "moved_bytes")
    spread = [row for row in rows if row["evidence"] == "spread"]
    assert {1: 10, 2: 5, 3: 5} == by_place(spread, "moved_bytes")
    assert {1: 1.5, 2: 0.75, 3: 0.75} == by_place(spread, "request_seconds")
    assert {1: None, 2: None, 3: None} == by_place(spread, "request_count")


def test_spread_requests_of_a_file_on_one_ost() -> None:
    """Where a file has one OST only, its requests went there; where it has none that is known, they are kept."""
    record = {"write_bytes": 24, "write_count": 3, "max_write_offset_bytes": 23}
    rows = answer({1: [component(0, -1, 4, [7, 7])]}, (), [{"file_id": 1, **record}, {"file_id": 2, **record}])
    assert {7: 3, NO_LAYOUT: 3} == by_place(rows, "request_count")


def test_records_of_nobody_knows_what() -> None:
    """Counters that are negative, or sums that 64 bits do not hold, end as nothing and as NULL."""
    odd = {"file_id": 1, "write_bytes": -1, "write_count": -1, "write_seconds": -1.0, "max_write_offset_bytes": -1}
    assert [] == answer({}, (), [odd])
    huge = {"file_id": 1, "write_bytes": _MOST, "write_count": _MOST, "write_seconds": 1e308, "max_write_offset_bytes": _MOST}
    [row] = answer({}, (), [huge, {**huge, "rank": 1}])
    assert (NO_OFFSET, None, None, None) == tuple(
        row[name] for name in ("reason", "moved_bytes", "request_count", "request_seconds")
    )


def test_no_rows_no_columns() -> None:
    """A log without POSIX records and trace gives no columns."""
    assert {} == ost_io({}, [], Lustre({}, []))


def test_columns_are_those_of_the_table() -> None:
    """The table gets its columns in its types, those of whole logs left out."""
    tables = {"segment": [columns("segment", [segment(0, 9)])]}
    got = ost_io(tables, traces(tables), Lustre(tables, traces(tables)))
    expected = {field.name: field.type for field in arrow_schema("ost_io") if field.name != "log_id"}
    assert expected == types_of("ost_io", got)


def _has_both(row: Row) -> bool:
    return {"LUSTRE", "DXT_POSIX"} <= {module.split(":")[0] for module in row["modules"].split(";")}


def _total(rows: Iterable[Mapping[str, Any]], measure: str) -> float:
    return sum(row[measure] for row in rows)


@pytest.mark.parametrize("row", each(darshan_rows(), _has_both))
def test_real_logs_add_up(row: Row) -> None:
    """On every real log, OSTs and what is on none hold the bytes and the time of its trace, and with spread ones its records'."""
    tables = read_log(log_of(row)).tables
    found = [trace for trace in traces(tables) if trace.layer == "posix"]
    rows = rows_of(ost_io(tables, traces(tables), Lustre(tables, traces(tables))))
    traced = [each_row for each_row in rows if each_row["evidence"] == "trace"]
    assert sum(int(trace.lengths.sum()) for trace in found) == _total(traced, "moved_bytes")
    assert sum(trace.seconds.sum() for trace in found) == pytest.approx(_total(traced, "request_seconds"))
    recorded = sum(int(part[name].to_numpy().sum()) for part in tables["posix_file"] for name in ("read_bytes", "write_bytes"))
    assert recorded == _total(rows, "moved_bytes")
    assert any(each_row["ost_id"] is not None for each_row in rows)
