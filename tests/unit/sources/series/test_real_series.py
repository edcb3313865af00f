"""All real series that lie beside the repository, against sums that owe nothing to the readers."""

import io
import json
import re
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pytest
from reading_series import PACIFIC, SERIES, content, given, real, reported, source_of, summed
from shared import NOT_HERE

from iomine.errors import UnreadableError
from iomine.schema.registry import arrow_schema

_NO_BYTES = "The query has no gpfs_fs_bytes_read or gpfs_fs_bytes_written."
_MEANS = f"{_NO_BYTES} Bytes of NSDs are means over an unknown number of samples."
_NO_LUSTRE = (
    "The file has no counters of Lustre, but columns such as rx_bytes#lo, rx_packets#lo, rx_errs#lo, rx_drop#lo, rx_fifo#lo, "
    "rx_frame#lo, rx_compressed#lo, rx_multicast#lo, tx_bytes#lo, tx_packets#lo, tx_errs#lo, tx_drop#lo and 4 more: give what "
    "LDMS stores of its samplers lustre_ost, lustre_mdt or lustre_client."
)
# Kind, and rows by table or why it is refused, and what is doubted.
_EXPECTED: dict[str, tuple[str, dict[str, int] | str, str]] = {
    "ldms_store_csv_quickstart.csv": ("ldms", _NO_LUSTRE, ""),
    "lmtdb-reset.sqlite3": (
        "lmt",
        {"lustre_counter": 2 * 26 + 65 * 21},
        "OST_DATA: of 25 steps in time 1 longer than the usual 5 s, up to 200 s",
    ),
    "mmperfmon-gpfsNumberOperations.txt.gz": (
        "mmperfmon",
        {"lustre_rate": 20 * 4},
        "4 columns that are no bytes of file systems were left out",
    ),
    "mmperfmon-nsdds.txt.gz": ("mmperfmon", _MEANS, ""),
    "mmperfmon-usage.txt.gz": ("mmperfmon", _NO_BYTES, ""),
    "sample_collectdes-part.json.gz": (
        "collectd",
        {"lustre_rate": 2 * 3676},
        "of 3,612 steps in time 2,222 longer than the usual 10 s, up to 230 s",
    ),
    "sample_tokiots.hdf5": ("tokio", {"lustre_rate": 2 * 360 * 64}, "32,004 rates are not known"),
    "snx11025_2018-01-28.h5lmt": ("h5lmt", {"lustre_rate": 60 * (24 + 24 + 81)}, ""),
    "snx11025_2018-01-28.sqlite3": ("lmt", {"lustre_counter": 61 * (24 + 24 + 21)}, ""),
    "versions_test.hdf5": ("tokio", "The file has none of TOKIO's data sets of bytes or operations.", ""),
    "servers/": ("mmperfmon", _NO_BYTES, ""),
    "read/": ("mmperfmon", _MEANS, ""),
    "write/": ("mmperfmon", _MEANS, ""),
}


def _real() -> list[Any]:
    if not SERIES.is_dir():
        return [pytest.param("", b"", marks=pytest.mark.skip(reason=NOT_HERE))]
    return [pytest.param(name, data, id=name) for name, data in real()]


def _of(name: str) -> dict[str, pa.Table]:
    if not SERIES.is_dir():
        pytest.skip(NOT_HERE)
    data = content(name)
    return source_of(data).read(given(data, PACIFIC)).tables


