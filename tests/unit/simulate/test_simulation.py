"""The simulation as a whole: the same seed gives the same bytes, odd sizes work, and what makes no sense is refused."""

import datetime as dt
import hashlib
import re
from pathlib import Path

import numpy as np
import pytest
from simulated import Facility

from iomine.errors import OutputError, UsageError
from iomine.simulate import Settings, Summary, simulate
from iomine.simulate.slurm import host_list
from iomine.units import MIB


def run(out: Path, **settings: object) -> Summary:
    """Simulates without reporting progress."""
    return simulate(Settings(out, **{"workers": 1, **settings}), lambda *_: None)  # type: ignore[arg-type]


def digest(out: Path) -> str:
    """Of all names, times and bytes under a folder."""
    hash_ = hashlib.sha256()
    for path in sorted(out.rglob("*")):
        hash_.update(str(path.relative_to(out)).encode())
        if path.is_file():
            hash_.update(path.read_bytes())
        if path.suffix == ".darshan":
            hash_.update(str(path.stat().st_mtime_ns).encode())
    return hash_.hexdigest()


@pytest.mark.proof
def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    """Every file is the same whatever the number of processes, and others under another seed."""
    digests = []
    for name, settings in (("one", {"workers": 1}), ("two", {"workers": 2}), ("other", {"seed": 1})):
        run(tmp_path / name, log_count=250, days=2, **settings)
        digests.append(digest(tmp_path / name))
    assert digests[0] == digests[1]
    assert digests[0] != digests[2]


@pytest.mark.parametrize(("logs", "days"), [(0, 1), (1, 1), (3, 5)])
def test_few_logs_are_a_facility_too(tmp_path: Path, logs: int, days: int) -> None:
    """As many logs as were asked for, with all that goes with them, even if that is nothing."""
    summary = run(tmp_path, log_count=logs, days=days)
    assert logs == summary.logs == len([*tmp_path.rglob("*.darshan")])
    assert logs == len((tmp_path / "truth" / "logs.jsonl").read_text().splitlines())
    assert days == len([*(tmp_path / "lustre" / "series").glob("lustre_ost.*")])
    assert 144 * days == len([*(tmp_path / "lustre" / "job_stats").rglob("*.gz")])


def test_logs_lie_by_the_day_of_their_start(tmp_path: Path) -> None:
    """Logs begin at the first day and lie in folders by date, as Darshan lays them out."""
    run(tmp_path, log_count=5, days=1, start=dt.date(2025, 2, 28))
    folders = {path.parent.relative_to(tmp_path) for path in tmp_path.rglob("*.darshan")}
    assert folders <= {Path("darshan/2025/2/28"), Path("darshan/2025/3/1")}


def test_shares_of_traces_and_heat_maps_are_kept(tmp_path: Path) -> None:
    """All logs, or none, have heat maps where that is asked for."""
    for ratio in (0.0, 1.0):
        run(tmp_path / str(ratio), log_count=20, days=1, heatmap_ratio=ratio)
        logs = (tmp_path / str(ratio) / "truth" / "logs.jsonl").read_text()
        assert 20 == logs.count(f'"has_heatmap": {str(bool(ratio)).lower()}')


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    """Nothing that is there is touched."""
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(UsageError, match="is not an empty folder: name one that is"):
        run(tmp_path)
    with pytest.raises(UsageError, match="is not an empty folder: name one that is"):
        run(tmp_path / "mine")
    with pytest.raises(OutputError, match="cannot be made"):
        run(tmp_path / "mine" / "beneath")


@pytest.mark.parametrize("settings", [{"log_count": -1}, {"days": 0}, {"dxt_ratio": 1.5}, {"heatmap_ratio": float("nan")}])
def test_settings_without_sense_are_refused(tmp_path: Path, settings: dict[str, float]) -> None:
    """A sentence says what would make sense."""
    with pytest.raises(UsageError):
        run(tmp_path / "out", **settings)


FLUSH = {"nprocs": 600, "rank_bytes": 5 * MIB, "flushes": 3, "compute_seconds": 20}


def test_all_users_run_what_is_asked_for(tmp_path: Path) -> None:
    """With an archetype named, all runs are of it, incidents aside, and have what was set: here ranks, bytes and flushes."""
    run(tmp_path, log_count=12, days=1, archetype="trace_flush", parameters=FLUSH)
    facility = Facility(tmp_path)
    asked = [log for log in facility.logs if log["archetype"] == "trace_flush"]
    incidents = {"single_ost_output", "metadata_poll"}
    assert {"trace_flush"} == {log["archetype"] for log in facility.logs} - incidents
    # Some print lines, too.
    assert [(600, 600 * 5, {"read": 0, "write": 3})] * len(asked) == [
        (log["nprocs"], log["write_bytes"] // MIB, log["bursts"]) for log in asked
    ]
    assert all(20 * 3 * 0.9 < log["run_seconds"] < 20 * 3 * 1.5 for log in asked)


def test_large_runs_have_a_machine_that_bears_them(tmp_path: Path) -> None:
    """Runs of more ranks than a machine usually has make it larger; more runs than it bears are refused."""
    asked = {**FLUSH, "nprocs": 8640, "rank_bytes": 3}
    run(tmp_path / "few", log_count=1, days=1, archetype="trace_flush", parameters=asked)
    assert [8640] == [log["nprocs"] for log in Facility(tmp_path / "few").logs]
    with pytest.raises(UsageError, match="too small for so many large runs"):
        run(tmp_path / "many", log_count=40, days=1, archetype="trace_flush", parameters={**asked, "compute_seconds": 20_000})


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"archetype": "trace_flus"}, "There is no archetype trace_flus: did you mean trace_flush?"),
        ({"archetype": "x"}, "There is no archetype x: choose one of block_reads, "),
        ({"parameters": {"nprocs": 4}}, "--set is for the archetype that --archetype names: give both."),
        ({"archetype": "trace_flush", "parameters": {"flushs": 4}}, "trace_flush has no parameter flushs: did you mean flushes?"),
        (
            {"archetype": "trace_flush", "parameters": {"x": 4}},
            "trace_flush has no parameter x: it has nprocs, rank_bytes, flushes, compute_seconds.",
        ),
        ({"archetype": "trace_flush", "parameters": {"flushes": 0}}, "--set flushes must be 1 or more, not 0."),
        ({"archetype": "trace_flush", "parameters": {"nprocs": 32_769}}, "The machine holds at most 32,768 ranks: set nprocs to"),
    ],
)
def test_an_archetype_without_sense_is_refused(tmp_path: Path, settings: dict[str, object], sentence: str) -> None:
    """A sentence says what would make sense, and nothing is written."""
    with pytest.raises(UsageError, match=f"^{re.escape(sentence)}"):
        run(tmp_path / "out", **settings)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("nodes", "folded"),
    [([7], "nid00007"), ([1, 2, 3, 9], "nid[00001-00003,00009]"), ([4, 6], "nid[00004,00006]")],
)
def test_node_lists_are_folded_as_slurm_folds_them(nodes: list[int], folded: str) -> None:
    """Neighbours become a range."""
    assert folded == host_list(np.array(nodes).tolist())
