"""What moves over the links of the fabric: what jobs read and write, and what their nodes send each other.

Storage traffic is what `servers` says, from node to server or back. Nodes of a program send to the next one and to the one
halfway around, at a constant rate while the program runs, in whole seconds. All goes along the forwarding tables.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

from iomine.simulate import filesystem as fs
from iomine.simulate.network import Network, node_lids, ost_lids
from iomine.simulate.runs import Integers
from iomine.simulate.servers import Flows, firsts_of, sums_of

SLOT_SECONDS: Final = 600
_KINDS: Final = 3


class Traffic(NamedTuple):
    """Bytes by job, slot and directed link, in this order.

    Attributes:
        jobs: index of the job.
        slots: slots of ten minutes since the epoch.
        links: the link.
        moved: a row for bytes read, one for bytes written, and one for bytes between nodes.
    """

    jobs: Integers
    slots: Integers
    links: Integers
    moved: Integers


class Talk(NamedTuple):
    """What a program's nodes say to each other.

    Attributes:
        job: index of the job.
        start: when the program began, in seconds since the epoch.
        end: when it ended.
        nodes: its nodes, in the order of ranks.
        node_bytes: what each sends in a second.
    """

    job: int
    start: float
    end: float
    nodes: Integers
    node_bytes: int


_NONE: Final = np.empty(0, np.int64)
NO_TRAFFIC: Final = Traffic(_NONE, _NONE, _NONE, np.empty((_KINDS, 0), np.int64))


def traffic_of(network: Network, flows: Flows, owners: Integers, talks: Iterable[Talk]) -> Traffic:
    """Traffic of jobs.

    Args:
        network: over which it goes.
        flows: bytes between nodes and OSTs by program.
        owners: index of each program's job.
        talks: of programs on several nodes.
    """
    return _summed(network, [*_storage_parts(network, flows, owners), _talk_part(network, talks)])


def _storage_parts(network: Network, flows: Flows, owners: Integers) -> list[Traffic]:
    """Traffic of reads, which comes from the servers, and of writes, which goes there."""
    found = []
    ends = node_lids(flows.nodes), ost_lids(flows.osts)
    for kind, (moved, pair) in enumerate(zip(flows.moved, (ends[::-1], ends), strict=True)):
        some = np.flatnonzero(moved)
        links = network.route(*(lids[some] for lids in pair))
        jobs, slots = owners[flows.programs[some]], flows.minutes[some] * fs.MINUTE // SLOT_SECONDS
        found.append(_part(kind, jobs, slots, links, moved[some]))
    return found


def _talk_part(network: Network, talks: Iterable[Talk]) -> Traffic:
    talks = list(talks)
    if not talks:
        return NO_TRAFFIC
    senders = np.concatenate([np.tile(talk.nodes, 2) for talk in talks])
    receivers = np.concatenate([np.roll(talk.nodes, -by) for talk in talks for by in (1, len(talk.nodes) // 2)])
    which = np.repeat(np.arange(len(talks)), [2 * len(talk.nodes) for talk in talks])
    rates = np.array([talk.node_bytes // 2 for talk in talks])[which]
    # Rates of a program's links do not change, so that they are summed before they are spread over slots.
    on_links = _summed(network, [_part(2, which, which * 0, network.route(node_lids(senders), node_lids(receivers)), rates)])
    begins = np.array([int(talk.start) for talk in talks])
    ends = np.array([int(np.ceil(talk.end)) for talk in talks])
    first = begins // SLOT_SECONDS
    counts = (-(-ends // SLOT_SECONDS) - first)[on_links.jobs]
    row = np.repeat(np.arange(len(counts)), counts)
    of = on_links.jobs[row]
    slots = first[of] + np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    seconds = np.minimum(ends[of], (slots + 1) * SLOT_SECONDS) - np.maximum(begins[of], slots * SLOT_SECONDS)
    return Traffic(np.array([talk.job for talk in talks])[of], slots, on_links.links[row], on_links.moved[:, row] * seconds)


def _part(kind: int, jobs: Integers, slots: Integers, links: Integers, moved: Integers) -> Traffic:
    """Bytes of one kind; links have a row for each step on the way."""
    steps, of = np.nonzero(links >= 0)
    amounts = np.zeros((_KINDS, len(of)), np.int64)
    amounts[kind] = moved[of]
    return Traffic(jobs[of], slots[of], links[steps, of], amounts)


def _summed(network: Network, parts: Iterable[Traffic]) -> Traffic:
    jobs, slots, links, moved = (np.concatenate(columns, axis=-1) for columns in zip(*parts, strict=True))
    if not len(jobs):
        return NO_TRAFFIC
    origin, link_count = slots.min(), 2 * network.cable_count
    span = slots.max() - origin + 1
    keys = (jobs * span + slots - origin) * link_count + links
    order = np.argsort(keys)
    keys = keys[order]
    firsts = firsts_of(keys)
    pairs, links = np.divmod(keys[firsts], link_count)
    jobs, slots = np.divmod(pairs, span)
    return Traffic(jobs, slots + origin, links, sums_of(moved[:, order], firsts))
