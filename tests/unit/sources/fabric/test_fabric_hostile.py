"""What a fabric may say that it should not: hostile descriptions, contradictions, numbers that no fabric has, cut files."""

import pytest
from fabric_mutations import read, rows

from iomine.errors import UnreadableError

HEAD = "# Topology file: generated on Wed May 13 14:36:33 2020\n"
ONE, TWO, THREE, FOUR = (f"{number:016x}" for number in (0xA1, 0xA2, 0xA3, 0xA4))
HOSTILE = (
    'say "hi" to 4 #5',
    "a ; rm -rf / [1](2)",
    "<script>alert(1)</script>",
    "\x1b[31mred",
    "' - '",
    '" lid 9 4xEDR',
    'x" base port 0 lid 7 lmc 3',
    "Mellanox } LID:0001 PN:01 }",
    "back\\slash\\x00",
)


def switch(guid, *links, description="leaf", lid=1, ports=36):
    """A block of ibnetdiscover: of each link the port, the peer, its port, and its LID."""
    lines = (
        f'[{port}]\t"S-{peer}"[{peer_port}]\t\t# "peer" lid {peer_lid} {speed}\n'
        for port, peer, peer_port, peer_lid, speed in links
    )
    return (
        f'\nswitchguid=0x{guid}({guid})\nSwitch\t{ports} "S-{guid}"\t\t# "{description}" enhanced port 0 lid {lid} lmc 0\n'
        + "".join(lines)
    )


def pair(*, description="leaf", lid=1, speeds=("4xEDR", "4xEDR")):
    """Two switches with one link."""
    one = switch(ONE, (1, TWO, 2, 2, speeds[0]), description=description, lid=lid)
    return (HEAD + one + switch(TWO, (2, ONE, 1, lid, speeds[1]), description="peer", lid=2)).encode("utf-8", "surrogateescape")


@pytest.mark.parametrize("description", HOSTILE)
def test_descriptions_are_texts_and_nothing_else(description):
    """Whatever a device calls itself, its guid, LID and links are as the tool says."""
    data = pair(description=description)
    (one, two), (link,) = rows(data, "fabric_node"), rows(data, "fabric_link")
    assert (description.strip(), ONE, 1, "switch") == (one["description"], one["guid"], one["lid"], one["node_kind"])
    assert (ONE, 1, TWO, 2, "EDR", 12.5e9) == tuple(
        link[name] for name in ("guid", "port", "peer_guid", "peer_port", "speed", "capacity_bytes_per_second")
    )
    assert (TWO, 2) == (two["guid"], two["lid"])


def test_long_and_undecodable_descriptions():
    """A description of 4 KB is cut, NUL and what is no UTF-8 become escapes."""
    (one, _) = rows(pair(description="x" * 4096), "fabric_node")
    assert one["description"] == "x" * 256
    (one, _) = rows(pair(description="a\udcff\0b"), "fabric_node")
    assert one["description"] == "a\\xff\\x00b"


def test_descriptions_of_the_other_dialects():
    """Quotes and blanks between descriptions do not move what stands before them."""
    line = f"SW     1  1 0x{ONE} 4x EDR - SW     2  2 0x{TWO} ( 'it's' - 'a ' - 'b' )\n"
    back = f"SW     2  2 0x{TWO} 4x EDR - SW     1  1 0x{ONE} ( 'a ' - 'b' - 'it's' )\n"
    (link,) = rows((line + back).encode(), "fabric_link")
    assert (f"{ONE}/1", TWO, 2, 1, 2) == tuple(link[name] for name in ("link_id", "peer_guid", "peer_port", "lid", "peer_lid"))
    end = "{{ SW Ports:24 SystemGUID:{0} NodeGUID:{0} PortGUID:{0} VenID:1 DevID:2 Rev:3 {{{1}}} LID:{2} PN:{3} }}"
    one, two = end.format(ONE, "} LID:0009 PN:09 } { SW", "0001", "0a"), end.format(TWO, "{}", "0002", "0B")
    (link,) = rows(f"{one} {two} PHY=4x LOG=INI SPD=25\n".encode(), "fabric_link")
    assert (ONE, 10, TWO, 11, False) == tuple(link[name] for name in ("guid", "port", "peer_guid", "peer_port", "is_up"))


