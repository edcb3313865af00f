import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest


@pytest.fixture(scope="session")
def ask() -> Iterator[Callable[..., Any]]:
    """Asks a function of the oracle, in a process where an abort of the C library ends no test run."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        yield lambda function, *arguments: pool.submit(function, *(str(argument) for argument in arguments)).result(60)
