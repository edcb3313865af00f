"""Logs packed into tar files, unpacked, swept; and what killed writers, full disks and hostile archives leave."""

import fcntl
import io
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tarfile
import time
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from archive_mutations import outcomes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared import NOT_HERE, SHARED_DATA
from sweeping import judge_by_one, rows, write_no_reports
from typer.testing import CliRunner

from iomine.cli.app import build_app
from iomine.errors import OutputError, UnreadableError
from iomine.pipeline import packing
from iomine.pipeline.ingest.find import find_logs
from iomine.pipeline.packing import pack, unpack
from iomine.pipeline.sweep import Settings, Summary, run
from iomine.sources.darshan.packed import BLOCK, GAP, INDEX, members, path_of, read_member
from iomine.units import MIB

NO_LIMIT = 1 << 40
IOMINE = (sys.executable, "-c", "from iomine.cli import main; main()")


def made(folder: Path, count: int, size: int = 3000, seed: int = 1) -> dict[str, bytes]:
    """Files that are called as logs are, by name."""
    chance = random.Random(seed)
    found = {f"d{k % 3}/u_x_id{k}_1-2-3-{seed}_1.darshan": chance.randbytes(chance.randrange(size)) for k in range(count)}
    for name, data in found.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return found


def contents(archive: Path) -> dict[str, bytes]:
    """Bytes of all members of an archive, by name; who cannot be read fails the test."""
    return {
        member.name: read_member(path_of(str(tar), member.name))
        for tar in sorted(archive.glob("*.tar"))
        for member in members(str(tar))
    }


def below(top: str, files: dict[str, bytes]) -> dict[str, bytes]:
    return {f"{top}/{name}": data for name, data in files.items()}


def tar_of(path: Path, *entries: tuple[tarfile.TarInfo, bytes], form: int = tarfile.GNU_FORMAT) -> Path:
    with tarfile.open(path, "w", format=form) as tar:
        for info, data in entries:
            info.size = len(data) if info.isreg() else 0
            tar.addfile(info, io.BytesIO(data) if info.isreg() else None)
    return path


def info(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname, found.mtime = kind, link, 1_700_000_000
    return found


def test_each_log_is_packed_once_and_every_tool_lists_it(tmp_path: Path) -> None:
    """Into three files, which tar lists; a second time nothing is packed, nor is a copy under another name."""
    files = made(tmp_path / "logs", 50)
    done = pack([tmp_path / "logs"], tmp_path / "a", 3)
    assert (done.packed, done.known, done.rejects) == (len({*files.values()}), 50 - len({*files.values()}), [])
    (tmp_path / "logs/copy.darshan").write_bytes(next(iter(files.values())))
    again = pack([tmp_path / "logs", tmp_path / "logs"], tmp_path / "a", 3)
    assert (again.packed, again.known) == (0, 51)
    assert below("logs", files) == contents(tmp_path / "a")
    tars = sorted((tmp_path / "a").glob("*.tar"))
    listed = [subprocess.run(["tar", "tf", tar], check=True, capture_output=True, text=True).stdout.split() for tar in tars]
    assert (3, sorted(below("logs", files))) == (len(tars), sorted(name for names in listed for name in names))


# Bytes of a name that are no UTF-8 become surrogates of this range, and no others.
_BYTES = st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF, categories=["Cs"])


@given(
    st.text(st.characters(min_codepoint=1, codec="utf-8") | _BYTES, min_size=1, max_size=120),
    st.integers(0, 8**12),
    st.integers(-1, 8**12),
    st.integers(0, 2**32),
    st.text(st.characters(min_codepoint=1, codec="utf-8"), max_size=31),
)
def test_headers_are_those_of_tarfile(name: str, size: int, modified_at: int, uid: int, owner: str) -> None:
    """Whether they are plain, or names and numbers need another form."""
    header = info(name, link=f"sha256:{'a' * 64}")
    header.size, header.mtime, header.uid, header.uname = size, max(modified_at, 0), uid, owner
    made_here = packing._header(name, size, modified_at=modified_at, uid=uid, owner=owner, link=header.linkname)
    try:
        expected = header.tobuf(tarfile.USTAR_FORMAT, "utf-8", "surrogateescape")
    except ValueError:
        expected = header.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
    assert expected == made_here


