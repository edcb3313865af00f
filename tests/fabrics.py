"""Fabrics made by chance, and a large one: rows of the lake's tables for tests."""

import datetime as dt
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from iomine.derive.fabric_layout import layout_of
from iomine.derive.fabric_night import link_nights_of
from iomine.schema.registry import arrow_schema
from iomine.triggers import reference_table
from iomine.views.catalog import build_catalog

NIGHT: Final = dt.date(2026, 11, 20)
AT: Final = dt.datetime(2026, 11, 20, tzinfo=dt.UTC)
CAPACITY: Final = 12.5e9
SLOTS: Final = 144
Row = dict[str, Any]


def guid_of(number: int) -> str:
    """A guid."""
    return f"{0x248A0703000000 + number:016x}"


@dataclass
class Fabric:
    """Devices and links as rows."""

    nodes: list[Row] = field(default_factory=list)
    links: list[Row] = field(default_factory=list)
    ports: dict[str, int] = field(default_factory=dict)

    def add(self, number: int, kind: str, tier: int | None, description: str, chassis: int | None = None, **more: Any) -> str:
        """Adds a device; returns its guid."""
        guid = guid_of(number)
        row = {"sampled_at": AT, "guid": guid, "node_kind": kind, "description": description, "lid": number + 1, "lmc": 0}
        row |= {"host": description if kind == "host" else None, "tier": tier, "port_count": 64}
        row |= {"chassis_guid": guid if chassis is None else guid_of(chassis)}
        self.nodes.append(row | more)
        return guid

    def connect(self, one: str, other: str, count: int = 1, capacity: float = CAPACITY) -> None:
        """Links two devices, or one to itself."""
        for _ in range(count):
            ends = sorted([(one, self._port(one)), (other, self._port(other))])
            (guid, port), (peer, peer_port) = ends
            row = {"sampled_at": AT, "link_id": f"{guid}/{port}", "guid": guid, "port": port, "lanes": 4, "is_up": True}
            row |= {"peer_guid": peer, "peer_port": peer_port, "speed": "EDR", "capacity_bytes_per_second": capacity}
            self.links.append(row)

    def _port(self, guid: str) -> int:
        self.ports[guid] = self.ports.get(guid, 0) + 1
        return self.ports[guid]

    @property
    def tables(self) -> tuple[pa.Table, pa.Table]:
        """Devices and links as the lake has them."""
        return rows_as("fabric_node", self.nodes), rows_as("fabric_link", self.links)

    @property
    def directed(self) -> list[tuple[str, str, int]]:
        """Link and sending end of each directed link."""
        ends = (((row["guid"], row["port"]), (row["peer_guid"], row["peer_port"])) for row in self.links)
        return [(f"{one[0]}/{one[1]}", *end) for one, other in ends for end in (one, other)]


def rows_as(table: str, rows: list[Row]) -> pa.Table:
    """Rows with all columns of a table."""
    schema = arrow_schema(table)
    return pa.Table.from_pylist([{name: row.get(name) for name in schema.names} for row in rows], schema=schema)


def fat_tree(leaves: int, spines: int, hosts: int, parallel: int = 1, first: int = 0) -> Fabric:
    """Leaf switches with hosts, each linked to all spines."""
    made = Fabric()
    tops = [made.add(first + number, "switch", 2, f"spine{number}") for number in range(spines)]
    for number in range(leaves):
        leaf = made.add(first + spines + number, "switch", 1, f"leaf{number}")
        for top in tops:
            made.connect(leaf, top, parallel)
        for host in range(hosts):
            place = number * hosts + host
            made.connect(made.add(first + spines + leaves + place, "host", 0, f"node{place:05d} HCA-1"), leaf)
    return made


