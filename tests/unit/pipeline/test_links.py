"""What is worked out of links, against loops over the same rows."""

from collections import defaultdict
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iomine.lake import LakeFile, write_file
from iomine.pipeline.judging.links import link_files
from iomine.pipeline.judging.steps import worked
from iomine.schema.registry import arrow_schema

Row = dict[str, Any]
# Late enough for logs to pass midnight.
_FIRST = datetime(2024, 4, 18, 22, tzinfo=UTC)
_SLOT = timedelta(minutes=10)
_PORTS = [("a", 1), ("a", 2), ("b", 1)]
_LIMIT = 20


def _files(folder: Path, **tables: list[Row]) -> list[LakeFile]:
    """Rows of tables, each in the night that it says."""
    by_place: dict[tuple[str, date], list[Row]] = defaultdict(list)
    for table, rows in tables.items():
        for row in rows:
            by_place[table, row["night"]].append(row)
    return [
        write_file(folder, table, pa.Table.from_pylist(rows, schema=arrow_schema(table)), "x", night)
        for (table, night), rows in by_place.items()
    ]


def _worked_out(**tables: list[Row]) -> dict[str, list[Row]]:
    """All rows of each table that follows, with their nights."""
    with TemporaryDirectory() as folder:
        files = _files(Path(folder), **tables)
        found: dict[str, list[Row]] = defaultdict(list)
        for file in worked(link_files(Path(folder), files, {file.partition for file in files if file.partition})):
            found[file.table] += [row | {"night": file.night} for row in pq.read_table(file.path).to_pylist()]
        return found


def _link(guid: str, port: int) -> str:
    """Ports a/1 and b/1 are the two ends of a link."""
    return "a/1" if (guid, port) == ("b", 1) else f"{guid}/{port}"


_COUNTS = st.tuples(st.sampled_from(_PORTS), st.integers(0, 23), st.sampled_from([0, 1, 20, 21, 900]), st.floats(0, 8))
_MOVED = st.tuples(
    st.sampled_from(["l1", "l2", "l3"]), st.sampled_from(_PORTS), st.integers(0, 23), st.integers(1, 1000), st.integers(0, 9)
)


