"""Everything that iomine raises on purpose.

    IomineError                 one sentence that says what to do; the command ends with `exit_code`
    ├── UsageError              the command line or a setting is wrong                  (2)
    ├── InputError              a path that was given cannot be swept                   (1)
    ├── WarehouseError          the warehouse is missing, locked, full or not one       (1)
    │   └── BusyError           a sweep is writing to it                                (1)
    ├── OutputError             what is to be written cannot be                         (1)
    ├── LimitError              a question takes more time or memory than it may        (1)
    ├── WorkersError            workers were lost; the same work may succeed when it is tried again (1)
    ├── LostLogsError           logs that were found are neither ingested, known nor rejected (1)
    ├── NoWorkersError          no worker came, however long it was waited for          (1)
    └── UnreadableError         one input that cannot be read; becomes a row of `rejects`, never ends a sweep

Each hands all its arguments to `super().__init__`, so it survives the trip from a worker process.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path


class IomineError(Exception):
    """A failure that a person can do something about, reported in one sentence."""

    exit_code = 1


class UsageError(IomineError):
    """The command was misused."""

    exit_code = 2


class InputError(IomineError):
    """A path that was given is missing, unreadable or holds nothing to sweep."""


class WarehouseError(IomineError):
    """The warehouse cannot be used as it is."""


class BusyError(WarehouseError):
    """A sweep is writing to the warehouse."""


class OutputError(IomineError):
    """What is to be written cannot be, for example because the disk is full."""


class LimitError(IomineError):
    """A question takes more time or memory than it may."""


class WorkersError(IomineError):
    """Workers were lost or failed; trying again may help."""


class UnforeseenError(WorkersError):
    """A worker's task failed in a way that it did not foresee; what it worked on may be the cause."""


class LostLogsError(IomineError):
    """Logs that were found are neither ingested, known nor rejected: the fault is ours, and nothing may be committed."""


class NoWorkersError(IomineError):
    """No worker registered before the timeout; not retried."""


class UnreadableError(IomineError):
    """One input that cannot be read.

    Args:
        reason: a sentence that a person understands.
        is_final: the bytes themselves are at fault, so that trying again is in vain.
    """

    def __init__(self, reason: str, is_final: bool = True) -> None:
        super().__init__(reason, is_final)
        self.reason = reason
        self.is_final = is_final


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A hint at the nearest of some names to one that is not among them, empty where none is near."""
    near = get_close_matches(name, names, n=1, cutoff=0.55)
    return f"did you mean {near[0]}?" if near else ""


@contextmanager
def as_output_errors(out: Path | str = "The output") -> Iterator[None]:
    """Says of a file that cannot be written that another place may do.

    Args:
        out: what is written, for errors that name no file, as those of a full disk.
    """
    try:
        yield
    except BrokenPipeError:
        # Nobody reads stdout any more, which is no fault of a file.
        raise
    except OSError as error:
        raise OutputError(f"{error.filename or out} cannot be written ({error.strerror}): name another place.") from error
