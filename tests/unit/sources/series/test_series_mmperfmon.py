"""What `mmperfmon query` prints of GPFS."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given as examples
from hypothesis import settings
from reading_series import DAMAGES, PACIFIC, given, outcome, read, reported

from iomine.errors import UnreadableError
from iomine.sources.series.mmperfmon import SOURCE

_READ, _WRITTEN = "gpfs_fs_bytes_read", "gpfs_fs_bytes_written"
_AT = datetime(2019, 1, 8, 13, tzinfo=UTC)


def _key(metric: str, host: str = "n1", fs: str = "fs1") -> str:
    return f"{host}|GPFSFilesystem|cluster|{fs}|{metric}"


def _printed(keys: list[str], *blocks: list[str]) -> bytes:
    """A query; each block has its metrics first and then its rows."""
    lines = ["", "Legend:", *(f" {place}:\t{key}" for place, key in enumerate(keys, 1)), " "]
    for metrics, *rows in blocks:
        lines += [f"Row           Timestamp {metrics} ", *(f"  {place} {row} " for place, row in enumerate(rows, 1)), " "]
    return "\n".join([*lines, ""]).encode()


def _rows(data: bytes) -> list[tuple[Any, ...]]:
    rows = reported(read(data).tables["lustre_rate"])
    return [(row["begin_at"] - _AT, row["target"], row["counter"], row.get("rate")) for row in rows]


_MINUTE = timedelta(minutes=1)
_FIRST, _SECOND = "2019-01-08-13:00:00", "2019-01-08-13:01:00"


def test_blocks() -> None:
    """Columns go on from block to block in the legend's order; other metrics and values with units are passed over."""
    keys = [_key(_READ), "n1|CPU|cpu_user", "n1|Memory|mem_total", _key(_WRITTEN, fs="fs2")]
    first = [f"{_READ} cpu_user mem_total", f"{_FIRST} 600 0.2 31371.0 MB", f"{_SECOND} null 0.3 31371.0 MB"]
    second = [_WRITTEN, f"{_FIRST} 60", f"{_SECOND} 6"]
    data = _printed(keys, first, second)
    nothing = timedelta()
    assert [
        (nothing, "n1/fs1", "read_bytes", 10.0),
        (_MINUTE, "n1/fs1", "read_bytes", None),
        (nothing, "n1/fs2", "write_bytes", 1.0),
        (_MINUTE, "n1/fs2", "write_bytes", 0.1),
    ] == _rows(data)
    row = reported(read(data).tables["lustre_rate"])[0]
    assert (60.0, "mmperfmon", "bytes", None) == tuple(
        row.get(name) for name in ("interval_seconds", "source_kind", "counter_unit", "target_kind")
    )
    assert "2 columns that are no bytes of file systems were left out" == read(data).doubt


def test_queries_one_after_the_other() -> None:
    """Each query has its own legend."""
    data = b"".join(_printed([_key(_READ, host)], [_READ, f"{_FIRST} 60", f"{_SECOND} 60"]) for host in ("n1", "n2"))
    assert ["n1/fs1", "n1/fs1", "n2/fs1", "n2/fs1"] == [target for _, target, _, _ in _rows(data)]


def test_local_time() -> None:
    """Rows are in the time zone of the input; the hour that comes twice goes on."""
    times = ["2018-11-04-01:40:00", "2018-11-04-01:50:00", "2018-11-04-01:00:00", "2018-11-04-01:10:00"]
    data = _printed([_key(_READ)], [_READ, *(f"{time} 1" for time in times)])
    got = [row["begin_at"] for row in reported(read(data, PACIFIC).tables["lustre_rate"])]
    assert [datetime(2018, 11, 4, 8, 40, tzinfo=UTC) + i * timedelta(minutes=10) for i in range(4)] == got


def test_odd_rows_are_reported() -> None:
    """Rows of another width or without a time are left out, gaps are reported, and a last line without an end is not read."""
    times = ("13:02:00", "13:03:00", "13:03:00", "13:09:00", "13:08:00")
    rows = [f"{_FIRST} 1", f"{_SECOND} 1 2", "2019-13-08-13:00:00 5", *(f"2019-01-08-{time} 3" for time in times)]
    readings = read(_printed([_key(_READ)], [_READ, *rows]) + b"  9 2019-01-08-13:10:00 4")
    assert 6 == len(readings.tables["lustre_rate"])
    assert (
        "of 5 steps in time 1 of no length, 1 backwards, 2 longer than the usual 60 s, up to 360 s; "
        "2 rows were left out, as they do not have a time and all values; the last line has no end and was left out"
    ) == readings.doubt


_NO_BYTES = "The query has no gpfs_fs_bytes_read or gpfs_fs_bytes_written."


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"Legend:\n", _NO_BYTES),
        (_printed([], ["", "2019-13-08-13:00:00"]), _NO_BYTES),
        (_printed(["n1|GPFSNode|gpfs_fs_bytes_read"], [_READ, f"{_FIRST} 1", f"{_SECOND} 1"]), _NO_BYTES),
        (
            _printed(["n1|GPFSNSDDisk|d1|gpfs_nsdds_bytes_read"], ["gpfs_nsdds_bytes_read", f"{_FIRST} 1"]),
            f"{_NO_BYTES} Bytes of NSDs are means over an unknown number of samples.",
        ),
        (
            _printed([_key(_WRITTEN)], [_READ, f"{_FIRST} 1", f"{_SECOND} 1"]),
            "The legend does not explain the column gpfs_fs_bytes_read.",
        ),
        (
            _printed([], [_READ, f"{_FIRST} 1", f"{_SECOND} 1"]),
            "The legend does not explain the column gpfs_fs_bytes_read.",
        ),
        (
            _printed([_key(_READ)], [_READ, f"{_FIRST} 1"]),
            "It has fewer than two rows with a time, so the width of the buckets is not known.",
        ),
        (_printed([_key(_READ)], [_READ]), "It has fewer than two rows with a time, so the width of the buckets is not known."),
        (_printed([_key(_READ)], [_READ, f"{_FIRST} 1.7 kB", f"{_SECOND} 1"]), "1.7 kB is no number of bytes."),
        (
            _printed([_key(_READ)], [_READ, "0001-01-01-00:00:00 1", f"{_SECOND} 1"]),
            "The times of samples are not seconds since 1970.",
        ),
    ],
)
def test_what_cannot_be_understood(data: bytes, reason: str) -> None:
    """What has no bytes, or bytes of nobody knows what, is refused with the reason."""
    with pytest.raises(UnreadableError) as refused:
        SOURCE.read(given(data))
    assert reason == refused.value.reason


_SOUND = _printed([_key(_READ), _key(_WRITTEN)], [f"{_READ} {_WRITTEN}", f"{_FIRST} 1 2", f"{_SECOND} 3 4"])


@settings(max_examples=200)
@examples(DAMAGES)
def test_damage(damage: Any) -> None:
    """Whatever happens to the bytes, the output is read or refused."""
    assert outcome(SOURCE, _SOUND, damage) in ("read", "refused")
