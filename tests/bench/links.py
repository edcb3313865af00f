"""How long the edges of a long trace take, and how large they are: `python tests/bench/links.py [REQUESTS]`.

The trace is that of the paper on radial views: 8,192 ranks whose bytes 32 of them carry to 8 OSTs, half of its requests MPI-IO's
and half POSIX's, of two sizes. A line of JSON says seconds and peak memory of each step, and the size of the cells as Parquet.
"""

import io
import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from iomine.derive import link_detail, link_node
from iomine.derive.radial.moves import Links, Moves, Nodes

_RANKS: Final = 8192
_CARRIERS: Final = 32
_OSTS: Final = 8
_SECONDS: Final = 600.0
_HALF: Final = 0.5


def main() -> None:
    """Measures."""
    count = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    links = _links(count // 2)
    figures: dict[str, float] = {"requests": count}
    detail = _timed(figures, "cube", lambda: link_detail(links))
    _timed(figures, "nodes", lambda: link_node(links, {}))
    file = io.BytesIO()
    pq.write_table(pa.table(detail), file, compression="zstd", compression_level=3)
    figures |= {"cells": len(detail["op"]), "parquet_bytes": file.tell()}
    sys.stdout.write(json.dumps(figures) + "\n")


def _timed(figures: dict[str, float], step: str, work: Callable[[], Any]) -> Any:
    start = time.process_time()
    found = work()
    figures[f"{step}_seconds"] = round(time.process_time() - start, 2)
    figures[f"{step}_peak_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return found


def _links(count: int) -> Links:
    """As many requests of MPI-IO, and as many of POSIX."""
    chance = np.random.default_rng(1)
    nodes = Nodes(
        ranks=np.arange(_RANKS),
        rank_logs=np.zeros(_RANKS, np.int64),
        hosts=np.arange(_RANKS) // 64,
        host_names=[f"n{host}" for host in range(_RANKS // 64)],
        host_logs=np.zeros(_RANKS // 64 + 1, np.int64),
        are_hosts=np.zeros(1, bool),
        carriers=np.arange(_CARRIERS) * (_RANKS // _CARRIERS),
        positions=np.linspace(0, 1, _CARRIERS),
        osts=np.arange(_OSTS),
        mounts=[None] * _OSTS,
        place_logs=np.zeros(_OSTS, np.int64),
        file_ids=np.array([1]),
        file_logs=np.zeros(1, np.int64),
    )
    zeros, nowhere = np.zeros(count, np.int32), np.full(count, -1, np.int32)

    def moves(ranks: Any, carriers: Any, places: Any, typical: float) -> Moves:
        starts = np.sort(chance.random(count) * _SECONDS)
        lengths = np.where(chance.random(count) < _HALF, 1 << 20, 1 << 22)
        return Moves(zeros + 1, ranks, carriers, places, zeros, starts, lengths, typical * chance.lognormal(0, 0.5, count))

    ranks = chance.integers(0, _RANKS, count, np.int32)
    carriers = chance.integers(0, _CARRIERS, count, np.int32)
    outer = moves(ranks, ranks // np.int32(_RANKS // _CARRIERS), nowhere, 0.02)
    inner = moves(nodes.carriers[carriers].astype(np.int32), carriers, chance.integers(0, _OSTS, count, np.int32), 0.005)
    unknown = np.zeros((2, 1, 2), np.int64)
    return Links(
        nodes,
        outer,
        inner,
        np.zeros(_RANKS),
        frozenset({"mpiio", "posix"}),
        are_matched=np.ones(1, bool),
        without_offset=unknown[0],
        unsound=unknown,
    )


if __name__ == "__main__":
    main()
