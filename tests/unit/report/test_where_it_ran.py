"""The section of a report on the switches, nodes and servers that a log's bytes passed."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fabrics import NIGHT, fat_tree, hostile, publish

from iomine.report.fabric import where_picture
from iomine.report.facts import Facts, Place, gather
from iomine.report.page import as_json, page
from iomine.views.query import answer, open_catalog


def facts_of(database: Path, log_id: str = f"{0:016x}") -> Facts:
    with open_catalog(database) as con:
        (facts,) = gather(partial(answer, con), [Place("blue", NIGHT, log_id)])
    return facts


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    """A log on eight neighbouring nodes of a small fat tree."""
    return facts_of(publish(tmp_path_factory.mktemp("ran"), fat_tree(4, 2, 6), jobs=2, nodes=8))


def test_report_names_switches_nodes_and_servers(facts: Facts) -> None:
    """The section has the log's own leaves, how many of its nodes hang on each, and its servers; no other."""
    text = page(facts)
    section = text[text.index('id="where"') : text.index('id="history"')]
    nodes = [row for row in facts.ways if row["peer_kind"] == "nodes"]
    servers = [row for row in facts.ways if row["peer_kind"] == "server"]
    assert 8 == sum(row["node_count"] for row in nodes)
    assert {"node00022 HCA-1", "node00023 HCA-1"} == {row["peer_device"] for row in servers}
    assert all(row["device"] in section for row in facts.ways)
    assert "8 nodes" in section or len(nodes) > 1
    assert len(facts.ways) == section.count("<path ")
    assert b'"ways":' in as_json(facts)


def test_picture_is_the_same_whatever_the_order_of_rows(facts: Facts) -> None:
    """Things stand in the order of the fabric's picture, not in that of rows."""
    circles = [set(re.findall("<circle.*?</circle>", where_picture(ways))) for ways in (facts.ways, facts.ways[::-1])]
    assert circles[0] == circles[1]


def test_hostile_names_are_text(tmp_path: Path) -> None:
    """Names of devices do not become markup, and long ones are cut."""
    made = hostile()
    database = publish(tmp_path, made, jobs=3, nodes=9)
    text = page(facts_of(database))
    assert 'id="where"' in text
    assert "<script>alert" not in text
    assert "x" * 200 not in text


def test_log_without_a_route_has_no_section(facts: Facts) -> None:
    """Without a fabric, reports are as they were."""
    bare = Facts(facts.log)
    assert 'id="where"' not in page(bare)
    assert "Where it ran" not in page(bare)


def test_what_is_not_routed_is_said(facts: Facts) -> None:
    """Where no byte could be put onto links, the section says why."""
    row: dict[str, Any] = dict.fromkeys(facts.route) | {"moved_bytes": 2048, "routed_bytes": 0, "unrouted_reason": "<No> tables."}
    text = page(Facts(facts.log, route=row))
    assert "Of 2.0 KiB it is known for 0 B which links they took: <bdi>&lt;No&gt; tables.</bdi>" in text
