"""What stands in the files of a simulated facility."""

import gzip
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """A job's entry in a snapshot of `job_stats`."""

    target: str
    job_id: str
    start: int
    counters: dict[str, tuple[int, int]]


class Facility:
    """What a simulation wrote."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.logs: list[dict[str, Any]] = [json.loads(line) for line in (out / "truth" / "logs.jsonl").read_text().splitlines()]
        self.incidents = {each["kind"]: each for each in json.loads((out / "truth" / "incidents.json").read_text())["incidents"]}

    def path(self, log: dict[str, Any]) -> Path:
        """Where a log lies."""
        return self.out / log["log"]

    def submitted(self) -> dict[str, float]:
        """When each job was submitted."""
        return {row["JobID"]: datetime.fromisoformat(row["Submit"]).replace(tzinfo=UTC).timestamp() for row in self.sacct()}

    def sacct(self) -> list[dict[str, str]]:
        """Rows of the accounting."""
        names, *rows = ((self.out / "slurm" / "sacct.txt").read_text()).splitlines()
        return [dict(zip(names.split("|"), row.split("|"), strict=True)) for row in rows]

    def job_stats(self) -> Iterator[Entry]:
        """Entries of all snapshots, in the order of time."""
        for path in sorted((self.out / "lustre" / "job_stats").rglob("*.gz")):
            yield from entries(gzip.decompress(path.read_bytes()).decode())

    def final_stats(self) -> dict[tuple[str, str, int], Entry]:
        """The last state of each entry."""
        return {(entry.target, entry.job_id, entry.start): entry for entry in self.job_stats()}


def entries(text: str) -> Iterator[Entry]:
    """Entries of one snapshot."""
    target = job_id = ""
    start = 0
    counters: dict[str, tuple[int, int]] = {}
    for line in [*text.splitlines(), "- job_id: "]:
        if match := re.match(r"\S+?\.(\S+)\.job_stats=", line):
            if job_id:
                yield Entry(target, job_id, start, counters)
            target, job_id = match[1], ""
        elif line.startswith("- job_id:"):
            if job_id:
                yield Entry(target, job_id, start, counters)
            job_id, counters = line.split(":")[1].strip(), {}
        elif line.startswith("  start_time:"):
            start = int(line.split()[1].split(".")[0])
        elif match := re.match(r"  (\w+): +\{ samples: +(\d+),.* sum: +(\d+),", line):
            counters[match[1]] = int(match[2]), int(match[3])
