"""What is called so: jobs, logs, users, applications, hosts, targets and files, each with the address of its page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from iomine.errors import UsageError
from iomine.views.answers import Row, rows_of
from iomine.views.questions import question
from iomine.web.about import KINDS
from iomine.web.panel import Subject
from iomine.web.question import Question, equals
from iomine.web.sessions import Session

if TYPE_CHECKING:
    from iomine.web.pages import Links

_LONGEST: Final = 500
_ON_PAGE: Final = 20
_WHILE_TYPING: Final = 4
# A path is looked for among those of all logs, which takes long.
_FILE_SIGNS: Final = "/"


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that is called so.

    Attributes:
        kind: `job`, `log`, `user`, `application`, `host`, `target` or `file`.
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
    """What has that in its name, what is called so first.

    Args:
        session: answers.
        text: what is looked for; nothing is found for nothing.
        links: of the page that shows it.
        is_whole: whether files are looked for whatever the text, and more is found.
    """
    if not text:
        return []
    asked = {"text": text, "with_files": is_whole or _FILE_SIGNS in text, "most": _ON_PAGE if is_whole else _WHILE_TYPING}
    rows = rows_of(session.ask(question("web/search"), asked))
    return [Hit(row["kind"], row["name"], _about(row), _address(row, links), row["is_exact"], row["name_count"]) for row in rows]


def _about(row: Row) -> str:
    known = (row["user"], row["application"], row["cluster"], row["last_night"] and str(row["last_night"]))
    return " · ".join(each for each in known if each)


def _address(row: Row, links: "Links") -> str:
    if row["kind"] in KINDS:
        return links.about(Subject(row["kind"], row["name"])) or ""
    if row["log_id"]:
        return links.report(row["log_id"]) or ""
    if row["kind"] == "file":
        return links.rows(Question("files", (equals("path", row["name"]),), order="-night")) or ""
    view = "logs" if row["log_count"] else "jobs"
    of_job = (equals("cluster", row["cluster"]), equals("job_id", row["name"]))
    return links.rows(Question(view, of_job, order="-start_at")) or ""
