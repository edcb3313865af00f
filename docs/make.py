"""Writes what follows from the program, here and in deploy/: `python docs/make.py` after a command or trigger changed."""

import json
from dataclasses import Field, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from typer.testing import CliRunner

from iomine.cli.app import build_app, commands
from iomine.cli.explain import page_text
from iomine.pipeline.site.retention import REPORT, SUGGESTED_DAYS, perishable
from iomine.pipeline.workers.slurm import SlurmSite
from iomine.post.settings import Settings
from iomine.schema import TABLES, field
from iomine.triggers import MANUALS, Manual
from iomine.triggers.bars import shipped_bars
from iomine.views.catalog import build_catalog
from iomine.views.query import ask

_HERE: Final = Path(__file__).parent
_MADE: Final = "<!-- Written by docs/make.py: change the program, then run that. -->"
_BARS: Final = """\
# Bars of a site: what iomine ships with. Written by docs/make.py.
#
# Copy this file into the warehouse, as bars.toml, and take the # away from each value that is to differ and from the code
# above it. Sweeps judge by it from then on. `iomine judge --compare` shows what it would change of the nights before, and
# `iomine judge` changes that.
"""
_SLURM: Final = """\
# How a site's Slurm gives workers to `iomine sweep --slurm`. Written by docs/make.py.
#
# Copy this file into the warehouse, as slurm.toml, and take the # away from each value that is to differ from what stands
# here. `iomine doctor` asks Slurm whether it would take such jobs. docs/cluster.md says how many, and how large.
"""
_DIGEST: Final = """\
# What a site sets for its digests. Written by docs/make.py.
#
# Copy this file into the warehouse, as digest.toml, and take the # away from each value that is to differ from what stands
# here. docs/digest.md says what comes of it.
"""
_RETENTION: Final = """\
# Days for which a site keeps the rows of a table, counted back from the newest night. Written by docs/make.py.
#
# Copy this file into the warehouse, as retention.toml, and change what is to differ: 0, a # before the line or no line at
# all is for ever. Sweeps drop by it from then on; the files themselves go a week later. Tables that verdicts are worked
# out from are not here: they leave with log, as does all else that belongs to logs, but for the sums in app_night,
# finding_night and mount_night.

[days]
"""
# Help is laid out for the terminal that asks; a page must not depend on whose that is.
_TERMINAL: Final = {"COLUMNS": "80", "IOMINE_WAREHOUSE": None}


def pages() -> dict[Path, str]:
    """The text of every page that is written here, by its path."""
    return {
        _HERE / "cli.md": _cli_page(),
        _HERE / "triggers.md": _triggers_page(),
        _HERE / "views.md": _views_page(),
        _HERE.parent / "deploy" / "retention.toml": _RETENTION + "".join(map(_days, perishable())),
        _HERE.parent / "deploy" / "bars.toml": _BARS + "".join(_bars(page) for page in MANUALS.values()),
        _HERE.parent / "deploy" / "slurm" / "slurm.toml": _SLURM + "".join(map(_site_setting, fields(SlurmSite))),
        _HERE.parent / "deploy" / "digest.toml": _DIGEST + "".join(map(_site_setting, fields(Settings))),
    }


def _cli_page() -> str:
    intro = "What `--help` says, command by command. Options of the same name mean the same everywhere."
    sections = [_help(), *(_help(name) for name in commands())]
    return "\n".join(("# The command line", "", _MADE, "", intro, "", *sections))


def _help(*command: str) -> str:
    answer = CliRunner().invoke(build_app(), [*command, "--help"], env=_TERMINAL, prog_name="iomine")
    title = " ".join(("iomine", *command))
    lines = [line.rstrip() for line in answer.stdout.strip().splitlines()]
    return "\n".join((f"## {title}", "", "```console", f"$ {title} --help", *lines, "```", ""))


def _triggers_page() -> str:
    intro = "What `iomine explain CODE` says, trigger by trigger."
    return "\n".join((_MADE, "", intro, "", *(page_text(page) for page in MANUALS.values())))


def _bars(page: Manual) -> str:
    shown = {name: int(value) if value.is_integer() else value for name, value in shipped_bars(page.trigger).items()}
    values = (f"# {field(name).about}\n#{name} = {value}\n" for name, value in shown.items())
    return "".join((f"\n#[{page.trigger.code}]\n# {page.title}.\n", *values))


def _site_setting(setting: Field[Any]) -> str:
    """A setting as the template has it, or a table of settings."""
    about, default = setting.metadata["about"], setting.metadata.get("default")
    if isinstance(default, type):
        return f"\n# {about}\n[{setting.name}]\n" + "".join(map(_site_setting, fields(default)))
    if default is None:
        return f"\n# {about}\n[{setting.name}]\n"
    # JSON writes these kinds of values as TOML does.
    return f"\n# {about}\n#{setting.name} = {json.dumps(list(default) if isinstance(default, tuple) else default)}\n"


def _days(name: str) -> str:
    days = SUGGESTED_DAYS.get(name, 0)
    about = (
        "Pages that say what is wrong with a log; not kept longer than its verdicts." if name == REPORT else TABLES[name].about
    )
    return f"\n# {about}\n{'' if days else '#'}{name} = {days}\n"


def _views_page() -> str:
    intro = "What can be asked for in SQL, as `data_dictionary` and `view_dictionary` in the warehouse say too."
    with TemporaryDirectory() as folder:
        catalog = Path(folder) / "iomine.duckdb"
        build_catalog(catalog, {}, {}, {})
        views = ask(catalog, "SELECT table_name, about FROM view_dictionary").to_pylist()
        columns = ask(catalog, "SELECT table_name, column_name, type, unit, about FROM data_dictionary").to_pylist()
    for_people = [view for view in views if "." not in view["table_name"]]
    sections = [_view(view, [column for column in columns if column["table_name"] == view["table_name"]]) for view in for_people]
    core = [f"- `{view['table_name']}`: {view['about']}" for view in views if view not in for_people]
    close = "One for each kind of record in a log, with all of its counters; `data_dictionary` has their columns."
    return "\n".join(("# Views", "", _MADE, "", intro, "", *sections, "## Schema core", "", close, "", *core, ""))


def _view(view: dict[str, str], columns: list[dict[str, str]]) -> str:
    rows = (f"| `{row['column_name']}` | {row['type']} | {row['unit']} | {row['about']} |" for row in columns)
    return "\n".join(
        (f"## {view['table_name']}", "", view["about"], "", "| column | type | unit | meaning |", "|---|---|---|---|", *rows, "")
    )


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
