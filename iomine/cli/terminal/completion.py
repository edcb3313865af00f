"""What the prompt of `iomine sql` offers for the word that is being typed."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from iomine.cli.terminal.questions import ask_own

_KEYWORDS: Final = ("SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT", "JOIN", "USING", "COUNT", "SUM", "DESCRIBE")
# What a query may not use as a name as it stands, such as "at", is offered in quotes.
_COLUMNS: Final = """
SELECT
    if(table_schema = 'main', table_name, table_schema || '.' || table_name) AS view_name,
    list(
        if(keyword_category IN ('reserved', 'type_function'), '"' || column_name || '"', column_name) ORDER BY ordinal_position
    ) AS columns
FROM information_schema.columns
LEFT JOIN duckdb_keywords() ON keyword_name = column_name
GROUP BY ALL
ORDER BY ALL
"""
_WORD: Final = re.compile(r'[\w."]*$')
_WANTS_VIEW: Final = re.compile(r"(\b(FROM|JOIN|DESCRIBE|SUMMARIZE)\s+|\bFROM\s[^()]*,\s*|^\s*\.schema\s+)$", re.IGNORECASE)
_JOINS: Final = "LEFT|RIGHT|INNER|FULL|CROSS|ANTI|SEMI|ASOF|JOIN|USING|ON"
_NO_ALIAS: Final = rf"(?:WHERE|GROUP|ORDER|LIMIT|UNION|HAVING|QUALIFY|{_JOINS})\b"
_SOURCE: Final = re.compile(rf"(?:\b(?:FROM|JOIN)|,)\s+([\w.]+)(?:\s+(?:AS\s+)?(?!{_NO_ALIAS})(\w+))?", re.IGNORECASE)


class SqlCompleter(Completer):
    """Completes names of views where one is due, and columns of the views that the statement names.

    Args:
        columns: of each view; those that are reserved words in quotes.
        commands: what may stand instead of a statement.
    """

    def __init__(self, columns: Mapping[str, Sequence[str]], commands: Iterable[str] = ()) -> None:
        self._columns = columns
        self._commands = tuple(commands)

    def get_completions(self, document: Document, _event: CompleteEvent) -> Iterator[Completion]:
        """What may stand in place of the word before the cursor."""
        match = _WORD.search(document.text_before_cursor)
        word = match[0] if match else ""
        before = document.text_before_cursor.removesuffix(word)
        for offer in dict.fromkeys(self._offers(before, word, document.text)):
            if offer != word and offer.replace('"', "").casefold().startswith(word.replace('"', "").casefold()):
                yield Completion(offer, -len(word))

    def _offers(self, before: str, word: str, text: str) -> Iterable[str]:
        if not before.strip() and word.startswith("."):
            return self._commands
        if _WANTS_VIEW.search(before):
            return self._columns
        sources = _sources(text, self._columns)
        owner, dot, _ = word.rpartition(".")
        if dot and owner.casefold() in sources:
            return (f"{owner}.{column}" for column in self._columns[sources[owner.casefold()]])
        views = dict.fromkeys(sources.values()) or [view for view in self._columns if "." not in view]
        return (*(column for view in views for column in self._columns[view]), *self._columns, *_KEYWORDS)


def completer_of(database: Path, commands: Iterable[str] = ()) -> SqlCompleter:
    """Completes what a catalog has.

    Raises:
        WarehouseError: there is no warehouse to ask.
    """
    rows = ask_own(database, _COLUMNS).to_pylist()
    return SqlCompleter({row["view_name"]: row["columns"] for row in rows}, commands)


def _sources(text: str, views: Iterable[str]) -> dict[str, str]:
    """The views that a statement reads, by the names that it gives them, both in lower case."""
    known = {view.casefold(): view for view in views}
    found = {}
    for view, alias in _SOURCE.findall(text):
        if name := known.get(view.casefold()):
            found[(alias or view.rpartition(".")[2]).casefold()] = name
    return found
