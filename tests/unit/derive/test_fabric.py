"""Routes over fabrics, and bytes of jobs on their links, against walks a hop at a time and samples of real tools."""

from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta

import fabric_rows as fabrics
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iomine.derive.fabric import (
    Load,
    Network,
    changed_only,
    graph_of,
    in_force,
    job_traffic,
    link_intervals,
    link_slots,
    names_of,
    walked,
)
from iomine.derive.fabric.graph import UNKNOWN, Graph, resolved
from iomine.derive.fabric.routes import LOOPING, MISSING, ROUTED
from iomine.derive.fabric.shares import divided
from iomine.derive.fabric.traffic import NO_NODE, NO_ROUTE, NO_SERVER, NO_TARGET, same_switch_ratio
from iomine.schema.registry import arrow_schema

BEGIN = datetime(2024, 4, 18, 12, tzinfo=UTC)
SLOT = timedelta(minutes=10)


def walk(fabric: fabrics.Fabric, source: int, dest: int) -> list[tuple[int, int]] | None:
    """The ports that send, hop by hop; None without a route."""
    peers = {}
    for one, port, other, peer in fabric.links:
        peers[one, port], peers[other, peer] = other, one
    port = min(port for device, port in peers if device == source)
    at, way = source, []
    while True:
        way.append((at, port))
        at = peers[at, port]
        if at == dest:
            return way
        port = fabric.tables[at][dest + 1]
        if (at, port) not in peers or len(way) > len(fabric.tables):
            return None


def graph(fabric: fabrics.Fabric) -> Graph:
    return graph_of(fabric.nodes_table(), fabric.links_table())


def load_of(targets: list[tuple], slots: list[tuple], hosts: list[tuple]) -> Load:
    """Rows as views give them."""
    kinds = {"log_id": pa.string(), "op": pa.string(), "target": pa.string(), "moved_bytes": pa.int64(), "host": pa.string()}
    kinds |= {"begin_at": pa.timestamp("us", "UTC"), "slot_ratio": pa.float64(), "host_ratio": pa.float64()}
    kinds |= {"is_straggler": pa.bool_()}

    def table(rows: list[tuple], *names: str) -> pa.Table:
        return pa.table({name: pa.array([row[n] for row in rows], kinds[name]) for n, name in enumerate(names)})

    return Load(
        table(targets, "log_id", "op", "target", "moved_bytes"),
        table(slots, "log_id", "op", "begin_at", "slot_ratio"),
        table(hosts, "log_id", "op", "host", "host_ratio", "is_straggler"),
    )


def traffic(network: Network, load: Load) -> tuple[list[dict], dict[str, dict]]:
    """Rows of links, and of routes by log."""
    parts = list(job_traffic([(0, network)], load))
    return [row for links, _ in parts for row in links.to_pylist()], {
        row["log_id"]: row for _, routes in parts for row in routes.to_pylist()
    }


@pytest.mark.parametrize("seed", range(30))
def test_routes_are_those_of_a_walk_hop_by_hop(seed: int):
    """Of random fabrics every pair of hosts has the same directed links as a walk along the tables."""
    fabric = fabrics.random_fabric(seed)
    found = graph(fabric)
    hosts = np.arange(fabric.switches, len(found.kinds))
    routes = walked(found, fabric.routes_table(), np.arange(fabric.switches), hosts)
    for source in hosts.tolist():
        first = int(found.heads[np.flatnonzero(found.tails == source)[0]])
        for dest in hosts.tolist():
            if source == dest:
                continue
            expected = walk(fabric, source, dest)
            state = routes.states_of(np.array([first]), np.array([dest]))[0]
            links = routes.links_of(np.array([first]), np.array([dest]))[0]
            got = [(int(found.tails[link]), int(found.tail_ports[link])) for link in links if link >= 0]
            assert (ROUTED if expected else MISSING) == state
            assert (expected[1:] if expected else []) == got


