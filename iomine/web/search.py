"""Finds names: jobs, logs, files, and everything that has a page of its own, each with the address of its page."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from iomine.errors import UsageError
from iomine.report.blocks import block_script
from iomine.units import KIB
from iomine.views.answers import Row, rows_of
from iomine.views.questions import question
from iomine.web.about import KINDS
from iomine.web.panel import JobName, Subject
from iomine.web.question import Question, equals
from iomine.web.sessions import Session
from iomine.web.window import Window

if TYPE_CHECKING:
    from iomine.web.pages import Links

_LONGEST: Final = 500
_ON_PAGE: Final = 20
_WHILE_TYPING: Final = 4
# A path is looked for among those of all logs, which takes long.
_FILE_SIGNS: Final = "/"
# Of names of each kind in the index of a site without a server, which a browser loads whole when somebody searches.
_INDEXED_BYTES: Final = 512 * KIB
_MOST_INDEXED: Final = 20_000
_INDEXED_RUNS: Final = 500
# What the index is called in the block that holds it.
INDEX: Final = "names"

Names = Mapping[str, Sequence[tuple[str, str, str]]]


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that is called so.

    Attributes:
        kind: `job`, `log`, `file`, or one of those that have pages of their own.
        name: its name.
        about: what else is known of it, in a few words.
        address: of its page.
        is_exact: whether it has just the name that was asked for.
        name_count: how many of its kind there are.
    """

    kind: str
    name: str
    about: str
    address: str
    is_exact: bool
    name_count: int


def text_of(parameters: Sequence[tuple[str, str]]) -> str:
    """What an address asks for.

    Raises:
        UsageError: a parameter makes no sense.
    """
    asked = dict(parameters)
    if unknown := asked.keys() - {"q"}:
        raise UsageError(f"There is no parameter {min(unknown)[:100]!r}: write q=TEXT.")
    return asked.get("q", "").strip()[:_LONGEST]


def hits_of(session: Session, text: str, links: "Links", *, is_whole: bool) -> list[Hit]:
    """Everything with the text in its name, exact names first.

    Args:
        session: answers.
        text: what is looked for; an empty text finds nothing.
        links: of the page that shows it.
        is_whole: whether files are looked for whatever the text, and more is found.
    """
    if not text:
        return []
    asked = {"text": text, "with_files": is_whole or _FILE_SIGNS in text, "most": _ON_PAGE if is_whole else _WHILE_TYPING}
    rows = rows_of(session.ask(question("web/search"), asked))
    return [Hit(row["kind"], row["name"], _about(row), _address(row, links), row["is_exact"], row["name_count"]) for row in rows]


def names_of(session: Session, window: Window, links: "Links") -> Names:
    """By kind, what has a page: its name, what else is known of it, and where that page is; the newest first.

    Of each kind there are as many as fit into half a MiB, and of files those of the runs whose findings cost most.
    """
    nights = {"since": window.since, "until": window.until, "cluster": window.cluster}
    rows = rows_of(session.ask(question("web/search"), {"text": "", "with_files": False, "most": _MOST_INDEXED}))
    files = rows_of(
        session.ask(question("web/costly_files"), nights | {"most_runs": _INDEXED_RUNS, "most": _MOST_INDEXED}),
    )
    found: dict[str, list[tuple[str, str, str]]] = {}
    left: dict[str, int] = {}
    entries = [(row["kind"], row["name"], _about(row), _address(row, links)) for row in rows]
    entries += [("file", row["name"], "", links.report(row["log_id"]) or "") for row in files]
    for kind, *entry in entries:
        name, about, address = entry
        size = len(json.dumps(entry))
        if address and left.setdefault(kind, _INDEXED_BYTES) >= size:
            left[kind] -= size
            found.setdefault(kind, []).append((name, about, address))
    return found


def index_script(names: Names) -> bytes:
    """The index as a script, as `client/src/names.ts` reads it."""
    return block_script(INDEX, {"names": names}, {})


def _about(row: Row) -> str:
    known = (row["user"], row["application"], row["cluster"], row["last_night"] and str(row["last_night"]))
    return " · ".join(each for each in known if each)


def _address(row: Row, links: "Links") -> str:
    if row["kind"] in KINDS:
        return links.about(Subject(row["kind"], row["name"])) or ""
    if row["log_id"]:
        return links.report(row["log_id"]) or ""
    if row["kind"] == "job" and row["log_count"]:
        return links.job(JobName(row["cluster"], row["name"])) or ""
    if row["kind"] == "file":
        return links.rows(Question("files", (equals("path", row["name"]),), order="-night")) or ""
    of_job = (equals("cluster", row["cluster"]), equals("job_id", row["name"]))
    return links.rows(Question("jobs", of_job, order="-start_at")) or ""
