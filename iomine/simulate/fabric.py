"""What ports of the fabric would have counted: `perfquery -x` of every port, every ten minutes, and the truth about traffic.

Counters are in words of 4 bytes and never start again. A degraded link counts symbol errors and recoveries at both ends. Data
waits in proportion to what is sent: longer on a congested link, and longest on a degraded one.
"""

import gzip
import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from iomine.simulate.incidents import Incident
from iomine.simulate.jobs import Outcome
from iomine.simulate.maps import write_maps
from iomine.simulate.network import NODES_PER_LEAF, STORAGE_UPLINK, Network, leaf_lid
from iomine.simulate.runs import Floats, Integers
from iomine.simulate.texts import packed, write_snapshot
from iomine.simulate.traffic import SLOT_SECONDS

_DAY_SECONDS: Final = 86_400
_SLOTS: Final = _DAY_SECONDS // SLOT_SECONDS
_WORD_BYTES: Final = 4
_PACKET_BYTES: Final = 2048
_CONGESTED_RATIO: Final = 0.75
_WAIT_PER_WORD: Final = 0.02
_WAIT_PER_WORD_CONGESTED: Final = 1.0
_WAIT_PER_WORD_DEGRADED: Final = 4.0
_SYMBOL_ERRORS_PER_INTERVAL: Final = 1800
_SYMBOL_ERRORS_PER_RECOVERY: Final = 1800
_SYMBOL_ERRORS_PER_RCV_ERROR: Final = 100
# They are packed seldom, and are the largest part of a facility beside its logs.
_LEVEL: Final = 6
_COUNTERS: Final = {
    "PortSelect": "{port}",
    "CounterSelect": "0x0000",
    "PortXmitData": "%d",
    "PortRcvData": "%d",
    "PortXmitPkts": "%d",
    "PortRcvPkts": "%d",
    "CounterSelect2": "0x00000000",
    "SymbolErrorCounter": "%d",
    "LinkErrorRecoveryCounter": "%d",
    "LinkDownedCounter": "0",
    "PortRcvErrors": "%d",
    "PortXmitDiscards": "0",
    "PortXmitWait": "%d",
}
_PORT: Final = "# Port extended counters: Lid {lid} port {port} (CapMask: 0x5300 CapMask2: 0x0000002)\n" + "".join(
    f"{name + ':':.<33}{value}\n" for name, value in _COUNTERS.items()
)


