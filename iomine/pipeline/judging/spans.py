"""Logs that are judged at once: a few nights of them, or of a long night those of a range of ids.

What is judged at once lies in memory together, so its bound is that of a sweep, however long a night is.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from math import ceil
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from iomine.errors import LimitError
from iomine.lake import LakeFile, ParquetSink, Partition
from iomine.lake.files import new_file_path
from iomine.pipeline.workers.model import Workers
from iomine.schema.registry import arrow_schema
from iomine.sqltext import quoted

# Large enough that the second it takes to plan a query is negligible.
JUDGED_AT_ONCE: Final = 10_000
_FEWEST_AT_ONCE: Final = 2000
_EDGE_DIGITS: Final = 4
_PLACE_DIGITS: Final = 16
_BEYOND_DIGITS: Final = "g"
_BEYOND_ALL: Final = chr(0x10FFFF)

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Span:
    """Consecutive nights of a cluster, or a part of one.

    Attributes:
        cluster: partition key.
        nights: partition keys.
        logs: how many; of a part of a night, about.
        log_ids: the first id of the part, and its end (exclusive); None for all.
    """

    cluster: str
    nights: tuple[date, ...]
    logs: int
    log_ids: tuple[str, str] | None = None

    @property
    def partitions(self) -> list[tuple[str, date]]:
        """Pairs of cluster and night."""
        return [(self.cluster, night) for night in self.nights]

    @property
    def edges(self) -> tuple[str, str]:
        """The first id of a log, and the end of ids (exclusive), also for all logs."""
        return self.log_ids or ("", _BEYOND_ALL)

    @property
    def halves(self) -> "tuple[Span, ...]":
        """The span in two, cut between nights or ids; none where it has one log."""
        if self.logs <= 1:
            return ()
        logs = (self.logs - self.logs // 2, self.logs // 2)
        if middle := len(self.nights) // 2:
            nights = (self.nights[:middle], self.nights[middle:])
            return tuple(Span(self.cluster, *each, self.log_ids) for each in zip(nights, logs, strict=True))
        first, end = self.edges
        low, high = (_place(edge) for edge in (first, end))
        cut = f"{(low + high) // 2:0{_PLACE_DIGITS}x}"
        return tuple(Span(self.cluster, self.nights, *each) for each in zip(logs, ((first, cut), (cut, end)), strict=True))

    @property
    def where(self) -> str:
        """A condition that spares DuckDB the files of other nights, and row groups of other ids."""
        first, last = (f"DATE {quoted(night.isoformat())}" for night in (self.nights[0], self.nights[-1]))
        ids = "" if self.log_ids is None else f" AND log_id >= {quoted(self.log_ids[0])} AND log_id < {quoted(self.log_ids[1])}"
        return f"cluster = {quoted(self.cluster)} AND night BETWEEN {first} AND {last}{ids}"


def _place(edge: str) -> int:
    """Where an edge lies among the ids."""
    return 16**_PLACE_DIGITS if edge >= _BEYOND_DIGITS else int(edge[:_PLACE_DIGITS].ljust(_PLACE_DIGITS, "0"), 16)


def spans(files: Iterable[LakeFile], logs_at_once: int) -> list[Span]:
    """Spans of no more logs than may be judged at once.

    Args:
        files: of all tables; those of the table `log` count.
        logs_at_once: what a span may hold.
    """
    counts: Counter[Partition] = Counter()
    for file in files:
        if file.table == "log" and (partition := file.partition):
            counts[partition] += file.row_count
    found = []
    for cluster, of_cluster in groupby(sorted(counts.items()), key=lambda item: item[0][0]):
        nights: list[date] = []
        total = 0
        for (_, night), logs in of_cluster:
            if nights and total + logs > logs_at_once:
                found.append(Span(cluster, tuple(nights), total))
                nights, total = [], 0
            if logs > logs_at_once:
                found += _parts(cluster, night, logs, -(-logs // logs_at_once))
            else:
                nights.append(night)
                total += logs
        if nights:
            found.append(Span(cluster, tuple(nights), total))
    return found


def _parts(cluster: str, night: date, logs: int, count: int) -> list[Span]:
    """A night in parts; ids are hashes, so equal ranges hold about as many logs."""
    edges = [f"{part * 16**_EDGE_DIGITS // count:0{_EDGE_DIGITS}x}" for part in range(count)]
    log_ids = zip(edges, [*edges[1:], _BEYOND_DIGITS], strict=True)
    return [Span(cluster, (night,), logs * (part + 1) // count - logs * part // count, ids) for part, ids in enumerate(log_ids)]


def written(
    staging: Path,
    table: str,
    of_spans: Iterable[Span],
    rows_of: Callable[[Span], pa.Table],
    *order: str,
    notes: Mapping[str, str] = MappingProxyType({}),
) -> list[LakeFile]:
    """Writes rows span by span, to a file for each night.

    Args:
        staging: the folder to write to.
        table: whose rows they are.
        of_spans: what to write; the parts of a night follow each other.
        rows_of: gives the rows of a span, with `cluster` and `night`, in any order.
        order: columns that the rows of a span are sorted by.
        notes: for the metadata of the files.
    """
    schema = arrow_schema(table)
    files = []
    for (cluster, nights), group in groupby(of_spans, key=lambda span: (span.cluster, span.nights)):
        with ExitStack() as stack:
            sinks = {
                night: stack.enter_context(ParquetSink(table, new_file_path(staging, table, cluster, night), notes))
                for night in nights
            }
            for span in group:
                rows = rows_of(span).sort_by([(name, "ascending") for name in order])
                for night, sink in sinks.items():
                    of_night = rows if len(nights) == 1 else rows.filter(pc.equal(rows["night"], pa.scalar(night)))
                    sink.write(of_night.select(schema.names).cast(schema))
        files += [sink.lake_file(cluster, night) for night, sink in sinks.items()]
    return files


def in_halves(span: Span, work: Callable[[Span], list[LakeFile]]) -> list[LakeFile]:
    """What is written for the logs of a span, in halves where memory is too little for all at once.

    Args:
        span: the logs.
        work: writes it for a span.

    Raises:
        LimitError: memory is too little for one log.
    """
    try:
        return work(span)
    except LimitError:
        if not span.halves:
            raise
    return [file for half in span.halves for file in in_halves(half, work)]


def shared(
    workers: Callable[[], Workers] | None, function: Callable[..., _Result], items: Iterable[_Item], *arguments: object
) -> Iterator[tuple[_Item, _Result]]:
    """Items with what a function makes of each, in any order.

    Args:
        workers: gives workers that do it, None to do it here.
        function: called as `function(item, *arguments)`.
        items: what to work on.
        arguments: the same for all items.
    """
    if workers is not None:
        yield from workers().map(function, items, *arguments)
        return
    for item in items:
        yield item, function(item, *arguments)


def divided(files: Iterable[LakeFile], workers: Callable[[], Workers] | None) -> tuple[list[Span], Callable[[], Workers] | None]:
    """Spans of the logs of some nights, and who works on them; None for this process.

    Each worker gets an equal part, but enough logs for the plans of its queries not to outweigh them.

    Args:
        files: of all tables of these nights.
        workers: gives workers, None where there are none.
    """
    of_logs = [file for file in files if file.table == "log"]
    logs = sum(file.row_count for file in of_logs)
    at_once = JUDGED_AT_ONCE
    if workers is not None and logs >= 2 * _FEWEST_AT_ONCE:
        at_once = min(at_once, max(_FEWEST_AT_ONCE, ceil(logs / workers().capacity())))
    found = spans(of_logs, at_once)
    # One span would take a worker as long as this process, which makes the views anyway. So it is judged here.
    return found, workers if len(found) > 1 else None
