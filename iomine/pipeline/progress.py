"""Reports how far a sweep has come to a listener."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Final

# A stage of its own: there is work, and no worker to do it.
WAITING: Final = "waiting for workers…"

Listener = Callable[[str, int, int], None]

_listener: ContextVar[Listener | None] = ContextVar("progress_listener", default=None)


def listen(listener: Listener | None) -> None:
    """Calls `listener(stage, done, total)` for every report from now on; None ends that. Units are the stage's own."""
    _listener.set(listener)


def report(stage: str, done: int, total: int) -> None:
    """Reports how much of a stage is done."""
    if (listener := _listener.get()) is not None:
        listener(stage, done, total)
