"""`brw_stats` and `rpc_stats`."""

from datetime import UTC, datetime
from typing import Any

import pytest
from reading import LUSTRE, members, read, rows, shared
from shared import NOT_HERE

_HERE = pytest.mark.skipif(not LUSTRE.is_dir(), reason=NOT_HERE)


def _buckets(readings: Any, histogram: str) -> list[tuple[float, int, int]]:
    found = rows(readings, "lustre_histogram", histogram=histogram)
    return [(row["bucket"], row["read_count"], row["write_count"]) for row in found]


@_HERE
def test_brw_stats_of_a_target() -> None:
    """Counts of reads and writes by bucket; units after labels are powers of 1024."""
    got = read(shared("procfs/telegraf2.12_osd-ldiskfs_OST0001_brw_stats"), "/osd-ldiskfs/fs-OST0001/brw_stats")
    assert [
        (1.0, 0, 327301),
        (16.0, 0, 0),
        (128.0, 35, 209),
        (1024.0, 0, 1703),
        (16384.0, 4449, 255983),
        (131072.0, 855, 23),
        (1048576.0, 43866371, 850248),
    ] == _buckets(got, "disk I/O size")
    row = rows(got, "lustre_histogram", histogram="I/O time (1/1000s)")[0]
    assert ("ios", "brw_stats", "fs-OST0001", "ost", "target", "", datetime(2020, 5, 19, 17, 33, 8, 327213, UTC)) == tuple(
        row[name] for name in ("counter_unit", "source_kind", "target", "target_kind", "scope", "owner", "sampled_at")
    )
    assert 24 == got.tables["lustre_histogram"].num_rows
    assert not got.doubt


@_HERE
@pytest.mark.parametrize("name", ["wc_brw_stats_with_data.txt", "exascaler6_ai400x2_get_param.txt", "wc_valid.txt"])
def test_counts_add_up(name: str) -> None:
    """All reads and writes of a text are those that splitting its lines at bars gives."""
    expected, seen = [0, 0], {}
    part = ""
    for line in shared(f"lctl/{name}").decode().splitlines():
        part = line if "=" in line else part
        left, bar, right = line.partition("|")
        if line[:1].isdigit() and bar:
            seen.setdefault(part, []).append((int(left.split()[1]), int(right.split()[0])))
        elif line.startswith("snapshot_time"):
            # Only the last values of a parameter count.
            seen.pop(part, None)
    for reads, writes in (bucket for buckets in seen.values() for bucket in buckets):
        expected = [expected[0] + reads, expected[1] + writes]
    found = rows(read(shared(f"lctl/{name}")), "lustre_histogram")
    assert expected == [sum(row[column] for row in found) for column in ("read_count", "write_count")]


@_HERE
def test_empty_sections_are_no_rows() -> None:
    """Headings without buckets give nothing, and nothing is wrong with them."""
    got = read(shared("lctl/wc_brw_stats_empty.txt"))
    assert ({}, "") == (dict(got.tables), got.doubt)


@_HERE
def test_rpc_stats_of_clients() -> None:
    """`rpc_stats` of an OSC device; an MDC's count neither reads nor writes, and are left out and reported."""
    paths = dict(members("procfs/hpe_lustre2.9-2.10_all-roles.tar.gz"))
    (osc,) = (path for path in paths if path.endswith("OST0000-osc-ffff88105db50000/rpc_stats"))
    got = read(paths[osc], osc)
    assert (1024.0, 0, 16389010) == _buckets(got, "pages per rpc")[-1]
    assert [(0.0, 0, 0), (1.0, 0, 1053804)] == _buckets(got, "rpcs in flight")[:2]
    row = rows(got, "lustre_histogram")[0]
    assert ("rpc_stats", "rpcs", "client", "lustrefs-OST0000-osc-ffff88105db50000") == tuple(
        row[name] for name in ("source_kind", "counter_unit", "target_kind", "target")
    )
    (mdc,) = (path for path in paths if path.endswith("mdc-ffff88105db50000/rpc_stats"))
    assert ({}, 8) == (dict(read(paths[mdc], mdc).tables), int(read(paths[mdc], mdc).doubt.split()[-1]))


def test_buckets_of_no_histogram() -> None:
    """A bucket whose heading is cut off is left out and reported."""
    text = (
        "4K:   1 1 1 |  2 2 2\ndisk I/O size          ios   % cum % |  ios         % cum %\n8K:   3 3 3 |  4 4 4\n16K:  5 5 5 |"
    )
    got = read(text, "/2026-01-05/1410/fs-OST0001.brw_stats")
    assert [(8192.0, 3, 4)] == _buckets(got, "disk I/O size")
    assert "no counter holds: 2" in got.doubt
