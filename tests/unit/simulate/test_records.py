"""What follows from runs of requests, against Darshan's runtime written out request by request."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iomine.schema.ops import READ, WRITE
from iomine.simulate.records import FILE_ALIGNMENT, records_of
from iomine.simulate.runs import Call, Calls, Runs
from iomine.simulate.timeline import shares

POSIX = 0
NPROCS = 3
FILES = 2
_EDGES = (100, 1024, 10_240, 102_400, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30)
_BINS = "0_100 100_1k 1k_10k 10k_100k 100k_1m 1m_4m 4m_10m 10m_100m 100m_1g 1g_plus".split()

_BY_RANK = {f"{which}_rank{what}" for which in ("fastest", "slowest") for what in ("", "_bytes")}

RUN = st.tuples(
    st.integers(0, FILES - 1),
    st.integers(0, NPROCS - 1),
    st.sampled_from((READ, WRITE)),
    st.one_of(st.integers(0, 5000), st.integers(0, 40).map(lambda n: n * (1 << 18))),
    st.sampled_from((2, 100, 101, 4096, 1 << 18, 1 << 20, (1 << 20) + 1, 5 << 20)),
    st.sampled_from((-(1 << 18), 0, 1, 7, 4096, 5000, 1 << 18, 3 << 18, 1 << 20, 1 << 21, 5 << 20)),
    st.integers(1, 9),
)


def runs_of(drawn: list[tuple[int, ...]]) -> Runs:
    """Runs in the order drawn, each rank's after one another; steps of 1 stand for contiguous ones."""
    rows = []
    clocks = [0.0] * NPROCS
    for place, (file, rank, op, offset, length, drawn_step, count) in enumerate(drawn):
        step = length if drawn_step == 1 else drawn_step
        start = offset + (1 << 22) * (step < 0)
        seconds = 0.01 * (1 + place % 3)
        rows.append((POSIX, file, rank, op, start, length, step, count, 0, clocks[rank], seconds * 1.5, seconds))
        clocks[rank] += count * seconds * 1.5
    columns = list(zip(*rows, strict=True)) or [()] * len(Runs._fields)
    return Runs(*(np.array(column, np.float64 if place > 8 else np.int64) for place, column in enumerate(columns)))


def opens_of(runs: Runs) -> Calls:
    """An open by each rank of each file that it uses."""
    pairs = sorted({*zip(runs.files.tolist(), runs.ranks.tolist(), strict=True)})
    files, ranks = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    ones, times = np.ones_like(files), np.full(len(files), 0.5)
    return Calls(ones * POSIX, files, ranks, ones * Call.OPEN, ones, ones * 0, times, times + 0.25, times / 2)


def darshan(runs: Runs, calls: Calls) -> dict[tuple[int, int], dict[str, Any]]:
    """Counters of each record, as `darshan-posix.c` counts them: one request after the other, then the reduction."""
    own: dict[tuple[int, int], dict[str, Any]] = {}
    for file, rank, seconds in zip(calls.files.tolist(), calls.ranks.tolist(), calls.seconds.tolist(), strict=True):
        own[file, rank] = {"n": Counter(open_count=1), "access": Counter(), "stride": Counter(), "last": {READ: 0, WRITE: 0}}
        own[file, rank] |= {
            "op": None,
            "meta": seconds,
            READ: 0.0,
            WRITE: 0.0,
            "slow": {READ: (0.0, 0), WRITE: (0.0, 0)},
            "max": Counter(),
        }
    for at in range(len(runs.files)):
        record = own[int(runs.files[at]), int(runs.ranks[at])]
        op, length = int(runs.ops[at]), int(runs.lengths[at])
        name = ("read", "write")[op]
        for nth in range(int(runs.counts[at])):
            offset = int(runs.offsets[at]) + nth * int(runs.steps[at])
            last, n = record["last"][op], record["n"]
            n[f"{name}_count"] += 1
            n[f"{name}_bytes"] += length
            n[f"sequential_{name}_count"] += offset > last
            n[f"consecutive_{name}_count"] += offset == last + 1
            n["file_not_aligned_count"] += offset % FILE_ALIGNMENT != 0
            n["rw_switch_count"] += record["op"] not in (None, op)
            n[f"{name}_size_{_BINS[sum(length > edge for edge in _EDGES)]}_count"] += 1
            record["access"][length] += 1
            if last and offset > last + 1:
                record["stride"][offset - last - 1] += 1
            record["last"][op], record["op"] = offset + length - 1, op
            record["max"][name] = max(record["max"][name], offset + length - 1)
            record[op] += float(runs.seconds[at])
            record["slow"][op] = max(record["slow"][op], (float(runs.seconds[at]), length))
    return _reduced(own)


