"""Words of mails: names do no harm, programs stay programs, numbers can be read."""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from outline import HOSTILE

from iomine.digest.words import COLUMNS, finding_of, marked, name, span, unmarked, wrapped
from iomine.report.causes import first_sentence
from iomine.triggers import TRIGGERS
from iomine.units import core_hours, counted, percent

SNIPPETS = {snippet.code: snippet for trigger in TRIGGERS.values() for snippet in trigger.snippets}.values()
PLACES = ("{{link:stop}}", "{{mailto:stop}}", "{{{link:stop}}}", "{{link:snooze:0123456789abcdef0123456789abcdef}}")


@given(st.one_of(st.text(), st.sampled_from([*HOSTILE.values(), *PLACES, "\ue000\ue001</bdi>", "{" * 50, ""])))
def test_names_do_no_harm(text: str):
    """Whatever a name holds, it is a line of signs that can be seen, is no place of the post's, and ends where it ends."""
    reported = name(text)
    assert "\ue000" == reported[0]
    assert "\ue001" == reported[-1]
    assert unmarked(reported).isprintable()
    assert "{{" not in reported
    assert "}}" not in reported
    assert len(reported) <= 140
    html = str(marked(reported))
    assert html.startswith("<bdi>")
    assert html.endswith("</bdi>")
    assert not re.search("[<>]", html[5:-6])


def test_names_in_findings_stand_apart():
    """In a sentence that a trigger made, each path is cut and stands alone; what is no such sentence is a name as a whole."""
    path = "/scratch/\u05e9\u05dc\u05d5\u05dd/" + "x" * 4096
    text = f"5,000 of 10,000 writes (50%) were small and took 33% of the time in reads and writes, the largest part in {path}."
    reported = finding_of("POSIX-102", text)
    assert reported.startswith("5,000 of 10,000 writes (50%) were small")
    assert reported.endswith("\ue001.")
    assert len(reported) < 250
    assert finding_of("POSIX-102", "{{link:stop}} <b>").startswith("\ue000{ {")
    assert finding_of("GONE-101", "anything") == name("anything")


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Half were small. Most were of /a.", "Half were small."),
        ("Spread \ue000/a. B/c; d\ue001 over more OSTs. Least effort: `lfs`.", "Spread \ue000/a. B/c; d\ue001 over more OSTs."),
        ("It is slow; report it.", "It is slow."),
        ("It took 1.5 s of 3.", "It took 1.5 s of 3."),
        ("", ""),
    ],
)
def test_a_text_begins_with_its_first_sentence(text: str, first: str):
    """A full stop within a name or a number ends none."""
    assert first == first_sentence(text)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=500))
def test_wrapped_lines_fit(text: str):
    """No line is longer than the plain part is wide, whatever words there are."""
    assert max(map(len, wrapped(text, "   - ").splitlines()), default=0) <= COLUMNS


@pytest.mark.parametrize(
    ("core_seconds", "reported"),
    [
        (None, "a cost that is not known"),
        (1.0, "less than 0.01 core-hours"),
        (3600.0, "1 core-hour"),
        (36_000.0, "10 core-hours"),
        (4_444_000.0, "1,234 core-hours"),
        (0.5 * 3600, "0.5 core-hours"),
    ],
)
def test_core_hours_read_well(core_seconds, reported):
    """Core-hours have about three digits."""
    assert reported == core_hours(core_seconds)


def test_times_and_counts_read_well():
    """No more of a day is said than is needed."""
    assert "5 January 2026" == span(date(2026, 1, 5), date(2026, 1, 5))
    assert "5 to 12 January 2026" == span(date(2026, 1, 5), date(2026, 1, 12))
    assert "30 January to 2 February 2026" == span(date(2026, 1, 30), date(2026, 2, 2))
    assert "30 December 2025 to 2 January 2026" == span(date(2025, 12, 30), date(2026, 1, 2))
    assert ["1 run", "0 runs", "1,234 runs"] == [counted(count, "run") for count in (1, 0, 1234)]
    assert ["0%", "0.34%", "9.1%", "31%", "120%"] == [percent(ratio) for ratio in (0, 0.0034, 0.091, 0.31, 1.2)]
