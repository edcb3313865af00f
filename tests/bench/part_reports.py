"""How long reports take: facts, pictures, pages and files, of one core; and how large the pages are."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from results import Result

from iomine.pipeline.reports import PIECE, report_piece
from iomine.report.facts import Place
from iomine.report.write import write_shared
from iomine.views.query import ask

# 10,000 reports in two minutes of one core.
_MOST_SECONDS = 0.012
_MOST_BYTES = 100_000
_LOGS = 10_000
_PLACES = "SELECT DISTINCT cluster, night, log_id FROM findings ORDER BY cluster, night DESC, log_id LIMIT $1"


def reports(database: Path) -> list[Result]:
    """Rows on the reports of logs with findings, those of the last nights first, written as a worker writes them."""
    places = [Place(**row) for row in ask(database, _PLACES, [_LOGS]).to_pylist()]
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_shared(folder)
        begun, cpu_begun = time.perf_counter(), time.process_time()
        for first in range(0, len(places), PIECE):
            new_count, faults = report_piece(places[first : first + PIECE], database, folder)
            if faults or new_count != len(places[first : first + PIECE]):
                raise RuntimeError(*faults)
        seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu_begun
        largest = max((folder / f"{place.log_id}.html").stat().st_size for place in places)
    count = len(places)
    return [
        Result(what=f"report of a log, of {count:,} with findings", ours=cpu / count, most=_MOST_SECONDS),
        Result(what="  on the clock, on one core", ours=seconds / count),
        Result(what="largest page", ours=largest, unit="B", most=_MOST_BYTES),
    ]
