"""Opens inputs. Between the time when a file is found and when it is opened, its owner may put something else in its place."""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path


def opened(path: str | Path) -> BufferedReader:
    """A regular file, to be read.

    Raises:
        OSError: it cannot be opened, or is a pipe, which would be waited for, or a device, which may have no end.
    """
    return open(path, "rb", opener=_regular)


def _regular(path: str, flags: int) -> int:
    # Without this flag the system waits until somebody writes to a pipe.
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", path)
    return descriptor
