"""Sweeps that are killed: readers see the state before or the state after, and the next sweep finishes the work."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest
from killing import alive, family, killed
from standing import Standing
from sweeping import ALONE, IOMINE, IOMINE_BY_ONE, State, column, rows, state, strays, wait_for

# What a command line holds of processes of each part of a sweep: workers and what starts them, and the script itself.
_ROLES = {
    "all": "",
    "client": "alone.py",
    "worker": "multiprocessing",
    "reader": "iomine.pipeline.ingest.reading",
    "scheduler": "",
}


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> list[str]:
    """The beginning of a command that sweeps without Prefect; warehouse and paths follow."""
    script = tmp_path_factory.mktemp("alone") / "alone.py"
    script.write_text(ALONE)
    return [sys.executable, str(script)]


@pytest.fixture(scope="module")
def early(shared_data: Path) -> list[Path]:
    """What the warehouse holds before: logs of three nights."""
    return [shared_data / "darshan" / "codes", shared_data / "darshan" / "ecpam21" / "logs"]


@pytest.fixture(scope="module")
def late(early: list[Path], shared_data: Path) -> list[Path]:
    """What the killed sweeps are to add: late logs of a night that is there, and logs of a new one."""
    return [*early, shared_data / "darshan" / "ecpam21", shared_data / "darshan" / "dfanalyzer"]


@pytest.fixture(scope="module")
def base(alone, early, tmp_path_factory) -> Path:
    """A warehouse that holds the early logs."""
    warehouse = tmp_path_factory.mktemp("base") / "warehouse"
    subprocess.run([*alone, warehouse, *early], check=True)
    return warehouse


@pytest.fixture(scope="module")
def undisturbed(alone, base, late, tmp_path_factory) -> tuple[State, float]:
    """What a sweep of the late logs makes of it when nobody kills it, and how many seconds that takes."""
    warehouse = tmp_path_factory.mktemp("undisturbed") / "warehouse"
    shutil.copytree(base, warehouse)
    began_at = time.monotonic()
    subprocess.run([*alone, warehouse, *late], check=True)
    return state(warehouse), time.monotonic() - began_at


@pytest.fixture
def standing(tmp_path: Path) -> Iterator[Standing]:
    """A scheduler that a sweep can be given."""
    running = Standing.on_a_free_port(tmp_path / "scratch")
    yield running
    running.end()


# Each kill costs a sweep, and what was left undone another, on machines that may be busy.
@pytest.mark.timeout(4 * 3600)
@pytest.mark.parametrize("count", [20, pytest.param(50, marks=pytest.mark.faults)])
def test_kills_of_any_process_show_nothing_by_halves(*, alone, base, late, undisturbed, standing, tmp_path, count):
    """At moments all over its life a process of a sweep is killed, over and over, on what the last sweep left.

    All of them at once, or the client, workers, the reader, or a scheduler that stands apart. After each kill all tables say the
    state before, or all say the state after; where a reader was killed, the log that it had in hand may be missing until the next
    sweep. Now and then a sweep is let run to its end, and then each table is as if nobody had ever been killed.
    """
    warehouse = tmp_path / "warehouse"
    shutil.copytree(base, warehouse)
    # The views name files by absolute paths: those of the copy.
    subprocess.run([*alone, warehouse, *late[:2]], check=True)
    before, (after, seconds) = state(base), undisturbed
    assert before == state(warehouse) != after
    kept = tmp_path / "kept"
    shutil.copytree(warehouse, kept)
    apart = tmp_path / "apart.py"
    apart.write_text(ALONE.replace("workers=1", f"scheduler={standing.address!r}"))

    chance = random.Random(20240418)
    moments = [seconds * (n + chance.random()) / count for n in range(count)]
    chance.shuffle(moments)
    for moment, role in zip(moments, cycle(_ROLES), strict=False):
        if role == "scheduler":
            standing.start()
            killer = threading.Timer(moment, standing.scheduler.kill)
            killer.start()
            subprocess.run([sys.executable, apart, warehouse, *late], check=False, stderr=subprocess.DEVNULL)
            killer.join()
            standing.end()
        else:
            killed([*alone, warehouse, *late], moment, _ROLES[role])
        if role == "reader" and state(warehouse) not in (before, after):
            subprocess.run([*alone, warehouse, *late], check=True)
            assert after == state(warehouse)
        now = state(warehouse)
        assert now in (before, after), role
        assert [] == strays(warehouse)
        if now == after:
            shutil.rmtree(warehouse)
            shutil.copytree(kept, warehouse)

    subprocess.run([*alone, warehouse, *late], check=True)
    assert after == state(warehouse)
    assert [] == strays(warehouse)


@pytest.mark.timeout(900)
def test_the_command_can_be_killed_too(base, undisturbed, alone, late, tmp_path):
    """`iomine sweep` leaves the state before or after as well, and the next one finishes."""
    warehouse = tmp_path / "warehouse"
    shutil.copytree(base, warehouse)
    subprocess.run([*alone, warehouse, *late[:2]], check=True)
    before, (after, _) = state(warehouse), undisturbed
    command = [*IOMINE_BY_ONE, "sweep", *late, "--warehouse", warehouse, "--workers", 1]
    for moment in (2.0, 4.0):
        killed(command, moment)
        assert state(warehouse) in (before, after)

    subprocess.run([*map(str, command)], check=True, capture_output=True)
    assert after == state(warehouse)


@pytest.mark.sample
def test_nothing_outlives_a_sweep_whose_first_process_is_killed(shared_data, tmp_path):
    """Workers and readers end by themselves when nobody is left to end them, and the lock is free."""
    command = [*IOMINE, "sweep", shared_data / "darshan", "--warehouse", tmp_path, "--workers", "1"]
    process = subprocess.Popen([*map(str, command)], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    pids: set[int] = set()

    def all_are_there() -> bool:
        nonlocal pids
        pids = family(process.pid)
        return "iomine.pipeline.ingest.reading" in " ".join(alive(pids))

    try:
        assert wait_for(all_are_there, 60)
    finally:
        process.kill()
        process.wait()

    assert wait_for(lambda: not alive(pids), 10), alive(pids)


@pytest.mark.parametrize("seen", ["multiprocessing.forkserver", "iomine.pipeline.ingest.reading"], ids=["starting", "reading"])
def test_ctrl_c_ends_a_sweep_in_a_line(shared_data, tmp_path, seen):
    """A terminal interrupts all processes of its group: none of them answers but the first, and none is left."""
    # Tests that a shell runs in the background inherit that it is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    command = [*IOMINE, "sweep", shared_data / "darshan", "--warehouse", tmp_path / "warehouse", "--workers", "2"]
    process = subprocess.Popen([*map(str, command)], start_new_session=True, stderr=subprocess.PIPE, text=True)
    pids: set[int] = set()

    def is_there() -> bool:
        nonlocal pids
        pids = family(process.pid)
        return seen in " ".join(alive(pids))

    assert wait_for(is_there, 60)
    os.killpg(process.pid, signal.SIGINT)
    _, reported = process.communicate(timeout=60)

    assert 130 == process.returncode
    # Without a terminal, progress is reported at the end, a line for each stage.
    assert "Interrupted." == reported.splitlines()[-1]
    assert "Traceback" not in reported
    assert wait_for(lambda: not alive(pids), 10), alive(pids)
    assert not list((tmp_path / "warehouse" / "staging").glob("*"))


def test_a_reader_never_sees_a_night_by_halves(alone, shared_data, tmp_path):
    """While sweeps add night after night, whoever asks sees the nights of some sweep, each whole in every table."""
    script = tmp_path / "nights.py"
    script.write_text(
        ALONE.replace(
            "    run(Settings(tuple(paths)",
            "    for n in range(1, len(paths) + 1):\n      run(Settings(tuple(paths[:n])",
        )
    )
    nights = [shared_data / "darshan" / name for name in ("codes", "ecpam21/logs", "ecpam21", "dfanalyzer")]
    warehouse = tmp_path / "warehouse"
    sweeps = subprocess.Popen([sys.executable, script, warehouse, *nights])
    assert wait_for((warehouse / "iomine.duckdb").exists, 60)
    seen = set()
    while sweeps.poll() is None:
        (row,) = rows(
            warehouse,
            "SELECT (SELECT count(*) FROM logs) AS logs, (SELECT count(DISTINCT log_id) FROM lake.module) AS with_modules, "
            "(SELECT count(DISTINCT log_id) FROM verdicts) AS judged, (SELECT max(found_count) FROM sweeps) AS found",
        )
        assert row["logs"] == row["with_modules"] == row["judged"] == row["found"]
        seen.add(row["logs"])

    assert 0 == sweeps.returncode
    assert [2, 5, 7, 10] == column(warehouse, "SELECT found_count FROM sweeps ORDER BY start_at")
    assert seen <= {2, 5, 7, 10}
    assert len(seen) >= 3
