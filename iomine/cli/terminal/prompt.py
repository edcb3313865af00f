"""The prompt of `iomine sql`: a line is a query."""

from pathlib import Path

import typer
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from iomine.cli.options import Format
from iomine.cli.terminal.formats import write
from iomine.cli.terminal.questions import ask
from iomine.cli.terminal.text import say
from iomine.errors import IomineError

_KEYWORDS = ("SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT", "JOIN", "USING", "COUNT", "SUM", "DESCRIBE", ".exit")
_WORDS = """
SELECT if(table_schema = 'main', table_name, table_schema || '.' || table_name) AS word FROM information_schema.tables
UNION
SELECT column_name AS word FROM information_schema.columns
"""


def converse(database: Path, form: Format) -> None:
    """Ask for queries and answer them, until `.exit` or the end of input.

    Raises:
        WarehouseError: there is no warehouse to ask.
    """
    session: PromptSession[str] = PromptSession(history=_history(), completer=completer_of(database))
    say("A line is a query; Tab completes names, the table data_dictionary explains them, .exit leaves.")
    while True:
        try:
            line = session.prompt("iomine> ").strip()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if line == ".exit":
            return
        if line:
            _answer(database, line, form)


def completer_of(database: Path) -> WordCompleter:
    """Completes names of views and columns, and the commonest words of SQL.

    Raises:
        WarehouseError: there is no warehouse to ask.
    """
    words = ask(database, _WORDS)["word"].to_pylist()
    return WordCompleter(sorted({*_KEYWORDS, *words}), ignore_case=True)


def _answer(database: Path, line: str, form: Format) -> None:
    try:
        write(ask(database, line), form)
    except KeyboardInterrupt:
        say("Interrupted.")
    except IomineError as error:
        say(str(error.args[0]))


def _history() -> History:
    folder = Path(typer.get_app_dir("iomine"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "history").touch(mode=0o600)
    except OSError as error:
        say(f"This session's queries will not be remembered ({error.strerror}: {folder}).")
        return InMemoryHistory()
    return FileHistory(folder / "history")
