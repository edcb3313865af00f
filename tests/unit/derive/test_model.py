"""The I/O model, held against its definitions request by request."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from tables import columns

from iomine.derive import mpiio_posix, phase_layers, phase_model, phases, traces
from iomine.derive.model import Model
from iomine.derive.model.calls import UNKNOWN
from iomine.derive.model.law import law
from iomine.derive.model.replay import replayed
from iomine.derive.model.similarity import joined_by_likeness
from iomine.derive.trace import Tables
from iomine.sources.darshan import assembled

FILE = 3
SIZE = 1 << 20
Request = dict[str, Any]


def tables_of(mpiio: Sequence[Request], posix: Sequence[Request], **records: list[Request]) -> Tables:
    """Traces of both layers, and the records of tables."""
    parts = {"mpiio": mpiio, "posix": posix}
    segments = [columns("segment", [{"layer": layer, **row} for row in rows]) for layer, rows in parts.items() if rows]
    tables: dict[str, list[Mapping[str, Any]]] = {name: [columns(name, rows)] for name, rows in records.items()}
    return tables | ({"segment": segments} if segments else {})


def model_of(mpiio: Sequence[Request], posix: Sequence[Request], nprocs: int = 4, **records: list[Request]) -> Model:
    """The model of traces of both layers, and of the records of tables."""
    tables = tables_of(mpiio, posix, **records)
    found = traces(tables)
    return phase_model(tables, found, phase_layers(tables, found), nprocs, mpiio_posix(tables, found))


def rows_of(model: Model) -> list[dict[str, Any]]:
    return [dict(zip(model.columns, row, strict=True)) for row in zip(*model.columns.values(), strict=True)]


def one(*args: Any, **more: Any) -> dict[str, Any]:
    [row] = rows_of(model_of(*args, **more))
    return row


def request(rank: int, offset: int, start: float, end: float, **more: Any) -> Request:
    """A write of `SIZE`."""
    place = {"file_id": FILE, "rank": rank, "op": "write", "offset_bytes": offset, "length_bytes": SIZE}
    return place | {"start_seconds": start, "end_seconds": end} | more


def by_rank(requests: Sequence[Request]) -> list[Request]:
    """In the order of a trace."""
    return sorted(requests, key=lambda row: (row["rank"], row["file_id"], row["op"], row["start_seconds"]))


def record(table: str, **counters: float) -> dict[str, list[Request]]:
    return {table: [{"file_id": FILE, "rank": -1, **counters}]}


COLLECTIVE = record("mpiio_file", coll_write_count=1)

# Where time goes


_MOMENTS = st.integers(0, 1000).map(lambda milli: milli / 1000)


@st.composite
def _collective_runs(draw: st.DrawFn) -> tuple[list[Request], list[Request]]:
    """Phases of collective calls of 2 to 4 ranks, of which rank 0 alone, or 0 and 1, call POSIX; phases lie 100 s apart."""
    ranks, phases, calls = draw(st.integers(2, 4)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    aggregators = draw(st.integers(1, ranks - 1))
    mpiio, posix = [], []
    for phase in range(phases):
        for rank in range(ranks):
            now = 100.0 * phase
            for call in range(calls):
                start = now + draw(_MOMENTS)
                end = start + 0.5 + draw(_MOMENTS)
                mpiio.append(request(rank, ((phase * calls + call) * ranks + rank) * SIZE, start, end))
                if rank < aggregators:
                    first = start + draw(st.floats(0, 1)) * (end - start)
                    last = first + draw(st.floats(0, 1)) * (end - first)
                    posix.append(
                        request(rank, (phase * calls + call) * ranks * SIZE + rank, first, last, length_bytes=ranks * SIZE)
                    )
                now = end
    return mpiio, posix


def waits_by_hand(mpiio: Sequence[Request], starts: Sequence[float]) -> float:
    """Sum over calls of the mean over ranks of what the last to come is later, cut at the end of the call.

    Args:
        mpiio: the requests.
        starts: when each phase started.
    """
    ranks = {row["rank"] for row in mpiio}
    calls: dict[tuple[int, int], list[Request]] = {}
    for rank in ranks:
        per_phase: Counter[int] = Counter()
        for row in (row for row in by_rank(mpiio) if row["rank"] == rank):
            phase = bisect_right(starts, row["start_seconds"])
            calls.setdefault((phase, per_phase[phase]), []).append(row)
            per_phase[phase] += 1
    total = 0.0
    for rows in calls.values():
        last = max(row["start_seconds"] for row in rows)
        total += sum(min(last, row["end_seconds"]) - row["start_seconds"] for row in rows) / len(ranks)
    return total


def union_by_hand(posix: Sequence[Request]) -> float:
    """Length of the union, moment by moment between all starts and ends."""
    edges = sorted({edge for row in posix for edge in (row["start_seconds"], row["end_seconds"])})
    return sum(
        high - low
        for low, high in pairwise(edges)
        if any(row["start_seconds"] <= low and high <= row["end_seconds"] for row in posix)
    )


@settings(max_examples=200, deadline=None)
@given(_collective_runs())
@pytest.mark.proof
def test_time_of_collective_calls_is_parted_by_its_definition(run: tuple[list[Request], list[Request]]) -> None:
    """Waiting, exchange and storage, and what is counted twice, are those of the definition to the microsecond."""
    mpiio, posix = run
    tables = tables_of(by_rank(mpiio), by_rank(posix), **COLLECTIVE)
    found = traces(tables)
    layers = phase_layers(tables, found)
    rows = rows_of(phase_model(tables, found, layers, 4, {}))
    of_phases = phases({"mpiio": layers["mpiio"]}, None)["start_seconds"].to_pylist()
    called = sum(row["end_seconds"] - row["start_seconds"] for row in mpiio) / len({row["rank"] for row in mpiio})
    expected = (called, waits_by_hand(mpiio, sorted(of_phases)), union_by_hand(posix))
    # Ranks that drift apart make several phases, which may be of several classes.
    if len(rows) == 1:
        got = (rows[0]["rank_call_seconds"], rows[0]["rank_wait_seconds"], rows[0]["storage_seconds"])
        assert expected == pytest.approx(got, abs=1e-6)
    event(f"{len(rows)} classes")
    aggregators = {row["rank"] for row in posix}
    # A phase in which no rank called POSIX has no evidence, and one of aggregators alone has nobody who waits.
    for row in (row for row in rows if row["storage_seconds"] is not None and row["rank_count"] > len(aggregators)):
        rest = row["rank_call_seconds"] - row["rank_wait_seconds"] - row["storage_seconds"]
        assert (max(rest, 0), max(-rest, 0)) == pytest.approx((row["rank_exchange_seconds"], row["overcount_seconds"]), abs=1e-6)


def test_calls_that_every_rank_carries_out_itself_have_no_wait() -> None:
    """Without collective buffering nobody waits or exchanges, and storage is the union of all requests."""
    mpiio = [request(rank, rank * SIZE, 1.0 + rank, 3.0 + rank) for rank in range(2)]
    row = one(mpiio, mpiio, **COLLECTIVE)
    assert (0, 0, 0) == (row["rank_wait_seconds"], row["rank_exchange_seconds"], row["overcount_seconds"])
    assert (2, 3) == (row["rank_call_seconds"], row["storage_seconds"])


def test_a_rank_that_leaves_a_call_early_waits_until_then() -> None:
    """What a rank waits is cut at the end of its call."""
    mpiio = [request(0, 0, 1.0, 2.0), request(1, SIZE, 2.0005, 4.0005)]
    row = one(mpiio, [request(1, 0, 3.0, 3.5, length_bytes=2 * SIZE)], **COLLECTIVE)
    names = ("rank_wait_seconds", "rank_call_seconds", "storage_seconds", "rank_exchange_seconds")
    assert (0.5, 1.5, 0.5, 0.5) == pytest.approx(tuple(row[name] for name in names))


def test_where_posix_has_no_trace_waiting_is_not_known() -> None:
    """Of collective calls without a trace of POSIX it is not known whether few ranks did the work."""
    row = one([request(rank, rank * SIZE, 1.0, 2.0) for rank in range(2)], [], **COLLECTIVE)
    assert [None] * 3 == [row[name] for name in ("rank_wait_seconds", "rank_exchange_seconds", "storage_seconds")]
    assert row["rank_call_seconds"] == 1


def test_opens_and_closes_are_parted_over_phases() -> None:
    """A file's time in opens and closes is shared by the phases of all classes that move its bytes, and by their ranks."""
    writes = [request(rank, rank * SIZE, 100.0 * phase, 100.0 * phase + 1) for rank in range(2) for phase in range(3)]
    reads = [request(rank, rank * SIZE, 900.0, 901.0, op="read") for rank in range(2)]
    write, read = rows_of(model_of([], by_rank(writes + reads), **record("posix_file", meta_seconds=8.0)))
    assert (3.0, 1.0) == (write["rank_meta_seconds"], read["rank_meta_seconds"])


