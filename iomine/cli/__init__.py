"""The command `iomine`: one file per command, found by walking; what commands share lies in `terminal/`."""

from iomine.cli.app import main

__all__ = ["main"]
