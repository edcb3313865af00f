"""A log with a long trace: ranks that write, and then read, a striped file together, phase after phase."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "unit/sources"))
from writing import START, Blueprint, Module, job, lustre_v2_record, name, words, write

PHASES = 20
PHASE_SECONDS = 10
RUN_SECONDS = PHASES * PHASE_SECONDS + 10
_RANKS = 128
_LENGTH = 1 << 16
# Of each phase, writes and reads take so much, and a gap the rest.
_BUSY_SECONDS = 4.0
_READ_SHARE = 4


def write_long_trace(path: Path, requests: int) -> None:
    """Writes the log; of equal numbers of requests all logs are equal.

    Args:
        path: where to.
        requests: how many the trace holds, rounded down to so many for each of 128 ranks.
    """
    osts = lustre_v2_record("<", [range(16)])
    path.write_bytes(
        write(
            Blueprint(
                {"LUSTRE": Module(2, [osts]), "DXT_POSIX": Module(1, list(_records(requests // _RANKS)))},
                names=name("<", 5, b"/scratch/field.dat"),
                job=job(nprocs=_RANKS, end=START + RUN_SECONDS),
            )
        )
    )


def _records(requests: int) -> Iterator[bytes]:
    """A record for each rank, each a stream of its own, as Darshan writes them."""
    chance = np.random.default_rng(1)
    reads = requests // _READ_SHARE
    writes = requests - reads
    for rank in range(_RANKS):
        host = f"node{rank // 64:04}".encode().ljust(64, b"\0")
        head = words("<", 5, rank, 0) + host + words("<", writes, reads)
        yield head + _segments(writes, rank, 0.0, chance) + _segments(reads, rank, PHASE_SECONDS / 2, chance)


def _segments(count: int, rank: int, delay: float, chance: np.random.Generator) -> bytes:
    segments = np.empty((count, 4), np.int64)
    number = np.arange(count)
    phase = number * PHASES // max(count, 1)
    step = _BUSY_SECONDS * PHASES / max(count, 1)
    segments[:, 0] = (number * _RANKS + rank) * _LENGTH
    segments[:, 1] = _LENGTH
    starts = phase * PHASE_SECONDS + delay + (number - phase * count // PHASES + 0.3 * chance.random(count)) * step
    segments[:, 2] = starts.view(np.int64)
    segments[:, 3] = (starts + step * (0.3 + 0.3 * chance.random(count))).view(np.int64)
    return segments.tobytes()


if __name__ == "__main__":
    write_long_trace(Path(sys.argv[1]), int(sys.argv[2]))
