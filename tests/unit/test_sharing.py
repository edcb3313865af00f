"""Who may read what is written."""

import grp
import os
import stat
import subprocess
from pathlib import Path

import pytest

from iomine import sharing
from iomine.errors import OutputError, UsageError
from iomine.lake import Warehouse
from iomine.pipeline.site.config import problems
from iomine.sharing import giving, group_of, openness

# None of this host, and not that of who runs the test.
GROUP = 54321
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="Only root gives files to any group.")


def settings(root: Path, group: object) -> None:
    (root / "iomine.toml").write_text(f"group = {group!r}\n".replace("'", '"'))


def test_a_group_is_named_by_name_or_number(tmp_path):
    """As of this host; without settings, or where they say nothing, it is that of the folder."""
    assert group_of(tmp_path) is None
    settings(tmp_path, "")
    assert group_of(tmp_path) is None
    settings(tmp_path, grp.getgrgid(os.getegid()).gr_name)
    assert os.getegid() == group_of(tmp_path)
    settings(tmp_path, str(os.getegid()))
    assert os.getegid() == group_of(tmp_path)


def test_a_group_that_cannot_be_given_is_a_sentence(tmp_path, monkeypatch):
    """One that is not there, or that who runs this is not in; `iomine config check` and sweeps say so before any work."""
    settings(tmp_path, "no such group")
    with pytest.raises(UsageError, match=r"iomine\.toml: there is no group 'no such group' here"), Warehouse(tmp_path).locked():
        pass
    (sentence,) = problems(tmp_path)
    assert f"{tmp_path}/iomine.toml: there is no group 'no such group' here: name one that `getent group` lists." == sentence
    settings(tmp_path, str(GROUP))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UsageError, match=rf"not in the group {GROUP}: `usermod -aG {GROUP} USER`"):
        group_of(tmp_path)


@only_root
def test_a_warehouse_is_given_to_the_group(tmp_path):
    """One that was there with all that it holds, links apart; what is made in it later is the group's by itself."""
    (tmp_path / "outside").touch()
    root = tmp_path / "warehouse"
    (root / "lake").mkdir(parents=True)
    (root / "lake" / "rows").touch()
    (root / "link").symlink_to(tmp_path / "outside")
    settings(root, str(GROUP))
    for _ in range(2):
        with Warehouse(root).locked():
            (root / "lake" / "new").mkdir(exist_ok=True)
            (root / "lake" / "new" / "rows").touch()
    assert {GROUP} == {path.lstat().st_gid for path in (root, *root.rglob("*"))}
    assert {True} == {bool(path.stat().st_mode & stat.S_ISGID) for path in (root, *root.rglob("*")) if path.is_dir()}
    assert (tmp_path / "outside").stat().st_gid == os.getegid()


def test_what_the_system_refuses_comes_with_the_commands(tmp_path, monkeypatch):
    """Such as within a unit of systemd that may not set the bit by which a folder hands on its group."""

    def refused(*_args: object, **_options: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chown", refused)
    with pytest.raises(OutputError, match=r"group 54321 \(Operation not permitted\): run `chgrp -R 54321 .* as root\."):
        sharing.give(tmp_path, GROUP)
    place = tmp_path / "a b"
    (place / "below").mkdir(parents=True)
    subprocess.run(giving(place, os.getegid()), shell=True, check=True)  # noqa: S602  the command as people paste it
    assert openness(place, os.getegid()).is_given
    assert (place / "below").stat().st_mode & stat.S_ISGID


@pytest.mark.parametrize(
    ("folder", "file", "expected"),
    [
        (0o750, 0o644, (0, 0)),
        (0o751, 0o644, (1, 0)),
        (0o755, 0o640, (0, 0)),
        (0o755, 0o646, (1, 1)),
        (0o754, 0o666, (0, 0)),
        (0o757, 0o640, (0, 1)),
    ],
)
def test_what_others_can_read_and_write_is_counted(tmp_path, folder, file, expected):
    """What lies in a folder that they cannot enter is closed to them; links and sockets are not files."""
    root = tmp_path / "warehouse"
    root.mkdir()
    (root / "rows").touch()
    (root / "rows").chmod(file)
    (root / "link").symlink_to(root / "rows")
    (root / "below").mkdir()
    (root / "below").chmod(0o755)
    root.chmod(folder)
    seen = openness(root, None)
    assert expected == (seen.read_count, seen.write_count)
    assert (sum(expected) > 0) == (seen.first is not None)
    assert seen.is_given
