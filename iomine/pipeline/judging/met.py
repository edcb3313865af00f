"""How servers and links performed in the nights of a sweep, and how that affected logs.

Servers and links are worked out beside each other: of one night most steps are a single task, which would leave workers idle.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from itertools import chain
from pathlib import Path

from iomine.lake import LakeFile, Partition, replaced
from iomine.pipeline.judging.links import TOPOLOGY, link_files
from iomine.pipeline.judging.spans import Span, divided
from iomine.pipeline.judging.steps import Steps, beside, worked
from iomine.pipeline.judging.system_state import READINGS, SLOTS, interval_files, run_files, slot_files, system_state_files
from iomine.pipeline.site.fabric import NO_SITE, SiteFabric
from iomine.pipeline.workers.model import Workers


def met_files(
    staging: Path,
    there: Sequence[LakeFile],
    merged: Sequence[LakeFile],
    workers: Callable[[], Workers] | None = None,
    site: SiteFabric = NO_SITE,
) -> tuple[list[LakeFile], set[Partition]]:
    """What servers and links did, and what logs met there.

    Args:
        staging: the folder to write to.
        there: the files of all tables as they will be.
        merged: those among them that are new.
        workers: gives workers that share what is too much to be worked out at once, None to work out all of it here.
        site: what the site says of its fabric.

    Returns:
        What was written; and the nights whose logs may have met something new, those of the new files among them.
    """
    nights = _nights(merged)
    # What is new in a night may have been met by runs of the night after.
    _, sharing = _divided(there, nights | _after(merged), workers)
    plans = [interval_files(staging, there, _nights(file for file in merged if file.table in READINGS))]
    has_fabric = any(file.table in TOPOLOGY for file in there)
    if has_fabric:
        from iomine.pipeline.judging.fabric import fabric_files, port_files  # noqa: PLC0415  loads all that derives

        plans.append(port_files(staging, there, merged, site))
    intervals, *ports = worked(beside(*plans), sharing)
    made = [*intervals, *chain.from_iterable(ports)]
    there = replaced(there, made)
    nights |= _nights(intervals)
    plans = [_of_servers(staging, there, nights, workers)]
    if has_fabric:
        found, _ = _divided(there, nights, workers)
        plans.append(fabric_files(staging, there, [*merged, *made], site, _largest(found)))
    servers, *fabric = worked(beside(*plans), sharing)
    # Both steps note what failed, and the notes of the later step include those of the earlier one.
    made = replaced(made, list(chain.from_iterable(fabric))) + servers
    there = replaced(there, made)
    nights |= _nights(made) | _after(file for file in servers if file.table in SLOTS)
    links = worked(link_files(staging, there, nights), sharing)
    # A run of the night after may have begun on the same links.
    return [*made, *links], nights | _nights(links)


def _of_servers(
    staging: Path, there: Sequence[LakeFile], nights: set[Partition], workers: Callable[[], Workers] | None
) -> Steps[list[LakeFile]]:
    slots = yield from slot_files(staging, there, nights)
    there = replaced(there, slots)
    # A run of the night after may have met with the same servers.
    nights = nights | _after(slots)
    found, _ = _divided(there, nights, workers)
    states = system_state_files(staging, there, nights, _largest(found))
    both = yield from beside(states, run_files(staging, there, found))
    return [*slots, *chain.from_iterable(both)]


def _divided(
    there: Iterable[LakeFile], nights: set[Partition], workers: Callable[[], Workers] | None
) -> tuple[list[Span], Callable[[], Workers] | None]:
    return divided((file for file in there if file.partition in nights), workers)


def _largest(found: Iterable[Span]) -> int:
    """How many logs the largest part has, which says how many each may have."""
    return max((span.logs for span in found), default=1)


def _nights(files: Iterable[LakeFile]) -> set[Partition]:
    return {partition for file in files if (partition := file.partition)}


def _after(files: Iterable[LakeFile]) -> set[Partition]:
    return {(cluster, night + timedelta(days=1)) for cluster, night in _nights(files)}