def _reduced(own: dict[tuple[int, int], dict[str, Any]]) -> dict[tuple[int, int], dict[str, Any]]:
    found = {}
    for file in {file for file, _ in own}:
        ranks = {rank: record for (of, rank), record in own.items() if of == file}
        is_shared = len(ranks) == NPROCS
        for key, parts in (
            [((file, -1), ranks)] if is_shared else [((file, rank), {rank: record}) for rank, record in ranks.items()]
        ):
            reported: dict[str, Any] = dict(sum((record["n"] for record in parts.values()), Counter()))
            for kind in ("access", "stride"):
                counted = sum((record[kind] for record in parts.values()), Counter())
                reported[kind] = sorted(counted.values(), reverse=True)[:4]
            for op, name in enumerate(("read", "write")):
                reported[f"{name}_seconds"] = sum(record[op] for record in parts.values())
                reported[f"max_{name}_offset_bytes"] = max(record["max"][name] for record in parts.values())
                slowest = max(record["slow"][op] for record in parts.values())
                reported[f"max_{name}_seconds"] = slowest[0]
            if is_shared:
                times = [record[READ] + record[WRITE] + record["meta"] for record in parts.values()]
                reported["slowest_rank_seconds"], reported["fastest_rank_seconds"] = max(times), min(times)
                reported["rank_seconds_variance"] = float(np.var(times))
                sizes = [record["n"]["read_bytes"] + record["n"]["write_bytes"] for record in parts.values()]
                reported["rank_bytes_variance"] = float(np.var(sizes))
            found[key] = reported
    return found


def records(runs: Runs, calls: Calls) -> dict[tuple[int, int], dict[str, Any]]:
    """The same, as the simulator works it out."""
    found = records_of(runs, calls, np.full(FILES, NPROCS))
    keys = zip(found.files.tolist(), found.ranks.tolist(), strict=True)
    return {key: {name: column[at].item() for name, column in found.values.items()} for at, key in enumerate(keys)}


def _sorted_counts(record: dict[str, Any], kind: str) -> list[int]:
    return [count for n in range(1, 5) if (count := record[f"{kind}{n}_count"])]


@settings(max_examples=150, deadline=None)
@given(st.lists(RUN, min_size=1, max_size=12))
def test_counters_are_those_of_darshan(drawn: list[tuple[int, ...]]) -> None:
    """Counters, times and the reduction of shared records are those that counting request by request gives."""
    runs = runs_of(drawn)
    calls = opens_of(runs)
    expected, got = darshan(runs, calls), records(runs, calls)
    assert expected.keys() == got.keys()
    for key, reported in expected.items():
        record = got[key]
        assert reported.pop("access") == _sorted_counts(record, "access")
        assert reported.pop("stride") == _sorted_counts(record, "stride")
        for name, value in reported.items():
            assert np.isclose(value, record[name], rtol=1e-9, atol=1e-12), name


@settings(max_examples=100, deadline=None)
@given(st.lists(RUN, min_size=1, max_size=12))
@pytest.mark.proof
def test_runs_say_the_same_one_request_at_a_time(drawn: list[tuple[int, ...]]) -> None:
    """Records do not depend on whether requests are given as runs or one by one."""
    runs = runs_of(drawn)
    calls = opens_of(runs)
    expected, got = records(runs.one_by_one(), calls), records(runs, calls)
    assert expected.keys() == got.keys()
    for key, reported in expected.items():
        # Which of two ranks is the slower may hang on the last digit of a sum.
        assert all(np.isclose(value, got[key][name], rtol=1e-9) for name, value in reported.items() if name not in _BY_RANK)


@settings(max_examples=100, deadline=None)
@given(st.lists(RUN, min_size=1, max_size=12), st.sampled_from((0.05, 0.1, 1.0, 60.0)))
def test_bins_hold_all_bytes(drawn: list[tuple[int, ...]], width: float) -> None:
    """Bins hold every byte once, within a byte a request of what requests taken one by one give."""
    runs = runs_of(drawn)
    part, single = shares(runs, width), shares(runs.one_by_one(), width)
    assert runs.moved_bytes.tolist() == np.bincount(part.runs, part.moved, len(runs.files)).astype(np.int64).tolist()
    bins = int(max(part.bins.max(), single.bins.max())) + 1
    gathered, each = (np.bincount(of.bins, of.moved, bins) for of in (part, single))
    # A request that begins on the edge of a bin, except for rounding of its time, has nothing to gain there.
    assert np.abs(gathered - each).max() <= 2 * len(runs.one_by_one().files) + 1
