"""Where a log ran: its switches by tier, with its nodes and servers, as a small picture.

Switches of a tier stand in a row, in the order in which they stand in the picture of the whole fabric; lines are as wide as the
bytes that moved between two.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup, escape

from iomine.units import counted, human_bytes, visible
from iomine.views.answers import Row, Rows

_WIDTH: Final = 960
_MARGIN: Final = 60
_ROW: Final = 92
_TOP: Final = 26
_WIDEST: Final = 6.0
# With at most this many things, names have room.
_MOST_NAMED: Final = 12
_CUT: Final = 14


@dataclass(frozen=True, slots=True)
class _Thing:
    """A switch, a server, or the nodes that are attached to a switch.

    Attributes:
        kind: `switch`, `server`, `nodes` or `device`.
        name: what it is called.
        row: 0 for the lowest.
        order: where it stands in its row.
    """

    kind: str
    name: str
    row: int
    order: tuple[float, str]


def where_picture(ways: Rows) -> Markup:
    """The picture of what a log's bytes moved over.

    Args:
        ways: rows of `report/ways`, at least one.
    """
    things = _things(ways)
    places = _places(things)
    most = max(row["read_bytes"] + row["write_bytes"] for row in ways)
    # The widest lines come first and lie below the others.
    lines = [_line(row, places, most) for row in ways]
    dots = [_dot(things[key], *places[key], is_named=_is_named(things, things[key].row)) for key in things]
    rows = 1 + max(thing.row for thing in things.values())
    label = escape("Switches, nodes and servers between which the log's bytes moved; the table below has the same.")
    shape = f'class="where" viewBox="0 0 {_WIDTH} {_TOP + _ROW * (rows - 1) + 60}" role="img" aria-label="{label}"'
    return Markup(f"<svg {shape}>{''.join(lines)}{''.join(dots)}</svg>")  # noqa: S704  what is escaped, and numbers


def _key(row: Row) -> str:
    """Names the other end of a row."""
    return f"nodes of {row['guid']}" if row["peer_kind"] == "nodes" else row["peer_guid"]


def _things(ways: Rows) -> dict[str, _Thing]:
    known = [row["tier"] for row in ways] + [row["peer_tier"] for row in ways if row["peer_kind"] == "switch"]
    tiers = sorted({tier for tier in known if tier is not None})
    # Those of unknown tier stand above all others.
    rank = {tier: 1 + number for number, tier in enumerate(tiers)}
    xs = [row["x"] for row in ways if row["x"] is not None] or [0.0]
    ys = [row["y"] for row in ways if row["y"] is not None] or [0.0]
    middle = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    found: dict[str, _Thing] = {}
    for row in ways:
        order = _angle(row["x"], row["y"], middle)
        name = row["device"] or row["guid"]
        found.setdefault(row["guid"], _Thing("switch", name, rank.get(row["tier"], len(tiers) + 1), (order, row["guid"])))
        kind, key = row["peer_kind"], _key(row)
        if kind == "switch":
            place = _angle(row["peer_x"], row["peer_y"], middle)
            tier = rank.get(row["peer_tier"], len(tiers) + 1)
            found.setdefault(key, _Thing("switch", row["peer_device"] or key, tier, (place, key)))
        else:
            name = counted(row["node_count"], "node") if kind == "nodes" else row["peer_device"] or key
            found.setdefault(key, _Thing(kind, name, 0, (order, key)))
    return found


def _angle(x: float | None, y: float | None, middle: tuple[float, float]) -> float:
    return 0.0 if x is None or y is None else math.atan2(y - middle[1], x - middle[0])


def _places(things: Mapping[str, _Thing]) -> dict[str, tuple[float, float]]:
    """Where each thing stands."""
    rows: dict[int, list[str]] = {}
    for key in sorted(things, key=lambda key: things[key].order):
        rows.setdefault(things[key].row, []).append(key)
    top = max(rows)
    return {
        key: (_MARGIN + (_WIDTH - 2 * _MARGIN) * (number + 0.5) / len(keys), _TOP + _ROW * (top - row))
        for row, keys in rows.items()
        for number, key in enumerate(keys)
    }


def _is_named(things: Mapping[str, _Thing], row: int) -> bool:
    return sum(thing.row == row for thing in things.values()) <= _MOST_NAMED


def _line(row: Row, places: Mapping[str, tuple[float, float]], most: float) -> str:
    (x1, y1), (x2, y2) = places[row["guid"]], places[_key(row)]
    moved = row["read_bytes"] + row["write_bytes"]
    width = max(0.75, _WIDEST * moved / most) if most else 0.75
    kind = "read" if row["read_bytes"] > row["write_bytes"] else "written"
    title = f"{_ends(row)}: {human_bytes(row['read_bytes'])} read, {human_bytes(row['write_bytes'])} written"
    line = f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"
    return f'<path class="{kind}" d="{line}" stroke-width="{width:.2f}"><title>{escape(title)}</title></path>'


def _ends(row: Row) -> str:
    other = counted(row["node_count"], "node") if row["peer_kind"] == "nodes" else row["peer_device"] or row["peer_guid"]
    return f"{_short(row['device'] or row['guid'], 60)} to {_short(other, 60)}"


def _dot(thing: _Thing, x: float, y: float, *, is_named: bool) -> str:
    kind, radius = escape(thing.kind), 7 if thing.kind == "switch" else 5
    title = f"<title>{escape(_short(thing.name, 100))}</title>"
    shape = f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}">{title}</circle>'
    if not is_named:
        return shape
    # Above for switches, as lines go down from most of them.
    below = y + 20 if thing.row == 0 else y - 12
    return f'{shape}<text x="{x:.1f}" y="{below:.1f}" text-anchor="middle">{escape(_short(thing.name, _CUT))}</text>'


def _short(text: str, most: int) -> str:
    whole = visible(text)
    return whole if len(whole) <= most else f"{whole[: most - 1]}…"