def test_the_index_can_be_made_anew(tmp_path: Path) -> None:
    """Without its index, or with one that is none, an archive gives the same logs, and packing writes the same index."""
    made(tmp_path / "logs", 30)
    pack([tmp_path / "logs"], tmp_path / "a", 2)
    before = pq.read_table(tmp_path / "a" / INDEX)
    with_index = contents(tmp_path / "a")
    (tmp_path / "a" / INDEX).write_bytes(b"no index")
    for tar in (tmp_path / "a").glob("*.tar"):
        os.utime(tar)
    assert with_index == contents(tmp_path / "a")
    pack([tmp_path / "logs"], tmp_path / "a", 2)
    assert before.equals(pq.read_table(tmp_path / "a" / INDEX))


def test_sources_go_only_when_they_were_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes that the disk changed keep their source."""
    files = made(tmp_path / "logs", 20, seed=2)
    real = packing._append

    def lying(path: Path, data: bytes) -> int:
        begin = real(path, data)
        with path.open("r+b") as file:
            file.seek(begin + BLOCK)
            file.write(b"\xff\xfe\xfd")
        return begin

    monkeypatch.setattr(packing, "_append", lying)
    done = pack([tmp_path / "logs"], tmp_path / "a", remove=True)
    left = {str(path.relative_to(tmp_path / "logs")) for path in (tmp_path / "logs").rglob("*.darshan")}
    ((path, reason),) = done.rejects
    assert (done.removed, "not the same" in reason, {path}) == (19, True, {str(tmp_path / "logs" / name) for name in left})
    assert left <= files.keys()


def test_a_source_that_changes_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was packed is not what is there."""
    made(tmp_path / "logs", 3)
    changing = tmp_path / "logs/d1/u_x_id1_1-2-3-1_1.darshan"
    real = packing._write_index

    def later(*given: object) -> object:
        changing.write_bytes(b"more")
        return real(*given)

    monkeypatch.setattr(packing, "_write_index", later)
    done = pack([tmp_path / "logs"], tmp_path / "a", remove=True)
    assert (done.removed, [path for path, _ in done.rejects], changing.read_bytes()) == (2, [str(changing)], b"more")