# The law of first offsets


def law_by_hand(pairs: Sequence[tuple[int, int, int]]) -> dict[str, Any]:
    """The law of one class in whole numbers, from number of the phase, rank and place."""
    known = [(rank, nth, place) for nth, rank, place in pairs if place >= 0]
    if not known:
        return {"phase": None, "rank": None, "first": None, "ratio": None}
    places = {(rank, nth): place for rank, nth, place in known}
    steps = [place - places[rank, nth - 1] for (rank, nth), place in places.items() if (rank, nth - 1) in places]
    phase = most(steps)
    # A step that leads out of every file is none.
    phase = None if phase is None or abs(phase) * max(nth for _, nth, _ in known) >= 2**60 else phase
    bases = {
        rank: most([place - (phase or 0) * nth for (other, nth), place in places.items() if other == rank])
        for rank in sorted({rank for rank, _, _ in known})
    }
    rank_step = most([high - low for low, high in pairwise(bases.values())]) or 0
    rank_step = 0 if abs(rank_step) * len(bases) >= 2**60 else rank_step
    starts = [base - rank_step * number for number, base in enumerate(bases.values())]
    first = most(starts)
    linear = {rank: start == first for rank, start in zip(bases, starts, strict=True)}
    has_rank = len(bases) > 1 and (all(linear.values()) if phase is not None else 2 * sum(linear.values()) > len(linear))
    obeying = [
        place - (phase or 0) * nth == bases[rank] and (phase is not None or linear[rank]) for (rank, nth), place in places.items()
    ]
    return {
        "phase": phase,
        "rank": rank_step if has_rank else None,
        "first": first if has_rank else next(iter(bases.values())),
        "ratio": Fraction(sum(obeying), len(obeying)),
    }


