"""Darshan's formats before 3.00: what is read of them, what goes where, and what stays unknown."""

import bz2
import gzip
from pathlib import Path
from typing import Any

import pytest
from legacy_logs import legacy_log

from iomine.errors import UnreadableError
from iomine.schema.legacy import ABSENT, SOURCES, WORDS
from iomine.sources.darshan import Log, identify, legacy, read_log
from iomine.units import MIB

_NAME = "ann_ior_id4711_3-13-61875-4723177368895607730_1.darshan.gz"
# A record that POSIX and MPI-IO used, on the mount of device 15.
_BOTH = {
    "hash": 2**64 - 2,
    "rank": -1,
    "name": "scratch/ior.out",
    "DEVICE": 15,
    "MODE": 6,
    "BYTES_READ": 4096,
    "POSIX_READS": 4,
    "POSIX_OPENS": 1,
    "SIZE_READ_1K_10K": 4,
    "INDEP_OPENS": 1,
    "INDEP_READS": 2,
    "SIZE_READ_AGG_1K_10K": 2,
    "ACCESS1_ACCESS": 1024,
    "ACCESS1_COUNT": 4,
    "FASTEST_RANK": 3,
    "FASTEST_RANK_BYTES": 1024,
    "SLOWEST_RANK": 1,
    "F_OPEN_TIMESTAMP": 0.5,
    "F_READ_START_TIMESTAMP": 1.0,
    "F_READ_END_TIMESTAMP": 2.0,
    "F_POSIX_READ_TIME": 0.25,
    "F_MPI_READ_TIME": 0.75,
    "F_FASTEST_RANK_TIME": 0.125,
    "F_SLOWEST_RANK_TIME": 0.5,
}


@pytest.fixture
def read(tmp_path: Path):
    """Reads a log of some bytes."""

    def read(data: bytes, name: str = _NAME) -> Log:
        (tmp_path / name).write_bytes(data)
        return read_log(tmp_path / name)

    return read


def _row(log: Log, table: str) -> dict[str, Any]:
    (row,) = log.table(table).to_pylist()
    return row


def _state(log: Log, module: str) -> tuple[str, str]:
    (found,) = [each for each in log.modules if each.region.module == module]
    return found.state, found.reason


@pytest.mark.parametrize("version", ABSENT)
@pytest.mark.parametrize("order", "<>")
def test_counters_that_a_format_lacks_are_unknown(read, version: str, order: str) -> None:
    """What a format holds is read, in either byte order; what it lacks is -1, Darshan's word for unknown."""
    log = read(legacy_log([_BOTH], version=version, order=order))
    row = _row(log, "posix_file")
    lacks = {*ABSENT[version]}
    assert (-2, -1, 4096, 4, 0.25) == (*(row[name] for name in ("file_id", "rank", "read_bytes", "read_count", "read_seconds")),)
    assert [-1 if "MAX_READ_TIME_SIZE" in lacks else 0, -1] == [row["max_read_seconds_bytes"], row["dup_count"]]
    has_moments = version >= "2.03"
    assert ([1.0, 2.0, 0.5, -1.0] if has_moments else [-1.0] * 4) == [
        row[name] for name in ("read_start_seconds", "read_end_seconds", "open_start_seconds", "open_end_seconds")
    ]
    assert ("when calls were made is not known" in _state(log, "POSIX")[1]) != has_moments
    assert ("4711" if version.startswith("1.") else "42", 7, "ann") == (log.job.job_id, log.job.uid, log.user)
    assert (100.0, 4, version, "/bin/ior -a POSIX") == (log.job.run_seconds, log.job.nprocs, log.format_version, log.job.exe)


def test_counters_go_to_the_layer_that_they_are_of(read) -> None:
    """MPI-IO has its calls, sizes and times, and no bytes; POSIX the bytes; from 2.05 on ranks were timed in MPI-IO."""
    log = read(legacy_log([_BOTH]))
    posix, mpiio = _row(log, "posix_file"), _row(log, "mpiio_file")
    assert (2, 2, 6, 0.75) == (*(mpiio[name] for name in ("indep_read_count", "read_size_1k_10k_count", "mode", "read_seconds")),)
    assert [-1] * 4 == [mpiio[name] for name in ("read_bytes", "access1_bytes", "fastest_rank_bytes", "rw_switch_count")]
    assert (3, 0.125, -1.0) == (mpiio["fastest_rank"], mpiio["fastest_rank_seconds"], mpiio["read_start_seconds"])
    assert (-1, -1, -1.0, 1024, 4) == (
        *(posix[name] for name in ("mode", "fastest_rank", "fastest_rank_seconds", "access1_bytes", "access1_count")),
    )
    assert "bytes were not counted" in _state(log, "MPI-IO")[1]
    older = read(legacy_log([_BOTH], version="2.04"))
    assert (3, -1) == (_row(older, "posix_file")["fastest_rank"], _row(older, "mpiio_file")["fastest_rank"])
    assert "those by time in POSIX and stdio alone" in _state(older, "POSIX")[1]


