"""The fabric between nodes and servers: who is linked with whom, where switches send what, and what ports count."""

from typing import Final

from iomine.sources.fabric.counters import IBDIAGNET_PM, PERFQUERY
from iomine.sources.fabric.ibnetdiscover import IBNETDISCOVER
from iomine.sources.fabric.link_info import LINK_INFO
from iomine.sources.fabric.names import NAMES, read_guids
from iomine.sources.fabric.port_list import PORT_LIST
from iomine.sources.fabric.refused import REFUSED
from iomine.sources.fabric.routes import ROUTES
from iomine.sources.fabric.slurm_topology import TOPOLOGY
from iomine.sources.fabric.subnet_list import SUBNET_LIST
from iomine.sources.model import Source

__all__ = ["SOURCES", "read_guids"]

# In the order in which shapes are tried; the last only say what they refuse.
SOURCES: Final[tuple[Source, ...]] = (
    *(IBNETDISCOVER, PORT_LIST, LINK_INFO, SUBNET_LIST, ROUTES, PERFQUERY, IBDIAGNET_PM, TOPOLOGY),
    *NAMES,
    *REFUSED,
)
