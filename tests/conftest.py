from pathlib import Path

import pytest
from hypothesis import settings
from shared import NOT_HERE, SHARED_DATA

# Machines are busy at times: how long an example takes proves nothing.
settings.register_profile("iomine", deadline=None)
settings.load_profile("iomine")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real logs that lie beside the repository, which are too many to carry."""
    if not SHARED_DATA.is_dir():
        pytest.skip(NOT_HERE)
    return SHARED_DATA
