"""HDF5 of pylmt and TOKIO that was made for the purpose, and HDF5 that means harm."""

import io
import struct
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st
from reading_series import DAMAGES, outcome, read, reported, source_of

from iomine.errors import UnreadableError
from iomine.sources.series import hdf5

_BEGIN = 1_500_000_000
_AT = datetime.fromtimestamp(_BEGIN, UTC)
_OSTS = [b"scratch-OST0000", b"OST000a"]


def _made(make: Callable[[h5py.File], Any]) -> bytes:
    memory = io.BytesIO()
    with h5py.File(memory, "w") as file:
        make(file)
    return memory.getvalue()


def _pylmt(file: h5py.File, steps: list[int], read: Any, **more: Any) -> None:
    file["FSStepsGroup/FSStepsDataSet"] = np.array(steps, np.int32)
    file["OSTReadGroup/OSTBulkReadDataSet"] = np.array(read, np.float64)
    file["OSTReadGroup/OSTBulkReadDataSet"].attrs["OSTNames"] = np.array(more.get("names", _OSTS))
    if "missing" in more:
        file["FSMissingGroup/FSMissingDataSet"] = np.array(more["missing"], np.int32)
    if "operations" in more:
        file["MDSOpsGroup/MDSOpsDataSet"] = np.array(more["operations"], np.float64)
        file["MDSOpsGroup/MDSOpsDataSet"].attrs["OpNames"] = np.array([b"open"])


def _tokio(file: h5py.File, numbers: Any, name: str = "readrates", unit: str | None = "bytes/sec", **more: Any) -> None:
    group = more.get("group", "datatargets")
    file[f"{group}/timestamps"] = np.array(more.get("steps", [_BEGIN + 10 * i for i in range(len(numbers))]))
    file[f"{group}/{name}"] = numbers if isinstance(numbers, np.ndarray) else np.array(numbers, np.float64)
    file[f"{group}/{name}"].attrs["columns"] = np.array(more.get("columns", [b"scratch-OST0000"]))
    if unit is not None:
        file[f"{group}/{name}"].attrs["units"] = np.bytes_(unit)


def test_pylmt() -> None:
    """Space is the first axis; a rate ends at its step, what is marked or no number is not known, operations are an MDS's."""
    steps = [_BEGIN, _BEGIN + 5, _BEGIN + 10]
    data = _made(
        lambda file: _pylmt(
            file, steps, [[0, 1.5, 2.5], [0, np.nan, 4.5]], missing=[[0, 0, 1], [0, 0, 0]], operations=[[0, 7, 8]], names=_OSTS
        )
    )
    readings = read(data)
    common = {"interval_seconds": 5.0, "source_kind": "h5lmt", "night": _AT.date()}
    ost = common | {"target_kind": "ost", "counter": "read_bytes", "counter_unit": "bytes"}
    # The names of both OSTs have to begin alike to give the file system's.
    mdt = common | {"target_kind": "mdt", "counter": "open", "counter_unit": "reqs"}
    second = datetime.fromtimestamp(_BEGIN + 5, UTC)
    assert [
        ost | {"begin_at": _AT, "target": "scratch-OST0000", "rate": 1.5},
        ost | {"begin_at": _AT, "target": "OST000a"},
        ost | {"begin_at": second, "target": "scratch-OST0000"},
        ost | {"begin_at": second, "target": "OST000a", "rate": 4.5},
        mdt | {"begin_at": _AT, "rate": 7.0},
        mdt | {"begin_at": second, "rate": 8.0},
    ] == reported(readings.tables["lustre_rate"])
    assert "2 rates are not known" == readings.doubt


def test_pylmt_with_a_gap() -> None:
    """A rate after a gap is that of one usual step, and the gap is reported."""
    steps = [_BEGIN, _BEGIN + 5, _BEGIN + 10, _BEGIN + 60, _BEGIN + 60, _BEGIN + 55]
    readings = read(_made(lambda file: _pylmt(file, steps, [[0, 1, 2, 3, 4, 5]], names=_OSTS[:1])))
    begins = [int(row["begin_at"].timestamp()) - _BEGIN for row in reported(readings.tables["lustre_rate"])]
    assert [0, 5, 55, 55, 50] == begins
    assert "of 5 steps in time 1 of no length, 1 backwards, 1 longer than the usual 5 s, up to 50 s" == readings.doubt


