"""The command `iomine`: one file per command, found by walking the package; shared code is in `terminal/`."""

import gc
import os
import sys
from typing import Final

# A command that asks the warehouse loads 70,000.
_OBJECTS_UNTIL_COLLECTED: Final = 100_000


def main() -> None:
    """Run the command line and exit."""
    # NumPy would start threads for matrix products. That takes as long as loading NumPy, and no command needs them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # By default Python collects garbage hundreds of times while modules are loaded, although all of them stay.
    gc.set_threshold(_OBJECTS_UNTIL_COLLECTED)
    from iomine.cli.app import build_app  # noqa: PLC0415  typer is among these modules

    try:
        build_app(sys.argv[1] if len(sys.argv) > 1 else None)()
    finally:
        # Python collects garbage twice as it ends. The second time cannot be turned off, and is enough.
        gc.disable()
