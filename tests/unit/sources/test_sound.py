"""Counters that no run can have count as unknown, and the log says so."""

import numpy as np
import pyarrow as pa
import pytest

from iomine.schema.counters import columns_of
from iomine.sources.darshan.decoded import Records, are_floats
from iomine.sources.darshan.doubts import Doubt, Run
from iomine.sources.darshan.sound import sound, suspects

_NAMES = ("file_id", "rank", "read_bytes", "read_count", "max_read_offset_bytes", "read_seconds", "meta_seconds")
_RUN = Run(14.0, 32)
# What its ranks may have in a record that they share, and one of them in its own, and somewhat more.
_MOST = 448 * 1.01 + 1
_MOST_OF_RANK = 14 * 1.01 + 1


def records(*rows):
    words = np.array([row[:5] for row in rows], np.int64)
    times = np.array([row[5:] for row in rows], np.float64).view(np.int64)
    return Records("posix_file", _NAMES, np.hstack([words, times]))


def mended(*rows, run=_RUN):
    tables, doubted = sound({"posix_file": [records(*rows)]}, run)
    (part,) = tables["posix_file"]
    columns = {name: part[name].to_pylist() for name in _NAMES}
    return list(zip(*columns.values(), strict=True)), doubted


def test_what_a_run_can_have_stays_as_it_is():
    """Zero, unknown, the most that there is, and offsets of any size: nothing is touched, and nothing copied."""
    rows = [(2**63 - 1, -1, 0, 5, 2**63 - 1, 0.5, _MOST), (-(2**63), 31, 2**60, -1, -5, -1.0, _MOST_OF_RANK)]
    part = records(*rows)
    tables, doubted = sound({"posix_file": [part]}, _RUN)

    assert part is tables["posix_file"][0]
    assert ("", frozenset()) == (str(doubted), doubted.columns)


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        (2, 2**63 - 1, "posix_file.read_bytes (more than 2^60)"),
        (2, -(10**15), "posix_file.read_bytes (negative)"),
        (3, -(2**63), "posix_file.read_count (negative)"),
        (5, 1e300, "posix_file.read_seconds (more than the 15 core-seconds of the run)"),
        (5, float("inf"), "posix_file.read_seconds (not finite)"),
        (6, float("nan"), "posix_file.meta_seconds (not finite)"),
        (6, 5e-312, "posix_file.meta_seconds (less than any clock can say)"),
    ],
)
def test_what_no_run_can_have_is_unknown(column, value, reason):
    """The counter of that record becomes -1; the same counter of other records and the others of that one stay."""
    whole = (1, 0, 10, 2, 9, 0.25, 0.5)
    odd = (*whole[:column], value, *whole[column + 1 :])
    rows, doubted = mended(whole, odd)

    assert [whole, (*whole[:column], -1, *whole[column + 1 :])] == rows
    assert f"counted as unknown: {reason}" == str(doubted)
    assert {("posix_file", _NAMES[column])} == doubted.columns


def test_a_time_below_zero_is_unknown_and_spoils_no_sum():
    """A clock that was set back within a call says nothing of what other calls took."""
    rows, doubted = mended((1, 0, 10, 2, 9, 0.25, 0.5), (1, 0, 10, 2, 9, 0.25, -2662.75))

    assert [(1, 0, 10, 2, 9, 0.25, 0.5), (1, 0, 10, 2, 9, 0.25, -1)] == rows
    assert "counted as unknown: posix_file.meta_seconds (negative)" == str(doubted)
    assert {"io_core_seconds": 1.0} == doubted.withheld({"io_core_seconds": 1.0})


def test_a_moment_below_zero_is_no_doubt():
    """Two readings of a clock may lie that far apart."""
    rows, doubted = mended((1, 0, 10, 2, 9, -1e-304, -9e-7))
    assert ([(1, 0, 10, 2, 9, -1e-304, -9e-7)], "") == (rows, str(doubted))


def test_a_run_in_doubt_bounds_nothing_but_the_absurd():
    """Where the header does not say how long the run was, times are held against the longest that there may be."""
    rows, doubted = mended((1, 0, 10, 2, 9, 1e7, 1e13), run=Run())
    assert [(1, 0, 10, 2, 9, 1e7, -1.0)] == rows
    assert "counted as unknown: posix_file.meta_seconds (more than the 1,000,000,000,000 core-seconds of the run)" == str(doubted)


def test_a_flag_is_held_to_a_counters_bounds():
    """Bits of a time in place of a flag are no number that views may show."""
    part = Records("h5f_file", ("file_id", "rank", "use_mpiio"), np.array([[1, 0, 1], [2, 0, 4602678819172646912]]))
    tables, doubted = sound({"h5f_file": [part]}, _RUN)
    assert [1, -1] == tables["h5f_file"][0]["use_mpiio"].to_pylist()
    assert "counted as unknown: h5f_file.use_mpiio (more than 2^60)" == str(doubted)


def test_other_parts_are_handed_on():
    """What is no record of counters is left to those who read it."""
    part = {"layer": pa.array(["posix"]), "start_seconds": pa.array([float("nan")])}
    assert part is sound({"segment": [part]}, _RUN)[0]["segment"][0]


