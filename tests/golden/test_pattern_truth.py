"""Names of patterns on synthetic nodes of known kind, and on programs of which it is known who was slow."""

from pathlib import Path

import pytest
from pattern_truth import EXPLAINED, PAGE, Score, Seen, page, scores, seen

from iomine.derive.link_names import FEWEST_NODES


@pytest.fixture(scope="module")
def found() -> list[Score]:
    """How often each pattern is named right."""
    return list(scores())


@pytest.fixture(scope="module")
def logs(shared_data: Path) -> list[Seen]:
    """What each traced program was called."""
    return list(seen())


def test_known_kinds_are_named_right(found: list[Score]) -> None:
    """Of each kind 98 of 100 names are right and as many are found, from 256 nodes on, and four of five at 64."""
    least = {nodes: 0.98 if nodes >= 256 else 0.8 for nodes in (64, 256, 1024, 8192)}
    assert 16 == len(found)
    assert [] == [each for each in found if min(each.precision, each.recall) < least[each.nodes]]


def test_slow_ranks_are_found(logs: list[Seen]) -> None:
    """Ranks whose storage was made slow outlie, and no others; where they are a whole host, it alone is an outlier."""
    slowed = {each.workload.partition("_")[0]: each for each in logs if each.slow}
    assert {"s038", "s039", "s131", "s165", "s166"} == set(slowed)
    assert [] == [each.workload for each in slowed.values() if each.slow != set(each.ranks["outlying_nodes"])]
    names = {name: each.ranks["traffic_pattern"] for name, each in slowed.items()}
    assert {"s039", "s166"} == {name for name, pattern in names.items() if pattern == "unknown"}
    assert {"outlier"} == {names[name] for name in ("s038", "s131", "s165")}
    host = slowed["s039"].patterns["inner", "host"]
    assert ("outlier", [2]) == (host["traffic_pattern"], host["outlying_nodes"])


def test_no_other_log_is_an_outlier_unless_it_is_explained(logs: list[Seen]) -> None:
    """Each explanation is of a log that needs one."""
    assert set(EXPLAINED) == {each.workload for each in logs if not each.slow and list(each.outliers())}


def test_balanced_programs_are_circular(logs: list[Seen]) -> None:
    """In nine of ten directions of IOR and of the checkpoint program, where ranks do the same."""
    balanced = [each.ranks for each in logs if each.is_balanced and each.ranks["link_node_count"] >= FEWEST_NODES]
    assert len(balanced) >= 50
    assert sum(row["traffic_pattern"] == "circular" for row in balanced) / len(balanced) >= 0.9


def test_the_page_is_what_came_out(found: list[Score], logs: list[Seen]) -> None:
    """docs/pattern_truth.md says what came out; `python tests/pattern_truth.py` writes it anew."""
    assert page(found, logs) == PAGE.read_text()
