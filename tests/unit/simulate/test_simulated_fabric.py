"""The fabric of a simulated facility agrees with its logs, its routes and its truth, all of which are read from its files."""

import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from simulated import Facility

from iomine.simulate import Settings, incidents, simulate
from iomine.sources.darshan import read_log

# A port, by LID and number; as a link, the direction in which it sends.
Port = tuple[int, int]
SLOT = 600
WORD = 4
CAPACITIES = {"DDR": 2e9, "EDR": 12.5e9, "HDR": 25e9}
READ, WRITTEN, BETWEEN = range(3)
# In the order in which they stand in a reading.
COUNTERS = ("PortXmitData", "PortRcvData", "SymbolErrorCounter", "PortXmitWait")


class Moved(NamedTuple):
    """A line of the truth about traffic."""

    job_id: str
    begin: int
    links: dict[Port, list[int]]


class Readings(NamedTuple):
    """Counters of all ports: by moment, port and name, these in the order of `COUNTERS`."""

    moments: list[int]
    ports: list[Port]
    counters: npt.NDArray[np.int64]

    def grown(self) -> npt.NDArray[np.int64]:
        """By how much each counter grew, by name, slot and port."""
        return np.moveaxis(np.diff(self.counters, axis=0), -1, 0)


class Fabric:
    """What the files of a facility say of its fabric."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.peers: dict[Port, Port] = {}
        self.speeds: dict[Port, str] = {}
        self.names: dict[int, str] = {}
        self.switches: set[int] = set()
        lid_of = {}
        ends = []
        for block in self.text("ibnetdiscover").split("\n\n")[1:]:
            head, *lines = block.strip().splitlines()[4:]
            guid = re.search(r'"([SH]-\w+)"', head)[1]  # type: ignore[index]
            lid = int(re.search(r"lid (\d+) lmc", block)[1])  # type: ignore[index]
            lid_of[guid] = lid
            self.names[lid] = re.search(r'# "([^" ]+)', head)[1]  # type: ignore[index]
            if guid.startswith("S"):
                self.switches.add(lid)
            for line in lines:
                port, peer, peer_port, speed = re.match(r'\[(\d+)\].*?"([SH]-\w+)"\[(\d+)\].* 4x(\w+)$', line).groups()  # type: ignore[union-attr]
                ends.append(((lid, int(port)), (peer, int(peer_port)), speed))
        for end, (peer, port), speed in ends:
            self.peers[end], self.speeds[end] = (lid_of[peer], port), speed
        self.lids = {name: lid for lid, name in self.names.items()}
        self.tables: dict[int, dict[int, int]] = {}
        for block in self.text("dump_fts").split("Unicast lids ")[1:]:
            switch = int(re.search(r"switch Lid (\d+) ", block)[1])  # type: ignore[index]
            self.tables[switch] = {
                int(to, 16): int(port) for to, port in re.findall(r"^0x(\w{4}) (\d{3}) :", block, re.MULTILINE)
            }

    def text(self, name: str) -> str:
        """The one file of its kind."""
        (path,) = (self.out / "fabric" / name).rglob("*.gz")
        return gzip.decompress(path.read_bytes()).decode()

    def way(self, sender: int, receiver: int) -> list[Port]:
        """Links from one adapter to another, by the forwarding tables."""
        found = [(sender, 1)]
        while self.peers[found[-1]][0] != receiver:
            at = self.peers[found[-1]][0]
            found.append((at, self.tables[at][receiver]))
            assert len(found) < 10
        return found

    @cached_property
    def readings(self) -> Readings:
        """Counters of all ports."""
        paths = sorted((self.out / "fabric" / "perfquery").rglob("*.gz"))
        texts = [gzip.decompress(path.read_bytes()).decode() for path in paths]
        at = [datetime.strptime(f"{path.parent.name} {path.name[:4]}", "%Y-%m-%d %H%M").replace(tzinfo=UTC) for path in paths]
        heads = {tuple(re.findall(r"^# Port extended counters: Lid (\d+) port (\d+) ", text, re.MULTILINE)) for text in texts}
        (ports,) = heads
        numbers = [re.findall(rf"^(?:{'|'.join(COUNTERS)}):\.*(\d+)$", text, re.MULTILINE) for text in texts]
        counters = np.array(numbers, np.int64).reshape(len(texts), len(ports), len(COUNTERS))
        return Readings([int(each.timestamp()) for each in at], [(int(lid), int(port)) for lid, port in ports], counters)

    def moved(self) -> Iterator[Moved]:
        """The truth about traffic."""
        with gzip.open(self.out / "truth" / "fabric.jsonl.gz", "rt") as file:
            for line in map(json.loads, file):
                yield Moved(line["job_id"], line["begin"], {(lid, port): moved for lid, port, *moved in line["links"]})

    def incident(self, kind: str) -> dict[str, Any]:
        """What is true of an incident."""
        truth = json.loads((self.out / "truth" / "fabric.json").read_text())
        (found,) = (each for each in truth["incidents"] if each["kind"] == kind)
        return found  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def fabric(facility: Facility) -> Fabric:
    """The fabric of two days."""
    return Fabric(facility.out)


def nodes_of(facility: Facility) -> dict[str, list[str]]:
    """Nodes of each job, in order."""
    found = {}
    for row in facility.sacct():
        if "." not in row["JobID"] and row["NodeList"] != "None assigned":
            spans = re.findall(r"(\d{5})(?:-(\d{5}))?", row["NodeList"])
            found[row["JobID"]] = [f"nid{node:05d}" for one, last in spans for node in range(int(one), int(last or one) + 1)]
    return found


def test_each_link_is_listed_by_both_ends(fabric: Fabric) -> None:
    """What a port says of its peer, the peer says of it; names of nodes are those of the scheduler's tree."""
    assert {end: fabric.peers[peer] for end, peer in fabric.peers.items()} == {end: end for end in fabric.peers}
    assert {end: fabric.speeds[peer] for end, peer in fabric.peers.items()} == fabric.speeds
    for name, first, last in re.findall(
        r"SwitchName=(\w+) Nodes=nid\[(\d+)-(\d+)\]", (fabric.out / "slurm" / "topology.conf").read_text()
    ):
        for node in range(int(first), int(last) + 1):
            assert fabric.names[fabric.peers[fabric.lids[f"nid{node:05d}"], 1][0]] == name


