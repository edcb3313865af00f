"""`iomine explain`."""

import json
import re
import shlex
from pathlib import Path

import pytest

from iomine.triggers import MANUALS, TRIGGERS
from iomine.triggers.model import whole


@pytest.mark.parametrize("code", TRIGGERS)
def test_page_shows_all_of_a_trigger(iomine, code: str) -> None:
    """A manual page has the title, the reasons, thresholds and settings, the advice, its programs, the sources and every case."""
    page = MANUALS[code]
    trigger = page.trigger
    answer = iomine("explain", code)
    shown = " ".join(answer.stdout.split())
    # A page that is about no log has the names of metrics where a finding has their values.
    finding, advice = (re.sub(r"\{(\w+)(?::[^}%]*)?(%?)\}", _name, text) for text in (trigger.finding, whole(trigger.advice)))
    reported = [f"{code}: {page.title}", page.text, finding, advice, f"It needs {trigger.needs}."]
    reported += [f"`{each.metric}` {each.side} {each.value:,.12g}:" for each in trigger.thresholds]
    reported += [f"`{setting.name}` is {setting.default:,.12g}:" for setting in trigger.settings]
    reported += [each.why for each in trigger.thresholds + trigger.settings] + [
        f"{case.state}: {case.name}" for case in trigger.cases
    ]
    reported += [text for snippet in trigger.snippets for text in (snippet.title, snippet.code)]
    reported += [f"`{metric}`" for metric in (trigger.evidence, trigger.cost) if metric]
    assert answer.exit_code == 0
    assert [text for text in reported if " ".join(text.split()) not in shown] == []


def test_programs_are_shown_as_they_are(iomine) -> None:
    """A program keeps its lines and its indentation, so that it can be taken over from the page."""
    page = iomine("explain", "POSIX-101").stdout
    for snippet in TRIGGERS["POSIX-101"].snippets:
        assert "".join(f"    {line}\n" if line else "\n" for line in snippet.code.splitlines()) in page


def test_machines_get_the_same_in_json(iomine) -> None:
    """Without a code all triggers; with one its thresholds and its page."""
    assert set(TRIGGERS) == {each["code"] for each in json.loads(iomine("explain", "--json").stdout)}
    found = json.loads(iomine("explain", "posix-101", "--json").stdout)
    assert ("POSIX-101", iomine("explain", "POSIX-101").stdout) == (found["code"], found["manual"])
    assert {(each.metric, each.value) for each in TRIGGERS["POSIX-101"].thresholds} == {
        (each["metric"], each["value"]) for each in found["thresholds"]
    }


def _name(slot: re.Match[str]) -> str:
    return f"[{slot[1]} in %]" if slot[2] else f"[{slot[1]}]"


@pytest.mark.parametrize(("code", "expected"), [("POSIX-101", True), ("RANK-303", True), ("POSIX-401", False), ("P05", False)])
def test_page_says_when_a_finding_weighs_less(iomine, code: str, expected: bool) -> None:
    """Only where a small cost lowers the level does the page say so."""
    assert expected == ("less than 1 core-second, its level is info" in " ".join(iomine("explain", code).stdout.split()))


@pytest.mark.parametrize(
    ("code", "source"),
    [("POSIX-101", "FROM findings WHERE"), ("POSIX-401", "FROM verdicts WHERE"), ("P05", "FROM verdicts WHERE")],
)
def test_page_asks_where_the_answer_is(iomine, code: str, source: str) -> None:
    """What never becomes a finding, for its level or its ruleset, is asked of the verdicts."""
    assert source in iomine("explain", code).stdout


@pytest.mark.proof
@pytest.mark.parametrize("code", TRIGGERS)
def test_question_on_the_page_can_be_asked(iomine, warehouse: Path, code: str) -> None:
    """The command line at the end of a page works as it stands."""
    (line,) = re.findall(r"^    (iomine sql .*)$", iomine("explain", code).stdout, re.MULTILINE)
    answer = iomine(*shlex.split(line)[1:], "--format", "json", "--warehouse", warehouse)
    assert (answer.exit_code, answer.stdout) == (0, "[]\n")


def test_page_says_the_thresholds_of_the_site(iomine, tmp_path: Path) -> None:
    """Where the warehouse has thresholds and settings of its own, the page says those, and what it ships with beside them."""
    (tmp_path / "thresholds.toml").write_text("[POSIX-101]\nsmall_read_ratio = 0.3\nsmall_read_bytes = 4096\n", encoding="utf-8")
    shown = iomine("explain", "POSIX-101", "--warehouse", tmp_path).stdout
    assert "`small_read_ratio` above 0.3 (the site's; shipped with 0.1):" in shown
    assert "`small_read_bytes` is 4,096 (the site's; shipped with 1,048,576):" in shown
    assert 2 == shown.count("the site's")


def test_bars_that_are_none_are_reported(iomine, tmp_path: Path) -> None:
    """A page with thresholds that no sweep would judge by is not shown."""
    (tmp_path / "thresholds.toml").write_text("[POSIX-101]\nsmall = 1\n", encoding="utf-8")
    answer = iomine("explain", "POSIX-101", "--warehouse", tmp_path)
    assert (2, "", 1) == (answer.exit_code, answer.stdout, answer.stderr.count("\n"))
    assert "thresholds.toml" in answer.stderr


def test_codes_are_found_in_lower_case(iomine) -> None:
    """Nobody needs the shift key."""
    assert iomine("explain", "POSIX-101").stdout == iomine("explain", "posix-101").stdout


def test_without_a_code_all_are_listed(iomine) -> None:
    """The list has a line for each trigger."""
    lines = iomine("explain").stdout.splitlines()[2:]
    assert list(TRIGGERS) == [line.split()[0] for line in lines]


@pytest.mark.parametrize(("code", "hint"), [("STDIO-1O1", "did you mean STDIO-101?"), ("??", "`iomine explain` lists them all.")])
def test_unknown_code_is_misuse(iomine, code: str, hint: str) -> None:
    """A code that no trigger has gets the nearest that one has, or the way to find it."""
    answer = iomine("explain", code)
    assert (answer.exit_code, answer.stdout, answer.stderr) == (2, "", f"There is no trigger {code}: {hint}\n")
