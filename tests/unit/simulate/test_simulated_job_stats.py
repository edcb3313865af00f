"""The reader of `job_stats` reads what a simulated facility's servers say."""

import gzip
import re
from datetime import UTC, datetime

import pytest
from simulated import Facility, entries

from iomine.sources.lustre import SOURCES
from iomine.sources.model import Input


@pytest.mark.proof
def test_snapshots_are_read_whole(facility: Facility) -> None:
    """Each counter that counted in a snapshot is a row, read when the path says, and so is each target that served no job."""
    now = datetime.now(UTC)
    count = 0
    for path in sorted((facility.out / "lustre" / "job_stats").rglob("*.gz")):
        text = gzip.decompress(path.read_bytes())
        source = Input(str(path), text, now)
        reader = next(each for each in SOURCES if each.knows(source))
        got = reader.read(source)
        rows = got.tables["lustre_counter"].to_pylist() if got.tables else []
        counted = [
            (entry.target, entry.job_id, datetime.fromtimestamp(entry.start, UTC), counter, samples, float(total))
            for entry in entries(text.decode())
            for counter, (samples, total) in entry.counters.items()
            if samples
        ]
        reported = [
            tuple(row[name] for name in ("target", "owner", "counted_since_at", "counter", "sample_count", "amount"))
            for row in rows
        ]
        targets = re.findall(r"^\S+?\.(\S+)\.job_stats=", text.decode(), re.MULTILINE)
        idle = sorted(set(targets) - {entry.target for entry in entries(text.decode())})
        assert counted == [row for row in reported if row[1] is not None]
        assert [(target, None, None, None, None, None) for target in idle] == sorted(row for row in reported if row[1] is None)
        at = datetime.strptime(f"{path.parent.name} {path.name[:4]}", "%Y-%m-%d %H%M").replace(tzinfo=UTC)
        assert {at} >= {row["sampled_at"] for row in rows}
        assert ("job_stats", "") == (reader.kind, got.doubt)
        count += len(rows)
    assert count
