"""LMT's databases that were made for the purpose, and databases that mean harm."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given as examples
from hypothesis import settings
from reading_series import DAMAGES, PACIFIC, outcome, read, reported

from iomine.errors import UnreadableError
from iomine.sources.series.lmt import SOURCE

_TABLES = """
CREATE TABLE TIMESTAMP_INFO (TS_ID, TIMESTAMP);
CREATE TABLE OST_INFO (OST_ID, OST_NAME);
CREATE TABLE MDS_INFO (MDS_ID, MDS_NAME);
CREATE TABLE OPERATION_INFO (OPERATION_ID, OPERATION_NAME, UNITS);
CREATE TABLE OST_DATA (OST_ID, TS_ID, READ_BYTES, WRITE_BYTES);
CREATE TABLE MDS_OPS_DATA (MDS_ID, TS_ID, OPERATION_ID, SAMPLES, SUM);
INSERT INTO OST_INFO VALUES (1, 'scratch-OST0000'), (2, 'scratch-OST0001');
INSERT INTO MDS_INFO VALUES (1, 'scratch-MDT0000');
INSERT INTO OPERATION_INFO VALUES (1, 'open', 'reqs'), (2, 'close', 'usecs'), (3, 'link', NULL);
"""
_TIMES = ("2018-01-28 00:00:00", "2018-01-28 00:00:05", "2018-01-28 00:00:10")


def _made(
    times: Sequence[Any] = _TIMES, osts: Sequence[tuple[Any, ...]] = (), mdts: Sequence[tuple[Any, ...]] = (), script: str = ""
) -> bytes:
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(_TABLES)
        database.executemany("INSERT INTO TIMESTAMP_INFO VALUES (?, ?)", enumerate(times, 1))
        database.executemany("INSERT INTO OST_DATA VALUES (?, ?, ?, ?)", osts)
        database.executemany("INSERT INTO MDS_OPS_DATA VALUES (?, ?, ?, ?, ?)", mdts)
        database.executescript(script)
        return database.serialize()


def _refused(data: bytes) -> str:
    with pytest.raises(UnreadableError) as refused:
        read(data)
    return refused.value.reason


def test_counters_of_osts() -> None:
    """A row of an OST is one of bytes read and one of bytes written, without a count of requests."""
    readings = read(_made(osts=[(2, 1, 7, 2**60)]))
    common = {
        "sampled_at": datetime(2018, 1, 28, tzinfo=UTC),
        "source_kind": "lmt",
        "target": "scratch-OST0001",
        "target_kind": "ost",
        "scope": "target",
        "owner": "",
        "counter_unit": "bytes",
        "night": datetime(2018, 1, 28, tzinfo=UTC).date(),
    }
    assert [
        common | {"counter": "read_bytes", "amount": 7.0},
        common | {"counter": "write_bytes", "amount": 2.0**60},
    ] == reported(readings.tables["lustre_counter"])
    assert readings.doubt == ""


def test_operations_of_mdts() -> None:
    """An operation has its count; it has a sum only where the database gives the sum a unit."""
    readings = read(_made(mdts=[(1, 1, 1, 5, 0), (1, 1, 2, 6, 70), (1, 1, 3, 8, 90)]))
    rows = reported(readings.tables["lustre_counter"])
    names = ("counter", "counter_unit", "sample_count", "amount")
    assert [("open", "reqs", 5, None), ("close", "usecs", 6, 70.0), ("link", None, 8, None)] == [
        tuple(row.get(name) for name in names) for row in rows
    ]
    assert {("scratch-MDT0000", "mdt", "target", "")} == {
        tuple(row[name] for name in ("target", "target_kind", "scope", "owner")) for row in rows
    }


def test_hour_that_comes_twice() -> None:
    """Where clocks are put back, times that are not after those before them are of the second round of the hour."""
    times = ["2018-11-04 01:59:50", "2018-11-04 01:59:55", "2018-11-04 01:00:00", "2018-11-04 01:59:55", "2018-11-04 02:00:00"]
    readings = read(_made(times, [(1, i, 0, 0) for i in range(1, 6)]), PACIFIC)
    got = [row["sampled_at"] for row in reported(readings.tables["lustre_counter"])[:5]]
    first = datetime(2018, 11, 4, 8, 59, 50, tzinfo=UTC)
    assert [first + timedelta(seconds=after) for after in (0, 5, 10, 3605, 3610)] == got


def test_odd_times_are_reported() -> None:
    """Gaps, repeated and falling times stay as they are, by OST, and are reported."""
    times = [*_TIMES, "2018-01-28 00:01:40"]
    osts = [(1, 1, 0, 0), (1, 2, 1, 1), (1, 2, 1, 1), (1, 1, 0, 0), (1, 4, 2, 2), (2, 2, 5, 5), (2, 3, 6, 6)]
    readings = read(_made(times, osts))
    expected = "OST_DATA: of 5 steps in time 1 of no length, 1 backwards, 1 longer than the usual 5 s, up to 100 s"
    assert expected == readings.doubt
    assert [0.0, 1.0, 1.0, 0.0, 2.0, 5.0, 6.0] == [row["amount"] for row in reported(readings.tables["lustre_counter"])[:7]]


def test_ids_that_stand_for_nothing() -> None:
    """A row whose OST or time is not known is left out and reported."""
    times = [*_TIMES, "yesterday", None, 5, "9999-12-31 23:00:00"]
    osts = [(1, 1, 1, 1), (9, 1, 1, 1), (1, 4, 1, 1), (1, 5, 1, 1), (1, 6, 1, 1), (None, 1, 1, 1), ("1", b"1", 1, 1)]
    readings = read(_made(times[:-1], osts))
    assert (2, "OST_DATA: 6 rows were left out, as their ids are not defined") == (
        len(readings.tables["lustre_counter"]),
        readings.doubt,
    )
    assert "The times of samples are not seconds since 1970." == _refused(_made(times, osts))


def test_values_that_are_no_numbers() -> None:
    """What is no number is not known; it is not taken for zero."""
    osts = [(1, 1, None, "12"), (1, 2, b"\xff", 1.5), (1, 3, 9e999, -1)]
    mdts = [(1, 1, 1, -1, 0), (1, 2, 1, "x", 0), (1, 3, 1, 1.5, 0)]
    rows = reported(read(_made(osts=osts, mdts=mdts)).tables["lustre_counter"])
    assert [None, None, None, None, 1.5, -1.0] == [row.get("amount") for row in rows if row["target_kind"] == "ost"]
    assert [None, None, None] == [row.get("sample_count") for row in rows if row["target_kind"] == "mdt"]


def test_database_of_another() -> None:
    """A database without LMT's tables of counters is not taken for an empty one of LMT."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE OTHER (A)")
        assert "The database is not LMT's: it has neither OST_DATA nor MDS_OPS_DATA." == _refused(database.serialize())


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (
            "CREATE VIEW OST_DATA AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS OST_ID FROM n",
            "The database is not LMT's: it has neither OST_DATA nor MDS_OPS_DATA.",
        ),
        (
            "CREATE VIRTUAL TABLE OST_DATA USING fts5(OST_ID, TS_ID, READ_BYTES, WRITE_BYTES)",
            "The database is not LMT's: it has neither OST_DATA nor MDS_OPS_DATA.",
        ),
        (
            "CREATE TABLE OST_DATA (OST_ID, TS_ID, WRITE_BYTES, READ_BYTES AS (length(zeroblob(1000000000))))",
            "OST_DATA has generated columns, which may take for ever.",
        ),
        ("CREATE TABLE OST_DATA (OST_ID, TS_ID, WRITE_BYTES)", "SQLite cannot read the file: no such column: READ_BYTES."),
    ],
)
def test_tables_that_are_none(table: str, reason: str) -> None:
    """Only plain tables are read: views and virtual tables are passed over, and nothing is worked out for a column."""
    script = f"DROP TABLE OST_DATA; DROP TABLE MDS_OPS_DATA; {table};"
    assert reason == _refused(_made(script=script))


