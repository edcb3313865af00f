"""How long reports take: facts, pictures, pages and files, of one core; and how large the pages are."""

import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from results import Result

from iomine.report.facts import Place
from iomine.report.write import write_reports
from iomine.views.query import Limits, answer_own, open_catalog

# 10,000 reports in two minutes of one core.
_MOST_SECONDS = 0.012
_MOST_BYTES = 100_000
_LOGS = 2000
_PLACES = "SELECT DISTINCT cluster, night, log_id FROM findings ORDER BY night DESC, log_id LIMIT $1"


def reports(database: Path) -> list[Result]:
    """Rows on the reports of logs with findings, those of the last nights first."""
    with TemporaryDirectory() as folder, open_catalog(database, Limits(threads=1)) as con:
        places = [Place(**row) for row in answer_own(con, _PLACES, [_LOGS]).to_pylist()]
        begun, cpu_begun = time.perf_counter(), time.process_time()
        written = list(write_reports(partial(answer_own, con), places, Path(folder)))
        seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu_begun
        if faults := [each.fault for each in written if each.fault]:
            raise RuntimeError(faults[0])
        largest = max(each.page.stat().st_size for each in written)
    count = len(written)
    return [
        Result(what=f"report of a log, of {count:,} with findings", ours=cpu / count, most=_MOST_SECONDS),
        Result(what="  on the clock, on one core", ours=seconds / count),
        Result(what="largest page", ours=largest, unit="B", most=_MOST_BYTES),
    ]
