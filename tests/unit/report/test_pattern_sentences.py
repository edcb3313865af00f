"""Sentences about patterns."""

from typing import Any

import pytest

from iomine.report.patterns import is_worth_saying, pattern_sentence, ring_sentences

_ROW = {
    "op": "write", "metric": "latency", "node_level": "rank", "carrier_kind": "host",
    "traffic_pattern": "circular", "link_node_count": 1024,
    "middle_log10": -2.0, "spread_decades": 0.1, "outlying_count": 0, "outlying_labels": None, "outlying_ratio": None,
    "band_count": None, "period_node_count": None, "coincides_with": None, "pattern_lack": None, "first_traffic_pattern": None,
    "first_middle_log10": None, "last_traffic_pattern": None, "last_middle_log10": None,
}  # fmt: skip
_ONE = {"outlying_count": 1, "outlying_labels": ["rank 5 on \x1b[2J"], "outlying_ratio": 12.3}
_MANY = {"outlying_count": 9, "outlying_labels": [f"nid{number}" for number in range(4)], "outlying_ratio": 2.5}
_SLOW_START = {"first_traffic_pattern": "circular", "first_middle_log10": -1.0, "last_traffic_pattern": "circular"}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "Write latencies by rank: circular, all 1,024 near 0.01 s."),
        (
            {"traffic_pattern": "outlier"} | _ONE,
            r"Write latencies by rank: outlier, rank 5 on \x1b[2J at 12 times the median of 1,024 (0.01 s).",
        ),
        (
            {"traffic_pattern": "noisy", "node_level": "host", "spread_decades": 1.0} | _MANY,
            (
                "Write latencies by host: noisy, the 90th percentile of 1,024 is 10 times the 10th, nid0, nid1, nid2, "
                "nid3 and 5 more at up to 2.5 times the median of 1,024 (0.01 s)."
            ),
        ),
        (
            {
                "traffic_pattern": "striped",
                "band_count": 8,
                "coincides_with": "ost",
                "spread_decades": 0.5,
                "link_node_count": 64,
            },
            (
                "Write latencies by rank: striped, 8 bands of neighbours (those of OSTs), the 90th percentile of 64 is 3.2 times "
                "the 10th."
            ),
        ),
        (
            {
                "traffic_pattern": "striped",
                "period_node_count": 3,
                "spread_decades": 0.5,
                "link_node_count": 64,
            },
            ("Write latencies by rank: striped, every 3 nodes alike, the 90th percentile of 64 is 3.2 times the 10th."),
        ),
        (
            {"traffic_pattern": "unknown", "node_level": "ost", "middle_log10": None, "pattern_lack": "Fewer than 4 nodes."},
            "Write latencies by OST: unknown, fewer than 4 nodes.",
        ),
        (
            _SLOW_START | {"last_middle_log10": -2.1},
            "Write latencies by rank: circular, all 1,024 near 0.01 s, in the first tenth of its time circular around 0.1 s.",
        ),
        (
            {"metric": "size", "middle_log10": 6.020599913279624, "last_traffic_pattern": "noisy", "last_middle_log10": 6.0},
            "Write sizes by rank: circular, all 1,024 near 1.0 MiB, in the last tenth of its time noisy around 976.6 KiB.",
        ),
    ],
)
def test_sentences(given: dict[str, Any], sentence: str) -> None:
    """Each pattern is named in one sentence, with its numbers; names of nodes cannot steer a terminal."""
    assert sentence == pattern_sentence(_ROW | given)


@pytest.mark.parametrize(
    ("given", "sentences"),
    [
        ({"missing": None, "striped_by_ratio": 0.49}, []),
        (
            {"missing": "No layout.", "striped_by_ratio": 0.75},
            ["No layout.", "Reads: bands of ranks use places of their own; the band decides 75% of the place."],
        ),
        ({"missing": None, "striped_by_ratio": None}, []),
        ({"missing": None, "striped_by_ratio": 0.75, "ring": "outer"}, []),
    ],
)
def test_sentences_of_rings(given: dict[str, Any], sentences: list[str]) -> None:
    """What a ring lacks is said as it stands; that ranks part places among them only where the band decides half of it."""
    assert sentences == ring_sentences({"op": "read", "ring": "inner"} | given)


@pytest.mark.parametrize(
    ("given", "is_said"),
    [
        ({}, True),
        ({"traffic_pattern": "unknown"}, False),
        ({"traffic_pattern": "unknown"} | _MANY, True),
        ({"node_level": "carrier"}, False),
        ({"node_level": "carrier", "carrier_kind": "aggregator"}, True),
    ],
)
def test_what_is_worth_a_sentence(given: dict[str, Any], is_said: bool) -> None:
    """What has no name and no nodes to name is not said, nor what was said of hosts once more of carriers."""
    assert is_said == is_worth_saying(_ROW | given)
