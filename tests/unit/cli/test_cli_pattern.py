"""`iomine pattern`."""

import json
from pathlib import Path
from typing import Any

import pytest

LOG = "abcd000000000001"
HOSTILE = "nid1\x1b[2J\n$(touch owned)"
_KEYS = {"log_id": LOG, "ring": "outer", "node_level": "rank", "op": "write", "metric": "latency", "stretch": "run"}


def _pattern(**values: Any) -> dict[str, Any]:
    usual = {"traffic_pattern": "circular", "link_node_count": 8, "middle_log10": -2.0, "spread_decades": 0.1}
    return _KEYS | usual | {"outlying_count": 0, "outlying_nodes": []} | values


@pytest.fixture(scope="module")
def warehouse(warehouse_of) -> Path:
    """A log with a slow rank whose OSTs are not known, and one without a trace."""
    return warehouse_of(
        log=[{"log_id": LOG, "job_id": "7"}, {"log_id": "b" * 16, "job_id": "8"}],
        link_pattern=[
            _pattern(traffic_pattern="outlier", outlying_count=1, outlying_nodes=[5], outlying_ratio=12.0),
            _pattern(node_level="host", link_node_count=2, traffic_pattern="unknown", pattern_lack="Fewer than 4 nodes."),
            _pattern(op="read"),
        ],
        link_node=[_KEYS | {"node_id": 5, "host": HOSTILE, "median_log10": -0.9}],
        link_ring=[
            {"log_id": LOG, "ring": "outer", "op": "write"},
            {"log_id": LOG, "ring": "inner", "op": "write", "missing": "No layout is known."},
        ],
    )


def test_patterns_come_with_sentences(iomine, warehouse) -> None:
    """Each pattern is a row and a sentence, and what rings lack is said; a host's name cannot steer the terminal."""
    answer = iomine("pattern", "7", "--warehouse", warehouse)
    assert 0 == answer.exit_code
    assert f"{LOG}: Write latencies by rank: outlier, rank 5 on nid1\\x1b[2J\\n$(touch owned) at 12 times" in answer.stdout
    assert "Write latencies by host" not in answer.stdout
    assert f"{LOG}: Read latencies by rank: circular, all 8 near 0.01 s.\n" in answer.stdout
    assert 1 == answer.stdout.count(f"{LOG}: No layout is known.\n")
    assert "\x1b" not in answer.stdout


def test_patterns_for_machines(iomine, warehouse) -> None:
    """As JSON, all columns, and a row also of a ring without a pattern."""
    rows = json.loads(iomine("pattern", LOG, "--json", "--warehouse", warehouse).stdout)["patterns"]
    assert {None, "circular", "outlier", "unknown"} == {row["traffic_pattern"] for row in rows}
    assert [[f"rank 5 on {HOSTILE}"]] == [row["outlying_labels"] for row in rows if row["outlying_count"]]


def test_logs_without_a_trace_have_none(iomine, warehouse) -> None:
    """The command says so, and that is no failure."""
    answer = iomine("pattern", "8", "--warehouse", warehouse)
    assert (0, "") == (answer.exit_code, answer.stdout)
    assert "no trace" in answer.stderr
