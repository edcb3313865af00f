"""Slurm's JSON of each release, and what `scontrol show job` prints."""

import json
from datetime import UTC, date, datetime

import pytest
from shared import NOT_HERE, SHARED_DATA

from iomine.errors import UnreadableError

FOLDER = SHARED_DATA / "slurm"
needs_data = pytest.mark.skipif(not FOLDER.exists(), reason=NOT_HERE)


def number(value, *, infinite=False):
    """A number as data_parser v0.0.39 and later write it; None is one that is not set."""
    return {"set": value is not None, "infinite": infinite, "number": value or 0}


def at(seconds):
    """A moment, counted since 1970."""
    return datetime.fromtimestamp(seconds, UTC)


@needs_data
def test_slurmrestd_of_two_releases(jobs):
    """A running job has no end yet, whatever is expected; the same keys with plain and with set numbers are read alike."""
    running, pending = jobs((FOLDER / "json" / "rivos_slurmrestd_jobs_v0.0.37.json").read_bytes(), "slurm_json")
    assert {
        "job_id": "26515966",
        "shown_job_id": "26515966",
        "scheduler": "slurm",
        "job_name": "job_name",
        "user": "bkd",
        "uid": 1977600017,
        "account": "account1",
        "partition": "hw-l",
        "qos": "normal",
        "job_state": "RUNNING",
        "exit_code": "0:0",
        "submit_at": at(1684114900),
        "start_at": at(1684114921),
        "end_at": None,
        "run_seconds": None,
        "limit_seconds": 30240 * 60.0,
        "node_count": 1,
        "core_count": 1,
        "gpu_count": 0,
        "node_list": "cs75",
        "hosts": ["cs75"],
        "doubt": None,
        "night": date(2023, 5, 15),
    } == running
    assert ("58948420", "58948420_[1-10]", "PENDING", None, None, 1439 * 60.0, [], date(2024, 10, 23)) == tuple(
        pending[name] for name in ("job_id", "shown_job_id", "job_state", "start_at", "end_at", "limit_seconds", "hosts", "night")
    )


def accounted(**changes):
    """A job of `sacct --json`, data_parser v0.0.40."""
    tres = [("cpu", "", 8), ("mem", "", 62000), ("energy", "", -2), ("node", "", 2), ("gres", "gpu", 4), ("gres", "gpu:a100", 4)]
    exit_code = {"status": ["SIGNALED"], "return_code": number(0), "signal": {"id": number(9), "name": "KILL"}}
    allocated = [{"type": type_, "name": name, "id": 1, "count": count} for type_, name, count in tres]
    step = {
        "step": {"id": "26.batch", "name": "batch"},
        "state": ["CANCELLED"],
        "exit_code": exit_code,
        "time": {"elapsed": 60, "start": number(1744187888), "end": number(1744187948)},
        "nodes": {"count": 1, "range": "z1", "list": ["z1"]},
        "tres": {"allocated": [{"type": "cpu", "name": "", "id": 1, "count": 4}]},
    }
    return {
        "job_id": 26,
        "name": "t-1",
        "user": "zhu",
        "account": "phys",
        "partition": "test",
        "qos": "normal",
        "array": {"job_id": 0, "task_id": number(None), "task": ""},
        "het": {"job_id": 0, "job_offset": number(None)},
        "state": {"current": ["CANCELLED"], "reason": "None"},
        "exit_code": exit_code,
        "time": {
            "elapsed": 60,
            "submission": 1744187880,
            "start": 1744187888,
            "end": 1744187948,
            "limit": number(0, infinite=True),
        },
        "allocation_nodes": 2,
        "nodes": "z[1-2]",
        "tres": {"allocated": allocated},
        "steps": [
            step,
            step | {"step": {"id": {"job_id": 26, "step_het_component": number(None), "step_id": "0"}, "name": "a.out"}},
            step | {"step": {"job_id": 26, "het": {"component": None}, "id": 1, "name": "b.out"}},
        ],
    } | changes


