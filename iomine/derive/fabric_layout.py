"""Gives the devices of a fabric their places in its picture.

Switches stand on rings by tier, those next to hosts on the outer one, so that the longest row gets the longest line. Within a
ring they are ordered by the barycentres of their neighbours on other rings (Sugiyama, Tagawa and Toda 1981), so that few links
cross. Chips of one chassis stand in a disc in the place of one switch, hosts in a block outside of their switch, so
that opening either moves nothing. Subnets stand side by side, and what has no link to a switch below them.

The same devices and links give the same places, in whatever order they come.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

SWITCH_KINDS: Final = ("switch", "router")
_SWEEPS: Final = 4
# Distances between neighbours, in widths of a host.
_HOST: Final = 1.05
_CHIP: Final = 2.0
_GAP: Final = 2.0
# Inner rings take at least this share of the outer ring's radius, so that links have room.
_INNERMOST: Final = 0.3
_DIGITS: Final = re.compile(r"(\d{1,15})")


@dataclass(slots=True)
class _Place:
    """A switch, or all chips of a chassis, with what is attached to it.

    Attributes:
        chips: indices of its devices.
        tier: of the chip next to hosts; None where none is known.
        leaves: indices of hosts and of aggregation nodes.
        radius: of the disc in which the chips stand.
    """

    chips: list[int]
    tier: int | None
    leaves: list[int] = field(default_factory=list)
    radius: float = 1.0

    @property
    def columns(self) -> int:
        """Hosts beside each other in a row of the block; it has about twice as many rows."""
        return math.ceil(math.sqrt(len(self.leaves) / 2))

    @property
    def width(self) -> float:
        return max(2 * self.radius, self.columns * _HOST) + 0.5

    @property
    def depth(self) -> float:
        """From the middle of the switch to beyond the last host."""
        rows = -(-len(self.leaves) // self.columns) if self.leaves else 0
        return self.radius + rows * _HOST + 0.5


def layout_of(nodes: pa.Table, links: pa.Table) -> pa.Table:
    """The places of the devices of one reading.

    Args:
        nodes: rows of `fabric_node`; those without a guid are left out, and of a guid that several tools listed the last counts.
        links: rows of `fabric_link`; those of unknown devices are left out.

    Returns:
        Rows of `fabric_layout`, by guid; no two devices are less than 1 apart.
    """
    by_guid = {row["guid"]: row for row in nodes.to_pylist() if row["guid"] is not None}
    rows = [by_guid[guid] for guid in sorted(by_guid)]
    places, place_of = _places(rows)
    ends = _ends(links, [row["guid"] for row in rows])
    hung = _hung(place_of, ends)
    by_name = sorted(hung, key=lambda leaf: _natural(rows[leaf]))
    for leaf in by_name:
        places[place_of[hung[leaf]]].leaves.append(leaf)
    between = place_of[ends[(place_of[ends] >= 0).all(axis=1)]]
    edges = between[between[:, 0] != between[:, 1]]
    xy = np.zeros((len(rows), 2))
    subnets = [_subnet([places[each] for each in members], edges, members, xy) for members in _components(len(places), edges)]
    width, bottom = _shelve(subnets, xy)
    _strip([number for number in range(len(rows)) if place_of[number] < 0 and number not in hung], width, bottom, xy)
    bundles = {leaf: rows[switch]["guid"] for leaf, switch in hung.items()}
    bundles |= {chip: rows[chip]["chassis_guid"] for place in places if len(place.chips) > 1 for chip in place.chips}
    return pa.table(
        {
            "sampled_at": pa.array([row["sampled_at"] for row in rows], pa.timestamp("us", "UTC")),
            "guid": pa.array([row["guid"] for row in rows], pa.string()),
            "x": xy[:, 0],
            "y": xy[:, 1],
            "bundle": pa.array([bundles.get(number) for number in range(len(rows))], pa.string()),
        }
    )


def _places(rows: Sequence[dict[str, Any]]) -> tuple[list[_Place], Integers]:
    """Where switches stand, and the place of each device; -1 for those that are no switch."""
    chassis = Counter(row["chassis_guid"] for row in rows if row["node_kind"] in SWITCH_KINDS)
    members: dict[tuple[bool, str], list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        if row["node_kind"] in SWITCH_KINDS:
            is_chip = row["chassis_guid"] is not None and chassis[row["chassis_guid"]] > 1
            members[is_chip, row["chassis_guid"] if is_chip else row["guid"]].append(number)
    place_of = np.full(len(rows), -1, np.int64)
    places: list[_Place] = []
    for chips in members.values():
        place_of[chips] = len(places)
        tiers = [rows[chip]["tier"] for chip in chips if rows[chip]["tier"] is not None]
        places.append(_Place(chips, min(tiers, default=None), radius=1 + _CHIP * _chip_ring(len(chips) - 1)))
    return places, place_of


def _ends(links: pa.Table, guids: Sequence[str]) -> Integers:
    """Indices of both ends of each link between two known devices."""
    index = {guid: number for number, guid in enumerate(guids)}
    pairs = zip(links["guid"].to_pylist(), links["peer_guid"].to_pylist(), strict=True)
    found = [(index[one], index[other]) for one, other in pairs if one in index and other in index and one != other]
    return np.array(sorted(found), np.int64).reshape(-1, 2)


def _hung(place_of: Integers, ends: Integers) -> dict[int, int]:
    """The switch that a host or an aggregation node is attached to; of several the first by guid."""
    both = np.concatenate([ends, ends[:, ::-1]])
    found = both[(place_of[both[:, 0]] < 0) & (place_of[both[:, 1]] >= 0)]
    found = found[np.lexsort((found[:, 1], found[:, 0]))]
    leaves, first = np.unique(found[:, 0], return_index=True)
    return dict(zip(leaves.tolist(), found[first, 1].tolist(), strict=True))


def _natural(row: dict[str, Any]) -> tuple[list[tuple[int, str]], str]:
    """A key that sorts node2 before node10."""
    parts = _DIGITS.split((row["host"] or row["description"] or "")[:100])
    return [(int(part), "") if part.isdecimal() and part.isascii() else (-1, part) for part in parts], row["guid"]


def _components(count: int, edges: Integers) -> list[list[int]]:
    """Places that are connected, the largest first."""
    from scipy.sparse import coo_array  # noqa: PLC0415  takes a tenth of a second
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    if not count:
        return []
    graph = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(count, count))
    _, labels = connected_components(graph, directed=False)
    parts: dict[int, list[int]] = defaultdict(list)
    for place, label in enumerate(labels.tolist()):
        parts[label].append(place)
    return sorted(parts.values(), key=lambda members: (-len(members), members))


def _subnet(places: Sequence[_Place], edges: Integers, members: Sequence[int], xy: Floats) -> list[int]:
    """Places a subnet around (0, 0); returns its devices."""
    rings = _ordered(_rings(places), edges, dict(zip(members, range(len(members)), strict=True)))
    own = [[places[each] for each in ring] for ring in rings]
    # From the inside: the hosts of a ring stand before the next ring.
    needed = [_needed([place.width for place in ring]) for ring in own]
    reach = max(needed)
    outside = 0.0
    for number, (ring, least) in enumerate(zip(own, needed, strict=True)):
        middle = max(place.radius for place in ring)
        share = _INNERMOST + (1 - _INNERMOST) * (number + 1) / len(own)
        is_centre = number == 0 and len(ring) == 1
        radius = 0.0 if is_centre else max(least, share * reach, outside + _GAP + middle)
        _put_ring(ring, radius, xy)
        outside = max(radius + place.depth for place in ring) if radius else _put_around(ring[0], xy)
    return [device for place in places for device in (*place.chips, *place.leaves)]


def _rings(places: Sequence[_Place]) -> list[list[int]]:
    """Indices of places by ring, the inner one first; those of unknown tier are inside of all."""
    tiers = sorted({place.tier for place in places if place.tier is not None}, reverse=True)
    unknown = [number for number, place in enumerate(places) if place.tier is None]
    known = [[number for number, place in enumerate(places) if place.tier == tier] for tier in tiers]
    return [unknown, *known] if unknown else known


def _ordered(rings: list[list[int]], edges: Integers, numbers: dict[int, int]) -> list[list[int]]:
    """The same rings, each in the order of the barycentres of its neighbours on others."""
    count = len(numbers)
    lookup = np.full(max(numbers, default=-1) + 1, -1, np.int64)
    lookup[list(numbers)] = list(numbers.values())
    own = edges[(edges < len(lookup)).all(axis=1)]
    own = lookup[own]
    own = own[(own >= 0).all(axis=1)]
    ring_of = np.zeros(count, np.int64)
    position = np.zeros(count)
    for number, ring in enumerate(rings):
        ring_of[ring] = number
        position[ring] = (np.arange(len(ring)) + 0.5) / len(ring)
    across = own[ring_of[own[:, 0]] != ring_of[own[:, 1]]]
    here, there = np.concatenate([across, across[:, ::-1]]).T
    degree = np.bincount(here, minlength=count)
    numbers_of_rings = list(range(len(rings)))
    for sweep in range(_SWEEPS):
        for number in numbers_of_rings[:: -1 if sweep % 2 else 1]:
            ring = rings[number]
            total = np.bincount(here, weights=position[there], minlength=count)
            centre = np.where(degree > 0, total / np.maximum(degree, 1), position)
            # Rounded, so that equal ones keep their order.
            order = np.argsort(np.round(centre[ring], 9), kind="stable")
            rings[number] = [ring[each] for each in order.tolist()]
            position[rings[number]] = (np.arange(len(ring)) + 0.5) / len(ring)
    return rings


def _needed(widths: Sequence[float]) -> float:
    """The least radius of a ring on which places of these widths do not touch."""
    total = sum(widths)
    # A chord is shorter than its arc, most so for neighbours that are far apart around a small ring.
    steps = [math.pi * (one + other) / total for one, other in zip(widths, [*widths[1:], widths[0]], strict=True)]
    widest = max(min(step, 2 * math.pi - step) for step in steps)
    return total / (2 * math.pi) * (widest / 2 / math.sin(widest / 2) if widest > 0 else 1.0)


def _put_ring(ring: Sequence[_Place], radius: float, xy: Floats) -> None:
    total = sum(place.width for place in ring)
    passed = 0.0
    for place in ring:
        angle = 2 * math.pi * (passed + place.width / 2) / total - math.pi / 2
        passed += place.width
        middle = radius * np.array([math.cos(angle), math.sin(angle)])
        _put_chips(place, middle, xy)
        if radius and place.leaves:
            base = radius + place.radius + 0.5 * _HOST
            row, column = np.divmod(np.arange(len(place.leaves)), place.columns)
            angles = angle + (column - (place.columns - 1) / 2) * _HOST / base
            xy[place.leaves] = (base + row * _HOST)[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _put_chips(place: _Place, middle: Floats, xy: Floats) -> None:
    """Chips on rings of six, twelve and so on around the first."""
    for number, chip in enumerate(place.chips):
        ring = _chip_ring(number)
        angle = 2 * math.pi * (number - 3 * ring * (ring - 1) - 1) / (6 * ring) if ring else 0.0
        xy[chip] = middle + _CHIP * ring * np.array([math.cos(angle), math.sin(angle)])


def _chip_ring(number: int) -> int:
    """The ring of a chip: 1 + 6 + 12 + … stand within."""
    return math.ceil((math.sqrt(12 * number + 9) - 3) / 6)


def _put_around(place: _Place, xy: Floats) -> float:
    """Places hosts around a switch in the middle; returns how far they reach."""
    radius, left = place.radius, list(place.leaves)
    while left:
        radius += _HOST
        # The step between neighbours is a chord.
        room = max(1, int(math.pi / math.asin(min(1.0, _HOST / 2 / radius))))
        now, left = left[:room], left[room:]
        angles = 2 * math.pi * np.arange(len(now)) / room - math.pi / 2
        xy[now] = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return radius + 0.5


def _shelve(subnets: Sequence[list[int]], xy: Floats) -> tuple[float, float]:
    """Moves subnets side by side, in rows about as wide as high in all; returns width and bottom."""
    sizes = []
    for devices in subnets:
        xy[devices] += _GAP - xy[devices].min(axis=0)
        sizes.append(xy[devices].max(axis=0) + _GAP)
    limit = max([1.5 * math.sqrt(sum(width * height for width, height in sizes)), *(width for width, _ in sizes)])
    left = top = row = whole = 0.0
    for number in sorted(range(len(subnets)), key=lambda number: -sizes[number][1]):
        width, height = sizes[number].tolist()
        if left and left + width > limit:
            left, top, row = 0.0, top + row, 0.0
        xy[subnets[number]] += [left, top]
        left, row = left + width, max(row, height)
        whole = max(whole, left)
    return whole, top + row


def _strip(loose: Iterable[int], width: float, top: float, xy: Floats) -> None:
    """Places what has no link to a switch in rows below all others."""
    numbers = list(loose)
    columns = max(10, int(width / 2))
    row, column = np.divmod(np.arange(len(numbers)), columns)
    xy[numbers] = np.stack([1 + 2.0 * column, top + 1 + 2.0 * row], axis=1) if numbers else xy[:0]
