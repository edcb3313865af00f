"""Modules of counters, MDHIM and the DAOS ids: what is written comes out, in either byte order."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from writing import POSIX_COUNTERS, POSIX_FLOATS, Blueprint, Module, mdhim_record, posix_record, words

from iomine.schema.counters import COUNTERS, columns_of
from iomine.sources.darshan.counters import LAYOUTS, decode_counters, decode_mdhim


@pytest.mark.parametrize("version", ["3.41", "3.10"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_posix_round_trip(order: str, version: str, read, rows) -> None:
    """Every counter of every POSIX record comes out under its name, in either byte order and header layout."""
    parts = [posix_record(order, 5, 0) + posix_record(order, -5, 1), posix_record(order, 6, -1)]
    log = read(Blueprint({"POSIX": Module(4, parts)}, version=version, order=order))
    values = dict(zip(columns_of("POSIX"), POSIX_COUNTERS + POSIX_FLOATS, strict=True))
    assert [{"file_id": id_, "rank": rank} | values for id_, rank in ((5, 0), (-5, 1), (6, -1))] == rows(log, "posix_file")
    assert [("POSIX", 3, "read", "")] == [(m.region.module, m.record_count, m.state, m.reason) for m in log.modules]


@pytest.mark.parametrize("bits", [0x7FF8000000000001, 0xFFF0000000000000, 0x8000000000000000, 1])
def test_floats_keep_their_bits(bits: int) -> None:
    """A float counter keeps its bits, whatever number they are or are not."""
    record = posix_record("<")[:-8] + struct.pack("<Q", bits)
    (column,) = decode_counters("POSIX", record, "<").tables["posix_file"]["rank_bytes_variance"].to_numpy()
    assert struct.pack("<Q", bits) == column.tobytes()


@pytest.mark.parametrize("module", sorted(LAYOUTS))
def test_part_of_a_record(module: str) -> None:
    """Bytes after the last whole record make the module unsound, and the whole ones stay."""
    width = LAYOUTS[module].width * 8
    alone, after = decode_counters(module, bytes(width - 1), "<"), decode_counters(module, bytes(2 * width + 9), "<")
    assert (0, f"its {width - 1:,} bytes are not records of {module}, which have {width:,} bytes each") == (
        alone.record_count,
        alone.damage,
    )
    assert (2, "9 bytes at its end are not a whole record") == (after.record_count, after.damage)


def test_module_without_records_gives_no_rows(read) -> None:
    """A region that holds no bytes is read, and gives no rows."""
    log = read(Blueprint({"POSIX": Module(4, [b""])}))
    assert [("read", 0)] == [(module.state, module.record_count) for module in log.modules]
    assert "posix_file" not in log.tables


@pytest.mark.parametrize("order", ["<", ">"])
def test_daos_ids(order: str, read, rows) -> None:
    """UUIDs are bytes, which no byte order turns round; the halves of an object's id are numbers."""
    pool, container = bytes(range(16)), bytes(range(16, 32))

    def record(module: str, tail: bytes) -> bytes:
        counters = COUNTERS[module]
        return words(order, 5, 0, *range(len(counters.integers)), *[0.5] * len(counters.floats)) + pool + container + tail

    dfs, daos = record("DFS", b""), record("DAOS", words(order, 7, -7))
    log = read(Blueprint({"DFS": Module(1, [dfs + dfs]), "DAOS": Module(1, [daos])}, order=order))
    ids = {"pool": pool.hex(), "container": container.hex()}
    assert [ids, ids] == [{name: row[name] for name in ids} for row in rows(log, "dfs_file")]
    ids |= {"oid_hi": 7, "oid_lo": -7}
    assert [ids] == [{name: row[name] for name in ids} for row in rows(log, "daos_object")]


@given(st.sampled_from("<>"), st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5), min_size=1, max_size=4))
def test_mdhim_round_trip(order: str, histograms: list[list[int]]) -> None:
    """MDHIM records of any number of servers come out with their histograms and the counters before them."""
    data = b"".join(mdhim_record(order, histogram, rank=rank) for rank, histogram in enumerate(histograms))
    decoded = decode_mdhim(data, order)
    columns = {name: column.to_pylist() for name, column in decoded.tables["mdhim_store"].items()}
    assert (len(histograms), "") == (decoded.record_count, decoded.damage)
    assert histograms == columns["server_histogram"]
    assert list(map(len, histograms)) == columns["server_count"]
    assert (10, 300, 0.0625) == (columns["put_count"][0], columns["max_put_bytes"][0], columns["max_get_seconds"][-1])


@pytest.mark.parametrize("servers", [2, -1, 2**63 - 1])
def test_mdhim_servers_that_are_not_there(servers: int) -> None:
    """A record that claims more servers than its bytes hold is left out, and those before it stay."""
    decoded = decode_mdhim(mdhim_record("<", [1, 2, 3]) + mdhim_record("<", [4], servers=servers), "<")
    assert (1, "its records do not fill the region") == (decoded.record_count, decoded.damage)
    assert [[1, 2, 3]] == decoded.tables["mdhim_store"]["server_histogram"].to_pylist()
