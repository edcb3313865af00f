"""`iomine fabric`."""

import datetime as dt
import json
import re
from collections.abc import Callable
from pathlib import Path

import fabric_rows as fabrics
import pytest
from shared import NOT_HERE, SHARED_DATA

from iomine.sources.fabric import SOURCES
from iomine.sources.model import Input

SAMPLES = SHARED_DATA / "fabric" / "psmn_x5"
HOSTILE = '<b>"n1#\x1b[31m' + "é" * 400


@pytest.fixture
def small(warehouse_of: Callable[..., Path]) -> Path:
    """Two leaf switches under a third, a host on each, and a link that is down."""
    fabric = fabrics.Fabric(3, ["n1.site.test", "oss1"])
    for one, other in ((0, 2), (1, 2), (3, 0), (4, 1), (0, 1)):
        fabric.link(one, other)
    links = fabric.links_table().to_pylist()
    (down,) = (row for row in links if row["guid"] == fabrics.guid(0) and row["peer_guid"] == fabrics.guid(1))
    down["is_up"] = False
    fabric.links.pop()
    fabric.route()
    nodes = fabric.nodes_table().to_pylist()
    nodes[0]["description"] = HOSTILE
    interval = {
        "begin_at": fabrics.READ_AT,
        "guid": fabrics.guid(0),
        "port": 1,
        "symbol_error_count": 7,
        "utilisation_ratio": 0.5,
    }
    return warehouse_of(
        fabric_node=nodes, fabric_link=links, fabric_route=fabric.routes_table().to_pylist(), link_interval=[interval]
    )


@pytest.mark.skipif(not SAMPLES.exists(), reason=NOT_HERE)
@pytest.mark.proof
def test_ways_are_printed_as_ibtracert_does(iomine, warehouse_of):
    """Of pairs of a real fabric the command prints what the real tool printed, sign by sign."""
    tables = {}
    for name in ("X5.topofile", "opensm_minhop/dump_fts.txt"):
        source = Input(name, (SAMPLES / name).read_bytes(), dt.datetime(2024, 4, 18, tzinfo=dt.UTC))
        found = next(each for each in SOURCES if each.knows(source)).read(source).tables
        tables |= {table: rows.drop_columns("night").to_pylist() for table, rows in found.items()}
    warehouse = warehouse_of(**tables)
    text = (SAMPLES / "opensm_minhop" / "ibtracert_40pairs.txt").read_text()
    traced = re.findall(r'(From ca \{(0x\w+)\}.*?To ca \{(0x\w+)\}[^\n]*"[^\n]*\n)', text, re.DOTALL)
    assert 40 == len(traced)
    for expected, source, dest in traced[::8]:
        assert expected == iomine("fabric", "path", source, dest, "--warehouse", warehouse).stdout
    lids = re.findall(r"(?:From|To) ca .*? lid (\d+)-", traced[0][0])
    assert traced[0][0] == iomine("fabric", "path", *lids, "--warehouse", warehouse).stdout


def test_what_there_is_is_counted(iomine, small):
    """Devices by kind, links by speed, those that are down, pairs without a way, and the worst links with both ends."""
    answer = json.loads(iomine("fabric", "--format", "json", "--warehouse", small).stdout)
    found = {(row["fact"], row["name"]): row["count"] for row in answer if row["fact"] not in {"worst link", "link down"}}
    expected = {("devices", "switch"): 3, ("devices", "host"): 2, ("hosts", ""): 2, ("subnets", ""): 1, ("links", "4x EDR"): 4}
    assert expected | {("links down", ""): 1, ("unroutable pairs", ""): 0} == found
    (down,) = (row["name"] for row in answer if row["fact"] == "link down")
    (worst,) = (row for row in answer if row["fact"] == "worst link")
    assert down.endswith("/3 - switch1/3")
    assert worst["name"].endswith("/1 -> switch2/1")
    assert (7, "errors in the day to 2024-04-18 00:00, 50% full at most") == (worst["count"], worst["detail"])


def test_ways_are_found_by_name_and_as_rows(iomine, small):
    """A host may be named with or without its domain, and other formats give a row for each hop."""
    answer = iomine("fabric", "path", "N1", "oss1.site.test", "--format", "json", "--warehouse", small)
    assert [(3, 1, 0, 2), (0, 1, 2, 1), (2, 2, 1, 1), (1, 2, 4, 1)] == [
        (int(row["guid"], 16), row["port"], int(row["peer_guid"], 16), row["peer_port"]) for row in json.loads(answer.stdout)
    ]


def test_an_unknown_host_is_one_sentence_with_the_nearest(iomine, small):
    """Whoever mistypes a name is shown those that look like it."""
    answer = iomine("fabric", "path", "n1", "oss2", "--warehouse", small)
    assert 2 == answer.exit_code
    assert "The fabric has no host, guid or LID oss2: near it are oss1." in answer.stderr
    assert 1 == len(answer.stderr.strip().splitlines())


@pytest.mark.parametrize("arguments", [("path", "n1"), ("paths", "n1", "oss1"), ("path", "n1", "n1"), ("path", "3", "0x9")])
def test_what_makes_no_sense_is_one_sentence(iomine, small, arguments):
    """Questions that there are not, devices that are one, and LIDs of nobody end with status 2."""
    answer = iomine("fabric", *arguments, "--warehouse", small)
    assert (2, 1) == (answer.exit_code, len(answer.stderr.strip().splitlines()))


def test_a_warehouse_without_a_fabric_says_so(iomine, warehouse):
    """Nothing was read: the sentence names the input."""
    answer = iomine("fabric", "--warehouse", warehouse)
    assert 2 == answer.exit_code
    assert "knows no fabric: " in answer.stderr
    assert "knows no fabric of rad: " in iomine("fabric", "--cluster", "rad", "--warehouse", warehouse).stderr
    assert "ibnetdiscover" in answer.stderr


def test_names_of_devices_cannot_steer_a_terminal(iomine, small):
    """What a device calls itself is shown in visible signs, and not at any length."""
    answer = iomine("fabric", "--warehouse", small).stdout + iomine("fabric", "path", "n1", "oss1", "--warehouse", small).stdout
    assert "\x1b" not in answer
    assert "\\x1b[31m" in answer
