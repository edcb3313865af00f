"""Recorder's traces as Parquet: what calls asked for, and what cannot be known."""

import io
import tarfile
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from mutations import cut, other_bytes

from iomine.errors import UnreadableError
from iomine.sources.recorder import read_recorder

_CALL = {"rank": 0, "tstart": 1.0, "tend": 2.0, "func_id": "read", "file_name": "/a", "hostname": "n1", "size": 7}


def _part(*calls: dict[str, object]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([_CALL | call for call in calls]), sink)
    return sink.getvalue()


@pytest.fixture(scope="module")
def parts(shared_data: Path) -> list[bytes]:
    """The eight parts of a real trace."""
    with tarfile.open(shared_data / "traces" / "recorder" / "recorder-parquet.tar.gz") as archive:
        names = sorted(name for name in archive.getnames() if name.endswith(".parquet"))
        return [file.read() for name in names if (file := archive.extractfile(name))]


def test_sums_by_category(parts: list[bytes]) -> None:
    """Records, and calls and bytes of each category, are those that pyarrow adds up."""
    run = read_recorder(parts)
    table = pa.concat_tables([pq.read_table(io.BytesIO(part)) for part in parts])
    assert run.event_count == len(table) == 27_463
    assert run.nprocs == len(pc.unique(table["rank"]))
    (part,) = run.segments
    ops = pa.array(part["op"].to_pylist())
    for category, op in ((1, "read"), (2, "write")):
        expected = table.filter(pc.equal(table["io_cat"], category))
        found = part["length_bytes"].filter(pc.equal(ops, op))
        assert (len(found), pc.sum(found)) == (len(expected), pc.sum(expected["size"]))
    assert set(part["offset_bytes"].to_pylist()) == {-1}
    (posix, _) = run.calls
    for name, functions in (("open", ["open"]), ("close", ["close"]), ("stat", ["__xstat", "__fxstat"]), ("seek", ["lseek"])):
        expected = pc.sum(pc.is_in(table["func_id"].cast(pa.string()), pa.array(functions))).as_py()
        assert (posix.kinds == list(posix.names).index(name)).sum() == expected
    assert "known to 61 microseconds at its end" in run.doubt
    assert run.start_at is None


def test_localhost_is_no_host() -> None:
    """A host that calls itself as each does is not known; another is."""
    hosts = [read_recorder([_part({"hostname": host})]).segments[0]["host"].to_pylist() for host in ("localhost", "n1")]
    assert [[None], ["n1"]] == hosts


def test_what_cannot_be_is_left_out() -> None:
    """Calls with impossible numbers are counted, and a trace of mostly these is refused."""
    odd = ({"rank": -1}, {"tend": 0.5}, {"size": -5}, {"tstart": float("nan")}, {"file_name": "x" * 5000})
    run = read_recorder([_part({}, {}, {}, {}, {}, {}, *odd)])
    assert run.lost == "5 calls have times, ranks or sizes that cannot be and were left out"
    assert sum(run.segments[0]["length_bytes"].to_pylist()) == 6 * 7
    with pytest.raises(UnreadableError, match="More than half"):
        read_recorder([_part({}, *odd)])


@pytest.mark.parametrize("data", [b"", b"PAR1", b"x" * 100])
def test_damaged_parts_are_refused(data: bytes) -> None:
    """What is no Parquet, or lacks the columns, is refused."""
    with pytest.raises(UnreadableError):
        read_recorder([data])


def test_damage() -> None:
    """Parts that were damaged by chance are read or refused."""
    random, sound = Random(3), _part(*({"rank": rank} for rank in range(50)))
    for _ in range(100):
        damaged = random.choice((cut, other_bytes))(sound, random, (sound,))
        try:
            assert read_recorder([damaged]).nprocs > 0
        except UnreadableError:
            continue
