"""Questions that admins ask, answered on a simulated facility.

`python tests/cookbook.py` simulates it, sweeps it and writes docs/cookbook.md out of docs/cookbook.sql.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from sweeping import write_no_reports

from iomine.cli.options import Format
from iomine.cli.terminal.formats import write
from iomine.pipeline.sweep import Settings, run
from iomine.simulate import Settings as Facility
from iomine.simulate import simulate
from iomine.views.query import ask

_DOCS: Final = Path(__file__).parents[1] / "docs"
QUERIES: Final = _DOCS / "cookbook.sql"
PAGE: Final = _DOCS / "cookbook.md"
_LOGS, _SEED, _DAYS, _CLUSTER = 2500, 7, 10, "aurora"
_SECTION: Final = re.compile(r"^-- (?P<depth>#+) (?P<title>.+)$", re.MULTILINE)
_INTRO: Final = f"""\
# Cookbook

<!-- Written by tests/cookbook.py out of docs/cookbook.sql. -->

Questions that admins ask, each with its query and the answer of a simulated facility ({_LOGS:,} logs in {_DAYS} days). The
queries work in `iomine sql`, and in any client that opens `iomine.duckdb` ([how](clients.md)). [The views](views.md) says what
columns mean. Costs are core-hours that ranks spent in the requests that findings are about ([what that claims](cost.md)).
"""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A question.

    Attributes:
        chapter: what kind of question it is.
        question: in words.
        query: in SQL.
    """

    chapter: str
    question: str
    query: str


def recipes() -> Iterator[Recipe]:
    """All questions, in order."""
    _, *parts = _SECTION.split(QUERIES.read_text(encoding="utf-8"))
    chapter = ""
    for depth, title, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        if depth == "#":
            chapter = title
        else:
            yield Recipe(chapter, title, body.strip())


def facility(folder: Path, scheduler: str | None = None) -> Path:
    """Simulates and sweeps the facility; gives its warehouse."""
    out = folder / "facility"
    simulate(Facility(out, _LOGS, _SEED, _DAYS, _CLUSTER), lambda *_: None)
    # A log whose node died while it was being written.
    first = min((out / "darshan").rglob("*.darshan"))
    (first.parent / "cut.darshan").write_bytes(first.read_bytes()[:1000])
    stats = (out / "lustre", out / "slurm")
    with pytest.MonkeyPatch.context() as patch:
        write_no_reports(patch)
        run(Settings((out / "darshan",), folder / "warehouse", _CLUSTER, scheduler, stats=stats))
    return folder / "warehouse"


def page(warehouse: Path) -> str:
    """The text of docs/cookbook.md."""
    parts = [_INTRO]
    chapter = ""
    for recipe in recipes():
        if recipe.chapter != chapter:
            chapter = recipe.chapter
            parts.append(f"## {chapter}\n")
        parts.append(f"### {recipe.question}\n\n```sql\n{recipe.query}\n```\n\n```text\n{_answer(warehouse, recipe)}```\n")
    return "\n".join(parts)


def _answer(warehouse: Path, recipe: Recipe) -> str:
    answer = ask(warehouse / "iomine.duckdb", recipe.query)
    if not len(answer):
        raise ValueError(f"{recipe.question} The simulated facility has no answer to that: ask something else.")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "answer.txt"
        write(answer, Format.TABLE, file)
        return file.read_text(encoding="utf-8")


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        PAGE.write_text(page(facility(Path(scratch))), encoding="utf-8")
