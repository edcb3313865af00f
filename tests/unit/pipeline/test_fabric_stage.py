"""What a sweep works out of a fabric: what links did, and what logs put onto them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import fabric_rows as fabrics
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from iomine.lake import LakeFile, replaced, write_file
from iomine.pipeline.judging import fabric as stage
from iomine.pipeline.judging.steps import worked
from iomine.schema.registry import arrow_schema

NIGHT = date(2024, 4, 18)
BEGIN = datetime(2024, 4, 18, 12, tzinfo=UTC)
MIB = 1 << 20
Rows = Sequence[Mapping[str, object]]


def written(folder: Path, table: str, rows: Rows | pa.Table, night: date = NIGHT) -> LakeFile:
    rows = rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(list(rows), schema=arrow_schema(table))
    return write_file(folder, table, rows, "x", night)


def table_of(file: LakeFile) -> pa.Table:
    return pq.read_table(file.path, partitioning=None).cast(arrow_schema(file.table))


def rows_of(files: Sequence[LakeFile], table: str, night: date = NIGHT) -> list[dict[str, object]]:
    return [row for file in files if (file.table, file.night) == (table, night) for row in table_of(file).to_pylist()]


def fabric_files(folder: Path, there: Sequence[LakeFile], new: Sequence[LakeFile], at_once: int = 10_000) -> list[LakeFile]:
    """All that follows of new files, in the two steps of a sweep."""
    counted = worked(stage.port_files(folder, there, new))
    files = worked(stage.fabric_files(folder, replaced(there, counted), [*new, *counted], at_once=at_once))
    return replaced(counted, files)


def tree(host_switch: int = 0) -> fabrics.Fabric:
    """Two leaf switches under a third; two nodes on the first, a server on the second."""
    fabric = fabrics.Fabric(3, ["n1", "n2", "oss1"])
    for one, other in ((0, 2), (1, 2), (3, host_switch), (4, 0), (5, 1)):
        fabric.link(one, other)
    fabric.route()
    return fabric


def lake(folder: Path, *, at: datetime = BEGIN - timedelta(hours=6), job_night: date = NIGHT) -> list[LakeFile]:
    fabric = tree()
    end = BEGIN + timedelta(minutes=20)
    log = {
        "log_id": "a",
        "job_id": "7",
        "user": "ada",
        "nprocs": 4,
        "start_at": BEGIN,
        "end_at": end,
        "read_bytes": 0,
        "write_bytes": 5 * MIB,
    }
    job = {"job_id": "7", "start_at": BEGIN, "end_at": end, "hosts": ["n1", "n2"]}
    io = {"log_id": "a", "layer": "posix", "ost_id": 0, "op": "write", "evidence": "trace", "moved_bytes": 4 * MIB}
    phase = {
        "log_id": "a",
        "layer": "all",
        "phase": 0,
        "start_seconds": 0.0,
        "end_seconds": 900.0,
        "read_bytes": 0,
        "write_bytes": 5 * MIB,
    }
    readings = [
        {
            "sampled_at": BEGIN + timedelta(minutes=10 * n),
            "guid": fabrics.guid(0),
            "port": port,
            "xmit_bytes": 10 * MIB * n,
            "rcv_bytes": MIB * n,
        }
        for n in range(4)
        for port in (1, 2, 3)
    ]
    return [
        written(folder, "fabric_node", fabric.nodes_table(at), at.date()),
        written(folder, "fabric_link", fabric.links_table(at), at.date()),
        written(folder, "fabric_route", fabric.routes_table(at), at.date()),
        written(folder, "fabric_name", fabrics.names_table({"s-OST0000": ["oss1"]}, at), at.date()),
        written(folder, "log", [log]),
        written(folder, "job", [job], job_night),
        written(folder, "ost_io", [io]),
        written(folder, "phase", [phase]),
        written(folder, "port_reading", readings),
    ]


def test_logs_and_readings_are_put_onto_links(tmp_path: Path):
    """Bytes that a log's layouts name lie on its nodes' and servers' links, in the ten minutes of its phase; others say why."""
    there = lake(tmp_path)
    files = fabric_files(tmp_path, there, there)
    (route,) = rows_of(files, "job_route")
    assert 5 * MIB == route["moved_bytes"]
    assert 4 * MIB == route["routed_bytes"] == route["host_link_bytes"] == route["server_link_bytes"]
    assert "It is not known on which targets its bytes lie." == route["unrouted_reason"]
    assert ("tables", "even", "ost_io", "one") == tuple(
        route[f"{name}_evidence"] for name in ("fabric", "host", "target", "adapter")
    )
    links = rows_of(files, "job_link")
    assert {("a", "7", "ada", "write")} == {(row["log_id"], row["job_id"], row["user"], row["op"]) for row in links}
    uplink = {row["begin_at"]: row["moved_bytes"] for row in links if row["guid"] == fabrics.guid(0)}
    assert 4 * MIB == sum(uplink.values())
    assert 4 * MIB * 2 // 3 == pytest.approx(uplink[BEGIN], abs=1)
    (slot,) = (
        row for row in rows_of(files, "link_slot") if (row["guid"], row["port"], row["begin_at"]) == (fabrics.guid(0), 1, BEGIN)
    )
    assert (10 * MIB, uplink[BEGIN], 10 * MIB - uplink[BEGIN], 1) == tuple(
        slot[name] for name in ("counted_bytes", "storage_bytes", "other_bytes", "log_count")
    )
    assert not any(file.table == "failed_derivation" for file in files)


