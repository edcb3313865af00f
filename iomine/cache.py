"""A cache in the user's cache folder, for what takes seconds to make and is the same each time.

The folder is `iomine` below `$XDG_CACHE_HOME`, or below `~/.cache`. It may be deleted at any time. Programs are among what is
kept, so nothing is taken from a folder or a file that another account could have written.
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


def cached(key: str, make: Callable[[], bytes]) -> bytes:
    """Bytes from the cache, made and kept where they are not in it.

    A file that was cut short or changed is made again. A folder that cannot be read or written costs time and nothing else.

    Args:
        key: a file name that no two contents share.
        make: gives the bytes.
    """
    content = found(key)
    if content is None:
        content = make()
        keep(key, content)
    return content


def found(key: str) -> bytes | None:
    """What the cache holds by that name; None where it holds nothing, not the whole of it, or what others may have written."""
    try:
        file = _folder() / key
        if not (_is_ours(file.parent) and _is_ours(file)):
            return None
        held = file.read_bytes()
    # Without a home there is no folder, which Python calls a RuntimeError.
    except (OSError, RuntimeError):
        return None
    checksum, content = held[:_HASH_BYTES], held[_HASH_BYTES:]
    return content if sha256(content).digest() == checksum else None


def keep(key: str, content: bytes) -> None:
    """Puts bytes into the cache, where that can be done."""
    with suppress(OSError, RuntimeError):
        _keep(_folder() / key, content)


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "iomine"


def _is_ours(path: Path) -> bool:
    status = path.stat()
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _keep(file: Path, content: bytes) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for other in file.parent.iterdir():
        if time.time() - other.stat().st_mtime > _KEPT_SECONDS:
            other.unlink(missing_ok=True)
    # Readers see all of it or nothing, and of two who make it at once either will do.
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as beside:
        beside.write(sha256(content).digest() + content)
    Path(beside.name).replace(file)
