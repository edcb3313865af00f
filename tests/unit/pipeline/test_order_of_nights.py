"""A backfill in any order of nights brings what nights swept in order bring."""

from pathlib import Path

import pytest
from sweeping import column, state, write_no_reports

from iomine.lake import Warehouse
from iomine.pipeline.corrections import settle
from iomine.pipeline.sweep import Settings, run
from iomine.schema import TABLES
from iomine.simulate import Settings as Simulated
from iomine.simulate import simulate

NIGHTS = 3


@pytest.mark.site
def test_nights_may_come_in_any_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Tables, lineages and regressions are the same for nights swept oldest first, newest first, and with a gap filled."""
    write_no_reports(monkeypatch)
    simulate(Simulated(tmp_path / "facility", log_count=60, seed=3, days=NIGHTS, cluster="ada"), lambda *_: None)
    folders = sorted({log.parent for log in (tmp_path / "facility" / "darshan").rglob("*.darshan")})
    assert NIGHTS <= len(folders) <= NIGHTS + 1
    orders = {"oldest": folders, "newest": folders[::-1], "gap": [*folders[::2], *folders[1::2]]}
    for name, order in orders.items():
        for folder in order:
            run(Settings((folder,), tmp_path / name, "ada", workers=1))
        if name != "oldest":
            nights = column(tmp_path / name, "SELECT DISTINCT night FROM logs ORDER BY ALL")
            assert len(nights) - 1 == settle(Warehouse(tmp_path / name), "ada", nights[0], nights[-1])
    states = {name: state(tmp_path / name) for name in orders}
    differing = {table for name in orders for table in TABLES if states[name].get(table) != states["oldest"].get(table)}
    assert set() == differing - {"known_file", "source_file"}
    # Lineages and regressions are views of these alone.
    assert {"log", "run_usual", "verdict"} <= states["oldest"].keys()
