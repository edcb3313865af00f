"""Writes job_stats as each generation of Lustre does."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Counter:
    """What an operation counted; numbers are least, most, sum and sum of squares."""

    name: str
    unit: str
    samples: int
    numbers: tuple[int, int, int, int] = (0, 0, 0, 0)
    hist: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Entry:
    """A job on a target; times in nanoseconds."""

    job_id: bytes
    snapshot: int
    start: int
    counters: Sequence[Counter]


@dataclass(frozen=True)
class Dialect:
    """How a generation writes.

    Attributes:
        name: the versions.
        is_quoted: whether ids are escaped and quoted where they hold special characters.
        times: epoch for whole seconds, boot for those since the boot, else since the epoch with start and elapsed time.
        has_squares: whether there are sums of squares, and least and most of times.
        has_hist: whether byte counters end in a histogram.
        gap: what stands before numbers of eight digits.
    """

    name: str
    is_quoted: bool = False
    times: str = "epoch"
    has_squares: bool = False
    has_hist: bool = False
    gap: str = ""


DIALECTS = (
    Dialect("2.4-2.13"),
    Dialect("2.14", has_squares=True),
    Dialect("2.15.0", times="boot", has_squares=True),
    Dialect("2.15.2", is_quoted=True, times="triple", has_squares=True, gap=" "),
    Dialect("2.16", is_quoted=True, times="triple", has_squares=True, has_hist=True, gap=" "),
)
_PLAIN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.@_:/-"
_NANO = 10**9


def write(dialect: Dialect, entries: Sequence[Entry], name: str = "") -> bytes:
    """The `job_stats` of a target, with its name where there is one."""
    head = f"{name}=".encode() + (b"\n" if entries else b"") if name else b""
    return head + b"job_stats:\n" + b"".join(_entry(dialect, entry) for entry in entries)


def _entry(dialect: Dialect, entry: Entry) -> bytes:
    job_id = _escaped(entry.job_id) if dialect.is_quoted else entry.job_id
    return (
        b"- %-16s %s\n" % (b"job_id:", job_id)
        + "".join([_times(dialect, entry), *(_line(dialect, each) for each in entry.counters)]).encode()
    )


def _escaped(job_id: bytes) -> bytes:
    escaped = b"".join(bytes([byte]) if byte in _PLAIN else b"\\x%02X" % byte for byte in job_id)
    return escaped if escaped == job_id and b":" not in job_id and not job_id.startswith(b"@") else b'"%s"' % escaped


def _times(dialect: Dialect, entry: Entry) -> str:
    if dialect.times == "epoch":
        return f"  snapshot_time:   {entry.snapshot // _NANO}\n"
    reported = {"snapshot_time": entry.snapshot, "start_time": entry.start, "elapsed_time": entry.snapshot - entry.start}
    seconds = {name: f"{at // _NANO}.{at % _NANO:09} secs.nsecs\n" for name, at in reported.items()}
    if dialect.times == "boot":
        return "".join(f"{name:<16}: {text}" for name, text in seconds.items())
    return "".join(f"  {name + ':':<16} {text}" for name, text in seconds.items())


def _line(dialect: Dialect, counter: Counter) -> str:
    text = f"  {counter.name + ':':<16} {{ samples: {counter.samples:11}, unit: {counter.unit:>5}"
    least, most, total, squares = counter.numbers
    if dialect.has_squares or counter.unit == "bytes":
        text += f", min:{dialect.gap}{least:8}, max:{dialect.gap}{most:8}, sum: {total:16}"
    if dialect.has_squares:
        text += f", sumsq: {squares:18}"
    if dialect.has_hist and counter.unit == "bytes":
        text += f", hist: {{ {', '.join(f'{_bucket(power)}: {count}' for power, count in counter.hist.items())} }}"
    return text + " }\n"


def _bucket(power: int) -> str:
    return f"{1 << power % 10}{'KMGT'[power // 10 - 1] if power >= 10 else ''}"