def test_working_out_twice_gives_the_same(tmp_path: Path):
    """A second time the same rows follow, whatever of the first is there."""
    there = lake(tmp_path)
    once = fabric_files(tmp_path, there, there)
    twice = fabric_files(tmp_path, replaced(there, once), there)
    for table in ("link_interval", "job_link", "job_route", "link_slot"):
        assert rows_of(once, table) == rows_of(twice, table)


def test_a_cluster_without_a_fabric_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Nothing is read and nothing written where no links are known."""
    there = [file for file in lake(tmp_path) if not file.table.startswith("fabric_")]
    monkeypatch.setattr(stage._Fabric, "__init__", None)
    assert [] == fabric_files(tmp_path, there, there)


def test_logs_of_a_night_may_be_worked_out_apart(tmp_path: Path):
    """In parts, a few logs at a time, a night's logs put onto links what they do together, to the byte."""
    there = lake(tmp_path)
    logs, ios = [], []
    for number in range(12):
        log_id = f"{number * 21:02x}" * 8
        minutes = timedelta(minutes=5 * number)
        moved = {"read_bytes": 0, "write_bytes": 1000 * MIB + number}
        logs.append(
            {"log_id": log_id, "nprocs": 4, "start_at": BEGIN + minutes, "end_at": BEGIN + 3 * minutes, "job_id": "7"} | moved
        )
        io = {"log_id": log_id, "layer": "posix", "op": "write", "evidence": "trace"}
        ios += [io | {"ost_id": ost, "moved_bytes": 7 * ost + number + 3} for ost in range(1 + number % 3, -1, -1)]
    servers = {f"s-OST{ost:04x}": ["oss1"] for ost in range(3)}
    names = fabrics.names_table(servers, BEGIN - timedelta(hours=6))
    there = replaced(there, [written(tmp_path, *rows) for rows in (("log", logs), ("ost_io", ios), ("fabric_name", names))])
    whole, parts = fabric_files(tmp_path, there, there), fabric_files(tmp_path, there, there, at_once=2)
    assert 4 < sum(file.table == "job_link" for file in parts)
    for table in ("job_link", "job_route", "link_slot", "link_night"):
        assert rows_of(whole, table) == rows_of(parts, table) != []


@pytest.mark.parametrize("table", ["fabric_link", "job", "port_reading"])
def test_what_comes_late_is_taken_up(tmp_path: Path, table: str):
    """Topology, accounting and readings that come after their night was swept give what they would have given in time."""
    there = lake(tmp_path, at=BEGIN - timedelta(days=2), job_night=NIGHT + timedelta(days=1))
    before = [file for file in there if file.table != table]
    first = fabric_files(tmp_path, before, before)
    files = fabric_files(tmp_path, replaced(there, first), [file for file in there if file.table == table])
    both = replaced(first, files)
    whole = fabric_files(tmp_path, there, there)
    for each in ("link_interval", "job_link", "job_route", "link_slot"):
        assert rows_of(whole, each) == rows_of(both, each)


