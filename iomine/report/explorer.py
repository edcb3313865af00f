"""The trace explorer in a page: its data, and a whole page with nothing else on it.

Scripts in the page are either the client, which the page's policy names by its digest, or blocks of data, which browsers
do not run. So nothing that a log says is ever run.
"""

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Final

from iomine.report.trace import Table, Trace

_NAME: Final = "trace"
# A third more as text: such a page is still sent by mail.
_MOST_EMBEDDED_BYTES: Final = 2_000_000
_PAGE: Final = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; {policy}; img-src data: blob:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{title}</title>
{head}
</head>
<body>
<h1>{title}</h1>
{body}
{foot}
</body>
</html>
"""


def asset(name: str) -> str:
    """The text of a file that the client was built into: `explorer.js`, `explorer.css`, `LICENSES.txt`."""
    return (resources.files("iomine.report") / "assets" / name).read_text(encoding="utf-8")


def embedded(trace: Trace) -> str:
    """The explorer's section of a page, with its data; of levels of detail, as fine ones as a page can hold.

    A click on anything in the page with `data-highlight="CODE"` highlights what that finding is about.
    """
    tables = _light(trace.tables)
    blocks = [
        f'<script type="application/octet-stream" id="{_NAME}-{number}">{base64.b64encode(table.parquet).decode()}</script>'
        for number, table in enumerate(tables)
    ]
    places = [{"block": f"{_NAME}-{number}"} for number in range(len(tables))]
    return "\n".join([*blocks, _section(trace, tables, places)])


def beside(trace: Trace, folder: Path) -> str:
    """The explorer's section of a page in a folder, into which its data go.

    Browsers read files beside a page over HTTP only.
    """
    places = []
    for number, table in enumerate(trace.tables):
        path = folder / f"{_NAME}-{number}.parquet"
        path.write_bytes(table.parquet)
        places.append({"href": path.name})
    return _section(trace, trace.tables, places)


def standalone_page(trace: Trace, title: str) -> str:
    """A page of one file, which opens from a file system too."""
    script, style = asset("explorer.js"), asset("explorer.css")
    policy = f"script-src 'sha256-{_digest(script)}'; style-src 'sha256-{_digest(style)}'"
    head, foot = f"<style>{style}</style>", f"<script>{script}</script>"
    return _PAGE.format(policy=policy, title=html.escape(title), head=head, body=embedded(trace), foot=foot)


def write_page(trace: Trace, title: str, folder: Path) -> Path:
    """Writes a page into a folder, beside it its data and the client; for a web server."""
    for name in ("explorer.js", "explorer.css"):
        (folder / name).write_text(asset(name), encoding="utf-8")
    policy = "script-src 'self'; style-src 'self'; connect-src 'self'"
    head, foot = '<link rel="stylesheet" href="explorer.css">', '<script src="explorer.js"></script>'
    page = folder / "index.html"
    body = beside(trace, folder)
    page.write_text(_PAGE.format(policy=policy, title=html.escape(title), head=head, body=body, foot=foot), encoding="utf-8")
    return page


def _light(tables: Sequence[Table]) -> list[Table]:
    """The coarsest table of each kind, and finer ones as far as a page that is sent around may hold them."""
    kept, seen, held_bytes = [], set(), 0
    for table in sorted(tables, key=lambda table: -table.tolerance):
        if table.by not in seen or held_bytes + len(table.parquet) <= _MOST_EMBEDDED_BYTES:
            kept.append(table)
            held_bytes += len(table.parquet)
        seen.add(table.by)
    return kept


def _section(trace: Trace, tables: Sequence[Table], places: Sequence[Mapping[str, str]]) -> str:
    told: list[dict[str, Any]] = [
        {"by": table.by, "tolerance": table.tolerance, "rows": table.row_count, **place}
        for table, place in zip(tables, places, strict=True)
    ]
    # Whatever a path holds, it does not end the block.
    about = json.dumps({**trace.about, "tables": told}, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<script type="application/json" id="{_NAME}">{about}</script>\n'
        f'<section class="explorer" data-trace="{_NAME}" aria-label="Trace explorer"></section>'
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
