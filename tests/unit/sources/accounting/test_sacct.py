"""`sacct -P`: any columns in any order, names that hold the delimiter, arrays, steps, and lines that are damaged."""

import gzip
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import NOT_HERE, SHARED_DATA
from simulated import Facility

from iomine.errors import UnreadableError
from iomine.simulate import Settings, simulate
from iomine.sources.darshan import read_log

FOLDER = SHARED_DATA / "slurm" / "sacct"
HEADER = "JobID|JobIDRaw|JobName|State|Submit|Start|End"
LINE = "7|7|name|COMPLETED|2026-01-05T00:00:00|2026-01-05T00:00:10|2026-01-05T00:01:10"
needs_data = pytest.mark.skipif(not FOLDER.exists(), reason=NOT_HERE)


def at(text):
    """A moment in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def long_ago(text):
    """Seconds of `[D-]HH:MM:SS`."""
    days, _, clock = text.rpartition("-")
    hours, minutes, seconds = map(int, clock.split(":"))
    return int(days or 0) * 86_400 + hours * 3600 + minutes * 60 + seconds


@needs_data
def test_a_job_of_a_real_cluster(jobs):
    """Each column of one job of Open XDMoD's reference is as in its line."""
    row = jobs(gzip.decompress((FOLDER / "xdmod_phillips.sacct.gz").read_bytes()), "sacct")[1]
    assert {
        "job_id": "165381",
        "shown_job_id": "165381",
        "scheduler": "slurm",
        "job_name": "3eb3511ffb7fb2f36d4adddafd5c187619f5395daa96a93d2dd66a636f241599",
        "user": "chaff",
        "uid": 196224,
        "account": "chaff",
        "partition": "crumpet",
        "qos": "coconut-cream",
        "job_state": "TIMEOUT",
        "exit_code": "1:0",
        "submit_at": at("2016-12-27T20:12:01"),
        "start_at": at("2016-12-27T20:12:01"),
        "end_at": at("2017-01-01T20:12:27"),
        "run_seconds": 432026.0,
        "limit_seconds": 432000.0,
        "node_count": 8,
        "core_count": 64,
        "gpu_count": 0,
        "node_list": "cpn-f13-03-[01-02],cpn-f13-04-[01-02],cpn-f13-05-[01-02],cpn-f13-06-[01-02]",
        "hosts": [f"cpn-f13-{rack:02d}-{node:02d}" for rack in range(3, 7) for node in (1, 2)],
        "doubt": None,
        "night": date(2017, 1, 1),
    } == row


@needs_data
def test_a_real_cluster_adds_up(jobs, read):
    """All jobs are there, and their lengths, states, nodes, cores and GPUs add up to what the lines say."""
    data = gzip.decompress((FOLDER / "xdmod_phillips.sacct.gz").read_bytes())
    lines = [line.split("|", 25) for line in data.decode().splitlines()]
    rows = jobs(data)
    assert "" == read(data).doubt
    assert [line[1] for line in lines] == [row["job_id"] for row in rows]
    assert [line[25] for line in lines] == [row["job_name"] for row in rows]
    assert sum(long_ago(line[14]) for line in lines) == sum(row["run_seconds"] for row in rows)
    assert [line[16].split(" ")[0] for line in lines] == [row["job_state"] for row in rows]
    for index, name in ((17, "node_count"), (18, "core_count")):
        assert sum(int(line[index]) for line in lines) == sum(row[name] for row in rows)
    gpus = [line[22].partition("gres/gpu=")[2].partition(",")[0] for line in lines]
    assert sum(int(each or 0) for each in gpus) == sum(row["gpu_count"] for row in rows)
    ran = [line[24] != "None assigned" for line in lines]
    assert [row["node_count"] * has_run for row, has_run in zip(rows, ran, strict=True)] == [len(row["hosts"]) for row in rows]
    assert [] == [row["doubt"] for row in rows if row["doubt"]]


@needs_data
def test_a_real_cluster_in_its_zone(jobs):
    """Local times of Buffalo are five hours behind UTC in winter, and change nothing of how long jobs ran."""
    data = gzip.decompress((FOLDER / "xdmod_phillips.sacct.gz").read_bytes())
    utc, local = jobs(data), jobs(data, zone=ZoneInfo("America/New_York"))
    winter = [(u, w) for u, w in zip(utc, local, strict=True) if u["start_at"] > at("2016-11-10")]
    assert winter
    assert {timedelta(hours=5)} == {w["end_at"] - u["end_at"] for u, w in winter}
    assert [u["run_seconds"] for u, _ in winter] == [w["run_seconds"] for _, w in winter]


