"""`iomine trigger`: a site's own triggers, begun and tried."""

import re
import shlex
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "site_rules.md").read_text(encoding="utf-8")
LINES = sorted(set(re.findall(r"^(?:\$ )?(iomine \w[^#\n]*)", PAGE, re.MULTILINE)))


@pytest.fixture
def begun(iomine, tmp_path: Path) -> Path:
    """A warehouse in which a trigger was begun."""
    assert 0 == iomine("trigger", "new", "SITE-101", "--warehouse", tmp_path).exit_code
    return tmp_path


def test_a_new_trigger_has_a_case_that_is_wrong(iomine, begun: Path) -> None:
    """It does not count before that is mended, and is not written twice."""
    file = begun / "triggers" / "SITE-101.toml"
    done = iomine("trigger", "check", "--warehouse", begun)
    assert (2, "") == (done.exit_code, done.stdout)
    assert "change this case, which is wrong, and the trigger counts' is clear, but must be fired." in " ".join(
        done.stderr.split()
    )
    assert "is there already" in " ".join(iomine("trigger", "new", "SITE-101", "--warehouse", begun).stderr.split())

    wrong = 'metrics = { small_file_count = 500 }\nstate = "fired"'
    file.write_text(file.read_text().replace(wrong, wrong.replace("fired", "clear")))
    done = iomine("trigger", "check", file, "--warehouse", begun)
    assert (0, "SITE-101: its form and 3 cases are right.\n") == (done.exit_code, done.stdout)
    page = iomine("explain", "SITE-101", "--warehouse", begun).stdout
    assert page.startswith("SITE-101: Many small files\n")
    assert "Blind spots: What it does not see" in page


def test_each_fault_is_a_line(iomine, begun: Path) -> None:
    """Of triggers and of the settings alike."""
    iomine("trigger", "new", "SITE-102", "--warehouse", begun)
    for asked in (("trigger", "check"), ("config", "check")):
        done = iomine(*asked, "--warehouse", begun)
        assert 2 == done.exit_code
        assert ["SITE-101.toml", "SITE-102.toml"] == [Path(line.partition(":")[0]).name for line in done.stderr.splitlines()]


@pytest.mark.parametrize("code", ["POSIX-101", "SITE-1", "../SITE-101"])
def test_a_code_of_ours_is_no_code_of_a_site(iomine, tmp_path: Path, code: str) -> None:
    """So that an upgrade never meets a trigger of its own code."""
    done = iomine("trigger", "new", code, "--warehouse", tmp_path)
    assert 2 == done.exit_code
    assert "SITE- and three digits" in done.stderr
    assert [] == list(tmp_path.iterdir())


def test_why_a_trigger_is_left_out_is_its_page(iomine, begun: Path) -> None:
    """Whoever asks for it gets the reason; all others are explained as ever."""
    done = iomine("explain", "SITE-101", "--warehouse", begun)
    assert 2 == done.exit_code
    assert "is clear, but must be fired." in " ".join(done.stderr.split())
    assert 0 == iomine("explain", "POSIX-101", "--warehouse", begun).exit_code


def test_all_pages_make_one_with_links(iomine, tmp_path: Path) -> None:
    """A list of all codes stands first, each a link to a heading below."""
    page = iomine("explain", "--all", "--markdown", "--warehouse", tmp_path).stdout
    assert "- [POSIX-101: Small reads take time](#posix-101-small-reads-take-time)" in page
    assert "\nPOSIX-101: Small reads take time\n===" in page


@pytest.mark.parametrize("line", LINES)
def test_the_page_names_commands_and_options_that_are_there(iomine, line: str) -> None:
    """Each command on the page has the options that it is given there."""
    _, command, *given = shlex.split(line)
    done = iomine(command, "--help")
    assert 0 == done.exit_code
    assert [] == [option for option in given if option.startswith("--") and option not in done.stdout]
