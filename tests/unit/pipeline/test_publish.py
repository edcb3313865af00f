"""What a sweep shows readers."""

import datetime as dt
from pathlib import Path

import pytest
from catalogs import committed, staged

from iomine.lake import Warehouse
from iomine.views.query import ask


@pytest.mark.parametrize(("fewest", "kept"), [(3, 0), (2, 1)])
def test_answers_are_kept_of_many_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fewest: int, kept: int):
    """Where logs are few, an answer is worked out as soon as read."""
    monkeypatch.setattr("iomine.pipeline.publish._KEPT_FROM_LOGS", fewest)
    warehouse = Warehouse(tmp_path)
    nights = dt.date(2024, 4, 18), dt.date(2024, 4, 19)
    committed(warehouse, [staged(warehouse, "log", [{"log_id": f"{night}"}], "blue", night) for night in nights])
    tables = ask(warehouse.database, "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'kept'")
    assert ["regressions"][:kept] == tables["table_name"].to_pylist()
