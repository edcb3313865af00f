"""Reads Darshan logs of format 3.x, every module of them, in bulk."""

from iomine.sources.darshan.counters import LAYOUTS
from iomine.sources.darshan.decoded import Columns, assembled, row_count, size_bytes
from iomine.sources.darshan.doubts import Doubt, Doubted, Run
from iomine.sources.darshan.identity import GONE, Identity, identify
from iomine.sources.darshan.job import Job, uid_of
from iomine.sources.darshan.log import Log, ModuleState, read_log
from iomine.sources.darshan.sound import sound

__all__ = [
    "GONE",
    "LAYOUTS",
    "Columns",
    "Doubt",
    "Doubted",
    "Identity",
    "Job",
    "Log",
    "ModuleState",
    "Run",
    "assembled",
    "identify",
    "read_log",
    "row_count",
    "size_bytes",
    "sound",
    "uid_of",
]