def test_routes_lead_up_and_down(fabric: Fabric) -> None:
    """From a node of each leaf switch and from each server there is a way to every adapter, never down and up again."""
    tiers = {lid: 2 if fabric.names[lid].startswith("spine") else 1 for lid in fabric.switches}
    adapters = sorted(fabric.names.keys() - fabric.switches)
    senders = {fabric.peers[lid, 1][0]: lid for lid in adapters}.values()
    for sender in [*senders, *(lid for lid in adapters if not fabric.names[lid].startswith("nid"))]:
        for receiver in adapters:
            if sender != receiver:
                passed = [tiers[lid] for lid, _ in fabric.way(sender, receiver)[1:]]
                assert passed in ([1], [1, 2, 1])


def test_parallel_ways_are_all_used(fabric: Fabric) -> None:
    """By the destination's LID, both uplinks of a leaf switch and all cables between spine and servers have routes."""
    leaf, spine = fabric.lids["leaf00"], fabric.lids["spine00"]
    assert {37, 38} <= set(fabric.tables[leaf].values())
    trunk = {port for (lid, port), (peer, _) in fabric.peers.items() if lid == spine and fabric.names[peer] == "storage00"}
    assert 4 == len(trunk)
    assert trunk <= set(fabric.tables[spine].values())


def served(facility: Facility) -> dict[str, Counter[tuple[str, int]]]:
    """Bytes of each job by server and kind, as servers counted them."""
    found: dict[str, Counter[tuple[str, int]]] = defaultdict(Counter)
    for entry in facility.final_stats().values():
        if match := re.search(r"OST(\w{4})", entry.target):
            for kind, op in enumerate(("read", "write")):
                found[entry.job_id][f"oss{int(match[1], 16) // 4:02d}", kind] += entry.counters[f"{op}_bytes"][1]
    return found


def positive(counts: dict[str, Counter[tuple[str, int]]]) -> dict[str, Counter[tuple[str, int]]]:
    """Without what is nothing."""
    return {job: +each for job, each in counts.items() if +each}