def most(values: Sequence[int]) -> int | None:
    """The commonest, the lowest of several."""
    return min(values, key=lambda value: (-values.count(value), value)) if values else None


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.lists(
            st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([-1, 0, 0, 10, 10, 20, 30, 40, 3 * 2**57])),
            max_size=12,
            unique_by=lambda pair: pair[:2],
        ),
        min_size=1,
        max_size=3,
    )
)
def test_the_law_holds_in_whole_numbers(classes: list[list[tuple[int, int, int]]]) -> None:
    """Steps, first offset and the share of pairs that obey are those of the definition, for many classes at once."""
    rows = [(number, *pair) for number, pairs in enumerate(classes) for pair in pairs]
    class_of, nth, ranks, places = (np.array(column, np.int64) for column in (zip(*rows, strict=True) if rows else [[]] * 4))
    found = law(class_of, nth, ranks, places, len(classes))
    for number, pairs in enumerate(classes):
        expected = law_by_hand(pairs)
        got = {"phase": found.phase_steps, "rank": found.rank_steps, "first": found.first_offsets}
        assert {name: expected[name] for name in got} == {
            name: None if column[number] == UNKNOWN else column[number] for name, column in got.items()
        }
        ratio = found.ratios[number]
        assert (None if expected["ratio"] is None else float(expected["ratio"])) == (None if np.isnan(ratio) else ratio)


