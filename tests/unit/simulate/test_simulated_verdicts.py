"""Triggers fire on simulated logs where the truth says that they should, and only there."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from simulated import Facility
from sums import disagreements
from sweeping import rows, write_no_reports

from iomine.pipeline.sweep import Settings, run
from iomine.simulate import Settings as Simulation
from iomine.simulate import simulate
from iomine.simulate.archetypes import ARCHETYPES
from iomine.simulate.archetypes.model import PATTERNS
from iomine.triggers import TRIGGERS

pytestmark = pytest.mark.site

# Patterns that no archetype shows on every machine of this size; a larger facility has them all.
_RARE = {"random_writes", "stragglers", "small_files", "file_per_process", "create_storm"}

Verdicts = dict[str, dict[str, str]]


def _swept(facility: Facility, warehouse: Path) -> None:
    """Sweeps logs, and where their nodes hang on the fabric."""
    maps = tuple(facility.out / "fabric" / name for name in ("ibnetdiscover", "dump_fts", "lctl_dl", "hosts"))
    run(Settings((facility.out / "darshan",), warehouse, workers=1, stats=(facility.out / "slurm", *maps)))


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gets what was swept."""
    return tmp_path_factory.mktemp("warehouse")


@pytest.fixture(scope="session")
def verdicts(facility: Facility, warehouse: Path) -> Verdicts:
    """State of every trigger, by name of the log and code."""
    with pytest.MonkeyPatch.context() as patch:
        write_no_reports(patch)
        _swept(facility, warehouse)
    assert not rows(warehouse, "FROM rejects")
    return _verdicts(warehouse)


def _verdicts(warehouse: Path) -> Verdicts:
    query = "SELECT path, map_from_entries(list((code, state))) AS states FROM verdicts JOIN logs USING (log_id) GROUP BY path"
    return {Path(row["path"]).name: dict(row["states"]) for row in rows(warehouse, query)}


def _fired(pattern: str, facility: Facility, verdicts: Verdicts) -> tuple[set[str], set[str]]:
    """Logs that show a pattern, and those on which its trigger fires, of those of which anything is claimed."""
    claimed = [log for log in facility.logs if pattern not in log["open_questions"]]
    fired = {log["log"] for log in claimed if verdicts[Path(log["log"]).name].get(PATTERNS[pattern]) == "fired"}
    return {log["log"] for log in claimed if pattern in log["patterns"]}, fired


def test_sums_of_costs_agree(verdicts: Verdicts, warehouse: Path) -> None:
    """What findings cost is one sum for each simulated log, wherever it is shown, and never more than the I/O time or the run."""
    assert [] == disagreements(warehouse / "iomine.duckdb")


@pytest.mark.usefixtures("verdicts")
def test_bad_places_outlie(facility: Facility, warehouse: Path) -> None:
    """The hot OST and the switch of the degraded link are all that outlies, in more jobs than by chance."""
    hot, leaf = (facility.incidents[kind]["target"] for kind in ("hot_ost", "degraded_link"))
    places = rows(warehouse, "FROM outlying_places")
    assert {("ost", f"OST {hot} (OST{hot:04x})"), ("switch", f"leaf{leaf:02d}")} == {
        (place["place_level"], place["place_name"]) for place in places
    }
    assert all(place["chance_ratio"] < 0.01 for place in places)


@pytest.mark.usefixtures("verdicts")
def test_logs_of_a_hot_ost_lost_to_it(facility: Facility, warehouse: Path) -> None:
    """No log shows an OST that outlies that lost nothing to the hot one."""
    outlying = "node_level = 'ost' AND metric = 'latency' AND outlying_count > 0"
    query = f"SELECT path FROM link_patterns JOIN logs USING (log_id) WHERE {outlying}"
    seen = {Path(row["path"]).name for row in rows(warehouse, query)}
    assert seen <= {Path(log["log"]).name for log in facility.logs if log["lost_seconds"]["hot_ost"] > 0}


def test_a_facility_without_incidents(tmp_path: Path) -> None:
    """Where nothing goes wrong, no OST, host or switch outlies, though all are compared; triggers fire where they should."""
    simulate(Simulation(tmp_path / "calm", 200, seed=12, days=2, dxt_ratio=0.5, workers=1, has_incidents=False), lambda *_: None)
    calm = Facility(tmp_path / "calm")
    assert not calm.incidents
    _swept(calm, tmp_path / "warehouse")
    assert not rows(tmp_path / "warehouse", "FROM outlying_places")
    asked = "SELECT count(DISTINCT log_id) AS logs FROM link_patterns WHERE node_level = 'ost' AND link_node_count >= 4"
    assert rows(tmp_path / "warehouse", asked)[0]["logs"] > 20
    assert rows(tmp_path / "warehouse", "FROM job_placement WHERE leaf_switches IS NOT NULL")
    verdicts = _verdicts(tmp_path / "warehouse")
    for pattern in PATTERNS:
        shown, fired = _fired(pattern, calm, verdicts)
        assert shown == fired, pattern


def test_each_pattern_has_its_trigger() -> None:
    """Patterns name triggers that there are, each another one."""
    assert set(PATTERNS.values()) <= set(TRIGGERS)
    assert len(PATTERNS) == len(set(PATTERNS.values()))


def test_the_truth_knows_its_patterns(facility: Facility) -> None:
    """The truth names no other patterns than it explains."""
    reported = json.loads((facility.out / "truth" / "patterns.json").read_text())
    assert reported == PATTERNS
    assert {pattern for log in facility.logs for pattern in log["patterns"] + log["open_questions"]} <= set(reported)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_verdicts_are_what_is_true(pattern: str, facility: Facility, verdicts: Verdicts) -> None:
    """A trigger fires on all logs that show its pattern, and on none that does not."""
    shown, fired = _fired(pattern, facility, verdicts)
    assert shown == fired
    assert fired or pattern in _RARE


def _unclaimed(code: str) -> bool:
    return TRIGGERS[code].ruleset == "iomine" and code not in PATTERNS.values()


@pytest.mark.parametrize(
    ("archetype", "is_fine"),
    [("checkpoint", lambda log: not log["patterns"]), ("hdf5_collective", lambda _: True), ("block_reads", lambda _: True)],
)
def test_good_programs_are_left_alone(
    archetype: str, is_fine: Callable[[dict[str, object]], bool], facility: Facility, verdicts: Verdicts
) -> None:
    """On programs that do as they should, nothing fires at all, unless their nodes or the file system were slow."""
    logs = [log for log in facility.logs if log["archetype"] == archetype and is_fine(log) and not log["slow_ranks"]]
    assert archetype in ARCHETYPES
    assert logs
    fired = {
        (log["log"], code)
        for log in logs
        for code, state in verdicts[Path(log["log"]).name].items()
        if state == "fired" and _unclaimed(code)
    }
    assert set() == fired
