"""LDMS's CSV, in the schemas of its Lustre samplers and as `iomine simulate` writes it."""

import csv
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st
from reading_series import DAMAGES, given, outcome, read, reported, summed

from iomine.errors import UnreadableError
from iomine.simulate.run import Settings, simulate
from iomine.sources.series.ldms import SOURCE

_HEAD = "#Time,Time_usec,ProducerName,component_id,job_id,app_id"
_BEGIN = 1_767_571_260
_AT = datetime.fromtimestamp(_BEGIN, UTC)
_NAMES = ("target", "target_kind", "scope", "owner", "counter", "counter_unit", "sample_count", "amount")


def _csv(header: str, *rows: str) -> bytes:
    return "".join(f"{line}\n" for line in (header, *rows)).encode()


def _row(values: str, host: str = "oss00", seconds: float = _BEGIN) -> str:
    return f"{seconds:.6f},0,{host},0,0,0,{values}"


def _counters(data: bytes) -> list[tuple[Any, ...]]:
    return [tuple(row.get(name) for name in _NAMES) for row in reported(read(data).tables["lustre_counter"])]


def _refused(data: bytes) -> str:
    with pytest.raises(UnreadableError) as refused:
        SOURCE.read(given(data))
    return refused.value.reason


def test_simulated_osts() -> None:
    """Bytes, requests and time of an OST become the two counters that job_stats has of each direction."""
    header = f"{_HEAD},ost,read_bytes,read_samples,read_usecs,write_bytes,write_samples,write_usecs"
    data = _csv(header, _row("scratch-OST0003,10,2,30,40,5,60"))
    who = ("scratch-OST0003", "ost", "target", "")
    assert [
        (*who, "read_bytes", "bytes", 2, 10.0),
        (*who, "read", "usecs", 2, 30.0),
        (*who, "write_bytes", "bytes", 5, 40.0),
        (*who, "write", "usecs", 5, 60.0),
    ] == _counters(data)
    row = reported(read(data).tables["lustre_counter"])[0]
    assert (_AT, "ldms", _AT.date()) == (row["sampled_at"], row["source_kind"], row["night"])
    assert read(data).doubt == ""


def test_servers() -> None:
    """`lustre_ost` and `lustre_mdt` have counts under the operation's name and sums under `.sum`; the rest is named."""
    osts = _csv(
        f"{_HEAD},fs_name,ost,read_bytes.sum,write_bytes.sum,punch,kbytesfree", _row('"scratch","scratch-OST0000",5,6,7,8')
    )
    mdts = _csv(f"{_HEAD},fs_name,mdt,open,close,close.sum", _row("scratch,scratch-MDT0000,1,2,3"))
    ost, mdt = ("scratch-OST0000", "ost", "target", ""), ("scratch-MDT0000", "mdt", "target", "")
    assert [
        (*ost, "read_bytes", "bytes", None, 5.0),
        (*ost, "write_bytes", "bytes", None, 6.0),
        (*ost, "punch", "reqs", 7, None),
        (*mdt, "open", "reqs", 1, None),
        (*mdt, "close", "usecs", 2, 3.0),
    ] == _counters(osts + mdts)
    assert "columns that are no counters were left out: kbytesfree" == read(osts + mdts).doubt


def test_jobs() -> None:
    """Rows of `lustre_ost_job_stats` are a job's, with its last I/O where the server's clock has one."""
    header = "#Time,Time_usec,ProducerName,fs_name,ost,job_id,snapshot_time,read_bytes_sum,punch"
    data = _csv(
        header,
        f"{_BEGIN}.5,500000,oss00,scratch,scratch-OST0000,cp.0,{_BEGIN - 9},5,1",
        f"{_BEGIN}.5,500000,oss00,scratch,scratch-OST0000,0123,77,6,2",
    )
    ost = ("scratch-OST0000", "ost", "job")
    assert [
        (*ost, "cp.0", "read_bytes", "bytes", None, 5.0),
        (*ost, "0123", "read_bytes", "bytes", None, 6.0),
        (*ost, "cp.0", "punch", "reqs", 1, None),
        (*ost, "0123", "punch", "reqs", 2, None),
    ] == _counters(data)
    rows = reported(read(data).tables["lustre_counter"])
    assert [datetime.fromtimestamp(_BEGIN - 9, UTC), None] == [row.get("last_io_at") for row in rows[:2]]
    assert datetime.fromtimestamp(_BEGIN + 0.5, UTC) == rows[0]["sampled_at"]


def test_clients() -> None:
    """A client's counters are its own: the device is the target, the host the owner."""
    data = _csv(f"{_HEAD},fs_name,llite,read_bytes.sum,brw_read.sum,open", _row("scratch,scratch-ffff8803,5,6,7", host="n1"))
    who = ("scratch-ffff8803", "client", "client", "n1")
    assert [
        (*who, "read_bytes", "bytes", None, 5.0),
        (*who, "brw_read", "pages", None, 6.0),
        (*who, "open", "reqs", 7, None),
    ] == _counters(data)


