"""PBS, LSF and Grid Engine."""

import re
import shlex
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from shared import NOT_HERE, SHARED_DATA

FOLDER = SHARED_DATA / "slurm"
PBS = FOLDER / "pbs" / "xdmod_pbs_accounting.log"
LSF = FOLDER / "other_schedulers" / "xdmod_lsf_accounting.log"
UGE = FOLDER / "other_schedulers" / "xdmod_uge_accounting.log"
needs_data = pytest.mark.skipif(not FOLDER.exists(), reason=NOT_HERE)


def at(seconds):
    """A moment, counted since 1970."""
    return datetime.fromtimestamp(seconds, UTC)


def columns(rows, *names):
    """Some columns of rows."""
    return [tuple(row[name] for name in names) for row in rows]


@needs_data
def test_pbs_pro(jobs):
    """Each column of a job of PBS Pro."""
    row = jobs(PBS.read_bytes(), "pbs")[3]
    assert {
        "job_id": "2994",
        "shown_job_id": "2994.pbs",
        "scheduler": "pbs",
        "job_name": "anonjob",
        "user": "anonuser",
        "uid": None,
        "account": None,
        "partition": "workq",
        "qos": None,
        "job_state": "COMPLETED",
        "exit_code": "0",
        "submit_at": at(1453756297),
        "start_at": at(1453766281),
        "end_at": at(1453766437),
        "run_seconds": 156.0,
        "limit_seconds": 163.0,
        "node_count": 5,
        "core_count": 65,
        "gpu_count": None,
        "node_list": "c1/0*13+c2/0*13+c3/0*13+c4/0*13+c5/0*13",
        "hosts": ["c1", "c2", "c3", "c4", "c5"],
        "doubt": None,
        "night": date(2016, 1, 26),
    } == row


@needs_data
def test_all_forms_of_pbs(jobs, read):
    """Torque's list of cores, ranges, virtual nodes with GPUs, jobs without hosts, and the resources that sites ask for."""
    rows = jobs(PBS.read_bytes())
    text = PBS.read_text()
    assert "" == read(text).doubt
    assert re.findall(r";E;(\d+)", text) == [row["job_id"] for row in rows]
    starts, ends = (map(int, re.findall(rf" {key}=(\d+)", text)) for key in ("start", "end"))
    assert sum(ends) - sum(starts) == sum(row["run_seconds"] for row in rows)
    assert [
        (4, 32, None, "i02n33"),
        (4, 32, None, "i02n33"),
        (1, 4, None, "n404"),
        (5, 65, None, "c1"),
        (2, 12, None, "c1"),
        (1, 28, 1, None),
        (1, 28, None, "node0703"),
        (1, 28, 2, "node0703"),
        (1, 48, 4, "[hostname_2]"),
    ] == [(row["node_count"], row["core_count"], row["gpu_count"], row["hosts"][0] if row["hosts"] else None) for row in rows]
    assert ["COMPLETED"] * 2 + ["FAILED"] + ["COMPLETED"] * 2 + ["FAILED"] + ["COMPLETED"] * 2 + ["FAILED"] == [
        row["job_state"] for row in rows
    ]
    assert [None, None, "anonaccount", None, None, "caste", "caste", "caste", "[project1]"] == [row["account"] for row in rows]


def record(rest, kind="E", job="7.srv"):
    """A line of a PBS accounting log."""
    return f"01/05/2026 00:01:10;{kind};{job};{rest}\n"


def test_pbs_records_of_other_kinds_are_counted(jobs, read):
    """Only the end of a job is read; the rest is skipped, and damage is reported by line."""
    text = (
        record("queue=a", "Q") + record("user=x", "S") + record("user=ada end=1767571270") + "garbage\n" + record("a=b", job="x")
    )
    assert [("7", "ada")] == columns(jobs(text, "pbs"), "job_id", "user")
    reported = read(text).doubt
    assert "Left out, 2 in all: line 4 (it is no accounting record), line 5 (it has no job id)." in reported
    assert "Skipped, 2 in all: records that are not of a job's end." in reported


