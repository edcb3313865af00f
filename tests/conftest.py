from pathlib import Path

import pytest
from shared import NOT_HERE, SHARED_DATA


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real logs that lie beside the repository, which are too many to carry."""
    if not SHARED_DATA.is_dir():
        pytest.skip(NOT_HERE)
    return SHARED_DATA
