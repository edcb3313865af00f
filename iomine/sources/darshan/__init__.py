"""Reads Darshan logs of format 3.x, every module of them, in bulk."""

from iomine.sources.darshan.identity import Identity, identify
from iomine.sources.darshan.log import Log, ModuleState, read_log

__all__ = ["Identity", "Log", "ModuleState", "identify", "read_log"]
