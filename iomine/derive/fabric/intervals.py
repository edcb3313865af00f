"""What each directed link did between two readings of its counters.

`moved_bytes` are those that the sending port counted as sent. Where that port was not read they are those that the
other end counted as received. The capacity of a link in one direction is its lanes times what a lane carries after encoding
(8b/10b up to QDR, 64b/66b from FDR10 on: InfiniBand Architecture Specification 1.4, volume 2).
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from iomine.derive.columns import labels
from iomine.derive.fabric.graph import UNKNOWN, Graph, resolved
from iomine.derive.trace import Flags, Floats, Integers, group_starts, grouped
from iomine.schema.registry import arrow_schema

QUALITIES: Final = ("sound", "gap", "restarted")
_SOUND, _GAP, _RESTARTED = range(len(QUALITIES))
# What a class begins at, by utilisation; without one nothing is known.
CLASSES: Final = ("idle", "light", "good", "busy", "congested", "unknown")
_CLASS_BEGINS: Final = (0.05, 0.25, 0.5, 0.75)
_WORD_BYTES: Final = 4
_MICROSECONDS: Final = 1e6
# As in server_interval: a pause of more than so many usual ones is a gap.
_GAP_PAUSES: Final = 3
# These start again together; an error counter may be cleared by itself.
_TRAFFIC: Final = (
    *("xmit_bytes", "rcv_bytes", "xmit_packet_count", "rcv_packet_count"),
    *("multicast_xmit_packet_count", "multicast_rcv_packet_count"),
)
_OTHERS: Final = (
    *("xmit_wait_ticks", "symbol_error_count", "link_recovery_count", "link_downed_count", "rcv_error_count"),
    "xmit_discard_count",
)
_SENT: Final = ("xmit_bytes", "xmit_packet_count", "multicast_xmit_packet_count")
_RECEIVED: Final = ("rcv_bytes", "rcv_packet_count", "multicast_rcv_packet_count")
_MOVED: Final = ("moved_bytes", "packet_count", "multicast_packet_count")


class _Counter(NamedTuple):
    """Whole numbers, of which some are not known."""

    values: Integers
    is_known: Flags

    def take(self, rows: Integers) -> "_Counter":
        return _Counter(self.values[rows], self.is_known[rows])

    def arrow(self) -> pa.Array:
        return pa.array(self.values, mask=~self.is_known)


class _Steps(NamedTuple):
    """Pairs of consecutive readings of a port.

    Attributes:
        nodes: of each port.
        ports: its number.
        befores: time of the earlier reading, microseconds.
        afters: that of the later one.
        quality: an index into `QUALITIES`.
        grown: by counter, what it grew by.
    """

    nodes: Integers
    ports: Integers
    befores: Integers
    afters: Integers
    quality: Integers
    grown: dict[str, _Counter]

    def take(self, rows: Integers) -> "_Steps":
        nodes, ports, befores, afters, quality, grown = self
        kept = {name: counter.take(rows) for name, counter in grown.items()}
        return _Steps(nodes[rows], ports[rows], befores[rows], afters[rows], quality[rows], kept)


def link_classes(utilisation: Floats) -> pa.Array:
    """How full links were, by their utilisation; NaN is unknown."""
    is_known = np.isfinite(utilisation)
    return labels(np.where(is_known, np.searchsorted(_CLASS_BEGINS, utilisation, side="right"), len(CLASSES) - 1), CLASSES)


def last_readings(readings: pa.Table) -> pa.Table:
    """The last reading of each port.

    Args:
        readings: rows of `port_reading`.
    """
    if not readings.num_rows:
        return readings
    guids = pc.fill_null(pc.dictionary_encode(readings["guid"]).combine_chunks().indices, UNKNOWN).to_numpy()
    keys = [guids, *(pc.fill_null(readings[name], UNKNOWN).to_numpy() for name in ("lid", "port"))]
    order = np.lexsort((readings["sampled_at"].cast(pa.int64()).to_numpy(), *keys))
    ends = np.append(group_starts(*(key[order] for key in keys))[1:], len(order)) - 1
    return readings.take(pa.array(np.sort(order[ends])))


def link_intervals(eras: Sequence[tuple[int, Graph]], readings: pa.Table, first: int) -> pa.Table:
    """Rows of `link_interval`.

    A port that is not linked has rows without a link. A reading that names a LID only, which several subnets have, has none.

    Args:
        eras: since when (microseconds) a fabric holds, ascending, and the fabric; the first one holds before, too.
        readings: rows of `port_reading`.
        first: intervals that end before this time (microseconds) are left out; what is before only begins others.
    """
    schema = arrow_schema("link_interval")
    if not readings.num_rows or not eras:
        return schema.empty_table()
    begins = np.array([begin for begin, _ in eras])
    at = readings["sampled_at"].cast(pa.int64()).to_numpy()
    era_of = np.maximum(np.searchsorted(begins, at, side="right") - 1, 0)
    # A port is one port, whatever it is linked to.
    guids = pc.unique(pa.chunked_array([graph.guids for _, graph in eras]))
    nodes = np.full(len(at), UNKNOWN)
    for era in np.unique(era_of):
        rows = np.flatnonzero(era_of == era)
        nodes[rows] = _nodes(eras[era][1], readings.take(pa.array(rows)), guids)
    unknown, strangers = _strangers(readings["guid"], nodes)
    guids = pa.concat_arrays([guids, strangers])
    nodes = np.where(unknown >= 0, len(guids) - len(strangers) + unknown, nodes)
    steps = _steps(readings, nodes, at)
    steps = steps.take(np.flatnonzero(steps.afters >= first))
    era_of = np.maximum(np.searchsorted(begins, steps.befores, side="right") - 1, 0)
    parts = [_rows(graph, guids, steps.take(np.flatnonzero(era_of == era))) for era, (_, graph) in enumerate(eras)]
    return pa.concat_tables(parts).cast(schema)


def _nodes(graph: Graph, readings: pa.Table, guids: pa.Array) -> Integers:
    """The node of each reading among all guids, `UNKNOWN` where it is not known."""
    nodes = graph.nodes_of(readings["guid"])
    lost = np.flatnonzero(pc.is_null(readings["guid"]).to_numpy(zero_copy_only=False))
    if len(lost):
        lids, ports, times = (
            pc.fill_null(readings[name].cast(pa.int64()), UNKNOWN).to_numpy()[lost] for name in ("lid", "port", "sampled_at")
        )
        nodes[lost] = resolved(graph, lids, ports, times)
    among = pc.index_in(graph.guids, value_set=guids).to_numpy(zero_copy_only=False).astype(np.int64)
    return np.where(nodes >= 0, among[np.maximum(nodes, 0)] if len(among) else UNKNOWN, UNKNOWN)


def _strangers(guids: pa.ChunkedArray, nodes: Integers) -> tuple[Integers, pa.Array]:
    """Guids that are in no topology: the number of each reading's, negative where it is known, and the guids."""
    lost = guids.combine_chunks().filter(pa.array(nodes < 0)).drop_null().unique()
    found = pc.fill_null(pc.index_in(guids, value_set=lost, skip_nulls=True), UNKNOWN).to_numpy().astype(np.int64)
    return np.where(nodes < 0, found, UNKNOWN), lost