def test_stdio_alone_has_all_that_is_counted(read) -> None:
    """Bytes and times of a file that stdio alone used are its own."""
    record = {"POSIX_FOPENS": 1, "POSIX_FWRITES": 5, "BYTES_WRITTEN": 50, "SIZE_WRITE_0_100": 5, "F_POSIX_WRITE_TIME": 1.5}
    log = read(legacy_log([record | {"F_WRITE_START_TIMESTAMP": 3.0}]))
    row = _row(log, "stdio_file")
    assert (1, 5, 50, 1.5, 3.0, -1) == (
        *(row[name] for name in ("open_count", "write_count", "write_bytes", "write_seconds", "write_start_seconds")),
        row["flush_count"],
    )
    assert (
        "posix_file" in log.tables,
        ("read", "last reads and writes of files that went through MPI-IO have its times"),
    ) == (
        False,
        _state(log, "STDIO"),
    )


def test_what_two_layers_moved_stands_with_posix(read) -> None:
    """Of a file that POSIX and stdio used, stdio has its calls alone, and both modules say why."""
    record = {
        "POSIX_OPENS": 1,
        "POSIX_FOPENS": 1,
        "POSIX_WRITES": 2,
        "POSIX_FWRITES": 3,
        "BYTES_WRITTEN": 50,
        "SIZE_WRITE_0_100": 5,
    }
    log = read(legacy_log([record, {"hash": 2, "POSIX_FOPENS": 1, "POSIX_FWRITES": 1, "BYTES_WRITTEN": 9}]))
    stdio = log.table("stdio_file").to_pylist()
    assert [(3, -1, -1.0), (1, 9, 0.0)] == [(row["write_count"], row["write_bytes"], row["write_seconds"]) for row in stdio]
    assert (2, 50, 5) == (*(_row(log, "posix_file")[name] for name in ("write_count", "write_bytes", "write_size_0_100_count")),)
    for module in ("POSIX", "STDIO"):
        state, reason = _state(log, module)
        assert ("unsound", True) == (state, reason.startswith("1 file had calls of both POSIX and stdio"))


def test_sums_over_files_say_what_sums_can(read) -> None:
    """The record of a rank with too many files keeps counts, bytes and durations; what no sum says is unknown."""
    sums = {"hash": 0, "rank": 2, "POSIX_OPENS": 3000, "POSIX_WRITES": 9, "BYTES_WRITTEN": 90, "SIZE_WRITE_0_100": 9}
    log = read(
        legacy_log([sums | {"MAX_BYTE_WRITTEN": 7, "F_OPEN_TIMESTAMP": 5.0, "F_POSIX_WRITE_TIME": 2.0, "F_MAX_WRITE_TIME": 1.0}])
    )
    row = _row(log, "posix_file")
    assert (3000, 9, 90, 9, 2.0) == (
        *(row[name] for name in ("open_count", "write_count", "write_bytes", "write_size_0_100_count", "write_seconds")),
    )
    unknown = ("max_write_offset_bytes", "open_start_seconds", "max_write_seconds", "access1_bytes", "sequential_write_count")
    assert {-1} == {row[name] for name in unknown}
    assert "file_name" not in log.tables
    (posix,) = [each for each in log.modules if each.region.module == "POSIX"]
    assert (True, True) == (
        posix.region.is_partial,
        posix.reason.endswith("1 rank opened more than 1,024 files, whose records are added up"),
    )
    assert log.is_partial


def test_offsets_of_32_bits_are_unknown(read) -> None:
    """Where more than 2 GiB were moved, a highest offset right below 2 GiB may have been cut; other ones are as they are."""
    cut = {"BYTES_WRITTEN": 2**39, "BYTES_READ": 2**31, "MAX_BYTE_WRITTEN": 2**31 - 1, "MAX_BYTE_READ": 2**31 - 1}
    sound = ({"MAX_BYTE_WRITTEN": 2**31}, {"MAX_BYTE_WRITTEN": 4 * MIB})
    log = read(legacy_log([{"hash": at, "POSIX_OPENS": 1} | cut | other for at, other in enumerate(({}, *sound), 1)]))
    rows = log.table("posix_file").to_pylist()
    assert [-1, 2**31, 4 * MIB] == [row["max_write_offset_bytes"] for row in rows]
    assert {2**31 - 1} == {row["max_read_offset_bytes"] for row in rows}
    assert ("read", True) == (
        _state(log, "POSIX")[0],
        _state(log, "POSIX")[1].endswith("the highest offset of 1 record may be cut to 31 bits, and is not known"),
    )


def test_paths_are_what_was_kept_of_them(read) -> None:
    """A path as long as what was kept may have been cut; a shorter one is whole. The device says where the file lay."""
    records = [{"hash": 1, "name": "a" * 15, "DEVICE": 15}, {"hash": 2, "name": "/etc/f", "DEVICE": 9}]
    names = read(legacy_log(records)).table("file_name").to_pylist()
    assert [("…" + "a" * 15, True, "/scratch", "pvfs2"), ("/etc/f", False, None, None)] == [
        (row["path"], row["is_path_cut"], row["mount"], row["fs_type"]) for row in names
    ]
    old = read(legacy_log([{"name": "a" * 11}], version="1.22")).table("file_name").to_pylist()
    assert [("…" + "a" * 11, True, None)] == [(row["path"], row["is_path_cut"], row["mount"]) for row in old]


