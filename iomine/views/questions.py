"""What the program itself asks the warehouse: a file for each question under `sql/questions/`, with named parameters."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from iomine.views.texts import parsed_text, sql_folder

# Values for a query: by name, or in the order of `$1`, `$2` and so on.
Parameters = Mapping[str, object] | Sequence[object]
_FOLDER: Final = "questions"


@dataclass(frozen=True, slots=True)
class Question:
    """One file under `sql/questions/`.

    Attributes:
        name: `room/name`, as the file lies.
        about: one sentence.
        reads: what the query and its parts read, each with its schema.
        parameters: names that the query and its parts ask for as `$name`.
        parts: other questions to which the query refers by name, each after those that it refers to; of another room where a
            header names it, as `cli/narrowed_log`.
        query: the query without its parts.
    """

    name: str
    about: str
    reads: tuple[str, ...]
    parameters: tuple[str, ...]
    parts: tuple["Question", ...]
    query: str

    @property
    def sql(self) -> str:
        """The query with its parts."""
        if not self.parts:
            return self.query
        parts = ",\n".join(f"{part.name.partition('/')[2]} AS (\n{part.query}\n)" for part in self.parts)
        more = self.query.removeprefix("WITH ")
        return f"WITH {parts}\n{self.query}" if more == self.query else f"WITH {parts},\n{more}"

    def values(self, known: Mapping[str, object]) -> dict[str, object]:
        """The values of its parameters among all that are known."""
        return {name: known[name] for name in self.parameters}


def question(name: str) -> str:
    """The SQL of a question.

    DuckDB wants a value for each of the question's parameters, and for no other; None is NULL.

    Args:
        name: such as `digest/signs`.

    Raises:
        FileNotFoundError: there is no such question.
        ViewError: its header is wrong.
    """
    return find_question(name).sql


@cache
def find_question(name: str) -> Question:
    """The question of that name; raises as `question` does."""
    path = f"{_FOLDER}/{name}.sql"
    header, query = parsed_text(
        (sql_folder() / path).read_text(encoding="utf-8"), path, ("about", "parts", "reads", "parameters")
    )
    room = name.partition("/")[0]
    named = [find_question(part if "/" in part else f"{room}/{part}") for part in header["parts"]]
    return Question(
        name=name,
        about=header["about"],
        reads=_once(header["reads"], *(part.reads for part in named)),
        parameters=_once(header["parameters"], *(part.parameters for part in named)),
        parts=tuple(dict.fromkeys(each for part in named for each in (*part.parts, part))),
        query=query,
    )


def find_questions() -> tuple[Question, ...]:
    """All questions, by name."""
    rooms = (sql_folder() / _FOLDER).iterdir()
    return tuple(
        find_question(name) for name in sorted(f"{room.name}/{file.name[:-4]}" for room in rooms for file in room.iterdir())
    )


def _once(*names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in names for name in each))