def _steps(readings: pa.Table, nodes: Integers, at: Integers) -> _Steps:
    ports = pc.fill_null(readings["port"], UNKNOWN).to_numpy()
    known = np.flatnonzero(nodes >= 0)
    order = known[np.lexsort((at[known], ports[known], nodes[known]))]
    nodes, ports, at = nodes[order], ports[order], at[order]
    # The same reading may have come twice, in files that overlap.
    is_new = np.ones(len(order), bool)
    is_new[1:] = (np.diff(nodes) != 0) | (np.diff(ports) != 0) | (np.diff(at) != 0)
    order, nodes, ports, at = order[is_new], nodes[is_new], ports[is_new], at[is_new]
    later = np.flatnonzero((np.diff(nodes) == 0) & (np.diff(ports) == 0)) + 1
    counters = {name: _counter(readings[name], order) for name in (*_TRAFFIC, *_OTHERS)}
    has_restarted = np.logical_or.reduce([_falls(counters[name], later) for name in _TRAFFIC])
    grown = {name: _grown(counters[name], later, has_restarted) for name in _TRAFFIC}
    grown |= {name: _grown(counters[name], later, _falls(counters[name], later)) for name in _OTHERS}
    pauses = at[later] - at[later - 1]
    quality = np.where(
        has_restarted, _RESTARTED, np.where(pauses > _GAP_PAUSES * _usual(nodes, ports, later, pauses), _GAP, _SOUND)
    )
    return _Steps(nodes[later], ports[later], at[later - 1], at[later], quality, grown)


def _counter(column: pa.ChunkedArray, order: Integers) -> _Counter:
    # Beyond 2^63 a count is no count.
    is_known = pc.fill_null(pc.greater_equal(column, 0), fill_value=False).to_numpy()
    return _Counter(pc.fill_null(column, 0).to_numpy(), is_known).take(order)


