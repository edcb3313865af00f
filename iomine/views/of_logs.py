"""The published views for many questions about the same few logs.

To plan a question to the published views, over the files of all nights, takes longer than to answer it for a few logs, and each
question reads its rows again. Here what most questions read is worked out once for these logs. Tables show only nights that a
question about these logs may read, since DuckDB goes through the names of all files of a table.
"""

import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, cast

from iomine.errors import LimitError
from iomine.schema import TABLES
from iomine.views.catalog import lake_sql, shown_paths
from iomine.views.model import tables_read
from iomine.views.passing import Connection
from iomine.views.query import NO_LIMITS, Limits, failures_named, open_catalog
from iomine.views.questions import find_question

# Rows by log that several questions read and none of them of another log; each after those that it reads.
_HELD: Final = (
    *("core.posix_file", "core.mpiio_file", "core.stdio_file", "core.dfs_file", "core.daos_object", "core.h5f_file"),
    *("core.h5d_dataset", "core.pnetcdf_file", "core.pnetcdf_variable", "core.lustre_component", "core.rank_io"),
    *("core.file_name", "main.files"),
)
_NAMES: Final = ("first_night", "last_night", "first_log_id", "last_log_id", "log_ids")
_WANTED: Final = (
    "night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id "
    "AND list_contains($log_ids, log_id)"
)

# Other logs of a job, and servers' slots of a run, may lie in the night before and after.
_NEAR: Final = timedelta(days=1)
# Questions that look back at runs of a lineage, at jobs or at what the site's triggers found, and how far they do.
_LOOK_BACK: Final = ("report/history", "report/jobs", "report/done_well")
_BACK: Final = timedelta(days=91)
_NIGHT: Final = re.compile(r"/night=([0-9-]{10})/[^/]+$")


@contextmanager
def open_for_logs(database: Path, logs: Mapping[str, object], limits: Limits = NO_LIMITS) -> Iterator[Connection]:
    """A connection that answers questions about these logs as one of `open_catalog` does, and sooner.

    Other logs are missing in some of its views. It guards nothing: people's queries go to `open_catalog`.

    Args:
        database: the catalog, as published.
        logs: their `log_ids`, and between which nights and ids they lie: `first_night`, `last_night`, `first_log_id` and
            `last_log_id`.
        limits: for all queries.

    Raises:
        WarehouseError, LimitError, UsageError: as for `open_catalog` and `answer`.
    """
    wanted = {name: logs[name] for name in _NAMES}
    # Gone as soon as it is open, so that a process which is killed leaves none.
    with TemporaryDirectory(prefix="iomine-") as place:
        copy = Path(place) / database.name
        try:
            shutil.copyfile(database, copy)
        except OSError as error:
            raise LimitError(f"The catalog cannot be copied to {place}: name a folder with free space in $TMPDIR.") from error
        opened = open_catalog(copy, limits, database.absolute().parent, is_copy=True)
    with closing(opened) as con:
        # Nothing is committed, so that nothing is written that memory has room for.
        con.begin()
        with failures_named(limits):
            _narrow(con, cast("date", wanted["first_night"]), cast("date", wanted["last_night"]))
            for view in _HELD:
                con.execute(f"ALTER VIEW {view} RENAME TO {view.partition('.')[2]}_of_all")
                con.execute(f"CREATE TABLE {view} AS FROM {view}_of_all WHERE {_WANTED}", wanted)
        yield con


def _narrow(con: Connection, first: date, last: date) -> None:
    """Leaves files out that lie too far from these nights for any question about their logs."""
    end = str(last + _NEAR)
    for table, sql in con.execute("SELECT view_name, sql FROM duckdb_views() WHERE schema_name = 'lake'").fetchall():
        if (days := _days_before().get(table)) is None:
            continue
        begin, files = str(first - days), shown_paths(sql)
        near = [path for path in files if (found := _NIGHT.search(path)) and begin <= found[1] <= end]
        if len(near) < len(files):
            con.execute(f"CREATE OR REPLACE VIEW lake.{table} AS {lake_sql(TABLES[table], near)}")


@cache
def _days_before() -> Mapping[str, timedelta]:
    """How far back questions about logs look in tables by log, and in others that they look back at."""
    looked_back = tables_read([read for name in _LOOK_BACK for read in find_question(name).reads])
    return {
        name: _BACK if name in looked_back else _NEAR
        for name, table in TABLES.items()
        if table.partitioned and ("log_id" in table.columns or name in looked_back)
    }