@needs_data
def test_tasks_of_arrays(jobs):
    """Tasks are shown with their index, and have the number that logs carry."""
    rows = jobs((FOLDER / "xdmod_unit_accounting-logs-with-job-arrays.log").read_bytes())
    assert ["100", "[1-3]", "[1,5]", "[9-11,20]", "[91,100-102]", "[9-11,13,16-20]"] == [
        row["shown_job_id"].removeprefix("4103947_") for row in rows
    ]
    assert {"4103947"} == {row["job_id"] for row in rows}
    assert {(32, 32)} == {(row["node_count"], len(row["hosts"])) for row in rows}


@needs_data
def test_jobs_that_have_not_ended(jobs):
    """A running job has no end yet, and runs as long as sacct says; a pending one has no start either."""
    running, pending = jobs((FOLDER / "xdmod_unit_non-ended-job-state.log").read_bytes())
    assert ("RUNNING", at("2020-06-30T19:24:08"), None, 81142.0, date(2020, 6, 30)) == tuple(
        running[name] for name in ("job_state", "start_at", "end_at", "run_seconds", "night")
    )
    assert ("PENDING", None, None, date(2020, 7, 1)) == tuple(
        pending[name] for name in ("job_state", "start_at", "end_at", "night")
    )


@needs_data
def test_jobs_of_all_kinds(jobs):
    """Who cancelled is left out; a reservation has no nodes by count but two by name, and a doubt."""
    rows = jobs((FOLDER / "xdmod_unit_accounting-logs.log").read_bytes())
    assert ["TIMEOUT", "CANCELLED", "COMPLETED", "COMPLETED"] == [row["job_state"] for row in rows]
    assert [259200.0, 252184.0, 50449.0, 0.0] == [row["run_seconds"] for row in rows]
    assert [259200.0, 259200.0, 51600.0, None] == [row["limit_seconds"] for row in rows]
    assert [256, 36, 48, 0] == [row["core_count"] for row in rows]
    assert ["cpn-k16-35-01", "cpn-k16-37-01"] == rows[3]["hosts"]
    assert [None, None, None, "the node list names 2 nodes, of 0"] == [row["doubt"] for row in rows]


@needs_data
def test_a_list_without_times_is_refused(read):
    """Without any time no job has a night; the reason says which columns are missing."""
    with pytest.raises(UnreadableError, match="Submit, Start and End"):
        read((FOLDER / "ood_sacct_with_steps.txt").read_bytes())


def test_steps_go_with_their_jobs(jobs, steps, read):
    """Steps are a table of their own, in the night of their job wherever that stands, else in their own."""
    text = """JobID|JobName|State|ExitCode|Start|End|AllocTRES|NodeList
8.0|a.out|FAILED|1:0|2026-01-05T23:00:00|2026-01-05T23:30:00|cpu=4,node=2|n[1-2]
7_4|job|COMPLETED|0:0|2026-01-05T00:00:00|2026-01-06T00:00:10|cpu=4,node=2|n[1-2]
7_4.batch|batch|COMPLETED|0:0|2026-01-05T00:00:00|2026-01-05T00:00:10|cpu=2,node=1|n1
8|job|FAILED|1:0|2026-01-05T23:00:00|2026-01-07T00:00:00|cpu=4,node=2|n[1-2]
9.extern|extern|COMPLETED|0:0|2026-01-04T23:00:00|2026-01-05T00:00:01|cpu=4,node=2|n[1-2]
10.0+1|x|COMPLETED|0:0|Unknown|Unknown||
"""
    assert ["7_4", "8"] == [row["job_id"] for row in jobs(text)]
    assert [("8", "0", 7), ("7_4", "batch", 6), ("9", "extern", 5)] == [
        (row["job_id"], row["step"], row["night"].day) for row in steps(text)
    ]
    assert {
        "job_name": "a.out",
        "job_state": "FAILED",
        "exit_code": "1:0",
        "start_at": at("2026-01-05T23:00:00"),
        "end_at": at("2026-01-05T23:30:00"),
        "run_seconds": 1800.0,
        "node_count": 2,
        "core_count": 4,
        "node_list": "n[1-2]",
    }.items() <= steps(text)[0].items()
    assert "Left out, 1 in all: line 7 (neither it nor its job has a time)." == read(text).doubt


