"""The folder of a warehouse: where things are in it, and who may write to it."""

import errno
import json
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from deltalake.exceptions import DeltaError

from iomine.errors import BusyError, UsageError, WarehouseError
from iomine.lake.lake import Lake
from iomine.locks import is_locked, lock_file
from iomine.sharing import give, group_of, kept_from_others
from iomine.units import MIB

# Errors of full disks are found by their text, since some libraries do not pass on the error number.
_NO_SPACE: Final = (os.strerror(errno.ENOSPC), os.strerror(errno.EDQUOT), "database or disk is full")
# With less room a disk is full: what is written at once is smaller.
_ROOM_BYTES: Final = 64 * MIB
_ROOM_FILES: Final = 100
# Delta and Prefect would decode the first, DuckDB would take the next three for patterns, and the last for an escape.
_UNFIT_CHARACTERS: Final = frozenset("%*?[\\")
# A cluster's name becomes the name of a folder, and part of links.
_CLUSTER_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def check_cluster(name: str) -> None:
    """Makes sure that a cluster may have this name.

    Raises:
        UsageError: it may not.
    """
    if not _CLUSTER_NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not a valid cluster name: use letters, digits, dots, dashes and underscores.")


def check_place(folder: Path) -> None:
    """Makes sure that a warehouse may lie there.

    Raises:
        UsageError: its path holds characters that Delta or DuckDB do not take, or take for something else, or is a URL.
    """
    if not str(folder).isprintable() or _UNFIT_CHARACTERS.intersection(str(folder)):
        raise UsageError(
            f"{str(folder)!a} cannot hold a warehouse: give a path of printable UTF-8 without % * ? [ and backslash."
        )
    # A URL, of which a path has one slash left; it would be made as a folder here.
    if any(part.endswith(":") for part in folder.parts):
        raise UsageError(f"{folder} is no folder: a warehouse must be in a file system, not in an object store.")


@contextmanager
def as_warehouse_errors(folder: Path) -> Iterator[None]:
    """Turns errors of files in a folder of the warehouse into one sentence.

    Raises:
        WarehouseError: the disk is full, or files cannot be read or written for another reason.
    """
    try:
        yield
    except WarehouseError:
        raise
    except Exception as error:
        if any(words in str(error) for words in _NO_SPACE):
            full = _full(folder, str(error))
            raise WarehouseError(
                f"The disk that holds {full} is full: free some space and try again, what was published stays."
            ) from error
        # Errors of the network have no number, or the caller reports them.
        if isinstance(error, DeltaError) or (isinstance(error, OSError) and error.errno is not None):
            raise WarehouseError(f"Files in {folder} cannot be read or written: {_one_line(error)}.") from error
        raise


def _full(folder: Path, error: str) -> str:
    """The folder that is full: this one, or that of temporary files if this one has room and is on another disk."""
    temporary = Path(tempfile.gettempdir())
    there = next(path for path in (folder, *folder.parents) if path.exists())
    # No file system says how much of a quota is left.
    has_quota = os.strerror(errno.EDQUOT) in error
    if has_quota or _is_full(there) or there.stat().st_dev == temporary.stat().st_dev:
        return str(folder)
    return f"temporary files, {temporary} (see $TMPDIR),"


def _is_full(folder: Path) -> bool:
    room = os.statvfs(folder)
    # By now some of what did not fit is removed again.
    return room.f_bavail * room.f_frsize < _ROOM_BYTES or bool(room.f_files and room.f_favail < _ROOM_FILES)


class Warehouse:
    """The paths below a warehouse's root.

    Args:
        root: the folder; made by the first sweep.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self.lake = Lake(self.root / "lake")
        self.database = self.root / "iomine.duckdb"
        self.staging = self.root / "staging"
        self.reports = self.root / "reports"

    def create(self) -> None:
        """Makes the folder where there is none.

        Raises:
            UsageError: its path holds characters that Delta or DuckDB do not take, or take for something else.
            WarehouseError: there is something else of that name, or the folder cannot be written to.
        """
        check_place(self.root)
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise WarehouseError(f"{self.root} is a file, not a warehouse: give a folder with --warehouse.") from None
        except OSError as error:
            raise WarehouseError(f"The warehouse {self.root} cannot be made: {error.strerror}.") from error
        if not os.access(self.root, os.W_OK | os.X_OK):
            raise WarehouseError(
                f"The warehouse {self.root} cannot be written to: ask its owner, or give another with --warehouse."
            )

    @contextmanager
    def locked(self, *, of_any_version: bool = False) -> Iterator[None]:
        """Keeps other sweeps out for as long as the context lasts; the lock dies with the process that holds it.

        Args:
            of_any_version: also where columns meant something else to the program that wrote them.

        Raises:
            BusyError: another sweep is at work on this warehouse.
            UsageError: the settings name a group that is not there, or that this user is not in.
            OutputError: the warehouse cannot be given to it.
            WarehouseError: it is of another schema version.
        """
        group = group_of(self.root)
        # What logs say of people is for the group of the warehouse, and for nobody else who has a login.
        with kept_from_others():
            self.create()
            if group is not None:
                give(self.root, group)
            with as_warehouse_errors(self.root):
                descriptor = lock_file(self.root / "sweep.lock")
            with self._held(descriptor):
                # Who would write must know what the columns mean that are there.
                if not of_any_version:
                    self.lake.check_version()
                yield

    @contextmanager
    def _held(self, descriptor: int) -> Iterator[None]:
        try:
            if not is_locked(descriptor, self.root):
                holder = _holder(descriptor)
                raise BusyError(f"Another sweep is writing to {self.root}{holder}: wait until it has ended.")
            note = {"pid": os.getpid(), "host": socket.gethostname(), "since": datetime.now(UTC).isoformat(timespec="seconds")}
            with as_warehouse_errors(self.root):
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, json.dumps(note).encode(), 0)
            yield
        finally:
            os.close(descriptor)

    def clear_staging(self) -> None:
        """Removes what earlier sweeps left half done; only the holder of the lock may."""
        shutil.rmtree(self.staging, ignore_errors=True)


def _holder(descriptor: int) -> str:
    """Who holds the lock, as far as its note can be read."""
    try:
        note = json.loads(os.pread(descriptor, 4096, 0))
        return f" (process {note['pid']} on {note['host']} since {note['since']})"
    except (ValueError, KeyError, TypeError):
        return ""


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()).removesuffix(".")
