"""Sweeps that are killed, or find the disk full, at the boundary of each of their stages; `make faults` runs these."""

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


def sweep(script: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs a script; lists among its arguments are several."""
    flat = [str(each) for given in arguments for each in (given if isinstance(given, list) else [given])]
    return subprocess.run([sys.executable, script, *flat], check=False, capture_output=True, text=True)


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
