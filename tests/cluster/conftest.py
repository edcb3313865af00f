import pytest
from sweeping import judge_by_one, scheduler  # noqa: F401  the latter a fixture


@pytest.fixture
def one_trigger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judges by one trigger."""
    judge_by_one(monkeypatch)
