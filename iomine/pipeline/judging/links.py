"""What was wrong with links of the fabric in the nights of a sweep, and what logs met there.

Slots and routes come before. A log that runs past midnight has moved data in the night before its own, a port is compared
with its 30 nights, and a topology holds until the next is read; so nights are worked out from files of other nights too.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from iomine.lake import LakeFile, Partition, replaced
from iomine.pipeline.judging.rollups import KNOWN
from iomine.pipeline.judging.spans import Span
from iomine.pipeline.judging.steps import Steps, Task
from iomine.pipeline.judging.system_state import USUAL_NIGHTS, work_out

PORT_READINGS: Final = frozenset(("port_reading",))
TOPOLOGY: Final = frozenset(("fabric_link", "fabric_node", "fabric_name"))
# A log that does I/O for longer than a week is judged by the last week of links.
_LONG_NIGHTS: Final = 7
_ITS_OWN: Final = range(1)
_AROUND: Final = range(-1, 2)
_FROM_EARLY: Final = range(-_LONG_NIGHTS, 2)
_UNTIL_LATE: Final = range(-1, _LONG_NIGHTS + 1)
# For each table to compute: the tables that decide its nights, and those that it reads, with their nights relative to its own.
READ: Final[Mapping[str, tuple[frozenset[str], Mapping[str, range]]]] = {
    "link_usual": (frozenset(("link_interval",)), {"link_interval": _ITS_OWN}),
    "link_trouble": (
        frozenset(("link_interval", "link_slot")),
        {"link_interval": _ITS_OWN, "link_slot": _ITS_OWN, "link_usual": range(-USUAL_NIGHTS, 1)},
    ),
    "link_hour": (
        frozenset(("link_slot",)),
        {
            "link_slot": _ITS_OWN,
            "link_interval": range(2),
            "link_trouble": range(2),
            "job_link": _UNTIL_LATE,
            "owner_doubt": _UNTIL_LATE,
        },
    ),
    "log_link": (
        frozenset(("job_route",)),
        {"job_route": _ITS_OWN, "job_link": _FROM_EARLY, "link_slot": _FROM_EARLY, "link_trouble": _FROM_EARLY},
    ),
    "log_fabric": (frozenset(("job_route",)), {"job_route": _ITS_OWN, "log_link": _ITS_OWN, "job_link": _AROUND}),
}
# Tables of a step do not read each other.
_STEPS: Final = (("link_usual",), ("link_trouble",), ("link_hour", "log_link"), ("log_fabric",))
_OF_LOGS: Final = frozenset(("log_link", "log_fabric"))
_OF_SLOTS: Final = frozenset(("job_link", "link_slot"))
_ORDER: Final = {
    "link_usual": ("guid", "port"),
    "link_trouble": ("begin_at", "guid", "port"),
    "link_hour": ("guid", "port", "begin_at"),
    "log_link": ("log_id", "link_id"),
    "log_fabric": ("log_id",),
}


def link_files(staging: Path, there: Sequence[LakeFile], touched: Iterable[Partition]) -> Steps[list[LakeFile]]:
    """What was wrong with links in nights, and what the logs of these and of the nights after met there.

    Args:
        staging: the folder to write to.
        there: the files of all tables as they will be.
        touched: clusters and nights that got readings, topology or logs.

    Returns:
        Files of the tables above; none where no fabric was read.
    """
    nights = set(touched)
    left = _uncounted(there, nights)
    moved = [file for file in there if file.table == "job_link"]
    late = nights | {(cluster, night + timedelta(days=1)) for cluster, night in nights}
    after = {(cluster, night + timedelta(days=day)) for cluster, night in nights for day in range(_LONG_NIGHTS + 1)}
    for (cluster, night), first in _first_days(file for file in moved if file.partition in after).items():
        if any((cluster, first + timedelta(days=day)) in nights for day in range((night - first).days)):
            late.add((cluster, night))
    made: list[LakeFile] = []
    for views in _STEPS:
        tasks: list[Task] = []
        for view in views:
            given = {file.partition for file in there if file.table in READ[view][0] and file.partition}
            stays = {file.partition for file in there if file.table == view and file.partition in left}
            wanted = late if view in _OF_LOGS else nights - stays
            found = [Span(cluster, (night,), 0) for cluster, night in sorted(given & wanted)]
            tasks += _tasks(staging, view, replaced(there, made), found)
        made += chain.from_iterable((yield tasks))
    return made


def have_left(intervals: Sequence[LakeFile], slots: Sequence[LakeFile], known: Sequence[LakeFile]) -> bool:
    """Whether slots say more than can be worked out again: intervals or logs that they were made of are past their days.

    Args:
        intervals: files of `link_interval`, of one night.
        slots: files of `link_slot`, of that night.
        known: files of `known_log`, of that night: its logs have left.
    """
    column = "counted_bytes"
    if known:
        return any(file.row_count for file in slots)
    return not intervals and any(
        pq.read_table(file.path, columns=[column], partitioning=None)[column].null_count < file.row_count for file in slots
    )


def days_moved(file: LakeFile) -> set[date]:
    """The dates on which logs moved data over links, of a file of `job_link`."""
    begins = pq.read_table(file.path, columns=["begin_at"], partitioning=None)["begin_at"]
    return set(pc.unique(begins.cast(pa.date32())).to_pylist())


def _uncounted(there: Iterable[LakeFile], nights: set[Partition]) -> set[Partition]:
    """Those of the nights whose intervals or logs have left: what was made of them stays."""
    files: dict[str, dict[Partition, list[LakeFile]]] = {
        table: defaultdict(list) for table in ("link_interval", "link_slot", KNOWN)
    }
    for file in there:
        if file.table in files and file.partition in nights:
            files[file.table][file.partition].append(file)
    intervals, slots, known = files.values()
    return {night for night in slots if have_left(intervals[night], slots[night], known[night])}


def _tasks(staging: Path, view: str, there: Iterable[LakeFile], found: Iterable[Span]) -> list[Task]:
    nights_of = READ[view][1]
    by_place: dict[tuple[str, Partition], list[LakeFile]] = defaultdict(list)
    topology: dict[str, list[LakeFile]] = defaultdict(list)
    for file in there:
        if file.partition and file.table in nights_of:
            by_place[file.table, file.partition].append(file)
        elif file.cluster and file.table in TOPOLOGY:
            topology[file.cluster].append(file)

    def around(span: Span) -> Iterator[LakeFile]:
        yield from topology[span.cluster]
        (night,) = span.nights
        own = (span.cluster, night)
        # Rows of slots are many: nights before the last are read only if a log moved data then.
        first = _first_days(by_place["job_link", own]).get(own, night) if view == "log_link" else date.min
        for table, days in nights_of.items():
            for day in days:
                other = night + timedelta(days=day)
                if day >= _AROUND.start or other >= first or table not in _OF_SLOTS:
                    yield from by_place[table, (span.cluster, other)]

    return [partial(work_out, span, list(around(span)), staging, view, _ORDER[view]) for span in found]


def _first_days(moved: Iterable[LakeFile]) -> dict[Partition, date]:
    """The first day on which logs of each night moved data over links.

    Args:
        moved: files of `job_link`.
    """
    found: dict[Partition, date] = {}
    for file in moved:
        first = pc.min(pq.read_table(file.path, columns=["begin_at"], partitioning=None)["begin_at"]).as_py()
        if file.partition and first is not None:
            found[file.partition] = min(first.date(), found.get(file.partition, date.max))
    return found