def test_a_switch_linked_to_itself():
    """A cable between two ports of one switch is a link; a port is not linked with itself."""
    data = (HEAD + switch(ONE, (1, ONE, 2, 1, "4xEDR"), (2, ONE, 1, 1, "4xEDR"), (3, ONE, 3, 1, "4xEDR"))).encode()
    (link,) = rows(data, "fabric_link")
    assert (f"{ONE}/1", ONE, 2) == (link["link_id"], link["peer_guid"], link["peer_port"])
    assert "links that no two ports have: 1" in read(data).doubt


def test_ends_that_name_different_ports():
    """Where one end is said to be linked with two, the link that both know stays, and the other is left out."""
    one = switch(ONE, (1, TWO, 1, 2, "4xEDR"), lid=1)
    two = switch(TWO, (1, THREE, 1, 3, "4xEDR"), lid=2)
    three = switch(THREE, (1, TWO, 1, 2, "4xEDR"), lid=3)
    data = (HEAD + one + two + three).encode()
    assert [(TWO, THREE)] == [(link["guid"], link["peer_guid"]) for link in rows(data, "fabric_link")]
    assert "links left out, whose two ends name different ports: 1" in read(data).doubt


def test_ends_that_name_different_speeds():
    """A width or speed of which the ends give different ones is not known, and so is what the link can move."""
    (link,) = rows(pair(speeds=("4xEDR", "1xEDR")), "fabric_link")
    assert (None, "EDR", None) == (link["lanes"], link["speed"], link["capacity_bytes_per_second"])
    (link,) = rows(pair(speeds=("4xXDR", "4xXDR")), "fabric_link")
    assert (4, None, None) == (link["lanes"], link["speed"], link["capacity_bytes_per_second"])
    assert "speed that is not known: 2" in read(pair(speeds=("4xXDR", "4xXDR"))).doubt


def test_links_that_one_end_lists():
    """A link of which the other end says nothing is kept, in doubt; a device without a block of its own is one."""
    data = (HEAD + switch(ONE, (1, TWO, 1, 2, "4xEDR"))).encode()
    assert [(ONE, TWO)] == [(link["guid"], link["peer_guid"]) for link in rows(data, "fabric_link")]
    assert [(ONE, 36), (TWO, None)] == [(node["guid"], node["port_count"]) for node in rows(data, "fabric_node")]
    assert "links that only one of their ends lists: 1" in read(data).doubt


@pytest.mark.parametrize("lid", [0, 65_536, 2**40, 10**30])
def test_lids_that_no_device_has(lid):
    """A LID is NULL where it cannot be one; the rest of the device stays."""
    (one, _), (link,) = rows(pair(lid=lid), "fabric_node"), rows(pair(lid=lid), "fabric_link")
    assert [None, None] == [one["lid"], link["lid"]]
    assert lid == 0 or "LIDs that no device has, above 65,535: 1" in read(pair(lid=lid)).doubt


def test_dialects_of_ibnetdiscover():
    """Marks, prompts, errors before the head, CRLF and lists without widths are no hindrance."""
    plain = rows(pair(), "fabric_link")
    shell = b"\xef\xbb\xbf[root@sm ~]# ibnetdiscover\nibwarn: [1] mad_rpc: bad\n" + pair().replace(b"\n", b"\r\n")
    assert plain == rows(shell, "fabric_link")
    (link,) = rows(pair(speeds=("", "")), "fabric_link")
    assert (None, None, None) == (link["lanes"], link["speed"], link["capacity_bytes_per_second"])


def test_two_fabrics_in_one_file():
    """Fabrics that are not linked have their own tiers and links, though LIDs are the same."""
    other = switch(THREE, (1, FOUR, 2, 2, "4xEDR"), lid=1) + switch(FOUR, (2, THREE, 1, 1, "4xEDR"), lid=2)
    data = pair() + other.encode()
    assert [(ONE, TWO), (THREE, FOUR)] == [(link["guid"], link["peer_guid"]) for link in rows(data, "fabric_link")]
    assert [1, 2, 1, 2] == [node["lid"] for node in rows(data, "fabric_node")]


