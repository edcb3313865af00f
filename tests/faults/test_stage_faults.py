"""Sweeps that something befalls at the boundary of a stage: a kill, a full disk, other inputs, a clock that jumps.

`make faults` runs these.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sweeping import ALONE, State, state, strays

pytestmark = [pytest.mark.faults, pytest.mark.timeout(900)]

# A sweep that does a deed once a stage is done; the stage, the deed, warehouse and paths are its arguments.
_FAULTY = ALONE.replace(
    'if __name__ == "__main__":',
    """
def kill(_warehouse):
    import os, signal
    os.kill(os.getpid(), signal.SIGKILL)

def fill(warehouse):
    with (warehouse.parent / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 12))
        except OSError:
            pass

# The first of the logs, of which there is a copy in this test.
def grow(warehouse):
    with (warehouse.parent / "logs" / "first.darshan").open("ab") as file:
        file.write(bytes(1 << 10))

def vanish(warehouse):
    (warehouse.parent / "logs" / "first.darshan").unlink()

def set_back(_warehouse):
    jump("-1d")

def set_ahead(_warehouse):
    jump("+400d")

def jump(distance):
    import os, select, time
    before = time.time()
    Path(os.environ["FAKETIME_TIMESTAMP_FILE"]).write_text(distance)
    while abs(time.time() - before) < 3600:
        # While the clock goes back, libfaketime makes a sleep of Python's one of less than no time.
        select.select((), (), (), 0.1)

if __name__ == "__main__":
    stage, deed = sys.argv[1:3]
    del sys.argv[1:3]
    done = getattr(room, stage)
    def and_deed(*given):
        gave = done(*given)
        globals()[deed](Path(sys.argv[1]))
        return gave
    setattr(room, stage, and_deed)""",
)
_STAGES = ("find", "identify", "read", "merge", "judge", "commit", "publish")
_DISK = "64m"


@pytest.fixture(scope="module")
def logs(shared_data: Path) -> list[Path]:
    """Seven logs of three nights."""
    return [shared_data / "darshan" / name for name in ("codes", "ecpam21")]


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A sweep that nothing disturbs, and one that something does."""
    folder = tmp_path_factory.mktemp("scripts")
    (folder / "alone.py").write_text(ALONE)
    (folder / "faulty.py").write_text(_FAULTY)
    return folder / "alone.py", folder / "faulty.py"


@pytest.fixture(scope="module")
def undisturbed(scripts, logs, tmp_path_factory: pytest.TempPathFactory) -> State:
    """What a sweep says that nothing disturbs."""
    warehouse = tmp_path_factory.mktemp("undisturbed") / "warehouse"
    assert 0 == sweep(scripts[0], warehouse, logs).returncode
    return state(warehouse)


def sweep(script: Path, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a script; lists among its arguments are several."""
    flat = [str(each) for given in arguments for each in (given if isinstance(given, list) else [given])]
    command, settings = [sys.executable, script, *flat], os.environ | environment
    return subprocess.run(command, check=False, capture_output=True, text=True, env=settings)


def finished(scripts, warehouse: Path, logs: list[Path], undisturbed: State) -> None:
    """The next sweep finishes the work: each table is as if nothing had happened, bit by bit, and nothing temporary is left."""
    assert 0 == sweep(scripts[0], warehouse, logs).returncode
    assert undisturbed == state(warehouse)
    assert [] == strays(warehouse)
    assert [] == [*(warehouse / "staging").glob("*")]


@pytest.mark.parametrize("stage", _STAGES)
def test_a_sweep_that_is_killed_after_a_stage_is_finished_by_the_next(scripts, logs, undisturbed, tmp_path, stage):
    """Readers see nothing, or all of it from the moment when it is published."""
    warehouse = tmp_path / "warehouse"
    assert -9 == sweep(scripts[1], stage, "kill", warehouse, logs).returncode
    assert (undisturbed if stage == "publish" else {}) == state(warehouse)
    finished(scripts, warehouse, logs, undisturbed)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own."""
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "none", disk], check=False, capture_output=True)
    if done.returncode:
        pytest.skip("only root mounts disks, and not everywhere")
    yield disk
    subprocess.run(["umount", disk], check=False, capture_output=True)


