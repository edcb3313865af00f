"""What follows from one log's records: Arrow in, Arrow out."""

from iomine.derive.access import file_access, request_sizes
from iomine.derive.detail import offset_detail, ost_detail, rank_detail
from iomine.derive.lineage import io_signature, lineage_id
from iomine.derive.order import in_order
from iomine.derive.osts import ost_io
from iomine.derive.overlaps import file_overlap
from iomine.derive.patterns import access_runs
from iomine.derive.periods import periods
from iomine.derive.phases import file_phases, phase_layers, phases
from iomine.derive.ranks import rank_io
from iomine.derive.segments import segments
from iomine.derive.totals import Totals, totals
from iomine.derive.trace import traces
from iomine.derive.transforms import mpiio_posix

__all__ = [
    "Totals",
    "access_runs",
    "file_access",
    "file_overlap",
    "file_phases",
    "in_order",
    "io_signature",
    "lineage_id",
    "mpiio_posix",
    "offset_detail",
    "ost_detail",
    "ost_io",
    "periods",
    "phase_layers",
    "phases",
    "rank_detail",
    "rank_io",
    "request_sizes",
    "segments",
    "totals",
    "traces",
]
