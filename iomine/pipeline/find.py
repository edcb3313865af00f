"""Finds what may be Darshan logs under the given paths."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from iomine.errors import InputError, UsageError


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that may be a log.

    Attributes:
        path: where it is.
        size_bytes: its size when it was found.
        reason: why it cannot even be looked at, empty where it can.
    """

    path: str
    size_bytes: int
    reason: str = ""


def is_candidate(name: str) -> bool:
    """True for names with `.darshan` in them, and for gzip files, which logs of format 1.x and 2.x are."""
    return ".darshan" in name or name.endswith(".gz")


def check(paths: Sequence[Path]) -> None:
    """Makes sure that every path can be looked through.

    Raises:
        UsageError: a path does not exist.
        InputError: a path cannot be opened.
    """
    for path in paths:
        if not path.exists():
            raise UsageError(f"There is no {path}: name folders or files that exist.")
        if not os.access(path, os.R_OK | (os.X_OK if path.is_dir() else 0)):
            raise InputError(f"{path} cannot be opened: ask its owner for permission to read it.")


def find(paths: Sequence[Path]) -> list[Candidate]:
    """All candidates under the paths, each once, in the order of their paths.

    A folder further down that cannot be opened is a candidate with its reason, so that it is not passed over silently.

    Raises:
        UsageError: a path does not exist.
        InputError: a path that was given cannot be opened.
    """
    check(paths)
    found = {candidate.path: candidate for path in paths for candidate in _under(path.absolute())}
    return [found[path] for path in sorted(found)]


def _under(top: Path) -> Iterator[Candidate]:
    if not top.is_dir():
        yield _candidate(str(top))
        return
    closed: list[OSError] = []
    for folder, _, names in os.walk(top, onerror=closed.append):
        yield from (_candidate(f"{folder}/{name}") for name in names if is_candidate(name))
    yield from (Candidate(str(error.filename), 0, f"The folder cannot be opened: {error.strerror}.") for error in closed)


def _candidate(path: str) -> Candidate:
    try:
        status = Path(path).stat()
    except OSError as error:
        return Candidate(path, 0, f"The file cannot be looked at: {error.strerror}.")
    # A pipe or a device named like a log would be read for ever.
    return Candidate(path, status.st_size, "" if stat.S_ISREG(status.st_mode) else "This is not a regular file.")
