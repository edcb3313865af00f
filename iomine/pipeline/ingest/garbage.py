"""Python's search for garbage, left out where a million objects are made and none of them is garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unlooked() -> Iterator[None]:
    """No search for garbage within: to look through what is made, again and again, takes longer than to make it."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
