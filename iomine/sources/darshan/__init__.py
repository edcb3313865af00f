"""Reads Darshan logs of format 3.x, every module of them, in bulk."""

from iomine.sources.darshan.decoded import Columns, assembled, row_count, size_bytes
from iomine.sources.darshan.identity import GONE, Identity, identify
from iomine.sources.darshan.log import Log, ModuleState, read_log

__all__ = ["GONE", "Columns", "Identity", "Log", "ModuleState", "assembled", "identify", "read_log", "row_count", "size_bytes"]
