import errno
import fcntl
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from deltalake.exceptions import CommitFailedError

from iomine.errors import UsageError, WarehouseError
from iomine.lake import Warehouse, as_warehouse_errors, check_cluster
from iomine.post.ledger import only_digest


def test_a_warehouse_that_is_a_file_is_refused(tmp_path):
    """The sentence names the file and the option."""
    (tmp_path / "file").touch()

    with pytest.raises(WarehouseError, match="is a file, not a warehouse: give a folder with --warehouse"):
        Warehouse(tmp_path / "file").create()


def test_a_warehouse_below_a_file_is_refused(tmp_path):
    """A path through a file cannot be made, and the sentence says why."""
    (tmp_path / "file").touch()

    with pytest.raises(WarehouseError, match="cannot be made: Not a directory"):
        Warehouse(tmp_path / "file" / "warehouse").create()


@pytest.mark.parametrize("name", ["a%20b", "what?", "all*", "[x]", "back\\slash", "new\nline", os.fsdecode(b"\xff")])
def test_a_path_that_means_something_else_to_delta_or_duckdb_is_refused(tmp_path, name):
    """Better at once than after an hour of reading, or in a folder of another name."""
    with pytest.raises(UsageError, match="cannot hold a warehouse"):
        Warehouse(tmp_path / name).create()
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("url", ["s3://bucket/warehouse", "file:///data/iomine"])
def test_an_object_store_is_refused(tmp_path, monkeypatch, url):
    """No folder of that name appears here."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="is no folder: a warehouse must be in a file system, not in an object store"):
        Warehouse(Path(url)).create()
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["../x", "", ".", "a/b", "a b", "x" * 65, "é", "a\n"])
def test_a_name_that_is_no_folder_name_is_refused_for_a_cluster(name):
    """A cluster's name becomes a folder's, so nothing in it may lead elsewhere."""
    with pytest.raises(UsageError, match="is not a valid cluster name"):
        check_cluster(name)


def test_a_second_sweep_names_who_is_at_work(tmp_path):
    """The sentence names process and host of the sweep that holds the lock; when that has ended, the way is free."""
    reported = rf"Another sweep .*process {os.getpid()} on .*: wait"
    with Warehouse(tmp_path).locked(), pytest.raises(WarehouseError, match=reported), Warehouse(tmp_path).locked():
        pass
    with Warehouse(tmp_path).locked():
        pass


def test_a_holder_who_left_no_note_keeps_others_out_all_the_same(tmp_path):
    """A note that cannot be read costs the name in the sentence, not the lock."""
    with Warehouse(tmp_path).locked():
        (tmp_path / "sweep.lock").write_text(json.dumps(["not a note"]))
        with pytest.raises(WarehouseError, match="Another sweep is writing to"), Warehouse(tmp_path).locked():
            pass


@pytest.mark.parametrize("only", [lambda folder: Warehouse(folder).locked(), only_digest])
def test_a_file_system_without_locks_is_called_that(tmp_path, monkeypatch, only):
    """Lustre without `flock`, or NFS whose lock server is gone: the sentence says what to do, as `iomine doctor` does."""

    def refused(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refused)
    with (
        pytest.raises(WarehouseError, match=f"^Files in {tmp_path} cannot be locked \\(No locks available\\): mount"),
        only(tmp_path),
    ):
        pass


def test_a_disk_that_has_no_room_for_the_note_of_a_sweep_is_called_full(tmp_path, monkeypatch):
    """The lock's file is the first that a sweep writes."""

    def refused(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", refused)
    with pytest.raises(WarehouseError, match=f"^The disk that holds {tmp_path} is full"), Warehouse(tmp_path).locked():
        pass


@pytest.mark.parametrize(("before", "after"), [(None, 0o600), (0o640, 0o600), (0o660, 0o660)])
def test_who_may_only_read_a_warehouse_cannot_hold_its_lock(tmp_path, before, after):
    """Whoever can open a file can lock it; where a site lets the group write, others of it sweep too."""
    lock = tmp_path / "sweep.lock"
    if before is not None:
        lock.touch()
        lock.chmod(before)
    with Warehouse(tmp_path).locked():
        assert after == lock.stat().st_mode & 0o777


def test_the_lock_dies_with_its_holder(tmp_path):
    """A sweep that is killed leaves the lock's file, but not the lock."""
    script = (
        "import os, sys; from pathlib import Path; from iomine.lake import Warehouse\n"
        "with Warehouse(Path(sys.argv[1])).locked(): os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path], check=False)

    assert (tmp_path / "sweep.lock").exists()
    with Warehouse(tmp_path).locked():
        pass


@pytest.mark.parametrize(
    "fault",
    [
        OSError(28, "No space left on device"),
        OSError(122, "Disk quota exceeded"),
        CommitFailedError("Generic LocalFileSystem error: No space left on device (os error 28)"),
        sqlite3.OperationalError("database or disk is full"),
    ],
    ids=str,
)
def test_a_full_disk_is_called_that_whoever_notices(tmp_path, fault):
    """Python, Delta and databases each have their own words for a full disk; people get one sentence with the folder."""
    with (
        pytest.raises(WarehouseError, match=f"^The disk that holds {tmp_path} is full: free some space"),
        as_warehouse_errors(tmp_path),
    ):
        raise fault


OTHER_DISK = Path("/dev/shm")  # noqa: S108  looked at, and not written to


@pytest.mark.skipif(not OTHER_DISK.is_dir(), reason="There is no other file system.")
def test_a_full_disk_of_temporary_files_is_named_as_such(tmp_path, monkeypatch):
    """Where the warehouse has room, that of $TMPDIR has none, whatever has been removed there since."""
    monkeypatch.setattr(tempfile, "tempdir", str(OTHER_DISK))
    if tmp_path.stat().st_dev == OTHER_DISK.stat().st_dev:
        pytest.skip("Temporary files lie where the warehouse does.")
    full = OSError(28, "No space left on device")
    gone = tmp_path / "gone"
    with (
        pytest.raises(WarehouseError, match=rf"^The disk that holds temporary files, {OTHER_DISK} \(see \$TMPDIR\), is full:"),
        as_warehouse_errors(gone),
    ):
        raise full

    # A quota is not seen from outside.
    with pytest.raises(WarehouseError, match=rf"^The disk that holds {tmp_path} is full:"), as_warehouse_errors(tmp_path):
        raise OSError(122, "Disk quota exceeded")

    monkeypatch.setattr("iomine.lake.warehouse._ROOM_BYTES", 1 << 62)
    with pytest.raises(WarehouseError, match=rf"^The disk that holds {tmp_path} is full:"), as_warehouse_errors(tmp_path):
        raise full


@pytest.mark.parametrize(("mask", "file", "folder"), [(0o022, 0o640, 0o750), (0o000, 0o640, 0o750), (0o077, 0o600, 0o700)])
def test_what_is_written_is_for_owner_and_group(tmp_path, mask, file, folder):
    """Nobody else reads it, of processes that are started meanwhile neither; who keeps it from the group too is let."""
    root = tmp_path / "warehouse"
    before = os.umask(mask)
    try:
        with Warehouse(root).locked():
            (root / "made").mkdir()
            (root / "written").touch()
            subprocess.run(["touch", root / "by another"], check=True)
        assert mask == os.umask(mask)
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (root, *root.iterdir())}
    assert {"warehouse": folder, "made": folder, "written": file, "by another": file, "sweep.lock": 0o600} == modes


def test_a_file_that_cannot_be_read_is_reported_with_its_reason(tmp_path):
    """Any other fault of files keeps the system's own words, in one line."""
    with pytest.raises(WarehouseError, match=r"cannot be read or written: .*No such file.*gone"), as_warehouse_errors(tmp_path):
        (tmp_path / "gone").read_bytes()


def test_a_fault_of_the_program_is_not_laid_to_the_files(tmp_path):
    """What is no fault of files comes through as it is."""
    with pytest.raises(KeyError), as_warehouse_errors(tmp_path):
        raise KeyError("x")
