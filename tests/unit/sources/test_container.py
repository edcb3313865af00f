"""The container: what is accepted, what is refused and with which words, and what a damaged region still gives."""

import bz2
import gzip
import lzma
import random
import resource
import struct
import zlib

import pytest
from writing import MAGIC, Blueprint, Module, posix_record, write

from iomine.errors import UnreadableError
from iomine.sources.darshan import container
from iomine.sources.darshan.container import open_container

_HEADER_341 = 16 + struct.calcsize("<B7xQ130Q64I")
_NAMES_AT, _FIRST_MAP_AT = 32, 48


def _refusal(data: bytes) -> str:
    with pytest.raises(UnreadableError) as error:
        open_container(data)
    assert error.value.is_final
    return error.value.reason


def _with_posix(*parts: bytes, compression: str = "zlib") -> bytes:
    return write(Blueprint({"POSIX": Module(4, parts)}, compression=compression))


def _damage_of(data: bytes) -> tuple[bytes, str]:
    opened = open_container(data)
    inflated = opened.inflate(opened.regions[0])
    return inflated.data, inflated.damage


_NO_LOG = "This is a gzip file, but not a Darshan log: statistics and accounting are named with --stats."


@pytest.mark.parametrize(
    ("beginning", "reason"),
    [
        (b"", "The file is empty: the run ended before Darshan wrote its log."),
        (b"hello, world", "The file does not begin with a Darshan version: it is not a finished Darshan log."),
        (b"\xff\xfe\x00binary", "The file does not begin with a Darshan version: it is not a finished Darshan log."),
        (b"3.41.1\0\0", "The file does not begin with a Darshan version: it is not a finished Darshan log."),
        (b"4.00\0\0\0\0", "The log has format 4.00; formats 3.00 to 3.41 are read."),
        (b"2.05\0\0\0\0", "The log has format 2.05; formats 3.00 to 3.41 are read."),
        (b"-3.1\0\0\0\0", "The log has format -3.1; formats 3.00 to 3.41 are read."),
        (b"3.41\0\0\0\0", "The header's magic number is wrong: the file is damaged."),
        (b"3.41\0\0\0\0" + struct.pack("<q", MAGIC + 1), "The header's magic number is wrong: the file is damaged."),
        (b"3.41\0\0\0\0" + struct.pack("<q", MAGIC), "The file ends inside its header, after 16 bytes."),
        (gzip.compress(b"2.06\0\0\0\0", mtime=0), _NO_LOG),
        (gzip.compress(b"#!/bin/sh", mtime=0), _NO_LOG),
        (b"\x1f\x8b but no gzip", "This is a damaged gzip file"),
        (
            gzip.compress(write(Blueprint()), mtime=0),
            "The file is compressed with gzip, and is read only if it is unpacked: run gunzip",
        ),
        (lzma.compress(write(Blueprint())), "The file is compressed with xz, and is read only if it is unpacked: run unxz"),
        (b"\x28\xb5\x2f\xfd", "The file is compressed with zstd, and is read only if it is unpacked: run unzstd"),
        (b"PK\x03\x04", "The file is compressed with zip, and is read only if it is unpacked: run unzip"),
    ],
)
def test_files_that_are_no_logs(beginning: bytes, reason: str) -> None:
    """A file that is no log of format 3.x is refused for good, in a sentence that says what it is."""
    assert _refusal(beginning).startswith(reason)


def test_header_is_needed_to_its_last_byte() -> None:
    """A log that ends one byte before its header does is refused; the byte more that follows decides nothing here."""
    data = write(Blueprint())
    assert f"The file ends inside its header, after {_HEADER_341 - 1:,} bytes." == _refusal(data[: _HEADER_341 - 1])
    assert open_container(data[:_HEADER_341]).regions == ()


def test_unknown_compression() -> None:
    """A compression code that Darshan does not have is refused, not guessed."""
    data = bytearray(write(Blueprint()))
    data[16] = 3
    assert _refusal(bytes(data)) == "The log is compressed in a way that Darshan does not know (code 3)."


def test_names_inside_the_header() -> None:
    """A map that places the names inside the header would make the job region negative, so it is refused."""
    data = bytearray(write(Blueprint()))
    data[_NAMES_AT : _NAMES_AT + 8] = struct.pack("<Q", _HEADER_341 - 1)
    assert _refusal(bytes(data)) == "The header's map places the names inside the header: the file is damaged."