def test_a_full_disk_is_one_sentence_and_nothing_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The archive is as it was, and takes the logs once there is room."""
    files = made(tmp_path / "logs", 20)
    pack([tmp_path / "logs/d0"], tmp_path / "a")
    before = contents(tmp_path / "a")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", full)
        with pytest.raises(OutputError, match="No space left on device"):
            pack([tmp_path / "logs"], tmp_path / "a", remove=True)
    assert (before, len(files)) == (contents(tmp_path / "a"), len([*(tmp_path / "logs").rglob("*.darshan")]))
    pack([tmp_path / "logs"], tmp_path / "a", remove=True)
    assert {*files.values()} == {*contents(tmp_path / "a").values()}


_KILLED = """
import sys
from pathlib import Path
from iomine.pipeline import packing
packing._BATCH_BYTES = 20_000
print("ready", flush=True)
packing.pack([Path(sys.argv[1])], Path(sys.argv[2]), remove=True)
"""


def killed_while_packing(sources: list[Path], archive: Path, seconds: float) -> None:
    """Lets a process pack each source into one file, and ends all of them after so many seconds."""
    processes = [subprocess.Popen([sys.executable, "-c", _KILLED, source, archive], stdout=subprocess.PIPE) for source in sources]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    time.sleep(seconds)
    for process in processes:
        process.send_signal(signal.SIGKILL)
        process.communicate()


@pytest.mark.proof
def test_no_log_is_lost_or_torn_by_kills(tmp_path: Path) -> None:
    """Two who append to one file, killed at 25 moments each: what is gone from the folder is in the archive, whole."""
    chance = random.Random(7)
    expected: set[bytes] = set()
    for moment in range(25):
        sources = [tmp_path / f"logs{k}" for k in range(2)]
        for k, source in enumerate(sources):
            expected |= {*made(source, 60, seed=2 * moment + k).values()}
        killed_while_packing(sources, tmp_path / "a", chance.uniform(0, 0.15))
        there = {*contents(tmp_path / "a").values()} if (tmp_path / "a").exists() else set()
        left = {path.read_bytes() for source in sources for path in source.rglob("*.darshan")}
        assert (there | left, there - expected) == (expected, set())
    for source in sources:
        pack([source], tmp_path / "a", remove=True)
    assert expected == {*contents(tmp_path / "a").values()}
    assert not [*tmp_path.glob("logs*/**/*.darshan")]
    for tar in (tmp_path / "a").glob("*.tar"):
        subprocess.run(["tar", "tf", tar], check=True, capture_output=True)


def test_who_may_read_an_archive_cannot_make_its_writers_wait(tmp_path: Path) -> None:
    """Locks are on files of the owner, and none on a file that others may read."""
    made(tmp_path / "one", 3)
    made(tmp_path / "two", 3, seed=2)
    pack([tmp_path / "one"], tmp_path / "a")
    with ExitStack() as held:
        for path in (tmp_path / "a").iterdir():
            if path.stat().st_mode & 0o077:
                fcntl.flock(held.enter_context(path.open("rb")), fcntl.LOCK_EX)
        packed = subprocess.run([*IOMINE, "pack", tmp_path / "two", "--into", tmp_path / "a"], timeout=30, check=False)
    assert 0 == packed.returncode


@pytest.mark.parametrize("zeros", [BLOCK, 40 * BLOCK, 3 * MIB])
def test_room_that_was_taken_and_not_filled_is_a_gap(tmp_path: Path, zeros: int) -> None:
    """What follows is found; the next run makes it a member that other readers of tar pass."""
    first, second = made(tmp_path / "one", 5), made(tmp_path / "two", 5, seed=2)
    pack([tmp_path / "one"], tmp_path / "a")
    (tar,) = (tmp_path / "a").glob("*.tar")
    with tar.open("ab") as file:
        file.write(bytes(zeros))
    done = pack([tmp_path / "two"], tmp_path / "a")
    assert below("one", first) | below("two", second) == contents(tmp_path / "a")
    pack([tmp_path / "two"], tmp_path / "a")
    listed = subprocess.run(["tar", "tf", tar], check=True, capture_output=True, text=True).stdout.split()
    assert (1, 10, [GAP]) == (done.gaps, len(listed) - 1, [name for name in listed if "darshan" not in name])


@pytest.mark.proof
def test_packed_logs_are_swept_as_those_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal rows but for paths, and in a second sweep of either all are known."""
    logs = SHARED_DATA / "darshan/darshan-ruby"
    if not logs.exists():
        pytest.skip(NOT_HERE)
    judge_by_one(monkeypatch)
    pack([logs], tmp_path / "a", 2)

    def swept(warehouse: str, paths: Path) -> Summary:
        return run(Settings((paths,), tmp_path / warehouse, workers=1))

    of_folder, of_archive = swept("folder", logs), swept("packed", tmp_path / "a")
    assert of_folder.ingested == of_archive.ingested > 0
    asked = "SELECT * EXCLUDE (path) FROM logs ORDER BY log_id"
    assert rows(tmp_path / "folder", asked) == rows(tmp_path / "packed", asked)
    assert all(".tar#" in row["path"] for row in rows(tmp_path / "packed", "SELECT path FROM logs"))
    assert [of_folder.ingested] * 2 == [swept("packed", paths).known for paths in (logs, tmp_path / "a")]


