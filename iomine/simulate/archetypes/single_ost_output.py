"""A large shared file that nobody striped.

All ranks write their parts of one file, in large aligned requests, but the file lies on the one OST that its directory's
default gives it. More than 64 ranks for one OST are too many besides. A job that does so for hours makes that OST hot for
everyone.
"""

import numpy as np

from iomine.schema.ops import WRITE
from iomine.simulate.archetypes.model import Archetype, Parameters, Truth, long_tailed
from iomine.simulate.program import Program
from iomine.units import MIB

_REQUEST_BYTES = 4 * MIB
_RANKS_PER_OST = 64
_ANY = -1


def _draw(rng: np.random.Generator) -> Parameters:
    nprocs = int(rng.choice([16, 32, 64, 128]))
    return {
        "nprocs": nprocs,
        "requests": max(4, -(-400 // nprocs)) * long_tailed(rng, 2, 0.6, 1, 8),
        "dumps": int(rng.integers(1, 4)),
        "compute_seconds": long_tailed(rng, 60, 0.8, 5, 900),
        "ost": _ANY,
    }


def _act(program: Program, about: Parameters) -> None:
    ost = None if about["ost"] == _ANY else about["ost"]
    for dump in range(about["dumps"]):
        program.compute(about["compute_seconds"])
        file = program.files([f"{program.seat.folder}/dump.{dump:03d}"], first_ost=ost)
        program.open(file)
        program.transfer(WRITE, file, program.ranks * about["requests"] * _REQUEST_BYTES, _REQUEST_BYTES, about["requests"])
        program.close(file)
        program.barrier()
        program.bursts[WRITE] += 1


def _truth(about: Parameters) -> Truth:
    return Truth(frozenset({"single_ost", *(["few_osts"] if about["nprocs"] > _RANKS_PER_OST else [])}))


ARCHETYPE = Archetype(
    weight=0.03,
    exe=("dns_box", "seismic_fwd"),
    draw=_draw,
    act=_act,
    truth=_truth,
    mpi_bytes_per_second=10_000_000,
)