class Fabric:
    """Gathers the traffic of jobs and writes it night by night.

    A port stands for the directed link on which it sends; what it receives comes on the other direction.

    Args:
        out: folder of the facility, with a folder for the truth.
        network: its devices, links and routes.
        incidents: those of uplinks.
        start: beginning of the first night, in seconds since the epoch.
    """

    def __init__(self, out: Path, network: Network, incidents: Sequence[Incident], start: int) -> None:
        self._out = out
        self._network = network
        self._incidents = incidents
        self._jobs: dict[str, list[str]] = {incident.kind: [] for incident in incidents}
        links = np.arange(2 * network.cable_count)
        self._back = network.reverse(links)
        # Slots, links and bytes of what is not written yet.
        self._parts: list[Integers] = [np.empty((3, 0), np.int64)]
        # Sent words of 4 bytes hold up to 3 bytes more than were sent: no counter says less than what is true.
        self._bytes: Integers = np.zeros(len(links), np.int64)
        self._waits, self._errors = np.zeros_like(links), np.zeros_like(links)
        # Both ends of a cable follow one another, so that what one sent is near to what the other received.
        order = links.reshape(2, -1).T.ravel()
        ends = zip(network.lids[order].tolist(), network.ports[order].tolist(), strict=True)
        self._order, self._templates = order, [_PORT.format(lid=lid, port=port) for lid, port in ends]
        self._texts = [template % ((0,) * template.count("%d")) for template in self._templates]
        # Ports of a leaf switch's nodes, and then all others, are packed together: most of them are as they were ten minutes ago.
        edges = [*range(0, network.node_count, NODES_PER_LEAF), network.node_count, network.cable_count]
        self._groups = [slice(2 * first, 2 * last) for first, last in pairwise(edges)]
        self._group_of = np.searchsorted(2 * np.array(edges), links, side="right") - 1
        self._packed = [packed("".join(self._texts[group]), _LEVEL) for group in self._groups]
        write_maps(out, network, start)
        self._write_readings(start)

    def add(self, outcome: Outcome, truth: gzip.GzipFile) -> None:
        """Adds what jobs moved, and writes the truth about it."""
        traffic = outcome.traffic
        self._parts.append(np.stack([traffic.slots, traffic.links, traffic.moved.sum(axis=0)]))
        truth.write("".join(self._truth_lines(outcome)).encode())
        for incident in self._incidents:
            self._jobs[incident.kind] += [
                str(done.job.job_id) for done in outcome.jobs if any(log["lost_seconds"].get(incident.kind) for log in done.logs)
            ]

    def write(self, begin: int) -> None:
        """Writes the readings of the night that begins then; all that moves in it must be added."""
        first = begin // SLOT_SECONDS
        slots, links, moved = rows = np.concatenate(self._parts, axis=1)
        is_now = slots < first + _SLOTS
        self._parts = [rows[:, ~is_now]]
        link_count = len(self._back)
        at = (slots[is_now] - first) * link_count + links[is_now]
        more: Integers = np.zeros(_SLOTS * link_count, np.int64)
        np.add.at(more, at, moved[is_now])
        more = more.reshape(_SLOTS, link_count)
        waits_per_word, errors = self._troubles(begin, more)
        sent = self._bytes + np.cumsum(more, axis=0)
        waits = self._waits + np.cumsum(np.rint(more / _WORD_BYTES * waits_per_word).astype(np.int64), axis=0)
        errors_sum = self._errors + np.cumsum(errors, axis=0)
        self._bytes, self._waits, self._errors = sent[-1], waits[-1], errors_sum[-1]
        has_changed = ((more + more[:, self._back] + errors) > 0)[:, self._order]
        numbers = self._numbers(sent, waits, errors_sum)[:, self._order]
        for slot in range(_SLOTS):
            places = np.flatnonzero(has_changed[slot])
            for place, row in zip(places.tolist(), numbers[slot, places].tolist(), strict=True):
                self._texts[place] = self._templates[place] % tuple(row)
            for group in np.unique(self._group_of[places]).tolist():
                self._packed[group] = packed("".join(self._texts[self._groups[group]]), _LEVEL)
            self._write_readings(begin + (slot + 1) * SLOT_SECONDS)

    def finish(self) -> None:
        """Writes the truth about devices and incidents."""
        network = self._network
        devices = [
            {"lid": lid, "guid": f"{device.guid:016x}", "name": device.name, "kind": "switch" if device.is_switch else "host"}
            for lid, device in sorted(network.devices.items())
        ]
        truth = {"devices": devices, "incidents": [self._truth(incident) for incident in self._incidents]}
        (self._out / "truth" / "fabric.json").write_text(json.dumps(truth, indent=1) + "\n")

    def _write_readings(self, moment: int) -> None:
        write_snapshot(self._out / "fabric" / "perfquery", moment, b"".join(self._packed))

    def _uplink(self, incident: Incident) -> int:
        return self._network.link(leaf_lid(incident.target), STORAGE_UPLINK)

    def _troubles(self, begin: int, more: Integers) -> tuple[Floats, Integers]:
        """Ticks of waiting for each word, and symbol errors, by slot and link."""
        is_congested = more >= _CONGESTED_RATIO * SLOT_SECONDS * self._network.capacities
        waits = np.where(is_congested, _WAIT_PER_WORD_CONGESTED, _WAIT_PER_WORD)
        errors = np.zeros_like(more)
        middles = begin + (np.arange(_SLOTS) + 0.5) * SLOT_SECONDS
        for incident in self._incidents:
            if incident.kind == "degraded_link":
                bad = np.flatnonzero((incident.start <= middles) & (middles < incident.end))
                link = self._uplink(incident)
                for way in (link, self._back[link]):
                    waits[bad, way] = _WAIT_PER_WORD_DEGRADED
                    errors[bad, way] = int(_SYMBOL_ERRORS_PER_INTERVAL * incident.factor)
        return waits, errors

    def _numbers(self, sent: Integers, waits: Integers, errors: Integers) -> Integers:
        """What the counters of all ports say, by slot and link."""
        received = sent[:, self._back]
        words, packets = ([-(-each // size) for each in (sent, received)] for size in (_WORD_BYTES, _PACKET_BYTES))
        recoveries, rcv_errors = errors // _SYMBOL_ERRORS_PER_RECOVERY, errors // _SYMBOL_ERRORS_PER_RCV_ERROR
        return np.stack([*words, *packets, errors, recoveries, rcv_errors, waits], axis=-1)

    def _truth_lines(self, outcome: Outcome) -> Iterable[str]:
        """A line for each job and slot: LID and port that send, and bytes read, written and moved between nodes."""
        jobs, slots, links, moved = outcome.traffic
        rows = np.stack([self._network.lids[links], self._network.ports[links], *moved]).T.tolist()
        edges = np.flatnonzero((np.diff(jobs, prepend=-1) != 0) | (np.diff(slots, prepend=-1) != 0)).tolist()
        for first, last in zip(edges, [*edges[1:], len(rows)], strict=True):
            job_id = str(outcome.jobs[jobs[first]].job.job_id)
            line = {"job_id": job_id, "begin": int(slots[first]) * SLOT_SECONDS, "links": rows[first:last]}
            yield json.dumps(line, separators=(",", ":")) + "\n"

    def _truth(self, incident: Incident) -> dict[str, Any]:
        network, link = self._network, self._uplink(incident)
        ends: dict[str, str | int] = {}
        for prefix, way in (("", link), ("peer_", int(self._back[link]))):
            device = network.devices[int(network.lids[way])]
            ends |= {
                f"{prefix}switch": device.name,
                f"{prefix}lid": device.lid,
                f"{prefix}guid": f"{device.guid:016x}",
                f"{prefix}port": int(network.ports[way]),
            }
        when = {"kind": incident.kind, "start": incident.start, "end": incident.end}
        return when | ends | {"jobs": sorted(self._jobs[incident.kind])}


def truth_file(out: Path) -> gzip.GzipFile:
    """The file for the truth about traffic; the same lines always give the same bytes."""
    return gzip.GzipFile(filename=out / "truth" / "fabric.jsonl.gz", mode="wb", compresslevel=1, mtime=0)
