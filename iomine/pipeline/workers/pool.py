"""The workers of a sweep, asked for when there is work for them."""

from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from iomine.errors import UsageError, WorkersError
from iomine.pipeline.workers.model import LOST, Here, Workers
from iomine.pipeline.workers.slurm import SlurmSite, slurm_workers


class WorkerPool:
    """Workers of one kind; as a context it lets them go at its end.

    Args:
        scheduler: address of a Dask scheduler, None for workers of our own.
        count: how many of our own, None for one for each processor.
        slurm: the site's Slurm where workers are its jobs, None where they are not.
        shared: a folder that all workers see.
    """

    def __init__(self, scheduler: str | None, count: int | None, slurm: SlurmSite | None, shared: Path) -> None:
        self._scheduler, self._count, self._slurm, self._shared = scheduler, count, slurm, shared
        self._workers: Workers | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, trace)

    def workers(self, *, is_little: bool = False) -> Workers:
        """The workers, started at the first call, and again if their scheduler was lost.

        Args:
            is_little: workers of our own take longer to start than the work takes: while there are none, this process does it.

        Raises:
            UsageError: no workers are available.
            WorkersError: their scheduler was lost, and cannot be had again.
        """
        if is_little and self._workers is None and self._scheduler is None and self._slurm is None:
            return Here()
        if self._workers is None or self._workers.are_lost:
            try:
                self._workers = self._stack.enter_context(self._started())
            except UsageError as error:
                if self._workers is None:
                    raise
                # The settings were right when the work began, so this is not a usage error.
                raise WorkersError(LOST) from error
        return self._workers

    def _started(self) -> AbstractContextManager[Workers]:
        if self._slurm is not None:
            return slurm_workers(self._slurm, self._shared)
        # Dask takes a second to load, and a small sweep needs none of it.
        from iomine.pipeline.workers.cluster import own_workers, standing_workers  # noqa: PLC0415

        if self._scheduler is not None:
            return standing_workers(self._scheduler)
        return own_workers(self._count)
