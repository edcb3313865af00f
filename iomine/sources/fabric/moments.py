"""When a fabric was read, where the file says so itself: `ibnetdiscover` in local time, ibdiagnet with its offset."""

import re
from datetime import UTC, datetime
from typing import Final, NamedTuple

from iomine.sources.clock import read_at
from iomine.sources.model import Input

_HEAD_BYTES: Final = 1 << 16
_MONTHS: Final = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_GENERATED: Final = re.compile(
    rb"^# Topology file: generated on [A-Z][a-z]{2} ([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d\d):(\d\d):(\d\d) (\d{4})", re.MULTILINE
)
_RUNNING: Final = re.compile(
    rb"^# Running timestamp {0,3}: (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?: [\w+-]{1,8})? ([+-]\d{4})\s*$", re.MULTILINE
)
_FIRST_YEAR: Final = 1999
_LAST_YEAR: Final = 2199


class Moment(NamedTuple):
    """When an input was read.

    Attributes:
        at: in UTC.
        doubt: why that is doubtful, empty where it is not.
        is_said: whether the content says it.
    """

    at: datetime
    doubt: str
    is_said: bool


def moment_of(source: Input) -> Moment:
    """When an input was read: as its first lines say, or as its path does."""
    head = source.data[:_HEAD_BYTES]
    try:
        said = _generated(head, source) or _running(head)
    except (ValueError, OverflowError):
        said = None
    if said and _FIRST_YEAR <= said.year <= _LAST_YEAR:
        return Moment(said, "", is_said=True)
    return Moment(*read_at(source), is_said=False)


def _generated(head: bytes, source: Input) -> datetime | None:
    match = _GENERATED.search(head)
    if not match:
        return None
    month, *numbers = (text.decode() for text in match.groups())
    day, hour, minute, second, year = map(int, numbers)
    return datetime(year, _MONTHS.index(month) + 1, day, hour, minute, second, tzinfo=source.zone).astimezone(UTC)


def _running(head: bytes) -> datetime | None:
    match = _RUNNING.search(head)
    return datetime.strptime(b" ".join(match.groups()).decode(), "%Y-%m-%d %H:%M:%S %z").astimezone(UTC) if match else None
