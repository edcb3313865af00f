"""Every real file of a fabric is read, or refused with a reason; its numbers are those that are known of it."""

import re

import pytest
from fabric_mutations import FOLDER, content, given, outcomes, read, real, rows
from shared import NOT_HERE, SHARED_DATA

from iomine.errors import UnreadableError
from iomine.sources.fabric import SOURCES
from iomine.sources.inputs import open_input, read_input
from iomine.sources.model import SNAPSHOTS

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason=NOT_HERE)

# Switches, adapters and links of files that hold all of them.
FABRICS = {
    "psmn_x5/X5.topofile": (11, 89, 159),
    "psmn_x5/ibnetdiscover-p.txt": (11, 89, 159),
    "psmn_x5/iblinkinfo.txt": (11, 89, 159),
    "psmn_x5/iblinkinfo-l.txt.gz": (11, 89, 159),
    "psmn_x5/opensm_updn/opensm-subnet.lst.gz": (11, 89, 159),
    "edr1644/Topo6_CS7500.ibnetdiscover.gz": (174, 1644, 3443),
    "ndr_dgx582/example.ibnetdiscover.gz": (40, 582, 1114),
    "ndr_dgx582/single-ca-no-link.ibnetdiscover": (0, 1, 0),
    "ndr263_ibdiagnet/ibdiagnet2.ibnetdiscover.gz": (9, 263, 271),
    "ndr263_ibdiagnet/ibdiagnet2.lst.gz": (9, 263, 271),
    "small/gsi_fdr10.ibnetdiscover": (8, 144, 192),
    "small/Topo.1.ibnetdiscover": (4, 8, 12),
    "small/ibtopotool_1.ibnetdiscover": (2, 4, 7),
    "small/ibtopotool_3.ibnetdiscover": (2, 6, 10),
    "perfquery/ibnetdiscover_test.out": (4, 3, 4),
    "perfquery/ibnetdiscover_test3.out": (1, 0, 0),
}
# Rows of the only table of each other file that is read.
OTHERS = {
    "psmn_x5/opensm_updn/dump_fts.txt": ("fabric_route", 11),
    "psmn_x5/opensm_updn/opensm-lfts.dump": ("fabric_route", 11),
    "psmn_x5/opensm_updn/opensm.fdbs": ("fabric_route", 11),
    "psmn_x5/opensm_minhop/dump_fts.txt": ("fabric_route", 11),
    "ndr_dgx582/opensm_updn/opensm-lfts.dump.gz": ("fabric_route", 40),
    "edr1644/opensm_updn/opensm-lfts.dump.gz": ("fabric_route", 174),
    "ndr263_ibdiagnet/ibdiagnet2.pm.gz": ("port_reading", 542),
    "perfquery/perfquery_0x506b4b03005c2740.out": ("port_reading", 1),
    "perfquery/perfquery_0x7cfe9003003b4bde.out": ("port_reading", 1),
    "perfquery/perfquery_0x7cfe9003009ce5b0.out": ("port_reading", 2),
    "psmn_x5/X5.map": ("fabric_name", 86),
    "psmn_x5/X5.topology.conf": ("fabric_node", 100),
}
REFUSED = {
    "README.md": "none that such a file has",
    "ndr263_ibdiagnet/ibdiagnet2.net_dump.gz": "give its .ibnetdiscover or .lst",
    "ndr263_ibdiagnet/ibdiagnet2.sm": "list of subnet managers; give",
    "ndr263_ibdiagnet/ibdiagnet2.pkey.gz": "list of partitions; give",
    "ndr263_ibdiagnet/ibdiagnet2.log": "log of its run; give",
    "psmn_x5/X5.spine": "guids without names; write",
    "psmn_x5/opensm_minhop/ibtracert_40pairs.txt": "ibtracert, routes of some pairs; give dump_fts",
    "perfquery/perfquery_0x506b4b0300cc02a6.out": "empty, as a command leaves it that got no answer",
    **dict.fromkeys((f"perfquery/ibswinfo_test{which}.out" for which in ("-err1", "-err3", "1", "1-missing", "3")), "ibswinfo"),
    **dict.fromkeys(
        (
            f"perfquery/perfquery-rcv-error_0x{which}.out"
            for which in ("506b4b03005c2740-1", "7cfe9003003b4bde-1", "7cfe9003009ce5b0-1", "7cfe9003009ce5b0-2")
        ),
        "give what perfquery -x prints",
    ),
}


def test_no_file_is_left_out():
    """There is an expectation for each file."""
    files = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file()}
    assert files == {*FABRICS, *OTHERS, *REFUSED}