def test_steps_that_are_understood_in_part(steps, read):
    """A word of a step that makes no sense is NULL; steps have no doubts of their own, so the file's doubt says how many."""
    text = "JobID|End|NNodes\n7.0|2026-01-05T00:00:00|many\n7.1|2026-01-05T00:00:00|2\n"
    assert [None, 2] == [row["node_count"] for row in steps(text)]
    assert "Understood in part, 1 in all: steps." == read(text).doubt


@needs_data
def test_names_at_the_end_of_lines_without_a_header(jobs):
    """The name is last there, and may hold as many delimiters as it likes."""
    line = (FOLDER / "xdmod_unit_accounting-logs.log").read_text().splitlines()[0].rpartition("|")[0]
    names = ["a|b", "|", "größe|\x1b[0m", "4103947|4103947|x"]
    assert names == [row["job_name"] for row in jobs("\n".join(f"{line}|{name}" for name in names), "sacct")]


@pytest.mark.parametrize(
    ("shown", "raw", "job_id", "doubt"),
    [
        ("7", None, "7", ""),
        ("7+0", None, "7", ""),
        ("7_3", None, "7_3", "without JobIDRaw, the job id that logs have is not known"),
        ("7+1", None, "7+1", "without JobIDRaw, the job id that logs have is not known"),
        ("7_[1-3%2]", None, "7_[1-3%2]", "without JobIDRaw, the job id that logs have is not known"),
        ("7_3", "12", "12", ""),
        ("7+1", "8", "8", ""),
        (None, "8", "8", ""),
    ],
)
def test_ids(jobs, shown, raw, job_id, doubt):
    """The number that logs carry is taken from JobIDRaw; without it, only that of a plain job is known."""
    columns = {"JobID": shown, "JobIDRaw": raw, "End": "2026-01-05T00:00:00"}
    reported = {name: text for name, text in columns.items() if text}
    (row,) = jobs("|".join(reported) + "\n" + "|".join(reported.values()))
    assert (job_id, shown or raw, doubt or None) == (row["job_id"], row["shown_job_id"], row["doubt"])


def test_damaged_lines_are_counted(jobs, read):
    """A line that is cut off, has no id or no time is left out and reported by number; empty lines and headers are none."""
    none = (
        LINE.replace("2026-01-05T00:00:00", "").replace("2026-01-05T00:00:10", "Unknown").replace("2026-01-05T00:01:10", "None")
    )
    text = "\n".join([HEADER, LINE, "", "8|8|cut", LINE.replace("7|7", "x|y"), HEADER, none, LINE, ""])
    assert ["7", "7"] == [row["job_id"] for row in jobs(text)]
    assert "Left out, 3 in all: line 4 (it has 3 columns, not 7), line 5 (it has no job id), line 7 (it has no time)." == read(
        text
    ).doubt.replace("line 7 (it has no time), line 4", "line 4")
    many = read("\n".join([HEADER, LINE, *["x"] * 12])).doubt
    assert many.startswith("Left out, 12 in all: line 3 (")
    assert many.endswith("line 7 (it has 1 columns, not 7), 7 more.")


def test_nothing_but_damage_is_refused(read):
    """Where no line makes sense, the file is refused with the first reasons; a header alone is an empty night."""
    with pytest.raises(UnreadableError, match=r"No job can be read here: Left out, 2 in all: line 2 \(it has 1 columns"):
        read(f"{HEADER}\nx\ny\n")
    assert ({}, "") == (read(f"{HEADER}\n").tables, read(f"{HEADER}\n").doubt)


@pytest.mark.parametrize(
    "text",
    [
        "JobID,JobIDRaw,End\n1,1,2026-01-05T00:00:00\n",
        "JobID End\n1 2026-01-05T00:00:00\n",
        "       JobID                 End \n------------ ------------------- \n1            2026-01-05T00:00:00 \n",
    ],
)
def test_columns_that_are_alike_are_refused(read, text):
    """Commas and blanks stand in values too; the reason says what to do."""
    if text.startswith("JobID End"):
        text = text.replace("\n1", "\n----- ---\n1")
    with pytest.raises(UnreadableError, match="--parsable2"):
        read(text)


@pytest.mark.parametrize("delimiter", ["\x1f", "\x1e", "\t"])
def test_delimiters_that_no_name_holds(jobs, delimiter):
    """The separators that ASCII has for this, although they count as blanks."""
    text = "JobID|JobName|End\n7|a b|2026-01-05T00:00:00\n".replace("|", delimiter)
    assert [("7", "a b")] == [(row["job_id"], row["job_name"]) for row in jobs(text)]


