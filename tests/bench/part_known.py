"""What a log costs that a sweep knows already: files that have not changed are listed, and passed over unopened.

The files are empty, and the rows by which they are known are made up.
"""

import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from options import Options, kept
from results import Result

from iomine.lake import Snapshot, write_file
from iomine.pipeline.ingest.find import find_logs
from iomine.pipeline.ingest.known import KnownFile, known_files
from iomine.pipeline.stages.context import Settings, begun
from iomine.pipeline.stages.find import Found
from iomine.pipeline.stages.identify import identify
from iomine.schema.registry import arrow_schema

_CLUSTER: Final = "default"
_NIGHTS: Final = 10
_FOLDER: Final = 1000
_MOST_BYTES: Final = 1 << 30
# Beyond listing it.
_MOST_SECONDS: Final = 10e-6


def measured(options: Options) -> list[Result]:
    """A folder of known logs, found once more."""
    found = kept(options, f"known-{options.known}", lambda: _measure(options))
    logs = found["logs"]
    yielded = Result(what=f"{logs:,} known logs: listing each", ours=found["listing"] / logs)
    return [yielded, Result(what=f"{logs:,} known logs: passing over each", ours=found["known"] / logs, most=_MOST_SECONDS)]


def _measure(options: Options) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="iomine-bench-", dir=options.cache) as place:
        folder = Path(place) / "logs"
        for number in range(options.known):
            log = folder / f"{number // _FOLDER}" / f"ada_simulate_id{number}_11-21-1-{number}_1.darshan"
            log.parent.mkdir(parents=True, exist_ok=True)
            log.touch()
        start = time.process_time()
        candidates = find_logs([folder], _MOST_BYTES)
        listing = time.process_time() - start
        found = Found(tuple(candidates), (), _lake(Path(place), candidates))
        with begun(Settings((folder,), Path(place) / "warehouse")) as sweep:
            start = time.process_time()
            identified = identify(sweep, found)
            known = time.process_time() - start
        if (options.known, options.known) != (identified.log_count, identified.logs.known):
            raise RuntimeError("A log that is known was not known.")
    return {"logs": options.known, "listing": listing, "known": known}


def _lake(place: Path, candidates: list[Any]) -> Snapshot:
    """The tables by which they are known, over some nights."""
    files, logs = [], []
    size = -(-len(candidates) // _NIGHTS)
    for number, first in enumerate(range(0, len(candidates), size)):
        part = candidates[first : first + size]
        night = date.fromordinal(date(2026, 1, 1).toordinal() + number)
        ids = [f"{value:016x}" for value in np.random.default_rng(number).integers(0, 1 << 63, len(part))]
        rows = [KnownFile(each.state.key(each.path), night, log_id) for each, log_id in zip(part, ids, strict=True)]
        files += known_files(place, (), _CLUSTER, rows)
        schema = arrow_schema("log")
        columns = [pa.array(ids) if field.name == "log_id" else pa.nulls(len(ids), field.type) for field in schema]
        table = pa.Table.from_arrays(columns, schema=schema)
        logs.append(write_file(place, "log", table, _CLUSTER, night))
    return Snapshot({}, {"known_file": files, "log": logs})
