"""Readers that ask in a loop while a sweep is at work see the nights as they were or as they are, and nothing between."""

import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from sweeping import ALONE

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
from part_load import answers


@pytest.mark.timeout(900)
def test_four_readers_see_whole_nights(shared_data: Path, tmp_path: Path) -> None:
    """No answer fails; each reader's counts change once, all together: every log is judged and has its files in each."""
    script = tmp_path / "sweep.py"
    script.write_text(ALONE)
    warehouse = tmp_path / "warehouse"

    def sweep(*folders: str) -> None:
        paths = [shared_data / "darshan" / folder for folder in folders]
        subprocess.run([sys.executable, script, warehouse, *paths], check=True, capture_output=True)

    def work() -> None:
        sweep("codes", "ecpam21", "dfanalyzer")
        # Long enough for each reader to ask once more.
        time.sleep(5)

    sweep("codes")
    reported = answers(warehouse, tmp_path / "stop", work)
    counts = [[tuple(answer.values())[:-1] for answer in of_reader] for of_reader in reported]
    for of_reader in counts:
        steps = [later for earlier, later in pairwise(of_reader) if earlier != later]
        assert 1 == len(steps)
    before, after = {of_reader[0] for of_reader in counts}, {of_reader[-1] for of_reader in counts}
    assert (1, 1) == (len(before), len(after))
    for logs, _, judged, with_files in before | after:
        assert logs == judged == with_files
