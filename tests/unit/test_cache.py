"""What is made once and kept in the user's cache folder."""

import os

import pytest
from jinja2 import Environment

from iomine.cache import cached
from iomine.report.page import templates_of


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "iomine"


def never() -> bytes:
    raise AssertionError("It is in the cache.")


def test_what_is_made_is_kept_for_its_user_alone(folder):
    """It is made once, and others cannot read or change it."""
    assert b"content" == cached("key", lambda: b"content")
    assert b"content" == cached("key", never)
    assert 0o700 == folder.stat().st_mode & 0o777
    assert ["key"] == [file.name for file in folder.iterdir()]


@pytest.mark.parametrize("damage", [b"", b"content", b"\0" * 40])
def test_a_damaged_file_is_made_anew(folder, damage):
    """A file that was cut short, or that something else wrote."""
    cached("key", lambda: b"content")
    (folder / "key").write_bytes(damage)

    assert b"content" == cached("key", lambda: b"content")
    assert b"content" == cached("key", never)


@pytest.mark.parametrize(("path", "mode"), [("", 0o770), ("", 0o707), ("key", 0o620), ("key", 0o602)])
def test_what_others_can_write_is_not_taken(folder, path, mode):
    """Compiled templates are programs, and would run as who sweeps."""
    cached("key", lambda: b"content")
    (folder / path).chmod(mode)

    assert b"other" == cached("key", lambda: b"other")


def test_what_another_account_owns_is_not_taken(folder, monkeypatch):
    """It may have been put there before the folder was closed to others."""
    cached("key", lambda: b"content")
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)

    assert b"other" == cached("key", lambda: b"other")


def test_a_folder_that_cannot_be_made_costs_only_time(folder):
    """What is asked for is made each time."""
    folder.write_text("no folder")

    assert b"content" == cached("key", lambda: b"content")
    assert b"other" == cached("key", lambda: b"other")


def test_what_is_a_month_old_is_deleted(folder):
    """Each version of the views leaves a file."""
    cached("old", lambda: b"content")
    os.utime(folder / "old", (0, 0))

    cached("new", lambda: b"content")

    assert ["new"] == [file.name for file in folder.iterdir()]


def test_templates_are_compiled_once(folder, monkeypatch):
    """The next process takes them from the folder, and compiles them where they are damaged."""
    templates_of("iomine.report").get_template("head.html.j2")
    (kept,) = folder.iterdir()
    held = kept.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(Environment, "compile", lambda *_, **__: never())
        templates_of("iomine.report").get_template("head.html.j2")

    kept.write_bytes(held[:-1])
    templates_of("iomine.report").get_template("head.html.j2")
    assert held == kept.read_bytes()
