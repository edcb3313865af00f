"""IOR lines that replay classes, held against IOR's own rule of places and against runs of IOR whose command is known."""

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import Row, each, log_of, workloads
from tables import columns

from iomine.derive import phase_layers, phase_model, traces
from iomine.derive.model import Model, replay
from iomine.derive.model.replay import Fidelity, Ior, class_columns, fidelity, ior_requests, replayed
from iomine.pipeline.ingest.rows import model_of
from iomine.sources.darshan import read_log

EXACT = {f"s{number:03}" for number in (*range(1, 5), *range(7, 15), *range(17, 21))}
HERE = pytest.mark.skipif(not workloads(), reason="../shared/data is not here")
PLAIN = Ior("POSIX", "write", 1, 8, 8, 1, 1, 0, False, False, False, 0, False)


@cache
def lines_of(workload: str) -> list[tuple[Ior, Fidelity] | None]:
    """What IOR needs for each class of a workload whose id begins so."""
    row = next(row for row in workloads() if row["id"].startswith(workload))
    return list(replayed(model_of(read_log(log_of(row)))))


def by_hand(values: Ior) -> list[tuple[int, int, int]]:
    """IOR's requests, one by one."""
    found = []
    for rank in range(values.ranks):
        for _ in range(values.repetitions):
            for segment in range(values.segment_count):
                for place in range(0, values.block_bytes, values.transfer_bytes):
                    block = segment if values.is_own_files else segment * values.ranks + (rank + values.shift) % values.ranks
                    found.append((rank, block * values.block_bytes + place, values.transfer_bytes))
    return found


@st.composite
def _lines(draw: st.DrawFn) -> Ior:
    transfer = 8 * draw(st.integers(1, 1 << 20))
    ranks = draw(st.integers(1, 4))
    is_own = draw(st.booleans()) and ranks > 1
    return PLAIN._replace(
        ranks=ranks,
        block_bytes=transfer * draw(st.integers(1, 4)),
        transfer_bytes=transfer,
        segment_count=draw(st.integers(1, 4)),
        repetitions=draw(st.integers(1, 3)),
        is_own_files=is_own,
    )


