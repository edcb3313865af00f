"""`lfs df`."""

from datetime import UTC, datetime

import pytest
from reading import CHANGED, LUSTRE, read, rows, shared
from shared import NOT_HERE

from iomine.errors import UnreadableError

_HERE = pytest.mark.skipif(not LUSTRE.is_dir(), reason=NOT_HERE)
_HEAD = "UUID                   1K-blocks        Used   Available Use% Mounted on\n"
_OST = "fs-OST0000_UUID 1000 600 300  67% /scratch[OST:0]\n"


@_HERE
def test_one_snapshot() -> None:
    """Blocks of 1 KiB become bytes; without a time in it, it is as old as its file."""
    got = read(shared("lfs/lfs-df.txt.gz"))
    found = rows(got, "target_fullness")
    assert {
        "sampled_at": CHANGED,
        "night": CHANGED.date(),
        "target": "snx11035-OST000a",
        "target_kind": "ost",
        "mount": "/scratch2",
        "capacity_bytes": 90767651352 * 1024,
        "used_bytes": 68046786932 * 1024,
        "free_bytes": 21769522164 * 1024,
    } == next(row for row in found if row["target"] == "snx11035-OST000a")
    assert shared("lfs/lfs-df.txt.gz").count(b"%") - shared("lfs/lfs-df.txt.gz").count(b"summary") - shared(
        "lfs/lfs-df.txt.gz"
    ).count(b"Use%") == len(found)
    assert "nothing but the file's time of change says when it was read" == got.doubt


@_HERE
def test_many_snapshots() -> None:
    """Each snapshot has the time that stands before it, and all bytes are there."""
    data = shared("lfs/sample_ost-fullness.txt.gz").decode()
    got = read(data)
    found = got.tables["target_fullness"]
    lines = [line.split() for line in data.splitlines() if "[OST:" in line or "[MDT:" in line]
    assert [sum(int(line[column]) for line in lines) * 1024 for column in (1, 2, 3)] == [
        sum(found[name].to_pylist()) for name in ("capacity_bytes", "used_bytes", "free_bytes")
    ]
    begins = [int(line.split()[1]) for line in data.splitlines() if line.startswith("BEGIN")]
    assert [datetime.fromtimestamp(begin, UTC) for begin in begins] == sorted(set(found["sampled_at"].to_pylist()))
    assert {
        "mdt": len([line for line in lines if "[MDT:" in line[5]]),
        "ost": len([line for line in lines if "[OST:" in line[5]]),
    } == {each["values"]: each["counts"] for each in found["target_kind"].combine_chunks().value_counts().to_pylist()}
    assert not got.doubt


def test_targets_that_do_not_answer() -> None:
    """Inactive targets are counted; what is cut or beyond 64 bits is left out and reported."""
    text = (
        _HEAD
        + _OST
        + "OST0001             : inactive device\nfs-OST0002_UUID 1000 600\nfs-OST0003_UUID 9999999999999999 1 1 1% /x[OST:3]\n"
    )
    got = read(text, "/2026-01-05/1410")
    assert ["fs-OST0000"] == [row["target"] for row in rows(got, "target_fullness")]
    assert "targets that did not answer: 1; lines left out, which are not as lfs df writes them: 2" == got.doubt


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "UUID  bytes   Used   Available Use% Mounted on\nfs-OST0000_UUID 1.0T 600.0G 300.0G  67% /x[OST:0]\n",
            "rounds",
        ),
        (
            "UUID  Inodes   IUsed   IFree IUse% Mounted on\nfs-OST0000_UUID 10 6 3  67% /x[OST:0]\n",
            "leaves out",
        ),
        (_HEAD + "OST0001             : inactive device\n", "size of no target"),
        (_HEAD, "size of no target"),
    ],
)
def test_what_has_no_sizes(text: str, reason: str) -> None:
    """Rounded sizes, inodes, and file systems of which no target answers are refused."""
    with pytest.raises(UnreadableError, match=reason):
        read(text)
