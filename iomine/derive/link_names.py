"""Names the pattern of a ring: circular, striped, noisy or outlier, from the medians of its nodes.

The four names are those of Sigovan et al., who give them by eye to pictures. Here statistics give them, which
`docs/patterns.md` explains and `docs/pattern_truth.md` measures. All that is asked of a node is the median of log10 of its
values, so one slow request does not make a slow node.

Rounding must not decide a name at a threshold: medians, spreads and shares are compared to nine decimals. Rows are put in
order first, so that sums do not depend on theirs.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from iomine.derive.trace import Flags, Floats, Integers

PATTERNS: Final = ("circular", "outlier", "striped", "noisy", "unknown")
CIRCULAR, OUTLIER, STRIPED, NOISY, UNKNOWN = range(len(PATTERNS))

# Of a normal distribution, the standard deviation is this many median absolute deviations.
_SCALE: Final = 1.4826
_SCALES: Final = 3.5
_TWICE: Final = float(np.log10(2))
_WIDE_DECADES: Final = 0.16
_FEW_IN: Final = 20
_FEWEST_FEW: Final = 2
# With fewer nodes, two outliers are not few.
_SMALL: Final = 8
# Least numbers of nodes that show a core, and that show an order.
FEWEST_NODES: Final = 4
FEWEST_ORDERED: Final = 32

_BANDS: Final = (2, 4, 8, 16, 32, 64)
_PERIODS: Final = range(2, 65)
_EXPLAINED: Final = 0.5
# A finer parting explains a little more by chance; the coarsest that explains nearly as much is reported.
_NEARLY: Final = 0.02
_ORDERS: Final = 40
_SEED: Final = 20
_DECIMALS: Final = 9


class Names(NamedTuple):
    """The pattern of each group of nodes.

    Attributes:
        patterns: index into `PATTERNS`.
        node_counts: nodes with a median.
        medians: median of the medians (M), NaN where there are no nodes.
        scales: 1.4826 times the median distance from it (s), NaN likewise.
        spreads: 90th less the 10th percentile of the core, in decades, NaN likewise.
        outlying_counts: how many nodes are outliers.
        explained: share of the core's variance that the best parting explains, adjusted for degrees of freedom; NaN where none
            was looked for.
        band_counts: equal bands of neighbouring nodes, 0 where it is not striped by bands.
        periods: p, where every p-th node is alike, 0 where it is not striped so.
        is_outlying: for each row, whether it is an outlier of its group.
        is_core: for each row, whether it is in its group's core.
    """

    patterns: Integers
    node_counts: Integers
    medians: Floats
    scales: Floats
    spreads: Floats
    outlying_counts: Integers
    explained: Floats
    band_counts: Integers
    periods: Integers
    is_outlying: Flags
    is_core: Flags


class _Stripes(NamedTuple):
    """The best parting of a core.

    Attributes:
        explained: share of the variance that it explains.
        bands: equal bands, 0 where every p-th node belongs together.
        period: p, 0 where there are bands.
        is_order: whether the order of nodes has to do with it: no random order explains as much.
    """

    explained: float
    bands: int
    period: int
    is_order: bool


def named(groups: Integers, nodes: Integers, medians: Floats, group_count: int) -> Names:
    """The pattern of each group of nodes.

    Args:
        groups: group of each row, from 0.
        nodes: number of the node in its circle, which orders a group's nodes; once in a group.
        medians: median of log10 of the node's values; one without (NaN, infinite) is left out.
        group_count: how many groups there are.
    """
    is_outlying, is_in_core = np.zeros(len(groups), bool), np.zeros(len(groups), bool)
    known = np.flatnonzero(np.isfinite(medians))
    rows = known[np.lexsort((nodes[known], groups[known]))]
    of, values = groups[rows], medians[rows]
    node_counts = np.bincount(of, minlength=group_count)
    by_value = np.lexsort((values, of))
    (middles,) = _quantiles(values[by_value], node_counts, 0.5)
    distances = (values - middles[of]).round(_DECIMALS)
    sizes = np.abs(distances)
    scales = _SCALE * _quantiles(sizes[np.lexsort((sizes, of))], node_counts, 0.5)[0]
    outlies = distances > np.maximum(_SCALES * scales, _TWICE).round(_DECIMALS)[of]
    outlying_counts = np.bincount(of, outlies, group_count).astype(np.int64)

    few = np.where(node_counts < _SMALL, 1, np.maximum(node_counts // _FEW_IN, _FEWEST_FEW))
    is_core = ~outlies | (outlying_counts > few)[of]
    core_counts = np.bincount(of, is_core, group_count).astype(np.int64)
    high, low = _quantiles(values[by_value[is_core[by_value]]], core_counts, 0.9, 0.1)
    spreads = (high - low).round(_DECIMALS)

    patterns = np.full(group_count, NOISY)
    is_narrow = spreads <= _WIDE_DECADES
    patterns[is_narrow & (outlying_counts == 0)] = CIRCULAR
    patterns[is_narrow & (outlying_counts > 0) & (outlying_counts <= few)] = OUTLIER
    patterns[(node_counts < FEWEST_NODES) | ((patterns == NOISY) & (node_counts < FEWEST_ORDERED))] = UNKNOWN

    explained = np.full(group_count, np.nan)
    bands, periods = np.zeros(group_count, np.int64), np.zeros(group_count, np.int64)
    ends = np.cumsum(node_counts)
    for group in np.flatnonzero((patterns == NOISY) & ~is_narrow):
        span = slice(ends[group] - node_counts[group], ends[group])
        found = _stripes(values[span], is_core[span])
        explained[group] = found.explained
        if found.explained >= _EXPLAINED and found.is_order:
            patterns[group], bands[group], periods[group] = STRIPED, found.bands, found.period
    is_outlying[rows], is_in_core[rows] = outlies, is_core
    return Names(
        patterns, node_counts, middles, scales, spreads, outlying_counts, explained, bands, periods, is_outlying, is_in_core
    )


def as_alike(explained: float, labels: Integers, medians: Floats) -> bool:
    """Whether nodes of one label (of a host, say) are as alike as those of one part of the best parting.

    Args:
        explained: share of the core's variance that the best parting explains.
        labels: of each node of the core.
        medians: of each node of the core.
    """
    order = np.lexsort((medians, labels))
    firsts = np.flatnonzero(np.diff(labels[order], prepend=labels.min() - 1))
    freedom = len(labels) - len(firsts)
    # Labels of one node each are no parting, nor is one of all.
    if not 1 < len(firsts) <= freedom:
        return False
    deviations = (medians - np.sort(medians).mean())[order]
    sizes = np.diff(firsts, append=len(labels))
    total = (deviations**2).sum()
    between = (np.add.reduceat(deviations, firsts) ** 2 / sizes).sum()
    share = 1 - ((total - between) / freedom) / (total / (len(labels) - 1))
    return bool(share >= explained - _NEARLY)


def _quantiles(ordered: Floats, sizes: Integers, *shares: float) -> list[Floats]:
    """Quantiles of each group, between two values in proportion; NaN of an empty group.

    Args:
        ordered: values, group by group, from the least on.
        sizes: of each group.
        shares: which quantiles.
    """
    return [_quantile(ordered, sizes, share) for share in shares]


def _quantile(ordered: Floats, sizes: Integers, share: float) -> Floats:
    places = share * (sizes - 1)
    below = np.floor(places).astype(np.int64)
    first = np.cumsum(sizes) - sizes
    has_any = sizes > 0
    at = (first + below)[has_any]
    rest = (places - below)[has_any]
    found = np.full(len(sizes), np.nan)
    above = ordered[np.minimum(at + 1, len(ordered) - 1)] if len(ordered) else ordered
    # Without a rest the next value, maybe of another group, has no say.
    found[has_any] = ordered[at] + np.where(rest > 0, rest * (above - ordered[at]), 0.0)
    return found


def _stripes(values: Floats, is_core: Flags) -> _Stripes:
    """The best parting of a core into bands, or by every p-th node, and whether a random order explains less.

    Args:
        values: medians of at least 32 nodes in order.
        is_core: which of them the core has.
    """
    partings = list(_partings(len(values)))
    deviations = np.where(is_core, values - values[is_core].mean(), 0.0)
    shares = _explained(deviations[:, None], is_core, partings)[:, 0]
    best = shares.max()
    near = [(bands + period, -bands, at) for at, (bands, period) in enumerate(partings) if shares[at] >= best - _NEARLY]
    bands, period = partings[min(near)[-1]]
    if best < _EXPLAINED:
        return _Stripes(float(best), bands, period, is_order=False)
    core = np.flatnonzero(is_core)
    orders = np.zeros((len(values), _ORDERS))
    orders[core] = np.random.default_rng(_SEED).permuted(np.repeat(deviations[core, None], _ORDERS, 1), axis=0)
    by_chance = _explained(orders, is_core, partings).max()
    return _Stripes(float(best), bands, period, is_order=bool(best > by_chance))


def _partings(count: int) -> Iterator[tuple[int, int]]:
    """Bands and periods, one of which is 0, into which so many nodes can be parted: a part of one node explains itself."""
    yield from ((bands, 0) for bands in _BANDS if bands <= count // 2)
    yield from ((0, period) for period in _PERIODS if period <= count // 2)


def _explained(orders: Floats, is_core: Flags, partings: list[tuple[int, int]]) -> Floats:
    """Share of the variance that each parting explains of each order, adjusted for degrees of freedom.

    Args:
        orders: deviations from the core's mean, a column for each order; 0 outside the core.
        is_core: which rows the core has.
        partings: bands and periods.
    """
    count, total = is_core.sum(), (orders**2).sum(axis=0)
    # A last period need not be whole.
    padded = np.zeros((len(orders) + _PERIODS[-1], orders.shape[1] + 1))
    padded[: len(orders), :-1], padded[: len(orders), -1] = orders, is_core
    sums_of: dict[tuple[int, int], Floats] = {}
    # The finest first: those of half as many bands, or of half the period, are sums of its sums.
    for bands, period in reversed(partings):
        finer = sums_of.get((2 * bands, 2 * period))
        if finer is not None:
            sums_of[bands, period] = finer[::2] + finer[1::2] if bands else finer[:period] + finer[period:]
        else:
            sums_of[bands, period] = (
                _band_sums(padded[: len(orders)], bands) if bands else _period_sums(padded, len(orders), period)
            )
    sums = np.concatenate([sums_of[parting] for parting in partings])
    firsts = np.cumsum([0, *(sum(parting) for parting in partings[:-1])])
    sizes = sums[:, -1]
    between = np.add.reduceat(sums[:, :-1] ** 2 / np.maximum(sizes, 1)[:, None], firsts, axis=0)
    freedom = count - np.add.reduceat(sizes > 0, firsts, dtype=np.int64)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = 1 - ((total - between) / freedom[:, None]) / (total / (count - 1))
    shares[freedom <= 0] = -np.inf
    rounded: Floats = shares.round(_DECIMALS)
    return rounded


def _band_sums(columns: Floats, bands: int) -> Floats:
    begins = -(-np.arange(bands) * len(columns) // bands)
    sums: Floats = np.add.reduceat(columns, begins, axis=0)
    return sums


def _period_sums(padded: Floats, count: int, period: int) -> Floats:
    whole = -(-count // period) * period
    sums: Floats = padded[:whole].reshape(-1, period, padded.shape[1]).sum(axis=0)
    return sums
