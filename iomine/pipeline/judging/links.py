"""What was wrong with links of the fabric in the nights of a sweep, and what logs met there.

Slots and routes are worked out before. A log that runs past midnight has moved data in the night before its own, a port is held
against its 30 nights, and a topology holds until the next is read; so nights are worked out from files of other nights too.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

import pyarrow as pa

from iomine.lake import LakeFile, Partition, replaced
from iomine.pipeline.judging.spans import Span, written
from iomine.pipeline.judging.system_state import USUAL_NIGHTS
from iomine.pipeline.judging.uncommitted import views_over
from iomine.schema.registry import arrow_schema

PORT_READINGS: Final = frozenset(("port_reading",))
TOPOLOGY: Final = frozenset(("fabric_link", "fabric_node", "fabric_name"))
# A log that does I/O for longer than a week is judged by the last week of links.
_LONG_NIGHTS: Final = 7
_ITS_OWN: Final = range(1)
_AROUND: Final = range(-1, 2)
# By what is worked out, the tables that give it nights, and those that it reads with their nights, seen from its own.
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
            "job_link": _AROUND,
            "owner_doubt": _AROUND,
        },
    ),
    "log_link": (
        frozenset(("job_route",)),
        {"job_route": _ITS_OWN, "job_link": _AROUND, "link_slot": _AROUND, "link_trouble": range(-_LONG_NIGHTS, 2)},
    ),
    "log_fabric": (frozenset(("job_route",)), {"job_route": _ITS_OWN, "log_link": _ITS_OWN, "job_link": _AROUND}),
}
_ORDER: Final = {
    "link_usual": ("guid", "port"),
    "link_trouble": ("begin_at", "guid", "port"),
    "link_hour": ("guid", "port", "begin_at"),
    "log_link": ("log_id", "link_id"),
    "log_fabric": ("log_id",),
}


def link_files(staging: Path, there: Sequence[LakeFile], touched: Iterable[Partition]) -> list[LakeFile]:
    """What was wrong with links in nights, and what the logs of these and of the nights after met there.

    Args:
        staging: the folder to write to.
        there: the files of all tables as they will be.
        touched: clusters and nights that got readings, topology or logs.

    Returns:
        Files of the tables above; none where no fabric was read.
    """
    nights = set(touched)
    late = nights | {(cluster, night + timedelta(days=1)) for cluster, night in nights}
    made: list[LakeFile] = []
    for view, (given_by, _) in READ.items():
        asked = late if view.startswith("log_") else nights
        if found := sorted(asked & {file.partition for file in there if file.table in given_by and file.partition}):
            made += _worked_out(staging, view, replaced(there, made), [Span(cluster, (night,), 0) for cluster, night in found])
    return made


def _worked_out(staging: Path, view: str, there: Iterable[LakeFile], found: Iterable[Span]) -> list[LakeFile]:
    nights_of = READ[view][1]
    by_place: dict[tuple[str, Partition], list[LakeFile]] = defaultdict(list)
    topology: dict[str, list[LakeFile]] = defaultdict(list)
    for file in there:
        if file.partition and file.table in nights_of:
            by_place[file.table, file.partition].append(file)
        elif file.cluster and file.table in TOPOLOGY:
            topology[file.cluster].append(file)
    columns = ", ".join(f'"{name}"' for name in arrow_schema(view, with_partition_keys=True).names)

    def around(span: Span) -> Iterator[LakeFile]:
        yield from topology[span.cluster]
        for table, days in nights_of.items():
            for day in days:
                yield from by_place[table, (span.cluster, span.nights[0] + timedelta(days=day))]

    def rows(span: Span) -> pa.Table:
        with views_over(around(span), [f"feature.{view}"]) as views:
            return views.ask(f"SELECT {columns} FROM feature.{view} WHERE {span.where}", span)  # noqa: S608  names of ours, and quoted values

    return written(staging, view, found, rows, *_ORDER[view])
