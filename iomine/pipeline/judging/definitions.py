"""Notes in the metadata of files of features and verdicts: digests of the statements and settings that gave them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq

from iomine import __version__
from iomine.triggers.judge import judge_sql, settings
from iomine.triggers.model import Trigger
from iomine.views.model import View, needed_views
from iomine.views.query import ENGINE_VERSION

_JUDGED_BY: Final = "judged_by"
_WORKED_OUT_BY: Final = "worked_out_by"


def judged_by(judges: Sequence[Trigger], views: Collection[str]) -> dict[str, str]:
    """A note for files of verdicts: files with the same note were judged by the same statements.

    Args:
        judges: the triggers.
        views: what they ask, each with its schema.
    """
    said = [__version__, ENGINE_VERSION, repr(sorted(settings(judges).items())), judge_sql(judges)]
    return {_JUDGED_BY: _digest([*said, *_texts(needed_views(views))])}


def worked_out_by(judges: Sequence[Trigger], tables: Collection[str]) -> dict[str, dict[str, str]]:
    """A note for files of each table of features: rows with the same note come from the same statements and settings.

    Args:
        judges: the triggers, whose settings the statements ask for.
        tables: the tables; some are worked out from rows of others.
    """
    return {table: {_WORKED_OUT_BY: _digest(_defined(table, tables, settings(judges)))} for table in tables}


def notes_of(path: Path) -> dict[str, str]:
    """The notes of a file, empty for files without any."""
    found = pq.read_metadata(path).metadata or {}
    return {name: found[name.encode()].decode() for name in (_JUDGED_BY, _WORKED_OUT_BY) if name.encode() in found}


def _defined(table: str, tables: Collection[str], values: Mapping[str, float]) -> list[str]:
    """What a table's rows come from: its view, all that this reads, down to records of logs, and their settings."""
    views: tuple[View, ...] = ()
    wanted = {f"feature.{table}"}
    # Features that are kept are tables to the views that read them.
    while wanted - {view.qualified for view in views}:
        views = needed_views(wanted)
        wanted |= {f"feature.{name}" for view in views for name in tables if f"lake.{name}" in view.reads}
    texts = _texts(views)
    asked = (f"{name} = {value!r}" for name, value in sorted(values.items()) if any(f"'{name}'" in text for text in texts))
    return [*texts, *asked]


def _texts(views: Iterable[View]) -> list[str]:
    return [f"{view.qualified}: {view.sql}" for view in views]


def _digest(texts: Iterable[str]) -> str:
    return sha256("\n".join(texts).encode()).hexdigest()
