"""The worked examples of CONTRIBUTING.md work by the files that they name and no others."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# The tests of the copy take half a minute.
pytestmark = pytest.mark.proof

REPO = Path(__file__).parents[2]
PAGE = (REPO / "CONTRIBUTING.md").read_text(encoding="utf-8")
# A file's path, for an addition the beginning of the line that it goes below, and its lines.
_FILE = re.compile(r"^`([\w./-]+)`(?:, below `([^\n]+)`)?:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SECTION = re.compile(r"^## (.+?)$", re.MULTILINE)
_FOLDERS = ("iomine", "sql", "flows", "docs", "deploy", "client", "tests")
_FILES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "pyproject.toml")
# What shows in the copy that an example works: tests that pass there, by the end of their names.
TESTS = {
    "A trigger": (
        "test_trigger_form.py::test_trigger_judges_its_cases[POSIX-142]",
        "test_trigger_form.py::test_cases_leave_nothing_out[POSIX-142]",
        "test_trigger_form.py::test_finding_has_the_logs_numbers_and_how_to_mend_it[POSIX-142]",
        "test_trigger_form.py::test_every_module_under_rules_is_a_trigger",
        "test_codes.py::test_no_room_lists_codes_by_hand",
        "test_cli_docs.py::test_every_command_and_trigger_has_its_place",
    ),
    "A view": (
        "test_cases.py::test_view_answers_its_case[darshan_versions-two_versions]",
        "test_cases.py::test_every_view_that_does_something_has_a_case[darshan_versions]",
    ),
    "A source": ("test_job_list.py::test_jobs_are_read_and_damaged_lines_named",),
    "A command": (
        "test_cli_users.py::test_users_come_by_their_logs",
        "test_cli_docs.py::test_every_command_and_trigger_has_its_place",
    ),
    "A page": ("test_docs.py::test_every_page_is_on_the_index", "test_docs.py::test_links_lead_somewhere[docs/tape.md]"),
}
_SUITES = (
    "tests/unit/triggers/test_trigger_form.py",
    "tests/unit/views/test_cases.py",
    "tests/unit/sources/accounting/test_job_list.py",
    "tests/unit/cli/test_cli_users.py",
    "tests/unit/cli/test_cli_docs.py",
    "tests/house/test_codes.py",
    "tests/house/test_docs.py",
)
_CHOSEN = "POSIX-142 or under_rules or darshan_versions or job_list or users or codes or docs"
_MAKES_A_WAREHOUSE = """\
from pathlib import Path
from iomine.views.catalog import build_catalog
Path("empty").mkdir()
build_catalog(Path("empty/iomine.duckdb"), {}, {}, {})
"""


def sections() -> dict[str, str]:
    """The page's sections by title."""
    _, *parts = _SECTION.split(PAGE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


EXAMPLES = {title: _FILE.findall(section) for title, section in sections().items()}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with all examples in it, and the pages that follow from them."""
    tree = tmp_path_factory.mktemp("tree")
    for name in _FOLDERS:
        shutil.copytree(REPO / name, tree / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    for name in _FILES:
        shutil.copy(REPO / name, tree)
    for files in EXAMPLES.values():
        for name, below, lines in files:
            _write(tree / name, below, lines)
    _ran(tree, "docs/make.py")
    return tree


@pytest.fixture(scope="module")
def passed(tree: Path) -> set[str]:
    """Names of the tests that pass in the copy."""
    answer = _ran(tree, "-m", "pytest", "-q", "-rp", "-p", "no:cacheprovider", "-p", "no:xdist", *_SUITES, "-k", _CHOSEN)
    return {line.removeprefix("PASSED ") for line in answer.splitlines() if line.startswith("PASSED ")}


def _write(path: Path, below: str, lines: str) -> None:
    if not below:
        assert not path.exists(), f"{path.name} is there already: the example needs another name"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(lines, encoding="utf-8")
        return
    before, at, after = path.read_text(encoding="utf-8").partition(f"\n{below}")
    assert at, f"{path.name} has no line that begins with {below}"
    rest, end, after = after.partition("\n")
    path.write_text(f"{before}{at}{rest}{end}{lines}{after}", encoding="utf-8")


def _ran(tree: Path, *arguments: str) -> str:
    """What Python says in the copy, where it ends well."""
    environment = os.environ | {"PYTHONPATH": str(tree), "COLUMNS": "100", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, *arguments], cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def _iomine(tree: Path, *arguments: str) -> str:
    return _ran(tree, "-c", "from iomine.cli import main; main()", *arguments)


@pytest.mark.parametrize("title", TESTS)
def test_example_is_found_and_keeps_to_the_form_of_its_kind(passed: set[str], title: str):
    """With only its files written, the tests of its kind take it in, and pass."""
    assert [] == [test for test in TESTS[title] if not any(name.endswith(test) for name in passed)]


def test_new_trigger_explains_itself(tree: Path):
    """`iomine explain` has the manual page, with the threshold that the metric has to be below."""
    assert "`sync_interval_bytes` below 4,096: " in _iomine(tree, "explain", "POSIX-142")
    assert "[POSIX-142](triggers/POSIX-142.md)" in (tree / "docs" / "triggers.md").read_text(encoding="utf-8")


def test_new_view_answers(tree: Path):
    """`iomine sql` can ask the view, and the page of views has it."""
    _ran(tree, "-c", _MAKES_A_WAREHOUSE)
    assert "[]" == _iomine(tree, "sql", "FROM darshan_versions", "--format", "json", "--warehouse", "empty").strip()
    assert "\n## darshan_versions\n" in (tree / "docs" / "views.md").read_text(encoding="utf-8")


def test_new_command_runs(tree: Path):
    """The command has its help, and its place on the page of commands."""
    assert "List users by the number of their logs" in _iomine(tree, "users", "--help")
    assert "\n## iomine users\n" in (tree / "docs" / "cli.md").read_text(encoding="utf-8")


def test_examples_keep_to_the_style(tree: Path):
    """What the page asks people to write passes the lint."""
    modules = [name for files in EXAMPLES.values() for name, _, _ in files if name.endswith(".py")]
    _ran(tree, "-m", "ruff", "check", "--no-cache", *modules)
    _ran(tree, "-m", "ruff", "format", "--no-cache", "--check", *modules)


def test_every_example_is_shown_to_work():
    """A section with files has tests that show that they work, and the other way round."""
    assert set(TESTS) == {title for title, files in EXAMPLES.items() if files}
