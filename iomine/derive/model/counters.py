"""Classes of files that no trace speaks for: files that are alike are one class, as far as their counters say."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from iomine.derive.model.calls import LAYERS, MINOR, MINOR_SHARE, UNKNOWN, Called, sums
from iomine.derive.model.shapes import CONSECUTIVE, IRREGULAR, RANDOM, SEGMENTED, SINGLE, STRIDED
from iomine.derive.trace import Flags, Floats, Integers, Once, Tables, grouped
from iomine.schema.ops import OPS

_SHARED: Final = -1
_SIZES: Final = range(1, 5)
# Upper bounds of Darshan's bins of lengths, a length on the bound counting below it.
_BOUNDS: Final = (100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30)
_BINS: Final = (*("0_100", "100_1k", "1k_10k", "10k_100k", "100k_1m", "1m_4m", "4m_10m", "10m_100m", "100m_1g", "1g_plus"),)
_MOST: Final = 0.9
_TOO_MANY: Final = 2.0**62


class Counted(NamedTuple):
    """A file in one direction, as the counters of its layer have it; `UNKNOWN` where they do not say.

    Attributes:
        logs: log.
        layers: an index into `LAYERS`.
        file_ids: file.
        ops: direction.
        rank_counts: ranks of the file; 0 where it is that of all and the run's processes are not known.
        is_shared: several ranks have one record, or records of their own.
        ranks: the rank of a file of one rank, of no meaning for others.
        request_counts: requests of all ranks.
        moved_bytes: bytes of all ranks.
        request_bytes: the length of all requests, or of most.
        block_counts: blocks of consecutive requests, of all ranks.
        block_bytes: bytes of one, where all are alike.
        stride_bytes: from the start of a block to the next.
        orders: an index into `shapes.ORDERS`.
        starts: when the first request began, NaN where that is not known.
        ends: when the last ended.
        seconds: time in requests, summed over ranks.
    """

    logs: Integers
    layers: Integers
    file_ids: Integers
    ops: Integers
    rank_counts: Integers
    is_shared: Flags
    ranks: Integers
    request_counts: Integers
    moved_bytes: Floats
    request_bytes: Integers
    block_counts: Integers
    block_bytes: Integers
    stride_bytes: Integers
    orders: Integers
    starts: Floats
    ends: Floats
    seconds: Floats


def counted(tables: Tables, files: Called, nprocs: Integers) -> Counted | None:
    """Files that no trace speaks for; None where there are none.

    Args:
        tables: columns by table, in one or more parts, without special files.
        files: files by direction, in the layer that the program called.
        nprocs: processes of each log's run, 0 where that is not known.
    """
    if files.is_traced.all():
        return None
    found = []
    for layer, name in enumerate(LAYERS):
        parts = tables.get(f"{name}_file")
        part = _joined(parts) if parts else None
        for op in range(len(OPS)):
            wanted = files.where((files.layers == layer) & (files.ops == op) & ~files.is_traced)
            if part is not None and len(wanted.file_ids):
                found.append(_of_part(part, wanted, layer, op, nprocs))
    found = [rows for rows in found if len(rows.layers)]
    return Counted._make(map(np.concatenate, zip(*found, strict=True))) if found else None


def _joined(parts: Sequence[Mapping[str, Any]]) -> Once:
    """The parts of a table as one, a column of numbers at a time."""
    return Once(parts[0], lambda name: np.concatenate([part[name].to_numpy(zero_copy_only=False) for part in parts]))


def _of_part(part: Mapping[str, Any], wanted: Called, layer: int, op: int, nprocs: Integers) -> Counted:
    word = OPS[op]
    at = np.flatnonzero(np.isin(part["file_id"], wanted.file_ids) & (part[f"{word}_bytes"] > 0))
    firsts, file_of = grouped(part["file_id"][at]) if len(at) else (at, at)
    total = len(firsts)
    file_ids, ranks = part["file_id"][at][firsts], part["rank"][at]
    # Both are in order.
    logs = wanted.logs[np.searchsorted(wanted.file_ids, file_ids)]

    def summed(*names: str) -> Floats:
        # One that is not known makes the sum unknown.
        values = sum((_known(part, name, at) for name in names), np.zeros(len(at)))
        return sums(file_of, values, total)

    counters = {
        "mpiio": tuple(f"{kind}_{word}_count" for kind in ("indep", "coll", "split", "nb")),
        "dfs": (f"{word}_count", f"{word}x_count"),
    }.get(LAYERS[layer], (f"{word}_count",))
    requests, moved, seconds = summed(*counters), summed(f"{word}_bytes"), summed(f"{word}_seconds")
    records = np.bincount(file_of, minlength=total)
    has_all = np.bincount(file_of, ranks == _SHARED, total) > 0
    rank_counts = np.where(has_all, nprocs[logs], records)
    starts, ends = np.full(total, np.inf), np.full(total, -np.inf)
    if f"{word}_start_seconds" in part:
        np.fmin.at(starts, file_of, np.where(part[f"{word}_start_seconds"][at] > 0, part[f"{word}_start_seconds"][at], np.nan))
        np.fmax.at(ends, file_of, part[f"{word}_end_seconds"][at])
    is_timed = (starts <= ends) & (ends < np.inf)
    sizes = _sizes(part, at, file_of, word, requests=requests, moved=moved)
    blocks, block_bytes, strides, orders = _order(
        part, at, file_of, word, requests=requests, moved=moved, rank_counts=rank_counts
    )
    return Counted(
        logs,
        np.full(total, layer),
        file_ids,
        np.full(total, op),
        rank_counts,
        rank_counts != 1,
        # Darshan may reduce the records of a run of one process too.
        np.maximum(ranks[firsts], 0),
        whole(requests),
        moved,
        sizes,
        blocks,
        block_bytes,
        strides,
        orders,
        np.where(is_timed, starts, np.nan),
        np.where(is_timed, ends, np.nan),
        seconds,
    )


def _known(part: Mapping[str, Any], name: str, at: Integers) -> Floats:
    if name not in part:
        return np.full(len(at), np.nan)
    values = part[name][at].astype(np.float64)
    return np.where(values < 0, np.nan, values)


def whole(values: Floats) -> Integers:
    """Sums as whole numbers, `UNKNOWN` where they are not known."""
    is_known = values < _TOO_MANY
    return np.where(is_known, np.where(is_known, values, 0).astype(np.int64), UNKNOWN)


def _sizes(part: Mapping[str, Any], at: Integers, file_of: Integers, word: str, *, requests: Floats, moved: Floats) -> Integers:
    """The length of all requests, or of most: the commonest that lies in the fullest bin of the direction."""
    total = len(requests)
    if "access1_bytes" not in part:
        return np.full(total, UNKNOWN)
    infix = "size_agg" if f"{word}_size_agg_0_100_count" in part else "size"
    bins = np.zeros((total, len(_BINS)))
    for number, name in enumerate(_BINS):
        column = f"{word}_{infix}_{name}_count"
        if column in part:
            bins[:, number] = np.bincount(file_of, np.maximum(part[column][at], 0), total)
    fullest = _without_headers(bins, moved).argmax(axis=1)
    weights = np.zeros((total, len(_SIZES)))
    lengths = np.zeros((total, len(_SIZES)), np.int64)
    # Of several records of a file, the first one's commonest lengths stand for all.
    firsts = np.full(total, len(at))
    np.minimum.at(firsts, file_of, np.arange(len(at)))
    for number, nth in enumerate(_SIZES):
        lengths[:, number] = part[f"access{nth}_bytes"][at][firsts]
        weights[:, number] = part[f"access{nth}_count"][at][firsts]
    # A length that cannot be is -1, with a count that may be sound.
    is_of_op = (weights > 0) & (lengths >= 0) & (np.searchsorted(_BOUNDS, lengths) == fullest[:, None])
    chosen = np.where(is_of_op, weights, -1).argmax(axis=1)
    rows = np.arange(total)
    sizes = np.where(is_of_op[rows, chosen], lengths[rows, chosen], UNKNOWN)
    # Counters hold the commonest lengths of both directions: where these are as long in all, the mean is the length.
    is_exact = ((lengths * requests[:, None] == moved[:, None]) & (weights > 0)).any(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(is_exact, whole(moved / requests), sizes)


def _without_headers(bins: Floats, moved: Floats) -> Floats:
    """Counts by bin, 0 in bins of requests that are far shorter than those with most bytes, and move next to nothing.

    Args:
        bins: counts by file and bin.
        moved: bytes of each file.
    """
    lowest, highest = np.array((1, *_BOUNDS), np.float64), np.array((*_BOUNDS, 0), np.float64)
    heavy = lowest[(bins * lowest).argmax(axis=1)][:, None]
    is_minor = highest * MINOR <= heavy
    # The longest bin has no end, and is never minor.
    is_minor[:, -1] = False
    is_little = (bins * highest * is_minor).sum(axis=1) < MINOR_SHARE * moved
    return np.where(is_minor & is_little[:, None], 0.0, bins)


def _order(
    part: Mapping[str, Any],
    at: Integers,
    file_of: Integers,
    word: str,
    *,
    requests: Floats,
    moved: Floats,
    rank_counts: Integers,
) -> tuple[Integers, Integers, Integers, Integers]:
    """Blocks of each file, bytes and distance of these, and their order."""
    total = len(requests)
    unknown = np.full(total, UNKNOWN)
    if f"consecutive_{word}_count" not in part:
        return unknown, unknown, unknown, unknown

    def summed(name: str) -> Floats:
        return sums(file_of, _known(part, name, at), total)

    blocks = requests - summed(f"consecutive_{word}_count")
    sequential, strides = summed(f"sequential_{word}_count"), summed("stride1_count")
    stride = np.zeros(total, np.int64)
    stride[file_of] = part["stride1_bytes"][at]
    steps = requests - rank_counts
    with np.errstate(invalid="ignore", divide="ignore"):
        block_bytes = np.where(moved % blocks == 0, moved / blocks, np.nan)
        is_forward = sequential >= _MOST * steps
        is_regular = is_forward & (strides >= _MOST * (blocks - rank_counts)) & (stride > 0)
        orders = np.where(is_forward, IRREGULAR, RANDOM)
        orders = np.where(is_regular, np.where(blocks == requests, STRIDED, SEGMENTED), orders)
        orders = np.where(blocks <= rank_counts, np.where(steps <= 0, SINGLE, CONSECUTIVE), orders)
    # More consecutive requests than requests are no count of blocks.
    is_known = (blocks >= 1) & ~np.isnan(sequential)
    has_stride = is_known & np.isin(orders, (STRIDED, SEGMENTED)) & ~np.isnan(block_bytes)
    # Darshan's stride is from the end of one request to the start of the next.
    return (
        np.where(is_known, whole(blocks), UNKNOWN),
        np.where(is_known, whole(block_bytes), UNKNOWN),
        np.where(has_stride, stride + whole(np.nan_to_num(block_bytes)), UNKNOWN),
        np.where(is_known, orders, UNKNOWN),
    )
