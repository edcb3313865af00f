"""How long ranks stood idle, against ranks whose every moment is known."""

import random
from collections.abc import Sequence

from rows_in import BY_NAME, stage

Moments = set[int]
_LOGS, _RANKS, _MOMENTS = 60, 6, 12


def _rows(dice: random.Random, log_id: str) -> tuple[list[Moments], list[dict[str, object]]]:
    """At which moments each rank read or wrote, and what is known of it; some ranks do nothing."""
    shares = dice.choices((0, 0.1, 0.5, 0.9), k=_RANKS) if dice.random() < 0.8 else [0.9] + (_RANKS - 1) * [0]
    busy = [{at for at in range(_MOMENTS) if dice.random() < share} for share in shares]
    key = {"cluster": "x", "night": "2024-04-18", "log_id": log_id}
    rows = []
    for rank, moments in enumerate(busy):
        reads = sum(dice.random() < 0.5 for _ in moments)
        known = {"read_bytes": reads, "write_bytes": len(moments) - reads, "read_seconds": float(reads)}
        rows.append(key | known | {"rank": rank, "layer": "all", "write_seconds": float(len(moments) - reads)})
    return busy, [row for row in rows if row["read_bytes"] or row["write_bytes"]]


def _idle(busy: Sequence[Moments], rank: int) -> float:
    """Moments in which a rank did I/O and others did none, summed over these."""
    return float(sum(len(busy[rank] - moments) for moments in busy))


def test_idle_time_is_no_more_than_it_was() -> None:
    """The idle time beside rank 0 and the heaviest rank is never too much, and exact where the others did nothing else."""
    dice = random.Random(3)
    logs = {f"{number:03}": _rows(dice, f"{number:03}") for number in range(_LOGS)}
    given = {
        "core.log": [
            {"cluster": "x", "night": "2024-04-18", "log_id": log_id, "nprocs": _RANKS, "run_seconds": float(_MOMENTS)}
            | {"io_core_seconds": float(sum(map(len, busy)))}
            for log_id, (busy, _) in logs.items()
        ],
        "core.rank_io": [row for _, rows in logs.values() for row in rows],
    }
    view = BY_NAME["feature.log_rank_profile"]
    names = "log_id, heaviest_rank, rank0_core_seconds, rank0_idle_core_seconds, heaviest_rank_idle_core_seconds"
    with stage(view, given) as con:
        reported = con.sql(f"SELECT {names} FROM ({view.sql})").fetchall()
    exact = 0
    for log_id, heaviest, rank0_seconds, rank0_idle, heaviest_idle in reported:
        busy, rows = logs[log_id]
        if rows:
            assert heaviest_idle <= _idle(busy, heaviest)
        if rank0_seconds:
            assert rank0_idle <= _idle(busy, 0)
            is_alone = not any(busy[1:])
            exact += is_alone
            assert not is_alone or rank0_idle == _idle(busy, 0) == (_RANKS - 1) * rank0_seconds
        else:
            assert not rank0_idle
    assert exact
