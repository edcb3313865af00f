"""How much I/O lies within the steps of a program."""

from random import Random

import numpy as np
import pyarrow as pa
import pytest

from iomine.derive import app_phases
from iomine.derive.trace import Trace
from iomine.schema.ops import Steps


def _trace(rows: list[tuple[int, int, float, float, int]], layer: str = "posix") -> Trace:
    """A trace of requests: rank, direction, start, end, length; each is a run."""
    ranks, ops, starts, ends, lengths = (np.array(column) for column in zip(*rows, strict=True))
    ones = np.ones(len(rows), np.int64)
    firsts, seconds = np.arange(len(rows)), ends - starts
    return Trace(layer, -ones, lengths, starts, ends, firsts, ones, ranks, ops, ones, lengths * 1.0, seconds, 0 * ones)


def _steps(rows: list[tuple[int, float, float]]) -> Steps:
    ranks, starts, ends = (np.array(column) for column in zip(*rows, strict=True))
    return Steps(["reader"] * len(rows), [f"step{n}" for n in range(len(rows))], ranks, starts, ends)


def test_requests_count_in_the_steps_of_their_rank() -> None:
    """Time is what of requests lies within, once where they overlap; bytes are those of requests that began there."""
    trace = _trace([(0, 0, 1.0, 3.0, 10), (0, 0, 2.0, 4.0, 20), (0, 1, 8.0, 9.0, 5), (1, 0, 1.0, 2.0, 7)])
    found = pa.table(app_phases(_steps([(0, 2.0, 8.5), (0, 0.0, 5.0), (2, 0.0, 9.0)]), [trace])).to_pylist()
    assert [("step1", 3.0, 30, 0.0, 0), ("step0", 2.0, 20, 0.5, 5), ("step2", 0.0, 0, 0.0, 0)] == [
        (row["app_step"], row["read_seconds"], row["read_bytes"], row["write_seconds"], row["write_bytes"]) for row in found
    ]


@pytest.mark.parametrize("seed", range(20))
def test_any_steps_hold_what_a_count_second_by_second_finds(seed: int) -> None:
    """Whatever ranks did, time and bytes are those that a look at each moment finds."""
    random = Random(seed)
    rows = []
    for _ in range(random.randint(1, 40)):
        start = random.randint(0, 50)
        rows.append(
            (random.randrange(3), random.randrange(2), float(start), float(start + random.randint(0, 9)), random.randint(0, 99))
        )
    spans = [
        (random.randrange(4), float(start), float(start + random.randint(0, 30))) for start in random.choices(range(50), k=9)
    ]
    for row in pa.table(app_phases(_steps(spans), [_trace(rows[::2]), _trace(rows[1::2] or rows[:1], "stdio")])).to_pylist():
        used = [*rows[::2], *(rows[1::2] or rows[:1])]
        for op, name in enumerate(("read", "write")):
            own = [each for each in used if each[0] == row["rank"] and each[1] == op]
            moments = [at for at in range(99) if row["start_seconds"] <= at < row["end_seconds"]]
            assert sum(any(each[2] <= at < each[3] for each in own) for at in moments) == row[f"{name}_seconds"]
            assert sum(each[4] for each in own if each[2] in moments) == row[f"{name}_bytes"]


def test_a_run_without_requests_has_steps_without_io() -> None:
    """Where nothing was moved, steps have none."""
    (row,) = pa.table(app_phases(_steps([(0, 0.0, 1.0)]), [])).to_pylist()
    assert (0.0, 0) == (row["read_seconds"], row["read_bytes"])
