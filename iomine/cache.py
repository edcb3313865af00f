"""What takes seconds to make and is the same each time, kept in the user's cache folder.

The folder is `iomine` below `$XDG_CACHE_HOME`, or below `~/.cache`. It may be deleted at any time.
"""

import os
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

_KEPT_SECONDS: Final = 30 * 86_400.0
_HASH_BYTES: Final = 32
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


def cached(key: str, make: Callable[[], bytes]) -> bytes:
    """Bytes from the cache, made and kept where they are not in it.

    A file that was cut short or changed is made anew. A folder that cannot be read or written costs time and nothing else.

    Args:
        key: a file name that no two contents share.
        make: gives the bytes.
    """
    content = held(key)
    if content is None:
        content = make()
        keep(key, content)
    return content


def held(key: str) -> bytes | None:
    """Bytes from the cache; none where they are not in it, are damaged, or another user could have written them."""
    try:
        with (_folder() / key).open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.geteuid() or status.st_mode & _OTHERS_WRITE:
                return None
            content = file.read()
    # Without a home there is no folder, which Python calls a RuntimeError.
    except (OSError, RuntimeError):
        return None
    checksum, content = content[:_HASH_BYTES], content[_HASH_BYTES:]
    return content if sha256(content).digest() == checksum else None


def keep(key: str, content: bytes) -> None:
    """Keeps bytes in the cache, where it can be written."""
    with suppress(OSError, RuntimeError):
        _keep(_folder() / key, content)


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "iomine"


def _keep(file: Path, content: bytes) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for other in file.parent.iterdir():
        if time.time() - other.stat().st_mtime > _KEPT_SECONDS:
            other.unlink(missing_ok=True)
    # Readers see all of it or nothing, and of two who make it at once either will do.
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as beside:
        beside.write(sha256(content).digest() + content)
    Path(beside.name).replace(file)
