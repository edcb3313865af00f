"""Layouts of files on Lustre, made up, and where on them a byte lies by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st
from shared import Row
from tables import columns

from iomine.derive.layouts import MIRRORED, NO_LAYOUT, NO_OFFSET, NO_OST, NO_SENSE, ON_MDT, Place

STALE, PARITY = 1, 0x80

Component = Mapping[str, Any]
Layouts = Mapping[int, Sequence[Component]]


def component(start: int, end: int, stripe_bytes: int, ost_ids: Sequence[int], **more: int) -> Component:
    return {
        "extent_start_bytes": start,
        "extent_end_bytes": end,
        "stripe_bytes": stripe_bytes,
        "stripe_count": len(ost_ids),
        "ost_ids": list(ost_ids),
        **more,
    }


def lustre(layouts: Layouts, rank: int = -1) -> dict[str, pa.Array]:
    rows = [
        {"file_id": file_id, "rank": rank, "component": index, **part}
        for file_id, parts in layouts.items()
        for index, part in enumerate(parts or [dict.fromkeys(component(0, 0, 0, ()), None) | {"component": None}])
    ]
    return columns("lustre_component", rows)


def segment(offset: int, length: int, file_id: int = 1, op: str = "write", seconds: float = 1.0) -> Row:
    return {
        "layer": "posix",
        "file_id": file_id,
        "op": op,
        "offset_bytes": offset,
        "length_bytes": length,
        "end_seconds": seconds,
    }


def place_by_hand(components: Sequence[Component] | None, offset: int) -> Place:
    """Where one byte of a file lies."""
    if offset < 0 or components is None:
        return NO_OFFSET if offset < 0 else NO_LAYOUT
    holding = [
        part
        for part in components
        if not part["component_flags"] & (STALE | PARITY)
        if part["extent_start_bytes"] <= offset and (offset < part["extent_end_bytes"] or part["extent_end_bytes"] == -1)
    ]
    if len(holding) != 1:
        return MIRRORED if holding else NO_OST
    [part] = holding
    if part["stripe_pattern"] or not part["ost_ids"]:
        return ON_MDT if part["stripe_pattern"] else NO_OST
    return part["ost_ids"][offset // part["stripe_bytes"] % len(part["ost_ids"])] if part["stripe_bytes"] else NO_SENSE


_STRIPING = st.fixed_dictionaries(
    {
        "stripe_bytes": st.integers(0, 9),
        "ost_ids": st.lists(st.integers(0, 5), max_size=5),
        "stripe_pattern": st.sampled_from([0, 0, 0, 2, 0x100]),
        "component_flags": st.sampled_from([0, 0x10, 0x10, STALE, PARITY]),
    }
).map(lambda striping: {**striping, "stripe_count": len(striping["ost_ids"])})
_CUTS = st.lists(st.integers(1, 60), max_size=4, unique=True).map(sorted)


@st.composite
def mirrors(draw: st.DrawFn) -> list[Component]:
    """Components that follow each other, or begin and end anywhere."""
    cuts = draw(_CUTS)
    extents = list(zip([0, *cuts], [*cuts, -1], strict=True))
    if draw(st.booleans()):
        anywhere = st.tuples(st.integers(0, 60), st.integers(0, 60)).map(sorted)
        extents = [tuple(extent) for extent in draw(st.lists(anywhere, max_size=4))]
    return [{"extent_start_bytes": start, "extent_end_bytes": end, "mirror_id": 0, **draw(_STRIPING)} for start, end in extents]
