"""The page on performance is written by a program: its numbers are a machine's, its form is not."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
import performance
from results import HEAD, MET

REPO = Path(__file__).parents[2]
TEXT = performance.PAGE.read_text(encoding="utf-8")
_ROW = performance.Result(what="a thing", ours=2.0, peer=8.0, beside="another", ratio=4.0, least=5.0, spread=0.1)
_PARTS = {
    name: {"results": [_ROW], "at": "2026-01-01T00:00", "processor": "A model, 2 cores", "seconds": 1.0, "load": 0.5}
    for name in performance.PARTS
}


def tables() -> list[list[list[str]]]:
    """Rows of cells of every table of the page."""
    sections = TEXT.split("\n## ")[1:]
    return [
        [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")]
        for section in sections
    ]


def test_page_has_a_section_for_each_part():
    """Every part of the program is on the page, in its order, under its title."""
    titles = [part.title for part in performance.PARTS.values()]
    assert titles == [line.removeprefix("## ") for line in TEXT.splitlines() if line.startswith("## ")]


def test_page_says_what_the_numbers_hold_for():
    """The machine is described, nothing of it is left empty, and each part names the processor that it was measured on."""
    described = dict(line.removeprefix("- ").split(": ", 1) for line in TEXT.splitlines() if line.startswith("- "))
    assert list(performance.MACHINE) == list(described)
    assert all(described.values())
    measured = re.findall(r"^Measured \S+ on .+, \d+ cores, in ", TEXT, re.MULTILINE)
    assert len(performance.PARTS) == len(measured)


def test_tables_have_the_form_of_the_program():
    """Every table has the program's columns, and every row a number of ours and a target where it says how that was met."""
    for head, rule, *rows in tables():
        assert [list(HEAD), ["---"] * len(HEAD)] == [head, rule]
        assert rows
        assert {len(HEAD)} == {len(row) for row in rows}
        assert all(row[1] for row in rows)
        assert {row[-1] for row in rows} <= set(MET.values())
        assert [bool(row[5]) for row in rows] == [bool(row[-1]) for row in rows]


def test_a_page_made_of_results_is_read_back():
    """The page of known results shows each of them once, in its part."""
    page = performance.page(dict.fromkeys(performance.MACHINE, "known"), _PARTS)
    assert len(_PARTS) == page.count("| a thing | 2 s |  | another 8 s | 4 x | at least 5 x | 10% | MISSED |")


def test_parts_that_are_not_measured_stay_as_they_were() -> None:
    """A page may be written anew part by part; without a part measured it is what it was."""
    reported = dict.fromkeys(performance.MACHINE, "known")
    before = performance.page(reported, _PARTS)
    assert before == performance.page(reported, {}, before)
    changed = {"judge": _PARTS["judge"] | {"at": "2027-01-01T00:00"}}
    assert performance.page(reported, _PARTS | changed) == performance.page(reported, changed, before)
