"""`job_stats` of all generations of Lustre."""

from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest
from dialects import DIALECTS, Counter, Dialect, Entry, write
from hypothesis import given
from hypothesis import strategies as st
from reading import CHANGED, LUSTRE, read, rows, shared
from shared import NOT_HERE

from iomine.schema.registry import arrow_schema

_NANO = 10**9
_U64 = 2**64 - 1
_HERE = pytest.mark.skipif(not LUSTRE.is_dir(), reason=NOT_HERE)
_FILES = sorted(path.name for path in (LUSTRE / "job_stats").glob("*job*stats*") if "mdt_stats" not in path.name)


def _at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _first(readings: Any, **wanted: Any) -> dict[str, Any]:
    (row,) = rows(readings, **wanted)
    return row


@_HERE
def test_lustre_2_7() -> None:
    """Bare ids, whole seconds, and numbers of eight digits right after their colon; what was never counted is no row."""
    got = read(shared("job_stats/ieel2.7_ost_scratch-OST0012.job_stats"), "/x/ieel2.7_ost_scratch-OST0012.job_stats")
    assert ["punch", "quotactl", "read_bytes", "statfs", "sync", "write_bytes"] == sorted(row["counter"] for row in rows(got))
    assert {
        "sampled_at": CHANGED,
        "night": CHANGED.date(),
        "source_kind": "job_stats",
        "target": "scratch-OST0012",
        "target_kind": "ost",
        "scope": "job",
        "owner": "root",
        "counter": "write_bytes",
        "counter_unit": "bytes",
        "sample_count": 4168,
        "amount": 67455942796.0,
        "least_amount": 140.0,
        "most_amount": 16777216.0,
        "last_io_at": _at(1495525343),
    } == _first(got, counter="write_bytes")
    statfs = _first(got, counter="statfs")
    assert (233, "reqs", False) == (statfs["sample_count"], statfs["counter_unit"], "amount" in statfs)


@_HERE
def test_lustre_2_9() -> None:
    """Many jobs of one target, the first and last of them."""
    got = read(shared("job_stats/hpe2.9_ost_lustrefs-OST0000.job_stats"), "/lustrefs-OST0000.job_stats")
    found = rows(got, counter="write_bytes")
    assert (35, "24", 215147593728.0) == (len(found), found[0]["owner"], found[0]["amount"])


@_HERE
def test_lustre_2_12() -> None:
    """An MDT counts requests only; neither content nor path names it, which is doubted."""
    got = read(shared("job_stats/telegraf2.12_mdt.job_stats"), "/telegraf2.12_mdt.job_stats")
    assert ({"cluster-testjob1": 521, "testjob2": 200}, "", "") == (
        {row["owner"]: row["sample_count"] for row in rows(got, counter="mkdir")},
        *(rows(got)[0][name] for name in ("target", "target_kind")),
    )
    assert "rows of a target that neither content nor path names: 32" in got.doubt


@_HERE
def test_lustre_2_14() -> None:
    """Times of operations with sums of squares; a text that lacks its last newline is whole."""
    got = read(shared("job_stats/wc_mdt_2.14_touch.0.job_stats"))
    assert [("close", 361.0), ("mknod", 87616.0), ("open", 99225.0), ("setattr", 729.0)] == sorted(
        (row["counter"], row["squares_amount"]) for row in rows(got, owner="touch.0", counter_unit="usecs")
    )


@_HERE
def test_lustre_2_15_0() -> None:
    """Times since the boot, which are not indented, are no moments and are doubted; other entries keep theirs."""
    got = read(shared("job_stats/tianhe2.15.0_mdt_jobstats.txt"))
    close = _first(got, counter="close")
    assert ("rsync_env.sh.30026", 236426.0, False, False) == (
        *(close[name] for name in ("owner", "amount")),
        *(name in close for name in ("last_io_at", "counted_since_at")),
    )
    assert "times since the server's boot, which have no date: 1" in got.doubt
    assert _at(1694072652) == _first(got, counter="statfs", owner="cadvisor.0")["last_io_at"]
    # Data on MDTs: bytes are said to be requests.
    read_bytes = _first(got, counter="read_bytes")
    assert ("reqs", 0.0) == (read_bytes["counter_unit"], read_bytes["amount"])


@_HERE
def test_exascaler() -> None:
    """Quoted ids, starts, and histograms after byte counters; the same job under two ids stays two."""
    got = read(shared("job_stats/exascaler6_es01a_lctl-get_param.job_stats"))
    row = _first(got, owner="SLURM_JOB10:0:es18kxe-co-client", counter="write_bytes")
    assert (861, 11025514496.0, 166242808078794752.0) == tuple(row[name] for name in ("sample_count", "amount", "squares_amount"))
    assert datetime(2024, 8, 8, 7, 27, 5, 57286, UTC) == row["counted_since_at"]
    assert datetime(2024, 8, 8, 10, 57, 27, 887515, UTC) == row["last_io_at"]
    buckets = rows(got, "lustre_histogram", owner="SLURM_JOB10:0:es18kxe-co-client")
    kib = {32: 1, 64: 1, 128: 4, 256: 11, 512: 8, 1024: 13, 2048: 21, 4096: 38, 8192: 98, 16384: 666}
    assert {size * 1024.0: count for size, count in kib.items()} == {row["bucket"]: row["write_count"] for row in buckets}
    assert {("write_bytes", "bytes", "es01a-OST0001", "job", False)} == {
        (*(row[name] for name in ("histogram", "counter_unit", "target", "scope")), "read_count" in row) for row in buckets
    }
    assert 1 == len(rows(got, owner="SLURM_JOB10", counter="write_bytes"))


