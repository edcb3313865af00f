"""Local times as moments in UTC."""

from datetime import tzinfo
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from iomine.sources.accounting.words import moment, read_each

_UTC_TIME: Final = pa.timestamp("us", tz="UTC")
_LOCAL_TIME: Final = pa.timestamp("us")


class Times(NamedTuple):
    """A column of times.

    Attributes:
        moments: in UTC.
        misread: rows whose time is not understood.
        unsure: rows whose moment may be another.
    """

    moments: pa.Array
    misread: list[int]
    unsure: list[int]


def to_utc(texts: pa.Array, zone: tzinfo) -> Times:
    """Times as moments.

    Where clocks were put back, a local time occurs twice: the first is taken. Where they were put forward, some times do
    not occur: the moment of the change is taken.

    Args:
        texts: times as schedulers write them.
        zone: the zone of those without one.
    """
    moments, indices, misread = read_each(texts, moment)
    local = pa.array([None if each is None or each.tzinfo else each for each in moments], _LOCAL_TIME).take(indices)
    sure = pa.array([each if each is not None and each.tzinfo else None for each in moments], _UTC_TIME).take(indices)
    name = pa.timestamp("us", zone).tz
    taken = pc.assume_timezone(local, name, ambiguous="earliest", nonexistent="latest").cast(_UTC_TIME)
    other = pc.assume_timezone(local, name, ambiguous="latest", nonexistent="earliest").cast(_UTC_TIME)
    return Times(pc.coalesce(taken, sure), misread, pc.indices_nonzero(pc.not_equal(taken, other)).to_pylist())
