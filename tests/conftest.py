import json
import os
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings
from once import built_once
from shared import NOT_HERE, SHARED_DATA
from sweeping import IOMINE
from tiers import REPO, seconds_by_file

# What asks for one of these sweeps, starts a browser or builds the client.
_TAKE_LONG = {"scheduler", "browser", "client"}
_CLUSTER = REPO / "tests" / "cluster"

# Machines are busy at times: how long an example takes proves nothing.
settings.register_profile("iomine", deadline=None)
settings.load_profile("iomine")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real logs that lie beside the repository, which are too many to carry."""
    if not SHARED_DATA.is_dir():
        pytest.skip(NOT_HERE)
    return SHARED_DATA


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Three processes for two cores: tests wait for browsers, servers, and the workers of a sweep."""
    return max(1, len(os.sched_getaffinity(0)) * 3 // 2)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Assigns tests to tiers, and puts the files that take longest first, so that no process ends long after the others."""
    # Of thousands of tests, so a file's path is looked at once.
    is_cluster = cache(lambda path: _CLUSTER in path.parents)
    name = cache(lambda path: str(path.relative_to(REPO)))
    for item in items:
        if is_cluster(item.path):
            item.add_marker("site")
        if _TAKE_LONG.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("proof")
    seconds = seconds_by_file()
    items.sort(key=lambda item: -seconds.get(name(item.path), 0))


@pytest.fixture(scope="session")
def scheduler() -> Iterator[str]:
    """Address of a scheduler with one worker, which spares each test the start of its own."""
    from distributed import LocalCluster  # noqa: PLC0415  takes a second, and most processes need none

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="session")
def real_sweep(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """All real logs, swept by the real command into a warehouse that nobody may change, and what the command said."""

    def sweep(folder: Path) -> None:
        command = [*IOMINE, "sweep", shared_data / "darshan", "--warehouse", folder / "warehouse", "--json", "--cluster", "open"]
        done = subprocess.run(command, check=False, capture_output=True, encoding="utf-8")
        (folder / "said.json").write_text(json.dumps([done.returncode, done.stdout, done.stderr]))

    folder = built_once(tmp_path_factory, "real_sweep", sweep)
    return folder / "warehouse", subprocess.CompletedProcess([], *json.loads((folder / "said.json").read_text()))
