"""The fabric between nodes and servers: its graph, its routes, and what moved over its links."""

from iomine.derive.fabric.graph import Graph, changed_only, graph_of, in_force
from iomine.derive.fabric.intervals import last_readings, link_intervals
from iomine.derive.fabric.network import Names, Network, names_of, short_name
from iomine.derive.fabric.routes import Routes, has_tables, unroutable_pairs, walked, way_between
from iomine.derive.fabric.slots import SLOT_SECONDS, link_slots
from iomine.derive.fabric.traffic import Load, job_traffic

__all__ = [
    "SLOT_SECONDS",
    "Graph",
    "Load",
    "Names",
    "Network",
    "Routes",
    "changed_only",
    "graph_of",
    "has_tables",
    "in_force",
    "job_traffic",
    "last_readings",
    "link_intervals",
    "link_slots",
    "names_of",
    "short_name",
    "unroutable_pairs",
    "walked",
    "way_between",
]
