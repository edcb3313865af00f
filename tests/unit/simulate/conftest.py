"""A small facility, simulated once."""

import pytest
from simulated import Facility

from iomine.simulate import Settings, simulate

LOGS = 420


@pytest.fixture(scope="session")
def facility(tmp_path_factory: pytest.TempPathFactory) -> Facility:
    """Two days of a facility."""
    out = tmp_path_factory.mktemp("facility")
    simulate(Settings(out, LOGS, seed=3, days=2, dxt_ratio=0.25, workers=1), lambda *_: None)
    return Facility(out)
