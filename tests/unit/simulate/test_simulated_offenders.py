"""Who loses most on a simulated machine is who the views name first."""

from collections import Counter
from pathlib import Path

import pytest
from simulated import Facility
from sweeping import rows, write_no_reports

from iomine.pipeline.sweep import Settings, run
from iomine.simulate import Settings as Simulation
from iomine.simulate import simulate

_LOGS = 300
_BY_COST = 'SELECT "user", app, cost_core_seconds, io_core_seconds FROM worst_offenders'


# A culprit's cost is its time. Only the truth says what it lost of that: seven eighths, or nine tenths of some of it.
_LEAST_RATIO = 0.9


def _lost(facility: Facility) -> Counter[tuple[str, str]]:
    """What users' programs lost to incidents, as the truth has it."""
    lost: Counter[tuple[str, str]] = Counter()
    for log in facility.logs:
        lost[log["user"], log["application"].split()[0].rpartition("/")[2]] += sum(log["lost_seconds"].values())
    return lost


@pytest.mark.site
@pytest.mark.parametrize("seed", [1, 2, 4])
def test_the_worst_offender_is_who_lost_most(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's program named first lost most, or as good as most; and nobody's cost is more than its I/O time."""
    simulate(Simulation(tmp_path / "facility", _LOGS, seed=seed, days=2, dxt_ratio=0.0, workers=1), lambda *_: None)
    write_no_reports(monkeypatch)
    run(Settings((tmp_path / "facility" / "darshan",), tmp_path / "warehouse", workers=1))

    reported = rows(tmp_path / "warehouse", _BY_COST)
    lost = _lost(Facility(tmp_path / "facility"))
    assert lost[reported[0]["user"], reported[0]["app"]] >= _LEAST_RATIO * max(lost.values()) > 0
    assert [] == [row for row in reported if (row["cost_core_seconds"] or 0) > row["io_core_seconds"] * (1 + 1e-9)]