@pytest.mark.parametrize("stage", _STAGES)
def test_a_disk_that_is_full_after_a_stage_is_named_and_harms_nothing(scripts, logs, undisturbed, small_disk, stage):
    """Once there is room again, the next sweep finishes the work."""
    warehouse = small_disk / "warehouse"
    done = sweep(scripts[1], stage, "fill", warehouse, logs)
    if done.returncode:
        assert f"The disk that holds {warehouse}" in done.stderr
    assert state(warehouse) in ({}, undisturbed)
    (small_disk / "filler").unlink()
    finished(scripts, warehouse, logs, undisturbed)


@pytest.fixture
def own_logs(logs, tmp_path: Path) -> list[Path]:
    """Copies of the logs, which may be changed."""
    folder = tmp_path / "logs"
    for place in logs:
        shutil.copytree(place, folder / place.name)
    first = min(folder.rglob("*.darshan"))
    first.rename(folder / "first.darshan")
    return [folder]


@pytest.mark.parametrize("deed", ["grow", "vanish"])
@pytest.mark.parametrize("stage", ["find", "identify"])
def test_a_log_that_changes_during_a_sweep_is_for_the_next(scripts, own_logs, tmp_path, stage, deed):
    """All others are published; once it is whole again, each table is as if nothing had happened."""
    (folder,) = own_logs
    whole = (folder / "first.darshan").read_bytes()
    assert 0 == sweep(scripts[0], tmp_path / "undisturbed", folder).returncode
    undisturbed = state(tmp_path / "undisturbed")
    warehouse = tmp_path / "warehouse"

    assert 0 == sweep(scripts[1], stage, deed, warehouse, folder).returncode

    assert undisturbed["log"][0] - 1 == state(warehouse)["log"][0]
    (folder / "first.darshan").write_bytes(whole)
    finished(scripts, warehouse, own_logs, undisturbed)


def test_logs_on_a_read_only_disk_are_read(scripts, logs, undisturbed, small_disk, tmp_path):
    """Nothing is ever written beside them."""
    held = [shutil.copytree(place, small_disk / place.name) for place in logs]
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)

    assert 0 == sweep(scripts[0], tmp_path / "warehouse", held).returncode
    assert undisturbed["segment"] == state(tmp_path / "warehouse")["segment"]
    assert undisturbed["log"][0] == state(tmp_path / "warehouse")["log"][0]


@pytest.fixture
def clock(tmp_path: Path) -> dict[str, str]:
    """An environment in which the time of day is what a file says; what is measured is not, as when a clock is set."""
    library = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
    if library is None:
        pytest.skip("libfaketime is not here: apt-get install libfaketime")
    (tmp_path / "clock").write_text("+0")
    return {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(tmp_path / "clock"),
        "FAKETIME_CACHE_DURATION": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "NO_FAKE_STAT": "1",
    }


@pytest.mark.parametrize("deed", ["set_back", "set_ahead"])
@pytest.mark.parametrize("stage", ["find", "read", "commit"])
def test_a_clock_that_jumps_changes_nothing(*, scripts, logs, undisturbed, clock, tmp_path, stage, deed):
    """By a day back or a year ahead: workers and their keys go on, and each table is as it would be."""
    warehouse = tmp_path / "warehouse"
    done = sweep(scripts[1], stage, deed, warehouse, logs, **clock)

    assert (0, "") == (done.returncode, done.stderr[-2000:] if done.returncode else "")
    assert undisturbed == state(warehouse)
    finished(scripts, warehouse, logs, undisturbed)
