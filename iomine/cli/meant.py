"""Finds the log or job that people name by its id, the beginning of its id, its path, or the file itself."""
# ruff: noqa: PLC0415

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from iomine.cli.narrowing import Narrowing
from iomine.errors import UsageError

if TYPE_CHECKING:
    from iomine.report.facts import Place

LogOrJob = Annotated[
    str, typer.Argument(metavar="LOG_OR_JOB", help="A log's id or the beginning of one, a job's id, or a log file.")
]
_OF_JOB = "SELECT cluster, night, log_id FROM logs WHERE job_id = $1 AND cluster = $2 ORDER BY start_at, log_id"


@dataclass(frozen=True, slots=True)
class Meant:
    """A log or a job of the warehouse.

    Attributes:
        kind: which of both.
        cluster: its machine.
        id: `log_id` or `job_id`.
        night: the log's; a job may have logs of several.
    """

    kind: Literal["log", "job"]
    cluster: str
    id: str
    night: date | None

    def places(self, database: Path) -> "list[Place]":
        """Where the log lies, or all logs of the job, in the order of their start."""
        from iomine.cli.terminal.questions import ask_rows
        from iomine.report.facts import Place

        if self.night is not None:
            return [Place(self.cluster, self.night, self.id)]
        return [Place(**row) for row in ask_rows(database, _OF_JOB, [self.id, self.cluster])]

    def asked(self, database: Path) -> dict[str, object]:
        """Parameters of a question about the log, or about all logs of the job: their machine, ids and first night."""
        places = self.places(database)
        nights = [place.night for place in places]
        return {"cluster": self.cluster, "log_ids": [place.log_id for place in places], "first_night": min(nights, default=None)}


def meant(database: Path, what: str, cluster: str | None, *, may_be_file: bool = True) -> Meant:
    """The one log or job that is meant.

    Args:
        database: the catalog.
        what: how people name it.
        cluster: its machine, None for any.
        may_be_file: whether it may name a file that lies here, which is read then.

    Raises:
        UsageError: there is none, or more than one.
    """
    texts = [*(_id_of_file(what) if may_be_file else ()), what]
    for found in _meanings(database, texts, cluster):
        if len(found) > 1:
            raise UsageError(f"{what} may be {_listed(found)}: {_narrowed(found)}")
        if found:
            return Meant(**found[0])
    raise UsageError(_nothing(database, texts, cluster))


def _meanings(database: Path, texts: Sequence[str], cluster: str | None) -> Iterator[list[dict[str, Any]]]:
    from iomine.cli.terminal.questions import ask_rows
    from iomine.views.meanings import MEANINGS

    for text in texts:
        for meaning in MEANINGS:
            yield ask_rows(database, meaning, [text, cluster])


def _id_of_file(what: str) -> list[str]:
    """The id that a file of that name has as a log, if there is one."""
    # No file system takes such a name.
    with suppress(OSError):
        if Path(what).is_file():
            from iomine.sources.darshan import identify

            return [identify(Path(what)).log_id]
    return []


def _listed(found: list[dict[str, Any]], most: int = 3) -> str:
    shown = [f"{each['kind']} {each['id']} on {each['cluster']}" for each in found[:most]]
    more = [f"{len(found) - most:,} more"] if len(found) > most else []
    return " or ".join(shown + more)


def _narrowed(found: list[dict[str, Any]]) -> str:
    if len({each["id"] for each in found}) == 1:
        return "name the machine with --cluster."
    return "give more of it."


def _nothing(database: Path, texts: Sequence[str], cluster: str | None) -> str:
    from iomine.cli.terminal.questions import ask_rows
    from iomine.views.meanings import LEAST_DIGITS, NEAREST

    *file, what = texts
    if file:
        return f"The warehouse does not hold {what}: sweep it first, or name another with --warehouse."
    Narrowing(cluster=cluster).check(database)
    near = [row["id"] for row in ask_rows(database, NEAREST, [what, cluster])]
    if near:
        hint = f"near it are {', '.join(near)}."
    elif len(what) < LEAST_DIGITS:
        hint = f"give at least {LEAST_DIGITS} digits of a log's id."
    else:
        hint = '`iomine sql "SELECT log_id, job_id, path FROM logs"` lists them.'
    return f"There is no log or job {what}: {hint}"