def test_times_for_people_are_refused(read):
    """The reason says how times have to be written, and what changes it."""
    with pytest.raises(UnreadableError, match=r"line 2 \(its times are not written as .* SLURM_TIME_FORMAT"):
        read("JobID|Start|End\n7|Nov 20 01:00|Today 02:00\n")


def test_values_that_make_no_sense_cost_themselves_only(jobs):
    """A time, count or list that is not understood is NULL and reported, and the rest of the job is kept."""
    text = (
        "JobID|UID|Elapsed|End|NNodes|AllocTRES|NodeList|State\n7|-2|1:2:3:4|2026-01-05T00:00:00|99999999999999999999|cpu=x|n[|\n"
    )
    (row,) = jobs(text)
    assert [None] * 6 == [row[name] for name in ("uid", "run_seconds", "node_count", "core_count", "hosts", "job_state")]
    wrong = ("uid", "run_seconds", "node_count", "tres")
    expected = [*(f"{name} is not understood" for name in wrong), "the node list is not understood"]
    assert sorted(expected) == sorted(row["doubt"].split("; "))


def test_an_end_before_the_start_is_doubted(jobs):
    """The length is then what sacct says it is."""
    text = "JobID|Start|End|ElapsedRaw\n7|2026-01-05T00:00:10|2026-01-05T00:00:00|0\n"
    assert [(0.0, "it ends before it starts")] == [(row["run_seconds"], row["doubt"]) for row in jobs(text)]


def test_an_hour_that_occurs_twice_is_doubted(jobs):
    """The first is taken, and the job says so."""
    text = "JobID|Start|End\n7|2024-10-27T01:30:00|2024-10-27T02:30:00\n"
    (row,) = jobs(text, zone=ZoneInfo("Europe/Berlin"))
    assert (at("2024-10-27T00:30:00"), 3600.0) == (row["end_at"], row["run_seconds"])
    assert "end_at is a local time that does not occur once, because clocks changed" == row["doubt"]


def test_limits_in_minutes(jobs):
    """TimelimitRaw is in minutes."""
    assert [5400.0, None] == [
        row["limit_seconds"]
        for row in jobs("JobID|End|TimelimitRaw\n1|2026-01-05T00:00:00|90\n2|2026-01-05T00:00:00|UNLIMITED\n")
    ]


@pytest.mark.parametrize(
    ("cells", "reported"),
    [
        ("a|eve|COMPLETED|c", ("a", "eve", "COMPLETED")),
        ("a|b|eve|COMPLETED|c", ("a|b", "eve", "COMPLETED")),
        ("a||eve|COMPLETED|c", ("a|", "eve", "COMPLETED")),
        ("a|eve|CANCELLED by 7|c|d", ("a", "eve", "CANCELLED")),
        ("a|b|eve|COMPLETED|c|d", (None, None, None)),
        ("a|root|COMPLETED|eve|FAILED|c", (None, None, None)),
    ],
)
def test_several_columns_that_may_hold_the_delimiter(jobs, cells, reported):
    """Where the look of the others leaves one way to cut the line, that is it; otherwise the columns between are NULL."""
    (row,) = jobs(f"JobID|End|JobName|User|State|Comment|ExitCode\n7|2026-01-05T00:00:00|{cells}|1:0\n")
    assert reported == (row["job_name"], row["user"], row["job_state"])
    assert ("7", "1:0", date(2026, 1, 5)) == (row["job_id"], row["exit_code"], row["night"])
    assert (
        "its line has more columns than the header, and it is not known which is too many" if None in reported else None
    ) == row["doubt"]


def test_columns_side_by_side_that_may_hold_the_delimiter(jobs, read):
    """No column between them decides which one does; a line that loses its id so is left out."""
    beside = "JobID|JobName|Comment|End\n7|a|b|c|2026-01-05T00:00:00\n"
    assert [(None, date(2026, 1, 5))] == [(row["job_name"], row["night"]) for row in jobs(beside)]
    around = "JobName|JobID|Comment|End\nx|1|2|3|2026-01-05T00:00:00\nx|8|c|2026-01-05T00:00:00\n"
    assert ["8"] == [row["job_id"] for row in jobs(around)]
    assert "Left out, 1 in all: line 2 (it has no job id)." == read(around).doubt


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=30) | st.sampled_from(
    ["a|b", "|", "||x||", "7|7|root|COMPLETED", "\x1b[31mred\x1b[0m", "nul\0nul", "\x85\u2028\x1e", "x" * 4096, "2;3", "a\tb"]
)
MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2090, 1, 1)).map(lambda each: each.replace(microsecond=0))  # noqa: DTZ001
SEVERAL = {
    "JobName": NAMES,
    "User": st.sampled_from(["ada", "", "eve"]),
    "UID": st.integers(0, 2**32 - 1).map(str),
    "Account": st.sampled_from(["phys", ""]),
    "Partition": st.sampled_from(["batch", "gpu"]),
    "QOS": st.sampled_from(["normal", "high"]),
    "State": st.sampled_from(["COMPLETED", "FAILED", "CANCELLED by 7", "TIMEOUT"]),
    "ExitCode": st.sampled_from(["0:0", "1:0", "0:9"]),
    "Submit": MOMENTS.map(datetime.isoformat),
    "Timelimit": st.sampled_from(["1-00:00:00", "UNLIMITED"]),
    "NNodes": st.integers(1, 9000).map(str),
    "NCPUS": st.integers(1, 9000).map(str),
    "Cluster": st.just("c"),
}