def test_a_loop_in_tables_is_found_and_ends():
    """Two switches that send to each other for ever are said to loop, and what passes neither is routed."""
    fabric = fabrics.Fabric(3, ["a", "b"])
    for one, other in ((0, 1), (1, 2), (3, 0), (4, 2)):
        fabric.link(one, other)
    fabric.route()
    fabric.tables[1][5] = 1
    routes = walked(graph(fabric), fabric.routes_table(), np.arange(3), np.array([3, 4]))
    assert [[ROUTED, ROUTED, ROUTED], [LOOPING, LOOPING, ROUTED]] == routes.states.tolist()


def test_a_switch_linked_to_itself_and_lids_beyond_all_harm_nothing():
    """Such a link leads nowhere, and a LID above 65,535 is none."""
    fabric = fabrics.Fabric(2, ["a", "b"])
    for one, other in ((0, 0), (0, 1), (2, 0), (3, 1)):
        fabric.link(one, other)
    fabric.route()
    nodes = fabric.nodes_table().to_pylist()
    nodes[3]["lid"] = 70_000
    found = graph_of(pa.Table.from_pylist(nodes, schema=arrow_schema("fabric_node")), fabric.links_table())
    routes = walked(found, fabric.routes_table(), np.arange(2), np.array([2, 3]))
    assert [[ROUTED, ROUTED], [MISSING, MISSING]] == routes.states.tolist()
    fabric.tables[0][3] = 1
    routes = walked(graph(fabric), fabric.routes_table(), np.arange(2), np.array([2, 3]))
    assert [[LOOPING, LOOPING], [ROUTED, ROUTED]] == routes.states.tolist()


def test_two_fabrics_with_the_same_lids_are_kept_apart():
    """A LID is looked for in the subnet that has all of an input's ports; where both have, nothing is known."""
    one, other = fabrics.Fabric(1, ["a", "b"]), fabrics.Fabric(1, ["c", "d", "e"])
    for fabric in (one, other):
        for host in range(len(fabric.names)):
            fabric.link(1 + host, 0)
        fabric.route()
    nodes = [one.nodes_table().to_pylist(), other.nodes_table().to_pylist()]
    links = [one.links_table().to_pylist(), other.links_table().to_pylist()]
    for row in (*nodes[1], *links[1]):
        row.update({name: "f" + row[name][1:] for name in ("guid", "peer_guid", "link_id") if name in row})
    found = graph_of(
        *(
            pa.Table.from_pylist(rows[0] + rows[1], arrow_schema(f"fabric_{name}"))
            for rows, name in ((nodes, "node"), (links, "link"))
        )
    )
    assert 2 == len(set(found.components.tolist()))
    lids, ports = np.array([1, 1, 1, 1, 1]), np.array([1, 2, 1, 2, 3])
    got = resolved(found, lids, ports, np.array([0, 0, 1, 1, 1]))
    assert [UNKNOWN, UNKNOWN, 3, 3, 3] == got.tolist()


def test_what_was_read_last_holds():
    """A link that moved in mid-night is where it was until then, and one whose ends are read without it is gone."""
    before, after = (fabrics.Fabric(3, ["a", "b"]) for _ in range(2))
    for fabric, switch in ((before, 0), (after, 1)):
        fabric.link(0, 1)
        fabric.link(1, 2)
        fabric.link(3, 0)
        fabric.link(4, switch)
    times = [datetime(2024, 4, 18, hour, tzinfo=UTC) for hour in (0, 12)]
    tables = [
        pa.concat_tables([getattr(fabric, name)(at) for fabric, at in zip((before, after), times, strict=True)])
        for name in ("nodes_table", "links_table", "routes_table")
    ]
    for hour, switch in ((6, 0), (13, 1)):
        moment = pa.scalar(datetime(2024, 4, 18, hour, tzinfo=UTC), pa.timestamp("us", "UTC"))
        nodes, links, _ = in_force(*tables, moment)
        found = graph_of(nodes, links)
        assert [4] * 1 == [len(found.link_ids)]
        assert [switch] == found.heads[found.tails == 4].tolist()