def large() -> Fabric:
    """8,811 hosts, 494 switches, 22,819 links: three tiers in pods, the core in directors."""
    made = Fabric()
    dice = np.random.default_rng(7)
    leaves = [made.add(number, "switch", 1, f"leaf{number:03d}") for number in range(280)]
    middle = [made.add(280 + number, "switch", 2, f"pod{number // 8}-{number % 8}") for number in range(112)]
    core = [
        made.add(392 + number, "switch", 3, f"director{number // 34}/U{number % 34}", 392 + number // 34 * 34)
        for number in range(102)
    ]
    for number in range(8811):
        made.connect(made.add(494 + number, "host", 0, f"node{number:05d} HCA-1"), leaves[number * 280 // 8811])
    for number, leaf in enumerate(leaves):
        for up in range(8):
            made.connect(leaf, middle[number // 20 * 8 + up], 4)
    for number, switch in enumerate(middle):
        for up in range(22):
            made.connect(switch, core[(number * 22 + up) % len(core)], 2)
    while len(made.links) < 22819:
        made.connect(middle[int(dice.integers(112))], core[int(dice.integers(102))])
    return made


def slots_of(fabric: Fabric, seed: int = 1, *, busy: float = 0.02) -> tuple[pa.Table, pa.Table]:
    """Ten-minute slots and intervals of every directed link over a night; some links are busy for hours."""
    dice = np.random.default_rng(seed)
    links = fabric.directed
    count = len(links)
    used = dice.lognormal(-4, 1, (count, SLOTS))
    hot = np.flatnonzero(dice.random(count) < busy)
    begin = dice.integers(0, SLOTS - 24, len(hot))
    for link, first in zip(hot.tolist(), begin.tolist(), strict=True):
        used[link, first : first + 24] = dice.uniform(0.5, 0.98, 24)
    used = used.clip(0, 1).ravel()
    counted = (used * CAPACITY * 600).astype(np.int64)
    storage = (counted * dice.choice([0, 0.5, 0.9], count * SLOTS, p=[0.8, 0.1, 0.1])).astype(np.int64)
    at = np.datetime64(AT.replace(tzinfo=None), "us") + (np.tile(np.arange(SLOTS), count) * np.timedelta64(600, "s"))
    which = np.repeat(np.arange(count), SLOTS).astype(np.int32)
    texts = [
        pa.DictionaryArray.from_arrays(which, pa.array([link[place] for link in links])).cast(pa.string()) for place in (0, 1)
    ]
    base = {"begin_at": pa.array(at, pa.timestamp("us", "UTC")), "link_id": texts[0], "guid": texts[1]}
    base |= {"port": pa.array(np.array([link[2] for link in links], np.int64)[which]), "utilisation_ratio": pa.array(used)}
    base |= {"capacity_bytes_per_second": pa.array(np.full(len(which), CAPACITY))}
    more = {"counted_bytes": counted, "storage_bytes": storage, "other_bytes": counted - storage}
    slots = (
        base
        | {name: pa.array(values) for name, values in more.items()}
        | {"covered_seconds": pa.array(np.full(len(which), 600.0))}
    )
    errors = np.where(np.isin(which, hot[:5]), 7, 0)
    more = {"moved_bytes": counted, "packet_count": counted // 2048, "multicast_packet_count": counted // 2048 // 50}
    more |= {"xmit_wait_ticks": (counted * used / 40).astype(np.int64), "symbol_error_count": errors}
    intervals = base | {name: pa.array(values) for name, values in more.items()}
    intervals["interval_seconds"] = pa.array(np.full(len(which), 600.0))
    return _whole("link_slot", slots), _whole("link_interval", intervals)


def _whole(table: str, columns: dict[str, pa.Array]) -> pa.Table:
    schema = arrow_schema(table)
    length = len(next(iter(columns.values())))
    return pa.table(
        [columns[each.name].cast(each.type) if each.name in columns else pa.nulls(length, each.type) for each in schema],
        schema=schema,
    )


def hostile() -> Fabric:
    """Two fabrics with all that can be odd: names, links to itself, no link, no tier."""
    made = fat_tree(2, 2, 3, parallel=2)
    other = fat_tree(1, 1, 2, first=5000)
    made.nodes += other.nodes
    made.links += other.links
    names = ['<script>alert("x")</script>', 'it\'s "quoted" # ; [1]', "x" * 4096, "\u202eevil\x00", ""]
    for number, name in enumerate(names):
        made.connect(made.add(9000 + number, "host", 0, name), made.nodes[2]["guid"])
    made.connect(made.nodes[0]["guid"], made.nodes[0]["guid"])
    made.add(9900, "host", 0, "alone")
    strange = made.add(9901, "switch", None, "strange")
    made.connect(strange, made.nodes[1]["guid"])
    made.connect(made.add(9902, "aggregation", None, "Mellanox Technologies Aggregation Node"), strange)
    made.links[0]["is_up"] = False
    return made


def jobs_of(fabric: Fabric, slots: pa.Table, count: int, nodes: int, seed: int = 3) -> dict[str, list[Row]]:
    """Jobs on neighbouring hosts that write to the last two hosts: logs, routes, and bytes on links in an hour each."""
    dice = np.random.default_rng(seed)
    hosts = [row["guid"] for row in fabric.nodes if row["node_kind"] == "host"]
    ends = {(row["guid"], row["port"]): (row["peer_guid"], row["peer_port"]) for row in fabric.links}
    ends |= {peer: one for one, peer in ends.items()}
    upper = [end for end in ends if end[0] not in hosts and ends[end][0] not in hosts]
    of_host = {guid: (guid, port) for guid, port in ends if guid in set(hosts)}
    logs, routes, moved = [], [], []
    for number in range(count):
        first = int(dice.integers(0, max(1, len(hosts) - nodes - 2)))
        mine = hosts[first : first + nodes]
        key = {
            "cluster": "blue",
            "night": NIGHT,
            "log_id": f"{number:016x}",
            "job_id": f"job {number}",
            "user": f"user{number % 7}",
        }
        logs.append(key | {"app": "<b>app", "start_at": AT, "end_at": AT, "nprocs": 4})
        routes.append(key | {"moved_bytes": 10**12, "routed_bytes": 10**12 - number, "fabric_evidence": "tables"})
        ways = [(of_host[guid], True, False) for guid in mine if guid in of_host]
        ways += [(ends[of_host[guid]], False, True) for guid in hosts[-2:] if guid in of_host]
        ways += [(upper[int(place)], False, False) for place in dice.integers(0, len(upper), 8)] if upper else []
        for hour in range(6):
            for (guid, port), is_host, is_server in ways:
                low = min((guid, port), ends[guid, port])
                moved.append(
                    key
                    | {
                        "begin_at": AT + dt.timedelta(minutes=10 * (hour + number % 100)),
                        "guid": guid,
                        "port": port,
                        "op": "write",
                    }
                    | {
                        "link_id": f"{low[0]}/{low[1]}",
                        "moved_bytes": 10**9,
                        "is_host_link": is_host,
                        "is_server_link": is_server,
                    }
                    | {"fabric_evidence": "tables"}
                )
    return {"log": logs, "job_route": routes, "job_link": moved}


def publish(
    root: Path, fabric: Fabric, *, jobs: int = 3, nodes: int = 3, with_night: bool = True, hours: list[Row] | None = None
) -> Path:
    """A warehouse of a machine `blue` with a fabric, what its links did in a night, and hours of them; returns its catalog."""
    tables = dict(zip(("fabric_node", "fabric_link"), fabric.tables, strict=True))
    readings = sorted({row["sampled_at"] for row in fabric.nodes})
    of_reading = [[table.filter(pc.equal(table["sampled_at"], at)) for table in fabric.tables] for at in readings]
    tables["fabric_layout"] = pa.concat_tables([layout_of(*each) for each in of_reading])
    if with_night:
        slots, intervals = slots_of(fabric)
        tables |= {"link_slot": slots, "link_interval": intervals, "link_night": link_nights_of(slots, intervals, NIGHT)}
        tables |= {name: rows_as(name, rows) for name, rows in jobs_of(fabric, slots, jobs, nodes).items()}
    if hours:
        tables["link_hour"] = rows_as("link_hour", hours)
    files = {}
    for name, table in tables.items():
        folder = root / "lake" / name / "cluster=blue" / f"night={NIGHT}"
        folder.mkdir(parents=True)
        pq.write_table(table.cast(arrow_schema(name)), folder / "part-0.parquet", compression="zstd")
        files[name] = [str(folder / "part-0.parquet")]
    build_catalog(root / "iomine.duckdb", files, {"triggers": reference_table()}, {})
    return root / "iomine.duckdb"