def _falls(counter: _Counter, later: Integers) -> Flags:
    is_known = counter.is_known[later] & counter.is_known[later - 1]
    falls: Flags = is_known & (counter.values[later] < counter.values[later - 1])
    return falls


def _grown(counter: _Counter, later: Integers, is_from_zero: Flags) -> _Counter:
    """What a counter grew by, all of it where it counts from zero."""
    before = np.where(is_from_zero, 0, counter.values[later - 1])
    return _Counter(counter.values[later] - before, counter.is_known[later] & (is_from_zero | counter.is_known[later - 1]))


def _usual(nodes: Integers, ports: Integers, later: Integers, pauses: Integers) -> Floats:
    """The median pause of each step's port."""
    if not len(later):
        return np.empty(0)
    rows, group_of = grouped(nodes[later], ports[later])
    order = np.lexsort((pauses, group_of))
    sizes = np.bincount(group_of, minlength=len(rows))
    ends = np.cumsum(sizes)
    begins, ordered = ends - sizes, pauses[order]
    medians: Floats = (ordered[begins + (sizes - 1) // 2] + ordered[begins + sizes // 2]) / 2
    return medians[group_of]


def _rows(graph: Graph, guids: pa.Array, steps: _Steps) -> pa.Table:
    """Rows of steps that began while a fabric held."""
    in_graph = pc.fill_null(pc.index_in(guids, value_set=graph.guids), UNKNOWN).to_numpy(zero_copy_only=False).astype(np.int64)
    nodes = in_graph[steps.nodes] if len(in_graph) else steps.nodes
    links = graph.senders(nodes, steps.ports)
    # If the sender was not read, the counters of the receiver are used.
    heard = np.flatnonzero((links >= 0) & ~np.isin(links ^ 1, links) & steps.grown["rcv_bytes"].is_known)
    is_other = np.arange(len(links) + len(heard)) >= len(links)
    moved = {
        name: _joined(steps.grown[of_sender], steps.grown[of_receiver].take(heard))
        for name, of_sender, of_receiver in zip(_MOVED, _SENT, _RECEIVED, strict=True)
    }
    own = steps.take(np.concatenate([np.arange(len(links)), heard]))
    links = np.concatenate([links, links[heard] ^ 1])
    others = {name: own.grown[name]._replace(is_known=own.grown[name].is_known & ~is_other) for name in _OTHERS}
    seconds = (own.afters - own.befores) / _MICROSECONDS
    known = np.maximum(links, 0)
    has_link = links >= 0
    capacity = np.where(has_link, graph.capacities[known], np.nan) if len(graph.capacities) else np.full(len(links), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        bytes_known = np.where(moved["moved_bytes"].is_known, moved["moved_bytes"].values, np.nan)
        utilisation = bytes_known / (capacity * seconds)
        waiting = np.where(others["xmit_wait_ticks"].is_known, others["xmit_wait_ticks"].values, np.nan)
        wait = np.where(bytes_known > 0, waiting / (bytes_known / _WORD_BYTES), np.nan)
    ports = np.where(is_other, graph.tail_ports[known] if len(graph.tails) else UNKNOWN, own.ports)
    tails = graph.guids.take(pa.array(np.where(has_link, graph.tails[known], 0), mask=~has_link)) if len(graph.tails) else None
    read = guids.take(pa.array(own.nodes))
    return pa.table(
        {
            "begin_at": pa.array(own.befores, pa.timestamp("us", tz="UTC")),
            "interval_seconds": pa.array(seconds),
            "link_id": _taken(graph.link_ids, links // 2, has_link),
            "guid": read if tails is None else pc.coalesce(tails, read),
            "port": pa.array(ports),
            **{name: counter.arrow() for name, counter in moved.items()},
            "capacity_bytes_per_second": _known(capacity),
            "utilisation_ratio": _known(utilisation),
            "link_class": link_classes(utilisation),
            "xmit_wait_ticks": others["xmit_wait_ticks"].arrow(),
            "wait_per_word_ratio": _known(wait),
            **{name: others[name].arrow() for name in _OTHERS[1:]},
            "quality": labels(own.quality, QUALITIES),
        }
    )


def _joined(first: _Counter, second: _Counter) -> _Counter:
    return _Counter(*(np.concatenate(pair) for pair in zip(first, second, strict=True)))


def _known(values: npt.NDArray[Any]) -> pa.Array:
    return pa.array(values, mask=~np.isfinite(values))


def _taken(values: pa.Array, rows: Integers, is_there: Flags) -> pa.Array:
    if not len(values):
        return pa.nulls(len(rows), values.type)
    return values.take(pa.array(np.where(is_there, rows, 0), mask=~is_there))