@pytest.mark.parametrize("other_lid", [1, 3])
def test_iblinkinfo_of_two_fabrics(other_lid):
    """An end that is named by its LID alone is the device that names this end in turn; where two do, neither is."""
    block = 'Switch: 0x{0} leaf:\n{1:12d}    1[  ] ==( 4X 25.78125 Gbps Active/  LinkUp)==>    {2:4d}    1[  ] "peer" ( )\n'
    text = (
        block.format(ONE, 1, 2)
        + block.format(TWO, 2, 1)
        + block.format(THREE, other_lid, other_lid + 1)
        + block.format(FOUR, other_lid + 1, other_lid)
    )
    if other_lid == 1:
        assert "of which an end is not known by its LID: 4" in read(text.encode()).doubt
        assert [] == rows(text.encode(), "fabric_link")
    else:
        assert [(ONE, TWO), (THREE, FOUR)] == [(link["guid"], link["peer_guid"]) for link in rows(text.encode(), "fabric_link")]


def test_a_cut_line_is_left_out():
    """A speed that was cut may be another one: the last line counts only with its end."""
    data = pair(speeds=("4xFDR10", "4xFDR10"))
    (link,) = rows(data[:-3], "fabric_link")
    assert link["speed"] == "FDR10"
    assert "the last line has no end" in read(data[:-3]).doubt


def table(guid="00000000000000a1", lids=(1, 2, 3), said=None, head="[0x0-0x3]", ports=(1, 2, 0)):
    """A forwarding table as dump_fts prints it."""
    lines = "".join(f"0x{lid:04x} {port:03d} : (Switch portguid 0x1: 'x')\n" for lid, port in zip(lids, ports, strict=True))
    said = len(lids) if said is None else said
    heading = f"Unicast lids {head} of switch DR path slid 0; dlid 0; 0 guid 0x{guid} (guid 0x00000000000000ff ('x'):"
    return f"{heading}\n{lines}{said} valid lids dumped \n"


def test_tables_that_lack_entries_are_left_out():
    """A table that was cut would say of LIDs that there is no route to them."""
    data = (table() + table("00000000000000a2", said=4)).encode()
    assert ["00000000000000a1"] == [row["guid"] for row in rows(data, "fabric_route")]
    assert "tables left out, which lack entries: the file may be cut: 1" in read(data).doubt
    with pytest.raises(UnreadableError, match="of no switch"):
        read(table(said=9).encode())
    plain = "dump_ucast_routes: Switch 0x{}\n0x0001 : 001  : 01   : yes\n0x0002 : UNREACHABLE\n{}"
    data = (plain.format(ONE, "0x0003 : 000  : 00   : yes\n") + plain.format(TWO, "")).encode()
    assert [(ONE, bytes([255, 1, 255, 0]))] == [(row["guid"], row["out_ports"]) for row in rows(data, "fabric_route")]


def test_tables_that_contradict_themselves():
    """A LID with two ports has no route; of two tables of one switch, neither counts unless they are equal."""
    (row,) = rows(table(lids=(1, 2, 2), ports=(1, 2, 3)).encode(), "fabric_route")
    assert row["out_ports"] == bytes([255, 1, 255])
    assert len(rows((table() * 2).encode(), "fabric_route")) == 1
    with pytest.raises(UnreadableError, match="different tables: 1"):
        read((table() + table(ports=(3, 2, 1))).encode())


def test_tables_that_claim_much_take_little():
    """A heading that claims LIDs up to 2^40 takes no memory, and thousands of sparse tables are refused before they do."""
    (row,) = rows(table(head=f"[0x0-0x{2**40:x}]").encode(), "fabric_route")
    assert len(row["out_ports"]) == 4
    sparse = "".join(table(f"{guid:016x}", lids=(0xFFFF,), ports=(1,)) for guid in range(1, 9000))
    with pytest.raises(UnreadableError, match="more than those of any fabric"):
        read(sparse.encode())


def test_lids_and_ports_beyond_their_fields():
    """An entry whose LID has more than four digits, or whose port is none, is no entry."""
    odd = table().replace("0x0002 002", "0x12345 02").replace("0x0003 000", "0x0003 999")
    with pytest.raises(UnreadableError, match="no entries of a table: 2"):
        read(odd.encode())