# Which phases do the same


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.tuples(*[st.sampled_from([0, 1, 9, 10, 11, 12, 100])] * 2)), min_size=1, max_size=20
    ),
    st.sampled_from([0.5, 0.9, 1.0]),
)
def test_phases_join_the_first_class_that_is_like_them(phases: list[tuple[int, tuple[int, ...]]], alike: float) -> None:
    """One by one: a phase joins the first class whose first phase is like it, or begins one."""
    leaders: list[tuple[int, tuple[int, ...]]] = []
    expected = []
    for phase in phases:
        likes = (
            number for number, leader in enumerate(leaders) if leader[0] == phase[0] and likeness(leader[1], phase[1]) >= alike
        )
        number = next(likes, len(leaders))
        leaders += [phase] if number == len(leaders) else []
        expected.append(number)
    kinds, measures = np.array([kind for kind, _ in phases]), np.array([values for _, values in phases], float)
    assert expected == joined_by_likeness(kinds, measures, alike).tolist()


def likeness(left: Sequence[int], right: Sequence[int]) -> float:
    return min(min(pair) / max(pair) if max(pair) else 1.0 for pair in zip(left, right, strict=True))


def test_alike_is_a_setting() -> None:
    """Phases of 10 and of 9 requests are one class at 0.9, and two at 0.95."""
    writes = [
        request(0, (10 * phase + number) * SIZE, 100.0 * phase + number / 100, 100.0 * phase + (number + 1) / 100)
        for phase, count in enumerate((10, 9))
        for number in range(count)
    ]
    tables = {"segment": [columns("segment", [{"layer": "posix", **row} for row in writes])]}
    found = traces(tables)
    counted = [
        len(phase_model(tables, found, phase_layers(tables, found), 1, {}, alike=alike).columns["op"]) for alike in (0.9, 0.95)
    ]
    assert [1, 2] == counted


# What a class is


def phase_of(offsets: Sequence[int], rank: int = 0, **more: Any) -> list[Request]:
    """Writes of a rank in one phase."""
    return [request(rank, offset * SIZE, number / 1000, (number + 1) / 1000, **more) for number, offset in enumerate(offsets)]


@pytest.mark.parametrize(
    ("offsets", "order", "stride"),
    [
        ([7], "single", None),
        ([0, 1, 2], "consecutive", None),
        ([0, 4, 8], "strided", 4),
        ([8, 4, 0], "strided", -4),
        ([0, 1, 6, 7, 12, 13], "segmented", 6),
        ([0, 1, 6, 7, 12], "segmented", 6),
        ([0, 1, 6, 7, 12, 13, 14], "irregular", None),
        ([0, 1, 6, 9, 20], "irregular", None),
        ([9, 0, 5, 2, 7], "random", None),
    ],
)
def test_the_order_of_requests_has_a_name(offsets: list[int], order: str, stride: int | None) -> None:
    """Blocks of consecutive requests lie at equal distance, or forward, or anywhere; the last may be short."""
    row = one([], phase_of(offsets), 1)
    assert (order, None if stride is None else stride * SIZE) == (row["request_order"], row["stride_bytes"])


def test_headers_do_not_hide_the_order() -> None:
    """Requests that move next to nothing count with the bytes and requests, and not with the order."""
    row = one([], [*phase_of([1, 2, 5, 6]), request(0, 0, 0.5e-3 + 4e-3, 5e-3, length_bytes=100)], 1)
    assert ("segmented", 2 * SIZE, 2, SIZE) == (
        row["request_order"],
        row["block_bytes"],
        row["segment_count"],
        row["first_offset_bytes"],
    )
    assert (5, 4 * SIZE + 100) == (row["request_count"], row["moved_bytes"])


def test_files_are_own_or_shared_or_both() -> None:
    """Access is by the ranks of a phase that touch each file."""
    for files, access in (((1, 1), "shared"), ((1, 2), "own")):
        requests = [*phase_of([0], 0, file_id=files[0]), *phase_of([0], 1, file_id=files[1])]
        assert access == one([], requests)["access"]
    mixed = [*phase_of([0], 0, file_id=1), *phase_of([0], 0, file_id=2), *phase_of([0], 1, file_id=1)]
    assert one([], mixed)["access"] == "mixed"


def test_what_went_through_mpiio_is_modelled_there_alone() -> None:
    """POSIX beneath MPI-IO is no class of its own; other files of POSIX are."""
    mpiio = phase_of([0, 1])
    posix = by_rank([*mpiio, *(row | {"file_id": 9, "start_seconds": 50.0, "end_seconds": 51.0} for row in phase_of([0]))])
    got = [(row["layer"], row["moved_bytes"], row["weight_ratio"]) for row in rows_of(model_of(mpiio, posix))]
    assert [("mpiio", 2 * SIZE, 2 / 3), ("posix", SIZE, 1 / 3)] == got