def test_snapshots_that_say_nothing_new_are_left_out():
    """Of three readings the second, which says what the first did, is left out, whatever of another fabric lies between."""
    tables = []
    for minute, switch in ((0, 0), (10, 0), (20, 1)):
        fabric = fabrics.Fabric(2, ["a"])
        fabric.link(0, 1)
        fabric.link(2, switch)
        at = fabrics.READ_AT + timedelta(minutes=minute)
        tables.append((fabric.nodes_table(at), fabric.links_table(at)))
        other = fabrics.Fabric(1, ["b", "c", "d"])
        other.link(1, 0)
        tables.append((other.nodes_table(at + timedelta(minutes=1)), other.links_table(at + timedelta(minutes=1))))
    nodes, links = changed_only(*(pa.concat_tables(rows) for rows in zip(*tables, strict=True)))
    expected = [fabrics.READ_AT + timedelta(minutes=minute) for minute in (0, 1, 20)]
    assert expected == sorted(set(nodes["sampled_at"].to_pylist())) == sorted(set(links["sampled_at"].to_pylist()))


# Small numbers and great ones, which doubles do not hold.
_AMOUNTS = st.one_of(st.integers(0, 50), st.integers(0, 2**62))


@given(st.lists(st.lists(st.floats(0, 1e6), min_size=1, max_size=8), min_size=1, max_size=5), st.data())
def test_parts_add_up(weights: list[list[float]], data: st.DataObject):
    """Parts of each total sum to it, to the byte; none is negative, and what has no weight gets nothing."""
    totals = np.array([[data.draw(_AMOUNTS) if sum(own) > 0 else 0 for _ in range(2)] for own in weights])
    groups = np.repeat(np.arange(len(weights)), [len(own) for own in weights])
    flat = np.concatenate([np.array(own, float) for own in weights])
    parts = divided(totals, flat, groups)
    sums = np.zeros_like(totals)
    np.add.at(sums, groups, parts)
    assert totals.tolist() == sums.tolist()
    assert (parts >= 0).all()
    assert not parts[flat == 0].any()


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.booleans(), st.data())
def test_bytes_add_up_on_every_link_and_switch(seed: int, has_tables: bool, data: st.DataObject):
    """Host links, server links and what is attributed are the same to the byte, and what enters a switch leaves it."""
    fabric = fabrics.random_fabric(seed)
    hosts = sorted(set(fabric.names))
    nodes = data.draw(st.lists(st.sampled_from(hosts), min_size=1, max_size=4, unique=True))
    servers = data.draw(st.lists(st.sampled_from(hosts), min_size=1, max_size=3))
    names = fabrics.names_table({f"s-OST{n:04x}": [server] for n, server in enumerate(servers)})
    moved = [
        ("x", op, f"s-OST{n:04x}", data.draw(st.integers(0, 10**6))) for n in range(len(servers)) for op in ("read", "write")
    ]
    slots = [("x", op, BEGIN + SLOT * n, data.draw(st.floats(0.1, 1))) for n in range(3) for op in ("read", "write")]
    of_hosts = [("x", op, host, data.draw(st.floats(0.1, 1)), n == 0) for n, host in enumerate(nodes) for op in ("read", "write")]
    tables = fabric.routes_table() if has_tables else fabric.routes_table().slice(0, 0)
    found = graph(fabric)
    links, routes = traffic(Network(found, tables, names_of(names)), load_of(moved, slots, of_hosts))
    route = routes["x"]
    assert sum(row[3] for row in moved) == route["moved_bytes"]
    assert route["routed_bytes"] == route["host_link_bytes"] == route["server_link_bytes"]
    assert (route["moved_bytes"] > route["routed_bytes"]) == bool(route["unrouted_reason"])
    assert route["host_link_bytes"] == sum(row["moved_bytes"] for row in links if row["is_host_link"])
    assert (route["straggler_bytes"] or 0) == sum(row["straggler_bytes"] for row in links if row["is_host_link"])
    heads = {
        (found.guids[int(t)].as_py(), int(p)): found.guids[int(h)].as_py()
        for t, p, h in zip(found.tails, found.tail_ports, found.heads, strict=True)
    }
    enters, leaves = Counter(), Counter()
    for row in links:
        assert 0 <= row["straggler_bytes"] <= row["moved_bytes"]
        leaves[row["guid"], row["begin_at"], row["op"]] += row["moved_bytes"]
        enters[heads[row["guid"], row["port"]], row["begin_at"], row["op"]] += row["moved_bytes"]
    switches = {fabrics.guid(switch) for switch in range(fabric.switches)}
    assert {key: n for key, n in enters.items() if key[0] in switches} == {
        key: n for key, n in leaves.items() if key[0] in switches
    }