def test_bytes_on_links_are_those_of_the_logs(facility: Facility, fabric: Fabric) -> None:
    """Of each job, its nodes' links and the servers' links carry what it moved on the file system, to the byte and server."""
    by_node, by_server = defaultdict(Counter), defaultdict(Counter)
    expected = served(facility)
    nodes = nodes_of(facility)
    for job_id, _, links in fabric.moved():
        for (lid, port), moved in links.items():
            sender, receiver = fabric.names[lid], fabric.names[fabric.peers[lid, port][0]]
            for kind, node, server in ((READ, receiver, sender), (WRITTEN, sender, receiver)):
                if node.startswith("nid"):
                    assert node in nodes[job_id]
                    by_node[job_id][kind] += moved[kind]
                if server.startswith(("oss", "mds")):
                    by_server[job_id][server, kind] += moved[kind]
    assert positive(expected) == positive(by_server)
    for job_id, counts in by_server.items():
        for kind in (READ, WRITTEN):
            assert by_node[job_id][kind] == sum(moved for (_, each), moved in counts.items() if each == kind)


def test_what_enters_a_switch_leaves_it(fabric: Fabric) -> None:
    """Of each job and slot, and of each kind of traffic; and most of it is between nodes of jobs with several."""
    total: Counter[int] = Counter()
    for _, _, links in fabric.moved():
        balance: Counter[tuple[int, int]] = Counter()
        for (lid, port), moved in links.items():
            for kind, amount in enumerate(moved):
                balance[lid, kind] -= amount
                balance[fabric.peers[lid, port][0], kind] += amount
                total[kind] += amount
        assert not any(amount for (lid, _), amount in balance.items() if lid in fabric.switches)
    assert total[BETWEEN] > total[READ] + total[WRITTEN] > 0


