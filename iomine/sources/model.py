"""The interface of readers of server statistics and accounting, which know their inputs by shape."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Final

import pyarrow as pa

from iomine.units import GIB

# What an input may have, packed and unpacked.
LARGEST_BYTES: Final = GIB
# Kinds of inputs that say how something is until another of the kind says otherwise: the same again says nothing new.
SNAPSHOTS: Final = frozenset(
    (
        *("forwarding_tables", "guid_names", "hosts", "iblinkinfo", "ibnetdiscover", "ibnetdiscover_p", "lctl_dl", "subnet_lst"),
        *("topology_conf",),
    )
)
# So begins what a doubt says of an input that was read for one cluster of several, and is to be read for the others too.
ELSEWHERE: Final = "Left to other clusters"


@dataclass(frozen=True, slots=True)
class Input:
    """A file other than a Darshan log, unpacked.

    Attributes:
        path: where it was, which may name the target or the time of reading where the content does not.
        data: its bytes.
        modified_at: when the file was last changed, in UTC.
        zone: time zone of times without one.
        cluster: the machine that it is about, as the sweep names it; empty where nobody named it.
    """

    path: str
    data: bytes
    modified_at: datetime
    zone: tzinfo = UTC
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class Readings:
    """What an input holds.

    Attributes:
        tables: rows by table, in the table's Arrow schema and with a last column `night`, the UTC date they belong to.
        doubt: what is not to be trusted or was left out, in a sentence; empty where all is sound.
        has_moment: whether the content says when it was read; if not, equal bytes may be readings of several moments.
    """

    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    doubt: str = ""
    has_moment: bool = True


@dataclass(frozen=True, slots=True)
class Source:
    """A reader of one kind of input.

    Attributes:
        kind: its name, which becomes `source_kind`.
        knows: whether an input looks as if it were of this kind.
        read: reads it; raises UnreadableError where it cannot.
    """

    kind: str
    knows: Callable[[Input], bool]
    read: Callable[[Input], Readings]