def test_pages_that_go_in_circles() -> None:
    """A table that names one page over and over is refused as soon as it gives more than the file can hold."""
    data = bytearray(_made(osts=[(1, 1, 1, 1)] * 20_000, script="VACUUM"))
    size = int.from_bytes(data[16:18], "big")
    # Interior pages of tables begin with 5; the largest is the root of OST_DATA.
    root = max((at for at in range(size, len(data), size) if data[at] == 5), key=lambda at: data[at + 3 : at + 5])
    cells = [int.from_bytes(data[at : at + 2], "big") for at in range(root + 12, root + 12 + 2 * data[root + 4], 2)]
    first, second = (int.from_bytes(data[root + cell : root + cell + 4], "big") for cell in cells[:2])
    # The root names the second page only, which becomes a further level and names the first only.
    level = (second - 1) * size
    data[level : level + size] = data[root : root + size]
    for page, child in ((root, second), (level, first)):
        for cell in cells:
            data[page + cell : page + cell + 4] = child.to_bytes(4, "big")
    assert len(cells) > 10
    assert "OST_DATA claims more rows than the file can hold." == _refused(bytes(data))


_SOUND = _made(osts=[(1, 1, 1, 2), (1, 2, 3, 4)], mdts=[(1, 1, 1, 5, 0)])


@settings(max_examples=150)
@examples(DAMAGES)
def test_damage(damage: Any) -> None:
    """Whatever happens to the bytes, the file is read or refused."""
    assert outcome(SOURCE, _SOUND, damage) in ("read", "refused")
