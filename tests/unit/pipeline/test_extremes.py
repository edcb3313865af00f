"""Every number of a log at the ends of its type, alone and with all others, through features, verdicts, views, reports and mails.

Readers of logs let none of these numbers through, so this is about what comes after: no arithmetic may end it.
"""

import datetime as dt
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest
from once import built_once

from iomine.errors import IomineError
from iomine.lake import LakeFile, write_file
from iomine.pipeline.digest import Order, digest
from iomine.pipeline.judging import judge as judge_room
from iomine.pipeline.reports import report_piece
from iomine.report.facts import Place, gather
from iomine.schema import TABLES
from iomine.schema.registry import arrow_schema
from iomine.triggers import TRIGGERS, reference_table
from iomine.triggers.judge import settings
from iomine.views.catalog import build_catalog
from iomine.views.model import find_views
from iomine.views.query import answer, answer_own, open_catalog, set_variables

pytestmark = pytest.mark.proof

CLUSTER, NIGHT = "blue", dt.date(2024, 4, 18)
ENDS: Final[dict[pa.DataType, tuple[Any, ...]]] = {
    pa.int64(): (2**63 - 1, -(2**63)),
    pa.float64(): (1.7e308, -1.7e308, float("inf"), float("nan")),
}
_MOST_ENDS: Final = 4
# A page takes 20 ms.
_LOGS_PER_PAGE: Final = 9
_START: Final = dt.datetime(2024, 4, 18, tzinfo=dt.UTC)
# What else a log holds is ordinary: two records, so that a sum of two extremes is asked for too.
_RECORDS: Final = 2
_ORDINARY: Final[dict[str, Any]] = {
    "rank": (-1, 0),
    "phase": (0, 1),
    "request_order": "random",
    "replay_fidelity": "exact",
    "file_id": (1, 1),
    "start_at": _START,
    "end_at": _START + dt.timedelta(seconds=100),
    "run_seconds": 100.0,
    "nprocs": 4,
    "op": ("read", "write"),
    "layer": "posix",
    "state": "read",
    "module": ("POSIX", "MPI-IO"),
    "mount": "/scratch",
    "fs_type": "lustre",
    "path": ("/scratch/a", "/scratch/b"),
    "app": "ior",
    "application": "ior",
    "lineage_id": "x",
    "user": "ada",
    "doubt": None,
    "derivation": "nothing",
    "is_partial": False,
}
# Rows of these say what a log lacks, so an ordinary log has none.
_LACKS: Final = {"special_file", "failed_derivation"}


def _tables() -> list[str]:
    """What reading a log gives: all tables of logs but those that are worked out later."""
    made = {view.name for view in find_views() if view.schema == "feature"} | {"verdict", "known_log"} | _LACKS
    return [name for name, table in TABLES.items() if "log_id" in table.columns and name not in made]


@dataclass(frozen=True)
class Extreme:
    """A log with a value at an end: of one column of a table, or of all."""

    log_id: str
    end: int
    table: str | None = None
    column: str | None = None

    def value(self, table: str, column: str, kind: pa.DataType) -> Any:
        """What the column holds in this log, None for what is ordinary."""
        if pa.types.is_list(kind):
            value = self.value(table, column, kind.value_type)
            return None if value is None else [value, value]
        ends = ENDS.get(kind)
        if not ends or self.table not in {None, table} or self.column not in {None, column}:
            return None
        return ends[self.end % len(ends)]


def extremes() -> list[Extreme]:
    """A log for each column and end, and some with all columns at their ends."""
    columns = [
        (table, field.name, end)
        for table in _tables()
        for field in arrow_schema(table)
        for end in range(len(ENDS.get(field.type.value_type if pa.types.is_list(field.type) else field.type, ())))
    ]
    alone = [Extreme(f"{number:016x}", end, table, column) for number, (table, column, end) in enumerate(columns)]
    return [*alone, *(Extreme(f"{len(alone) + end:016x}", end) for end in range(_MOST_ENDS))]


def rows_of(table: str, logs: list[Extreme]) -> pa.Table:
    """Rows of all logs, some records each (one where ordinary ones would be of the same thing)."""
    grain = TABLES[table].grain
    ordinary = [_ordinary(field) for field in arrow_schema(table) if field.name in grain]
    count = _RECORDS if not grain or any(isinstance(values, tuple) and len({*values}) > 1 for values in ordinary) else 1
    schema = arrow_schema(table)
    return pa.Table.from_arrays([_column(table, field, logs, count) for field in schema], schema=schema)