@pytest.mark.parametrize("seed", range(0, 40, 2))
def test_bytes_lie_on_the_links_of_a_walk(seed: int):
    """By tables, each link carries the bytes of the pairs whose walk passes it: writes to the server, reads from it."""
    fabric = fabrics.random_fabric(seed)
    server, *nodes = range(fabric.switches, fabric.switches + len(fabric.names))
    name_of = {device: fabric.names[device - fabric.switches] for device in (server, *nodes)}
    expected = defaultdict(int)
    for op, pairs in (("write", [(node, server) for node in nodes]), ("read", [(server, node) for node in nodes])):
        for pair in pairs:
            for device, port in walk(fabric, *pair):
                expected[op, fabrics.guid(device), port] += 1000
    names = fabrics.names_table({"s-OST0000": [name_of[server]]})
    load = load_of(
        [("x", op, "s-OST0000", 1000 * len(nodes)) for op in ("read", "write")],
        [("x", op, BEGIN, 1.0) for op in ("read", "write")],
        [("x", op, name_of[node], 1.0, False) for node in nodes for op in ("read", "write")],
    )
    links, _ = traffic(Network(graph(fabric), fabric.routes_table(), names_of(names)), load)
    assert expected == {(row["op"], row["guid"], row["port"]): row["moved_bytes"] for row in links}


def test_all_shortest_paths_carry_the_same():
    """Without tables two switches joined by two others, one of them by two links, share bytes by path."""
    fabric = fabrics.Fabric(4, ["a", "b"])
    for one, other in ((0, 1), (0, 2), (0, 2), (1, 3), (2, 3), (4, 0), (5, 3)):
        fabric.link(one, other)
    load = load_of([("x", "write", "s-OST0000", 900)], [("x", "write", BEGIN, 1.0)], [("x", "write", "a", 1.0, False)])
    network = Network(graph(fabric), fabric.routes_table(), names_of(fabrics.names_table({"s-OST0000": ["b"]})))
    links, routes = traffic(network, load)
    got = {(int(row["guid"], 16), row["port"]): row["moved_bytes"] for row in links}
    assert {(4, 1): 900, (0, 1): 300, (0, 2): 300, (0, 3): 300, (1, 2): 300, (2, 3): 600, (3, 3): 900} == got
    assert "shortest" == routes["x"]["fabric_evidence"]


def test_what_cannot_be_routed_says_why():
    """Unknown targets, servers and nodes, and missing routes, cost their own bytes and are named."""
    fabric = fabrics.Fabric(1, ["a", "b", "c"])
    for host in range(3):
        fabric.link(1 + host, 0)
    fabric.route()
    fabric.tables[0][4] = 255
    names = names_of(fabrics.names_table({"s-OST0000": ["b"], "s-OST0001": ["c"], "s-OST0002": ["nowhere"]}))
    network = Network(graph(fabric), fabric.routes_table(), names)
    cases = {
        NO_TARGET: (None, "a"),
        NO_ROUTE: ("s-OST0001", "a"),
        NO_SERVER: ("s-OST0002", "a"),
        NO_NODE: ("s-OST0000", "gone"),
        "": ("s-OST0000", "a"),
    }
    load = load_of(
        [(reason, "write", target, 7) for reason, (target, _) in cases.items()],
        [(reason, "write", BEGIN, 1.0) for reason in cases],
        [(reason, "write", host, 1.0, False) for reason, (_, host) in cases.items()],
    )
    _, routes = traffic(network, load)
    assert {reason: reason for reason in cases} == {log: row["unrouted_reason"] for log, row in routes.items()}
    assert {reason: 0 if reason else 7 for reason in cases} == {log: row["routed_bytes"] for log, row in routes.items()}