# Each example builds views anew.
@pytest.mark.proof
@settings(max_examples=25, deadline=None)
@given(
    st.lists(_COUNTS, max_size=30, unique_by=lambda each: each[:2]),
    st.lists(st.tuples(st.sampled_from(_PORTS), st.integers(0, 23)), max_size=10, unique=True),
    st.lists(_MOVED, min_size=1, max_size=40),
)
def test_logs_meet_what_was_wrong_on_the_links_that_they_depended_on(counts: list[Any], full: list[Any], moved: list[Any]):
    """Slots, shares and ratios of each log are those of a walk over its ten minutes, also where they pass midnight."""
    at = [_FIRST + _SLOT * number for number in range(24)]
    intervals = [
        {
            "night": (at[slot] + _SLOT).date(),
            "begin_at": at[slot],
            "interval_seconds": 600.0,
            "link_id": _link(*port),
            "guid": port[0],
            "port": port[1],
            "symbol_error_count": errors,
            "wait_per_word_ratio": wait,
            "quality": "sound",
        }
        for port, slot, errors, wait in counts
    ]
    slots = [
        {
            "night": at[slot].date(),
            "begin_at": at[slot],
            "link_id": _link(*port),
            "guid": port[0],
            "port": port[1],
            "counted_bytes": 10**6,
            "storage_bytes": 0,
            "other_bytes": 10**6,
            "utilisation_ratio": 0.9 if (port, slot) in full else 0.1,
            "link_class": "congested" if (port, slot) in full else "light",
        }
        for port in _PORTS
        for slot in range(24)
    ]
    last = {log_id: max(slot for log, _, slot, *_ in moved if log == log_id) for log_id, *_ in moved}
    night_of = {log_id: at[slot].date() for log_id, slot in last.items()}
    rows = [
        {
            "night": night_of[log_id],
            "begin_at": at[slot],
            "log_id": log_id,
            "job_id": log_id,
            "user": "ada",
            "link_id": _link(*port),
            "guid": port[0],
            "port": port[1],
            "op": "write",
            "moved_bytes": size,
            "straggler_bytes": min(late, size),
            "is_host_link": False,
            "is_server_link": False,
        }
        for log_id, port, slot, size, late in moved
    ]
    total = {log_id: sum(row["moved_bytes"] for row in rows if row["log_id"] == log_id) for log_id in last}
    late_bytes = {log_id: sum(row["straggler_bytes"] for row in rows if row["log_id"] == log_id) for log_id in last}
    routes = [
        {
            "night": night_of[log_id],
            "log_id": log_id,
            "moved_bytes": total[log_id],
            "routed_bytes": total[log_id],
            "straggler_bytes": late_bytes[log_id],
        }
        for log_id in last
    ]
    got = _worked_out(link_interval=intervals, link_slot=slots, job_link=rows, job_route=routes)

    usual = _usual(intervals)
    faulty = {(row["link_id"], row["begin_at"]) for row in intervals if row["symbol_error_count"] > _LIMIT}
    waits = {
        (row["guid"], row["port"], row["begin_at"])
        for row in intervals
        if row["symbol_error_count"] <= _LIMIT
        and row["wait_per_word_ratio"] / max(usual[row["night"]][row["guid"], row["port"]], 0.01) >= 10
    }
    congested = {(*port, at[slot]) for port, slot in full} | waits
    assert {(row["link_id"], row["begin_at"]) for row in got["link_trouble"] if row["is_faulty"]} == faulty
    assert {(row["guid"], row["port"], row["begin_at"]) for row in got["link_trouble"] if row["is_congested"]} >= waits
    for found in got["log_fabric"]:
        mine = [row for row in rows if row["log_id"] == found["log_id"]]
        times = {row["begin_at"] for row in mine}
        ratios = {}
        for link in {row["link_id"] for row in mine}:
            on_link = [row for row in mine if row["link_id"] == link]
            share = sum(row["moved_bytes"] for row in on_link) / total[found["log_id"]]
            late = sum(row["straggler_bytes"] for row in on_link)
            if share >= 0.25 or (late_bytes[found["log_id"]] > 0 and late == late_bytes[found["log_id"]]):
                bad = {row["begin_at"] for row in on_link if (link, row["begin_at"]) in faulty}
                slow = {row["begin_at"] for row in on_link if (row["guid"], row["port"], row["begin_at"]) in congested}
                ratios[link] = (len(bad) / len(times), len(slow) / len(times))
        assert len(ratios) == found["heavy_link_count"]
        assert pytest.approx(max((bad for bad, _ in ratios.values()), default=0)) == found["faulty_slot_ratio"]
        assert pytest.approx(max((slow for _, slow in ratios.values()), default=0)) == found["congested_slot_ratio"]
    assert {(row["log_id"], row["night"]) for row in got["log_fabric"]} == set(night_of.items())