@given(
    st.lists(
        st.fixed_dictionaries({"JobIDRaw": st.integers(1, 10**12).map(str), "End": MOMENTS.map(datetime.isoformat), **SEVERAL})
    ),
    st.permutations(["JobIDRaw", "End", *SEVERAL]),
    st.integers(0, len(SEVERAL)),
    st.tuples(st.sampled_from(["|", "\t", ";", "^", "@@", "||"]), st.booleans()),
)
@pytest.mark.proof
def test_whatever_is_written_reads_back(jobs, written, order, left_out, parsable):
    """Jobs written by any delimiter, in any order of any columns, with whatever names, read back as they were."""
    delimiter, ends_with_delimiter = parsable
    dropped = set([name for name in order if name in SEVERAL][:left_out])
    names = [name for name in order if name not in dropped] + [""] * ends_with_delimiter
    lines = [delimiter.join(names), *(delimiter.join(job.get(name, "") for name in names) for job in written)]
    rows = jobs("\n".join(lines), "sacct")

    def reported(job, name):
        return None if name in dropped else job[name] or None

    expected = [
        {
            "job_id": job["JobIDRaw"],
            "job_name": (reported(job, "JobName") or "").replace("\0", "\\x00") or None,
            "user": reported(job, "User"),
            "uid": None if "UID" in dropped else int(job["UID"]),
            "account": reported(job, "Account"),
            "partition": reported(job, "Partition"),
            "qos": reported(job, "QOS"),
            "job_state": (reported(job, "State") or "").partition(" ")[0] or None,
            "exit_code": reported(job, "ExitCode"),
            "submit_at": None if "Submit" in dropped else at(job["Submit"]),
            "end_at": at(job["End"]),
            "limit_seconds": 86400.0 if reported(job, "Timelimit") == "1-00:00:00" else None,
            "node_count": None if "NNodes" in dropped else int(job["NNodes"]),
            "core_count": None if "NCPUS" in dropped else int(job["NCPUS"]),
            "doubt": None,
            "night": at(job["End"]).date(),
        }
        for job in written
    ]
    assert expected == [{name: row[name] for name in expected[0]} for row in rows]


@pytest.mark.proof
def test_a_simulated_facility_reads_back(tmp_path, jobs, steps, read):
    """All jobs and steps of a simulated day are there, and each log lies within its job, on its nodes."""
    simulate(Settings(tmp_path / "out", 200, seed=1, days=1, workers=1), lambda *_: None)
    facility = Facility(tmp_path / "out")
    data = (facility.out / "slurm" / "sacct.txt").read_bytes()
    assert "" == read(data, "sacct").doubt
    rows = {row["job_id"]: row for row in jobs(data)}
    reported = facility.sacct()
    assert [row["JobID"] for row in reported if "." not in row["JobID"]] == list(rows)
    assert [row["JobID"] for row in reported if "." in row["JobID"]] == [f"{row['job_id']}.{row['step']}" for row in steps(data)]
    assert sum(int(row["ElapsedRaw"]) for row in reported if "." not in row["JobID"]) == sum(
        row["run_seconds"] for row in rows.values()
    )
    assert {None} == {row["doubt"] for row in rows.values()}
    assert 200 == len(facility.logs)
    for log in facility.logs:
        job, run = rows[log["job_id"]], read_log(facility.path(log)).job
        assert job["start_at"] <= run.start_at <= run.end_at <= job["end_at"]
        assert (log["user"], run.uid) == (job["user"], job["uid"])
        assert job["node_count"] == len(job["hosts"])
    for step in steps(data):
        assert rows[step["job_id"]]["night"] == step["night"]