def test_pbs_arrays_count_their_jobs_alone(jobs, read):
    """The record of an array's own end would count the nodes of its jobs again."""
    text = record("start=10 end=1767571270", job="7[1].srv") + record("start=10 end=1767571270", job="7[].srv")
    assert [("7", "7[1].srv")] == columns(jobs(text, "pbs"), "job_id", "shown_job_id")
    assert "Skipped, 1 in all" in read(text).doubt


def test_pbs_values_with_blanks_and_forged_keys(jobs):
    """Blanks are part of a value; a name that looks like keys changes neither the user before it nor the status after it."""
    text = record("user=ada account=my project jobname=a user=root Exit_status=0 queue=q Exit_status=-29 end=1767571270")
    assert [("ada", "my project", "a", "TIMEOUT", "-29")] == columns(
        jobs(text), "user", "account", "job_name", "job_state", "exit_code"
    )


def test_pbs_without_an_end(jobs):
    """The record itself was written at the end, in local time."""
    (row,) = jobs(record("user=ada resources_used.walltime=60"), zone=ZoneInfo("Europe/Berlin"))
    assert (datetime(2026, 1, 4, 23, 1, 10, tzinfo=UTC), 60.0, date(2026, 1, 4)) == (
        row["end_at"],
        row["run_seconds"],
        row["night"],
    )


@pytest.mark.parametrize(
    ("reported", "nodes", "cores", "gpus"),
    [
        ("exec_host=n1/0-3,5,7-8+n2/1", 2, 8, None),
        ("exec_host=n1/0 exec_vnode=(n1[0]:ncpus=4:ngpus=1+n1[1]:ncpus=4:ngpus=1)", 1, 8, 2),
        ("exec_host=n1/0+n1/1 exec_gpus=n1-gpu/0+n1-gpu/1", 1, 2, 2),
        ("Resource_List.nodect=3 Resource_List.nodes=2:ppn=28:gpus=2+bignode:ppn=4", 3, 60, 4),
        ("Resource_List.nodect=x", None, None, None),
        ("exec_host=", 0, None, None),
    ],
)
def test_pbs_nodes_cores_and_gpus(jobs, reported, nodes, cores, gpus):
    """What was given counts; what was asked for only where that is missing."""
    assert [(nodes, cores, gpus)] == columns(jobs(record(f"{reported} end=1767571270")), "node_count", "core_count", "gpu_count")


@needs_data
def test_lsf(jobs, read):
    """Each column of a job of LSF; what comes later in the record is missing from the short one."""
    short, whole = jobs(LSF.read_bytes(), "lsf")
    assert {
        "job_id": "404717",
        "shown_job_id": "404717",
        "scheduler": "lsf",
        "job_name": "abcde0040",
        "user": "anonuser",
        "uid": 22025,
        "account": "anonproject",
        "partition": "regular",
        "qos": None,
        "job_state": "COMPLETED",
        "exit_code": "0",
        "submit_at": at(1389642318),
        "start_at": at(1389642771),
        "end_at": at(1389683139),
        "run_seconds": 40368.0,
        "limit_seconds": None,
        "node_count": 4,
        "core_count": 8,
        "gpu_count": None,
        "node_list": "host1 host1 host2 host2 host3 host3 host4 host4",
        "hosts": ["host1", "host2", "host3", "host4"],
        "doubt": None,
        "night": date(2014, 1, 14),
    } == whole
    assert (128, 8, "host1201-ib") == (short["core_count"], short["node_count"], short["hosts"][0])
    assert "" == read(LSF.read_bytes()).doubt
    # The record has the run time as well, near its end.
    assert {"40368"} < set(shlex.split(LSF.read_text().splitlines()[1]))


