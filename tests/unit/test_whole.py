"""Files that are whole or not there."""

import os
import subprocess
import sys

import pytest

from iomine.whole import clear_unfinished, written_whole

_KILLED = """
import os, signal, sys
from pathlib import Path
from iomine.whole import written_whole
with written_whole(Path(sys.argv[1])) as beside:
    beside.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_file_appears_whole(tmp_path):
    """The target has its old content until the new one is complete; also a name that is as long as names can be."""
    target = tmp_path / ("a" * 250 + ".html")
    target.write_text("old")
    with written_whole(target) as beside:
        beside.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_failure_leaves_what_was_there(tmp_path):
    """A failure removes the unfinished file, and the target keeps its content."""
    target = tmp_path / "page.html"
    target.write_text("old")
    with pytest.raises(ZeroDivisionError), written_whole(target) as beside:
        beside.write_text(f"half {1 / 0}")
    assert list(tmp_path.iterdir()) == [target]
    assert target.read_text() == "old"


def test_an_error_names_the_file_that_the_caller_knows(tmp_path):
    """The error of a folder that is not there names the target, not the hidden file."""
    target = tmp_path / "absent" / "page.html"
    with pytest.raises(FileNotFoundError) as error, written_whole(target) as beside:
        beside.write_text("new")
    assert error.value.filename == str(target)
    assert "unfinished" not in str(error.value)


def test_what_a_killed_process_left_is_removed_when_it_is_old(tmp_path):
    """Files that a killed process left go after a day, not before, and no other file goes."""
    others = [tmp_path / ".keep", tmp_path / f".{'0f' * 16}", tmp_path / "page.html"]
    for path in others:
        path.write_text("")
        os.utime(path, (0, 0))
    subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path / "page.html")], check=False)
    (left,) = (path for path in tmp_path.iterdir() if path not in others)
    clear_unfinished(tmp_path)
    assert left.exists()
    os.utime(left, (0, 0))
    clear_unfinished(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted(others)
    clear_unfinished(tmp_path / "absent")


@pytest.mark.parametrize("beside", ["8f0e.html.4711-{}", "iomine.duckdb.4711-{}.wal", "index.html.{}"])
def test_what_an_older_version_left_is_removed_too(tmp_path, beside):
    """Reports, the catalog with its log, and the files of a site, as they were called before 0.2."""
    left = tmp_path / f".{beside.format('0f' * 16)}"
    left.write_text("half")
    clear_unfinished(tmp_path)
    assert left.exists()
    os.utime(left, (0, 0))
    clear_unfinished(tmp_path)
    assert [] == list(tmp_path.iterdir())