def text_of(*jobs):
    """What `sacct --json` prints of jobs."""
    return json.dumps({"jobs": list(jobs), "meta": {"Slurm": {}}})


def test_sacct_json(jobs, steps):
    """Jobs and steps of the accounting: states and codes are lists and objects there, resources a list."""
    (job,) = jobs(text_of(accounted()), "slurm_json")
    assert {
        "job_id": "26",
        "user": "zhu",
        "job_state": "CANCELLED",
        "exit_code": "0:9",
        "submit_at": at(1744187880),
        "end_at": at(1744187948),
        "run_seconds": 60.0,
        "limit_seconds": None,
        "node_count": 2,
        "core_count": 8,
        "gpu_count": 4,
        "hosts": ["z1", "z2"],
        "doubt": None,
    }.items() <= job.items()
    batch, *others = steps(text_of(accounted()))
    assert ("26", "batch", "batch", "CANCELLED", "0:9", 60.0, 1, 4, "z1", date(2025, 4, 9)) == tuple(
        batch[name]
        for name in "job_id step job_name job_state exit_code run_seconds node_count core_count node_list night".split()
    )
    assert [("0", "a.out"), ("1", "b.out")] == [(row["step"], row["job_name"]) for row in others]


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"array": {"job_id": 20, "task_id": number(0)}}, "20_0"),
        ({"array": {"job_id": 20, "task_id": 6}}, "20_6"),
        ({"array": {"job_id": 20, "task_id": number(None), "task": "1-9%2"}}, "20_[1-9%2]"),
        ({"het": {"job_id": 25, "job_offset": number(1)}}, "25+1"),
        ({}, "26"),
    ],
)
def test_shown_ids(jobs, changes, shown):
    """Tasks of arrays and parts of heterogeneous jobs are shown by the number of the whole, as sacct does."""
    assert [("26", shown)] == [(row["job_id"], row["shown_job_id"]) for row in jobs(text_of(accounted(**changes)))]


@pytest.mark.parametrize(
    ("status", "code"), [(0, "0:0"), (256, "1:0"), (15, "0:15"), ({"status": "SUCCESS", "return_code": 3}, "3:0")]
)
def test_exit_codes_of_old_releases(jobs, status, code):
    """What wait(2) gave is code and signal in one number."""
    assert [code] == [row["exit_code"] for row in jobs(text_of(accounted(exit_code=status)))]


def test_json_of_several_answers(jobs):
    """Answers that were appended to one file are all read."""
    both = "".join(text_of(accounted(job_id=number)) + "\n" for number in (41, 42))
    assert [["41", "42"], ["41"]] == [
        [job["job_id"] for job in jobs(text, "slurm_json")] for text in (both, both.splitlines()[0])
    ]


def test_names_in_json(jobs):
    """Escaped NULs, halves of surrogate pairs, bytes that are no UTF-8 and terminal escapes are kept as text."""
    names = ["nul\0", "half\ud800", "\x1b[31m", "ü"]
    data = text_of(*(accounted(name=name) for name in names)).encode() + b" "
    assert ["nul\\x00", "half\\ud800", "\x1b[31m", "ü"] == [row["job_name"] for row in jobs(data)]
    raw = text_of(accounted(name="BYTE")).encode().replace(b"BYTE", b"a\xffb\x1bc")
    assert ["a\\xffb\x1bc"] == [row["job_name"] for row in jobs(raw)]


def test_json_of_whatever_types(jobs, read):
    """Values of wrong types are NULL, and a job without an id is counted."""
    odd = accounted(
        name=["n"], user=[], uid={}, state=7, tres="x", steps=[{}], time={"end": 1744187948, "limit": "x"}, nodes=None
    )
    data = text_of(odd, {"job_id": True}, None, 5, [], {"job_id": "7_1"}, {"job_id": -1})
    (row,) = jobs(data)
    assert ("n", None, None, None, None, None, "limit_seconds is not understood") == tuple(
        row[name] for name in ("job_name", "user", "uid", "job_state", "hosts", "core_count", "doubt")
    )
    assert read(data).doubt.startswith("Left out, 7 in all: job 2 (it has no job id),")


