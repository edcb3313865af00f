"""The prompt of `iomine sql`: statements that end in a semicolon, and a few commands that begin with a dot."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import typer
from prompt_toolkit import PromptSession
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from iomine.cli.options import Format
from iomine.cli.terminal.completion import completer_of
from iomine.cli.terminal.dictionary import columns_of, views_for_people
from iomine.cli.terminal.formats import write
from iomine.cli.terminal.questions import ask
from iomine.cli.terminal.text import say
from iomine.errors import IomineError, UsageError, did_you_mean
from iomine.views.query import Limits

_EXIT: Final = ".exit"
_HELP: Final = """\
A statement ends with a semicolon or an empty line. Tab completes names, the arrow keys bring back what was asked before.

.tables         the views for people, and what they hold
.schema VIEW    the columns of a view, and what they mean
.help           this page
.exit           leave, as Ctrl-D does; Ctrl-C drops a statement, or breaks off its answer
"""


def converse(database: Path, form: Format, limits: Limits) -> None:
    """Ask for statements and answer them, until `.exit` or the end of input.

    Raises:
        WarehouseError: there is no warehouse to ask.
    """
    prompt = Prompt(database, form, limits)
    session: PromptSession[str] = PromptSession(
        history=_history(),
        completer=completer_of(database, prompt.commands),
        key_bindings=_keys(),
        multiline=True,
        prompt_continuation="   ...> ",
    )
    say("A statement ends with a semicolon or an empty line; .help says more, .exit leaves.")
    while True:
        try:
            text = session.prompt("iomine> ").strip()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if text == _EXIT:
            return
        if text:
            prompt.answer(text)


class Prompt:
    """Answers what is typed.

    Args:
        database: the catalog.
        form: how answers are written.
        limits: what a statement may take.
    """

    def __init__(self, database: Path, form: Format, limits: Limits) -> None:
        self._database = database
        self._form = form
        self._limits = limits
        self.commands: dict[str, Callable[[str], None]] = {
            ".tables": self._tables,
            ".schema": self._schema,
            ".help": lambda _: typer.echo(_HELP, nl=False, err=True),
            _EXIT: lambda _: None,
        }

    def answer(self, text: str) -> None:
        """Writes the answer to a statement or command, or says why there is none."""
        try:
            if text.startswith("."):
                name, _, rest = text.partition(" ")
                self._command(name)(rest.strip(" ;"))
            else:
                write(ask(self._database, text, limits=self._limits), self._form)
        except KeyboardInterrupt:
            say("Interrupted.")
        except IomineError as error:
            say(str(error.args[0]))

    def _command(self, name: str) -> Callable[[str], None]:
        if name not in self.commands:
            raise UsageError(f"There is no {name}: {did_you_mean(name, self.commands) or '.help lists the commands.'}")
        return self.commands[name]

    def _tables(self, _rest: str) -> None:
        write(views_for_people(self._database), self._form)

    def _schema(self, view: str) -> None:
        if not view:
            raise UsageError("Name a view: .schema logs")
        write(columns_of(self._database, view, ".tables lists them."), self._form)


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _end_or_go_on(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if _is_whole(buffer.text, buffer.document.current_line):
            buffer.validate_and_handle()
        else:
            buffer.newline()

    return keys


def _is_whole(text: str, line: str) -> bool:
    return text.rstrip().endswith(";") or text.lstrip().startswith(".") or not line.strip()


def _history() -> History:
    folder = Path(typer.get_app_dir("iomine"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "history").touch(mode=0o600)
    except OSError as error:
        say(f"This session's queries will not be remembered ({error.strerror}: {folder}).")
        return InMemoryHistory()
    return FileHistory(folder / "history")