def test_targets_in_column_names() -> None:
    """The older samplers have a row a host and the target in the column's name; only bytes are known to be sums."""
    header = f"{_HEAD},oss.lstats.status#ost.a-OST0000,oss.lstats.read_bytes#ost.a-OST0000,oss.lstats.punch#ost.a-OST0000"
    data = _csv(header, _row("1,5,6"), _row("1,7,8", seconds=_BEGIN + 60), _row("1,9,9", host="oss01"))
    who = ("a-OST0000", "ost", "target", "", "read_bytes", "bytes", None)
    assert [(*who, 5.0), (*who, 7.0), (*who, 9.0)] == _counters(data)
    assert "columns that are no counters were left out: oss.lstats.status#ost.a-OST0000, oss.lstats.punch#ost.a-OST0000" == (
        read(data).doubt
    )
    client = _csv(f"{_HEAD},client.lstats.write_bytes#llite.scratch", _row("5", host="n1"))
    assert [("scratch", "client", "client", "n1", "write_bytes", "bytes", None, 5.0)] == _counters(client)


def test_milliseconds() -> None:
    """In the other format of time the microseconds are those beyond the milliseconds."""
    data = _csv("#Time_msec,Time_usec,ProducerName,ost,punch", f"{_BEGIN}123,456,oss00,a-OST0000,1")
    assert [_AT.replace(microsecond=123_456)] == [row["sampled_at"] for row in reported(read(data).tables["lustre_counter"])]


def test_header_in_quotes() -> None:
    """A header may have its names in quotes, and lines may end as on Windows."""
    data = b'"#Time","Time_usec","ProducerName","ost","punch"\r\n' + f"{_BEGIN},0,oss00,a-OST0000,3\r\n".encode()
    assert [("a-OST0000", "ost", "target", "", "punch", "reqs", 3, None)] == _counters(data)


def test_what_is_left_out_is_reported() -> None:
    """Schemas of other things, rows of another width and a last line without an end are counted and not read."""
    header = f"{_HEAD},ost,punch"
    other = _csv(f"{_HEAD},rx_bytes#lo", _row("1"), _row("2"))
    data = _csv(header, _row("a-OST0000,1"), _row("a-OST0000,2,3")) + other + _csv(header, _row("a-OST0000,4")) + b"176757"
    readings = read(data)
    assert [1, 4] == [row["sample_count"] for row in reported(readings.tables["lustre_counter"])]
    assert (
        "of 1 steps in time 1 of no length; 1 rows were left out, as they do not have their header's columns; "
        "1 schemas that have no counters of Lustre were left out, with 2 rows; the last line has no end and was left out"
    ) == readings.doubt


def test_nothing_of_lustre() -> None:
    """A file with schemas of other things alone is refused with their columns; one of Lustre's without rows is no reject."""
    other = _csv(f"{_HEAD},nr_free_pages,nr_dirty", _row("1,2"))
    assert "no counters of Lustre, but columns such as nr_free_pages, nr_dirty: give what LDMS stores of" in _refused(other)
    assert {} == read(_csv(f"{_HEAD},ost,punch") + other).tables


def test_odd_times_are_reported() -> None:
    """Gaps, repeated and falling times stay as they are, by target, and are reported."""
    moments = [("a", 0), ("a", 60), ("b", 60), ("a", 60), ("a", 30), ("a", 90), ("b", 120), ("a", 400)]
    rows = [_row(f"{target}-OST0000,{i}", seconds=_BEGIN + after) for i, (target, after) in enumerate(moments)]
    readings = read(_csv(f"{_HEAD},ost,punch", *rows))
    assert list(range(8)) == [row["sample_count"] for row in reported(readings.tables["lustre_counter"])]
    assert "of 6 steps in time 1 of no length, 1 backwards, 1 longer than the usual 60 s, up to 310 s" == readings.doubt


def test_numbers_at_their_ends() -> None:
    """Unsigned counters beyond 63 bits are amounts; counts that cannot be one, and empty cells, are not known."""
    header = f"{_HEAD},ost,read_bytes.sum,punch"
    data = _csv(header, *(_row(f"a-OST0000,{cells}") for cells in (f"{2**64 - 1},{2**53}", ",", "nan,-1", "inf,1.5", "0,1e300")))
    read_bytes, punch = (
        [row.get(name) for row in reported(read(data).tables["lustre_counter"]) if row["counter"] == counter]
        for counter, name in (("read_bytes", "amount"), ("punch", "sample_count"))
    )
    assert [2.0**64, None, None, None, 0.0] == read_bytes
    assert [2**53, None, None, None, None] == punch


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "The file does not begin with a header of LDMS, a line that begins with #Time."),
        (b"1,2\n#Time,a\n", "The file does not begin with a header of LDMS, a line that begins with #Time."),
        (b"#Time,ost,ost\n", "A header has two columns of the same name, or none of time."),
        (b"#Time_msec,ost,punch\n1,a,1\n", "A header has two columns of the same name, or none of time."),
        (_csv(f"{_HEAD},ost,punch", _row("a,1", seconds=-1)), "The times of samples are not seconds since 1970."),
        (_csv(f"{_HEAD},ost,punch", f",{_row('a,1').partition(',')[2]}"), "The times of samples are not seconds since 1970."),
        (
            b"".join(_csv(f"{_HEAD},m{i}") for i in range(1001)),
            "The file has 1,001 different headers; no more than 1,000 are read.",
        ),
    ],
)
def test_what_cannot_be_understood(data: bytes, reason: str) -> None:
    """A file without header or time is refused."""
    assert reason == _refused(data)


