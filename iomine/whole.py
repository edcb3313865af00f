"""Files that are whole or not there: written under a hidden name beside their place, then renamed."""

import re
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

# It does not contain the name of the file, which may be as long as names can be.
_UNFINISHED: Final = ".unfinished-"
# Until 0.2 it did, and another number each time stood behind that; a catalog had a log of its own beside it.
_HIDDEN: Final = re.compile(rf"{re.escape(_UNFINISHED)}[0-9a-f]{{32}}|\..+\.(\d+-)?[0-9a-f]{{32}}(\.wal)?")
# Commands write without the warehouse's lock; none of them takes this long for one file.
_LEFT_SECONDS: Final = 86_400


@contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """Gives the path to write to, and puts the file in its place at the end; an exception removes it.

    Args:
        target: where the file is to be; its folder exists.

    Raises:
        OSError: it cannot be written; the error names the target, since nobody knows the hidden name.
    """
    beside = target.with_name(f"{_UNFINISHED}{uuid.uuid4().hex}")
    try:
        yield beside
        beside.replace(target)
    except OSError as error:
        if error.filename == str(beside):
            raise OSError(error.errno, error.strerror, str(target)) from error
        raise
    finally:
        # A disk that was mounted read-only refuses this as well.
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def clear_unfinished(folder: Path) -> None:
    """Removes files of a folder that a process began to write and was killed before it could rename or remove them.

    Args:
        folder: need not exist. Files younger than a day stay: they may still be written.
    """
    for path in folder.glob(".*"):
        with suppress(OSError):
            if _HIDDEN.fullmatch(path.name) and time.time() - path.stat().st_mtime > _LEFT_SECONDS:
                path.unlink()
