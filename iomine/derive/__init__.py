"""Derives tables from the records of logs, such as phases, ranks, OSTs and the I/O model: Arrow in, Arrow out."""

from iomine.derive.access import file_access, request_sizes
from iomine.derive.app_phases import app_phases
from iomine.derive.coalesce import coalescing
from iomine.derive.counted import CALL_KINDS, counters
from iomine.derive.detail import offset_detail, ost_detail, rank_detail
from iomine.derive.layouts import Lustre
from iomine.derive.lineage import io_signature, lineage_id
from iomine.derive.link_patterns import link_patterns
from iomine.derive.links import link_detail, link_node, link_ring
from iomine.derive.model import phase_model
from iomine.derive.order import in_order
from iomine.derive.ost_pace import ost_pace, ost_streams, rank_ost
from iomine.derive.osts import ost_io
from iomine.derive.overlaps import file_overlap
from iomine.derive.patterns import access_runs
from iomine.derive.periods import periods
from iomine.derive.phases import file_phases, phase_layers, phases
from iomine.derive.radial.moves import links_of
from iomine.derive.ranks import rank_io
from iomine.derive.segments import as_traced, segments
from iomine.derive.special import special_files, special_ids, split_by_files, traces_of_others
from iomine.derive.totals import Times, Totals, times, totals
from iomine.derive.trace import Tables, traces
from iomine.derive.transforms import mpiio_posix

__all__ = [
    "CALL_KINDS",
    "Lustre",
    "Tables",
    "Times",
    "Totals",
    "access_runs",
    "app_phases",
    "as_traced",
    "coalescing",
    "counters",
    "file_access",
    "file_overlap",
    "file_phases",
    "in_order",
    "io_signature",
    "lineage_id",
    "link_detail",
    "link_node",
    "link_patterns",
    "link_ring",
    "links_of",
    "mpiio_posix",
    "offset_detail",
    "ost_detail",
    "ost_io",
    "ost_pace",
    "ost_streams",
    "periods",
    "phase_layers",
    "phase_model",
    "phases",
    "rank_detail",
    "rank_io",
    "rank_ost",
    "request_sizes",
    "segments",
    "special_files",
    "special_ids",
    "split_by_files",
    "times",
    "totals",
    "traces",
    "traces_of_others",
]
