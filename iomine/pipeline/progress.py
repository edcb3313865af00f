"""How far a sweep has come, told to whoever asked to be told."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Final

# A stage of its own: there is work, and nobody to do it.
WAITING: Final = "waiting for workers…"

Listener = Callable[[str, int, int], None]

_listener: ContextVar[Listener | None] = ContextVar("progress_listener", default=None)


def listen(listener: Listener | None) -> None:
    """From here on, calls `listener(stage, done, total)` whenever there is news, or nobody; units are the stage's own."""
    _listener.set(listener)


def tell(stage: str, done: int, total: int) -> None:
    """Reports that so much of a stage is done."""
    if (listener := _listener.get()) is not None:
        listener(stage, done, total)