@pytest.mark.parametrize(
    ("path", "unit", "counter", "counter_unit", "rate"),
    [
        ("datatargets/readrates", "bytes/sec", "read_bytes", "bytes", 30.0),
        ("datatargets/readbytes", "bytes/sec", "read_bytes", "bytes", 30.0),
        ("datatargets/writebytes", "bytes", "write_bytes", "bytes", 3.0),
        ("datatargets/writeoprates", "ops/sec", "write", "reqs", 30.0),
        ("mdtargets/statfss", "ops", "statfs", "reqs", 3.0),
        ("mdtargets/closerates", "ops/sec", "close", "reqs", 30.0),
    ],
)
def test_tokio(path: str, unit: str, counter: str, counter_unit: str, rate: float) -> None:
    """Time is the first axis; the unit, not the name, says whether a number is of a second; -0.0 is not known, 0.0 is zero."""
    group, name = path.split("/")
    readings = read(_made(lambda file: _tokio(file, [[30.0], [-0.0], [0.0]], name, unit, group=group)))
    rows = reported(readings.tables["lustre_rate"])
    assert [rate, None, 0.0] == [row.get("rate") for row in rows]
    assert {
        "begin_at": _AT,
        "interval_seconds": 10.0,
        "source_kind": "tokio",
        "target": "scratch-OST0000",
        "target_kind": "ost",
        "counter": counter,
        "counter_unit": counter_unit,
        "rate": rate,
        "night": _AT.date(),
    } == rows[0]
    assert "1 rates are not known" == readings.doubt


def test_tokio_shows_what_it_leaves_out() -> None:
    """Data sets that are no traffic are named."""

    def make(file: h5py.File) -> None:
        _tokio(file, [[1.0], [2.0]])
        _tokio(file, [[1.0], [2.0]], "cpuload", "%", group="mdservers")

    assert "left out: mdservers/cpuload" == read(_made(make)).doubt


@examples(st.lists(st.lists(st.floats(0, 1e12), min_size=2, max_size=2), min_size=2, max_size=6))
def test_axes(numbers: list[list[float]]) -> None:
    """However many steps and targets there are, each rate stands at its own time and target, in both layouts."""
    grid = np.array(numbers)
    steps = [_BEGIN + 5 * i for i in range(len(grid) + 1)]
    pylmt = _made(lambda file: _pylmt(file, steps, np.vstack([np.zeros(2), grid]).T))
    tokio = _made(lambda file: _tokio(file, np.abs(grid), columns=_OSTS, steps=steps[:-1]))
    expected = {
        (name.decode(), step): grid[place, column] for place, step in enumerate(steps[:-1]) for column, name in enumerate(_OSTS)
    }
    for data in (pylmt, tokio):
        rows = reported(read(data).tables["lustre_rate"])
        assert expected == {(row["target"], int(row["begin_at"].timestamp())): row["rate"] for row in rows}


def _external_link(file: h5py.File, elsewhere: Path) -> None:
    _tokio(file, [[1.0], [2.0]])
    del file["datatargets/readrates"]
    file["datatargets/readrates"] = h5py.ExternalLink(str(elsewhere), "datatargets/readrates")


def _linked_group(file: h5py.File, elsewhere: Path) -> None:
    file["datatargets"] = h5py.ExternalLink(str(elsewhere), "datatargets")


def _soft_link(file: h5py.File, _: Path) -> None:
    _external_link(file, Path("none"))
    del file["datatargets/readrates"]
    file["datatargets/readrates"] = h5py.SoftLink("/datatargets/readrates")


def _external_storage(file: h5py.File, elsewhere: Path) -> None:
    _tokio(file, [[1.0], [2.0]])
    del file["datatargets/readrates"]
    file["datatargets"].create_dataset("readrates", (2, 1), np.float64, external=[(str(elsewhere), 0, 16)])