@pytest.mark.parametrize("length", [2**31, 2**63 - 1, 2**64 - 1])
@pytest.mark.parametrize("offset", [0, _HEADER_341, 2**63, 2**64 - 1])
def test_map_outside_the_file(offset: int, length: int, read, rows) -> None:
    """A map entry beyond the file, or beyond 64 bits, costs one module, and no memory."""
    data = bytearray(write(Blueprint({"STDIO": Module(2, [b""]), "HEATMAP": Module(1, [b""])})))
    data[_FIRST_MAP_AT + 16 : _FIRST_MAP_AT + 32] = struct.pack("<2Q", offset, length)
    log = read(bytes(data))
    posix = log.modules[0]
    assert ("POSIX", "unsupported" if posix.region.version > 4 else "unsound", 0) == (
        posix.region.module,
        posix.state,
        posix.record_count,
    )
    assert max(0, len(data) - offset) == rows(log, "module")[0]["region_bytes"]
    assert "posix_file" not in log.tables


@pytest.mark.parametrize("compression", ["zlib", "bzip2", "none"])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("version", ["3.41", "3.10"])
def test_each_kind_of_container(version: str, order: str, compression: str) -> None:
    """Regions come out as they went in, for each header layout, byte order and compression."""
    modules = {"POSIX": Module(4, [b"first", b"second"], is_partial=True), "STDIO": Module(2, [b"third"])}
    names = b"12345678/a\0"
    opened = open_container(write(Blueprint(modules, version=version, order=order, compression=compression, names=names)))
    assert [("POSIX", 4, True), ("STDIO", 2, False)] == [
        (region.module, region.version, region.is_partial) for region in opened.regions
    ]
    assert [b"firstsecond", b"third"] == [opened.inflate(region).data for region in opened.regions]
    assert (names, order) == (opened.inflate_names().data, opened.order)
    assert "" == opened.inflate_job().damage


@pytest.mark.parametrize("compression", ["zlib", "bzip2"])
def test_cut_stream_keeps_what_is_sure(compression: str) -> None:
    """A region whose last stream is cut off gives a prefix of its bytes, all streams before it whole, and says so."""
    first, second = posix_record("<"), posix_record("<", rank=1)
    inflated, damage = _damage_of(_with_posix(first, second, compression=compression)[:-20])
    assert inflated.startswith(first)
    assert (first + second).startswith(inflated)
    assert damage == "the file ends 20 bytes before the region does"


def test_stream_that_fails_its_checksum_gives_nothing() -> None:
    """Of a stream whose checksum is wrong no byte is believed, though all could be inflated; those before it stay."""
    first, second = posix_record("<"), random.Random(1).randbytes(20_000)
    data = bytearray(_with_posix(first, second))
    data[-1] ^= 1
    inflated, damage = _damage_of(bytes(data))
    assert inflated == first
    assert "incorrect data check" in damage


def test_stream_without_an_end() -> None:
    """A stream that does not end though all of its region is there was never checked, so none of it is believed."""
    stream = zlib.compressobj()
    endless = stream.compress(posix_record("<")) + stream.flush(zlib.Z_SYNC_FLUSH)
    streams = zlib.compress(b"first") + endless
    opened = open_container(write(Blueprint()))
    broken = container.Container(streams, "3.41", "<", opened.era, 0, 0, (0, 0), ())
    assert container.Inflated(b"first", "its compressed data does not end where it should") == broken._inflate(0, len(streams))


def test_bomb_is_refused_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A region that inflates beyond the limit gives nothing, and says why."""
    monkeypatch.setattr(container, "MAX_REGION_BYTES", 1000)
    assert (bytes(1000), "") == _damage_of(_with_posix(bytes(1000)))
    assert (b"", "it inflates to more than 1000 B, the limit for one region") == _damage_of(_with_posix(bytes(1001)))
    assert (b"", "it inflates to more than 1000 B, the limit for one region") == _damage_of(_with_posix(bytes(600), bytes(600)))


@pytest.mark.parametrize("compress", [zlib.compress, bz2.compress])
@pytest.mark.proof
def test_bomb_takes_no_memory(compress, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bomb is refused before it takes much more memory than the limit, even where one chunk of it would suffice."""
    monkeypatch.setattr(container, "MAX_REGION_BYTES", 1 << 20)
    bomb = compress(bytes(256 << 20))
    data = write(Blueprint({"POSIX": Module(4, [bomb])}, compression="none"))
    opened = open_container(data)
    armed = container.Container(
        data, "3.41", "<", opened.era, int(compress is bz2.compress), opened.job_at, opened.names_at, opened.regions
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "inflates to more than" in armed.inflate(armed.regions[0]).damage
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10
