"""The interface of workers, for modules that have work for them."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from iomine.errors import IomineError, UnforeseenError

Item = TypeVar("Item")
Result = TypeVar("Result")

LOST: Final = "The Dask scheduler was lost: see that it runs, and sweep again; what was published stays."
UNDONE: Final = "Workers could not do a part of the work ({what})."


@dataclass(frozen=True, slots=True)
class Smaller(Generic[Item]):
    """Smaller items to try instead of an item that killed its workers."""

    items: tuple[Item, ...]


class Workers(Protocol):
    """Those who do the work."""

    @property
    def are_lost(self) -> bool:
        """Whether nothing can be handed to them any more."""

    def capacity(self) -> int:
        """How many items to have in hand at a time."""

    def map(
        self,
        function: Callable[..., Result],
        items: Iterable[Item],
        *arguments: object,
        after_deaths: Callable[[Item], Smaller[Item] | Result] | None = None,
    ) -> Iterator[tuple[Item, Result]]:
        """Applies a function to items, as `cluster.map_unordered` does."""


class Here:
    """This process, instead of workers that would take longer to start than the work takes.

    A log is read in a process of its own here too.
    """

    @property
    def are_lost(self) -> bool:
        """Never."""
        return False

    def capacity(self) -> int:
        """One thing at a time."""
        return 1

    def map(
        self,
        function: Callable[..., Result],
        items: Iterable[Item],
        *arguments: object,
        after_deaths: Callable[[Item], Smaller[Item] | Result] | None = None,  # noqa: ARG002  no worker, no death
    ) -> Iterator[tuple[Item, Result]]:
        """Applies a function to items, one after the other.

        Raises:
            IomineError: as the function raised it.
            UnforeseenError: the function failed in a way that it did not foresee.
        """
        for item in items:
            try:
                result = function(item, *arguments)
            except IomineError:
                raise
            except Exception as error:
                raise UnforeseenError(UNDONE.format(what=one_line(error))) from error
            yield item, result


def local_workers() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))


def task_memory_bytes() -> int | None:
    """Memory for each task of the Dask worker that this is called on; None where there is no such limit."""
    # To import it takes a second, and whoever runs on a worker has it.
    if (distributed := sys.modules.get("distributed")) is None:
        return None
    try:
        worker = distributed.get_worker()
    except ValueError:
        return None
    limit = worker.memory_manager.memory_limit
    return limit // worker.state.nthreads if limit else None


def one_line(error: Exception) -> str:
    """What went wrong, for a sentence."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
