"""The page on faults names tests that are there, and says what a run's reports say."""

import json
from pathlib import Path

import pytest
import reliability

_REPORT = """<testsuites><testsuite>
  <testcase classname="tests.cluster.test_kill" name="test_kills_show_nothing_by_halves" time="9"/>
  <testcase classname="tests.faults.test_stage_faults" name="test_a_disk[read]" time="9"><failure/></testcase>
  <testcase classname="tests.faults.test_stage_faults" name="test_a_disk[merge]" time="9"/>
  <testcase classname="tests.unit.pipeline.test_growth" name="test_the_sixtieth_night" time="9">
    <properties><property name="figure" value="1.1 times"/></properties>
  </testcase>
</testsuite></testsuites>"""


@pytest.mark.parametrize(
    "promise", [each for promises in reliability.PROMISES.values() for each in promises], ids=lambda promise: promise.text
)
def test_a_promise_has_tests(promise: reliability.Promise) -> None:
    """Its file is there, and has a test of that name."""
    assert f"\ndef {promise.tests}" in (reliability.REPO / "tests" / promise.file).read_text()


def test_the_page_says_what_was_run(tmp_path: Path) -> None:
    """What passed, what failed and what was not run; inputs by what became of them."""
    (tmp_path / "faults.xml").write_text(_REPORT)
    result = {
        "counts": {"lustre: read": 3},
        "faults": ["x"],
        "sweeps": 2,
        "memory_bytes": {"reader": 1 << 30},
        "slowest_sweep_seconds": 7.0,
        "beside": {"iomine": {"read": 2}},
    }
    (tmp_path / "fuzz.json").write_text(json.dumps(result))
    text = reliability.page(reliability.page(f"Before.\n\n{reliability.MARK}", tmp_path), tmp_path)
    assert text.startswith(f"Before.\n\n{reliability.MARK}")
    assert "| `tests/cluster/test_kill.py` | 1 passed |" in text
    assert "| `tests/faults/test_stage_faults.py` | 1 passed, 1 failed |" in text
    assert "| `tests/cluster/test_hosts.py` | not run |" in text
    assert "| lustre | 3 | 0 | 0 |" in text
    assert "3 damaged inputs in 2 sweeps beside sound logs: 1 faults found." in text
    assert "Memory at most: reader 1.0 GiB." in text
    assert "| iomine | 2 read |" in text
    assert "| `tests/unit/pipeline/test_growth.py` | 1 passed; 1.1 times |" in text
