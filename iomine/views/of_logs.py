"""The published views for many questions about the same few logs.

To plan a question to the published views, over the files of all nights, takes longer than to answer it for a few logs, and each
question reads its rows anew. Here what most of them read is worked out once, for these logs alone.
"""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from iomine.errors import LimitError
from iomine.views.passing import Connection
from iomine.views.query import NO_LIMITS, Limits, failures_named, open_catalog

# Rows by log that several questions read and none of them of another log; each after those that it reads.
_HELD: Final = (
    *("core.posix_file", "core.mpiio_file", "core.stdio_file", "core.dfs_file", "core.daos_object", "core.h5f_file"),
    *("core.h5d_dataset", "core.pnetcdf_file", "core.pnetcdf_variable", "core.lustre_component", "core.rank_io"),
    *("core.file_name", "core.file_time", "core.io_part", "main.files"),
)
_NAMES: Final = ("first_night", "last_night", "first_log_id", "last_log_id", "log_ids")
_WANTED: Final = (
    "night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id "
    "AND list_contains($log_ids, log_id)"
)


@contextmanager
def open_for_logs(database: Path, logs: Mapping[str, object], limits: Limits = NO_LIMITS) -> Iterator[Connection]:
    """A connection as by `open_catalog` that answers as that does, and sooner, where a question is about these logs.

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
    with TemporaryDirectory(prefix="iomine-") as place:
        copy = Path(place) / database.name
        try:
            shutil.copyfile(database, copy)
        except OSError as error:
            raise LimitError(f"The catalog cannot be copied to {place}: name a folder with room in $TMPDIR.") from error
        with closing(open_catalog(copy, limits, database.absolute().parent, is_copy=True)) as con:
            # Nothing is committed, so that nothing is written that memory has room for.
            con.begin()
            with failures_named(limits):
                for view in _HELD:
                    con.execute(f"ALTER VIEW {view} RENAME TO {view.partition('.')[2]}_of_all")
                    con.execute(f"CREATE TABLE {view} AS FROM {view}_of_all WHERE {_WANTED}", wanted)
            yield con
