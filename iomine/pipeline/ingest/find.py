"""Finds inputs under the given paths."""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Final, NamedTuple

from iomine.errors import InputError, UsageError
from iomine.sources.darshan import FileState
from iomine.sources.darshan.packed import file_name, is_archive, members, path_of
from iomine.sources.garbage import without_collection
from iomine.sources.recorder import GLOBAL, PARTS
from iomine.units import human_bytes

_NO_LIMIT: Final = 1 << 63
# One file of a folder stands for all: what recorder2parquet writes, and Recorder itself.
_TRACES: Final = ("_metadata", "recorder.mt")
_LINKED: Final = (
    "The folder is a symbolic link, which is not followed: name it, or the folder that it leads to, as a path of its own."
)
_NO_METADATA: Final = "The folder holds parts of recorder2parquet without their _metadata: run recorder2parquet again."


class Candidate(NamedTuple):
    """A file that may be a log, or another input.

    Attributes:
        path: where it is.
        size_bytes: its size when it was found.
        reason: why it cannot even be looked at, empty where it can.
        state: of the file when it was found, of a log in an archive that of the archive; None where that is not known.
    """

    path: str
    size_bytes: int
    reason: str = ""
    state: FileState | None = None


def is_candidate(name: str) -> bool:
    """True for names with `.darshan` in them, of other traces, and for gzip files, which logs of format 1.x and 2.x are."""
    return ".darshan" in name or name.endswith((".gz", ".pfw", ".otf2")) or name in _TRACES


def is_visible(name: str) -> bool:
    """True for all names except those that begin with a dot."""
    return not name.startswith(".")


def check(paths: Sequence[Path]) -> None:
    """Makes sure that every path can be looked through.

    Raises:
        UsageError: a path does not exist.
        InputError: a path cannot be opened.
    """
    for path in paths:
        try:
            is_folder = stat.S_ISDIR(path.stat().st_mode)
        except (FileNotFoundError, NotADirectoryError):
            raise UsageError(f"There is no {path}: name folders or files that exist.") from None
        except OSError as error:
            raise InputError(f"{path} cannot be examined: {error.strerror}.") from error
        if not os.access(path, os.R_OK | (os.X_OK if is_folder else 0)):
            raise InputError(f"{path} cannot be opened: ask its owner for permission to read it.")


def find(paths: Sequence[Path], largest_bytes: int, is_wanted: Callable[[str], bool] = is_candidate) -> list[Candidate]:
    """All candidates under the paths, each once, in the order of their paths.

    A folder further down that cannot be opened, or is a link that leads out of the paths, is a candidate with its reason, so
    that it is not passed over silently.

    Args:
        paths: folders and files.
        largest_bytes: size beyond which a file is not even opened.
        is_wanted: whether a file in a folder is a candidate, by its name; files that are named themselves are in any case.

    Raises:
        UsageError: a path does not exist.
        InputError: a path that was given cannot be opened.
    """
    check(paths)
    with without_collection():
        tops = [path.resolve() for path in paths]
        found = {
            candidate.path: candidate for path in paths for candidate in _under(path.absolute(), tops, largest_bytes, is_wanted)
        }
        return [found[path] for path in sorted(found)]


def find_logs(paths: Sequence[Path], largest_bytes: int) -> list[Candidate]:
    """All candidates for logs under the paths, as `find` gives them, with each archive replaced by the logs in it.

    Raises:
        UsageError: a path does not exist.
        InputError: a path that was given cannot be opened.
    """
    # Archives are read member by member, so the limit for one file does not apply to them.
    found = find(paths, _NO_LIMIT, lambda name: is_candidate(name) or is_archive(name))
    logs: list[Candidate] = []
    for candidate in found:
        if is_archive(candidate.path) and not candidate.reason:
            logs += _logs_in(candidate, largest_bytes)
        else:
            logs.append(_within(candidate, largest_bytes))
    return logs


def _logs_in(candidate: Candidate, largest_bytes: int) -> Iterator[Candidate]:
    """Logs in an archive."""
    try:
        for member in members(candidate.path):
            if member.reason or is_candidate(file_name(member.name)):
                path = path_of(candidate.path, member.name)
                yield _within(Candidate(path, member.size_bytes, member.reason, candidate.state), largest_bytes)
    except OSError as error:
        yield Candidate(candidate.path, candidate.size_bytes, f"The archive cannot be read: {error.strerror}.")


def shown(path: str) -> str:
    r"""A path as text: bytes that are no UTF-8, which neither Arrow nor DuckDB takes, appear as `\xff`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _under(top: Path, tops: Sequence[Path], largest_bytes: int, is_wanted: Callable[[str], bool]) -> Iterator[Candidate]:
    if not top.is_dir():
        yield _candidate(str(top), largest_bytes)
        return
    closed: list[OSError] = []
    for folder, folders, names in os.walk(top, onerror=closed.append):
        yield from (_candidate(f"{folder}/{name}", largest_bytes) for name in names if is_wanted(name))
        # To follow them might never end, and what is below a path is found there anyway.
        links = (Path(folder, name) for name in folders if os.path.islink(f"{folder}/{name}"))  # noqa: PTH114  a Path takes long
        yield from (Candidate(str(link), 0, _LINKED) for link in links if not _is_within(link, tops))
        if GLOBAL in names and _TRACES[0] not in names and any(fnmatch(name, PARTS) for name in names):
            yield Candidate(f"{folder}/{GLOBAL}", 0, _NO_METADATA)
    yield from (Candidate(str(error.filename), 0, f"The folder cannot be opened: {error.strerror}.") for error in closed)


def _is_within(link: Path, tops: Sequence[Path]) -> bool:
    """Whether a link leads to a folder below one of some paths."""
    target = link.resolve()
    return any(target.is_relative_to(top) for top in tops)


def _candidate(path: str, largest_bytes: int) -> Candidate:
    try:
        status = os.stat(path)  # noqa: PTH116  a Path takes as long again
    except OSError as error:
        return Candidate(path, 0, f"The file cannot be examined: {error.strerror}.")
    # A pipe or a device named like a log would be read for ever.
    if not stat.S_ISREG(status.st_mode):
        return Candidate(path, status.st_size, "This is not a regular file.")
    return _within(Candidate(path, status.st_size, state=FileState.of(status)), largest_bytes)


def _within(candidate: Candidate, largest_bytes: int) -> Candidate:
    """The candidate, with a reason where it is too large."""
    if candidate.reason or candidate.size_bytes <= largest_bytes:
        return candidate
    size, limit = human_bytes(candidate.size_bytes), human_bytes(largest_bytes)
    return candidate._replace(reason=f"The file has {size}, more than {limit}, the limit for one file.")
