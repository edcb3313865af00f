"""Slurm's `topology.conf`: which nodes are attached to which switch, and which switches to which; it has no links and ports.

SwitchName=leaf1 Nodes=node[001-018]
SwitchName=spine Switches=leaf[1-8]
BlockName=rack11 Nodes=srv[1101-1108]
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
import pyarrow as pa
from ClusterShell.RangeSet import RangeSetException

from iomine.errors import UnreadableError
from iomine.sources.accounting.hosts import MOST_NODES, NodeList
from iomine.sources.accounting.lines import LeftOut, head_of, numbered
from iomine.sources.clock import read_at
from iomine.sources.fabric.graph import NODE, UNKNOWN, tiers_of
from iomine.sources.fabric.guids import NAMED
from iomine.sources.model import Input, Readings, Source
from iomine.sources.series.doubts import complete_lines, joined
from iomine.sources.series.rows import rows

_SHAPE: Final = re.compile(r"(?:SwitchName|BlockName)=\S", re.IGNORECASE)
_PART: Final = re.compile(r"(?:^|\s)(SwitchName|BlockName|Nodes|Switches)=(\S+)", re.IGNORECASE)
_OTHER: Final = re.compile(r"\s*BlockSizes?=", re.IGNORECASE)
_TIME: Final = pa.timestamp("us", tz="UTC")


def _knows(source: Input) -> bool:
    line = next((line for _, line in numbered(head_of(source.data).encode())), "")
    return bool(_SHAPE.match(line))


def _read(source: Input) -> Readings:
    data, cut = complete_lines(source.data)
    left_out = LeftOut("line")
    switches: dict[str, None] = {}
    above: dict[str, list[str]] = {}
    places: dict[str, str] = {}
    count = 0
    for number, line in numbered(data):
        if _OTHER.match(line):
            continue
        try:
            parts = _parts(line)
            nodes, below = (_unfolded(parts.get(name, ""), MOST_NODES - count) for name in ("nodes", "switches"))
        except (ValueError, RangeSetException) as error:
            left_out.add(number, f"{error}"[:80])
            continue
        count += len(nodes) + len(below)
        places |= dict.fromkeys(nodes, parts.get("switchname") or parts["blockname"])
        if switch := parts.get("switchname"):
            switches[switch] = None
            above.setdefault(switch, []).extend(below)
    names = [*dict.fromkeys([*switches, *(name for each in above.values() for name in each)]), *places]
    if not names:
        raise UnreadableError(joined("it has no switch and no node", left_out.text()))
    clock = read_at(source)
    switch_count = len(names) - len(places)
    columns = {**_columns(names, switch_count, above, places), "sampled_at": pa.repeat(pa.scalar(clock.at, _TIME), len(names))}
    return Readings({NODE: rows(NODE, len(names), columns)}, joined(left_out.text(), cut, clock.doubt), has_moment=False)


def _parts(line: str) -> dict[str, str]:
    parts: dict[str, str] = {key.lower(): value for key, value in _PART.findall(line.partition("#")[0])}
    if not {"switchname", "blockname"} & parts.keys():
        raise ValueError("it names neither a switch nor a block")
    return parts


def _unfolded(folded: str, most: int) -> list[str]:
    names = NodeList(folded)
    if len(names) > most:
        raise ValueError(f"the file names more than {MOST_NODES:,} nodes, the limit for one file")
    return list(names)


def _columns(
    names: list[str], switch_count: int, above: Mapping[str, list[str]], places: Mapping[str, str]
) -> Mapping[str, pa.Array]:
    is_switch = np.arange(len(names)) < switch_count
    at = {name: number for number, name in enumerate(names[:switch_count])}
    links = [
        *_pairs(above, at),
        *((at[places[node]], number) for number, node in enumerate(names[switch_count:], switch_count) if places[node] in at),
    ]
    ends = np.array(links, np.int64).reshape(-1, 2)
    tiers = tiers_of(~is_switch, is_switch, ends[:, 0], ends[:, 1])
    # Names that ibnetdiscover gives hold the guid; a host's own name is another.
    guids = [match[2].lower() if (match := NAMED.fullmatch(name)) else None for name in names]
    hosts = [
        None if guid or number < switch_count else name for number, (name, guid) in enumerate(zip(names, guids, strict=True))
    ]
    return {
        "guid": pa.array(guids, pa.string()),
        "node_kind": pa.DictionaryArray.from_arrays(
            pa.array(np.where(is_switch, 0, 1).astype(np.int32)), pa.array(["switch", "host"])
        ),
        "description": pa.array(names, pa.string()),
        "host": pa.array(hosts, pa.string()),
        "tier": pa.array(tiers, mask=tiers == UNKNOWN),
        "place": pa.array([places.get(name) for name in names], pa.string()),
    }


def _pairs(above: Mapping[str, list[str]], at: Mapping[str, int]) -> Iterator[tuple[int, int]]:
    return ((at[switch], at[below]) for switch, of_one in above.items() for below in of_one)


TOPOLOGY: Final = Source("topology_conf", _knows, _read)
