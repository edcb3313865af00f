"""The README is the first thing that anybody sees: what it shows is what happens."""

import json
import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from iomine.cli.app import build_app
from iomine.pipeline.sweep import Settings, run

REPO = Path(__file__).parents[2]
README = (REPO / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    """A warehouse of the logs that come with PyDarshan, and the summary of its sweep."""
    root = tmp_path_factory.mktemp("readme")
    logs = Path(find_spec("darshan").submodule_search_locations[0])
    return root, run(Settings((logs,), root, workers=1))


def example(command: str) -> str:
    """What the README shows below a command."""
    return README.split(f"$ {command}\n", 1)[1].split("\n\n$ ", 1)[0].split("\n```", 1)[0].rstrip()


def queries() -> list[str]:
    """The queries that the README shows."""
    return re.findall(r"^\$ (iomine sql .*)$", README, re.MULTILINE)


@pytest.mark.proof
def test_sweep_gives_the_counts_that_the_readme_shows(warehouse):
    """The numbers of the example sweep are those of a real one."""
    _, summary = warehouse
    shown = example(re.search(r"^\$ (iomine sweep .*)$", README, re.MULTILINE)[1])
    assert [str(summary.found), str(summary.ingested), str(summary.known), str(summary.rejected)] == re.findall(
        r"(\d+) (?:found|ingested|known|rejected)", shown
    )
    assert f"{len(summary.nights)} nights from {summary.nights[0]} to {summary.nights[-1]}, {summary.findings} findings" in shown


@pytest.mark.parametrize("command", queries())
@pytest.mark.proof
def test_queries_give_the_answers_that_the_readme_shows(warehouse, command):
    """Each example query, run on that sweep's warehouse, answers as shown."""
    root, _ = warehouse
    answer = CliRunner().invoke(build_app(), [*shlex.split(command)[1:], "--warehouse", str(root)], prog_name="iomine")
    assert example(command) == answer.stdout.rstrip()


def test_the_demo_shows_its_costliest_finding_in_full(warehouse):
    """The query of `make demo` answers with the code, the text and the advice of the finding that costs most."""
    root, _ = warehouse
    query = (REPO / "docs" / "demo_finding.sql").read_text(encoding="utf-8").replace("'simulated'", "'default'")
    costliest = "SELECT code, finding, advice FROM findings ORDER BY cost_core_seconds DESC LIMIT 1"
    ask = ["sql", "-", "--format", "json", "--warehouse", str(root)]
    reported, (finding,) = (
        json.loads(CliRunner().invoke(build_app(), ask, input=asked, prog_name="iomine").stdout) for asked in (query, costliest)
    )
    heading, empty, *lines = [row["costliest"] for row in reported]
    middle = lines.index("")
    assert finding == {"code": heading.split(":")[0], "finding": "".join(lines[:middle]), "advice": "".join(lines[middle + 1 :])}
    assert "" == empty


def test_readme_links_to_files_that_exist():
    """No link of the README leads nowhere."""
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert [] == [target for target in targets if not (REPO / target).exists()]
    assert targets