def test_adapters_are_known_by_network_id_or_shared_evenly():
    """Of a host with two adapters the named one carries all; where none is named, both carry as much."""
    fabric = fabrics.Fabric(1, ["oss1-ib0", "oss1-ib1", "n1"])
    for host in range(3):
        fabric.link(1 + host, 0)
    fabric.route()
    address = {"sampled_at": fabrics.READ_AT, "name_kind": "address", "name": "10.0.0.2", "alias": "oss1-ib1.site.test"}
    names = pa.concat_tables(
        [
            fabrics.names_table({"s-OST0000": ["10.0.0.2@o2ib"], "s-OST0001": ["oss1"]}),
            pa.Table.from_pylist([address], arrow_schema("fabric_name")),
        ]
    )
    load = load_of(
        [(log, "read", f"s-OST000{n}", 10) for n, log in enumerate(("named", "both"))],
        [(log, "read", BEGIN, 1.0) for log in ("named", "both")],
        [(log, "read", "N1.site.test", 1.0, False) for log in ("named", "both")],
    )
    links, routes = traffic(Network(graph(fabric), fabric.routes_table(), names_of(names)), load)
    sent = {(row["log_id"], int(row["guid"], 16)): row["moved_bytes"] for row in links if row["is_server_link"]}
    assert {("named", 2): 10, ("both", 1): 5, ("both", 2): 5} == sent
    assert {"named": "nid", "both": "even"} == {log: row["adapter_evidence"] for log, row in routes.items()}


def test_a_site_says_where_servers_are():
    """Targets, network ids and whole networks that a site names are where it says, its routers for what lies behind them."""
    names = fabrics.names_table({"s-OST0000": ["10.0.0.1@o2ib"], "s-OST0001": ["10.0.0.2@tcp1"], "s-OST0002": ["10.0.0.3@tcp1"]})
    servers = {"10.0.0.1@o2ib": "oss1", "s-OST0003": "oss4"}
    found = names_of(names, {"00ab": "n1"}, servers, {"tcp1": ["r1", "r2"], "10.0.0.3@tcp1": ["r3"]})
    expected = {"s-OST0000": ["oss1"], "s-OST0001": ["r1", "r2"], "s-OST0002": ["r3"], "s-OST0003": ["oss4"]}
    assert expected == {target: list(servers) for target, servers in found.targets.items()}
    assert {"00ab": "n1"} == found.hosts


def test_pairs_of_nodes_under_one_switch_are_counted():
    """Of four nodes, two of which share a switch and one has adapters on two switches, three of six pairs do."""
    assert 3 / 6 == same_switch_ratio(np.array([0, 1, 2, 2, 3]), np.array([7, 7, 7, 8, 9]))
    assert np.isnan(same_switch_ratio(np.array([0]), np.array([7])))


def _readings(rows: list[dict]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=arrow_schema("port_reading"))


def _two_hosts() -> Graph:
    fabric = fabrics.Fabric(1, ["a", "b"])
    fabric.link(1, 0)
    fabric.link(2, 0)
    return graph(fabric)


def test_intervals_are_differences_of_readings():
    """A fall is a restart, a pause of more than three usual ones a gap, and what is not known stays so."""
    times = [0, 10, 20, 30, 80]
    sent = [100, 350, 50, None, 90]
    rows = [
        {
            "sampled_at": BEGIN + timedelta(seconds=at),
            "guid": fabrics.guid(1),
            "port": 1,
            "xmit_bytes": xmit,
            "xmit_packet_count": 1,
            "xmit_wait_ticks": 5,
        }
        for at, xmit in zip(times, sent, strict=True)
    ]
    got = link_intervals([(0, _two_hosts())], _readings([*rows, rows[0]]), 0).sort_by("begin_at").to_pylist()
    assert [10, 10, 10, 50] == [row["interval_seconds"] for row in got]
    assert [250, 50, None, None] == [row["moved_bytes"] for row in got]
    assert ["sound", "restarted", "sound", "gap"] == [row["quality"] for row in got]
    assert ["idle", "idle", "unknown", "unknown"] == [row["link_class"] for row in got]
    assert 250 / (fabrics.CAPACITY * 10) == got[0]["utilisation_ratio"]
    assert {"0000000000000000/1"} == {row["link_id"] for row in got}


