"""Rows that mails are written from, in a database of their own, and mails as their readers see them."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final, NoReturn

import duckdb
import pyarrow as pa

from iomine.digest.known import Scope
from iomine.digest.mails import MailPolicy, mails
from iomine.digest.sentences import Links
from iomine.post.model import Mail
from iomine.views.answers import Ask
from iomine.views.questions import Parameters

Row = Mapping[str, Any]
_TEXT, _DAY, _COUNT, _NUMBER, _BOOL = pa.string(), pa.date32(), pa.int64(), pa.float64(), pa.bool_()
_KEY: Final = {"cluster": _TEXT, "night": _DAY, "log_id": _TEXT}
_COLUMNS: Final[Mapping[str, Mapping[str, pa.DataType]]] = {
    "logs": _KEY
    | {"user": _TEXT, "uid": _COUNT, "application": _TEXT, "app": _TEXT, "exe": _TEXT, "lineage_id": _TEXT, "job_id": _TEXT}
    | {
        "nprocs": _COUNT,
        "run_seconds": _NUMBER,
        "run_core_seconds": _NUMBER,
        "io_core_seconds": _NUMBER,
        "is_owner_confirmed": _BOOL,
    },
    "findings": _KEY
    | {"code": _TEXT, "level": _TEXT, "finding": _TEXT, "advice": _TEXT, "evidence": _TEXT, "cost_core_seconds": _NUMBER}
    | {"charged_core_seconds": _NUMBER, "idle_core_seconds": _NUMBER, "cause_code": _TEXT, "is_facility_cause": _BOOL},
    "job_weather": _KEY
    | {
        "weather_verdict": _TEXT,
        "weather_slowdown_ratio": _NUMBER,
        "own_ratio": _NUMBER,
        "run_slowdown_ratio": _NUMBER,
        "is_slow_run": _BOOL,
        "is_excused": _BOOL,
    },
    "advice_outcomes": {
        "cluster": _TEXT,
        "lineage_id": _TEXT,
        "user": _TEXT,
        "application": _TEXT,
        "code": _TEXT,
        "outcome": _TEXT,
        "told_night": _DAY,
        "clear_night": _DAY,
        "is_over": _BOOL,
        "saved_core_seconds": _NUMBER,
        "later_count": _COUNT,
        "later_fired_count": _COUNT,
        "clear_since_count": _COUNT,
    },
    "core.job": {"cluster": _TEXT, "night": _DAY, "job_id": _TEXT, "account": _TEXT},
    "core.module": _KEY | {"module": _TEXT},
}
# What only links need: the post's places, and addresses at the end of a line.
_ADDRESS: Final = re.compile(r":? *https://\S*$")
_PLACE: Final = re.compile(r"^\{\{.*\}\}$|^ *https://\S*$")


def database(tables: Mapping[str, Sequence[Row]]) -> Ask:
    """What answers queries over tables that have the columns of the views that mails ask; columns left out are NULL."""
    con = duckdb.connect()
    con.execute("CREATE SCHEMA core")
    for name, columns in _COLUMNS.items():
        rows = [{column: row.get(column) for column in columns} for row in tables.get(name, ())]
        con.register("given", pa.Table.from_pylist(rows, schema=pa.schema(list(columns.items()))))
        con.execute(f"CREATE TABLE {name} AS FROM given")

    def ask(sql: str, parameters: Parameters | None = None) -> pa.Table:
        return con.sql(sql, params=parameters).to_arrow_table()

    return ask


def all_mails(ask: Ask, scope: Scope, site: str | None = "https://io.site.test", **policy: Any) -> dict[str, Mail]:
    """Mails to all recipients with anything to report, by recipient."""
    free = {
        "is_reader": lambda _: True,
        "is_quiet": lambda *_: False,
        "mailed_on": lambda *_: None,
        "is_praised": lambda *_: False,
    }
    chosen = MailPolicy(**(free | policy))
    return {mail.recipient: mail for mail in mails(ask, scope, chosen, Links(site, Path("/data/reports")), _refused)}


def _refused(recipient: str, error: Exception) -> NoReturn:
    raise AssertionError(recipient) from error


def since(first: date, last: date) -> Scope:
    """The same nights for every user."""
    return Scope("user", {}, first, last)


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.tags: set[str] = set()
        self.headings: list[str] = []
        self.sources: list[str] = []
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]
        self.sources += [value or "" for name, value in attrs if name in {"src", "href", "background", "srcset"}]
        if tag not in {"meta", "img", "br", "link"}:
            self._inside.append(tag)
        if tag == "h2":
            self.headings.append("")

    def handle_endtag(self, tag: str) -> None:
        assert tag == self._inside.pop()

    def handle_data(self, data: str) -> None:
        if not {"style", "title"} & set(self._inside):
            self.text += data
        if "h2" in self._inside:
            self.headings[-1] += data


@cache
def read_html(html: str) -> _Texts:
    """What a reader of the HTML part sees; its tags nest."""
    texts = _Texts()
    texts.feed(html)
    assert [] == texts._inside
    return texts


def plain_lines(text: str) -> list[str]:
    """Lines of the plain part, without those that are addresses."""
    return [_ADDRESS.sub("", line) for line in text.splitlines() if not _PLACE.match(line)]


def words(text: str) -> str:
    """A text without the differences that lines and blanks make."""
    return re.sub(r"\s+", "", text)