def test_cell_that_is_no_number() -> None:
    """A cell that is no number makes the file unreadable, with the place."""
    reason = _refused(_csv(f"{_HEAD},ost,punch", _row("a,x")))
    assert "The rows cannot be read: In CSV column #7: CSV conversion error to double: invalid value 'x'." == reason


def test_header_without_rows() -> None:
    """A file that was just begun has no rows, and nothing is wrong with it."""
    readings = read(_csv(f"{_HEAD},ost,punch"))
    assert ({}, "") == (readings.tables, readings.doubt)


def test_bytes_that_are_no_text() -> None:
    """Bytes that are no UTF-8 are written out, in rows that are read as in rows that are left out."""
    data = _csv(f"{_HEAD},ost,punch", _row("a?,1"), _row("a?,1,2")).replace(b"?", b"\xff")
    readings = read(data)
    assert ["a\\xff"] == readings.tables["lustre_counter"]["target"].to_pylist()
    assert "1 rows were left out, as they do not have their header's columns" == readings.doubt


def test_rows_all_of_another_width() -> None:
    """Where no row fits its header, there are no rows, and all are counted."""
    readings = read(_csv(f"{_HEAD},ost,punch", _row("a,1,2"), _row("a,1,2")))
    assert 0 == sum(len(table) for table in readings.tables.values())
    assert "2 rows were left out, as they do not have their header's columns" == readings.doubt


_NUMBER = st.integers(0, 2**53)
_TARGETS = st.sampled_from(["scratch-OST0000", "scratch-OST001f", "home-OST0002"])
_SAMPLE = st.tuples(st.integers(0, 2_000_000_000), _TARGETS, _NUMBER, _NUMBER, _NUMBER)


@examples(st.lists(_SAMPLE, min_size=1, max_size=20), st.integers(1, 3))
def test_round_trip(samples: Sequence[tuple[int, str, int, int, int]], sections: int) -> None:
    """What is written comes out, row by row and under whichever of equal headers it stands."""
    header = f"{_HEAD},ost,read_bytes,read_samples,read_usecs"
    rows = [_row(f"{target},{bytes_},{count},{usecs}", seconds=at) for at, target, bytes_, count, usecs in samples]
    width = -(-len(rows) // sections)
    data = b"".join(_csv(header, *rows[at : at + width]) for at in range(0, len(rows), width))
    got = reported(read(data).tables["lustre_counter"])
    expected = [(float(at), target, "read_bytes", count, float(bytes_)) for at, target, bytes_, count, _ in samples]
    expected += [(float(at), target, "read", count, float(usecs)) for at, target, _, count, usecs in samples]
    names = ("target", "counter", "sample_count", "amount")
    assert expected == [(row["sampled_at"].timestamp(), *(row[name] for name in names)) for row in got]


_SOUND = _csv(f"{_HEAD},ost,read_bytes,read_samples", *(_row(f"scratch-OST000{i},{i},{i}") for i in range(9)))


@settings(max_examples=200)
@examples(DAMAGES)
def test_damage(damage: Any) -> None:
    """Whatever happens to the bytes, the file is read or refused."""
    assert outcome(SOURCE, _SOUND, damage) in ("read", "refused")


@pytest.fixture(scope="module")
def facility(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Series of a simulated facility."""
    out = tmp_path_factory.mktemp("facility") / "out"
    simulate(Settings(out, 20, days=1, workers=1), lambda *_: None)
    return out / "lustre" / "series"


@pytest.mark.proof
@pytest.mark.parametrize("kind", ["ost", "mdt"])
def test_totals_of_a_simulated_night(facility: Path, kind: str) -> None:
    """Every minute of every target is read, and counters add up to what the CSV's columns add up to."""
    (path,) = facility.glob(f"lustre_{kind}.*.csv")
    readings = read(path.read_bytes())
    table = readings.tables["lustre_counter"]
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    operations = {name.removesuffix("_samples") for name in rows[0] if name.endswith("_samples")}
    amounts, counts = Counter(), Counter()
    for row in rows:
        for operation in operations:
            for counter, column in ((operation, f"{operation}_usecs"), (f"{operation}_bytes", f"{operation}_bytes")):
                if column in row:
                    amounts[row[kind], counter] += int(row[column])
                    counts[row[kind], counter] += int(row[f"{operation}_samples"])
    assert amounts == summed(table, ("target", "counter"), "amount")
    assert counts == summed(table, ("target", "counter"), "sample_count")
    assert len(rows) * len({counter for _, counter in amounts}) == len(table)
    assert (0, "") == (len(rows) % 1440, readings.doubt)
    expected = {"ost": {"read_bytes", "read", "write_bytes", "write"}, "mdt": {"open", "close", "getattr"}}
    assert expected[kind] == set(table["counter"].to_pylist())