def test_sums_that_a_doubt_is_part_of_are_withheld():
    """Times are listed together, bytes and counts each by itself."""
    sums = {"read_bytes": 5, "write_bytes": 6, "read_count": 7, "io_core_seconds": 1.5, "slowest_rank_io_seconds": 1.0}
    _, bytes_doubted = mended((1, 0, -7, 2, 9, 0.25, 0.5))
    _, time_doubted = mended((1, 0, 7, 2, 9, 0.25, float("inf")))

    assert sums | {"read_bytes": None} == bytes_doubted.withheld(sums)
    assert sums | {"io_core_seconds": None, "slowest_rank_io_seconds": None} == time_doubted.withheld(sums)


def test_a_rank_has_no_more_than_the_run():
    """Of a record that ranks share the bound is theirs together; each doubt is a row with the worst value and its limit."""
    shared, own = (1, -1, 10, 2, 9, 100.0, 0.5), (1, 3, 10, 2, 9, 100.0, 0.5)
    rows, doubted = mended(shared, own, (*own[:5], 90.0, 0.5))
    assert [shared, (*own[:5], -1.0, 0.5), (*own[:5], -1.0, 0.5)] == rows
    assert (Doubt("POSIX", "posix_file", "read_seconds", "run", 100.0, pytest.approx(_MOST_OF_RANK), 2),) == doubted.doubts


def test_ranks_that_the_run_does_not_have_are_marked():
    """Nothing is known in their place, so records stay as they are."""
    odd = (1, 32, 10, 2, 9, 0.25, 0.5)
    rows, doubted = mended((1, 31, 10, 2, 9, 0.25, 0.5), odd)
    assert odd == rows[1]
    assert "not to be trusted: posix_file.rank (no rank of the 32 processes)" == str(doubted)
    assert (Doubt("POSIX", "posix_file", "rank", "ranks", 32.0, 31.0, 1),) == doubted.doubts


def whole_record(table, module, **values):
    """A record with all counters of a module, 0 where nothing is given."""
    names = ("file_id", "rank", *columns_of(module))
    kinds = are_floats(table, names)
    words = [
        np.float64(values.get(name, 0)).view(np.int64) if is_float else values.get(name, 0)
        for name, is_float in zip(names, kinds, strict=True)
    ]
    return {table: [Records(table, names, np.array([words], np.int64))]}


_SIZED = {"read_count": 3, "read_size_100_1k_count": 2, "read_size_1g_plus_count": 1, "read_bytes": 2**30 + 1 + 2 * 101}


@pytest.mark.parametrize(
    ("changed", "column", "limit"),
    [
        ({}, None, None),
        ({"read_bytes": 2**40 + 2 * 1024}, None, None),
        ({"read_bytes": 2**30 - 1000}, "read_bytes", 2.0**30 + 203),
        ({"read_bytes": 2**40 + 2 * 1024 + 2000}, "read_bytes", 2.0**40 + 2048),
        ({"read_count": 2**40}, "read_count", 3.0),
        ({"read_count": -1}, None, None),
        ({"read_bytes": -1}, None, None),
        ({"read_size_100_1k_count": -1}, None, None),
    ],
)
def test_calls_and_bytes_are_held_against_sizes_of_requests(changed, column, limit):
    """At the edges of what the sizes allow nothing is doubted, beyond them the number that they contradict."""
    record = whole_record("posix_file", "POSIX", **(_SIZED | changed))
    tables, doubted = sound(record, _RUN)
    found = [(doubt.column, doubt.check, doubt.limit) for doubt in doubted.doubts]
    assert ([] if column is None else [(column, "sizes", pytest.approx(limit, abs=1))]) == found
    if column:
        assert [-1] == tables["posix_file"][0][column].to_pylist()


def test_moments_lie_within_the_run():
    """When a file was opened is not known where it is later than the end."""
    record = whole_record("posix_file", "POSIX", rank=-1, open_start_seconds=14.5, close_end_seconds=100.0)
    tables, doubted = sound(record, _RUN)
    assert [("close_end_seconds", "run")] == [(doubt.column, doubt.check) for doubt in doubted.doubts]
    assert [14.5] == tables["posix_file"][0]["open_start_seconds"].to_pylist()


def traced_file(read_count):
    """A file of which three reads are counted, and so many traced."""
    trace = {
        "file_id": [0, 0, 9],
        "layer": ["posix"] * 3,
        "rank": [0, 1, 0],
        "write_count": [0, 0, 5],
        "read_count": [read_count, 0, 5],
    }
    columns = {name: pa.array(values) for name, values in trace.items()}
    return whole_record("posix_file", "POSIX", **_SIZED) | {"dxt_file": [columns]}


@pytest.mark.parametrize(
    ("traced", "whole", "is_doubted"), [(3, True, False), (4, True, True), (4, False, False), (0, True, False)]
)
def test_no_more_is_traced_than_counted(traced, whole, is_doubted):
    """Of all ranks together, where no record is missing; a file without a record says nothing."""
    _, doubted = sound(traced_file(traced), _RUN, ["posix_file"] if whole else [])
    expected = (Doubt("DXT_POSIX", "dxt_file", "read_count", "trace", 4.0, 3.0, 1),) if is_doubted else ()
    assert expected == doubted.doubts


def test_of_several_logs_those_are_suspect_of_which_more_is_traced_than_counted():
    """The same file is another log's another one, and logs without traces are none of these."""
    untraced = whole_record("posix_file", "POSIX", **_SIZED)
    assert suspects([traced_file(3), traced_file(4), untraced, traced_file(0)], [_RUN] * 4) == {1}