@pytest.mark.parametrize(
    "text",
    ['{"meta": {"Slurm": 1}, "jobs": [', '{"Slurm": 1, "jobs": [' + "[" * 100_000, '{"slurm": 1, "jobs": [' + "9" * 5000 + "]}"],
)
def test_json_that_is_not_whole_is_refused(read, text):
    """Half a document is none, nor one that is nested without end."""
    with pytest.raises(UnreadableError, match="not the whole of Slurm's JSON"):
        read(text)


@needs_data
def test_a_job_shown_in_detail(jobs):
    """A block of `scontrol show -d job`, of Slurm 17."""
    (row,) = jobs((FOLDER / "scontrol" / "bristol_bc4_show_-d_job.txt").read_bytes(), "scontrol")
    assert {
        "job_id": "1340971",
        "shown_job_id": "1340971",
        "scheduler": "slurm",
        "job_name": "bash",
        "user": "ab12345",
        "uid": 999999,
        "account": "default",
        "partition": "cpu",
        "qos": "normal",
        "job_state": "COMPLETED",
        "exit_code": "0:0",
        "submit_at": datetime(2018, 9, 25, 12, 22, 37, tzinfo=UTC),
        "start_at": datetime(2018, 9, 25, 12, 22, 37, tzinfo=UTC),
        "end_at": datetime(2018, 9, 25, 12, 27, 59, tzinfo=UTC),
        "run_seconds": 322.0,
        "limit_seconds": 172800.0,
        "node_count": 1,
        "core_count": 28,
        "gpu_count": 0,
        "node_list": "compute382",
        "hosts": ["compute382"],
        "doubt": None,
        "night": date(2018, 9, 25),
    } == row


@needs_data
def test_a_job_of_slurm_15(jobs):
    """No limit and `(null)` are NULL, and the list is unfolded."""
    (row,) = jobs((FOLDER / "scontrol" / "buhpc_show_jobs_slurm15.txt").read_bytes(), "scontrol")
    assert ("root", 0, None, None, None, 5, 20, [f"buhpc{node}" for node in range(1, 6)], 0.0) == tuple(
        row[name] for name in "user uid account qos limit_seconds node_count core_count hosts run_seconds".split()
    )


MANY = """
JobId=13 ArrayJobId=10 ArrayTaskId=3 JobName=sweep a=b UserId=root(0)
   UserId=ada(1001) GroupId=users(100) MCS_label=N/A
   Account=phys QOS=normal
   JobState=FAILED Reason=NonZeroExitCode Dependency=(null)
   RunTime=00:01:00 TimeLimit=01:00:00 TimeMin=N/A
   SubmitTime=2026-01-05T00:00:00 EligibleTime=2026-01-05T00:00:00
   StartTime=2026-01-05T00:00:10 EndTime=2026-01-05T00:01:10 Deadline=N/A
   Partition=gpu AllocNode:Sid=login1:12671
   NodeList=n[1-2]
   NumNodes=2 NumCPUs=8 NumTasks=8 CPUs/Task=1 ReqB:S:C:T=0:0:*:*
   ReqTRES=cpu=16,node=4
   AllocTRES=cpu=8,node=2,billing=8,gres/gpu=4,gres/gpu:a100=4
     Nodes=n[1-2] CPU_IDs=0-3 Mem=0 GRES=gpu:a100:2(IDX:0-1)
   Command=/home/ada/run.sh JobState=COMPLETED
   WorkDir=/home/ada
   Comment=UserId=root(0)

JobId=10 ArrayJobId=10 ArrayTaskId=4-9%2 JobName=sweep
   UserId=ada(1001) GroupId=users(100)
   JobState=PENDING Reason=Resources
   SubmitTime=2026-01-05T00:00:00 StartTime=2026-01-06T00:00:00 EndTime=2026-01-06T01:00:00
   NodeList=
   NumNodes=1-2 NumCPUs=4

JobId=21 HetJobId=20 HetJobOffset=1 JobName=het
   HetJobIdSet=20-21
   UserId=ada(1001) GroupId=users(100)
   JobState=RUNNING
   RunTime=00:10:00 StartTime=2026-01-05T00:00:10 EndTime=2026-01-05T01:00:10
"""


