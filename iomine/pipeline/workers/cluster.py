"""Where work runs: processes on this machine, or the workers of a scheduler that is already there.

Workers come and go: jobs wait in a queue, nodes fail, links break. What is handed out follows how many there are, and
what a lost worker had in hand is done again by another.
"""

import asyncio
import logging
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing import forkserver, resource_tracker
from queue import Empty, SimpleQueue
from typing import Final

import dask
from distributed import Client, Future, KilledWorker, LocalCluster, Security
from distributed.client import FutureCancelledError
from distributed.core import rpc

from iomine.errors import IomineError, NoWorkersError, UnforeseenError, UsageError, WorkersError
from iomine.pipeline import progress
from iomine.pipeline.workers.certificates import certified
from iomine.pipeline.workers.environment import KEPT_MEMORY
from iomine.pipeline.workers.model import LOST, UNDONE, Item, Result, Smaller, local_workers, one_line
from iomine.units import human_seconds

# Enough for a worker never to wait, few enough for a million logs not to become a million futures.
_IN_FLIGHT_PER_THREAD: Final = 4
_ANSWER_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 1.0
_PATIENCE_SECONDS: Final = 600.0

# Pages of a scheduler or worker have no login. Without them the port stays, and has nothing to show; and what Dask measures for
# them many times a second, which is 2 to 3% of a core in each process, nobody would see.
NO_PAGES: Final[dict[str, object]] = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}

_NOBODY: Final = "There was no worker for {time}: see what keeps them, and sweep again; what was published stays."
# Modules that are loaded before workers are forked, so that workers need not import them one by one.
_PRELOADED: Final = ["distributed", "iomine.pipeline.ingest.work", "iomine.pipeline.judging.judge", "iomine.pipeline.reports"]


@dataclass(frozen=True, slots=True)
class Workers:
    """Workers, however they came to be.

    Attributes:
        client: hands work to them.
        most_threads: how many threads they may come to have, 0 where that is not known.
        patience_seconds: how long to wait while there is no worker.
    """

    client: Client
    most_threads: int = 0
    patience_seconds: float = _PATIENCE_SECONDS

    @property
    def are_lost(self) -> bool:
        """Whether their scheduler is gone."""
        is_connected: bool = self.client.status == "running"
        return not is_connected

    def thread_count(self) -> int:
        """Threads that there are now; each does one item at a time."""
        return sum(self.client.nthreads().values())

    def capacity(self) -> int:
        """Threads to hand out work for: those that may come too, or none would be asked for."""
        return max(self.thread_count(), self.most_threads, 1)

    def map(
        self,
        function: Callable[..., Result],
        items: Iterable[Item],
        *arguments: object,
        after_deaths: Callable[[Item], Smaller[Item] | Result] | None = None,
    ) -> Iterator[tuple[Item, Result]]:
        """As `map_unordered`."""
        return map_unordered(self, function, items, *arguments, after_deaths=after_deaths)


def check(scheduler: str) -> None:
    """Makes sure that a scheduler answers, and soon: a client would wait for minutes, or for ever where something else does.

    Raises:
        UsageError: there is no scheduler at the address.
    """
    try:
        greeted = asyncio.run(asyncio.wait_for(_kind_of(scheduler), _ANSWER_SECONDS))
    except Exception as error:
        # Another server may answer anything, and Dask may misread the answer in any way.
        raise UsageError(f"No Dask scheduler answers at {scheduler}: start one, or leave --scheduler out.") from error
    if greeted != "Scheduler":
        raise UsageError(f"At {scheduler} is not a Dask scheduler but a {greeted}: give the scheduler's address.")


async def _kind_of(address: str) -> str:
    async with rpc(address, connection_args=Security().get_connection_args("client")) as server:
        kind: str = (await server.identity())["type"]
        return kind


def hush() -> None:
    """Silences Dask's messages about failures: this module reports each in one sentence."""
    # Set each time, since Prefect resets every logger; the client's has a level of its own.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


@contextmanager
def standing_workers(scheduler: str) -> Iterator[Workers]:
    """The workers of a scheduler that is there, and stays when the context ends.

    Args:
        scheduler: its address, such as `tcp://head:8786`.

    Raises:
        UsageError: there is no scheduler at the address.
    """
    check(scheduler)
    hush()
    with Client(scheduler, set_as_default=False) as connected:
        yield Workers(connected)


@contextmanager
def own_workers(count: int | None = None) -> Iterator[Workers]:
    """Workers on this machine, for as long as the context lasts.

    Anyone who can connect to a Dask scheduler or worker can run programs as its owner, and every user of the machine reaches its
    loopback: so these speak TLS only, with a key that is made for them and lies in the memory of their processes alone.

    Args:
        count: how many to start; one for each processor if None.
    """
    hush()
    # Scratch space is for this run only, and must not be in the current folder.
    settings = {
        "temporary-directory": tempfile.gettempdir(),
        "distributed.worker.memory.terminate": False,
        "distributed.worker.multiprocessing-method": "forkserver",
        **NO_PAGES,
    }
    with (
        dask.config.set(settings),
        _interrupts_held() as release,
        _closed_at_last(
            LocalCluster(
                n_workers=count or local_workers(),
                threads_per_worker=1,
                host="127.0.0.1",
                security=certified(),
                scheduler_kwargs={"dashboard": False},
                dashboard_address="127.0.0.1:0",
                worker_dashboard_address="127.0.0.1:0",
                # An error in a task comes back to the client, which reports it.
                silence_logs=logging.CRITICAL,
            )
        ) as cluster,
        Client(cluster, set_as_default=False) as connected,
    ):
        try:
            release()
            yield Workers(connected)
        except KeyboardInterrupt:
            _end_at_once(cluster)
            raise