def test_reads_in_order_to_write_are_no_class() -> None:
    """What MPI-IO reads to put back is storage time of the writes."""
    mpiio = [request(0, 0, 1.0, 3.0)]
    posix = [request(0, 0, 1.0, 2.0, op="read", length_bytes=4 * SIZE), request(0, 0, 2.0, 3.0, length_bytes=4 * SIZE)]
    row = one(mpiio, posix, 1)
    assert ("write", SIZE, 2.0) == (row["op"], row["moved_bytes"], row["storage_seconds"])


def test_tiles_show_whether_posix_kept_to_its_phase() -> None:
    """Each POSIX request is held against the block of its phase."""
    mpiio = [request(rank, phase * 2 * SIZE + rank, 100.0 * phase, 100.0 * phase + 1) for rank in range(2) for phase in range(2)]
    inside = [request(0, phase * 2 * SIZE, 100.0 * phase, 100.0 * phase + 1, length_bytes=2 * SIZE) for phase in range(2)]
    row = one(by_rank(mpiio), inside, **COLLECTIVE)
    assert (2 * SIZE, 1.0) == (row["phase_step_bytes"], row["tiles_ratio"])
    inside[1]["offset_bytes"] += 1
    assert one(by_rank(mpiio), inside, **COLLECTIVE)["tiles_ratio"] == 0.5


def test_requests_of_a_class_come_by_phase_and_rank() -> None:
    """What a class holds is all of it, in the order in which each rank moved it."""
    writes = [
        request(rank, (2 * phase + rank) * SIZE, 100.0 * phase, 100.0 * phase + 1) for rank in range(2) for phase in range(2)
    ]
    model = model_of([], by_rank(writes))
    held = model.requests(0)
    assert held is not None
    assert [(0, 0, 0), (0, 1, SIZE), (1, 0, 2 * SIZE), (1, 1, 3 * SIZE)] == list(
        zip(held.phases.tolist(), held.ranks.tolist(), held.offsets.tolist(), strict=True)
    )
    assert model.requests(1) is None


def test_files_without_a_trace_are_classes_by_their_counters() -> None:
    """Files that are alike are one class; sizes, blocks and stride are those of counters."""
    counters = {
        "write_count": 8,
        "write_bytes": 8 * SIZE,
        "consecutive_write_count": 6,
        "sequential_write_count": 7,
        "access1_bytes": SIZE,
        "access1_count": 8,
        "write_size_100k_1m_count": 8,
        "stride1_bytes": 12 * SIZE,
        "stride1_count": 1,
        "write_start_seconds": 1.0,
        "write_end_seconds": 3.0,
        "write_seconds": 2.0,
    }
    row = one([], [], posix_file=[{"file_id": rank, "rank": rank, **counters} for rank in range(3)])
    expected = {
        "evidence": "counters",
        "access": "own",
        "request_order": "segmented",
        "rank_count": 3,
        "file_count": 3,
        "request_bytes": SIZE,
        "requests_per_rank": 8,
        "block_bytes": 4 * SIZE,
        "segment_count": 2,
        "stride_bytes": 16 * SIZE,
        "first_offset_bytes": None,
        "law_ratio": None,
        "phase_count": None,
        "phase_numbers": None,
        "moved_bytes": 24 * SIZE,
        "rank_call_seconds": 2.0,
    }
    assert expected == {name: row[name] for name in expected}


def test_a_rank_of_many_files_is_one_rank() -> None:
    """Time of the mean rank is that of all its files; processes are no more than there were."""
    written = {"write_count": 8, "write_bytes": 8 * SIZE, "write_seconds": 2.0, "access1_bytes": SIZE, "access1_count": 8}
    row = one(
        [], [], posix_file=[{"file_id": 4 * rank + number, "rank": rank, **written} for rank in range(3) for number in range(4)]
    )
    expected = {"access": "own", "rank_count": 3, "file_count": 12, "requests_per_rank": 8, "rank_call_seconds": 8.0}
    assert expected == {name: row[name] for name in expected}
    assert row["moved_bytes"] == 96 * SIZE


