"""Damage by chance: whatever happens to a log's bytes, reading ends soon, ends well, and never makes rows up."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import SHARED_DATA
from writing import (
    Blueprint,
    Module,
    Segment,
    dxt_record,
    heatmap_record,
    lustre_v2_record,
    mdhim_record,
    name,
    posix_record,
    write,
)

from iomine.errors import UnreadableError
from iomine.sources.darshan import Log
from iomine.sources.darshan.container import open_container

_ONE = Segment(0, 10, 1.0, 2.0)
_BUILT = {
    f"{order}{compression}": write(
        Blueprint(
            {
                "POSIX": Module(4, [posix_record(order), posix_record(order, rank=1)]),
                "LUSTRE": Module(2, [lustre_v2_record(order, [[1], [2, 3]])]),
                "STDIO": Module(2, [bytes(248)]),
                "DXT_POSIX": Module(1, [dxt_record(order, [_ONE] * 3), dxt_record(order, [], [_ONE], rank=1)]),
                "MDHIM": Module(1, [mdhim_record(order, [1, 2])]),
                "HEATMAP": Module(1, [heatmap_record(order, [1, 2], [3, 4])]),
                "DFS": Module(1, [bytes(584)]),
            },
            order=order,
            compression=compression,
            names=name(order, 5, b"/scratch/a") + name(order, 6, b"/scratch/b"),
        )
    )
    for order in "<>"
    for compression in ("zlib", "bzip2")
}
# Real logs that are small and hold old versions, traces, MPI calls or layouts of several components.
_REAL = (
    "darshan-ruby/ior_dxt.darshan",
    "darshan-logs/apmpi_apxc/mpi-io-test.darshan",
    "darshan-logs/release_logs/mpi-io-test-ppc64-3.1.3.darshan",
    "darshan-logs/release_logs/mpi-io-test-x86_64-3.4.7.darshan",
)
_FLIPS = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 7)), min_size=1, max_size=4)

Read = Callable[..., Log]


def _logs() -> list[Any]:
    real = [SHARED_DATA / "darshan" / file for file in _REAL]
    return [
        *(pytest.param(data, id=label) for label, data in _BUILT.items()),
        *(pytest.param(path.read_bytes(), id=path.name) for path in real if path.exists()),
    ]


def _rows(log: Log, table: str) -> list[dict[str, Any]]:
    return log.table(table).drop_columns("log_id").to_pylist()


def _check_what_is_read(original: Log, log: Log) -> None:
    """What is said to be read is what the sound log holds, and what is left of the rest is the beginning of it."""
    whole = {module.region.module: module.record_count for module in original.modules}
    for module in log.modules:
        assert module.state in ("read", "unsound")
        assert module.record_count == whole[module.region.module] or module.state == "unsound"
    for table in log.tables.keys() - {"module"}:
        for layer in {row.get("layer") for row in _rows(log, table)}:
            kept, sound = ([row for row in _rows(each, table) if row.get("layer") == layer] for each in (log, original))
            assert repr(sound[: len(kept)]) == repr(kept), table


@pytest.mark.parametrize("data", _logs())
@settings(deadline=2000, max_examples=30)
@given(fraction=st.floats(0, 1, exclude_max=True))
def test_cut_anywhere(data: bytes, fraction: float, read: Read) -> None:
    """A log that is cut anywhere is refused, or gives the beginning of its rows and says which modules are not whole."""
    try:
        log = read(data[: int(fraction * len(data))])
    except UnreadableError:
        return
    _check_what_is_read(read(data), log)
    assert log.doubt != "" or any(module.state != "read" for module in log.modules)


@pytest.mark.parametrize("data", _logs())
@settings(deadline=2000, max_examples=40)
@given(flips=_FLIPS)
def test_flips_after_the_header(data: bytes, flips: list[tuple[float, int]], read: Read) -> None:
    """Bits that flip in compressed bytes are caught by their checksum: no row of a stream that they damaged is given."""
    start = open_container(data).job_at
    damaged = bytearray(data)
    for fraction, bit in flips:
        damaged[start + int(fraction * (len(data) - start))] ^= 1 << bit
    try:
        log = read(bytes(damaged))
    except UnreadableError:
        return
    _check_what_is_read(read(data), log)


@pytest.mark.parametrize("data", _logs())
@settings(deadline=2000, max_examples=60)
@given(flips=_FLIPS)
def test_flips_in_the_header(data: bytes, flips: list[tuple[float, int]], read: Read) -> None:
    """Bits that flip in the header, which nothing guards, end in a refusal or in a log, never in another failure."""
    start = open_container(data).job_at
    damaged = bytearray(data)
    for fraction, bit in flips:
        damaged[int(fraction * start)] ^= 1 << bit
    try:
        log = read(bytes(damaged))
    except UnreadableError:
        return
    assert {module.state for module in log.modules} <= {"read", "unsound", "unsupported"}


@settings(deadline=2000, max_examples=200)
@given(
    module=st.sampled_from(["POSIX", "LUSTRE", "STDIO", "DXT_POSIX", "DXT_MPIIO", "MDHIM", "HEATMAP", "APMPI", "APXC", "DFS"]),
    version=st.integers(0, 4),
    order=st.sampled_from("<>"),
    data=st.binary(max_size=400)
    | st.lists(st.sampled_from([0, 1, 2, 5, -1, 2**40, -(2**63)]), max_size=60).map(
        lambda values: b"".join(value.to_bytes(8, "little", signed=True) for value in values)
    ),
)
def test_any_bytes_as_records(module: str, version: int, order: str, data: bytes, read: Read) -> None:
    """Records made of anything give a state and no failure; a state that is not `read` has a reason, and only such a one."""
    log = read(Blueprint({module: Module(version, [data])}, order=order))
    assert [("read" if state.reason == "" else state.state) for state in log.modules] == [state.state for state in log.modules]


@settings(deadline=2000, max_examples=100)
@given(region=st.binary(max_size=200), order=st.sampled_from("<>"), version=st.sampled_from(["3.41", "3.10", "3.00"]))
def test_any_bytes_as_names(region: bytes, order: str, version: str, read: Read) -> None:
    """Name records made of anything give names that are text, one for each id, and no failure."""
    ids = [row["file_id"] for row in _rows(read(Blueprint(names=region, order=order, version=version)), "file_name")]
    assert len(set(ids)) == len(ids)


@settings(deadline=2000, max_examples=100)
@given(tail=st.binary(max_size=300), has_numbers=st.booleans())
def test_any_bytes_as_job(tail: bytes, has_numbers: bool, read: Read) -> None:
    """A job region made of anything is refused in words, or gives texts."""
    numbers = b"".join(value.to_bytes(8, "little") for value in (1, 1_700_000_000, 0, 1_700_000_100, 0, 4, 7))
    try:
        log = read(Blueprint(job=numbers + tail if has_numbers else tail))
    except UnreadableError:
        return
    assert "\0" not in log.job.exe
