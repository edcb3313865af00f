"""Where work runs: processes on this machine, or the workers of a scheduler that is already there."""

import asyncio
import logging
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

import dask
from distributed import Client, LocalCluster, Security, as_completed
from distributed.core import rpc

from iomine.errors import IomineError, UsageError, WorkersError

Item = TypeVar("Item")
Result = TypeVar("Result")

# Enough for a worker never to wait, few enough for a million logs not to become a million futures.
_IN_FLIGHT_PER_WORKER: Final = 4
_ANSWER_SECONDS: Final = 10.0


def local_workers() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))


def check(scheduler: str) -> None:
    """Makes sure that a scheduler answers, and soon: a client would wait for minutes, or for ever where something else does.

    Raises:
        UsageError: there is no scheduler at the address.
    """
    try:
        greeted = asyncio.run(asyncio.wait_for(_kind_of(scheduler), _ANSWER_SECONDS))
    except Exception as error:
        # What is no scheduler may answer anything, and Dask take it for anything.
        raise UsageError(f"No Dask scheduler answers at {scheduler}: start one, or leave --scheduler out.") from error
    if greeted != "Scheduler":
        raise UsageError(f"At {scheduler} is no Dask scheduler but a {greeted}: give the scheduler's address.")


async def _kind_of(address: str) -> str:
    async with rpc(address, connection_args=Security().get_connection_args("client")) as server:
        kind: str = (await server.identity())["type"]
        return kind


@contextmanager
def client(scheduler: str | None = None, workers: int | None = None) -> Iterator[Client]:
    """A Dask client for as long as the context lasts.

    Args:
        scheduler: address of a scheduler such as `tcp://head:8786`; None starts workers on this machine.
        workers: how many to start there; one for each processor if None.

    Raises:
        UsageError: there is no scheduler at the address.
    """
    if scheduler is not None:
        check(scheduler)
        with Client(scheduler, set_as_default=False) as connected:
            yield connected
        return
    # Prefect sets every logger back to telling what it does.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    # Scratch space is for this run only, and not for the folder that somebody happened to stand in.
    with (
        dask.config.set({"temporary-directory": tempfile.gettempdir(), "distributed.worker.memory.terminate": False}),
        LocalCluster(
            n_workers=workers or local_workers(),
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            # What a task raises comes back to the client, who tells it.
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as connected,
    ):
        yield connected


def map_unordered(
    connected: Client, function: Callable[..., Result], items: Iterable[Item], *arguments: object
) -> Iterator[tuple[Item, Result]]:
    """Applies a function to items on the workers, a bounded number of them at a time.

    Args:
        connected: the client.
        function: called as `function(item, *arguments)`; must be safe to repeat, since a worker may die.
        items: taken one by one, as workers come free.
        arguments: the same for all items.

    Yields:
        Item and result, in the order of completion.

    Raises:
        IomineError: the first failure of the function, as the worker raised it.
        WorkersError: workers were lost too often, or the function failed in a way that it did not foresee.
    """
    waiting = iter(items)
    threads = sum(connected.nthreads().values()) or 1
    item_of: dict[str, Item] = {}
    running = as_completed(loop=connected.loop)

    def submit_next() -> None:
        for item in waiting:
            future = connected.submit(function, item, *arguments, pure=False, retries=2)
            item_of[future.key] = item
            running.add(future)
            return

    for _ in range(threads * _IN_FLIGHT_PER_WORKER):
        submit_next()
    for future in running:
        submit_next()
        try:
            result = future.result()
        except IomineError:
            raise
        except Exception as error:
            told = " ".join(str(error).split())
            raise WorkersError(f"Workers could not do a part of the work ({type(error).__name__}: {told}).") from error
        yield item_of.pop(future.key), result