@pytest.fixture
def two_nights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a log of 2015 and one of 2017, and a warehouse whose site has old logs packed."""
    logs = SHARED_DATA / "darshan/darshan-ruby"
    if not logs.exists():
        pytest.skip(NOT_HERE)
    judge_by_one(monkeypatch)
    write_no_reports(monkeypatch)
    (tmp_path / "logs/deep").mkdir(parents=True)
    for log in logs.iterdir():
        (tmp_path / "logs/deep" / log.name).write_bytes(log.read_bytes())
    (tmp_path / "w").mkdir()
    (tmp_path / "w/retention.toml").write_text(f'[pack]\nafter_days = 1\ninto = "{tmp_path}/old"\nremove = true\n')
    return tmp_path


def swept_with_settings(folder: Path) -> Summary:
    paths = tuple(path for path in (folder / "logs", folder / "old") if path.exists())
    return run(Settings(paths, folder / "w", workers=1))


@pytest.mark.proof
def test_a_sweep_packs_logs_past_their_days(two_nights: Path) -> None:
    """The old one goes from the folder into the archive, where the next sweep knows it; the newest night stays."""
    old, new = "logs/deep/ior1.darshan", "logs/deep/ior_dxt.darshan"
    data = (two_nights / old).read_bytes()
    first = swept_with_settings(two_nights)
    assert (2, 1, 1, ()) == (first.ingested, first.packed, first.removed, first.unpacked)
    assert (False, True, {old: data}) == ((two_nights / old).exists(), (two_nights / new).exists(), contents(two_nights / "old"))
    again = swept_with_settings(two_nights)
    assert (2, 2, 0, 0, 0) == (again.found, again.known, again.rejected, again.packed, again.removed)


@pytest.mark.proof
def test_a_sweep_packs_only_what_it_has_read(two_nights: Path) -> None:
    """A log that is known leaves as well; a file that is no log stays, and one that changed since is left for the next."""
    (two_nights / "w/retention.toml").rename(two_nights / "later.toml")
    (two_nights / "logs/none.darshan").write_bytes(b"no log")
    assert (2, 1, 0) == ((none := swept_with_settings(two_nights)).ingested, none.rejected, none.packed)
    (two_nights / "later.toml").rename(two_nights / "w/retention.toml")
    assert (2, 1, 1) == ((known := swept_with_settings(two_nights)).known, known.rejected, known.packed)
    assert {"none.darshan", "ior_dxt.darshan"} == {path.name for path in (two_nights / "logs").rglob("*.darshan")}
    changed = two_nights / "logs/none.darshan"
    done = packing.pack_each([packing.ToPack(str(changed), "x.darshan", "0" * 64)], two_nights / "other", remove=True)
    ((_, reason),) = done.rejects
    assert (0, 0, True, True) == (done.packed, done.removed, "changed since it was read" in reason, changed.exists())


@pytest.mark.proof
def test_a_sweep_ends_well_where_packing_cannot(two_nights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is a warning: the logs are read and published, and stay where they are; the next sweep packs them."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", full)
        done = swept_with_settings(two_nights)
    (fault,) = done.unpacked
    assert (2, 0, 0, True) == (done.ingested, done.packed, done.removed, "No space left on device" in fault)
    assert 2 == len([*(two_nights / "logs").rglob("*.darshan")])
    assert (1, 1, ()) == ((again := swept_with_settings(two_nights)).packed, again.removed, again.unpacked)


def test_hostile_members_are_candidates_or_nothing(tmp_path: Path) -> None:
    """Links, devices and folders are passed over, long and repeated names stay apart, and nothing is opened but the archive."""
    long = "d" * 200 + "/" + "n" * 300 + ".darshan"
    archive = tar_of(
        tmp_path / "x.tar",
        (info("../../etc/a.darshan"), b"one"),
        (info("a.darshan", tarfile.SYMTYPE, "/etc/passwd"), b""),
        (info("b.darshan", tarfile.LNKTYPE, "../../etc/a.darshan"), b""),
        (info("c.darshan", tarfile.CHRTYPE), b""),
        (info("d.darshan/", tarfile.DIRTYPE), b""),
        (info("notes.txt"), b"text"),
        (info(long), b"two"),
        (info("same.darshan"), b"three"),
        (info("same.darshan"), b"four"),
        (info("new\nline.darshan"), b"five"),
    )
    found = [path.removeprefix(f"{archive}#") for path in (each.path for each in find_logs([archive], NO_LIMIT))]
    assert ["../../etc/a.darshan", long, "same.darshan", "new\nline.darshan"] == [name for name in found if "@" not in name]
    assert [b"one", b"two", b"three", b"four", b"five"] == [read_member(path_of(str(archive), name)) for name in found]
    done = unpack(archive, tmp_path / "out")
    written = {
        str(path.relative_to(tmp_path / "out")): path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()
    }
    assert {"etc/a.darshan": b"one", "notes.txt": b"text"}.items() <= written.items()
    assert ([], []) == ([*tmp_path.glob("etc")], [path for path in tmp_path.rglob("*") if path.is_symlink()])
    assert {"No file can have its name (File name too long)."} == {reason for _, reason in done.rejects}


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_archives_of_other_programs_are_read(tmp_path: Path, form: int) -> None:
    """Long names of both kinds, and no digest."""
    name = "/".join(["folder" * 5] * 6) + "/é.darshan"
    archive = tar_of(tmp_path / "x.tar", (info(name), b"log"), form=form)
    (member,) = members(str(archive))
    assert (name, 3, "") == (member.name, member.size_bytes, member.sha256)
    assert b"log" == read_member(path_of(str(archive), name))


def test_unpacking_does_not_follow_links_nor_overwrite(tmp_path: Path) -> None:
    """A folder that is a link out of the target, and a file that is there, are rejects."""
    files = made(tmp_path / "logs", 6)
    pack([tmp_path / "logs"], tmp_path / "a")
    out = tmp_path / "out"
    (tmp_path / "elsewhere").mkdir()
    (out / "logs/d1").mkdir(parents=True)
    (out / "logs/d0").symlink_to(tmp_path / "elsewhere")
    (out / "logs/d1/u_x_id1_1-2-3-1_1.darshan").write_bytes(b"mine")
    done = unpack(tmp_path / "a", out)
    assert (done.unpacked, done.known, len(done.rejects)) == (3, 0, 3)
    assert ([], b"mine") == ([*(tmp_path / "elsewhere").iterdir()], (out / "logs/d1/u_x_id1_1-2-3-1_1.darshan").read_bytes())
    assert (0, 3) == ((again := unpack(tmp_path / "a", out)).unpacked, again.known)
    assert len(files) == 6


@pytest.mark.parametrize(
    "data",
    [b"", b"\0" * 100_000, b"x" * 1000, b"x" * 100_000, b"\x1f\x8b\x08" + bytes(2000)],
    ids=["nothing", "zeros", "short", "no tar", "gzip"],
)
def test_what_is_no_archive_has_no_logs_or_a_reason(tmp_path: Path, data: bytes) -> None:
    """Nothing of it is taken for a log."""
    (tmp_path / "x.tar").write_bytes(data)
    assert all(candidate.reason for candidate in find_logs([tmp_path / "x.tar"], NO_LIMIT))


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of small logs."""
    folder = tmp_path_factory.mktemp("sound")
    made(folder / "logs", 6, 900)
    pack([folder / "logs"], folder / "a")
    return folder / "a"


