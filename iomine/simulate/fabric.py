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
from iomine.simulate.jobs import NODES_PER_LEAF, Done
from iomine.simulate.runs import Floats
from iomine.simulate.texts import iso, write_gzip

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
_LENGTH: Final = 33


class Switches:
    """Gathers the traffic of jobs and tells it night by night.

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

    def add(self, done: Sequence[Done], begin: int) -> None:
        """Adds what jobs moved, in the night that begins then and after."""
        for job in done:
            if not len(job.osts.minutes):
                continue
            leaves, nodes = np.unique(job.job.nodes // NODES_PER_LEAF, return_counts=True)
            share = nodes / nodes.sum()
            slots = np.minimum((job.osts.minutes * fs.MINUTE - begin) // INTERVAL_SECONDS, self._traffic.shape[2] - 1)
            for way, column in enumerate((0, 3)):
                moved = np.bincount(slots, job.osts.amounts[:, column], self._traffic.shape[2])
                used = np.flatnonzero(moved)
                self._traffic[way][np.ix_(leaves, used)] += share[:, None] * moved[used]

    def tell(self, begin: int) -> None:
        """Writes the snapshots of the night that begins then."""
        slots = _DAY_SECONDS // INTERVAL_SECONDS
        for slot in range(slots):
            moment = begin + (slot + 1) * INTERVAL_SECONDS
            bad = self._bad(moment - INTERVAL_SECONDS / 2)
            received, sent = self._traffic[:, :, slot] / UPLINKS / _WORD_BYTES
            waiting = sent * np.where(bad > 1, _WAIT_PER_WORD_DEGRADED, _WAIT_PER_WORD)
            errors = np.where(bad > 1, _SYMBOL_ERRORS_PER_INTERVAL * bad, 0)
            self._totals += np.stack([sent, received, waiting, errors, errors // _SYMBOL_ERRORS_PER_INTERVAL])
            text = iso(moment)
            blocks = "".join(self._block(leaf, uplink) for leaf in range(self._leaves) for uplink in range(UPLINKS))
            write_gzip(self._out / "perfquery" / text[:10] / f"{text[11:13]}{text[14:16]}.txt.gz", blocks)
        self._traffic = np.concatenate([self._traffic[:, :, slots:], np.zeros((2, self._leaves, slots))], axis=2)

    def _bad(self, moment: float) -> Floats:
        factors = np.ones(self._leaves)
        for incident in self._incidents:
            if incident.start <= moment < incident.end:
                factors[incident.target] = incident.factor
        return factors

    def _block(self, leaf: int, uplink: int) -> str:
        sent, received, waiting, errors, recoveries = (int(total) for total in self._totals[:, leaf])
        if uplink:
            # One of the leaf's links is the bad one.
            errors = recoveries = 0
        port = _FIRST_PORT + uplink
        packets = _WORD_BYTES / _PACKET_BYTES
        values = (
            ("PortSelect", port),
            ("CounterSelect", "0x0000"),
            ("PortXmitData", sent),
            ("PortRcvData", received),
            ("PortXmitPkts", int(sent * packets)),
            ("PortRcvPkts", int(received * packets)),
            ("CounterSelect2", "0x00000000"),
            ("SymbolErrorCounter", errors),
            ("LinkErrorRecoveryCounter", recoveries),
            ("LinkDownedCounter", 0),
            ("PortRcvErrors", errors // 100),
            ("PortXmitDiscards", 0),
            ("PortXmitWait", waiting),
        )
        head = f"# Port extended counters: Lid {_FIRST_LID + leaf} port {port} (CapMask: 0x5300 CapMask2: 0x0000002)\n"
        return head + "".join(f"{name + ':':.<{_LENGTH}}{value}\n" for name, value in values)


def topology(leaves: int, nodes: int) -> str:
    """The tree as Slurm's `topology.conf`; leaf switch n answers as LID 100 + n."""
    found = [f"SwitchName=leaf{leaf:02d} Nodes=nid[{leaf * NODES_PER_LEAF:05d}-{min(nodes, (leaf + 1) * NODES_PER_LEAF) - 1:05d}]\n" for leaf in range(leaves)]
    return "".join(found) + f"SwitchName=spine Switches=leaf[00-{leaves - 1:02d}]\n"
