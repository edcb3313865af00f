"""What `mmperfmon query` prints of GPFS: a legend, then rows by time, wide tables in blocks one below the other.

Only bytes of file systems (`gpfs_fs_bytes_read`, `gpfs_fs_bytes_written`) are read: what a host moved in the bucket that
begins at the row's local time. Bytes of NSDs (`gpfs_nsdds_*`) are means over the samples of a bucket, and how many samples
that are is not printed: there is no way from them to bytes.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Final

import numpy as np
import pyarrow as pa

from iomine.errors import UnreadableError
from iomine.sources.model import Input, Readings, Source
from iomine.sources.series.doubts import complete_lines, counted, joined
from iomine.sources.series.rows import RATE, rate_rows
from iomine.sources.series.times import SECOND, time_doubt, usual_step, utc_instants

KIND: Final = "mmperfmon"
_QUERY: Final = re.compile(r"^\s*Legend:\s*$", re.MULTILINE)
_LEGEND: Final = re.compile(r"\s*(\d{1,9}):\s+(\S+)\s*")
_HEAD: Final = re.compile(r"\s*Row\s+Timestamp\s")
_ROW: Final = re.compile(r"\s*\d+\s+(\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d)\s+(.*)")
_TIME: Final = "%Y-%m-%d-%H:%M:%S"
# Some values have their unit after them.
_VALUE: Final = re.compile(r"\S+(?: [kMGTP]?B\b)?")
_NULL: Final = "null"
_COUNTERS: Final = {"gpfs_fs_bytes_read": "read_bytes", "gpfs_fs_bytes_written": "write_bytes"}
_MEANS: Final = b"|gpfs_nsdds_bytes_"


@dataclass(slots=True)
class _Block:
    """Rows under one head.

    Attributes:
        series: target and counter of each column, None where it is not read.
        times: local time of each row.
        cells: values of each row.
        bad_rows: rows that are none.
    """

    series: Sequence[tuple[str, str] | None]
    times: list[datetime] = field(default_factory=list)
    cells: list[list[str]] = field(default_factory=list)
    bad_rows: int = 0

    def add(self, time: str, values: str) -> None:
        """A further row."""
        cells = _VALUE.findall(values)
        try:
            moment = datetime.strptime(time, _TIME)  # noqa: DTZ007  the zone is the input's
        except ValueError:
            moment = None
        if moment and len(cells) == len(self.series):
            self.times.append(moment)
            self.cells.append(cells)
        else:
            self.bad_rows += 1


def _knows(given: Input) -> bool:
    return given.data.lstrip().startswith(b"Legend:")


def _read(given: Input) -> Readings:
    lines, cut = complete_lines(given.data)
    queries = _QUERY.split(lines.decode("utf-8", "backslashreplace"))[1:]
    blocks = [block for query in queries for block in _blocks(query.splitlines())]
    wanted = [block for block in blocks if any(block.series)]
    if not wanted:
        means = " Bytes of NSDs are means over an unknown number of samples." if _MEANS in lines else ""
        raise UnreadableError(f"The query has no {' or '.join(_COUNTERS)}.{means}")
    tables, doubts = zip(*(_rows(block, given.zone) for block in wanted), strict=True)
    bad = counted(sum(block.bad_rows for block in blocks), "rows were left out, as they do not have a time and all values")
    unread = counted(sum(block.series.count(None) for block in blocks), "columns that are no bytes of file systems were left out")
    return Readings({RATE: pa.concat_tables(tables)}, joined(*dict.fromkeys(doubts), bad, unread, cut))


def _blocks(lines: Iterable[str]) -> Iterator[_Block]:
    """Blocks of a query; columns go on from block to block in the legend's order."""
    legend: dict[int, str] = {}
    block = _Block(())
    columns = 0
    for line in lines:
        if match := _LEGEND.fullmatch(line):
            legend[int(match[1])] = match[2]
        elif _HEAD.match(line):
            metrics = line.split()[2:]
            block = _Block([_series(legend.get(columns + place, ""), metric) for place, metric in enumerate(metrics, 1)])
            columns += len(metrics)
            yield block
        elif match := _ROW.fullmatch(line):
            block.add(match[1], match[2])


def _series(entry: str, metric: str) -> tuple[str, str] | None:
    """Target and counter of a column, None where it is not read."""
    *key, name = entry.split("|")
    if name != metric:
        raise UnreadableError(f"The legend does not explain the column {metric}.")
    if metric not in _COUNTERS:
        return None
    match key:
        case [host, "GPFSFilesystem", _, file_system]:
            return f"{host}/{file_system}", _COUNTERS[metric]
    return None


def _rows(block: _Block, zone: tzinfo) -> tuple[pa.Table, str]:
    """Rates of a block, and what is odd about its times."""
    begin = utc_instants(block.times, zone)
    steps = np.diff(begin)
    usual = usual_step(steps) / SECOND
    if not usual:
        raise UnreadableError("It has fewer than two rows with a time, so the width of the buckets is not known.")
    wanted = [(place, *series) for place, series in enumerate(block.series) if series]
    places, targets, counters = zip(*wanted, strict=True)
    moved = np.array([[_number(cells[place]) for place in places] for cells in block.cells])
    return rate_rows(KIND, begin, usual, moved / usual, target=targets, counter=counters, unit="bytes"), time_doubt(steps)


def _number(cell: str) -> float:
    try:
        return float(cell) if cell != _NULL else np.nan
    except ValueError as error:
        raise UnreadableError(f"{cell} is no number of bytes.") from error


SOURCE: Final = Source(KIND, _knows, _read)
