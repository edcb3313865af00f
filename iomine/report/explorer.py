"""What a page with the trace explorer holds in addition to its text: blocks of data, and the client that draws them.

Blocks are Base64 of gzip, so nothing that a log says can end them, and they are not run: in a page of one file they
stand in elements of no kind that browsers know, in a folder in a script beside the page that does nothing but name them, as
browsers let a page that is a file read no other.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

from markupsafe import Markup

from iomine.report import radial
from iomine.report.columns import packed
from iomine.report.trace import Table, Trace

NAME: Final = "trace"
# A third more as text: such a page is still sent by mail.
_MOST_EMBEDDED_BYTES: Final = 2_000_000


@cache
def asset(name: str) -> str:
    """The text of a file that the client was built into: `explorer.js`, `radial.js`, `explorer.css`, `LICENSES.txt`."""
    return (files("iomine.report") / "assets" / name).read_text(encoding="utf-8")


def embedded(traces: Mapping[str, Trace], circle: radial.Radial | None = None) -> Markup:
    """The blocks as elements of a page, for one that needs no other file; of traces by the name that the page has for each."""
    blocks = _circle(circle)
    for name, trace in traces.items():
        blocks |= _blocks(name, trace, _split(trace.tables)[0], {})
    element = Markup('<script type="application/octet-stream" id="{}">{}</script>\n')
    return Markup().join(element.format(name, text) for name, text in blocks.items())


def beside(traces: Mapping[str, Trace], circle: radial.Radial | None, stem: str) -> dict[str, bytes]:
    """The files that go beside a page, by name.

    Args:
        traces: what they hold of traces, by the name that the page has for each.
        circle: what they hold of who talks to whom.
        stem: what the page's file is called, without its ending.

    Returns:
        `<stem>.trace.js` with the blocks, and each level of detail that is too long for it, which pages read over HTTP only.
    """
    blocks, found = _circle(circle), dict[str, bytes]()
    for name, trace in traces.items():
        light, heavy = _split(trace.tables)
        long = {f"{stem}.{name}-{number}.block.gz": table for number, table in enumerate(heavy)}
        blocks |= _blocks(name, trace, light, long)
        found |= {file: table.block for file, table in long.items()}
    if blocks:
        found[data_name(stem)] = f"globalThis.iomineBlocks={json.dumps(blocks, separators=(',', ':'))};".encode()
    return found


def data_name(stem: str) -> str:
    """The name of the script with the blocks of a page."""
    return f"{stem}.{NAME}.js"


def _circle(circle: radial.Radial | None) -> dict[str, str]:
    return {radial.NAME: circle.block} if circle else {}


def _blocks(name: str, trace: Trace, light: Sequence[Table], long: Mapping[str, Table]) -> dict[str, str]:
    """The description of a trace with its small tables; of long ones, their addresses."""
    listed = [_listed(table, "block", f"{name}-{number}") for number, table in enumerate(light)]
    listed += [_listed(table, "href", file) for file, table in long.items()]
    about = json.dumps({**trace.about, "tables": listed}, allow_nan=False, separators=(",", ":")).encode()
    return {
        f"{name}-about": _text(packed(about)),
        **{f"{name}-{number}": _text(table.block) for number, table in enumerate(light)},
    }


def _listed(table: Table, key: str, place: str) -> dict[str, Any]:
    return {"by": table.by, "tolerance": table.tolerance, "rows": table.row_count, key: place}


def _split(tables: Sequence[Table]) -> tuple[list[Table], list[Table]]:
    """The coarsest table of each kind, and finer ones as far as a page that is sent around may hold them; and the rest."""
    light: list[Table] = []
    long: list[Table] = []
    for table in sorted(tables, key=lambda table: -table.tolerance):
        is_first = all(each.by != table.by for each in light)
        held_bytes = sum(len(each.block) for each in (*light, table))
        (light if is_first or held_bytes <= _MOST_EMBEDDED_BYTES else long).append(table)
    return light, long


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
