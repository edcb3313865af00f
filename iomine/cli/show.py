"""`iomine show`: one log, or one job with its logs, as a page on the terminal."""
# ruff: noqa: PLC0415

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, OnlyCluster, Warehouse, database_of
from iomine.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Meant:
    """What was asked for: parts of a page, and what their queries need to know."""

    kind: str
    parts: "Mapping[str, str]"
    parameters: list[object]


def command(
    *,
    what: Annotated[
        str, typer.Argument(metavar="LOG_OR_JOB", help="A log's id or the beginning of one, a job's id, or a log file.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for machines.")] = False,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Show all that is known of one log, or the logs of a job.

    Of a job it shows what the scheduler says, and its logs.
    """
    from iomine.cli.terminal.pages import draw
    from iomine.cli.terminal.questions import ask
    from iomine.views.encode import records

    database = database_of(warehouse)
    meant = _meant(database, what, cluster)
    answers = {name: ask(database, query, meant.parameters) for name, query in meant.parts.items()}
    if as_json:
        typer.echo(json.dumps({name: list(records(answer)) for name, answer in answers.items()}))
    else:
        draw(meant.kind, {name: answer.to_pylist() for name, answer in answers.items()})


def _meant(database: Path, what: str, cluster: str | None) -> Meant:
    texts = [*_id_of_file(what), what]
    for found in _meanings(database, texts, cluster):
        if len(found) > 1:
            raise UsageError(f"{what} may be {_listed(found)}: {_narrowed(found)}")
        if found:
            (one,) = found
            return _meant_by(one)
    raise UsageError(_nothing(database, texts, cluster))


def _meanings(database: Path, texts: "Sequence[str]", cluster: str | None) -> "Iterator[list[dict[str, Any]]]":
    from iomine.cli.terminal.questions import ask
    from iomine.views.one_log import MEANINGS

    for text in texts:
        for meaning in MEANINGS:
            yield ask(database, meaning, [text, cluster]).to_pylist()


def _meant_by(one: dict[str, Any]) -> Meant:
    from iomine.views.one_log import JOB_PARTS, LOG_PARTS

    if one["kind"] == "job":
        return Meant("job", JOB_PARTS, [one["id"], one["cluster"]])
    return Meant("log", LOG_PARTS, [one["id"], one["night"], one["cluster"]])


def _id_of_file(what: str) -> list[str]:
    """The id that a file of that name has as a log, if there is one."""
    from iomine.sources.darshan import identify

    # No file system takes such a name.
    with suppress(OSError):
        if Path(what).is_file():
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


def _nothing(database: Path, texts: "Sequence[str]", cluster: str | None) -> str:
    from iomine.cli.terminal.questions import ask
    from iomine.views.one_log import NEAREST

    *file, what = texts
    if file:
        return f"The warehouse does not hold {what}: sweep it first, or name another with --warehouse."
    near = ask(database, NEAREST, [what, cluster])["id"].to_pylist()
    hint = f"near it are {', '.join(near)}." if near else '`iomine sql "SELECT log_id, job_id, path FROM logs"` lists them.'
    return f"There is no log or job {what}: {hint}"
