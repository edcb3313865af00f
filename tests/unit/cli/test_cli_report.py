"""`iomine report`: which logs it takes, and where pages go."""

import re
from pathlib import Path

import pytest

LOGS = [
    {"log_id": log_id, "job_id": job_id, "uid": 1, "user": "ada", "app": "wave", "nprocs": 1, "run_seconds": 1.0}
    for log_id, job_id in (("aa", "1"), ("bb", "2"), ("cc", "2"))
]


@pytest.mark.parametrize(("asked", "written"), [("aa", ["aa"]), ("2", ["job.blue.2", "bb", "cc"])])
def test_pages_of_a_log_or_of_all_logs_of_a_job(asked: str, written: list[str], iomine, warehouse_of, tmp_path: Path) -> None:
    """Each log gets a page and a JSON, a job of several a page, beside what all share; where they are goes to stdout."""
    out = tmp_path / "out"
    answer = iomine("report", asked, "--warehouse", warehouse_of(log=LOGS), "--out", out)
    assert [str(out / f"{stem}.html") for stem in written] == answer.stdout.split()
    expected = {f"{stem}.{ending}" for stem in written for ending in ("html", "json") if ending == "html" or "job" not in stem}
    expected |= {"assets", "triggers.html", "index.html"}
    assert expected == {path.name for path in out.iterdir()}


@pytest.mark.parametrize("asked", ["1", "2"])
def test_standalone_page_needs_no_other_file(asked: str, iomine, warehouse_of, tmp_path: Path) -> None:
    """That of a log or of a job holds its style, and links to nothing."""
    file = tmp_path / "wave.html"
    answer = iomine("report", asked, "--warehouse", warehouse_of(log=LOGS), "--standalone", file)
    assert answer.stdout.split() == [str(file)]
    html = file.read_text()
    assert "<style>" in html
    assert "stylesheet" not in html
    assert "triggers.html" not in html
    assert "index.html" not in html


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("zz",), "There is no log or job zz"),
        (("aa", "--standalone", "x.html", "--out", "y"), "leave one of them out"),
    ],
)
def test_misuse_is_one_sentence(arguments: tuple[str, ...], said: str, iomine, warehouse_of) -> None:
    """What cannot be reported is an error that says what to do, and the command ends with 2."""
    answer = iomine("report", *arguments, "--warehouse", warehouse_of(log=LOGS))
    assert (2, True) == (answer.exit_code, said in answer.stderr)


@pytest.mark.parametrize("arguments", [("report", "aa", "--standalone"), ("metrics", "--out")])
def test_an_error_names_the_file_that_was_asked_for(arguments: tuple[str, ...], iomine, warehouse_of, tmp_path: Path) -> None:
    """A file that cannot be written is called by the name that was given, not by that of a hidden file."""
    file = tmp_path / "absent" / "a.html"
    answer = iomine(*arguments, file, "--warehouse", warehouse_of(log=LOGS))
    assert (1, f"{file} cannot be written (No such file or directory): name another place.\n") == (
        answer.exit_code,
        answer.stderr,
    )


def test_a_folder_lists_all_reports_that_were_written_into_it(iomine, warehouse_of, tmp_path: Path) -> None:
    """By each call, of logs without findings too; a job's page is led to from its logs, and no other file is listed."""
    out, warehouse = tmp_path / "out", warehouse_of(log=LOGS)
    for asked in ("aa", "2"):
        iomine("report", asked, "--warehouse", warehouse, "--out", out)
    index = (out / "index.html").read_text()
    assert ["aa.html", "bb.html", "job.blue.2.html", "cc.html", "job.blue.2.html"] == re.findall('<a href="([abcj][^"]+)"', index)
    assert "All reports in this folder, by user." in index
