"""Routes over real fabrics, against `ibtracert` and all pairs; and how long a fabric as large as the largest takes."""

import gzip
import re
import resource
import time
import tracemalloc
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import fabric_rows as fabrics
import numpy as np
import pyarrow as pa
import pytest
from shared import NOT_HERE, SHARED_DATA

from iomine.derive.fabric import Graph, Load, Network, Routes, graph_of, job_traffic, link_intervals, names_of, walked
from iomine.derive.fabric.graph import AGGREGATION, SWITCH
from iomine.derive.fabric.routes import LOOPING, MISSING, ROUTED
from iomine.sources.fabric import SOURCES
from iomine.sources.model import Input

FABRIC = SHARED_DATA / "fabric"
pytestmark = pytest.mark.skipif(not FABRIC.exists(), reason=NOT_HERE)
ROUTED_PAIRS = {
    ("psmn_x5/X5.topofile", "psmn_x5/opensm_minhop/dump_fts.txt"): (7_832, 0),
    ("psmn_x5/X5.topofile", "psmn_x5/opensm_updn/dump_fts.txt"): (7_832, 0),
    ("ndr_dgx582/example.ibnetdiscover.gz", "ndr_dgx582/opensm_updn/opensm-lfts.dump.gz"): (338_142, 0),
    ("edr1644/Topo6_CS7500.ibnetdiscover.gz", "edr1644/opensm_updn/opensm-lfts.dump.gz"): (2_696_448, 4_644),
}


@cache
def tables(name: str) -> dict[str, pa.Table]:
    data = (FABRIC / name).read_bytes()
    source = Input(name, gzip.decompress(data) if name.endswith(".gz") else data, datetime(2024, 4, 18, tzinfo=UTC))
    return dict(next(each for each in SOURCES if each.knows(source)).read(source).tables)


def fabric(topology: str) -> Graph:
    found = tables(topology)
    return graph_of(found["fabric_node"].drop_columns("night"), found["fabric_link"].drop_columns("night"))


def all_routes(graph: Graph, routes: str) -> tuple[Routes, np.ndarray]:
    """Routes between all ends, and of each end the switch that it hangs on."""
    ends = np.flatnonzero(graph.kinds != SWITCH)
    sending = np.flatnonzero(np.isin(graph.tails, ends) & graph.is_up)
    firsts = np.unique(graph.heads[sending])
    return walked(graph, tables(routes)["fabric_route"], firsts[graph.kinds[firsts] == SWITCH], ends), sending


@pytest.mark.parametrize(("topology", "routes"), ROUTED_PAIRS)
def test_all_pairs_of_ends_are_routed(topology: str, routes: str):
    """Every pair of adapters has a route, but for those to SHARP's aggregation nodes that the tables leave out."""
    graph = fabric(topology)
    found, sending = all_routes(graph, routes)
    counts, missed = {ROUTED: 0, MISSING: 0, LOOPING: 0}, set()
    ends = np.flatnonzero(graph.kinds != SWITCH)
    for link in sending:
        others = ends[ends != graph.tails[link]]
        states = found.states_of(np.full(len(others), graph.heads[link]), others)
        for state in counts:
            counts[state] += np.count_nonzero(states == state)
        missed.update(others[states == MISSING].tolist())
    assert (*ROUTED_PAIRS[topology, routes], 0) == (counts[ROUTED], counts[MISSING], counts[LOOPING])
    assert {AGGREGATION} >= set(graph.kinds[list(missed)].tolist())
    assert (90 if missed else 0) == len(missed)


def test_routes_are_those_of_ibtracert():
    """Of 40 pairs, the ports of every hop are those that the real tool printed."""
    graph = fabric("psmn_x5/X5.topofile")
    found, _ = all_routes(graph, "psmn_x5/opensm_minhop/dump_fts.txt")
    node_of = {guid: node for node, guid in enumerate(graph.guids.to_pylist())}
    text = (FABRIC / "psmn_x5/opensm_minhop/ibtracert_40pairs.txt").read_text()
    traced = re.findall(r"From ca \{0x(\w+)\}.*?\n(.*?)To ca \{0x(\w+)\}", text, re.DOTALL)
    assert 40 == len(traced)
    for source, hops, dest in traced:
        expected = [tuple(map(int, hop)) for hop in re.findall(r"\[(\d+)\] -> \w+ port \{0x\w+\}\[(\d+)\]", hops)]
        first = np.flatnonzero((graph.tails == node_of[source]) & graph.is_up)
        along = found.links_of(graph.heads[first], np.array([node_of[dest]]))[0]
        links = [int(first[0]), *(int(link) for link in along if link >= 0)]
        assert expected == [(int(graph.tail_ports[link]), int(graph.head_ports[link])) for link in links]


