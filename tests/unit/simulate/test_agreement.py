"""Logs, servers, scheduler and fabric of a simulated facility agree."""

import csv
import re
from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from simulated import Facility

from iomine.sources.darshan import read_log

MOUNT = "/scratch"


def moved_on_lustre(facility: Facility) -> dict[str, Counter[str]]:
    """Bytes of each job on the file system, by its logs."""
    found: dict[str, Counter[str]] = {}
    for log in facility.logs:
        read = read_log(facility.path(log))
        paths = dict(zip(*(read.tables["file_name"][0][name] for name in ("file_id", "path")), strict=True))
        job = found.setdefault(log["job_id"], Counter())
        for table in ("posix_file", "stdio_file"):
            for part in read.tables.get(table, ()):
                for op in ("read", "write"):
                    amounts = zip(part["file_id"].to_pylist(), part[f"{op}_bytes"].to_pylist(), strict=True)
                    job[op] += sum(amount for id_, amount in amounts if paths[id_].startswith(MOUNT))
    return found


@pytest.mark.proof
def test_job_stats_add_up_to_the_logs(facility: Facility) -> None:
    """What all OSTs say of a job is what its logs moved on the file system, to the byte."""
    reported: dict[str, Counter[str]] = {}
    for entry in facility.final_stats().values():
        for op in ("read", "write"):
            reported.setdefault(entry.job_id, Counter())[op] += entry.counters.get(f"{op}_bytes", (0, 0))[1]
    expected = {job: +counts for job, counts in moved_on_lustre(facility).items()}
    assert expected == {job: +counts for job, counts in reported.items()}


@pytest.mark.proof
def test_mdts_count_what_logs_opened(facility: Facility) -> None:
    """What all MDTs say of opens is what the logs' POSIX and stdio records hold, standard streams left out."""
    reported = sum(entry.counters["open"][0] for entry in facility.final_stats().values() if "MDT" in entry.target)
    opened = 0
    for log in facility.logs:
        read = read_log(facility.path(log))
        paths = dict(zip(*(read.tables["file_name"][0][name] for name in ("file_id", "path")), strict=True))
        for table in ("posix_file", "stdio_file"):
            for part in read.tables.get(table, ()):
                counts = zip(part["file_id"].to_pylist(), part["open_count"].to_pylist(), strict=True)
                opened += sum(count for id_, count in counts if paths[id_].startswith(MOUNT))
    assert opened == reported


def test_series_end_where_job_stats_end(facility: Facility) -> None:
    """Counters of all OSTs at the end of the last day hold all that jobs did until then, and never fall."""
    last: dict[str, int] = {}
    for path in sorted((facility.out / "lustre" / "series").glob("lustre_ost.*.csv")):
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                total = int(row["read_bytes"]) + int(row["write_bytes"])
                assert last.get(row["ost"], 0) <= total
                last[row["ost"]] = total
    reported: Counter[str] = Counter()
    for entry in facility.final_stats().values():
        if "OST" in entry.target:
            reported[entry.target] += entry.counters["read_bytes"][1] + entry.counters["write_bytes"][1]
    assert {target: reported[target] for target in last} == last


def test_accounting_knows_every_log(facility: Facility) -> None:
    """Each log lies within its job and step, of the same user; jobs without a log are there too."""
    rows = {row["JobID"]: row for row in facility.sacct()}
    steps: Counter[str] = Counter()
    for log in facility.logs:
        job = rows[log["job_id"]]
        step = rows[f"{log['job_id']}.{steps[log['job_id']]}"]
        steps[log["job_id"]] += 1
        run = read_log(facility.path(log)).job
        assert log["user"] == job["User"]
        assert str(run.uid) == job["UID"]
        for row in (job, step):
            begin, end = (datetime.fromisoformat(row[name]).replace(tzinfo=UTC) for name in ("Start", "End"))
            assert begin <= run.start_at <= run.end_at <= end
            assert (end - begin).total_seconds() == int(row["ElapsedRaw"])
        assert -(-log["nprocs"] // 16) == int(step["NNodes"])
    jobs = {name for name in rows if "." not in name}
    assert jobs > {log["job_id"] for log in facility.logs}


def test_nodes_are_given_to_one_job_at_a_time(facility: Facility) -> None:
    """No two jobs are on a node at once."""
    busy: dict[str, list[tuple[str, str]]] = {}
    for row in facility.sacct():
        if "." not in row["JobID"] and row["NodeList"] != "None assigned":
            for first, last in re.findall(r"(\d{5})(?:-(\d{5}))?", row["NodeList"]):
                for node in range(int(first), int(last or first) + 1):
                    busy.setdefault(f"{node}", []).append((row["Start"], row["End"]))
    for spans in busy.values():
        spans.sort()
        assert all(one[1] <= other[0] for one, other in pairwise(spans))