@pytest.mark.parametrize(
    ("ratio", "label"), [(0, "idle"), (0.05, "light"), (0.25, "good"), (0.5, "busy"), (0.75, "congested"), (0.7499, "busy")]
)
def test_classes_begin_where_the_issue_says(ratio: float, label: str):
    """A threshold belongs to the class above."""
    moved = round(ratio * fabrics.CAPACITY * 100)
    rows = [
        {"sampled_at": BEGIN + timedelta(seconds=100 * n), "guid": fabrics.guid(1), "port": 1, "xmit_bytes": moved * n}
        for n in range(2)
    ]
    (row,) = link_intervals([(0, _two_hosts())], _readings(rows), 0).to_pylist()
    assert label == row["link_class"]


def test_the_receiver_speaks_for_a_sender_that_was_not_read():
    """A switch that is read alone gives both directions of a host's link; counts of errors stay its own."""
    rows = [
        {
            "sampled_at": BEGIN + SLOT * n,
            "lid": 1,
            "port": 1,
            "xmit_bytes": 100 * n,
            "rcv_bytes": 70 * n,
            "symbol_error_count": n,
            "xmit_wait_ticks": 25 * n,
        }
        for n in range(2)
    ]
    got = {row["guid"]: row for row in link_intervals([(0, _two_hosts())], _readings(rows), 0).to_pylist()}
    assert {fabrics.guid(0): 100, fabrics.guid(1): 70} == {guid: row["moved_bytes"] for guid, row in got.items()}
    assert {fabrics.guid(0): 1, fabrics.guid(1): None} == {guid: row["symbol_error_count"] for guid, row in got.items()}
    assert {fabrics.guid(0): 1.0, fabrics.guid(1): None} == {guid: row["wait_per_word_ratio"] for guid, row in got.items()}


def test_a_fall_of_errors_does_not_restart_traffic():
    """Whoever clears errors alone does not have all bytes since the device started counted again."""
    rows = [
        {
            "sampled_at": BEGIN + SLOT * n,
            "guid": fabrics.guid(1),
            "port": 1,
            "xmit_bytes": 10**12 + n,
            "symbol_error_count": errors,
        }
        for n, errors in enumerate((40, 3))
    ]
    (row,) = link_intervals([(0, _two_hosts())], _readings(rows), 0).to_pylist()
    assert (1, 3, "sound") == (row["moved_bytes"], row["symbol_error_count"], row["quality"])


def test_slots_hold_what_was_counted_what_logs_moved_and_the_rest():
    """Other traffic is never negative, and logs that hold a tenth more than was counted are flagged, not cut."""
    rows = [
        {"sampled_at": BEGIN + SLOT * n, "guid": fabrics.guid(1), "port": 1, "xmit_bytes": total}
        for n, total in enumerate((0, 1000, 1100))
    ]
    intervals = link_intervals([(0, _two_hosts())], _readings(rows), 0)
    one = {"log_id": "x", "link_id": "l", "guid": fabrics.guid(1), "port": 1, "op": "write"}
    moved = pa.Table.from_pylist(
        [
            one | {"begin_at": BEGIN, "moved_bytes": 300},
            one | {"log_id": "y", "begin_at": BEGIN, "moved_bytes": 100},
            one | {"begin_at": BEGIN + SLOT, "moved_bytes": 111},
        ],
        arrow_schema("job_link"),
    )
    first = int(BEGIN.timestamp())
    got = link_slots(intervals, moved, first, first + 1200).sort_by("begin_at").to_pylist()
    columns = ("counted_bytes", "storage_bytes", "other_bytes", "log_count", "exceeds_counted")
    assert [(1000, 400, 600, 2, False), (100, 111, 0, 1, True)] == [tuple(row[name] for name in columns) for row in got]
    assert [] == link_slots(intervals, moved, first - 1200, first).to_pylist()
