"""Share of the run in I/O of every real log with MPI-IO, by iomine and summed from PyDarshan's counters.

`python tests/io_time.py` writes docs/io_time.md.
"""

import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import darshan
import numpy as np
from shared import darshan_rows, log_of

from iomine.errors import UnreadableError
from iomine.pipeline.ingest.rows import tables_of
from iomine.schema.legacy import is_legacy
from iomine.sources.darshan import Log, read_log

PAGE: Final = Path(__file__).parents[1] / "docs" / "io_time.md"
_SECONDS: Final = ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME")
_STREAMS: Final = ("<STDIN>", "<STDOUT>", "<STDERR>")
_TEXT: Final = """\
# Time in I/O

<!-- Written by tests/io_time.py. -->

`io_ratio` is the share of a run's core-seconds (`run_seconds` times `nprocs`) that ranks spent in the I/O layer that the
program called: MPI-IO for files that were opened through it, POSIX for all other files, STDIO and DFS. The table compares it
with the same share summed from the counters that PyDarshan gives (`F_READ_TIME`, `F_WRITE_TIME` and `F_META_TIME` of each
record), for all {count} real logs with MPI-IO records; the largest difference is {difference} of the share. If only the lowest
layers (POSIX, STDIO and DFS) were counted, ranks that wait inside a collective call would look as if they computed: in
{doubled} of these logs the called layer took more than twice as long. `waiting` is what MPI-IO took beyond the POSIX calls on
the same file.

| log | ranks | io_ratio | by PyDarshan | lowest layers | waiting |
| --- | --- | --- | --- | --- | --- |
{rows}
"""


class Share(NamedTuple):
    """Shares of a run in I/O.

    Attributes:
        log: the log's path in the collection.
        nprocs: processes of the run.
        is_sound: whether the header's number of ranks and times are to be trusted.
        got: by iomine, None where that is not known.
        expected: by PyDarshan's counters.
        storage: in the lowest layers.
        waiting: in MPI-IO beyond POSIX.
    """

    log: str
    nprocs: int
    is_sound: bool
    got: float | None
    expected: float
    storage: float | None
    waiting: float | None


@cache
def shares() -> tuple[Share, ...]:
    """The shares of all real logs with MPI-IO records that both can read."""
    return tuple(_shares())


def _shares() -> Iterator[Share]:
    for row in darshan_rows():
        path = log_of(row)
        try:
            log = read_log(path)
        except UnreadableError:
            continue
        # PyDarshan reads none of these.
        if is_legacy(log.format_version):
            continue
        run = log.job.run_seconds * log.job.nprocs
        if not log.tables.get("mpiio_file") or run <= 0:
            continue
        known = {name: values[0] for name, values in tables_of(log, str(path))["log"][0].items()}
        names = ("io_core_seconds", "storage_core_seconds", "waiting_core_seconds")
        got, storage, waiting = (None if known[name] is None else known[name] / run for name in names)
        expected = _by_pydarshan(path, log) / run
        yield Share(row["file"], log.job.nprocs, not log.job.doubt, got, expected, storage, waiting)


def _by_pydarshan(path: Path, log: Log) -> float:
    """Core-seconds in the topmost layer of each file, of PyDarshan's records."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = darshan.DarshanReport(str(path), read_all=False)
        present = [module for module in ("MPI-IO", "POSIX", "STDIO", "DFS") if module in report.modules]
        for module in present:
            report.mod_read_all_records(module)
        records = {module: report.records[module].to_df()["fcounters"] for module in present}
    # As Python's integers: pandas compares ids of 64 bits as floats where their types differ.
    through_mpiio = set(map(int, records["MPI-IO"]["id"]))
    streams = {int(record_id) for record_id, name in report.name_records.items() if name in _STREAMS}
    total = 0.0
    for module, frame in records.items():
        left_out = through_mpiio | streams if module == "POSIX" else streams
        called = frame[[int(record_id) not in left_out for record_id in frame["id"]]]
        total += float(np.maximum(called[[f"{module.replace('-', '')}_{word}" for word in _SECONDS]].to_numpy(), 0).sum())
    return total


def page() -> str:
    """The text of docs/io_time.md."""
    found = shares()
    rows = [
        f"| `{share.log[:72]}{'…' if len(share.log) > 72 else ''}` | {share.nprocs:,} | {_percent(share.got)} "
        f"| {_percent(share.expected)} | {_percent(share.storage)} | {_percent(share.waiting)} |"
        for share in sorted(found, key=lambda share: -(share.got or 0))
    ]
    sound = [share for share in found if share.is_sound and share.got is not None]
    worst = max(abs(share.got - share.expected) / share.expected for share in sound if share.expected)
    doubled = sum(share.got > 2 * share.storage for share in sound if share.storage)
    return _TEXT.format(count=len(found), difference=f"{worst:.4%}", doubled=doubled, rows="\n".join(rows))


def _percent(ratio: float | None) -> str:
    return "not known" if ratio is None else f"{ratio:.2%}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
