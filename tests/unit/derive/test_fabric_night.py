"""What each directed link did in a night, for pictures."""

import datetime as dt
import math

import numpy as np
import pytest
from fabrics import AT, CAPACITY, NIGHT, Row, rows_as

from iomine.derive.fabric_night import SLOTS, levels_of, link_nights_of, values_of
from iomine.schema.registry import arrow_schema


def slot(number: int, counted: int | None, storage: int = 0, guid: str = "a", port: int = 1) -> Row:
    other = None if counted is None else max(0, counted - storage)
    return {
        "begin_at": AT + dt.timedelta(minutes=10 * number), "link_id": "a/1", "guid": guid, "port": port,
        "counted_bytes": counted, "storage_bytes": storage, "other_bytes": other,
        "covered_seconds": None if counted is None else 600.0, "capacity_bytes_per_second": CAPACITY,
    }  # fmt: skip


def interval(minutes: float, seconds: float, guid: str = "a", **counts: int) -> Row:
    row = {"begin_at": AT + dt.timedelta(minutes=minutes), "interval_seconds": seconds, "link_id": "a/1", "guid": guid, "port": 1}
    return row | counts


def night_of(slots: list[Row], intervals: list[Row]) -> list[Row]:
    return link_nights_of(rows_as("link_slot", slots), rows_as("link_interval", intervals), NIGHT).to_pylist()


def series(row: Row, name: str) -> list[float]:
    return values_of(np.frombuffer(row[name], "<u2")).tolist()


def test_levels_keep_a_number() -> None:
    """A number comes back within the half of a step, zero as zero, and what is not known as that."""
    numbers = np.array([0.0, 1e-6, 0.05, 0.75, 1.0, 123456.0])
    assert numbers == pytest.approx(values_of(levels_of(numbers)), rel=5e-3)
    assert math.isnan(values_of(levels_of([math.nan]))[0])
    assert [1e-6, 1e9] == pytest.approx(values_of(levels_of([1e-99, math.inf])))


def test_sums_and_levels_of_a_link() -> None:
    """Bytes add up over the night; utilisation is of the time that counters cover, its highest of one slot."""
    could = int(CAPACITY * 600)
    (row,) = night_of([slot(0, could // 2, could // 10), slot(3, could // 10), slot(4, None, could // 5)], [])
    assert (could * 6 // 10, could * 3 // 10) == (row["counted_bytes"], row["storage_bytes"])
    assert (0.3, 0.5, 1200) == pytest.approx((row["utilisation_ratio"], row["peak_utilisation_ratio"], row["covered_seconds"]))
    used = series(row, "utilisation_levels")
    assert SLOTS == len(used)
    assert [0.5, 0.1] == pytest.approx([used[0], used[3]], rel=5e-3)
    assert all(math.isnan(used[place]) for place in (1, 2, 4))
    assert pytest.approx(0.2, rel=5e-3) == series(row, "storage_levels")[4]
    assert row["wait_per_word_ratio"] is None
    assert row["link_error_count"] is None


def test_an_interval_over_slots_is_shared_out() -> None:
    """What an hour's interval counts comes evenly to its six slots, and what lies beyond the night is left out."""
    counts = {"moved_bytes": 4000, "xmit_wait_ticks": 500, "symbol_error_count": 6, "rcv_error_count": 6, "packet_count": 60}
    (row,) = night_of([], [interval(60, 3600, **counts), interval(1435, 600, symbol_error_count=10)])
    errors = series(row, "error_levels")
    assert [2.0] * 6 == pytest.approx(errors[6:12], rel=5e-3)
    assert pytest.approx(5, rel=5e-3) == errors[143]
    assert (17, 0.5) == (row["link_error_count"], row["wait_per_word_ratio"])
    assert row["multicast_packet_ratio"] is None


def test_links_are_in_the_order_of_guid_and_port() -> None:
    """One row for each directed link that either input knows, with the schema's columns."""
    found = night_of([slot(0, 1, guid="b"), slot(0, 1, guid="a", port=12)], [interval(0, 600, "c"), interval(0, 600, "a")])
    assert [("a", 1), ("a", 12), ("b", 1), ("c", 1)] == [(row["guid"], row["port"]) for row in found]
    assert arrow_schema("link_night").names == list(found[0])


def test_nothing_gives_nothing() -> None:
    """A night without counters has no row."""
    assert [] == night_of([], [])