def _load(logs: int, slots: int, servers: int) -> Load:
    chosen = np.random.default_rng(1)
    targets, times, hosts = [], [], []
    for log in range(logs):
        count = int(chosen.integers(64, 257))
        first = int(chosen.integers(0, fabrics.LARGE_NODES - servers - count))
        for op in ("read", "write"):
            targets += [(str(log), op, f"s-OST{n:04x}", int(chosen.integers(10**9, 10**12))) for n in range(servers)]
            times += [
                (str(log), op, 1_713_398_400_000_000 + 600_000_000 * (n + log % 100), chosen.random()) for n in range(slots)
            ]
            hosts += [(str(log), op, f"node{first + n:05d}", 1.0, False) for n in range(count)]
    texts, when = [pa.string()] * 3, pa.timestamp("us", "UTC")
    kinds = ((*texts, pa.int64()), (*texts[:2], when, pa.float64()), (*texts, pa.float64(), pa.bool_()))
    names = (
        ("log_id", "op", "target", "moved_bytes"),
        ("log_id", "op", "begin_at", "slot_ratio"),
        ("log_id", "op", "host", "host_ratio", "is_straggler"),
    )
    given = zip((targets, times, hosts), kinds, names, strict=True)
    return Load(
        *(pa.table([pa.array(col, kind) for col, kind in zip(zip(*r, strict=True), k, strict=True)], n) for r, k, n in given)
    )


@pytest.mark.proof
def test_a_fabric_of_9_305_devices_takes_seconds(tmp_path: Path):
    """Routes from every leaf switch to every node in 3 s and 100 MB, and a night of 300 jobs onto its links in 5 s, of a core."""
    made = fabrics.large()
    nodes, links, routes = made.nodes_table(), made.links_table(), made.routes_table()
    assert (fabrics.LARGE_NODES, fabrics.LARGE_LINKS) == (len(made.names), len(made.links))
    graph = graph_of(nodes, links)
    leaves, hosts = np.arange(fabrics.LARGE[0]), np.arange(made.switches, len(graph.kinds))
    # What others do on the machine must not count.
    begin = time.process_time()
    found = walked(graph, routes, leaves, hosts)
    seconds = time.process_time() - begin
    assert (found.states == ROUTED).all()
    tracemalloc.start()
    walked(graph, routes, leaves, hosts)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    names = fabrics.names_table({f"s-OST{n:04x}": [f"node{fabrics.LARGE_NODES - 40 + n:05d}"] for n in range(40)})
    load = _load(300, 12, 40)
    begin = time.process_time()
    rows = 0
    for of_links, of_routes in job_traffic([(0, Network(graph, routes, names_of(names)))], load):
        rows += len(of_links)
        assert of_routes["moved_bytes"].equals(of_routes["host_link_bytes"])
        assert of_routes["moved_bytes"].equals(of_routes["server_link_bytes"])
    night = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"routes {seconds:.2f} s, {held / 1e6:.0f} MB; night {night:.2f} s, {rows:,} rows; peak {peak:,} MB")  # noqa: T201
    assert seconds <= 3
    assert held <= 100e6
    assert night <= 5


def test_readings_of_a_real_fabric_name_their_links():
    """Every counter of ibdiagnet's ports that moved between two readings is that of a link, LIDs and all."""
    found = tables("ndr263_ibdiagnet/ibdiagnet2.pm.gz")["port_reading"].drop_columns("night")
    graph = fabric("ndr263_ibdiagnet/ibdiagnet2.ibnetdiscover.gz")
    at = found.column_names.index("sampled_at")
    later = found.set_column(
        at, "sampled_at", pa.array([datetime(2030, 1, 1, tzinfo=UTC)] * len(found), pa.timestamp("us", "UTC"))
    )
    got = link_intervals([(0, graph)], pa.concat_tables([found, later]), 0)
    assert len(found) == 542 == got["guid"].length() - got["guid"].null_count
    assert {0} == set(got["moved_bytes"].drop_null().to_pylist())
    assert 542 == len(got.filter(pa.compute.is_valid(got["link_id"])))
