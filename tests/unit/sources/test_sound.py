"""Counters that no run can have count as unknown, and the log says so."""

import numpy as np
import pyarrow as pa
import pytest

from iomine.sources.darshan.decoded import Records
from iomine.sources.darshan.sound import sound

_NAMES = ("file_id", "rank", "read_bytes", "read_count", "max_read_offset_bytes", "read_seconds", "meta_seconds")
# What a run of 14 s on 32 processes may have in one record, and somewhat more.
_RUN = 448.0
_MOST = _RUN * 1.01 + 1


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
    rows = [(2**63 - 1, -1, 0, 5, 2**63 - 1, 0.5, 0.0), (-(2**63), 3, 2**60, -1, -5, -1.0, _MOST)]
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
        (5, 1e300, "posix_file.read_seconds (more than the 453 core-seconds of the run)"),
        (5, float("inf"), "posix_file.read_seconds (not finite)"),
        (6, float("nan"), "posix_file.meta_seconds (not finite)"),
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
    rows, doubted = mended((1, 0, 10, 2, 9, 1e7, 1e13), run=None)
    assert [(1, 0, 10, 2, 9, 1e7, -1.0)] == rows
    assert "counted as unknown: posix_file.meta_seconds (more than the 1,000,000,000,000 core-seconds of the run)" == str(doubted)


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
