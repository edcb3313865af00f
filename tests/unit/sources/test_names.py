"""Names of files and the mounts that they lie on."""

import struct
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from writing import Blueprint, name, write

from iomine.sources.darshan.names import MountTable
from iomine.units import KIB, MIB

_PARTS = st.sampled_from(["a", "b", "ab", "", ".", ".."])
_PATHS = st.lists(_PARTS, max_size=5).map(lambda parts: "/" + "/".join(parts))
_MOUNTS = st.lists(st.tuples(_PATHS, st.sampled_from(["ext4", "lustre", "nfs"])), max_size=6)


def _mount_by_hand(mounts: list[tuple[str, str]], path: str) -> tuple[str, str] | tuple[None, None]:
    """The longest mount that is the path or a folder above it; of two spellings of one, the one that was mounted last."""
    fitting = [
        (len(mount.rstrip("/")), number)
        for number, (mount, _) in enumerate(mounts)
        if path == mount.rstrip("/") or path.startswith(mount.rstrip("/") + "/")
    ]
    return mounts[max(fitting)[1]] if fitting else (None, None)


@given(_MOUNTS, st.lists(_PATHS, max_size=8))
def test_mounts_equal_brute_force(mounts: list[tuple[str, str]], paths: list[str]) -> None:
    """Each path lies on the mount that comparing it with every mount gives, whatever was asked before."""
    table = MountTable(mounts)
    assert [_mount_by_hand(mounts, path) for path in paths] == [table.of(path) for path in paths]


@pytest.mark.parametrize("path", ["", "<STDIN>", "heatmap:POSIX", "relative/file"])
def test_no_absolute_path_lies_on_no_mount(path: str) -> None:
    """What is no absolute path lies on no mount, not even on the root."""
    assert (None, None) == MountTable([("/", "ext4")]).of(path)


def test_neighbours_with_a_common_beginning() -> None:
    """A mount is a folder, not a beginning of a name: /scratch2 does not lie on /scratch."""
    table = MountTable([("/scratch", "lustre"), ("/", "ext4")])
    assert [("/scratch", "lustre"), ("/", "ext4"), ("/scratch", "lustre")] == [
        table.of(path) for path in ("/scratch/x", "/scratch2/x", "/scratch")
    ]


@pytest.mark.parametrize("order", ["<", ">"])
def test_names_as_users_write_them(order: str, read, rows) -> None:
    """Newlines, doubled slashes and invalid UTF-8 in a name stay in it, the latter as escapes; ids keep their bits."""
    texts = [b"/scratch//a//b", b"/scratch/new\nline", b"/scratch/\xff\xfe", "/scratch/ü".encode(), b"<STDOUT>"]
    ids = [1, -1, 2**62, -(2**63), 0]
    region = b"".join(name(order, id_, text) for id_, text in zip(ids, texts, strict=True))
    got = rows(read(Blueprint(order=order, names=region)), "file_name")
    assert ["/scratch//a//b", "/scratch/new\nline", "/scratch/\\xff\\xfe", "/scratch/ü", "<STDOUT>"] == [
        row["path"] for row in got
    ]
    assert ids == [row["file_id"] for row in got]
    assert ["/scratch"] * 4 + [None] == [row["mount"] for row in got]
    assert ["lustre"] * 4 + [None] == [row["fs_type"] for row in got]


def test_first_name_that_is_one_wins(read, rows) -> None:
    """Of several names of one record the first that is not empty counts, as libdarshan has it."""
    region = name("<", 1, b"") + name("<", 2, b"/b") + name("<", 1, b"/a") + name("<", 1, b"/c")
    assert {1: "/a", 2: "/b"} == {row["file_id"]: row["path"] for row in rows(read(Blueprint(names=region)), "file_name")}


def test_half_a_name_is_no_name(read, rows) -> None:
    """A name that nothing ends is left out; those before it stay."""
    region = name("<", 1, b"/a") + name("<", 2, b"/cut off")[:-3]
    assert ["/a"] == [row["path"] for row in rows(read(Blueprint(names=region)), "file_name")]


@pytest.mark.parametrize("length", [4, 5, 2**32 - 1])
def test_names_with_lengths(length: int, read, rows) -> None:
    """Format 3.00 wrote lengths; one that lies costs its name and those after it, never memory."""
    region = struct.pack("<qI", 1, 2) + b"/a" + struct.pack("<qI", 2, length) + b"/b\0\0"
    got = rows(read(Blueprint(version="3.00", names=region)), "file_name")
    assert {1: "/a", 2: "/b"} == {row["file_id"]: row["path"] for row in got}


def test_damaged_names_leave_the_records(read, rows) -> None:
    """Names that were cut off make the log doubtful; its job stays what it was."""
    whole = write(Blueprint(names=name("<", 1, b"/a")))
    log = read(whole[:-1])
    assert log.doubt == "file names are incomplete: the file ends 1 bytes before the region does"
    assert read(whole).job == log.job
    assert ["/a"] == [row["path"] for row in rows(log, "file_name")]


def test_a_name_of_half_a_million_folders(read, rows) -> None:
    """It is cut, with a word on that, and takes no more time and memory than it is long; a file of 3 kB took gigabytes once."""
    deep = b"/a" * 500_000
    tracemalloc.start()
    log = read(Blueprint(names=name("<", 5, deep) + name("<", 6, b"/scratch/x")))
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [len(row["path"]) for row in rows(log, "file_name")] == [64 * KIB, len("/scratch/x")]
    assert "1 file name cut to 64.0 KiB" == log.doubt
    assert most_bytes < 16 * MIB


def test_mounts_of_a_deep_path() -> None:
    """Nothing is climbed: a path of a megabyte is looked at once for each length that a mount has."""
    table = MountTable([("/a/a", "lustre"), ("/", "ext4"), ("/a" * 400_000, "nfs")])
    tracemalloc.start()
    assert [("/a/a", "lustre"), ("/", "ext4")] == [table.of("/a" * 390_000 + "/x"), table.of("/b" * 500_000)]
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most_bytes < 8 * MIB