def model_as(values: Ior) -> Model:
    """The model of a trace in which IOR did as its options say, its repetitions 100 s apart."""
    rows: list[dict[str, Any]] = []
    per_rank = values.segment_count * (values.block_bytes // values.transfer_bytes)
    for number, (rank, offset, length) in enumerate(by_hand(values)):
        repetition, nth = divmod(number % (per_rank * values.repetitions), per_rank)
        start = 100.0 * repetition + nth / 1000
        place = {"file_id": rank if values.is_own_files else 9, "rank": rank, "offset_bytes": offset, "length_bytes": length}
        rows.append({"layer": "posix", "op": values.op, "start_seconds": start, "end_seconds": start + 0.001, **place})
    tables = {"segment": [columns("segment", rows)]}
    found = traces(tables)
    return phase_model(tables, found, phase_layers(tables, found), values.ranks, {})


@settings(max_examples=200, deadline=None)
@given(_lines())
def test_what_ior_did_is_replayed_exactly(values: Ior) -> None:
    """The line of a trace that IOR made makes the same requests in the same order, whatever its parameters are."""
    (found,) = replayed(model_as(values))
    assert found is not None
    line, like = found
    assert ("exact", None) == (like.name, like.reason)
    assert by_hand(values) == by_hand(line)
    assert like.matched_count == like.line_count == like.trace_count == line.request_count == len(by_hand(values))


@settings(max_examples=200, deadline=None)
@given(_lines(), _lines(), st.integers(0, 3))
def test_fidelity_is_counted_in_whole_numbers(values: Ior, other: Ior, shift: int) -> None:
    """Any line is held against any trace: counts of requests in common, and the name, are those of the definition."""
    line = other._replace(shift=shift % other.ranks if not other.is_own_files else 0)
    assert by_hand(line) == list(zip(*(column.tolist() for column in ior_requests(line)), strict=True))
    model = model_as(values)
    row = {name: column[0] for name, column in model.columns.items()}
    like = fidelity(line, model.requests(0), row)
    wanted, had = by_hand(line), by_hand(values)
    assert (sum((Counter(wanted) & Counter(had)).values()), len(wanted), len(had)) == like[1:4]
    assert like.name == ("exact" if wanted == had else "unordered" if Counter(wanted) == Counter(had) else "bytes")
    assert (like.reason is None) == (like.name == "exact")


def test_reads_of_other_ranks_data_are_shifted() -> None:
    """-C and -Q say how many ranks further on those are whose blocks a rank reads."""
    values = PLAIN._replace(op="read", ranks=4, block_bytes=1 << 20, transfer_bytes=1 << 19, shift=3)
    (found,) = replayed(model_as(values))
    assert found is not None
    assert ("exact", 3) == (found[1].name, found[0].shift)
    assert ["-C", "-Q", "3"] == found[0].options()[2:5]


def test_lengths_that_ior_does_not_take_are_named() -> None:
    """IOR takes multiples of 8 bytes only: the line has the nearest, and says so."""
    rows = [
        {"layer": "posix", "file_id": 9, "rank": 0, "op": "write", "offset_bytes": 100_001 * n, "length_bytes": 100_001}
        | {"start_seconds": n / 1000, "end_seconds": (n + 1) / 1000}
        for n in range(3)
    ]
    tables = {"segment": [columns("segment", rows)]}
    found = traces(tables)
    (line,) = replayed(phase_model(tables, found, phase_layers(tables, found), 1, {}))
    assert line is not None
    assert (100_000, 300_000) == (line[0].transfer_bytes, line[0].block_bytes)
    assert "bytes" == line[1].name
    assert "multiples of 8 bytes" in (line[1].reason or "")


def test_long_traces_are_compared_in_their_order_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exact line is found whatever its length; whether another order would do is left open then, and never claimed."""
    line = PLAIN._replace(ranks=4, block_bytes=1 << 20, transfer_bytes=1 << 18)
    model = model_as(line)
    held, row = model.requests(0), {name: column[0] for name, column in model.columns.items()}
    in_any_order = line._replace(is_random=True)
    assert ("unordered", 16) == fidelity(in_any_order, held, row)[:2]
    monkeypatch.setattr(replay, "_MOST_COMPARED", 15)
    assert ("bytes", None) == fidelity(in_any_order, held, row)[:2]
    assert ["exact"] == class_columns(model)["replay_fidelity"]


def is_known(row: Row) -> bool:
    return row["id"][:4] in EXACT


@pytest.mark.parametrize("workload", each(workloads(), is_known))
def test_known_runs_of_ior_are_replayed_exactly(workload: Row) -> None:
    """Each direction of a run of which the command is known makes the same requests in the same order."""
    known, lines = workload["parameters"], lines_of(workload["id"])
    assert len(lines) == workload["truth"]["writes"] + workload["truth"]["reads"]
    for found in lines:
        assert found is not None
        line, like = found
        assert "exact" == like.name
        assert (known["api"], workload["nprocs"], known["transfer_bytes"]) == (line.api, line.ranks, line.transfer_bytes)
        # Segments of a file of one's own follow each other.
        sizes = (line.block_bytes, line.segment_count)
        merged = (known["block_bytes"] * known["segments"], 1) if known["file_per_process"] else None
        assert sizes in ((known["block_bytes"], known["segments"]), merged)
        flags = (known["file_per_process"], known["collective"], known["repetitions"], round(known["delay_s"]))
        assert flags == (line.is_own_files, line.is_collective, line.repetitions, line.delay_seconds)
        assert line.is_synced == (known["fsync"] and line.op == "write")


@HERE
def test_options_are_those_of_the_command() -> None:
    """s014: five repetitions, two seconds apart."""
    ((line, _),) = (found for found in lines_of("s014") if found)
    assert "-a POSIX -b 33554432 -t 4194304 -s 1 -i 5 -d 2 -w" == " ".join(line.options())


@HERE
@pytest.mark.parametrize("workload", ["s005", "s006"])
def test_random_order_is_replayed_without_order(workload: str) -> None:
    """All requests are the same; order and ranks are IOR's."""
    for found in lines_of(workload):
        assert found is not None
        assert found[0].is_random
        assert ("unordered", found[1].line_count) == (found[1].name, found[1].matched_count)


@HERE
@pytest.mark.parametrize("workload", ["s015", "s016"])
def test_why_hdf5_is_not_exact(workload: str) -> None:
    """HDF5 makes requests of its own, for its headers."""
    for found in lines_of(workload):
        assert found is not None
        assert "bytes" == found[1].name
        assert "have other lengths than" in (found[1].reason or "")


@HERE
def test_without_a_trace_block_transfer_and_ranks_are_right() -> None:
    """s021 has counters alone."""
    for found in lines_of("s021"):
        assert found is not None
        line, like = found
        assert (4, 16 << 20, 4 << 20, 2) == (line.ranks, line.block_bytes, line.transfer_bytes, line.segment_count)
        assert ("bytes", "no trace to compare it with") == (like.name, like.reason)


def test_order_without_blocks_is_replayed_in_one() -> None:
    """Counters may show that requests are strided and not in which blocks: IOR moves as many bytes, one after the other."""
    (own,) = class_columns(model_as(PLAIN))["ior_options"]
    model = model_as(PLAIN)
    columns = model.columns | {"request_order": ["strided"], "block_bytes": [None], "evidence": ["counters"]}
    (options,) = class_columns(Model(columns, {}))["ior_options"]
    assert (own is not None, options is not None) == (True, True)
    assert f"-b {model.columns['bytes_per_rank'][0]} " in options


@HERE
@pytest.mark.parametrize("workload", ["s100", "s103", "s104", "s105", "s106", "s107", "s111", "s112"])
def test_bt_io_is_replayed_in_bytes(workload: str) -> None:
    """Same lengths and counts for each rank, in one collective line for each direction; the places are those of a file view."""
    for found in lines_of(workload):
        assert found is not None
        line, like = found
        assert ("bytes", line.request_count, True) == (like.name, like.trace_count, line.is_collective)
        assert line.block_bytes == line.transfer_bytes
        assert "file view" in (like.reason or "")


@HERE
def test_each_line_moves_about_what_its_class_does() -> None:
    """Where ranks and phases differ a line has their mean, so that it is as heavy as the class within a tenth or a request."""
    for workload in (row for row in workloads() if row.get("dxt") and "s022" <= row["id"] < "s120"):
        model = model_of(read_log(log_of(workload)))
        for number, found in enumerate(replayed(model)):
            if found is not None:
                moved = model.columns["moved_bytes"][number]
                slack = max(0.1 * moved, found[0].ranks * found[0].transfer_bytes)
                assert abs(found[0].moved_bytes - moved) <= slack, (workload["id"], found[0].options())


def test_a_line_that_is_far_too_long_is_not_worked_out() -> None:
    """What would take all memory is counted only."""
    model = model_as(PLAIN)
    row = {name: column[0] for name, column in model.columns.items()}
    like = fidelity(PLAIN._replace(segment_count=1 << 40), model.requests(0), row)
    assert ("bytes", None, 1 << 40, 1) == like[:4]
    assert np.array_equal([0], ior_requests(PLAIN)[0])
