"""Who loses most on a simulated machine is who the views name first."""

from collections import Counter
from pathlib import Path

import pytest
from simulated import Facility
from sweeping import rows, run

from iomine.pipeline.sweep import Settings
from iomine.simulate import Settings as Simulation
from iomine.simulate import simulate

_LOGS = 150
_BY_COST = 'SELECT "user", app, cost_core_seconds, io_core_seconds FROM worst_offenders'


def _lost(facility: Facility) -> list[tuple[str, str]]:
    """Users and programs that lost time to incidents, as the truth has it, those that lost most first."""
    lost: Counter[tuple[str, str]] = Counter()
    for log in facility.logs:
        lost[log["user"], log["application"].split()[0].rpartition("/")[2]] += sum(log["lost_seconds"].values())
    return [who for who, _ in lost.most_common()]


@pytest.mark.cluster
@pytest.mark.parametrize("seed", [1, 2, 4, 5])
def test_the_worst_offender_is_who_lost_most(seed: int, tmp_path: Path) -> None:
    """Of all users and programs, the one named first lost most; its cost is no more than its I/O time, nor is anyone's."""
    simulate(Simulation(tmp_path / "facility", _LOGS, seed=seed, days=2, workers=1), lambda *_: None)
    run(Settings((tmp_path / "facility" / "darshan",), tmp_path / "warehouse", workers=1))

    told = rows(tmp_path / "warehouse", _BY_COST)
    assert _lost(Facility(tmp_path / "facility"))[0] == (told[0]["user"], told[0]["app"])
    assert [] == [row for row in told if (row["cost_core_seconds"] or 0) > row["io_core_seconds"] * (1 + 1e-9)]
