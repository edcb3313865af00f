"""Reads Darshan logs of formats 1.21 to 3.x, every module of them, in bulk."""

from iomine.sources.darshan.container import Region
from iomine.sources.darshan.counters import LAYOUTS
from iomine.sources.darshan.decoded import Columns, Owners, Packed, Records, assembled, row_count, size_bytes, spread
from iomine.sources.darshan.doubts import Doubt, Doubted, Run
from iomine.sources.darshan.dxt import NO_SENSE
from iomine.sources.darshan.file_state import FileState
from iomine.sources.darshan.heatmap import have_bytes
from iomine.sources.darshan.identity import GONE, Identity, identify, log_id_of, read_owned
from iomine.sources.darshan.job import Job, implausible, uid_of
from iomine.sources.darshan.legacy_tables import MINGLED
from iomine.sources.darshan.log import Log, read_log
from iomine.sources.darshan.modules import ModuleState, rows_without_regions, without_region
from iomine.sources.darshan.names import MountTable
from iomine.sources.darshan.sound import sound, suspects

__all__ = [
    "GONE",
    "LAYOUTS",
    "MINGLED",
    "NO_SENSE",
    "Columns",
    "Doubt",
    "Doubted",
    "FileState",
    "Identity",
    "Job",
    "Log",
    "ModuleState",
    "MountTable",
    "Owners",
    "Packed",
    "Records",
    "Region",
    "Run",
    "assembled",
    "have_bytes",
    "identify",
    "implausible",
    "log_id_of",
    "read_log",
    "read_owned",
    "row_count",
    "rows_without_regions",
    "size_bytes",
    "sound",
    "spread",
    "suspects",
    "uid_of",
    "without_region",
]
