"""Damage by chance and on purpose: reading ends soon and well, whatever a text holds."""

import time

import pytest
from dialects import DIALECTS, Counter, Entry, write
from hypothesis import given
from hypothesis import strategies as st
from reading import an_input, read, rows, source_of, tried

from iomine.errors import UnreadableError
from iomine.sources.lustre import SOURCES

_NANO = 10**9
_JOBS = write(
    DIALECTS[-1],
    [Entry(b"a b", 1_700_000_000 * _NANO, 1_600_000_000 * _NANO, [Counter("read_bytes", "bytes", 3, (1, 9, 15, 99), {3: 3})])],
    "obdfilter.fs-OST0001.job_stats",
)
_TEXTS = (
    _JOBS,
    b"mdt.fs-MDT0000.md_stats=\nsnapshot_time   1700000000.1 secs.nsecs\nopen     5 samples [usecs] 1 2 3 4\nnum_exports=3\n",
    b"snapshot_time:   1700000000.1 (secs.usecs)\n\n  read |  write\nI/O size  ios  % cum % |  ios  % cum %\n4K: 1 1 1 | 2 2 2\n",
    b"BEGIN 1700000000\nUUID     1K-blocks   Used Available Use% Mounted on\nfs-OST0000_UUID 9 6 3  67% /x[OST:0]\n",
    b"/x\nlmm_stripe_count:  2\n",
    b"net:\n    - net type: lo\n",
    b"  0 UP mgc MGC10.1@o2ib x 5\n",
)
_PATHS = st.sampled_from(["/proc/fs/lustre/obdfilter/fs-OST0000/stats", "/x/fs-MDT0001_md_stats", "", "/2026-01-05/1410.txt"])


@st.composite
def _damaged(draw: st.DrawFn) -> bytes:
    data = bytearray(draw(st.sampled_from(_TEXTS)))
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(data)))
        end = draw(st.integers(at, min(len(data), at + 40)))
        data[at:end] = draw(
            st.one_of(st.binary(max_size=8), st.sampled_from([b"\n", b"\0", b"=", b"9" * 30, b"-", bytes(data[:end])]))
        )
    return bytes(data)


@given(_damaged(), _PATHS)
@pytest.mark.proof
def test_damage(data: bytes, path: str) -> None:
    """Whichever reader is asked, it reads or says why it cannot."""
    source = an_input(data, path)
    for reader in SOURCES:
        reader.knows(source)
        got, reason = tried(reader, source)
        assert not (reason and got.tables)
        assert all(table.num_rows and table.schema.names[-1] == "night" for table in got.tables.values())


@given(st.binary(), _PATHS)
def test_garbage(data: bytes, path: str) -> None:
    """Garbage is known to no reader of content, and ends none with anything but a reason."""
    source = an_input(data, path)
    reader = source_of(source)
    assert (None if "/proc/" not in path else "parameter") == (reader and reader.kind)
    for each in SOURCES:
        with pytest.raises(UnreadableError):
            each.read(source)


@pytest.mark.proof
@pytest.mark.parametrize("cut", range(1, len(_JOBS)))
def test_job_stats_that_are_cut(cut: int) -> None:
    """A text that ends early gives what was whole, or nothing; right after its head it looks like one without jobs."""
    source = an_input(_JOBS[:cut])
    reader = source_of(source)
    is_whole = cut >= len(_JOBS) - len("\n")
    got = rows(tried(reader, source)[0]) if reader else []
    assert [row for row in got if "counter" in row] == (rows(read(_JOBS)) if is_whole else [])
    assert _JOBS[:cut].rstrip().endswith(b"job_stats:") == any("counter" not in row for row in got)


def test_ids_of_any_length_and_bytes() -> None:
    """Ids are kept as they are, however long, with bytes that are no UTF-8 as escapes."""
    for job_id in (b"x" * 4096, b"\xff\0\xc3\xbc", b"a=b.job_stats=", b"- job_id:          y", b"", b" {} "):
        entry = Entry(job_id, _NANO * 1_700_000_000, _NANO * 1_700_000_000, [Counter("punch", "usecs", 1)])
        for dialect in DIALECTS[:2] + DIALECTS[3:]:
            assert [job_id.decode("utf-8", "backslashreplace")] == [row["owner"] for row in rows(read(write(dialect, [entry])))]


def test_joined_texts_without_names() -> None:
    """The jobs of several targets without names are of no known target, whatever the path says."""
    _, _, jobs = _JOBS.partition(b"\n")
    path = "/2026-01-05/1410/fs-OST0003"
    alone, joined = read(jobs, path), read(jobs * 2, path)
    assert (["fs-OST0003"], "") == ([row["target"] for row in rows(alone)], alone.doubt)
    # A counter and a bucket of each.
    assert (["", ""], "rows of a target that neither content nor path names: 4") == (
        [row["target"] for row in rows(joined)],
        joined.doubt,
    )


@pytest.mark.proof
@pytest.mark.parametrize(
    "data",
    [
        b"job_stats:\n" + b"\n" * 4_000_000,
        b"mdt." + b"." * 3_000_000 + b"\njob_stats:\n",
        b"job_stats:" + b" " * 3_000_000 + b"x",
        b"obdfilter.a.stats=\n" + b"a." * 1_000_000 + b"=1\n",
        b"net:" + b"\n" * 900_000,
        b"net:\n" + b" - " * 900_000,
        b"job_stats:\n" + b"  read_bytes:      { samples: 1, unit: bytes, hist: {" * 50_000,
        b"job_stats:\n  read_bytes:      { samples: 1, unit: bytes, min: 1, max: 1, sum: 1, hist: { " + b"4K: 1, " * 300_000,
        b"snapshot_time 1\n" + b"a 1 samples [" + b"] 1" * 900_000,
        b"UUID 1K-blocks Used\n" + b"a 1 " * 900_000,
        b"x.y=\n" * 500_000 + b"job_stats:\n",
        b"memused=1\n" * 300_000,
    ],
)
def test_texts_that_would_take_long(data: bytes) -> None:
    """Time grows with the length of a text alone."""
    source = an_input(data)
    began = time.process_time()
    for reader in SOURCES:
        reader.knows(source)
        tried(reader, source)
    assert time.process_time() - began < 20