def test_rank_0_says_the_mount_of_format_1_23(read) -> None:
    """Where ranks name several devices, that of rank 0 is taken, and the module says that others may be wrong."""
    records = [{"rank": 1, "DEVICE": 10, "POSIX_OPENS": 1}, {"rank": 0, "DEVICE": 15, "POSIX_OPENS": 1}]
    log = read(legacy_log(records, version="1.23"))
    assert "/scratch" == _row(log, "file_name")["mount"]
    assert _state(log, "POSIX")[1].endswith("the mounts of files of ranks above 0 may be wrong")


@pytest.mark.parametrize("pack", ["gzip", "bzip2"])
def test_files_are_known_by_their_first_bytes(tmp_path: Path, pack: str) -> None:
    """A log packed by gzip or bzip2 has its night, whatever it is called."""
    (tmp_path / "x").write_bytes(legacy_log([_BOTH], pack=pack))
    identity = identify(tmp_path / "x")
    assert ("2011-03-13", "") == (str(identity.night), identity.reason)
    assert 4096 == _row(read_log(tmp_path / "x"), "posix_file")["read_bytes"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (gzip.compress(b"1.4\0" + bytes(5000)), r"format 1\.4; of formats before 3\.00"),
        (gzip.compress(b"2.07\0" + bytes(5000)), r"format 2\.07; of formats before 3\.00"),
        (gzip.compress(b"2.06\0\0\0\0" + bytes(5000)), "magic number is wrong"),
        (gzip.compress(legacy_log(pack="no")[:3000]), "ends inside its header, after 3,000 bytes"),
        (gzip.compress(legacy_log(pack="no")[:50]), "ends inside its header, after 50 bytes"),
        (legacy_log([_BOTH])[:9], "not a Darshan log"),
        (legacy_log([_BOTH])[:60], "ends inside its header"),
        (legacy_log(end=2**62), "no valid start and end"),
    ],
    ids=["1.4", "2.07", "magic", "cut", "short", "truncated", "packed", "clock"],
)
def test_what_cannot_be_read_is_refused_with_its_reason(read, data: bytes, reason: str) -> None:
    """A log of another format, cut or damaged is a reject that says so."""
    with pytest.raises(UnreadableError, match=reason):
        read(data)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_bombs_are_refused(read, monkeypatch: pytest.MonkeyPatch, compress) -> None:
    """What unpacks to more than a region may is given up, not unpacked."""
    monkeypatch.setattr(legacy, "MAX_REGION_BYTES", MIB)
    with pytest.raises(UnreadableError, match=r"inflates to more than 1\.0 MiB"):
        read(compress(legacy_log(pack="no") + bytes(2 * MIB)))


def test_records_before_a_cut_are_kept(read) -> None:
    """Each rank packed its own records: what is whole is read, and the modules say what is missing."""
    data = legacy_log(pack="no")
    whole = legacy_log([_BOTH, _BOTH | {"hash": 9}], pack="no")[len(data) :]
    log = read(gzip.compress(data + whole[: len(whole) // 2]) + gzip.compress(whole[len(whole) // 2 :])[:-20])
    assert ("unsound", 1) == (_state(log, "POSIX")[0], len(log.table("posix_file")))
    assert "its compressed data does not end where it should" in log.doubt
    rest = read(gzip.compress(data + whole[:-8]))
    assert "its last 1,320 bytes are no whole record" in _state(rest, "POSIX")[1]


def test_a_file_that_is_cut_is_read_as_far_as_it_goes(read) -> None:
    """Where the file ends within its only stream, the records before are read, and the modules say what is missing."""
    data = legacy_log([_BOTH | {"hash": at, "SIZE_AT_OPEN": at**8} for at in range(1, 200)])
    log = read(data[: len(data) // 2])
    got = log.table("posix_file")
    assert 50 < len(got) < 150
    assert [*range(1, len(got) + 1)] == got["file_id"].to_pylist()
    assert {4096} == set(got["read_bytes"].to_pylist())
    assert "its compressed data does not end where it should" in log.doubt
    assert ("unsound", len(got)) == (_state(log, "POSIX")[0], log.modules[0].record_count)


def test_every_word_is_either_kept_or_known_to_be_dropped() -> None:
    """Of all counters only those that no table of today has are left out."""
    kept = {source for sources in SOURCES.values() for source in sources.values()} | {"INDEP_NC_OPENS", "DEVICE"}
    dropped = {word for word in WORDS if word not in kept}
    assert {"SIZE_AT_OPEN"} == {word for word in dropped if not word.startswith(("COMBINER_", "EXTENT_"))}
