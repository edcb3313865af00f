"""Opens inputs, which their owners may have replaced with a pipe or a device since they were found."""

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
    # Without O_NONBLOCK, opening a pipe waits until another process writes to it.
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", path)
    return descriptor