def _column(table: str, field: pa.Field, logs: list[Extreme], count: int) -> pa.Array:
    if field.name == "log_id":
        return pa.array(np.repeat([log.log_id for log in logs], count), field.type)
    ordinary = _ordinary(field)
    values = list(ordinary if isinstance(ordinary, tuple) else (ordinary,) * count)[:count] * len(logs)
    for index, log in enumerate(logs):
        if (value := log.value(table, field.name, field.type)) is not None:
            # Of the columns of a grain one record has the extreme: two would be of the same thing.
            first = index * count + (count - 1 if field.name in TABLES[table].grain else 0)
            values[first : (index + 1) * count] = [value] * ((index + 1) * count - first)
    if pa.types.is_dictionary(field.type):
        return pa.array(values, field.type.value_type).dictionary_encode().cast(field.type)
    return pa.array(values, field.type)


def _ordinary(field: pa.Field) -> Any:
    if field.name in _ORDINARY:
        return _ORDINARY[field.name]
    if pa.types.is_list(field.type):
        return [1, 2]
    return {pa.int64(): 7, pa.float64(): 0.5, pa.bool_(): True, pa.timestamp("us", tz="UTC"): _START}.get(field.type, "x")


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of these logs, judged by all triggers."""
    return built_once(tmp_path_factory, "extremes", _build)


def _build(root: Path) -> None:
    logs = extremes()
    files = [write_file(root / "lake", table, rows_of(table, logs), CLUSTER, NIGHT) for table in _tables()]
    with pytest.MonkeyPatch.context() as patch:
        # Nothing is to be withdrawn: what fails, fails here.
        patch.setattr(judge_room, "_without_culprits", lambda *_: [])
        judged = judge_room.judge([], root / "lake", files, TRIGGERS).files
    _publish(root, [*files, *judged])


def _publish(root: Path, files: list[LakeFile]) -> None:
    lake: dict[str, list[str]] = {}
    for file in files:
        lake.setdefault(file.table, []).append(str(file.path))
    build_catalog(root / "iomine.duckdb", lake, {"triggers": reference_table()}, {}, settings=settings(list(TRIGGERS.values())))


def test_every_log_is_judged_by_every_trigger(warehouse: Path) -> None:
    """Whatever stands in a column, each log has a verdict of each trigger."""
    with open_catalog(warehouse / "iomine.duckdb") as con:
        counted = "count(*) AS n, count(DISTINCT log_id) AS logs, count(DISTINCT code) AS codes"
        counts = answer_own(con, f"SELECT {counted} FROM verdicts")
    (row,) = counts.to_pylist()
    assert (len(extremes()), len(TRIGGERS)) == (row["logs"], row["codes"])
    assert len(extremes()) * len(TRIGGERS) == row["n"]


def test_every_view_answers(warehouse: Path) -> None:
    """No view fails, whichever end a number lies at."""
    failed = {}
    with open_catalog(warehouse / "iomine.duckdb") as con:
        set_variables(con, settings(list(TRIGGERS.values())))
        for view in find_views():
            try:
                answer_own(con, f"FROM {view.qualified}")
            except IomineError as error:
                failed[view.qualified] = str(error)
    assert {} == failed


def test_every_report_is_written(warehouse: Path, tmp_path: Path) -> None:
    """All can be asked for at once; pages are of a part of the logs, those with all numbers at their ends among them."""
    logs = extremes()
    with open_catalog(warehouse / "iomine.duckdb") as con:
        asked = gather(partial(answer, con), [Place(CLUSTER, NIGHT, log.log_id) for log in logs])
        assert len(logs) == sum(1 for _ in asked)
    some = [log.log_id for log in (*logs[::_LOGS_PER_PAGE], *logs[-_MOST_ENDS:])]
    _, faults = report_piece([Place(CLUSTER, NIGHT, log_id) for log_id in some], warehouse / "iomine.duckdb", tmp_path)
    assert [] == faults
    assert set(some) == {path.stem for path in tmp_path.glob("*.html")}


def test_every_mail_is_written(warehouse: Path, tmp_path: Path) -> None:
    """The user and the operators get theirs."""
    (warehouse / "digest.toml").write_text(
        'least_core_hours = 0.0\noperators = ["ops@site.test"]\n[directory]\ntemplate = "{user}@site.test"\n'
    )
    done = digest(Order(warehouse, since=NIGHT, outbox=tmp_path, is_dry=True))
    assert {"user ada", "operator operator"} == set(done.post.sent)