def test_many_jobs_shown(jobs, read):
    """Arrays, heterogeneous and pending jobs; what users write is taken for no key; estimates are no times."""
    failed, pending, running = jobs(MANY, "scontrol")
    assert ("13", "10_3", "sweep a=b UserId=root(0)", "ada", 1001, "FAILED") == tuple(
        failed[name] for name in "job_id shown_job_id job_name user uid job_state".split()
    )
    assert (60.0, 2, 8, 4, ["n1", "n2"], None) == tuple(
        failed[name] for name in "run_seconds node_count core_count gpu_count hosts doubt".split()
    )
    assert ("10", "10_[4-9%2]", None, None, None, [], date(2026, 1, 5), None) == tuple(
        pending[name] for name in "job_id shown_job_id start_at end_at node_count hosts night doubt".split()
    )
    assert ("21", "20+1", "het", None, 600.0, None) == tuple(
        running[name] for name in "job_id shown_job_id job_name end_at run_seconds hosts".split()
    )
    assert "" == read(MANY).doubt


def test_jobs_on_one_line(jobs):
    """With -o a name may hold keys: then keys with two different values are NULL, and the job has a doubt."""
    rest = "GroupId=u(1) JobState=COMPLETED EndTime=2026-01-05T00:01:10 NodeList=n1 Command=x JobState=FAILED"
    lines = [
        f"JobId=1 JobName=a b=c UserId=ada(1001) {rest}",
        f"JobId=2 JobName=x UserId=root(0) JobId=1 UserId=eve(666) {rest}",
        f"JobId=3 JobName=several\nJobId=4 JobName=lines UserId=eve(666) {rest}",
        f"JobId=5 JobName=last UserId=ada(1001) {rest}",
    ]
    honest, forged, several, last = jobs("\n".join(lines) + "\n", "scontrol")
    assert ("a b=c", "ada", 1001, "COMPLETED", ["n1"], None) == tuple(
        honest[name] for name in ("job_name", "user", "uid", "job_state", "hosts", "doubt")
    )
    assert ("2", None, None, None) == tuple(forged[name] for name in ("job_id", "user", "uid", "job_state"))
    assert "its name may hold keys, and keys with two different values are left out" == forged["doubt"]
    assert ("3", "several\nJobId=4 JobName=lines", "eve", None) == tuple(
        several[name] for name in ("job_id", "job_name", "user", "doubt")
    )
    assert ("5", "last", "ada") == tuple(last[name] for name in ("job_id", "job_name", "user"))


def test_names_of_several_lines(jobs):
    """A name goes on until the line with the user; one that forges that line too is doubted."""
    rest = "   JobState=COMPLETED\n   EndTime=2026-01-05T00:01:10\n"
    honest, forged = jobs(
        f"JobId=1 JobName=a\nJobId=9 JobName=b\n   UserId=eve(666)\n{rest}\n"
        f"JobId=2 JobName=a\n   UserId=root(0)\n   UserId=eve(666)\n{rest}\n",
        "scontrol",
    )
    assert ("1", "a\nJobId=9 JobName=b", "eve", None) == tuple(honest[name] for name in ("job_id", "job_name", "user", "doubt"))
    assert ("2", "a", None) == tuple(forged[name] for name in ("job_id", "job_name", "user"))
    assert forged["doubt"].startswith("its name may hold keys")


