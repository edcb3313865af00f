"""Reads what schedulers account of jobs. A module here that has a `Source` is found; no two know the same input."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Final

from iomine.sources.model import Source

__all__ = ["SOURCES"]


def _found() -> Iterator[Source]:
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        yield from (value for value in vars(module).values() if isinstance(value, Source))


SOURCES: Final[tuple[Source, ...]] = tuple(_found())
