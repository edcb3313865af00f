"""How far the clocks of ranks are apart, by when they left the same collective calls.

Ranks leave a blocking collective call at about the same time. So the median over calls of a rank's ends less the median
rank's says by how much its clock is ahead, and how much calls scatter about it shows how reliable that is. Nodes' clocks differ;
and each process counts from a moment of its own, so what remains of a rank's offset after its host's is corrected too.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from iomine.derive.collective import Calls
from iomine.derive.order import Ordered
from iomine.derive.radial.medians import medians
from iomine.derive.trace import Floats, Integers, group_sizes

# Fewer calls say nothing.
_LEAST_CALLS: Final = 8
# Offsets below this many median absolute deviations over calls are chance.
_DEVIATIONS: Final = 3.0
# Smaller offsets do not disturb a picture.
_LEAST_SECONDS: Final = 1e-3
# Calls of more ends are not all looked at: of a million ranks few say as much as many.
_MOST_ENDS: Final = 1 << 22


class _Ends(NamedTuple):
    """Ends of collective calls.

    Attributes:
        log: their log.
        ranks: index of the rank of each.
        beyond: by how much each is later than that of the median rank.
        call_count: calls.
    """

    log: int
    ranks: Integers
    beyond: Floats
    call_count: int


def clocks_ahead(mpiio: Ordered, calls: Calls, rank_of: Integers, hosts: Integers, nprocs: Integers) -> Floats:
    """Seconds by which the clock of each rank is ahead of the median rank's, 0 where that is not known or not worth it.

    Args:
        mpiio: the trace of MPI-IO, in order.
        calls: calls of each row of `mpiio.groups` by records.
        rank_of: index of the rank of each of its groups.
        hosts: number of the host of each rank, negative where it is not known.
        nprocs: ranks of the run of each log; only calls that all of them made count.
    """
    ahead = np.zeros(len(hosts))
    found = list(_ends(mpiio, calls, rank_of, nprocs))
    call_counts = Counter[int]()
    for ends in found:
        call_counts[ends.log] += ends.call_count
    found = [ends for ends in found if call_counts[ends.log] >= _LEAST_CALLS]
    if not found:
        return ahead
    of_ends = np.concatenate([ends.ranks for ends in found])
    beyond = np.concatenate([ends.beyond for ends in found])
    at_host = hosts[of_ends]
    host_count, is_known = int(hosts.max()) + 1, hosts >= 0
    if host_count:
        of_ranks = medians(of_ends, beyond, len(hosts))
        is_seen = is_known & ~np.isnan(of_ranks)
        of_hosts = medians(hosts[is_seen], of_ranks[is_seen], host_count)
        ahead[is_known] = _worth(of_hosts, at_host[at_host >= 0], beyond[at_host >= 0])[hosts[is_known]]
        beyond = beyond - ahead[of_ends]
    return ahead + _worth(medians(of_ends, beyond, len(hosts)), of_ends, beyond)


def _worth(offsets: Floats, groups: Integers, beyond: Floats) -> Floats:
    """Offsets of groups, 0 where they are chance or too small."""
    scatter = medians(groups, np.abs(beyond - offsets[groups]), len(offsets))
    sizes = np.abs(offsets)
    # Of a group without calls nothing is known: comparisons with NaN are false.
    return np.where((sizes > _DEVIATIONS * scatter) & (sizes > _LEAST_SECONDS), offsets, 0.0)


def _ends(mpiio: Ordered, calls: Calls, rank_of: Integers, nprocs: Integers) -> Iterator[_Ends]:
    """Ends of the collective calls of each file and direction, of ranks that made no other calls."""
    groups, order = mpiio.groups, mpiio.order
    all_make = nprocs[groups.logs]
    wanted = np.flatnonzero((calls.collective > 0) & (np.bincount(groups.rows, minlength=len(groups.ops)) == all_make))
    if not len(wanted):
        return
    pieces_of = order.groups[order.firsts]
    rows = groups.rows[pieces_of]
    sizes = group_sizes(order.firsts, len(order.groups))
    ends = mpiio.trace.ends[order.at]
    by_row = np.argsort(rows, kind="stable")
    edges = np.searchsorted(rows[by_row], [wanted, wanted + 1]).T.tolist()
    for row, (first, last) in zip(wanted.tolist(), edges, strict=True):
        ranks_of_run = int(all_make[row])
        call_count, rest = divmod(calls.collective[row], ranks_of_run)
        pieces = by_row[first:last]
        pieces = pieces[sizes[pieces] == call_count]
        if rest or 2 * len(pieces) <= ranks_of_run:
            continue
        step = -(-int(call_count) * len(pieces) // _MOST_ENDS)
        at = order.firsts[pieces][:, None] + np.arange(0, int(call_count), step)
        of_calls = ends[at]
        of_calls = of_calls[:, np.isfinite(of_calls).all(axis=0)]
        beyond = of_calls - np.median(of_calls, axis=0)
        yield _Ends(
            int(groups.logs[row]), np.repeat(rank_of[pieces_of[pieces]], beyond.shape[1]), beyond.ravel(), beyond.shape[1]
        )