def _database(name: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{SERIES / name}?mode=ro", uri=True)


@pytest.mark.parametrize(("name", "data"), _real())
def test_every_series_is_read_or_refused(name: str, data: bytes) -> None:
    """Each is taken by the reader of its kind, which gives all its rows or says why it gives none."""
    kind, expected, doubt = _EXPECTED.get(name) or _EXPECTED[name.partition("/")[0] + "/"]
    source = source_of(data)
    assert kind == source.kind
    if isinstance(expected, str):
        with pytest.raises(UnreadableError) as refused:
            source.read(given(data, PACIFIC))
        assert expected == refused.value.reason
        return
    readings = source.read(given(data, PACIFIC))
    assert (expected, doubt) == ({each: len(table) for each, table in readings.tables.items()}, readings.doubt)
    for table_name, table in readings.tables.items():
        table.validate(full=True)
        assert arrow_schema(table_name).append(pa.field("night", pa.date32())) == table.schema
        assert table["night"].to_pylist() == [at.astimezone(UTC).date() for at in table[table.schema.names[0]].to_pylist()]
        assert {kind} == set(table["source_kind"].to_pylist())


def test_rates_of_pylmt_are_those_of_lmts_counters() -> None:
    """Each rate of pylmt's file is what LMT's counters grew by from its begin to its end, by OST and by operation."""
    rates, counters = _of("snx11025_2018-01-28.h5lmt")["lustre_rate"], _of("snx11025_2018-01-28.sqlite3")["lustre_counter"]
    samples = defaultdict(list)
    for row in reported(counters):
        target = row["target"] if row["target_kind"] == "ost" else "snx11025"
        samples[target, row["counter"]].append((row["sampled_at"], row.get("amount", row.get("sample_count"))))
    grown = {
        (*key, begin): (after - before) / (end - begin).total_seconds()
        for key, series in samples.items()
        for (begin, before), (end, after) in pairwise(sorted(series))
    }
    got = {(row["target"], row["counter"], row["begin_at"]): row["rate"] for row in reported(rates)}
    assert 60 * (24 + 24 + 21) == len(grown)
    assert grown == {key: rate for key, rate in got.items() if key in grown}
    # Operations that LMT did not keep stand in pylmt's file as zeros.
    assert {0.0} == {rate for key, rate in got.items() if key not in grown}


def test_bytes_of_pylmt_and_lmt_agree_by_ost() -> None:
    """Over the five minutes that both files have, bytes of each OST are the same to the byte."""
    rates = _of("snx11025_2018-01-28.h5lmt")["lustre_rate"]
    moved = summed(rates.filter(pa.compute.equal(rates["target_kind"].cast(pa.string()), "ost")), ("target", "counter"), "rate")
    with closing(_database("snx11025_2018-01-28.sqlite3")) as database:
        query = "SELECT OST_NAME, MAX({0}) - MIN({0}) FROM OST_DATA JOIN OST_INFO USING (OST_ID) GROUP BY OST_NAME"
        expected = {
            (name, counter): grown
            for counter, column in (("read_bytes", "READ_BYTES"), ("write_bytes", "WRITE_BYTES"))
            for name, grown in database.execute(query.format(column))
        }
    assert 48 == len(expected)
    assert expected == {key: pytest.approx(5 * sum_, rel=1e-12) for key, sum_ in moved.items()}
    assert 6_347_173_888 + 119_037_925_429 == sum(expected.values())


@pytest.mark.parametrize("name", ["snx11025_2018-01-28.sqlite3", "lmtdb-reset.sqlite3"])
def test_totals_of_lmt(name: str) -> None:
    """Rows add up to what SQLite adds up, by target and counter."""
    table = _of(name)["lustre_counter"]
    with closing(_database(name)) as database:
        osts = "SELECT OST_NAME, SUM(READ_BYTES), SUM(WRITE_BYTES) FROM OST_DATA JOIN OST_INFO USING (OST_ID) GROUP BY OST_NAME"
        amounts = {
            (target, counter): total
            for target, *totals in database.execute(osts)
            for counter, total in zip(("read_bytes", "write_bytes"), totals, strict=True)
        }
        operations = (
            "SELECT MDS_NAME, OPERATION_NAME, SUM(SAMPLES) FROM MDS_OPS_DATA JOIN MDS_INFO USING (MDS_ID) "
            "JOIN OPERATION_INFO USING (OPERATION_ID) GROUP BY MDS_NAME, OPERATION_NAME"
        )
        counts = {(target, counter): total for target, counter, total in database.execute(operations)}
    assert amounts == summed(table, ("target", "counter"), "amount")
    assert counts == summed(table, ("target", "counter"), "sample_count")
    assert {(target, counter) for target, counter in counts} & set(amounts) == set()


def test_reset_of_lmt_is_kept() -> None:
    """After a server started again, its counters are the zeros that LMT has, at their times in UTC."""
    table = _of("lmtdb-reset.sqlite3")["lustre_counter"]
    written = [row for row in reported(table) if row["counter"] == "write_bytes"]
    assert {
        "sampled_at": datetime(2018, 4, 18, 14, 35, 45, tzinfo=UTC),
        "source_kind": "lmt",
        "target": "snx11168-OST00ad",
        "target_kind": "ost",
        "scope": "target",
        "owner": "",
        "counter": "write_bytes",
        "counter_unit": "bytes",
        "amount": 274820641179842.0,
        "night": datetime(2018, 4, 18, tzinfo=UTC).date(),
    } == written[6]
    assert [0.0] * 15 + [774221064.0] == [row["amount"] for row in written[7:23]]
    assert datetime(2018, 4, 18, 14, 39, 5, tzinfo=UTC) == written[7]["sampled_at"]


@pytest.mark.proof
def test_rates_of_collectd_are_those_of_tokio() -> None:
    """Each sample of collectd stands in TOKIO's file, in the bin of ten seconds in which it was taken."""
    samples, bins = _of("sample_collectdes-part.json.gz")["lustre_rate"], _of("sample_tokiots.hdf5")["lustre_rate"]
    known = {(row["target"], row["counter"], row["begin_at"]): row["rate"] for row in reported(bins) if "rate" in row}
    compared = Counter()
    for row in reported(samples):
        taken = row["begin_at"].timestamp() + row["interval_seconds"]
        place = datetime.fromtimestamp(taken // 10 * 10, UTC)
        compared[known[row["target"].replace("/", ":"), row["counter"], place] == row["rate"]] += 1
    assert {True: 7352} == compared
    # The sample of collectd is a part of what TOKIO was made from.
    assert 2 * (360 * 64 - 16_002) == len(known)


def test_totals_of_tokio() -> None:
    """Rates add up to what h5py and numpy add up, by disk and direction; zeros with a minus sign are left out."""
    table = _of("sample_tokiots.hdf5")["lustre_rate"]
    with h5py.File(io.BytesIO(content("sample_tokiots.hdf5"))) as file:
        expected = {}
        for name, counter in (("readrates", "read_bytes"), ("writerates", "write_bytes")):
            dataset = file["datatargets"][name]
            names = [column.decode() for column in dataset.attrs["columns"]]
            expected |= {(disk, counter): total for disk, total in zip(names, dataset[()].sum(axis=0), strict=True)}
            assert 16_002 == np.signbit(dataset[()]).sum()
    assert {key: pytest.approx(total) for key, total in expected.items()} == summed(table, ("target", "counter"), "rate")
    assert 128 == len(expected)


def test_totals_of_collectd() -> None:
    """Rates add up to what the documents add up to, by disk and direction; no name says that the disk is an OST."""
    table = _of("sample_collectdes-part.json.gz")["lustre_rate"]
    expected = Counter()
    for page in json.loads(content("sample_collectdes-part.json.gz")):
        for hit in page:
            document = hit["_source"]
            for counter in ("read", "write"):
                expected[f"{document['hostname']}/{document['plugin_instance']}", f"{counter}_bytes"] += document[counter]
    assert {key: pytest.approx(total) for key, total in expected.items()} == summed(table, ("target", "counter"), "rate")
    assert {None} == set(table["target_kind"].to_pylist())


def test_rates_of_mmperfmon() -> None:
    """A bucket's bytes become a rate over its ten minutes, from its local time on."""
    table = _of("mmperfmon-gpfsNumberOperations.txt.gz")["lustre_rate"]
    rows = {(row["target"], row["counter"], row["begin_at"]): row for row in reported(table)}
    assert {
        "begin_at": datetime(2019, 1, 8, 21, 0, tzinfo=UTC),
        "interval_seconds": 600.0,
        "source_kind": "mmperfmon",
        "target": "ngfsv492.nersc.gov/tlprojecta",
        "counter": "read_bytes",
        "counter_unit": "bytes",
        "rate": 283039744 / 600,
        "night": datetime(2019, 1, 8, tzinfo=UTC).date(),
    } == rows["ngfsv492.nersc.gov/tlprojecta", "read_bytes", datetime(2019, 1, 8, 21, 0, tzinfo=UTC)]
    lines = content("mmperfmon-gpfsNumberOperations.txt.gz").decode().splitlines()
    cells = np.array([line.split()[6:] for line in lines if re.match(r" *\d+ 2019-", line)], np.float64)
    names = [
        ("tlproject2", "read_bytes"),
        ("tlprojecta", "read_bytes"),
        ("tlproject2", "write_bytes"),
        ("tlprojecta", "write_bytes"),
    ]
    expected = {(f"ngfsv492.nersc.gov/{fs}", counter): cells[:, i].sum() / 600 for i, (fs, counter) in enumerate(names)}
    assert {key: pytest.approx(total) for key, total in expected.items()} == summed(table, ("target", "counter"), "rate")


def test_bytes_of_nsds_are_means() -> None:
    """No NSD moves part of a sector, but thrice what is printed is whole sectors: these are means of three, and not sums."""
    if not SERIES.is_dir():
        pytest.skip(NOT_HERE)
    lines = content("mmperfmon-nsdds.txt.gz").decode().splitlines()
    cells = np.array([int(cell) for line in lines if re.match(r" *\d+ 2019-", line) for cell in line.split()[2:]])
    large = cells[cells > 100_000]
    beyond = [np.minimum(large * times % 512, -large * times % 512) for times in (1, 2, 3)]
    assert 300 == len(large)
    assert [False, False, True] == [bool((rest <= times / 2 + 0.5).all()) for times, rest in enumerate(beyond, 1)]
