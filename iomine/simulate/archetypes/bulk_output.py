"""A program that writes most of the time, collectively, as fast as two aggregators can.

It does as `hdf5_collective` does, with two aggregators and a short time of computing between dumps: enough for one run to take
most of a slow uplink, and for two to fill it. Only incidents bring it. Its I/O is as it should be, but takes so much of the run
that it could overlap with computing.
"""

from iomine.simulate.archetypes import hdf5_collective
from iomine.simulate.archetypes.model import Archetype
from iomine.units import MIB

ARCHETYPE = Archetype(
    weight=0,
    exe=("plume3d",),
    draw=lambda _: {
        "nprocs": 64,
        "part_bytes": 512 * MIB,
        "datasets": 1,
        "dumps": 30,
        "compute_seconds": 7,
        "stripes": 2,
    },
    act=hdf5_collective.ARCHETYPE.act,
    truth=hdf5_collective.ARCHETYPE.truth,
    mpi_bytes_per_second=hdf5_collective.ARCHETYPE.mpi_bytes_per_second,
)
