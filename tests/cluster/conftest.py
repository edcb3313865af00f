import pytest
from sweeping import judge_by_one


@pytest.fixture
def one_trigger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judges by one trigger."""
    judge_by_one(monkeypatch)
