"""What the switches would have said: `perfquery -x` of every leaf switch's uplinks, every ten minutes.

All traffic between nodes and the file system passes the uplinks of the nodes' leaf switch, in equal parts. Counters are
in words of 4 bytes and never start again. A degraded link counts symbol errors and recoveries, and ticks in which data
waited, in proportion to its traffic.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from iomine.simulate import filesystem as fs
from iomine.simulate.incidents import Incident
from iomine.simulate.jobs import NODES_PER_LEAF, Outcome
from iomine.simulate.runs import Floats, Integers
from iomine.simulate.texts import write_snapshot

INTERVAL_SECONDS: Final = 600
UPLINKS: Final = 2
_FIRST_LID: Final = 100
_FIRST_PORT: Final = 37
_DAY_SECONDS: Final = 86_400
_WORD_BYTES: Final = 4
_PACKET_BYTES: Final = 2048
_WAIT_PER_WORD: Final = 0.02
_WAIT_PER_WORD_DEGRADED: Final = 4.0
_SYMBOL_ERRORS_PER_INTERVAL: Final = 1800
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


class Switches:
    """Gathers the traffic of jobs and writes it night by night.

    Args:
        out: folder of the facility.
        leaves: leaf switches.
        incidents: those of degraded links.
    """

    def __init__(self, out: Path, leaves: int, incidents: Sequence[Incident]) -> None:
        self._out = out / "fabric"
        self._leaves = leaves
        self._incidents = incidents
        # Bytes to and from the nodes of each leaf, of this night and what is known of the next.
        self._traffic: Floats = np.zeros((2, leaves, 2 * _DAY_SECONDS // INTERVAL_SECONDS))
        self._totals: Floats = np.zeros((5, leaves))
        self._ports = "".join(
            _PORT.format(lid=_FIRST_LID + leaf, port=_FIRST_PORT + uplink) for leaf in range(leaves) for uplink in range(UPLINKS)
        )

    def add(self, outcome: Outcome, begin: int) -> None:
        """Adds what jobs moved, in the night that begins then and after."""
        load, most = outcome.load, self._traffic.shape[2] - 1
        chosen = np.flatnonzero(load.targets < fs.OST_COUNT)
        slots = np.minimum((load.minutes[chosen] * fs.MINUTE - begin) // INTERVAL_SECONDS, most)
        places, of = np.unique(load.programs[chosen] * (most + 1) + slots, return_inverse=True)
        moved = [np.bincount(of, load.amounts[column, chosen], len(places)).tolist() for column in (0, 3)]
        for place, read, written in zip(places.tolist(), *moved, strict=True):
            job, slot = divmod(place, most + 1)
            nodes = np.bincount(outcome.jobs[job].job.nodes // NODES_PER_LEAF, minlength=self._leaves)
            share = nodes / nodes.sum()
            self._traffic[0, :, slot] += share * read
            self._traffic[1, :, slot] += share * written

    def write(self, begin: int) -> None:
        """Writes the snapshots of the night that begins then."""
        slots = _DAY_SECONDS // INTERVAL_SECONDS
        bad = np.array([self._bad(begin + (slot + 0.5) * INTERVAL_SECONDS) for slot in range(slots)])
        received, sent = self._traffic[:, :, :slots].swapaxes(1, 2) / UPLINKS / _WORD_BYTES
        waiting = sent * np.where(bad > 1, _WAIT_PER_WORD_DEGRADED, _WAIT_PER_WORD)
        errors = np.where(bad > 1, _SYMBOL_ERRORS_PER_INTERVAL * bad, 0)
        more = np.stack([sent, received, waiting, errors, errors // _SYMBOL_ERRORS_PER_INTERVAL])
        totals = self._totals[:, None] + np.cumsum(more, axis=1)
        self._totals = totals[:, -1]
        for slot, numbers in enumerate(_numbers(totals.astype(np.int64)).tolist()):
            write_snapshot(self._out / "perfquery", begin + (slot + 1) * INTERVAL_SECONDS, self._ports % tuple(numbers))
        self._traffic = np.concatenate([self._traffic[:, :, slots:], np.zeros((2, self._leaves, slots))], axis=2)

    def _bad(self, moment: float) -> Floats:
        factors = np.ones(self._leaves)
        for incident in self._incidents:
            if incident.start <= moment < incident.end:
                factors[incident.target] = incident.factor
        return factors


def _numbers(totals: Integers) -> Integers:
    """What the counters of all ports say, a row for each moment; of a leaf's links, the first is the one that may be bad."""
    sent, received, waiting, errors, recoveries = totals
    packets = (sent * _WORD_BYTES // _PACKET_BYTES, received * _WORD_BYTES // _PACKET_BYTES)
    bad = [sent, received, *packets, errors, recoveries, errors // 100, waiting]
    fine = [sent, received, *packets, *np.zeros((3, *sent.shape), np.int64), waiting]
    return np.stack([*bad, *fine], axis=-1).reshape(len(sent), -1)


def topology(leaves: int, nodes: int) -> str:
    """The tree as Slurm's `topology.conf`; leaf switch n answers as LID 100 + n."""
    found = [
        f"SwitchName=leaf{leaf:02d} Nodes=nid[{leaf * NODES_PER_LEAF:05d}-{min(nodes, (leaf + 1) * NODES_PER_LEAF) - 1:05d}]\n"
        for leaf in range(leaves)
    ]
    return "".join(found) + f"SwitchName=spine Switches=leaf[00-{leaves - 1:02d}]\n"
