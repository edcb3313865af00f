"""A catalog of a single log, without a sweep."""

from contextlib import ExitStack
from datetime import date
from pathlib import Path

from iomine.pipeline.rows import RowSinks, rows_of
from iomine.sources.darshan import read_log
from iomine.views.catalog import build_catalog

CLUSTER = "here"
NIGHT = date(2024, 4, 18)


def catalog_of(log: Path, folder: Path) -> tuple[Path, str]:
    """The catalog of a log, written into a folder with the log's rows, and the log's id."""
    read = read_log(str(log))
    with ExitStack() as stack:
        sinks = RowSinks(folder, CLUSTER, NIGHT, stack)
        sinks.write(read.log_id, rows_of(read, str(log)))
        sinks.finish()
    lake: dict[str, list[str]] = {}
    for table, path, _, _ in sinks.files():
        lake.setdefault(table, []).append(path)
    build_catalog(folder / "iomine.duckdb", lake, {}, {})
    return folder / "iomine.duckdb", read.log_id
