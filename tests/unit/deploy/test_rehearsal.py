"""The rehearsal of a site: its scripts are sound, and its page shows all of its parts."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

REPO = Path(__file__).parents[3]
REHEARSAL = REPO / "deploy" / "rehearsal"


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="ShellCheck is not installed.")
def test_shellcheck_finds_nothing():
    """All parts are sound for ShellCheck."""
    scripts = sorted(script.name for script in REHEARSAL.glob("*.sh"))
    done = subprocess.run(
        ["shellcheck", "--external-sources", *scripts], cwd=REHEARSAL, check=False, capture_output=True, text=True
    )
    assert (0, "") == (done.returncode, done.stdout)


def test_every_part_is_rehearsed_and_shown():
    """Each script beside the first is a part of it, in the order in which the page shows them."""
    parts = re.findall(r"^step (\w+)$", (REHEARSAL / "all.sh").read_text(), re.MULTILINE)
    assert {script.stem for script in REHEARSAL.glob("*.sh")} - {"all", "site"} == set(parts)
    shown = re.findall(r"^== (\w+)$", (REPO / "docs" / "rehearsal.md").read_text(), re.MULTILINE)
    assert parts == shown
