"""A catalog of a single log, without a sweep, and what reports make of it."""

from collections.abc import Sequence
from contextlib import ExitStack
from datetime import date
from functools import partial
from pathlib import Path

import catalogs

from iomine.lake import LakeFile
from iomine.pipeline.ingest.rows import RowSinks, rows_of
from iomine.report.facts import Facts, Place, gather
from iomine.report.page import page
from iomine.report.radial import Radial, radials_of
from iomine.report.trace import Highlight, Trace, traces_of
from iomine.sources.darshan import read_log
from iomine.views.query import answer, open_catalog

CLUSTER = "here"
NIGHT = date(2024, 4, 18)


def catalog_of(log: Path, folder: Path) -> tuple[Path, str]:
    """The catalog of a log, written into a folder with the log's rows, and the log's id."""
    read = read_log(str(log))
    with ExitStack() as stack:
        sinks = RowSinks(folder, CLUSTER, NIGHT, stack)
        sinks.write([read.log_id], rows_of([(read, str(log))]))
        sinks.finish()
    files = [LakeFile(table, CLUSTER, NIGHT, Path(path), size, rows) for table, path, size, rows in sinks.files()]
    return catalogs.catalog_of(folder, [*files, *catalogs.worked_out(folder, files)]), read.log_id


def reported(database: Path, log_id: str, highlights: Sequence[Highlight] = ()) -> tuple[Facts, Trace | None]:
    """What is known of the log, and what its report shows of its trace."""
    facts = facts_of(database, log_id)
    return facts, trace_of(database, facts, highlights)


def facts_of(database: Path, log_id: str) -> Facts:
    """What is known of the log."""
    with open_catalog(database) as con:
        (facts,) = gather(partial(answer, con), [Place(CLUSTER, NIGHT, log_id)])
        return facts


def trace_of(database: Path, facts: Facts, highlights: Sequence[Highlight] = ()) -> Trace | None:
    """What the log's report shows of its trace."""
    with open_catalog(database) as con:
        return dict(traces_of(partial(answer, con), [(facts.log, highlights)])).get(facts.log["log_id"])


def talks_of(database: Path, facts: Facts) -> Radial | None:
    """What the log's report shows of who talks to whom."""
    with open_catalog(database) as con:
        return dict(radials_of(partial(answer, con), [facts.log])).get(facts.log["log_id"])


def report_page(database: Path, log_id: str, highlights: Sequence[Highlight] = ()) -> str:
    """The log's report in one file."""
    facts, trace = reported(database, log_id, highlights)
    return page(facts, trace, talks_of(database, facts), standalone=True)