@contextmanager
def _closed_at_last(cluster: LocalCluster) -> Iterator[LocalCluster]:
    """The cluster, which is closed at the end of the context.

    Dask may fail to close a cluster in which a worker is just being replaced. The work is done by then, so this is no error of
    the sweep, and the workers are killed.
    """
    try:
        yield cluster
    finally:
        try:
            cluster.close()
        except (AssertionError, OSError, RuntimeError, ValueError):
            # Otherwise it would try again when the process ends.
            cluster.shutdown_on_close = False
            _end_at_once(cluster)


def _end_at_once(cluster: LocalCluster) -> None:
    """Kills the workers: to close them is to wait for what they have in hand, and the nannies would start others."""
    for nanny in cluster.workers.values():
        nanny.auto_restart = False
        if nanny.pid:
            with suppress(ProcessLookupError):
                os.kill(nanny.pid, signal.SIGKILL)


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Sets variables for as long as the context lasts; Dask may have set some of them otherwise in this process."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _interrupts_held() -> Iterator[Callable[[], None]]:
    """Ctrl-C ends this process and not its workers, which would each print a traceback; it waits until all have started.

    A signal that is blocked stays so in processes that are started meanwhile: the workers are forks of a server that is.
    """
    pressed = []
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(True)) if is_main else None
    # Its start lets the signal through again.
    resource_tracker.ensure_running()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.set_forkserver_preload(_PRELOADED)
        # Allocators read it as they start, and have started in the server before a worker is forked. A sweep may have been
        # started in a folder of logs, whose Python files must not be imported.
        with _environment(KEPT_MEMORY | {"PYTHONSAFEPATH": "1"}):
            forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def release() -> None:
        nonlocal before
        if before is not None:
            signal.signal(signal.SIGINT, before)
            before = None
        if pressed:
            raise KeyboardInterrupt

    try:
        yield release
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


def map_unordered(
    workers: Workers,
    function: Callable[..., Result],
    items: Iterable[Item],
    *arguments: object,
    after_deaths: Callable[[Item], Smaller[Item] | Result] | None = None,
) -> Iterator[tuple[Item, Result]]:
    """Applies a function to items on the workers, a bounded number of them at a time.

    Args:
        workers: who does it; their number may change meanwhile.
        function: called as `function(item, *arguments)`; must be safe to repeat, since a worker may die.
        items: taken one by one, as workers come free.
        arguments: the same for all items.
        after_deaths: says what is to become of an item that its workers died of, one after the other and with nothing else
            in hand: smaller items, or the result to take for it. Where None, such an item ends the work.

    Yields:
        Item and result, in the order of completion; for smaller items too.

    Raises:
        IomineError: the first failure of the function, as the worker raised it.
        NoWorkersError: there was no worker for too long.
        UnforeseenError: the function failed in a way that it did not foresee.
        WorkersError: workers were lost too often, or the scheduler was lost.
    """
    suspects: list[Item] = []
    for item, result in _mapped(workers, function, items, arguments):
        if isinstance(result, KilledWorker):
            suspects.append(item)
        else:
            yield item, result
    while suspects:
        # Alone, so that no item is blamed for what another did to their worker.
        ((item, result),) = _mapped(workers, function, [suspects.pop()], arguments)
        if isinstance(result, KilledWorker):
            if after_deaths is None:
                raise WorkersError(UNDONE.format(what=one_line(result))) from result
            result = after_deaths(item)
        if isinstance(result, Smaller):
            suspects += result.items
        else:
            yield item, result


def _mapped(
    workers: Workers, function: Callable[..., Result], items: Iterable[Item], arguments: tuple[object, ...]
) -> Iterator[tuple[Item, Result | KilledWorker]]:
    waiting = iter(items)
    running: dict[Future, Item] = {}
    done: SimpleQueue[Future] = SimpleQueue()
    while True:
        with _as_lost_scheduler(workers):
            # More at once where workers have come, none until some are done where they have gone.
            for item in islice(waiting, max(0, _IN_FLIGHT_PER_THREAD * workers.capacity() - len(running))):
                future = workers.client.submit(function, item, *arguments, pure=False, retries=2)
                running[future] = item
                future.add_done_callback(done.put)
            if not running:
                return
            future = _next_done(done, workers)
            result = _result(future)
        yield running.pop(future), result


def _result(future: Future) -> object:
    try:
        return future.result()
    except KilledWorker as death:
        return death
    except IomineError:
        raise
    except Exception as error:
        if future.status != "error":
            raise
        raise UnforeseenError(UNDONE.format(what=one_line(error))) from error


def _next_done(done: SimpleQueue[Future], workers: Workers) -> Future:
    """The next result. Without workers it reports that it waits, and gives up after a time."""
    give_up_at = None
    while True:
        try:
            future = done.get(timeout=_LOOK_SECONDS)
        except Empty:
            future = None
        if future is None and not workers.thread_count():
            progress.report(progress.WAITING, 0, 1)
            give_up_at = give_up_at or time.monotonic() + workers.patience_seconds
            if time.monotonic() >= give_up_at:
                raise NoWorkersError(_NOBODY.format(time=human_seconds(workers.patience_seconds)))
        elif give_up_at:
            progress.report(progress.WAITING, 1, 1)
            give_up_at = None
        if future is not None:
            return future


@contextmanager
def _as_lost_scheduler(workers: Workers) -> Iterator[None]:
    """Turns the many errors of a lost scheduler into one sentence."""
    try:
        yield
    except IomineError:
        raise
    except Exception as error:
        if workers.are_lost or isinstance(error, OSError | FutureCancelledError):
            raise WorkersError(LOST) from error
        raise