def test_a_late_log_leaves_what_was_worked_out_of_rows_that_have_left(tmp_path: Path):
    """Neither counters nor logs that are past their days can be counted again: what links did stays, the log gets its routes."""
    there = lake(tmp_path)
    there = replaced(there, fabric_files(tmp_path, there, there))
    (log,) = (file for file in there if file.table == "log")
    files = fabric_files(tmp_path, [file for file in there if file.table != "link_interval"], [log])
    assert [1] == [len(rows_of(files, "job_route"))]
    assert {"job_link", "job_route"} == {file.table for file in files}
    files = fabric_files(tmp_path, [*there, written(tmp_path, "known_log", [{"log_id": "b"}])], [log])
    assert {"job_link", "job_route"} == {file.table for file in files}
    files = fabric_files(tmp_path, there, [log])
    assert {"job_link", "job_route", "link_slot", "link_night"} == {file.table for file in files}


def test_a_link_that_moved_carries_what_moved_then(tmp_path: Path):
    """From the next snapshot on, a node's bytes leave over the switch that it is linked with then."""
    there = lake(tmp_path)
    moved, at = tree(host_switch=1), BEGIN + timedelta(minutes=10)
    later = {"fabric_node": moved.nodes_table(at), "fabric_link": moved.links_table(at), "fabric_route": moved.routes_table(at)}
    both = [pa.concat_tables([table_of(file), later[file.table]]) for file in there if file.table in later]
    there = replaced(there, [written(tmp_path, table, rows) for table, rows in zip(later, both, strict=True)])
    files = fabric_files(tmp_path, there, there)
    links = [row for row in rows_of(files, "job_link") if row["guid"] == fabrics.guid(0)]
    sent = {row["begin_at"]: row["moved_bytes"] for row in links}
    server = {row["begin_at"]: row["moved_bytes"] for row in rows_of(files, "job_link") if row["is_server_link"]}
    assert sent[BEGIN] == server[BEGIN]
    assert sent[at] == pytest.approx(server[at] / 2, abs=1)
    (route,) = rows_of(files, "job_route")
    assert route["routed_bytes"] == route["host_link_bytes"] == route["server_link_bytes"]


def test_what_fails_costs_its_own_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A log that breaks the derivation is named, and others keep theirs; so do links."""
    there = lake(tmp_path)
    two = [
        {
            "log_id": name,
            "job_id": "7",
            "user": "ada",
            "nprocs": 4,
            "start_at": BEGIN,
            "end_at": BEGIN + timedelta(minutes=5),
            "write_bytes": 9,
            "read_bytes": 0,
        }
        for name in "ab"
    ]
    io = [{"log_id": name, "layer": "posix", "ost_id": 0, "op": "write", "evidence": "trace", "moved_bytes": 9} for name in "ab"]
    there = replaced(there, [written(tmp_path, "log", two), written(tmp_path, "ost_io", io)])
    sound = stage.job_traffic

    def broken(eras: object, load: stage.Load) -> object:
        if "b" in load.targets["log_id"].to_pylist():
            raise ValueError("it\nbreaks")
        return sound(eras, load)

    monkeypatch.setattr(stage, "job_traffic", broken)
    monkeypatch.setattr(stage, "link_intervals", lambda *_: 1 // 0)
    files = fabric_files(tmp_path, there, there)
    assert {"a"} == {row["log_id"] for row in rows_of(files, "job_link")}
    assert [] == rows_of(files, "link_interval")
    failed = {(row["log_id"], row["derivation"]): row["error"] for row in rows_of(files, "failed_derivation")}
    assert {
        ("b", "job_link"): "ValueError: it breaks",
        ("", "link_interval"): "ZeroDivisionError: integer division or modulo by zero",
    } == failed
    monkeypatch.undo()
    files = fabric_files(tmp_path, replaced(there, files), there)
    assert {"a", "b"} == {row["log_id"] for row in rows_of(files, "job_link")}
    assert [] == rows_of(files, "failed_derivation")


@pytest.mark.parametrize(
    ("table", "derivation"),
    [
        ("link_interval", "link_intervals"),
        ("link_slot", "link_slots"),
        ("link_night", "link_nights_of"),
        ("fabric_layout", "layout_of"),
    ],
)
def test_what_can_no_longer_be_worked_out_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str, derivation: str):
    """Where a table's rows fail that were there before, none of them is left."""
    there = lake(tmp_path)
    there = replaced(there, fabric_files(tmp_path, there, there))
    nights = [file.night for file in there if file.table == table and file.night and rows_of(there, table, file.night)]
    assert nights
    monkeypatch.setattr(stage, derivation, lambda *_: 1 // 0)
    there = replaced(there, fabric_files(tmp_path, there, there))
    assert not any(rows_of(there, table, night) for night in nights)
    assert table in {row["derivation"] for night in nights for row in rows_of(there, "failed_derivation", night)}
