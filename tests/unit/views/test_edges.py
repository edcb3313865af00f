"""Every view answers whatever numbers logs and readings hold: one that cannot would end each sweep, and each query, for ever."""

import datetime as dt
import random
import re
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from iomine.schema import TABLES
from iomine.schema.registry import arrow_schema
from iomine.triggers import TRIGGERS
from iomine.triggers.judge import settings
from iomine.views.catalog import build_catalog
from iomine.views.model import find_views
from iomine.views.query import open_catalog, set_variables

pytestmark = pytest.mark.proof

_MOST: Final = 2**63 - 1
_NIGHTS: Final = (dt.date(2024, 4, 18), dt.date(2024, 4, 19))
_ROWS: Final = 16
_EDGES: Final[dict[pa.DataType, tuple[Any, ...]]] = {
    pa.int32(): (2**31 - 1, -(2**31), 1, 0, -1, None),
    pa.int64(): (_MOST, -_MOST - 1, _MOST - 1, 2**62, 2**53, 1, 0, -1, None),
    pa.float64(): (float("inf"), float("-inf"), float("nan"), 1.7e308, -1.7e308, 5e-324, 1e300, 0.0, -0.0, 1.0, 1e15, -1.0, None),
    # As far as Arrow's microseconds go, which DuckDB holds for infinite, and as far as DuckDB's go.
    pa.timestamp("us", tz="UTC"): (_MOST, -_MOST, 9_223_371_331_200_000_000, -9_223_372_022_400_000_000, 0, 10**15, None),
    pa.date32(): (2**31 - 2, -(2**31) + 2, 0, 19_831, None),
    pa.bool_(): (True, False, None),
}
# Key columns have to be the same in several tables, or nothing would be joined.
_KEYS: Final[dict[str, tuple[Any, ...]]] = {
    "log_id": ("a" * 16, "b" * 16),
    "file_id": (1, 2),
    "rank": (-1, 0, 1, _MOST),
    "ost_id": (0, 1, _MOST, None),
    "target": ("scratch-OST0001", "scratch-OST0002", "scratch-MDT0000", "ffffffff"),
    "job_id": ("1", "2"),
    "jobid": ("1", "2"),
    "path": ("/scratch/a", "/scratch/b"),
    "user": ("alice", "bob"),
    "app": ("ior",),
    "lineage_id": ("x",),
    "mount": ("/scratch",),
    "fs_type": ("lustre",),
    "filesystem": ("scratch",),
}


def _words() -> dict[str, list[str]]:
    """What views hold text columns against."""
    found: dict[str, set[str]] = defaultdict(set)
    for view in find_views():
        for column, listed in re.findall(r"(\w+) (?:=|<>|IN) \(?((?:'[^']*'(?:, )?)+)", view.sql):
            found[column].update(re.findall(r"'([^']*)'", listed))
    return {column: sorted(words) for column, words in found.items()}


def _rows(table: str, dice: random.Random, words: dict[str, list[str]]) -> pa.Table:
    def value(column: str, kind: pa.DataType) -> Any:
        if column in _KEYS:
            return dice.choice(_KEYS[column])
        if kind in _EDGES:
            return dice.choice(_EDGES[kind])
        if pa.types.is_list(kind):
            return [value("", kind.value_type) for _ in range(dice.randrange(4))]
        return dice.choice([*words.get(column, []), "", "99999999999999999999", None])

    schema = arrow_schema(table)
    columns = [pa.array([value(each.name, _plain(each.type)) for _ in range(_ROWS)], _plain(each.type)) for each in schema]
    return pa.Table.from_arrays(columns, schema.names)


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


@pytest.fixture(scope="module", params=range(2))
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog of a lake whose every number is at an edge of its type."""
    dice, words = random.Random(request.param), _words()
    root = tmp_path_factory.mktemp("edges")
    lake: dict[str, list[str]] = {}
    for name, table in TABLES.items():
        for night in _NIGHTS if table.partitioned else _NIGHTS[:1]:
            folder = root / "lake" / name / f"cluster=blue/night={night}" if table.partitioned else root / "lake" / name
            folder.mkdir(parents=True)
            pq.write_table(_rows(name, dice, words), folder / "part.parquet")
            lake.setdefault(name, []).append(str(folder / "part.parquet"))
    build_catalog(root / "iomine.duckdb", lake, {}, {})
    return root / "iomine.duckdb"


def test_every_view_answers_at_the_edges(database: Path):
    """The largest and smallest numbers, infinite ones and none: sums, products, casts and dates all stand them."""
    failed = {}
    with open_catalog(database) as con:
        set_variables(con, settings(list(TRIGGERS.values())))
        for view in find_views():
            try:
                con.sql(f"FROM {view.qualified}").to_arrow_table()
            except duckdb.Error as error:
                failed[view.qualified] = str(error).partition("\n\n")[0]
    assert {} == failed
