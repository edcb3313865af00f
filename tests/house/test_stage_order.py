"""Stages of a sweep can only run in order: a wrong one does not type-check."""

import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
HEAD = """
from iomine.pipeline.sweep import Sweep, commit, find, identify, judge, merge, publish, read, report

def order(sweep: Sweep) -> None:
    found = find(sweep)
    identified = identify(sweep, found)
"""
RIGHT = """
    report(sweep, publish(sweep, commit(sweep, judge(sweep, merge(sweep, read(sweep, identified))))))
"""


@pytest.mark.parametrize(
    ("rest", "error"),
    [
        (RIGHT, ""),
        ("    commit(sweep, identified)\n", 'Argument 2 to "commit" has incompatible type "Identified"; expected "Judged"'),
        ("    publish(sweep, found)\n", 'Argument 2 to "publish" has incompatible type "Found"; expected "Committed"'),
    ],
    ids=["right", "commit-too-early", "publish-too-early"],
)
def test_stages_take_the_result_of_the_one_before(tmp_path: Path, rest: str, error: str) -> None:
    """So that nobody commits what was not judged, or publishes what was not committed."""
    program = tmp_path / "order.py"
    program.write_text(HEAD + rest)
    options = ["--config-file", REPO / "pyproject.toml", "--no-error-summary", program]
    checked = subprocess.run([sys.executable, "-m", "mypy", *options], check=False, capture_output=True, text=True, cwd=REPO)
    assert error in checked.stdout
    assert bool(error) == bool(checked.returncode), checked.stdout
