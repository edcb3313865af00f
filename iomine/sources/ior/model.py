"""What an output of IOR says, whatever its form."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any, Final

from iomine.sources.ior.numbers import Size, Span, integer

OPS: Final = ("write", "read")
_TIME: Final = "%a %b %d %H:%M:%S %Y"
_COLUMNS: Final = {
    "bw(MiB/s)": "rate",
    "IOPS": "requests_rate",
    "block(KiB)": "block",
    "xfer(KiB)": "transfer",
    "open(s)": "open",
    "wr/rd(s)": "data",
    "close(s)": "close",
    "total(s)": "elapsed",
}
_AT_TIMES: Final = {"IOPS", "Latency", "Latency(s)", "numTasks"}
_ALWAYS: Final = {"access", "iter", *_COLUMNS} - _AT_TIMES
# What IOR prints for times that it did not take.
_NOTHING: Final = "-"


class FlawError(ValueError):
    """What is wrong with an output, and in which line; the output ends as a reject."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(line, why)
        self.line, self.why = line, why


@dataclass(slots=True)
class Result:
    """A row of the table of results.

    Attributes:
        line: where it stands.
        op: write or read.
        repetition: from 0.
        ranks: processes, where the row says it.
        rate: MiB a second, over the elapsed time.
        requests_rate: requests a second, over the time of data; of IOR 3.3 and later.
        block: KiB.
        transfer: KiB.
        open: seconds, like the next three.
        expected_bytes: what IOR was to move, where it says that it moved something else.
        moved_bytes: what it moved then.
    """

    line: int
    op: str
    repetition: int
    rate: Span
    elapsed: Span
    ranks: int | None = None
    requests_rate: Span | None = None
    block: Span | None = None
    transfer: Span | None = None
    open: Span | None = None
    data: Span | None = None
    close: Span | None = None
    expected_bytes: int | None = None
    moved_bytes: int | None = None


@dataclass(slots=True)
class Summary:
    """What IOR says at its end of all repetitions of one operation of a test.

    Attributes:
        line: where it stands.
        most: MiB a second, of the fastest repetition.
        least: of the slowest.
        mean: of all.
        seconds: mean of the elapsed time.
        moved: bytes of the first repetition.
        settings: what it says of the test, by the name of the test's attribute.
    """

    line: int
    most: Span
    least: Span
    mean: Span
    seconds: Span
    moved: Span
    settings: dict[str, object]


@dataclass(slots=True)
class Test:
    """A test of IOR.

    Attributes:
        line: where its settings begin.
        number: IOR's own.
        start: when it began; its time zone is that of the input.
        ranks: processes.
        ranks_per_node: processes on the first node.
        is_collective: NULL where IOR does not say.
        most: the fastest repetition in MiB a second, with its line, where IOR says it after the test.
    """

    line: int
    number: int
    start: datetime | None = None
    api: str | None = None
    path: str | None = None
    is_shared: bool | None = None
    is_collective: bool | None = None
    segments: int | None = None
    nodes: int | None = None
    ranks: int | None = None
    ranks_per_node: int | None = None
    repetitions: int | None = None
    block: Size | None = None
    transfer: Size | None = None
    hints: str | None = None
    results: list[Result] = field(default_factory=list)
    summaries: dict[str, Summary] = field(default_factory=dict)
    most: dict[str, tuple[int, Span]] = field(default_factory=dict)


@dataclass(slots=True)
class Launch:
    """One launch of IOR.

    Attributes:
        last_line: where its output ends.
        command: its command line.
        is_summed: whether its summary has begun.
        is_ended: whether IOR said that it had finished.
    """

    last_line: int = 0
    version: str | None = None
    host: str | None = None
    command: str | None = None
    began: datetime | None = None
    is_summed: bool = False
    is_ended: bool = False
    tests: list[Test] = field(default_factory=list)


def knows_columns(columns: Sequence[str]) -> bool:
    """Whether a table's heading has the columns of IOR 3.0 to 4.1 and no others, so that units are those that are read."""
    return _ALWAYS <= set(columns) <= _ALWAYS | _AT_TIMES


def result_of(line: int, columns: Sequence[str], words: Sequence[str], number: Callable[[str], Span]) -> Result:
    """A row of a table of results.

    Args:
        line: where it stands.
        columns: the table's heading.
        words: the row's cells.
        number: reads a number as the table has them.

    Raises:
        FlawError: it is none.
    """
    if len(words) != len(columns):
        raise FlawError(line, f"it has {len(words)} of {len(columns)} columns")
    cells = dict(zip(columns, words, strict=True))
    try:
        spans: dict[str, Any] = {
            name: number(cells[column]) for column, name in _COLUMNS.items() if cells.get(column, _NOTHING) != _NOTHING
        }
        ranks = integer(cells["numTasks"]) if "numTasks" in cells else None
        return Result(line, cells["access"], integer(cells["iter"]), ranks=ranks, **spans)
    except (ValueError, TypeError) as error:
        raise FlawError(line, _why(error)) from error


def _why(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) else "it lacks the rate or the total time"


def moment(text: str, zone: tzinfo) -> datetime:
    """A time as C's asctime writes it, in UTC; where clocks were put back, the first of two.

    Raises:
        ValueError: it is none.
    """
    local = datetime.strptime(text, _TIME).replace(tzinfo=zone)
    if not text.startswith(local.strftime("%a")):
        raise ValueError(f"{text[:40]!r} is no date")
    try:
        return local.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{text[:40]!r} is out of range") from error