def _virtual(file: h5py.File, elsewhere: Path) -> None:
    _tokio(file, [[1.0], [2.0]])
    del file["datatargets/readrates"]
    layout = h5py.VirtualLayout((2, 1), np.float64)
    layout[:] = h5py.VirtualSource(str(elsewhere), "datatargets/readrates", (2, 1))
    file["datatargets"].create_virtual_dataset("readrates", layout)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (_external_link, "datatargets/readrates is a link to somewhere else, which is not followed."),
        (_linked_group, "The file has none of TOKIO's data sets of bytes or operations."),
        (_soft_link, "datatargets/readrates is a link to somewhere else, which is not followed."),
        (_external_storage, "datatargets/readrates has its numbers in other files, which are not read."),
        (_virtual, "datatargets/readrates has its numbers in other files, which are not read."),
    ],
)
def test_other_files_are_not_read(tmp_path: Path, make: Callable[[h5py.File, Path], None], reason: str) -> None:
    """A file that points at another is refused, though that other is there and sound."""
    elsewhere = tmp_path / "elsewhere.h5"
    elsewhere.write_bytes(_made(lambda file: _tokio(file, [[1.0], [2.0]])))
    with pytest.raises(UnreadableError) as refused:
        read(_made(lambda file: make(file, elsewhere)))
    assert reason == refused.value.reason


def _sized(shape: tuple[int, ...], **how: Any) -> Callable[[h5py.File], None]:
    def make(file: h5py.File) -> None:
        _tokio(file, [[1.0], [2.0]])
        del file["datatargets/readrates"]
        file["datatargets"].create_dataset("readrates", shape, np.float64, **how)

    return make


_UNKNOWN_PACKING = (
    "datatargets/readrates has filters that are not supported: only gzip, shuffle and fletcher32 are read, each once."
)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (_sized((2, 1 << 40), chunks=(1, 1000)), "datatargets/readrates claims more than 50,000,000 values."),
        (
            _sized((2, 1), chunks=(1, 100_000_000), maxshape=(2, None)),
            "datatargets/readrates claims more than 50,000,000 values.",
        ),
        (_sized((2, 1), chunks=(2, 1), compression="lzf"), _UNKNOWN_PACKING),
        (_sized((2, 1), chunks=(2, 1), scaleoffset=2), _UNKNOWN_PACKING),
    ],
)
def test_memory_is_bounded(make: Callable[[h5py.File], None], reason: str) -> None:
    """What claims to be large, or may become so when it is unpacked, is refused before it is read."""
    with pytest.raises(UnreadableError) as refused:
        read(_made(make))
    assert reason == refused.value.reason