# As a Slurm 22.05 wrote it.
JOBCOMP = """\
JobId=1 UserId=root(0) GroupId=root(0) Name=two nodes|a=b UserId=x JobState=COMPLETED Partition=batch TimeLimit=10 \
StartTime=2026-11-21T19:47:03 EndTime=2026-11-21T19:47:06 NodeList=n[1-2] NodeCnt=2 ProcCnt=2 WorkDir=/tmp ReservationName= \
Tres=cpu=2,mem=8000M,node=2,billing=2 Account= QOS= WcKey= Cluster=unknown SubmitTime=2026-11-21T19:47:02 \
EligibleTime=2026-11-21T19:47:02 DerivedExitCode=0:0 ExitCode=0:0
JobId=7 UserId=root(0) GroupId=root(0) Name=het JobState=FAILED Partition=batch TimeLimit=UNLIMITED \
StartTime=2026-11-21T19:47:15 EndTime=2026-11-21T19:47:18 NodeList=n2 NodeCnt=1 ProcCnt=1 WorkDir=/tmp ReservationName= \
Tres=cpu=1,mem=4000M,node=1,billing=1 Account= QOS= WcKey= Cluster=unknown SubmitTime=2026-11-21T19:47:02 \
EligibleTime=2026-11-21T19:47:02 HetJobId=6 HetJobOffset=1 DerivedExitCode=0:0 ExitCode=0:9
"""


def test_jobs_that_slurm_keeps_in_a_file(jobs):
    """The lines of jobcomp/filetxt have other keys, and limits in minutes."""
    assert [
        ("1", "two nodes|a=b UserId=x", "root", "COMPLETED", 3.0, 600.0, 2, 2, ["n1", "n2"], "0:0", None),
        ("6+1", "het", "root", "FAILED", 3.0, None, 1, 1, ["n2"], "0:9", None),
    ] == [
        tuple(
            row[name]
            for name in "shown_job_id job_name user job_state run_seconds limit_seconds node_count core_count hosts exit_code "
            "doubt".split()
        )
        for row in jobs(JOBCOMP, "scontrol")
    ]


def _federation(*jobs: tuple[str, int]) -> list[str]:
    """Jobs of clusters, as sacct and as JSON."""
    end = "2026-01-05T00:01:00"
    lines = [f"{cluster}|{job_id}|{cluster[0]}|{end}\n{cluster}|{job_id}.0|{cluster[0]}|{end}\n" for cluster, job_id in jobs]
    entries = [
        {"cluster": cluster, "job_id": job_id, "user": cluster[0], "time": {"end": 1767571260}, "steps": [{"step": {"id": "0"}}]}
        for cluster, job_id in jobs
    ]
    return [f"Cluster|JobIDRaw|User|End\n{''.join(lines)}", json.dumps({"jobs": entries})]


def test_jobs_of_several_clusters(read):
    """Of several clusters, those of the sweep's are kept and the others counted; ids that two have are not mingled."""
    for text in _federation(("alpha", 100), ("beta", 100), ("beta", 101)):
        own = read(text, cluster="beta")
        assert [("100", "b"), ("101", "b")] == [(row["job_id"], row["user"]) for row in own.tables["job"].to_pylist()]
        assert ["100", "101"] == own.tables["job_step"]["job_id"].to_pylist()
        assert "Left to other clusters, 2 in all: jobs and steps of alpha." == own.doubt
        with pytest.raises(UnreadableError, match=r"several clusters with the same id \(alpha, beta\): sweep it with --cluster"):
            read(text, cluster="gamma")
    for text in _federation(("alpha", 100), ("beta", 101)):
        both = read(text, cluster="gamma")
        assert (2, "Taken for one cluster: alpha, beta.") == (len(both.tables["job"]), both.doubt)
    for text in _federation(("alpha", 100)):
        assert "" == read(text, cluster="gamma").doubt


def test_blocks_that_are_no_jobs(jobs, read):
    """What comes before the first job is counted by its line."""
    text = f"slurm_load_jobs error\nagain\n{MANY}JobId=9 JobName=no time\n"
    assert ["13", "10", "21"] == [row["job_id"] for row in jobs(text)]
    reported = read(text).doubt
    assert reported.startswith("Left out, 2 in all: line ")
    assert "line 1 (it does not begin with JobId)" in reported
    assert f"line {text.splitlines().index('JobId=9 JobName=no time') + 1} (it has no time)" in reported
