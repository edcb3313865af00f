"""`iomine compare` of two runs; that of nights is tried with `iomine trend`."""

import datetime as dt
import json
from pathlib import Path

import pytest

HOSTILE = "a\x1b[31m\n\u202e<b>'\";"


def _log(log_id: str, hour: int, seconds: float, **values: object) -> dict[str, object]:
    start_at = dt.datetime(2024, 4, 18, hour, tzinfo=dt.UTC)
    times = {"run_seconds": 100.0 + seconds, "io_core_seconds": seconds, "slowest_rank_io_seconds": seconds}
    named = {"log_id": log_id, "job_id": f"{hour}", "uid": 1, "user": "ada", "app": HOSTILE, "nprocs": 1, "lineage_id": "ll"}
    return named | times | {"read_bytes": 0, "write_bytes": 2**30, "start_at": start_at} | values


@pytest.fixture(scope="module")
def runs(warehouse_of) -> Path:
    """Three runs of a lineage, of which the last is slow; two logs of a job."""
    logs = [_log("aaaa", 1, 10.0), _log("bbbb", 2, 11.0), _log("cccc", 3, 41.0)]
    others = [_log(log_id, 9, 1.0, lineage_id=None) for log_id in ("dddd", "eeee")]
    alone = _log("ffff", 10, 1.0, lineage_id="mm")
    others_took = {f"{kind}_part_core_seconds": 0.0 for kind in ("read", "meta", "waiting")}
    parts = [{"log_id": log["log_id"], "write_part_core_seconds": log["io_core_seconds"], **others_took} for log in logs]
    verdict = {"log_id": "cccc", "ruleset": "iomine", "code": "POSIX-102", "level": "high", "state": "fired", "finding": HOSTILE}
    costs = {"cost_core_seconds": 30.0, "charged_core_seconds": 30.0, "trigger_version": "1"}
    shapes = [{"log_id": log["log_id"], "nprocs": 1, "open_count": 1, "file_count": 1} for log in logs]
    return warehouse_of(log=[*logs, *others, alone], io_part=parts, run_shape=shapes, verdict=[verdict | costs])


def test_two_runs_are_explained_in_a_table_that_fits(iomine, runs: Path) -> None:
    """The sentence comes first, then numbers and findings, none wider than 80 signs, and no name steers the terminal."""
    shown = iomine("compare", "aaaa", "cccc", "--warehouse", runs).stdout
    assert shown.startswith("The second run took 31.0 s longer (2 min 21 s instead of 1 min 50 s); 31.0 s of")
    assert "that went into writes" in shown
    assert ["POSIX-102", "new", "-", "30"] == next(line for line in shown.splitlines() if "POSIX-102 " in line).split()[:4]
    assert max(map(len, shown.splitlines())) <= 80
    assert not {"\x1b", "\u202e"} & set(shown)


def test_runs_are_named_by_job_or_by_lineage(iomine, runs: Path) -> None:
    """A job with one log is that log; of a lineage the newest run is held against the usual one."""
    for arguments in (("2", "3"), ("--lineage", "ll"), ("--lineage", "ll", "--user", "ada", "--app", HOSTILE)):
        rows = json.loads(iomine("compare", *arguments, "--format", "json", "--warehouse", runs).stdout)
        numbers = {row["name"]: (row["first"], row["second"]) for row in rows if row["kind"] == "number"}
        assert ((111.0, 141.0), (11.0, 41.0)) == (numbers["run_seconds"], numbers["write_part_core_seconds"])
        assert [("POSIX-102", "new", 30.0)] == [
            (row["name"], row["change"], row["second"]) for row in rows if row["kind"] == "finding"
        ]


@pytest.mark.proof
def test_page_is_written_alone_or_beside_reports(iomine, runs: Path, tmp_path: Path) -> None:
    """Where it lies goes to stdout; alone it needs no other file."""
    alone = tmp_path / "pair.html"
    assert f"{alone}\n" == iomine("compare", "aaaa", "cccc", "--standalone", alone, "--warehouse", runs).stdout
    assert "stylesheet" not in alone.read_text()
    beside = tmp_path / "out" / "bbbb-cccc.html"
    assert f"{beside}\n" == iomine("compare", "--lineage", "ll", "--out", tmp_path / "out", "--warehouse", runs).stdout
    assert 'href="bbbb.html"' in beside.read_text()
    assert "the usual one of the 2 runs before the second" in beside.read_text()
    assert (tmp_path / "out" / "triggers.html").exists()


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        ((), "Name two runs, or two nights, or one lineage with --lineage ID."),
        (("aaaa",), "Name two runs, or two nights, or one lineage with --lineage ID."),
        (("aaaa", "bbbb", "--lineage", "ll"), "--lineage chooses both runs: name no others, or leave it out."),
        (("aaaa", "9"), "Job 9 has 2 logs, and two are compared: name one of dddd, eeee."),
        (("aaaa", "zzzz"), "There is no log or job zzzz"),
        (("--lineage", "zz"), "There is no lineage zz: `iomine sql 'FROM lineages'` lists them."),
        (("--lineage", "lll"), "There is no lineage lll: did you mean ll?"),
        (("--lineage", "mm"), "Lineage mm has a single run, ffff: there is nothing to compare it with."),
        (("--lineage", "ll", "--user", "adda"), "There is no user adda: did you mean ada?"),
        (
            ("--lineage", "ll", "--since", "2100-01-01"),
            "There is no lineage ll among the logs that the options select: `iomine sql",
        ),
        (
            ("aaaa", "bbbb", "--user", "ada"),
            "--user, --app, --account, --since and --until are for two nights or a lineage: leave",
        ),
        (("aaaa", "bbbb", "--by", "app"), "--by and --limit are for two nights: leave them out."),
        (("2024-05-01", "2024-05-02", "--standalone", "x"), "Nights have no page: --standalone and --out are for two runs."),
        (("aaaa", "bbbb", "--standalone", "x", "--out", "y"), "leave one of them out"),
    ],
)
def test_misuse_is_one_sentence(arguments: tuple[str, ...], reported: str, iomine, runs: Path) -> None:
    """What cannot be compared is reported with what could be, and the command ends with 2."""
    answer = iomine("compare", *arguments, "--warehouse", runs)
    assert (2, "", True) == (answer.exit_code, answer.stdout, reported in answer.stderr)
