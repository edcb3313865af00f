"""The folder of a warehouse: what lies where in it, and who may write to it."""

import fcntl
import json
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from iomine.errors import WarehouseError
from iomine.lake.lake import Lake


class Warehouse:
    """Paths under a warehouse's root.

    Args:
        root: the folder; made by the first sweep.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self.lake = Lake(self.root / "lake")
        self.database = self.root / "iomine.duckdb"
        self.staging = self.root / "staging"
        self.prefect_home = self.root / "prefect"

    def create(self) -> None:
        """Makes the folder where there is none.

        Raises:
            WarehouseError: there is something else of that name, or the folder cannot be written to.
        """
        if self.root.exists() and not self.root.is_dir():
            raise WarehouseError(f"{self.root} is a file, not a warehouse: give a folder with --warehouse.")
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WarehouseError(f"The warehouse {self.root} cannot be made: {error.strerror}.") from error
        if not os.access(self.root, os.W_OK | os.X_OK):
            raise WarehouseError(
                f"The warehouse {self.root} cannot be written to: ask its owner, or give another with --warehouse."
            )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps other sweeps out for as long as the context lasts; the lock dies with the process that holds it.

        Raises:
            WarehouseError: another sweep is at work on this warehouse.
        """
        self.create()
        descriptor = os.open(self.root / "sweep.lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = _holder(descriptor)
                raise WarehouseError(f"Another sweep is writing to {self.root}{holder}: wait until it has ended.") from None
            note = {"pid": os.getpid(), "host": socket.gethostname(), "since": datetime.now(UTC).isoformat(timespec="seconds")}
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
