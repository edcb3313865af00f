import pytest
from sweeping import scheduler  # noqa: F401  a fixture

from iomine.pipeline import sweep as sweep_room
from iomine.triggers import TRIGGERS


@pytest.fixture
def one_trigger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judges by one trigger: planning the questions of all takes longer than the rest of a small sweep."""
    monkeypatch.setattr(sweep_room, "site_triggers", lambda _warehouse: {"P05": TRIGGERS["P05"]})