def test_names_that_an_index_cannot_keep_apart(tmp_path: Path) -> None:
    """Two writers at once may pack logs of one name, and names need not be UTF-8: each log is found."""
    names = ["u_x_id1_1-2-3-4_1.darshan", "u\\xff.darshan", "u\udcff.darshan"]
    for folder, name in [("logs", names[0]), *(("logs", name) for name in names[1:])]:
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / name).write_bytes(name.encode("utf-8", "surrogateescape"))
    pack([tmp_path / "logs"], tmp_path / "a")
    (tar,) = (tmp_path / "a").glob("*.tar")
    twin = packing._header(f"logs/{names[0]}", 4) + b"twin" + bytes(BLOCK - 4)
    packing._append(tar, twin)
    pack([tmp_path / "logs"], tmp_path / "a")
    expected = {b"twin", *(name.encode("utf-8", "surrogateescape") for name in names)}
    assert expected == {*contents(tmp_path / "a").values()}
    (tmp_path / "a" / INDEX).unlink()
    os.utime(tar)
    assert expected == {*contents(tmp_path / "a").values()}


def test_an_index_names_no_file_but_those_beside_it(tmp_path: Path) -> None:
    """One that names others is none, and nothing is made where it points."""
    files = made(tmp_path / "logs", 3)
    pack([tmp_path / "logs"], tmp_path / "a/deep")
    index = tmp_path / "a/deep" / INDEX
    table = pq.read_table(index)
    place = table.column_names.index("file")
    pq.write_table(table.set_column(place, "file", pa.array(["../escaped.tar"] * 3)), index)
    done = pack([tmp_path / "logs"], tmp_path / "a/deep", remove=True)
    assert (0, 3, 3, []) == (done.packed, done.known, done.removed, [*(tmp_path / "a").glob("*.tar")])
    assert below("logs", files) == contents(tmp_path / "a/deep")


def test_what_was_lost_from_an_archive_is_packed_again(tmp_path: Path) -> None:
    """A tar file that is gone is not in the index any more; one that is cut short takes nothing, since it would be lost there."""
    files = made(tmp_path / "logs", 4)
    pack([tmp_path / "logs"], tmp_path / "a")
    tar = tmp_path / "a/logs-000.tar"
    os.truncate(tar, tar.stat().st_size - BLOCK - 100)
    with pytest.raises(OutputError, match=r"logs-000\.tar is damaged at byte \d+: move it away"):
        pack([tmp_path / "logs"], tmp_path / "a", remove=True)
    tar.unlink()
    done = pack([tmp_path / "logs"], tmp_path / "a", remove=True)
    assert (4, 4, below("logs", files)) == (done.packed, done.removed, contents(tmp_path / "a"))