def test_many_data_sets_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Data sets that are small enough each are refused where they are too large together."""
    monkeypatch.setattr(hdf5, "_MOST_VALUES", 12)

    def make(file: h5py.File) -> None:
        _tokio(file, [[1.0] * 4] * 2, columns=[b"a", b"b", b"c", b"d"])
        file["datatargets/writerates"] = file["datatargets/readrates"]

    with pytest.raises(UnreadableError) as refused:
        read(_made(make))
    assert "The file claims more than 12 values." == refused.value.reason


def test_stored_chunks_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk that takes much room in the file may take a thousand times as much once unpacked, and is refused."""
    monkeypatch.setattr(hdf5, "_MOST_STORED_CHUNK_BYTES", 64)
    noise = np.random.default_rng(1).random((100, 1))

    def make(file: h5py.File) -> None:
        _tokio(file, noise)
        attributes = dict(file["datatargets/readrates"].attrs)
        del file["datatargets/readrates"]
        dataset = file["datatargets"].create_dataset("readrates", data=noise, chunks=(100, 1), compression="gzip")
        dataset.attrs.update(attributes)

    with pytest.raises(UnreadableError) as refused:
        read(_made(make))
    expected = "datatargets/readrates has a chunk of more than 64 bytes, which may be endless once unpacked."
    assert expected == refused.value.reason


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (
            lambda file: _tokio(file, [[1.0], [2.0]], columns=[b"a", b"b"]),
            "The attribute columns of /datatargets/readrates does not hold 1 names of fixed width.",
        ),
        (
            lambda file: _tokio(file, [[1.0], [2.0]], columns=np.array(["a"], object)),
            "The attribute columns of /datatargets/readrates does not hold 1 names of fixed width.",
        ),
        (
            lambda file: _tokio(file, [[1.0], [2.0]], unit=None),
            "datatargets/readrates does not say that it is in bytes or bytes/sec.",
        ),
        (
            lambda file: _tokio(file, [[1.0], [2.0]], unit="UNKNOWN"),
            "datatargets/readrates does not say that it is in bytes or bytes/sec.",
        ),
        (
            lambda file: _tokio(file, [[1.0]]),
            "datatargets/readrates has fewer than two time stamps, so its rates have no interval.",
        ),
        (
            lambda file: _tokio(file, [[1.0], [2.0]], steps=[_BEGIN]),
            "datatargets/readrates does not have a row for each of its group's time stamps.",
        ),
        (lambda file: _tokio(file, [[1.0], [2.0]], steps=[-5, 5]), "The times of samples are not seconds since 1970."),
        (lambda file: _tokio(file, [[1.0], [2.0]], steps=[2**62, 2**62 + 1]), "The times of samples are not seconds since 1970."),
        (lambda file: _tokio(file, [[1.0], [2.0]], steps=[1.0, np.nan]), "The times of samples are not seconds since 1970."),
        (lambda file: _tokio(file, np.array([[b"a"], [b"b"]])), "datatargets/readrates is not a data set of numbers."),
        (lambda file: _tokio(file, [1.0, 2.0]), "datatargets/readrates does not have a row for each of its group's time stamps."),
        (
            lambda file: _pylmt(file, [_BEGIN, _BEGIN + 5], [[0.0], [1.0]]),
            "/OSTReadGroup/OSTBulkReadDataSet does not have a column for each of 2 steps in time.",
        ),
        (
            lambda file: _pylmt(file, [_BEGIN], [[0.0], [1.0]]),
            "The file has fewer than two time steps, so its rates have no interval.",
        ),
        (
            lambda file: _pylmt(file, [_BEGIN, _BEGIN + 5], [[0.0, 1.0], [0.0, 1.0]], missing=[[0]]),
            "The marks of missing values and the rates differ in shape.",
        ),
        (lambda file: file.create_group("FSStepsGroup"), "The file has no time steps."),
        (lambda file: file.create_dataset("FSStepsGroup/FSStepsDataSet", data=[1, 2]), "The file has no rates of OSTs."),
    ],
)
def test_what_cannot_be_understood(make: Callable[[h5py.File], None], reason: str) -> None:
    """What does not say what its numbers are of, in which unit and when, is refused with the reason."""
    with pytest.raises(UnreadableError) as refused:
        read(_made(make))
    assert reason == refused.value.reason


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # The free space at the heap's end, of 4096 bytes less 16 of the heap and 32 of the text: none, and less than its head.
        (struct.pack("<QQ", 0, 4048), bytes(16)),
        (struct.pack("<QQ", 0, 4048), struct.pack("<QQ", 0, 15)),
        # Heaps that lie over each other, so that to walk along them takes the square of the file's length.
        (bytes(1920), b"".join(struct.pack("<H6xQ4s4xQ", 1, 16, b"GCOL", 1904 - 32 * i) for i in range(60))),
    ],
)
def test_heaps_without_end(old: bytes, new: bytes) -> None:
    """A heap in which HDF5 would walk for ever is refused."""

    def make(file: h5py.File) -> None:
        _tokio(file, [[1.0], [2.0]], unit=None)
        # A text of any width lies in a heap.
        file["datatargets/readrates"].attrs["units"] = "bytes/sec"

    sound = _made(make)
    assert 2 == len(read(sound).tables["lustre_rate"])
    assert old in sound
    with pytest.raises(UnreadableError) as refused:
        read(sound.replace(old, new, 1))
    assert "The file has a damaged heap." == refused.value.reason


_SOUND = {
    "h5lmt": _made(lambda file: _pylmt(file, [_BEGIN + 5 * i for i in range(4)], [[0, 1, 2, 3]] * 2, operations=[[0, 1, 2, 3]])),
    "tokio": _made(lambda file: _tokio(file, [[1.0], [2.0], [3.0]])),
}


@settings(max_examples=150)
@examples(st.sampled_from(sorted(_SOUND)), DAMAGES)
def test_damage(kind: str, damage: Any) -> None:
    """Whatever happens to the bytes, the file is read or refused."""
    source = source_of(_SOUND[kind])
    assert outcome(source, _SOUND[kind], damage) in ("read", "refused")