def _usual(intervals: list[Row]) -> dict[date, dict[tuple[str, int], float]]:
    """The lower median of the medians of nights up to each night, by port."""
    nights = sorted({row["night"] for row in intervals})
    of_night: dict[tuple[str, int], dict[date, float]] = defaultdict(dict)
    for port in _PORTS:
        for night in nights:
            ratios = [
                row["wait_per_word_ratio"] for row in intervals if (row["guid"], row["port"], row["night"]) == (*port, night)
            ]
            if ratios:
                of_night[port][night] = median(ratios)
    return {
        night: {
            port: sorted(known)[(len(known) - 1) // 2]
            for port, medians in of_night.items()
            if (known := [value for earlier, value in medians.items() if earlier <= night])
        }
        for night in nights
    }


def test_without_a_fabric_nothing_is_worked_out():
    """Logs alone make no files, and no view is asked."""
    assert {} == _worked_out(log=[{"night": _FIRST.date(), "log_id": "l1"}])


def test_late_counters_reach_logs_of_the_night_after():
    """Counters of a night are held against logs that began in it and ended in the next."""
    with TemporaryDirectory() as folder:
        night = _FIRST.date()
        port = {"link_id": "a/1", "guid": "a", "port": 1}
        log = {"night": night + timedelta(days=1), "log_id": "l1"}
        files = _files(
            Path(folder),
            link_slot=[
                {
                    "night": night,
                    "begin_at": _FIRST,
                    "link_class": "congested",
                    "utilisation_ratio": 0.9,
                    "counted_bytes": 9,
                    **port,
                }
            ],
            job_link=[{**log, "begin_at": _FIRST, "moved_bytes": 5, **port}],
            job_route=[{**log, "moved_bytes": 5, "routed_bytes": 5}],
        )
        found = worked(link_files(Path(folder), files, {("x", night)}))
        (of_log,) = [row for file in found if file.table == "log_fabric" for row in pq.read_table(file.path).to_pylist()]
        assert (1.0, "90% full") == (of_log["congested_slot_ratio"], of_log["congested_trouble"])


def test_trouble_stays_that_was_found_in_rows_which_have_left(tmp_path: Path):
    """Without intervals a late log would leave nothing of the errors that they had counted, and without logs nothing of jobs."""
    place = {"night": _FIRST.date(), "begin_at": _FIRST, "link_id": "a/1", "guid": "a", "port": 1}
    slot = {**place, "link_class": "light", "counted_bytes": 9}
    trouble = {**place, "is_faulty": True, "trouble": "900 symbol errors"}
    files = _files(tmp_path, link_slot=[slot], link_trouble=[trouble], link_hour=[{**place, "faulty_slot_count": 1}])
    assert [] == worked(link_files(tmp_path, files, {("x", _FIRST.date())}))
    late = _files(tmp_path, link_interval=[{**place, "interval_seconds": 600.0, "quality": "sound"}])
    made = worked(link_files(tmp_path, [*files, *late], {("x", _FIRST.date())}))
    assert {"link_usual", "link_trouble", "link_hour"} == {file.table for file in made}
    known = _files(tmp_path, known_log=[{"night": _FIRST.date(), "log_id": "a"}])
    made = worked(link_files(tmp_path, [*files, *late, *known], {("x", _FIRST.date())}))
    assert {"link_usual"} == {file.table for file in made}


def test_a_log_of_several_nights_meets_what_was_wrong_in_each():
    """Counters, and who else was there, of the first of four nights; and the hours of that night name the log."""
    with TemporaryDirectory() as folder:
        port = {"link_id": "a/1", "guid": "a", "port": 1}
        last = _FIRST.date() + timedelta(days=3)
        slots = [_FIRST + timedelta(days=day) for day in range(4)]
        full = {"link_class": "congested", "utilisation_ratio": 0.9, "counted_bytes": 9}
        log, other = ({"log_id": log_id, "job_id": log_id, "user": log_id, "moved_bytes": 5} for log_id in ("l1", "l2"))
        files = _files(
            Path(folder),
            link_slot=[{"night": at.date(), "begin_at": at, **full, **port} for at in slots],
            job_link=[
                *({**log, "night": last, "begin_at": at, **port} for at in slots),
                {**other, "moved_bytes": 1, "night": _FIRST.date(), "begin_at": _FIRST, **port},
            ],
            job_route=[{"night": last, "log_id": "l1", "moved_bytes": 20, "routed_bytes": 20}],
        )
        found = worked(link_files(Path(folder), files, {("x", _FIRST.date())}))
        rows = {
            table: [row for file in found if file.table == table for row in pq.read_table(file.path).to_pylist()]
            for table in ("log_link", "link_hour")
        }
        (of_log,), (hour,) = rows["log_link"], rows["link_hour"]
        assert (4, 4) == (of_log["io_slot_count"], of_log["counted_slot_count"])
        assert "l2 (job l2)" == of_log["link_others"]
        assert ("l1", 2) == (hour["user"], hour["job_count"])
