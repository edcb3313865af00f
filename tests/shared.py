"""The real logs that lie beside the repository: where they are, and which there are."""

import csv
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"
NOT_HERE = "../shared/data is not here"

Row = Mapping[str, Any]


@cache
def darshan_rows() -> tuple[Row, ...]:
    """Rows of the manifest of real logs, none where the logs are not here."""
    manifest = SHARED_DATA / "darshan" / "MANIFEST.csv"
    if not manifest.exists():
        return ()
    with manifest.open(newline="") as file:
        return tuple(csv.DictReader(file))


@cache
def workloads() -> tuple[Row, ...]:
    """Entries of the manifest of logs whose behaviour is known, none where the logs are not here."""
    manifest = SHARED_DATA / "groundtruth" / "MANIFEST.json"
    return tuple(json.loads(manifest.read_text())["workloads"]) if manifest.exists() else ()


def log_of(row: Row) -> Path:
    """The log that a row of either manifest is about."""
    return SHARED_DATA / "darshan" / row["file"] if "file" in row else SHARED_DATA / "groundtruth" / row["log"]


def truth_of(row: Row) -> Row:
    """All that is known of a workload."""
    return json.loads((SHARED_DATA / "groundtruth" / row["truth_file"]).read_text())


def each(rows: tuple[Row, ...], wanted: Callable[[Row], bool]) -> list[Any]:
    """Test parameters: the rows that are wanted, or one that is skipped where the logs are not here."""
    if not rows:
        return [pytest.param(None, marks=pytest.mark.skip(reason=NOT_HERE))]
    return [pytest.param(row, id=row.get("id") or row["file"]) for row in rows if wanted(row)]