def port(number=1, lid=7, kind="extended ", **counters):
    """A port as perfquery prints it."""
    lines = "".join(f"{name + ':':.<33}{value}\n" for name, value in counters.items())
    return f"# Port {kind}counters: Lid {lid} port {number} (CapMask: 0x5300 CapMask2: 0x0000002)\n{lines}"


@pytest.mark.parametrize(
    ("kind", "name", "value", "expected"),
    [
        ("extended ", "PortXmitData", 2**32 - 1, (4 * (2**32 - 1), False)),
        ("extended ", "PortXmitData", 2**64 - 1, (None, True)),
        ("extended ", "PortXmitData", 2**61, (None, True)),
        ("extended ", "PortXmitData", "9" * 30, (None, False)),
        ("extended ", "PortXmitData", "NA", (None, False)),
        ("", "PortXmitData", 2**32 - 1, (None, True)),
        ("", "XmtData", 2**32 - 2, (4 * (2**32 - 2), False)),
    ],
)
def test_counters_at_their_maximum(kind, name, value, expected):
    """A counter that stands at its maximum is NULL and marked; what is no number is NULL."""
    (row,) = rows(port(kind=kind, **{name: value}).encode(), "port_reading")
    assert expected == (row["xmit_bytes"], row["is_saturated"])


def test_ports_of_many():
    """Ports follow each other; one that sums up others, is there twice or has no LID is left out, in doubt."""
    text = (
        port(1, PortXmitData=1)
        + port(2, PortRcvPkts=5)
        + port(255, PortXmitData=9)
        + port(1, PortXmitData=8)
        + port(3, lid=70_000)
    )
    found = rows(text.encode(), "port_reading")
    assert [(7, 1, 4, None), (7, 2, None, 5)] == [
        tuple(row[name] for name in ("lid", "port", "xmit_bytes", "rcv_packet_count")) for row in found
    ]
    doubt = read(text.encode()).doubt
    assert all(f"{what}: 1" in doubt for what in ("sum up others or are none", "no device has", "there are counters before"))


@pytest.mark.parametrize("is_short_first", [True, False])
def test_short_counters_beside_the_extended_ones(is_short_first):
    """Extended counters of a port count whatever stands before; short ones give what these lack."""
    blocks = [
        port(1, kind="", PortXmitData=2**32 - 1, SymbolErrorCounter=5, LinkDownedCounter=255),
        port(1, PortXmitData=2**40, PortRcvPkts=7),
    ]
    alone = port(2, kind="", PortXmitData=3, SymbolErrorCounter=6)
    readings = read("".join([alone, *(blocks if is_short_first else reversed(blocks)), port(1, kind="")]).encode())
    columns = ("port", "xmit_bytes", "rcv_packet_count", "symbol_error_count", "link_downed_count", "is_saturated")
    assert [(1, 2**42, 7, 5, None, True), (2, 12, None, 6, None, False)] == sorted(
        tuple(row[name] for name in columns) for row in readings.tables["port_reading"].to_pylist()
    )
    assert "of which there are counters before: 1" in readings.doubt


def test_a_port_goes_on_in_the_next_piece():
    """Where a text is read in pieces, a port keeps the counters that follow in the next."""
    filler = port(9, QP1Dropped=0) + "#\n" * (4 << 20)
    text = port(1, PortXmitData=1) + filler.partition("\n")[2] + port(2, PortXmitData=2)
    middle = text.replace("#\n" * 100, "#\n" * 100 + f"{'PortRcvData:':.<33}3\n", 1)
    found = rows((middle + f"{'PortRcvData:':.<33}4\n").encode(), "port_reading")
    assert [(1, 4, 12), (2, 8, 16)] == [(row["port"], row["xmit_bytes"], row["rcv_bytes"]) for row in found]


def test_hostile_names():
    """Names that are none are left out by their line; a host has its aliases, not its domain."""
    hosts = "10.0.0.1 n1.site.org n1 n1-ib\n300.0.0.1 x\n10.0.0.2\n::1 localhost\n10.0.0.3 <b>\nfe80::1 n9\n"
    readings = read(hosts.encode())
    found = readings.tables["fabric_name"].to_pylist()
    assert [("10.0.0.1", "n1"), ("10.0.0.1", "n1-ib")] == [(row["name"], row["alias"]) for row in found]
    assert "line 2 (it does not begin with an address)" in readings.doubt
    devices = "  4 UP osc s-OST0014-osc-ff {} 5 {}\n"
    (row,) = rows(
        (devices.format("a", "10.0.0.1@o2ib2") + devices.format("b", "0@lo") + devices.format("c", "<b>@x")).encode(),
        "fabric_name",
    )
    assert ("target", "s-OST0014", "10.0.0.1@o2ib2") == (row["name_kind"], row["name"], row["alias"])
    with pytest.raises(UnreadableError, match="give what lctl dl -t prints"):
        read(b"  0 UP osc s-OST0014-osc-ff a 5\n")