@needs_data
@pytest.mark.parametrize(
    ("status", "reason", "state"),
    [
        ("64", "0", "COMPLETED"),
        ("32", "0", "FAILED"),
        ("32", "5", "TIMEOUT"),
        ("32", "14", "CANCELLED"),
        ("192", "0", "COMPLETED"),
        ("32", "16", "OUT_OF_MEMORY"),
        ("1", "0", None),
        ("x", "0", None),
    ],
)
def test_lsf_says_why_jobs_ended(jobs, status, reason, state):
    """The status is a set of bits; why LSF ended a job is in a field of its own."""
    line = LSF.read_text().splitlines()[1]
    line = line.replace(' 64 60.0 "abcde0040"', f' {status} 60.0 "abcde0040"').replace(
        '"" "" "" "" 0 "" 0 "" -1', f'"" "" "" "" 0 "" {reason} "" -1'
    )
    assert [state] == [row["job_state"] for row in jobs(line)]


@needs_data
def test_lsf_arrays_names_and_other_records(jobs, read):
    """An array's task shows its index; doubled quotes are one; other records are counted, and cut ones reported."""
    line = LSF.read_text().splitlines()[1]
    task = line.replace('128 "" "" 0 10725376', '128 "" "" 17 10725376').replace('"abcde0040" "#!', '"a ""b"" 1" "#!')
    text = "\n".join(["#80960", task, '"EVENT_ADRSV_FINISH" "9.11" 1389683139 1 2', line[:300], "x"])
    assert [("404717", "404717[17]", 'a "b" 1')] == columns(jobs(text), "job_id", "shown_job_id", "job_name")
    assert (
        "Left out, 2 in all: line 4 (it is incomplete), line 5 (it is no accounting record). "
        "Skipped, 1 in all: records that are not of a job's end." == read(text).doubt
    )


@needs_data
def test_grid_engine(jobs):
    """Each column of a job of SGE, and the milliseconds and the parallel job of UGE, of which the other hosts are not known."""
    serial, parallel = jobs(UGE.read_bytes(), "uge")
    assert {
        "job_id": "22947",
        "shown_job_id": "22947",
        "scheduler": "uge",
        "job_name": "mpi-mem-test",
        "user": "jdoe",
        "uid": None,
        "account": "sge",
        "partition": "myqueue",
        "qos": None,
        "job_state": "COMPLETED",
        "exit_code": "0",
        "submit_at": at(1310761621),
        "start_at": at(1311095354),
        "end_at": at(1311095414),
        "run_seconds": 60.0,
        "limit_seconds": 36000.0,
        "node_count": 1,
        "core_count": 1,
        "gpu_count": None,
        "node_list": "testhost",
        "hosts": ["testhost"],
        "doubt": None,
        "night": date(2011, 7, 19),
    } == serial
    assert (12837.318, 16, None, None, "gpuowner") == tuple(
        parallel[name] for name in ("run_seconds", "core_count", "node_count", "hosts", "user")
    )


@needs_data
def test_grid_engine_tasks_and_failures(jobs, read):
    """A task of an array shows its index; a job that failed or never started says so; tasks of a parallel job are counted."""
    line = UGE.read_text().splitlines()[0]
    fields = line.split(":")
    task = ":".join([*fields[:35], "4", *fields[36:]])
    failed = ":".join([*fields[:9], "0", "0", "26", "1", *fields[13:]])
    slave = ":".join([*fields[:41], "1.testhost", *fields[42:]])
    text = "\n".join(["# Version: 8", task, failed, slave, "a:b", line[:60]])
    rows = jobs(text)
    assert [("22947.4", "COMPLETED", "0"), ("22947", "FAILED", "1")] == columns(rows, "shown_job_id", "job_state", "exit_code")
    assert (None, None, date(2011, 7, 15)) == tuple(rows[1][name] for name in ("start_at", "end_at", "night"))
    reported = read(text).doubt
    assert "Left out, 2 in all: line 5 (it is no accounting record), line 6 (it is no accounting record)." in reported
    assert "Skipped, 1 in all: records" in reported
