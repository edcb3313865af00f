"""What a log's I/O moves over each directed link in ten minutes.

Writes go from nodes to servers, reads from servers to nodes. A target's bytes are divided over ten minutes as the log's
phases say, and then over nodes. All bytes are whole and add up: those of a log on its nodes' links are those on its
servers' links, which are those that could be routed; and what enters a switch leaves it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from iomine.derive.columns import labels
from iomine.derive.fabric.graph import SWITCH, UNKNOWN
from iomine.derive.fabric.network import Ends, Moved, Network
from iomine.derive.fabric.shares import divided, flags
from iomine.derive.trace import Flags, Integers
from iomine.schema.ops import OPS
from iomine.schema.registry import arrow_schema

TABLES, SHORTEST = range(2)
EVIDENCE: Final = ("tables", "shortest")
ADAPTERS: Final = ("one", "nid", "even")
_ONE, _NID, _EVEN = range(len(ADAPTERS))
NO_TARGET: Final = "It is not known on which targets its bytes lie."
NO_SERVER: Final = "It is not known which server of the fabric has its targets."
NO_NODE: Final = "Not all of its nodes are known in the fabric."
NO_TIME: Final = "It is not known when it moved its bytes."
NO_ROUTE: Final = "No route of the fabric leads between its nodes and the servers."
_WRITE: Final = OPS.index("write")
# Rows that are handed on at once.
_ROWS_AT_ONCE: Final = 250_000


class Load(NamedTuple):
    """What logs moved, where, when and by which nodes; each table in any order.

    Attributes:
        targets: log_id, op, target (NULL where it is not known), moved_bytes.
        slots: log_id, op, begin_at (ten minutes), slot_ratio: how much of the log's I/O falls into them.
        hosts: log_id, op, host, host_ratio: how much of the log's I/O is this node's, is_straggler.
    """

    targets: pa.Table
    slots: pa.Table
    hosts: pa.Table


class _Columns:
    """Columns of rows of logs, by log and direction."""

    def __init__(self, table: pa.Table, log_ids: pa.Array, *names: str) -> None:
        logs = pc.index_in(table["log_id"], value_set=log_ids).fill_null(-1).to_numpy().astype(np.int64)
        ops = pc.index_in(table["op"].cast(pa.string()), value_set=pa.array(OPS)).to_numpy().astype(np.int64)
        keys = logs * len(OPS) + ops
        order = np.argsort(keys, kind="stable")
        self._keys = keys[order]
        self._columns = [table[name].take(pa.array(order)).to_numpy(zero_copy_only=False) for name in names]

    def of(self, log: int, op: int) -> list[npt.NDArray[Any]]:
        """The columns of one log and direction."""
        key = log * len(OPS) + op
        rows = slice(*np.searchsorted(self._keys, [key, key + 1]))
        return [column[rows] for column in self._columns]


class _Tally:
    """What is known of a log's way, as it is worked out."""

    def __init__(self) -> None:
        self.moved = self.routed = self.at_hosts = self.at_servers = 0
        self.of_stragglers: int | None = None
        self.lost: Counter[str] = Counter()
        self.evidence = UNKNOWN
        self.adapters = UNKNOWN
        self.switches: set[str] = set()
        self.leaves: set[str] = set()
        self.tiers: set[int] = set()
        self.node_count = 0
        self.same_switch = np.nan

    @property
    def reason(self) -> str:
        """What kept most of the bytes from being routed."""
        (reason, lost), *_ = self.lost.most_common(1) or [("", 0)]
        return reason if lost else ""


class _Part(NamedTuple):
    """Rows of `job_link` of one log, direction and fabric.

    Attributes:
        log: number of the log.
        op: direction.
        era: number of the fabric.
        ats: begin of the ten minutes of each row, microseconds.
        links: directed link.
        moved: bytes.
        of_stragglers: bytes of stragglers' nodes, none where no rank is known to be slow.
        is_host: whether one end is a node of the log.
        is_server: whether one end is a server.
        is_shortest: whether any of the bytes lacks a forwarding table.
    """

    log: int
    op: int
    era: int
    ats: Integers
    links: Integers
    moved: Integers
    of_stragglers: Integers | None
    is_host: Flags
    is_server: Flags
    is_shortest: bool


