"""The command `iomine`: one file per command, found by walking; what commands share lies in `terminal/`."""

import gc
import os
import sys
from typing import Final

# A command that asks the warehouse loads 70,000.
_OBJECTS_UNTIL_COLLECTED: Final = 100_000


def main() -> None:
    """Run the command line and exit."""
    # NumPy would start threads to multiply matrices with, which nothing here does for long, and that takes as long as to load it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # By default Python looks for garbage hundreds of times while modules are loaded, all of which stay.
    gc.set_threshold(_OBJECTS_UNTIL_COLLECTED)
    from iomine.cli.app import build_app  # noqa: PLC0415  typer is among these modules

    try:
        build_app(sys.argv[1] if len(sys.argv) > 1 else None)()
    finally:
        # As it ends, Python looks for garbage twice, and the second time, which cannot be turned off, finds all.
        gc.disable()