def test_what_the_index_knows_is_found_beyond_damage(tmp_path: Path) -> None:
    """A header that is none ends what tar finds; the archive says so, and gives the other logs."""
    files = made(tmp_path / "logs", 6)
    pack([tmp_path / "logs"], tmp_path / "a")
    tar = tmp_path / "a/logs-000.tar"
    first = next(members(str(tar)))
    with tar.open("r+b") as file:
        file.seek(first.offset + -(-first.size_bytes // BLOCK) * BLOCK + 3)
        file.write(b"\xff" * 20)
    found = [*members(str(tar))]
    ((name, reason),) = [(each.name, each.reason) for each in found if each.reason]
    assert (name.startswith("at byte"), "no header" in reason) == (True, True)
    assert {*files.values()} == {read_member(path_of(str(tar), each.name)) for each in found if not each.reason}


def test_many_gaps_cost_what_they_hold(tmp_path: Path) -> None:
    """Empty blocks between members are looked through once."""
    with (tmp_path / "x.tar").open("wb") as file:
        file.write((bytes(BLOCK) + packing._header("x.darshan", 0)) * 20_000)
    read_bytes = 0
    real = os.pread

    def counted(descriptor: int, size: int, at: int) -> bytes:
        nonlocal read_bytes
        found = real(descriptor, size, at)
        read_bytes += len(found)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "pread", counted)
        assert 20_000 == sum(1 for _ in members(str(tmp_path / "x.tar")))
    assert read_bytes < 10 * (tmp_path / "x.tar").stat().st_size


def test_owners_that_are_no_text(tmp_path: Path) -> None:
    """An archive of anybody's making may name any bytes as a member's owner; what is packed into it has an index all the same."""
    odd = info("x.darshan")
    odd.uname = "\udcff"
    (tmp_path / "a").mkdir()
    tar_of(tmp_path / "a/logs-000.tar", (odd, b"one"))
    os.truncate(tmp_path / "a/logs-000.tar", 2 * BLOCK)
    made(tmp_path / "logs", 1)
    assert 1 == pack([tmp_path / "logs"], tmp_path / "a").packed
    assert ["\\xff"] == pq.read_table(tmp_path / "a" / INDEX)["owner"].to_pylist()[:1]


@pytest.mark.proof
def test_damage_by_chance(tmp_path: Path) -> None:
    """Logs or rejects, whatever was changed in tar files, names and index; `make fuzz` damages 20,000."""
    found = outcomes(120, 7, tmp_path)
    assert {"a log", "refused when found", "unpacked", "packed into"} <= found.keys()


_CHANGES = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=6)
_NUMBERS = itertools.count()


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_CHANGES, st.floats(0, 1))
def test_damaged_archives_end_in_logs_or_reasons(sound: Path, changes: list[tuple[float, int]], cut: float) -> None:
    """Whatever happens to its bytes, each member is whole, or says why it cannot be read."""
    data = bytearray((sound / "logs-000.tar").read_bytes())
    whole = {*contents(sound).values()}
    for place, value in changes:
        data[int(place * len(data))] = value
    if cut < 0.3:
        del data[int(cut / 0.3 * len(data)) :]
    # Each of its own name: what was found in a file is kept for as long as that looks unchanged.
    path = sound.parent / f"{next(_NUMBERS)}.tar"
    path.write_bytes(data)
    for member in members(str(path)):
        try:
            found = read_member(path_of(str(path), member.name))
        except UnreadableError:
            continue
        assert not member.sha256 or found in whole


def test_commands(tmp_path: Path) -> None:
    """Counts as text and JSON, 3 with rejects, and one sentence for what is misused."""
    made(tmp_path / "logs", 4)
    app, command = build_app(), CliRunner().invoke
    misspelt = command(app, ["pack", str(tmp_path / "logs"), str(tmp_path / "lgs"), "--into", str(tmp_path / "a")])
    assert (2, False) == (misspelt.exit_code, (tmp_path / "a").exists())
    packed = command(app, ["pack", str(tmp_path / "logs"), "--into", str(tmp_path / "a"), "--json"])
    assert (0, 4) == (packed.exit_code, json.loads(packed.stdout)["packed"])
    unpacked = command(app, ["unpack", str(tmp_path / "a"), "--into", str(tmp_path / "out")])
    assert (0, "4 logs unpacked, 0 there already\n") == (unpacked.exit_code, unpacked.stdout)
    (tmp_path / "out/logs/d0/u_x_id0_1-2-3-1_1.darshan").write_bytes(b"other")
    again = command(app, ["unpack", str(tmp_path / "a"), "--into", str(tmp_path / "out")])
    assert (3, True) == (again.exit_code, "There is something else of its name." in again.stderr)