def job_traffic(eras: Sequence[tuple[int, Network]], load: Load) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Rows of `job_link`, without `job_id` and `user`, and rows of `job_route`, some logs at once.

    Args:
        eras: since when (microseconds) a fabric holds, ascending, and the fabric; the first one holds before, too.
        load: what logs moved.
    """
    log_ids = pc.unique(load.targets["log_id"].combine_chunks())
    work = _Work(eras, load, log_ids)
    parts: list[_Part] = []
    tallies: list[_Tally] = []
    rows = 0
    for log in range(len(log_ids)):
        tally = _Tally()
        of_log = list(work.of_log(log, tally))
        parts += of_log
        tallies.append(tally)
        rows += sum(len(part.links) for part in of_log)
        if rows >= _ROWS_AT_ONCE or log == len(log_ids) - 1:
            yield _link_rows(eras, log_ids, parts), _route_rows(log_ids[log + 1 - len(tallies) : log + 1], tallies)
            parts, tallies, rows = [], [], 0


class _Work:
    """What logs moved, with texts numbered so that none is looked at twice."""

    def __init__(self, eras: Sequence[tuple[int, Network]], load: Load, log_ids: pa.Array) -> None:
        self._networks = [network for _, network in eras]
        self._begins = np.array([begin for begin, _ in eras])
        # Numbered in order, so that a log's bytes are rounded alike whichever logs are worked out with it.
        names = [pc.unique(column).drop_null().sort() for column in (load.targets["target"], load.hosts["host"])]
        self._targets, self._hosts = (each.to_pylist() for each in names)
        of_target, of_host = (
            pc.fill_null(pc.index_in(column, value_set=each), UNKNOWN)
            for column, each in zip((load.targets["target"], load.hosts["host"]), names, strict=True)
        )
        self._loads = _Columns(load.targets.append_column("target_number", of_target), log_ids, "target_number", "moved_bytes")
        at = load.slots["begin_at"].cast(pa.int64())
        self._slots = _Columns(load.slots.append_column("at", at), log_ids, "at", "slot_ratio")
        self._nodes = _Columns(
            load.hosts.append_column("host_number", of_host), log_ids, "host_number", "host_ratio", "is_straggler"
        )
        for era in np.unique(self._eras_of(at.to_numpy())) if len(at) else ():
            network = self._networks[era]
            servers = [server for target in self._targets for server in network.names.servers(target)]
            network.prepare(np.unique(np.concatenate([network.ends([each]).links for each in (servers, self._hosts)])))

    def _eras_of(self, ats: Integers) -> Integers:
        return np.maximum(np.searchsorted(self._begins, ats, side="right") - 1, 0)

    def of_log(self, log: int, tally: _Tally) -> Iterator[_Part]:
        """Rows of a log, which its tally counts."""
        for op in range(len(OPS)):
            targets, moved = self._loads.of(log, op)
            tally.moved += int(moved.sum())
            tally.lost[NO_TARGET] += int(moved[targets < 0].sum())
            numbers, of_number = np.unique(targets[targets >= 0], return_inverse=True)
            totals = np.zeros(len(numbers), np.int64)
            np.add.at(totals, of_number, moved[targets >= 0])
            ats, ratios = self._slots.of(log, op)
            if not totals.any():
                continue
            if not ratios.sum() > 0:
                tally.lost[NO_TIME] += int(totals.sum())
                continue
            in_slots = divided(totals[:, None], np.tile(ratios, len(totals)), np.repeat(np.arange(len(totals)), len(ratios)))
            in_slots = in_slots.reshape(len(totals), -1)
            era_of = self._eras_of(ats)
            for era in np.unique(era_of).tolist():
                columns = np.flatnonzero(era_of == era)
                held = {"totals": in_slots[:, columns], "ats": ats[columns]}
                yield from self._of_era(log, op, era, targets=numbers, tally=tally, **held)

    def _of_era(
        self, log: int, op: int, era: int, *, targets: Integers, totals: Integers, ats: Integers, tally: _Tally
    ) -> Iterator[_Part]:
        network = self._networks[era]
        numbers, weights, is_straggler = self._nodes.of(log, op)
        hosts = network.ends([[self._hosts[number]] for number in numbers.tolist()])
        servers = network.ends([network.names.servers(self._targets[number]) for number in targets.tolist()])
        has_server = flags(len(targets), servers.owners)
        tally.lost[NO_SERVER] += int(totals[~has_server].sum())
        totals = np.where(has_server[:, None], totals, 0)
        if not weights[hosts.owners].sum() > 0:
            tally.lost[NO_NODE] += int(totals.sum())
            return
        is_straggler = is_straggler.astype(bool)
        some = is_straggler if is_straggler.any() else None
        put = network.put(totals, servers, hosts, weights, to_servers=op == _WRITE, some=some)
        has_all = flags(len(numbers), hosts.owners).all()
        tally.lost[NO_ROUTE if has_all else NO_NODE] += int(put.unrouted.sum())
        graph = network.graph
        # A server may be a node of the log, too.
        senders, receivers = (graph.tails[ends.links] for ends in ((hosts, servers) if op == _WRITE else (servers, hosts)))
        nodes = len(graph.kinds)
        from_sender = flags(nodes, senders)[graph.tails[put.links]]
        to_receiver = flags(nodes, receivers)[graph.heads[put.links]]
        is_host, is_server = (from_sender, to_receiver) if op == _WRITE else (to_receiver, from_sender)
        _count(tally, network, put, hosts=hosts, servers=servers, node_count=len(numbers))
        tally.routed += int(totals.sum() - put.unrouted.sum())
        tally.at_hosts += int(put.moved[is_host].sum())
        tally.at_servers += int(put.moved[is_server].sum())
        if put.of_some is not None:
            tally.of_stragglers = (tally.of_stragglers or 0) + int(put.of_some[is_host].sum())
        slots, rows = np.nonzero(put.moved.T)
        of_stragglers = None if put.of_some is None else put.of_some[rows, slots]
        yield _Part(
            *(log, op, era, ats[slots], put.links[rows], put.moved[rows, slots], of_stragglers),
            *(is_host[rows], is_server[rows], put.is_shortest),
        )


def _count(tally: _Tally, network: Network, put: Moved, *, hosts: Ends, servers: Ends, node_count: int) -> None:
    """Counts what a log's bytes pass."""
    graph = network.graph
    is_passed = flags(len(graph.kinds), graph.tails[put.links]) | flags(len(graph.kinds), graph.heads[put.links])
    passed = np.flatnonzero(is_passed & (graph.kinds == SWITCH))
    tally.switches.update(network.guids[node] for node in passed.tolist())
    tally.leaves.update(network.guids[node] for node in put.firsts.tolist())
    tally.tiers.update(graph.tiers[passed][graph.tiers[passed] > 0].tolist())
    tally.evidence = max(tally.evidence, SHORTEST if put.is_shortest else TABLES)
    has_several = any((ends.owners[1:] == ends.owners[:-1]).any() for ends in (hosts, servers))
    tally.adapters = max(tally.adapters, _EVEN if has_several else _NID if hosts.is_named or servers.is_named else _ONE)
    if node_count > tally.node_count:
        tally.node_count = node_count
        tally.same_switch = same_switch_ratio(hosts.owners, graph.heads[hosts.links])


