"""Writes what follows from the program, here and in deploy/: `python docs/make.py` after a command or trigger changed.

`python docs/make.py --slow` runs the programs that measure or simulate, each of which writes a page in minutes.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from formats import formats_page
from messages import messages_page
from pydantic.fields import FieldInfo
from rooms import rooms_block
from typer.testing import CliRunner

from iomine.cli.app import build_app, commands
from iomine.cli.explain import page_text
from iomine.pipeline.site.config import ClusterSettings, SiteConfig
from iomine.pipeline.site.fabric import FabricSettings
from iomine.pipeline.site.retention import REPORT, SUGGESTED_DAYS, Retention, perishable
from iomine.pipeline.site.views import ViewSettings
from iomine.pipeline.workers.slurm import SlurmSite
from iomine.post.access import AccessSettings
from iomine.post.settings import Settings
from iomine.schema import TABLES, field
from iomine.settings import SiteSettings
from iomine.triggers import MANUALS, Manual
from iomine.triggers.thresholds import shipped_thresholds
from iomine.views.catalog import build_catalog
from iomine.views.query import ask

_HERE: Final = Path(__file__).parent
_TRIGGERS: Final = _HERE / "triggers"
# Pages that are partly written by hand have their made part between two such lines.
_BEGIN, _END = "<!-- Made by docs/make.py: {} -->\n", "<!-- End -->\n"
# Pages that take minutes, by the command that writes each. They need the logs in ../shared/data, or a browser.
SLOW: Final = {
    "access_routes.md": "tests/access_walk.py",
    "advice_truth.md": "tests/advice_truth.py",
    "blame_truth.md": "tests/blame_truth.py",
    "circle.md": "tests/radial_views.py",
    "cookbook.md": "tests/cookbook.py",
    "explorer.md": "tests/explorer_views.py",
    "forwarding.md": "tests/forwarding_truth.py",
    "io_time.md": "tests/io_time.py",
    "lineage_truth.md": "tests/lineage_truth.py",
    "monitoring.md": "tests/monitoring_views.py",
    "notebook.ipynb": "tests/docs_notebook.py",
    "performance.md": "tests/bench/performance.py --write",
    "periods.md": "tests/period_truth.py",
    "pattern_truth.md": "tests/pattern_truth.py",
    "phases.md": "tests/phase_truth.py",
    "prediction_year.md": "tests/prediction_year.py",
    "predictions.md": "tests/prediction_truth.py",
    "rehearsal.md": "tests/rehearsal_page.py",
    "reliability.md": "tests/reliability.py",
    "truth.md": "tests/truth.py",
    "fabric_truth.md": "tests/fabric_truth.py",
    "system_state_truth.md": "tests/system_state_truth.py",
    "system_state_year.md": "tests/system_state_year.py",
}
_MADE: Final = "<!-- Written by docs/make.py: change the program, then run that. -->"
_THRESHOLDS: Final = """\
# Thresholds of a site: what iomine ships with. Written by docs/make.py.
#
# Copy this file into the warehouse, as thresholds.toml, and take the # away from each value that is to differ and from the code
# above it. Sweeps judge by it from then on. `iomine judge --compare` shows what it would change of the nights before, and
# `iomine judge` changes that.
"""
_SLURM: Final = """\
# How a site's Slurm gives workers to `iomine sweep --slurm`. Written by docs/make.py.
#
# Copy this file into the warehouse, as slurm.toml, and take the # away from each value that is to differ from what stands
# here. `iomine doctor` asks Slurm whether it would take such jobs. docs/cluster.md says how many, and how large.
"""
_VIEWS: Final = """\
# Numbers that views and comparisons work with, and that belong to no trigger. Written by docs/make.py.
#
# Copy this file into the warehouse, as views.toml, and take the # away from each value that is to differ from what stands
# here. Views have it built in from the next sweep on.
"""
_FABRIC: Final = """\
# What a site's fabric does not say of itself. Written by docs/make.py.
#
# Copy this file into the warehouse, as fabric.toml, and write below its tables what iomine cannot read from inputs.
# docs/fabric.md says from which inputs the rest comes.
"""
_DIGEST: Final = """\
# What a site sets for its digests. Written by docs/make.py.
#
# Copy this file into the warehouse, as digest.toml, and take the # away from each value that is to differ from what stands
# here. docs/digest.md says what comes of it.
"""
_ACCESS: Final = """\
# Who sees what in `iomine serve`. Written by docs/make.py.
#
# Copy this file into the warehouse, as access.toml, and take the # away from each value that is to differ from what stands
# here. With this file, who is not known sees nothing. docs/access.md says how users are known, and what each sees.
"""
_SITE: Final = """\
# All that a site sets, in one file. Written by docs/make.py.
#
# Copy this file to /etc/iomine/iomine.toml or into the warehouse, and take the # away from each value that is to differ from
# what stands here, and from the line of its table. `iomine config check` says what is wrong in it, and
# `iomine config migrate` puts files of former versions into one.
#
# A cluster is a table of its own:
#
# [clusters.polaris]
"""
_RETENTION: Final = """\
# Days for which a site keeps the rows of a table, counted back from the newest night. Written by docs/make.py.
#
# Copy this file into the warehouse, as retention.toml, and change what is to differ: 0, a # before the line or no line at
# all is for ever. Sweeps drop by it from then on; the files themselves go a week later. Tables that verdicts are worked
# out from are not here: they leave with log, as does all else that belongs to logs, except for the sums in app_night,
# finding_night, mount_night and layer_night.