def test_what_counters_do_not_have_is_unknown() -> None:
    """STDIO has no sizes and no order; a counter that is not known makes what follows from it unknown."""
    row = one([], [], stdio_file=[{"file_id": 1, "rank": 0, "write_count": 5, "write_bytes": 100_000}])
    assert [None] * 4 == [row[name] for name in ("request_bytes", "block_bytes", "request_order", "stride_bytes")]
    row = one([], [], posix_file=[{"file_id": 1, "rank": 0, "write_count": -1, "write_bytes": 100_000, "access1_count": -1}])
    assert [None] * 3 == [row[name] for name in ("request_count", "requests_per_rank", "request_order")]
    lengths = {"write_count": -1, "write_bytes": 100_000, "access1_bytes": -1, "access1_count": 4}
    assert one([], [], posix_file=[{"file_id": 1, "rank": 0, **lengths}])["request_bytes"] is None


def test_a_log_that_moves_nothing_has_no_classes() -> None:
    """Neither rows nor columns."""
    assert {} == phase_model({}, [], {}, 1, {}).columns


_HOSTILE = st.fixed_dictionaries(
    {
        "layer": st.sampled_from(["posix", "mpiio"]),
        "file_id": st.sampled_from([-(2**63), -1, 2**63 - 1]),
        "rank": st.integers(-1, 3) | st.just(2**62),
        "op": st.sampled_from(["read", "write"]),
        "offset_bytes": st.sampled_from([-(2**63), -1, 0, 4, 2**62, 2**63 - 1]),
        "length_bytes": st.sampled_from([-5, 0, 1, 4, 4, 4, 2**40, 2**63 - 1]),
        "start_seconds": st.sampled_from([-1.0, 0.0, 0.1, 0.2, 5.0, 1e300, float("nan"), float("inf")]),
        "end_seconds": st.sampled_from([0.0, 0.1, 0.3, 5.5, 1e300, float("nan"), float("inf")]),
    }
)
_COUNTERS = ("write_bytes", "write_count", "consecutive_write_count", "sequential_write_count", "stride1_bytes", "stride1_count")


@settings(max_examples=300, deadline=None)
@given(
    st.lists(_HOSTILE, max_size=12),
    st.lists(st.tuples(*[st.sampled_from([-1, 0, 1, 100_000, 2**60])] * len(_COUNTERS)), max_size=3),
)
@pytest.mark.proof
def test_nothing_that_a_log_says_stops_its_model(requests: list[Request], counters: list[tuple[int, ...]]) -> None:
    """Whatever is in a trace or in records, there are rows that the table takes, and no byte is lost or invented."""
    records = [dict(zip(_COUNTERS, row, strict=True)) | {"file_id": number, "rank": -1} for number, row in enumerate(counters)]
    parts = [[row for row in requests if row["layer"] == layer] for layer in ("mpiio", "posix")]
    model = model_of(by_rank(parts[0]), by_rank(parts[1]), posix_file=records)
    rows = assembled("phase_class", [("a", model.columns)]).to_pylist() if model.columns else []
    assert all(row["moved_bytes"] is None or row["moved_bytes"] > 0 for row in rows)
    assert sum(row["weight_ratio"] for row in rows) <= 1 + 1e-9
    for number, row in enumerate(rows):
        held = model.requests(number)
        assert (held is None) == (row["evidence"] == "counters")
        assert held is None or row["request_count"] == len(held.lengths)
        assert row["phase_count"] == (None if row["phase_numbers"] is None else len(set(row["phase_numbers"])))
    assert len(rows) == len(replayed(model))


def test_where_requests_lie_may_not_be_known() -> None:
    """Traces of an older kind do not say where MPI-IO's requests lie: order, blocks and law are empty."""
    row = one([request(rank, -1, number, number + 1) for rank in range(2) for number in range(3)], [])
    names = ("request_order", "block_bytes", "segment_count", "stride_bytes", "first_offset_bytes", "law_ratio")
    assert (None,) * len(names) == tuple(row[name] for name in names)
    assert (SIZE, 3) == (row["request_bytes"], row["requests_per_rank"])