@pytest.mark.proof
def test_ports_count_what_moved(fabric: Fabric) -> None:
    """Words never fall, each end counts what the other does, and at each moment they are the bytes of all jobs until then."""
    moments, ports, counters = fabric.readings
    assert fabric.peers.keys() == set(ports)
    assert len(fabric.peers) == len(ports)
    assert {SLOT} == {int(seconds) for seconds in np.diff(moments)}
    assert 2 * 144 + 1 == len(moments)
    place = {port: at for at, port in enumerate(ports)}
    true = np.zeros((len(moments), len(ports)), np.int64)
    for _, begin, links in fabric.moved():
        if begin < moments[-1]:
            for link, moved in links.items():
                true[(begin - moments[0]) // SLOT + 1, place[link]] += sum(moved)
    sent, received, *_ = np.moveaxis(counters, -1, 0)
    more = WORD * sent - np.cumsum(true, axis=0)
    assert true.any()
    assert 0 <= more.min()
    assert WORD > more.max()
    np.testing.assert_array_equal(sent[:, [place[fabric.peers[port]] for port in ports]], received)
    assert (np.diff(counters, axis=0) >= 0).all()


def test_slow_ranks_are_those_behind_the_degraded_link(facility: Facility, fabric: Fabric) -> None:
    """A rank is slow if its run began while the link was bad and its way to the servers, or back, goes over it."""
    bad = fabric.incident("degraded_link")
    link = (bad["lid"], bad["port"])
    assert bad["switch"] == fabric.names[bad["lid"]]
    assert (bad["peer_lid"], bad["peer_port"]) == fabric.peers[link]
    servers = [lid for name, lid in fabric.lids.items() if name.startswith(("oss", "mds"))]

    def is_behind(node: str) -> bool:
        lid = fabric.lids[node]
        crossed = {link in fabric.way(lid, server) for server in servers}
        back = {fabric.peers[link] in fabric.way(server, lid) for server in servers}
        assert crossed == back
        (found,) = crossed
        return found

    behind = {name: is_behind(name) for name in fabric.lids if name.startswith("nid")}
    nodes = nodes_of(facility)
    jobs = set()
    for log in facility.logs:
        is_bad = bad["start"] <= read_log(facility.path(log)).job.start_at.timestamp() < bad["end"]
        expected = [rank for rank in range(log["nprocs"]) if is_bad and behind[nodes[log["job_id"]][rank // 16]]]
        assert expected == log["slow_ranks"]
        jobs |= {log["job_id"]} if expected else set()
    assert jobs
    assert sorted(jobs) == bad["jobs"]


@pytest.mark.proof
def test_counters_name_the_degraded_link(fabric: Fabric) -> None:
    """Symbol errors grow at both of its ends and nowhere else, while it is bad, and data waits for it 200 times as long."""
    bad = fabric.incident("degraded_link")
    moments, ports, _ = fabric.readings
    words, _, errors, waits = fabric.readings.grown()
    slots, places = np.nonzero(errors)
    assert {(bad["lid"], bad["port"]), (bad["peer_lid"], bad["peer_port"])} == {ports[place] for place in places}
    assert abs(moments[slots.min()] - bad["start"]) <= SLOT
    assert abs(moments[slots.max() + 1] - bad["end"]) <= SLOT
    assert words[slots, places].any()
    np.testing.assert_allclose(waits[slots, places], 200 * 0.02 * words[slots, places], atol=8)
    usual = (errors == 0) & (WORD * words < 0.75 * SLOT * min(CAPACITIES.values()))
    np.testing.assert_allclose(waits[usual], 0.02 * words[usual], atol=8)


def test_two_jobs_fill_an_uplink(facility: Facility, fabric: Fabric) -> None:
    """It alone is congested by the counters, only while both, of two users, write; data waits, and their requests are slow."""
    shared = fabric.incident("shared_uplink")
    link = (shared["lid"], shared["port"])
    own: dict[int, Counter[str]] = defaultdict(Counter)
    for job_id, begin, links in fabric.moved():
        own[begin][job_id] += links[link][WRITTEN] if link in links else 0
    moments, ports, _ = fabric.readings
    words, _, _, waits = fabric.readings.grown()
    capacities = np.array([CAPACITIES[fabric.speeds[port]] for port in ports])
    slots, places = np.nonzero(WORD * words >= 0.75 * SLOT * capacities)
    assert {link} == {ports[place] for place in places}
    assert shared["start"] == moments[slots.min()]
    assert (waits[slots, places] > 10 * 0.02 * words[slots, places]).all()
    for slot in slots.tolist():
        written = +own[moments[slot]]
        assert set(shared["jobs"]) == written.keys()
        assert min(written.values()) > 0.4 * written.total()
    logs = [log for log in facility.logs if log["job_id"] in shared["jobs"]]
    assert 2 == len(logs) == len({log["user"] for log in logs})
    alone = [
        log["request_seconds"] / log["write_bytes"]
        for log in facility.logs
        if log["lineage"] in {log["lineage"] for log in logs} and log["job_id"] not in shared["jobs"]
    ]
    assert 6 == len(alone)
    assert all(log["request_seconds"] / log["write_bytes"] > 1.5 * max(alone) for log in logs)
    assert all(log["lost_ratio"]["shared_uplink"] > 0.4 and not log["slow_ranks"] for log in logs)


def test_targets_and_addresses_name_adapters(fabric: Fabric) -> None:
    """Each target has a NID whose address is a server's, and each adapter an address."""
    hosts = dict(line.split() for line in fabric.text("hosts").splitlines() if line.startswith("10."))
    assert sorted(hosts.values()) == sorted(fabric.names[lid] for lid in fabric.names.keys() - fabric.switches)
    targets = re.findall(r"UP \w+ scratch-(OST|MDT)(\w{4})-\w+-\w+ \S+ 5 ([\d.]+)@o2ib$", fabric.text("lctl_dl"), re.MULTILINE)
    assert 36 == len(targets)
    for kind, index, address in targets:
        assert hosts[address] == (f"oss{int(index, 16) // 4:02d}" if kind == "OST" else "mds00")


@pytest.mark.proof
def test_the_shared_uplink_changes_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it all logs are the same, byte for byte, but those in whose place its jobs ran."""
    found = []
    for name in ("with", "without"):
        simulate(Settings(tmp_path / name, 200, seed=5, days=1, workers=1), lambda *_: None)
        logs = {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.darshan")}
        found.append(logs.items())
        monkeypatch.setattr(incidents, "_LEAST_LOGS", 201)
    assert [200, 200] == [len(logs) for logs in found]
    assert 192 == len(found[0] & found[1])
