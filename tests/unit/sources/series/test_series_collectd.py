"""collectd's documents as Elasticsearch gives them."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st
from reading_series import given, outcome, read, reported

from iomine.errors import UnreadableError
from iomine.sources.series.collectd import SOURCE


def _hit(second: float, **document: Any) -> dict[str, Any]:
    at = datetime.fromtimestamp(1_500_000_000 + second, UTC).isoformat().replace("+00:00", "Z")
    disk = {"plugin": "disk", "collectd_type": "disk_octets", "hostname": "oss1", "plugin_instance": "sda"}
    return {"_source": disk | {"@timestamp": at, "read": 1.5, "write": 2.5} | document}


def _made(*pages: Any) -> bytes:
    return json.dumps(pages).encode()


def _rows(data: bytes) -> list[dict[str, Any]]:
    return reported(read(data).tables["lustre_rate"])


def test_disks() -> None:
    """A document is a rate read and a rate written, over the step that ended when it was taken."""
    first = {
        "begin_at": datetime.fromtimestamp(1_500_000_000, UTC),
        "interval_seconds": 10.0,
        "source_kind": "collectd",
        "target": "oss1/sda",
        "counter_unit": "bytes",
        "night": datetime.fromtimestamp(1_500_000_000, UTC).date(),
    }
    second = first | {"begin_at": datetime.fromtimestamp(1_500_000_010, UTC)}
    data = _made([_hit(10)], [_hit(20, read=3, write=4)])
    assert [
        first | {"counter": "read_bytes", "rate": 1.5},
        second | {"counter": "read_bytes", "rate": 3.0},
        first | {"counter": "write_bytes", "rate": 2.5},
        second | {"counter": "write_bytes", "rate": 4.0},
    ] == _rows(data)
    assert read(data).doubt == ""


def test_disks_named_as_targets() -> None:
    """Only where its name says so is a disk an OST."""
    expected = {"scratch-OST0001": "ost", "MDT0000": "mdt", "dm-OST1": None, "BOOST0001": None, "OST00011": None}
    data = _made([_hit(at, plugin_instance=name) for name in expected for at in (10, 20)])
    assert expected == {row["target"].removeprefix("oss1/"): row.get("target_kind") for row in _rows(data)}


def test_responses() -> None:
    """Whole responses are read as well as lists of hits and lists of lists."""
    response = {"took": 3, "hits": {"total": 2, "hits": [_hit(10), _hit(20)]}}
    expected = _rows(_made([_hit(10), _hit(20)]))
    assert expected == _rows(json.dumps(response).encode())
    assert expected == _rows(_made(response))
    assert expected == _rows(_made(_hit(10), _hit(20)))


def test_order_does_not_matter() -> None:
    """Hits come in no order: only gaps and repeated times of a disk are reported."""
    seconds = [30, 10, 20, 20, 90]
    readings = read(_made([_hit(at) for at in seconds]))
    assert [at - 10 for at in seconds] == [
        row["begin_at"].timestamp() - 1_500_000_000 for row in reported(readings.tables["lustre_rate"])[:5]
    ]
    assert "of 4 steps in time 1 of no length, 1 longer than the usual 10 s, up to 60 s" == readings.doubt


@pytest.mark.parametrize(
    "wrong",
    [
        {"hostname": 3},
        {"hostname": None},
        {"plugin_instance": ["sda"]},
        {"@timestamp": "now"},
        {"@timestamp": 5},
        {"@timestamp": "2017-12-13T08:30:43"},
        {"read": None},
        {"read": "much"},
        {"write": {}},
        {"write": 10**400},
    ],
)
def test_documents_that_lack_a_value(wrong: dict[str, Any]) -> None:
    """A document without host, disk, time or rates is left out and counted."""
    readings = read(_made([_hit(10), _hit(20), _hit(30, **wrong)]))
    assert (4, "1 documents of disks lack host, disk, time or rates") == (
        len(readings.tables["lustre_rate"]),
        readings.doubt,
    )


def test_rates_that_are_not_finite() -> None:
    """A rate that is not finite is not known."""
    assert [None, 1.5] == [row.get("rate") for row in _rows(_made([_hit(10, read=float("nan")), _hit(20)]))[:2]]


def test_other_plugins() -> None:
    """Documents of other plugins, and of disks' other values, are counted."""
    others = [_hit(10, plugin="cpu", collectd_type="percent"), _hit(10, collectd_type="disk_ops")]
    readings = read(_made([_hit(10), _hit(20), *others]))
    assert (4, "2 documents that are not of disks' bytes were left out") == (
        len(readings.tables["lustre_rate"]),
        readings.doubt,
    )
    alone = read(_made(others))
    assert ({}, "2 documents that are not of disks' bytes were left out") == (alone.tables, alone.doubt)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"[1, [2, {}], null]", "The file has no hits of Elasticsearch."),
        (b'[{"_source"', "The file is not JSON: Expecting ':' delimiter: line 1 column 12 (char 11)."),
        (_made([_hit(10)]), "No disk has two samples, so its rates have no interval."),
        (_made([_hit(-1_600_000_000), _hit(10)]), "The times of samples are not seconds since 1970."),
    ],
)
def test_what_cannot_be_understood(data: bytes, reason: str) -> None:
    """What is not JSON, or no hits, or too few to show their interval, is refused."""
    with pytest.raises(UnreadableError) as refused:
        SOURCE.read(given(data))
    assert reason == refused.value.reason


def test_deep_nesting() -> None:
    """JSON that is nested without end is refused."""
    with pytest.raises(UnreadableError) as refused:
        SOURCE.read(given(b"[" * 1_000_000))
    assert refused.value.reason.startswith("The file is not JSON: maximum recursion depth exceeded")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["_source", "hits", "read", "@timestamp"]), inner)
    ),
    max_leaves=8,
)


@settings(max_examples=200)
@examples(_JSON)
def test_any_json(pages: Any) -> None:
    """Whatever the JSON is, it is read or refused."""
    assert outcome(SOURCE, json.dumps(pages).encode(), ([], 1.0)) in ("read", "refused")
