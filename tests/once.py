"""What takes long to build and several files of tests look at: built once in a run, whichever process comes first."""

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def built_once(factory: pytest.TempPathFactory, name: str, build: Callable[[Path], None]) -> Path:
    """A folder that all processes of a run share. Who changes it works on a copy.

    Args:
        factory: of the process's temporary folders.
        name: of the folder.
        build: fills the folder, which is there and empty. Where it fails, the next who asks tries again.
    """
    base = factory.getbasetemp()
    # Each process of pytest-xdist has a folder of its own in that of the run.
    run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, done = run / name, run / f"{name}.done"
    with (run / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            build(folder)
            done.touch()
    return folder
