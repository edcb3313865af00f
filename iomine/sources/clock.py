"""When an input was read: as its path says, or as something within it says, or when the file was last changed.

A path says it by a date with a time of day (`2026-01-05/1410.txt`, `20260105T141000`, `2026-01-05T14:10:00Z`), or in
seconds since the epoch (`stats.1767622200`). Where a path has several, the last one counts.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from iomine.sources.model import Input

_MOMENT: Final = re.compile(
    r"(?<![0-9A-Za-z])"
    r"(?P<year>20\d\d)(?P<dash>[-_./]?)(?P<month>\d\d)(?P=dash)(?P<day>\d\d)"
    # A folder may stand between date and time, named after the server; digits alone need nothing between them.
    r"(?:[-_./T ]|/[^/]{1,255}/|(?<=\d{8}))"
    r"(?P<hour>\d\d)(?P<colon>[-:_./h]?)(?P<minute>\d\d)(?:(?P=colon)(?P<second>\d\d))?"
    r"(?P<offset>Z|[+-](?:0\d|1[0-4]):?[0-5]\d)?(?!\d)"
)
_EPOCH: Final = re.compile(r"(?<![0-9A-Za-z])(?P<epoch>[12]\d{9})(?![0-9A-Za-z])")
_PARTS: Final = ("year", "month", "day", "hour", "minute", "second")
# A path names the minute in which reading begins; what is read may be of its end.
_SLACK: Final = timedelta(minutes=1)


class ReadAt(NamedTuple):
    """When an input was read.

    Attributes:
        at: the moment, in UTC.
        doubt: why it is doubtful, empty where it is not.
    """

    at: datetime
    doubt: str


def read_at(source: Input, content_at: datetime | None = None, latest: datetime | None = None) -> ReadAt:
    """When an input was read, for content that does not say so of itself.

    Args:
        source: the input; its path counts first.
        content_at: what something else in the same input says; used if the path has no time.
        latest: the latest event in the input; it cannot have been read before that.

    Returns:
        The moment; when the file was last changed where neither path nor content says it.
    """
    named = _named(source)
    at = named.at if named else content_at
    doubt = "" if at else "nothing but the file's time of change says when it was read"
    if named and not named.is_sure:
        doubt = "its path names a local time that does not occur once, because clocks changed"
    at = at or source.modified_at
    if latest is None or latest <= at:
        return ReadAt(at, doubt)
    if latest > at + _SLACK:
        doubt = f"it has an event at {latest:%Y-%m-%d %H:%M:%S} UTC, after it was read at {at:%Y-%m-%d %H:%M:%S}"
    return ReadAt(latest, doubt)


def moment_given(source: Input) -> datetime:
    """When an input was read if its content does not say so, in UTC: what two inputs of equal bytes may differ in."""
    return time_in_path(source) or source.modified_at


def time_in_path(source: Input) -> datetime | None:
    """The moment that an input's path names, in UTC; None where it names none."""
    named = _named(source)
    return named.at if named else None


class _Named(NamedTuple):
    """A time in a path.

    Attributes:
        start: where it begins there.
        at: the moment, in UTC; the first of two with the same local time.
        is_sure: whether that local time occurs once.
    """

    start: int
    at: datetime
    is_sure: bool = True


def _named(source: Input) -> _Named | None:
    return max(_moments(source), default=None)


def _moments(source: Input) -> Iterator[_Named]:
    for match in _MOMENT.finditer(source.path):
        if named := _moment(match, source):
            yield named
    for match in _EPOCH.finditer(source.path):
        yield _Named(match.start(), datetime.fromtimestamp(int(match["epoch"]), UTC))


def _moment(match: re.Match[str], source: Input) -> _Named | None:
    try:
        at = datetime(*(int(match[part] or 0) for part in _PARTS), tzinfo=source.zone)  # type: ignore[misc, arg-type]
        if match["offset"]:
            at = datetime.fromisoformat(at.replace(tzinfo=None).isoformat() + match["offset"])
        return _Named(match.start(), at.astimezone(UTC), at.utcoffset() == at.replace(fold=1).utcoffset())
    except (ValueError, OverflowError):
        return None
