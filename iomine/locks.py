"""Locks of files, which end with the process that holds them."""

import fcntl
import os
import stat
from pathlib import Path
from typing import Final

from iomine.errors import WarehouseError

NO_LOCKS_REMEDY: Final = "mount the file system with locks (Lustre: -o flock), or keep the warehouse on another"


def lock_file(file: Path) -> int:
    """Opens the file of a lock, which is made where there is none.

    Whoever can read a file can lock it, and so block every sweep. Only the owner may read this one, unless a site lets the
    group write it.

    Returns:
        Its descriptor.

    Raises:
        OSError: it cannot be opened.
    """
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    status = os.fstat(descriptor)
    # Older versions let the group read it.
    if status.st_uid == os.geteuid() and not status.st_mode & stat.S_IWGRP:
        os.fchmod(descriptor, 0o600)
    return descriptor


def is_locked(descriptor: int, folder: Path) -> bool:
    """Locks an open file, unless another process holds its lock.

    Args:
        descriptor: of the file; the lock lasts until it is closed.
        folder: where the file lies, for people.

    Returns:
        Whether this process holds the lock.

    Raises:
        WarehouseError: the file system has no locks.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise WarehouseError(f"Files in {folder} cannot be locked ({error.strerror}): {NO_LOCKS_REMEDY}.") from error
    return True