@pytest.mark.parametrize("name", FABRICS)
def test_all_of_a_fabric_is_read(name):
    """Switches, adapters and links are as many as are known, and each link has a width and a speed of its own."""
    readings = read(content(name))
    nodes = readings.tables["fabric_node"].to_pylist()
    links = readings.tables["fabric_link"].to_pylist() if "fabric_link" in readings.tables else []
    switches = sum(node["node_kind"] == "switch" for node in nodes)
    assert FABRICS[name] == (switches, len(nodes) - switches, len(links))
    assert {"switch", "host", "aggregation"} >= {node["node_kind"] for node in nodes}
    assert all(link["is_up"] and link["speed"] and link["lid"] and link["peer_lid"] for link in links)


@pytest.mark.parametrize("name", [name for name in FABRICS if name.startswith(("psmn", "edr", "ndr", "small/gsi"))])
def test_both_ends_agree(name):
    """Where a tool lists links at both ends, these name the same ports, widths and speeds: nothing but the time is in doubt."""
    assert read(content(name)).doubt in ("", "nothing but the file's time of change says when it was read")


@pytest.mark.parametrize("name", OTHERS)
def test_other_files_are_read(name):
    """Tables, counters and names are read whole."""
    table, count = OTHERS[name]
    readings = read(content(name))
    assert {table: count} == {name: rows.num_rows for name, rows in readings.tables.items()}
    assert readings.doubt in ("", "nothing but the file's time of change says when it was read")


@pytest.mark.parametrize("name", REFUSED)
def test_files_that_are_refused(name):
    """What holds nothing to keep is refused with what it is, and with what to give instead."""
    source = given(content(name), name)
    with pytest.raises(UnreadableError, match=REFUSED[name]):
        read_input(open_input(source.path, source.data, source.modified_at, source.zone))


def test_dialects_agree_on_links():
    """Five lists of one fabric have the same ports linked, adapters by the guids of their ports."""

    def linked(name):
        ends = (("guid", "port", "port_guid"), ("peer_guid", "peer_port", "peer_port_guid"))
        return {
            frozenset((link[port_guid] or link[guid], link[port]) for guid, port, port_guid in ends)
            for link in rows(content(name), "fabric_link")
        }

    first, *others = (linked(name) for name in FABRICS if name.startswith("psmn"))
    assert len(first) == 159
    assert [first] * 4 == others


def test_dialects_agree_on_routes():
    """Three dumps of one fabric's tables are the same bytes, with 1,098 entries."""
    first, *others = (
        {row["guid"]: row["out_ports"] for row in rows(content(f"psmn_x5/opensm_updn/{name}"), "fabric_route")}
        for name in ("dump_fts.txt", "opensm-lfts.dump", "opensm.fdbs")
    )
    assert sum(port != 255 for out in first.values() for port in out) == 1098
    assert [first] * 2 == others
    # Port 0 is the switch itself: each has one, at its own LID.
    lids = {node["guid"]: node["lid"] for node in rows(content("psmn_x5/X5.topofile"), "fabric_node")}
    assert {guid: [lids[guid]] for guid in first} == {
        guid: [lid for lid, port in enumerate(out) if port == 0] for guid, out in first.items()
    }


def test_counters_of_ibdiagnet():
    """Counters of 64 bits are taken, though nearly all of 32 bits stand at their maximum."""
    data = content("ndr263_ibdiagnet/ibdiagnet2.pm.gz")
    ports = rows(data, "port_reading")
    full = re.findall(rb"^port_xmit_data=0xffffffff$", data, re.MULTILINE)
    extended = [int(words, 16) * 4 for words in re.findall(rb"^port_xmit_data_extended=0x([0-9a-f]{16})$", data, re.MULTILINE)]
    assert (542, 526) == (len(ports), len(full))
    assert extended == [port["xmit_bytes"] for port in ports]
    above_zero = {
        name: sum((port[name] or 0) > 0 for port in ports)
        for name in ("link_downed_count", "xmit_discard_count", "rcv_error_count")
    }
    # The eighth port with receive errors has counted down from zero: 40 below 2^64 is no count.
    assert {"link_downed_count": 263, "xmit_discard_count": 263, "rcv_error_count": 7} == above_zero
    assert ["5c25730300e68e76"] == [port["guid"] for port in ports if port["is_saturated"]]
    assert ["5c25730300e68e76"] == [port["guid"] for port in ports if port["rcv_error_count"] is None]