def same_switch_ratio(owners: Integers, switches: Integers) -> float:
    """The share of pairs of hosts that are attached to one switch; NaN where there is no pair.

    Args:
        owners: host of each adapter.
        switches: switch of each adapter.
    """
    hosts, of_host = np.unique(owners, return_inverse=True)
    _, of_switch = np.unique(switches, return_inverse=True)
    pairs = len(hosts) * (len(hosts) - 1)
    if not pairs:
        return np.nan
    if len(hosts) == len(owners):
        on_switch = np.bincount(of_switch)
        return float((on_switch @ on_switch - len(hosts)) / pairs)
    hangs = np.zeros((len(hosts), of_switch.max(initial=-1) + 1), bool)
    hangs[of_host, of_switch] = True
    kinds, counts = np.unique(hangs, axis=0, return_counts=True)
    meets = (kinds.astype(np.int64) @ kinds.T.astype(np.int64)) > 0
    return float((np.outer(counts, counts)[meets].sum() - len(hosts)) / pairs)


def _link_rows(eras: Sequence[tuple[int, Network]], log_ids: pa.Array, parts: Sequence[_Part]) -> pa.Table:
    """Rows of `job_link` without the job and user of the log."""
    tables = []
    for era in sorted({part.era for part in parts}):
        own = [part for part in parts if part.era == era]
        graph = eras[era][1].graph
        sizes = np.array([len(part.links) for part in own])
        links = np.concatenate([part.links for part in own])
        stragglers = [np.zeros(len(part.links), np.int64) if part.of_stragglers is None else part.of_stragglers for part in own]
        is_known = np.repeat([part.of_stragglers is not None for part in own], sizes)
        tables.append(
            pa.table(
                {
                    "begin_at": pa.array(np.concatenate([part.ats for part in own]), pa.timestamp("us", tz="UTC")),
                    "log_id": log_ids.take(pa.array(np.repeat([part.log for part in own], sizes))),
                    "link_id": graph.link_ids.take(pa.array(links // 2)),
                    "guid": graph.guids.take(pa.array(graph.tails[links])),
                    "port": graph.tail_ports[links],
                    "op": labels(np.repeat([part.op for part in own], sizes), OPS),
                    "moved_bytes": np.concatenate([part.moved for part in own]),
                    "is_host_link": np.concatenate([part.is_host for part in own]),
                    "is_server_link": np.concatenate([part.is_server for part in own]),
                    "fabric_evidence": labels(np.repeat([int(part.is_shortest) for part in own], sizes), EVIDENCE),
                    "straggler_bytes": pa.array(np.concatenate(stragglers), mask=~is_known),
                }
            )
        )
    schema = arrow_schema("job_link")
    given = pa.schema([field for field in schema if field.name not in {"job_id", "user"}])
    return pa.concat_tables([given.empty_table(), *(table.cast(given) for table in tables)])


def _route_rows(log_ids: pa.Array, tallies: Sequence[_Tally]) -> pa.Table:
    same_switch = np.array([tally.same_switch for tally in tallies])
    return pa.table(
        {
            "log_id": log_ids,
            "moved_bytes": [tally.moved for tally in tallies],
            "routed_bytes": [tally.routed for tally in tallies],
            "straggler_bytes": pa.array([tally.of_stragglers for tally in tallies], pa.int64()),
            "host_link_bytes": [tally.at_hosts for tally in tallies],
            "server_link_bytes": [tally.at_servers for tally in tallies],
            "switch_count": [len(tally.switches) for tally in tallies],
            "leaf_switch_count": [len(tally.leaves) for tally in tallies],
            "tier_count": pa.array([len(tally.tiers) or None for tally in tallies], pa.int64()),
            "same_switch_ratio": pa.array(same_switch, mask=np.isnan(same_switch)),
            "fabric_evidence": labels(np.array([tally.evidence for tally in tallies]), EVIDENCE),
            "unrouted_reason": [tally.reason for tally in tallies],
            "adapter_evidence": labels(np.array([tally.adapters for tally in tallies]), ADAPTERS),
        }
    )