@pytest.mark.parametrize("name", _FILES)
def test_bytes_of_real_files(name: str) -> None:
    """Sums and samples of bytes of each real file are those that splitting its lines at commas gives."""
    data = shared(f"job_stats/{name}")
    expected = {"read_bytes": [0, 0], "write_bytes": [0, 0]}
    for line in data.decode().splitlines():
        counter, _, rest = line.strip().partition(":")
        if counter in expected and "sum:" in rest:
            parts = rest.split(",")
            expected[counter][0] += int(parts[0].split()[-1])
            expected[counter][1] += int(next(part for part in parts if part.startswith(" sum:")).strip(" sum:}"))
    got = rows(read(data))
    assert expected == {
        counter: [sum(row[name] for row in got if row["counter"] == counter) for name in ("sample_count", "amount")]
        for counter in expected
    }


_AMOUNTS = st.integers(0, _U64)
_COUNTERS = st.builds(
    Counter,
    st.sampled_from(["read_bytes", "write_bytes", "punch", "crossdir_rename", "parallel_rename_file"]),
    st.sampled_from(["bytes", "usecs"]),
    st.one_of(st.just(0), st.integers(0, 2**63 - 1)),
    st.tuples(*[_AMOUNTS] * 4),
    st.dictionaries(st.integers(0, 40), st.integers(1, 2**40), max_size=3),
)
_TIMES = st.integers(10**9 * _NANO, 1_700_000_000 * _NANO)
_IDS = st.binary(max_size=31).filter(lambda raw: b"\n" not in raw and not raw.endswith(b"\r") and not raw.startswith(b'"'))
_ENTRIES = st.lists(
    st.builds(Entry, _IDS, _TIMES, _TIMES, st.lists(_COUNTERS, max_size=4, unique_by=lambda each: each.name)), max_size=4
)


def _moment(dialect: Dialect, nanoseconds: int) -> datetime | None:
    if dialect.times == "boot":
        return None
    return _at(nanoseconds // _NANO).replace(microsecond=0 if dialect.times == "epoch" else nanoseconds % _NANO // 1000)


def _expected(dialect: Dialect, target: str, entry: Entry, counter: Counter) -> dict[str, Any]:
    row: dict[str, Any] = {
        "target": target,
        "owner": entry.job_id.decode("utf-8", "backslashreplace"),
        "counter": counter.name,
        "counter_unit": counter.unit,
        "sample_count": counter.samples,
        "last_io_at": _moment(dialect, entry.snapshot),
        "counted_since_at": None if dialect.times == "epoch" else _moment(dialect, entry.start),
    }
    least, most, amount, squares = counter.numbers
    if dialect.has_squares or counter.unit == "bytes":
        row |= {"least_amount": float(least), "most_amount": float(most), "amount": float(amount)}
    if dialect.has_squares and squares * counter.samples >= amount**2 * (1 - Fraction(1, 10**9)):
        row["squares_amount"] = float(squares)
    return {name: value for name, value in row.items() if value is not None}


@given(st.sampled_from(DIALECTS), st.lists(_ENTRIES, min_size=1, max_size=3), st.booleans())
@pytest.mark.proof
def test_what_is_written_is_read(dialect: Dialect, targets: list[list[Entry]], is_named: bool) -> None:
    """Whatever jobs do, each generation's text of it gives exactly that back, one row for each counter that counted."""
    if dialect.times == "boot":
        targets = [
            [Entry(each.job_id, each.snapshot // 100, each.start // 100, each.counters) for each in one] for one in targets
        ]
    names = [f"fs-OST{number:04x}" for number in range(len(targets))] if is_named else [""] * len(targets)
    parts = [write(dialect, one, name and f"obdfilter.{name}.job_stats") for name, one in zip(names, targets, strict=True)]
    got = read(b"".join(parts), "/x/2025-01-01/0000")
    counted = [
        (name, entry, counter)
        for name, one in zip(names, targets, strict=True)
        for entry in one
        for counter in entry.counters
        if counter.samples
    ]
    expected = [_expected(dialect, *each) for each in counted]
    got_rows = [row for row in rows(got) if "counter" in row]
    assert expected == [{name: row[name] for name in row if name in _expected_names(expected)} for row in got_rows]
    # Joined texts without names are one; of a target without entries it is kept that it was read.
    idle = [name for name, one in zip(names, targets, strict=True) if not one] if is_named else [""] * (not any(targets))
    assert idle == [row["target"] for row in rows(got) if "counter" not in row]
    assert [
        (entry.job_id.decode("utf-8", "backslashreplace"), counter.name, float(1 << power), count)
        for _, entry, counter in counted
        if dialect.has_hist and counter.unit == "bytes" and counter.name in {"read_bytes", "write_bytes"}
        for power, count in counter.hist.items()
    ] == [
        (row["owner"], row["histogram"], row["bucket"], row.get("read_count", row.get("write_count")))
        for row in rows(got, "lustre_histogram")
    ]


def _expected_names(expected: list[dict[str, Any]]) -> set[str]:
    return {"least_amount", "most_amount", "amount", "squares_amount"}.union(*expected)


def test_columns_are_the_schemas() -> None:
    """Tables have the schema's columns and types, and the night last."""
    text = write(
        DIALECTS[-1],
        [Entry(b"1", _NANO * 1_700_000_000, _NANO * 1_700_000_000, [Counter("read_bytes", "bytes", 1, (1, 1, 1, 1), {0: 1})])],
    )
    tables = read(text, "/2023-11-14/2330").tables
    assert ["lustre_counter", "lustre_histogram"] == sorted(tables)
    for name, table in tables.items():
        assert [*arrow_schema(name).names, "night"] == table.schema.names
        assert arrow_schema(name).types == table.schema.types[:-1]
        assert ["2023-11-14"] == [str(night) for night in table["night"].to_pylist()]