def test_counters_of_perfquery():
    """Words of 4 bytes become bytes; the guid is in the path."""
    name = "perfquery/perfquery_0x7cfe9003003b4bde.out"
    (port,) = rows(content(name), "port_reading", name)
    assert ("7cfe9003003b4bde", 134, 1, 36_198_369_975_904) == (port["guid"], port["lid"], port["port"], port["xmit_bytes"])
    assert (28_824_617_123, 3_732_158_589, 0) == tuple(
        port[column] for column in ("unicast_xmit_packet_count", "multicast_rcv_packet_count", "xmit_wait_ticks")
    )


def test_tiers():
    """Tiers count from the hosts; aggregation nodes are no hosts, or every switch would stand next to one."""

    def tiers(name):
        found = [node["tier"] for node in rows(content(name), "fabric_node") if node["node_kind"] == "switch"]
        return [found.count(tier) for tier in range(1, max(found) + 1)]

    assert [84, 54, 36] == tiers("edr1644/Topo6_CS7500.ibnetdiscover.gz")
    assert [31, 9] == tiers("ndr_dgx582/example.ibnetdiscover.gz")
    nodes = rows(content("edr1644/Topo6_CS7500.ibnetdiscover.gz"), "fabric_node")
    assert sum(node["node_kind"] == "aggregation" for node in nodes) == 174
    assert sorted((48, 42)) == sorted(
        sum(node["chassis_guid"] == chassis and node["node_kind"] == "switch" for node in nodes)
        for chassis in {node["chassis_guid"] for node in nodes if node["tier"] == 3}
    )


def test_hosts():
    """A host is named where a description names one, and not where it is a device's."""
    by_file = {name: rows(content(name), "fabric_node") for name in FABRICS}
    assert {None} == {node["host"] for node in by_file["psmn_x5/X5.topofile"]}
    assert not any(node["host"] == "localhost" for nodes in by_file.values() for node in nodes)
    dgx = by_file["ndr_dgx582/example.ibnetdiscover.gz"]
    unnamed = [node["description"].split()[0] for node in dgx if node["node_kind"] == "host" and node["host"] is None]
    assert {"localhost": 3, "MT4129": 69} == {name: unnamed.count(name) for name in unnamed}
    named = {node["host"] for node in by_file["edr1644/Topo6_CS7500.ibnetdiscover.gz"] if node["description"].startswith("fire")}
    assert "fire667" in named
    places = {node["host"]: node["place"] for node in by_file["perfquery/ibnetdiscover_test.out"]}
    assert {"o0001": "7cfe9003009ce5b0", "o0002": "7cfe9003009ce5b0", "p0001": "506b4b03005c2740", None: None} == places


def test_names_of_guids_and_addresses():
    """A list gives hosts to guids; /etc/hosts to addresses; lctl dl -t network ids to targets."""
    named = {row["name"]: row["alias"] for row in rows(content("psmn_x5/X5.map"), "fabric_name")}
    assert "x5570comp1" == named["003048c74e4a0000"]
    hosts = rows(_shared("slurm/nodes/puhti_etc_hosts.txt.gz"), "fabric_name")
    assert {("address", "10.140.128.1", "puhti-toma1")} <= {(row["name_kind"], row["name"], row["alias"]) for row in hosts}
    assert not any(row["name"].startswith("127.") or row["alias"] == "localhost" for row in hosts)
    targets = {row["name"]: row["alias"] for row in rows(_shared("lustre/lfs/lctl-dl-t.txt.gz"), "fabric_name")}
    assert ("10.100.101.25@o2ib2", "10.100.101.4@o2ib2") == (targets["snx11035-OST0014"], targets["snx11035-MDT0000"])


def _shared(name):
    return content(str(SHARED_DATA / name))


@pytest.mark.parametrize(
    ("name", "switches", "hosts"),
    [
        ("nvidia_superpod", 5, 79),
        ("schedmd_testcase1", 529, 10_000),
        ("schedmd_testcase3", 23, 400),
        ("topograph_dra-block", 0, 96),
    ],
)
def test_slurm_s_topologies(name, switches, hosts):
    """Switches and nodes are read from topology.conf, and each node is placed on its switch or in its block."""
    path = next((SHARED_DATA / "slurm" / "topology").glob(f"{name}*"))
    nodes = rows(path.read_bytes(), "fabric_node")
    assert [switches, hosts] == [sum(node["node_kind"] == kind for node in nodes) for kind in ("switch", "host")]
    assert all(node["place"] for node in nodes if node["node_kind"] == "host")


def test_snapshots_are_kinds_of_the_fabric():
    """What holds until the next is known by the names of sources that there are."""
    assert {source.kind for source in SOURCES} >= SNAPSHOTS


@pytest.mark.proof
def test_damage():
    """Whatever happens to a real input, it is read or refused; `make fuzz` tries it more often."""
    assert {"refused", "read, in doubt", "read"} >= set(outcomes(real(), 150, seed=2))
