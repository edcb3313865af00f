"""The table of tests by tier and time is what a run's reports say, and says which files come first."""

import pytest
import tiers

_REPORT = """<testsuites><testsuite>
  <testcase classname="tests.unit.test_a" name="one" time="1.5"/><testcase classname="tests.unit.test_a" name="two" time="1200"/>
  <testcase classname="tests.unit.test_b" name="one" time="0.25"/><testcase classname="tests.unit.test_c" name="one" time="0.5"/>
</testsuite></testsuites>"""


def test_table_says_what_the_reports_say(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long files have a row each, the others share one, and what stands before the table stays."""
    (tmp_path / "test.xml").write_text(_REPORT)
    times = tiers.times(tmp_path / "test.xml")
    assert {"tests/unit/test_a.py": (2, 1201.5), "tests/unit/test_b.py": (1, 0.25), "tests/unit/test_c.py": (1, 0.5)} == times

    page = tiers.page(tiers.page(f"Before.\n\n{tiers.MARK}", {"test": {}, "proof": {}}), {"test": times, "proof": times})
    before, _, table = page.partition(tiers.MARK)
    rows = [
        "| {} | `tests/unit/test_a.py` | 2 | 1,202 |",
        "| {} | 2 shorter ones | 2 | 1 |",
        "| {} | all 3 | 4 | 1,202 |",
    ]
    assert "Before.\n\n" == before
    assert [row.format(tier) for tier in ("test", "proof") for row in rows] == table.splitlines()[5:]
    (tmp_path / "page.md").write_text(page)
    monkeypatch.setattr(tiers, "PAGE", tmp_path / "page.md")
    assert {"tests/unit/test_a.py": 2404} == tiers.seconds_by_file()


def test_files_of_the_table_are_there() -> None:
    """No row is about a file that has moved."""
    assert [] == [file for file in tiers.seconds_by_file() if not (tiers.REPO / file).exists()]
