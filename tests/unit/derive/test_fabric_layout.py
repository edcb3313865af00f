"""Where devices of a fabric stand in its picture."""

import random

import numpy as np
import pyarrow as pa
import pytest
from fabrics import Fabric, fat_tree
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from iomine.derive.fabric_layout import layout_of


def places(layout: pa.Table) -> dict[str, tuple[float, float]]:
    rows = zip(layout["guid"].to_pylist(), layout["x"].to_pylist(), layout["y"].to_pylist(), strict=True)
    return {guid: (x, y) for guid, x, y in rows}


@st.composite
def fabrics(draw: st.DrawFn) -> Fabric:
    """Switches of any tiers, chassis, hosts and links by chance: parallel, to itself, and none at all."""
    made = Fabric()
    switches = draw(st.integers(0, 25))
    tiers = st.one_of(st.none(), st.integers(1, 4))
    guids = [
        made.add(number, "switch", draw(tiers), f"s{number}", draw(st.one_of(st.none(), st.integers(0, 3))))
        for number in range(switches)
    ]
    for number in range(draw(st.integers(0, 60))):
        kind = draw(st.sampled_from(["host", "host", "host", "aggregation"]))
        guids.append(made.add(1000 + number, kind, 0, draw(st.sampled_from(["node1", "node10", "node2", "<b>", "", "²3"]))))
    if guids:
        for _ in range(draw(st.integers(0, 100))):
            made.connect(draw(st.sampled_from(guids)), draw(st.sampled_from(guids)))
    return made


@settings(max_examples=150, deadline=None)
@given(fabrics())
@pytest.mark.proof
def test_each_device_is_placed_once_and_none_on_another(fabric: Fabric) -> None:
    """Whatever is linked to whatever, each device has a place, and no two are closer than hosts may be."""
    layout = layout_of(*fabric.tables)
    assert sorted(row["guid"] for row in fabric.nodes) == layout["guid"].to_pylist()
    xy = np.stack([layout["x"].to_numpy(), layout["y"].to_numpy()], axis=1)
    assert np.isfinite(xy).all()
    if len(xy) > 1:
        assert cKDTree(xy).query(xy, k=2)[0][:, 1].min() >= 1


@settings(max_examples=30, deadline=None)
@given(fabrics(), st.integers())
def test_order_of_rows_does_not_matter(fabric: Fabric, seed: int) -> None:
    """The same devices and links, in another order, stand where they stood."""
    before = layout_of(*fabric.tables)
    random.Random(seed).shuffle(fabric.nodes)
    random.Random(seed).shuffle(fabric.links)
    assert before == layout_of(*fabric.tables)


def test_hosts_fold_into_their_switch_and_chips_into_their_chassis() -> None:
    """A host is drawn as its switch, a chip as its chassis, and a switch alone as itself; so is a host without a link."""
    made = fat_tree(2, 1, 3)
    chassis = [made.add(500 + number, "switch", 3, f"core/U{number}", 500) for number in range(2)]
    made.connect(chassis[0], made.nodes[0]["guid"])
    made.connect(*chassis)
    alone = made.add(600, "host", 0, "lost")
    bundles = dict(zip(*(layout_of(*made.tables)[name].to_pylist() for name in ("guid", "bundle")), strict=True))
    leaf = {row["description"]: row["guid"] for row in made.nodes}
    assert bundles[leaf["node00004 HCA-1"]] == leaf["leaf1"]
    assert [bundles[each] for each in chassis] == [chassis[0]] * 2
    assert (bundles[leaf["spine0"]], bundles[leaf["leaf0"]], bundles[alone]) == (None, None, None)


def test_aggregation_nodes_make_no_tier_and_hosts_stand_outside() -> None:
    """Hosts are farther from the middle than their leaf, and leaves than spines, with aggregation nodes on every switch."""
    made = fat_tree(8, 4, 6)
    for number, row in enumerate(list(made.nodes)):
        if row["node_kind"] == "switch":
            made.connect(made.add(900 + number, "aggregation", None, "Aggregation Node"), row["guid"])
    found = places(layout_of(*made.tables))
    middle = np.mean([found[row["guid"]] for row in made.nodes if row["tier"] == 2], axis=0)
    distance = {
        tier: [np.hypot(*(np.array(found[row["guid"]]) - middle)) for row in made.nodes if row["tier"] == tier]
        for tier in (0, 1, 2)
    }
    assert max(distance[2]) < min(distance[1]) < max(distance[1]) < min(distance[0])


def test_leaves_stand_beside_those_that_share_spines() -> None:
    """Two pods, whose leaves come in turn, stand apart: no leaf stands between two of the other pod."""
    made = Fabric()
    spines = [made.add(number, "switch", 2, f"spine{number}") for number in range(4)]
    top = made.add(50, "switch", 3, "top")
    for spine in spines:
        made.connect(spine, top)
    pods = {}
    for number in range(12):
        leaf = made.add(100 + number, "switch", 1, f"leaf{number}")
        pods[leaf] = number % 2
        for spine in spines[number % 2 :: 2]:
            made.connect(leaf, spine)
    found = places(layout_of(*made.tables))
    around = sorted(pods, key=lambda leaf: np.arctan2(*(np.array(found[leaf]) - found[top])))
    changes = sum(pods[one] != pods[other] for one, other in zip(around, around[1:] + around[:1], strict=True))
    assert 2 == changes


def test_two_fabrics_stand_side_by_side() -> None:
    """Subnets without a link between them do not share room."""
    one, other = fat_tree(4, 2, 3), fat_tree(4, 2, 3, first=2000)
    both = Fabric(one.nodes + other.nodes, one.links + other.links)
    found = places(layout_of(*both.tables))
    left = [found[row["guid"]][0] for row in one.nodes]
    right = [found[row["guid"]][0] for row in other.nodes]
    assert max(left) < min(right) or max(right) < min(left)


def test_no_device_is_no_place() -> None:
    """Nothing gives nothing."""
    assert 0 == layout_of(*Fabric().tables).num_rows
