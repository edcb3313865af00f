"""Archives of readings: members with their own paths, and what hostile ones come to."""

import io
import tarfile
from pathlib import Path

import pytest

from iomine.sources import archive
from iomine.sources.archive import Member, Unread, is_archive, members

_MODES = ("w", "w:gz", "w:bz2", "w:xz")


def header(name: str, size: int = 0, **reported: object) -> tarfile.TarInfo:
    """A header of a member."""
    info = tarfile.TarInfo(name)
    info.size = size
    for attribute, value in reported.items():
        setattr(info, attribute, value)
    return info


def archived(path: Path, *entries: tuple[tarfile.TarInfo, bytes], mode: str = "w", format_: int = tarfile.GNU_FORMAT) -> Path:
    """An archive of these members."""
    with tarfile.open(path, mode, format=format_) as file:  # type: ignore[call-overload]
        for info, data in entries:
            file.addfile(info, io.BytesIO(data))
    return path


def reported(path: Path) -> list[tuple[str, bytes | str]]:
    """Paths of members below the archive, each with its bytes or the reason why it has none."""
    return [
        (each.path.removeprefix(str(path)), each.data if isinstance(each, Member) else each.error.reason)
        for each in members(path)
    ]


@pytest.mark.parametrize("mode", _MODES)
@pytest.mark.parametrize("format_", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_members_are_listed_each_with_its_path(tmp_path: Path, mode: str, format_: int) -> None:
    """However an archive is written and packed; folders and what a dot hides are none of its members."""
    long = "/".join(["d" * 40] * 3)
    path = archived(
        tmp_path / "a",
        (header("day", type=tarfile.DIRTYPE), b""),
        (header("day/1400", 3, mtime=1_767_621_600), b"one"),
        (header("day/.hidden", 1), b"x"),
        (header(f"{long}/1410", 3), b"two"),
        mode=mode,
        format_=format_,
    )
    assert is_archive(path)
    assert [("/day/1400", b"one"), (f"/{long}/1410", b"two")] == reported(path)
    assert [(0, 1_767_621_600.0), (1, 0.0)] == [
        (each.number, each.modified_at.timestamp()) for each in members(path) if isinstance(each, Member)
    ]


def test_paths_are_texts_and_nothing_is_followed(tmp_path: Path) -> None:
    """Names that climb or begin at the root read no other file, links and devices are reported, and nothing appears on disk."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    path = archived(
        tmp_path / "a.tar",
        (header("../../etc/passwd", 1), b"p"),
        (header("/proc/fs/lustre/x", 1), b"q"),
        (header("link", type=tarfile.SYMTYPE, linkname=str(secret)), b""),
        (header("hard", type=tarfile.LNKTYPE, linkname="/proc/fs/lustre/x"), b""),
        (header("pipe", type=tarfile.FIFOTYPE), b""),
        (header("disk", type=tarfile.BLKTYPE), b""),
        (header("last", 1), b"z"),
    )
    no_file = "This is not a regular file."
    expected: list[tuple[str, bytes | str]] = [("/../../etc/passwd", b"p"), ("//proc/fs/lustre/x", b"q")]
    expected += [(f"/{name}", no_file) for name in ("link", "hard", "pipe", "disk")]
    assert [*expected, ("/last", b"z")] == reported(path)
    assert {"a.tar", "secret"} == {each.name for each in tmp_path.iterdir()}


_GOOD = header("good", 4).tobuf(tarfile.GNU_FORMAT) + b"good".ljust(512, b"\0")


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (header("x", 1 << 40).tobuf(tarfile.GNU_FORMAT), "more than 1.0 GiB"),
        (header("x", 1, pax_headers={"size": "9" * 18}).tobuf(tarfile.PAX_FORMAT), "more than 1.0 GiB"),
        (header("x", 1 << 40, type=tarfile.GNUTYPE_LONGNAME).tobuf(tarfile.GNU_FORMAT), "a header has a size of"),
        (header("x", 1 << 20, type=tarfile.XHDTYPE).tobuf(tarfile.GNU_FORMAT), "a header has a size of"),
        (header("x", -512).tobuf(tarfile.GNU_FORMAT), "a header has a size of"),
        (b"\xff" * 512, "cannot be unpacked"),
        (header("x", 99).tobuf(tarfile.GNU_FORMAT) + b"cut", "cannot be unpacked"),
        (header("x", mtime=1 << 60).tobuf(tarfile.GNU_FORMAT), "Its modification time is not valid."),
        (b"x" * 100, "cannot be unpacked"),
    ],
)
def test_damage_is_reported_and_what_was_before_it_stays(tmp_path: Path, bad: bytes, reason: str) -> None:
    """An archive that lies about sizes, is damaged or ends early gives the members before that, and says why it ends."""
    path = tmp_path / "a"
    path.write_bytes(_GOOD + bad)
    first, second, *_ = reported(path)
    assert ("/good", b"good") == first
    assert reason in str(second[1])


@pytest.mark.parametrize(
    ("name", "limit", "reported_count"),
    [("_MOST_MEMBERS", 2, 2), ("_LARGEST_UNPACKED_BYTES", 3 * 10_240, 0), ("LARGEST_BYTES", 0, 0)],
)
def test_archives_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, limit: int, reported_count: int
) -> None:
    """More members or bytes than an archive may have are left out, and that is reported."""
    monkeypatch.setattr(archive, name, limit)
    path = archived(tmp_path / "a", *((header(str(number), 1 << 16), bytes(1 << 16)) for number in range(4)), mode="w:gz")
    found = list(members(path))
    assert reported_count == sum(isinstance(each, Member) for each in found)
    assert "limit" in found[-1].error.reason if isinstance(found[-1], Unread) else ""


@pytest.mark.parametrize("cut", [30, 60, 90])
def test_a_torn_archive_says_so(tmp_path: Path, cut: int) -> None:
    """A packed archive whose end is missing is a reason, not an end like any other."""
    path = archived(tmp_path / "a.tar.gz", (header("x", 5000), bytes(range(250)) * 20), mode="w:gz")
    path.write_bytes(path.read_bytes()[:-cut])
    assert "cannot be unpacked" in str(reported(path)[-1][1])


@pytest.mark.parametrize("content", [b"", bytes(1024), b"job_stats:\n" * 100, b"\x1f\x8b\x08torn"])
def test_other_files_are_no_archives(tmp_path: Path, content: bytes) -> None:
    """A text, an empty file or one that is torn is none."""
    (tmp_path / "x").write_bytes(content)
    assert not is_archive(tmp_path / "x")
