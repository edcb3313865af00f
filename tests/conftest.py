from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from shared import NOT_HERE, SHARED_DATA
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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Parts the tiers, and puts the files that take longest first, so that no process is left with one of them at the end."""
    for item in items:
        if _CLUSTER in item.path.parents or _TAKE_LONG.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("proof")
    seconds = seconds_by_file()
    items.sort(key=lambda item: -seconds.get(str(item.path.relative_to(REPO)), 0))


@pytest.fixture(scope="session")
def scheduler() -> Iterator[str]:
    """Address of a scheduler with one worker, which spares each test the start of its own."""
    from distributed import LocalCluster  # noqa: PLC0415  takes a second, and most processes need none

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster:
        yield cluster.scheduler_address