[days]
"""
# Help is laid out for the terminal that asks; a page must not depend on whose that is.
_TERMINAL: Final = {"COLUMNS": "80", "IOMINE_WAREHOUSE": None}


def pages() -> dict[Path, str]:
    """The text of every page that is written here, by its path."""
    return {
        _HERE / "cli.md": _cli_page(),
        _HERE / "triggers.md": _triggers_page(),
        **{_TRIGGERS / f"{code}.md": _trigger_page(page) for code, page in MANUALS.items()},
        _HERE / "architecture.md": _with_made(_HERE / "architecture.md", "rooms", rooms_block()),
        _HERE / "formats.md": formats_page(_MADE),
        _HERE / "messages.md": messages_page(_MADE),
        _HERE / "views.md": _views_page(),
        _HERE.parent / "deploy" / "retention.toml": _retention(),
        _HERE.parent / "deploy" / "thresholds.toml": _THRESHOLDS + "".join(_thresholds(page) for page in MANUALS.values()),
        _HERE.parent / "deploy" / "slurm" / "slurm.toml": _SLURM + _site_settings(SlurmSite),
        _HERE.parent / "deploy" / "views.toml": _VIEWS + _site_settings(ViewSettings),
        _HERE.parent / "deploy" / "fabric.toml": _FABRIC + _site_settings(FabricSettings),
        _HERE.parent / "deploy" / "access.toml": _ACCESS + _site_settings(AccessSettings),
        _HERE.parent / "deploy" / "iomine.toml": _SITE + _commented(ClusterSettings) + _site_settings(SiteConfig, ""),
        _HERE.parent / "deploy" / "digest.toml": _DIGEST + _site_settings(Settings),
    }


def _retention() -> str:
    return _RETENTION + "".join(map(_days, perishable())) + _site_setting("pack", Retention.model_fields["pack"])


def stale() -> list[Path]:
    """Pages of triggers that are no more."""
    return sorted(path for path in _TRIGGERS.glob("*.md") if path.stem not in MANUALS)


def _with_made(path: Path, name: str, made: str) -> str:
    """The page with its made part as the program has it.

    Raises:
        ValueError: the page has no such part.
    """
    before, begin, rest = path.read_text(encoding="utf-8").partition(_BEGIN.format(name))
    _, end, after = rest.partition(_END)
    if not (begin and end):
        raise ValueError(f"{path} needs the lines {_BEGIN.format(name)!r} and {_END!r}, with what is made between them.")
    return f"{before}{begin}{made}{end}{after}"


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
    rulesets = dict.fromkeys(sorted((page.trigger.ruleset for page in MANUALS.values()), reverse=True))
    intro = "A page for each trigger, with what `iomine explain CODE` says: what it finds, why, its thresholds, what to change."
    sections = (
        line
        for ruleset in rulesets
        for line in (
            f"## Ruleset `{ruleset}`",
            "",
            "| code | level | what it finds |",
            "|---|---|---|",
            *(_entry(page) for page in MANUALS.values() if page.trigger.ruleset == ruleset),
            "",
        )
    )
    return "\n".join(("# Triggers", "", _MADE, "", intro, "", *sections))


def _entry(page: Manual) -> str:
    trigger = page.trigger
    return f"| [{trigger.code}](triggers/{trigger.code}.md) | {trigger.level} | {page.title} |"


def _trigger_page(page: Manual) -> str:
    return "\n".join((_MADE, "", page_text(page)))


def _thresholds(page: Manual) -> str:
    shown = {name: int(value) if value.is_integer() else value for name, value in shipped_thresholds(page.trigger).items()}
    values = (f"# {field(name).about}\n#{name} = {value}\n" for name, value in shown.items())
    return "".join((f"\n#[{page.trigger.code}]\n# {page.title}.\n", *values))


def _site_settings(record: type[SiteSettings], table: str | None = None) -> str:
    """The settings of a record as its template has them; those of `iomine.toml` stand in tables that are remarks themselves."""
    return "".join(_site_setting(name, each, table) for name, each in record.model_fields.items())


def _commented(record: type[SiteSettings]) -> str:
    """The settings of a record as a remark."""
    fields = record.model_fields.items()
    return "".join(f"# # {each.description}\n# {name} = {json.dumps(each.default)}\n" for name, each in fields)


def _site_setting(name: str, setting: FieldInfo, table: str | None = None) -> str:
    about, default = setting.description, setting.default
    # A table that is there says something in itself: who reads logs with it, or that access is limited.
    head = f"\n# {about}\n{'' if table is None else '#'}[{table or ''}{name}]\n"
    if isinstance(default, SiteSettings):
        return head + _site_settings(type(default), None if table is None else f"{table}{name}.")
    if isinstance(default, dict):
        return head
    # JSON writes these kinds of values as TOML does.
    return f"\n# {about}\n#{name} = {json.dumps(default)}\n"


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


def _write(made: dict[Path, str], outdated: Iterable[Path]) -> None:
    _TRIGGERS.mkdir(exist_ok=True)
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
    for path in outdated:
        path.unlink()
    sys.stdout.write("Not made here, since each takes minutes (`make docs-slow` makes all):\n")
    sys.stdout.writelines(f"  docs/{page:18} python {command}\n" for page, command in SLOW.items())


def _write_slow() -> None:
    for command in SLOW.values():
        sys.stdout.write(f"python {command}\n")
        sys.stdout.flush()
        subprocess.run([sys.executable, *command.split()], cwd=_HERE.parent, check=True)  # noqa: S603  commands of the table above


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--slow", action="store_true", help="run the programs that take minutes instead")
    if parser.parse_args().slow:
        _write_slow()
    else:
        _write(pages(), stale())
