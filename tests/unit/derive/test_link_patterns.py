"""Rows of the table `link_pattern`, from rows of `link_node` and `link_detail`."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from iomine.derive import link_patterns
from iomine.derive.batch import LOG
from iomine.schema.registry import arrow_schema

_OUTER = {"ring": "outer", "op": "write", "metric": "latency", "stretch": "run"}


def _nodes(
    medians: list[float] | np.ndarray, level: str = "rank", hosts: list[str | None] | None = None, **keys: str
) -> pa.Table:
    count = len(medians)
    rows = {name: [value] * count for name, value in ({"node_level": level} | _OUTER | keys).items()}
    known = {"node_id": np.arange(count), "arc": np.arange(count), "host": hosts or [None] * count, "median_log10": medians}
    schema = arrow_schema("link_node")
    return pa.table(
        {name: pa.array(values, schema.field(name).type) for name, values in (rows | known).items()},
    )


def _columns(*tables: pa.Table) -> dict[str, Any]:
    joined = pa.concat_tables(tables)
    return {name: joined[name].combine_chunks() for name in joined.column_names}


def _edges(ring: str, ends: np.ndarray, moved: int = 1, op: str = "write") -> pa.Table:
    count = len(ends)
    texts = {"ring": ring, "metric": "size", "op": op}
    columns = {name: [text] * count for name, text in texts.items()}
    columns |= {"from_node": np.arange(count), "to_node": ends, "moved_bytes": [moved] * count}
    schema = arrow_schema("link_detail")
    return pa.table({name: pa.array(values, schema.field(name).type) for name, values in columns.items()})


def _rows(*nodes: pa.Table, edges: tuple[pa.Table, ...] = ()) -> list[dict[str, Any]]:
    columns = link_patterns(_columns(*nodes), _columns(*edges) if edges else {})
    return pa.table(columns).to_pylist()


def test_levels_and_directions_have_rows_of_their_own() -> None:
    """Each ring, level, direction, metric and stretch is named by itself."""
    quiet = [-2.0] * 8
    nodes = [
        _nodes([*quiet, -1.0]),
        _nodes(quiet, stretch="first"),
        _nodes(quiet[:2], "host", ["a", "b"]),
        _nodes(quiet, op="read"),
    ]
    columns = link_patterns(_columns(*nodes), {})
    assert [*columns] == [LOG, *arrow_schema("link_pattern").names[1:]]
    of = {(row["node_level"], row["op"], row["stretch"]): row for row in pa.table(columns).to_pylist()}
    outlier = of["rank", "write", "run"]
    assert ("outlier", 9, -2.0, 1, [8]) == tuple(
        outlier[name] for name in ("traffic_pattern", "link_node_count", "middle_log10", "outlying_count", "outlying_nodes")
    )
    assert outlier["outlying_ratio"] == pytest.approx(10)
    assert ("circular", None, None) == tuple(
        of["rank", "write", "first"][name] for name in ("traffic_pattern", "outlying_ratio", "pattern_lack")
    )
    assert "Fewer than 4 nodes have a value." == of["host", "write", "run"]["pattern_lack"]
    assert ("circular", []) == tuple(of["rank", "read", "run"][name] for name in ("traffic_pattern", "outlying_nodes"))


def test_the_worst_64_are_listed() -> None:
    """All that outlie are counted, and the furthest 64 listed in order, of equals the first."""
    medians = np.zeros(2000)
    medians[100:170] = 1
    medians[1234] = 3
    (row,) = _rows(_nodes(medians))
    assert (71, [1234, *range(100, 163)]) == (row["outlying_count"], row["outlying_nodes"])


def test_wide_and_small_is_unknown_for_a_reason() -> None:
    """Sixteen nodes that lie far apart have no name, yet those that outlie are listed."""
    (row,) = _rows(_nodes([*np.linspace(-2, -1.7, 14), 0.0, 0.1]))
    assert ("unknown", [15, 14]) == (row["traffic_pattern"], row["outlying_nodes"])
    assert "32" in row["pattern_lack"]


@pytest.mark.parametrize("coincides_with", ["host", "carrier", "ost", None])
def test_stripes_coincide(coincides_with: str | None) -> None:
    """Stripes are said to be those of hosts, carriers or OSTs where these explain as much, and of none where none does."""
    rng = np.random.default_rng(0)
    bands, other = np.arange(128) // 16, rng.permutation(128) // 16
    of = {"host": other, "carrier": other, "ost": np.zeros(128, int)}
    if coincides_with == "ost":
        of["carrier"] = np.arange(128)
        of["ost"] = bands
    elif coincides_with:
        of[coincides_with] = bands
    medians = rng.permutation(8)[bands] / 2 + rng.normal(0, 0.02, 128)
    nodes = _nodes(medians, hosts=[f"nid{host}" for host in of["host"]])
    places = _nodes([0.0] * 8, "ost", ring="inner")
    # A few bytes that go elsewhere, the other way, or are counted by another metric, are none of its bytes.
    astray = _edges("outer", np.zeros(128, int)), _edges("outer", np.arange(128) % 2, 99, "read")
    edges = (_edges("outer", of["carrier"], 9), _edges("inner", of["ost"], 9), *astray)
    rows = {row["node_level"]: row for row in _rows(nodes, places, edges=edges)}
    assert ("striped", 8, coincides_with) == tuple(
        rows["rank"][name] for name in ("traffic_pattern", "band_count", "coincides_with")
    )


def test_nothing_gives_nothing() -> None:
    """A log without edges has no rows; nodes without values have no name."""
    assert link_patterns({}, {}) == {}
    (row,) = _rows(_nodes([np.nan, np.nan]))
    assert ("unknown", 0, None) == tuple(row[name] for name in ("traffic_pattern", "link_node_count", "middle_log10"))