def test_topologies_that_name_too_many():
    """A list that unfolds to more nodes than any machine has is left out before it is unfolded."""
    text = "SwitchName=s0 Nodes=a[1-3]\nSwitchName=s1 Nodes=b[1-999999999]\nSwitchName=s2 Switches=s[0-1]\nnonsense\n"
    readings = read(text.encode())
    nodes = readings.tables["fabric_node"].to_pylist()
    assert {"s0": 1, "s2": 2, "s1": 3} == {node["description"]: node["tier"] for node in nodes if node["node_kind"] == "switch"}
    assert "Left out, 2 in all: line 2" in readings.doubt


LINK = '   1    1[  ] ==( 4X 25.78125 Gbps Active/  LinkUp)==>  0x0002c90300000002   2    1[  ] "n1 HCA-1" ( )'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f'Errors for 0xa1 "leaf"\n   GUID 0xa1 port 1: [SymbolErrorCounter == 3]\n     Link info: {LINK}\n', "ibqueryerrors"),
        ("## Summary: 10 nodes checked, 0 bad nodes found\n", "ibqueryerrors"),
        ("hfi1_0:1                           PortGID:0xfe80000000000000:00117501016703dc\n", "Omni-Path"),
        ("Getting Port Status...\nPort Number             1\n", "Omni-Path"),
        ("<?xml version='1.0'?><Report date='x' unixtime='1'><Nodes></Nodes></Report>\n", "Omni-Path"),
        ("Device: cxi0\n    Description: SS11 200Gb 2P NIC Mezz\n", "Slingshot"),
        ("cxi0/telemetry/hni_tx_ok_64: 100@1763600000.1\n", "Slingshot"),
        ("# Port extended counters: Lid 5 port 255 (CapMask: 0x1400)\nPortXmitData:....100\n", "give perfquery -x of each"),
        (
            "# PortVLOpPackets counters: DR path slid 0; dlid 0; 0 port 1\nPortVLOpPackets0:....1\n",
            "give what perfquery -x prints",
        ),
        ("# Port Extended Speeds Counters: Lid 5 port 1\nPortSelect:....1\n", "give what perfquery -x prints"),
        (
            "# Port extended counters: DR path slid 0; dlid 0; 0,1,3 port 1 (CapMask: 0x1400)\nPortXmitData:....100\n",
            r"only the route is said \(DR path\): name a LID, or a guid with -G: 1",
        ),
    ],
)
def test_other_tools_are_refused_by_name(text, reason):
    """What is not read is refused with what it is or what to give instead, whatever else its lines look like."""
    with pytest.raises(UnreadableError, match=reason):
        read(text.encode())


@pytest.mark.parametrize(
    ("places", "path", "expected"),
    [
        (["DR path slid 65535; dlid 65535; 0,1,3"], "0x7cfe9003003b4bde.out", [("7cfe9003003b4bde", None)]),
        (["Lid 7 Gid fe80::1", "Lid 8 DR path slid 7; dlid 65535; 0,1"], "x.out", [(None, 7), (None, 8)]),
        (["DR path slid 0; dlid 0; 0,1", "Lid 7"], "0x7cfe9003003b4bde.out", [(None, 7)]),
    ],
)
def test_ports_named_by_route(places, path, expected):
    """A port is that of a LID whatever follows it; with a route alone it is that of the path's guid, if it is the only device."""
    text = "".join(f"# Port counters: {place} port 1 (CapMask: 0x1400)\nPortXmitData:....100\n" for place in places)
    table = read(text.encode(), path).tables["port_reading"]
    assert expected == list(zip(table["guid"].to_pylist(), table["lid"].to_pylist(), strict=True))
    assert {400} == set(table["xmit_bytes"].to_pylist())
