"""Who may read what is written: its owner and a group, and nobody else who has a login."""

import grp
import os
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from iomine.config import config_of, read_config
from iomine.errors import OutputError, UsageError

_MASK: Final = 0o027


@contextmanager
def kept_from_others() -> Iterator[None]:
    """Files and folders that are made meanwhile are the owner's and the group's; processes that are started then inherit it."""
    before = os.umask(_MASK)
    os.umask(before | _MASK)
    try:
        yield
    finally:
        os.umask(before)


def group_of(warehouse: Path) -> int | None:
    """The group that the settings of a warehouse name, as its number; None where they name none.

    Raises:
        UsageError: this host has no such group, or who runs this is not in it and so cannot give it files.
    """
    config = config_of(warehouse)
    name = read_config(config).get("group", "") if config else ""
    if not name:
        return None
    # Another type is refused with all settings.
    text = str(name)
    try:
        group = int(text) if text.isdecimal() else grp.getgrnam(text).gr_gid
    except KeyError:
        raise UsageError(f"{config}: there is no group {text!r} here: name one that `getent group` lists.") from None
    if os.geteuid() and group not in {os.getegid(), *os.getgroups()}:
        raise UsageError(f"{config}: you are not in the group {text}: `usermod -aG {text} USER` adds a user to it.")
    return group


def make_folder(folder: Path, group: int | None) -> None:
    """Makes a folder for owner and group where there is none; one that is there may be anybody's, and stays as it is.

    Args:
        folder: with those above it.
        group: whose it is to be, None for that of the folder above or of who makes it.

    Raises:
        OSError: it cannot be made.
        OutputError: it cannot be given to the group.
    """
    if folder.is_dir():
        return
    with kept_from_others():
        folder.mkdir(parents=True, exist_ok=True)
    if group is not None:
        give(folder, group)


def give(folder: Path, group: int) -> None:
    """Gives a folder with all that it holds to a group; what is made in it from then on is the group's too.

    Raises:
        OutputError: that is not allowed.
    """
    if _is_given(folder, group):
        return
    try:
        # The folder comes last: killed before, the next call begins again.
        for place, _, files in os.walk(folder, topdown=False):
            for name in files:
                # Who answers mails may write meanwhile.
                with suppress(FileNotFoundError):
                    os.chown(Path(place) / name, -1, group, follow_symlinks=False)
            os.chown(place, -1, group)
            Path(place).chmod(stat.S_IMODE(Path(place).stat().st_mode) | stat.S_ISGID)
    except OSError as error:
        raise OutputError(
            f"{folder} cannot be given to the group {_name(group)} ({error.strerror}): run `{giving(folder, group)}` as root."
        ) from error


def giving(folder: Path, group: int) -> str:
    """The commands that do what `give` does."""
    place = shlex.quote(str(folder))
    return f"chgrp -R {_name(group)} {place} && find {place} -type d -exec chmod g+s {{}} +"


def _is_given(folder: Path, group: int) -> bool:
    status = folder.stat()
    return status.st_gid == group and bool(status.st_mode & stat.S_ISGID)


def _name(group: int) -> str:
    try:
        return grp.getgrgid(group).gr_name
    except KeyError:
        return str(group)


@dataclass(frozen=True, slots=True)
class Openness:
    """Who is let into a folder.

    Attributes:
        read_count: files that others than owner and group can read.
        write_count: files and folders that they can write.
        first: one of these, for people.
        is_given: whether the folder belongs to the group.
    """

    read_count: int
    write_count: int
    first: Path | None
    is_given: bool


def openness(folder: Path, group: int | None) -> Openness:
    """Who is let into a folder; what lies in a folder that others cannot enter is closed to them.

    Args:
        folder: looked through as far as others come.
        group: whose it should be, None for any.
    """
    read, written = [], []
    for place, folders, files in os.walk(folder):
        mode = _mode(Path(place), follow=True)
        if not mode & stat.S_IXOTH:
            folders.clear()
            continue
        if mode & stat.S_IWOTH:
            written.append(Path(place))
        for path in (Path(place) / name for name in files):
            mode = _mode(path, follow=False)
            # A socket is meant for others, and the mode of a link says nothing.
            if stat.S_ISREG(mode):
                read += [path] * bool(mode & stat.S_IROTH)
                written += [path] * bool(mode & stat.S_IWOTH)
    first = next(iter([*written, *read]), None)
    return Openness(len(read), len(written), first, group is None or _is_given(folder, group))


def _mode(path: Path, *, follow: bool) -> int:
    # Sweeps and mails go on meanwhile.
    with suppress(FileNotFoundError):
        return path.stat(follow_symlinks=follow).st_mode
    return 0
