"""`iomine explain`."""

import re
import shlex
from pathlib import Path

import pytest

from iomine.triggers import MANUALS, TRIGGERS


@pytest.mark.parametrize("code", TRIGGERS)
def test_page_tells_all_of_a_trigger(iomine, code: str) -> None:
    """A manual page has the title, the reasons, every bar, the advice and every case."""
    page = MANUALS[code]
    answer = iomine("explain", code)
    shown = " ".join(answer.stdout.split())
    told = [f"{code}: {page.title}", page.text, page.trigger.finding, page.trigger.advice]
    told += [f"`{above.metric}` above {above.bar:g}:" for above in page.trigger.all_of]
    told += [above.why for above in page.trigger.all_of] + [f"{case.state}: {case.name}" for case in page.trigger.cases]
    assert answer.exit_code == 0
    assert [text for text in told if " ".join(text.split()) not in shown] == []


@pytest.mark.parametrize("code", TRIGGERS)
def test_question_on_the_page_can_be_asked(iomine, warehouse: Path, code: str) -> None:
    """The command line at the end of a page works as it stands."""
    (line,) = re.findall(r"^    (iomine sql .*)$", iomine("explain", code).stdout, re.MULTILINE)
    answer = iomine(*shlex.split(line)[1:], "--format", "json", "--warehouse", warehouse)
    assert (answer.exit_code, answer.stdout) == (0, "[]\n")


def test_codes_are_found_in_small_letters(iomine) -> None:
    """Nobody needs the shift key."""
    assert iomine("explain", "POSIX-101").stdout == iomine("explain", "posix-101").stdout


def test_without_a_code_all_are_listed(iomine) -> None:
    """The list has a line for each trigger."""
    lines = iomine("explain").stdout.splitlines()[2:]
    assert list(TRIGGERS) == [line.split()[0] for line in lines]


@pytest.mark.parametrize(("code", "hint"), [("POSIX-1O1", "did you mean POSIX-101?"), ("??", "`iomine explain` lists them all.")])
def test_unknown_code_is_misuse(iomine, code: str, hint: str) -> None:
    """A code that no trigger has gets the nearest that one has, or the way to find it."""
    answer = iomine("explain", code)
    assert (answer.exit_code, answer.stdout, answer.stderr) == (2, "", f"There is no trigger {code}: {hint}\n")
