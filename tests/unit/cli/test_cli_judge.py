"""`iomine judge`: the whole history under other thresholds, compared or committed."""

import datetime as dt
import hashlib
import json
import os
import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from catalogs import committed, staged
from sweeping import column, judge_by, rows

from iomine.lake import LakeWriter, Warehouse
from iomine.pipeline.judging.judge import judge
from iomine.pipeline.publish import publish
from iomine.pipeline.sweep import Settings, begun
from iomine.schema import TABLES
from iomine.triggers import TRIGGERS

pytestmark = pytest.mark.proof

APRIL, MAY = dt.date(2024, 4, 18), dt.date(2024, 5, 1)
# Whose log it is, where it ran and when, and how many of its 10,000 writes were small; None where none is known.
LOGS = {
    "a1": ("ann", "solver", "blue", APRIL, 2000),
    "a2": ("ann", "solver", "blue", MAY, 3000),
    "a3": ("ann", "solver", "red", APRIL, 9000),
    "b1": ("bob", "mesher", "blue", MAY, 2500),
    "b2": ("bob", "mesher", "red", MAY, 500),
    "c1": ("eve", "solver", "red", MAY, None),
}
FIRED = {"a1", "a2", "a3", "b1"}
ALL_VERDICTS = "SELECT * FROM core.verdict ORDER BY ALL"
STATES = "SELECT log_id, state FROM verdicts WHERE code = 'P06'"


@pytest.fixture(scope="module", autouse=True)
def _few_triggers() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        judge_by(patch, "P06", "POSIX-102")
        yield


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of two nights of two machines, judged by the thresholds that ship."""
    warehouse = Warehouse(tmp_path_factory.mktemp("judged"))
    rows_of: dict[str, dict[tuple[str, dt.date], list[dict[str, object]]]] = {"log": {}, "module": {}, "posix_file": {}}
    for number, (log_id, (user, app, cluster, night, small)) in enumerate(LOGS.items()):
        key = {"log_id": log_id}
        for table, row in {
            "log": {"user": user, "uid": number // 3, "app": app},
            "module": {"module": "POSIX", "state": "read", "is_partial": False},
            "posix_file": {"file_id": 1, "rank": 0, **_writes(small)},
        }.items():
            rows_of[table].setdefault((cluster, night), []).append(key | row)
    swept = [staged(warehouse, table, rows, *of) for table, parts in rows_of.items() for of, rows in parts.items()]
    # With the features that a sweep leaves: to work them out anew takes most of the time that judging again takes without.
    worked_out = judge((), warehouse.staging, swept, TRIGGERS).files
    committed(warehouse, [*swept, *worked_out], found_count=len(LOGS))
    return warehouse.root


def _writes(small: int | None) -> dict[str, int | None]:
    counts = dict.fromkeys(name for name in TABLES["posix_file"].columns if re.match("(read|write)_size_", name))
    if small is None:
        return {**counts, "write_count": None}
    return {
        **dict.fromkeys(counts, 0),
        "write_size_0_100_count": small,
        "write_count": 10_000,
        "read_count": 0,
        "write_seconds": 30.0,
        "read_seconds": 0.0,
    }


@pytest.fixture
def again(judged: Path, tmp_path: Path) -> Path:
    """The same, in a copy of its own."""
    warehouse = Warehouse(shutil.copytree(judged, tmp_path / "warehouse"))
    publish(warehouse)
    return warehouse.root


def _replace_verdicts(warehouse: Warehouse, verdicts: list[dict[str, object]], cluster: str, night: dt.date) -> None:
    """As another version of the program might have left them."""
    committed(warehouse, [staged(warehouse, "verdict", verdicts, cluster, night)], "other")


def changes(answer) -> list[tuple[object, ...]]:
    """What a comparison in JSON says, without the user's number."""
    assert 0 == answer.exit_code, answer.stderr
    names = ("code", "user", "app", "now_fired_count", "no_longer_fired_count", "other_count")
    return [tuple(row[name] for name in names) for row in json.loads(answer.stdout)]


def fired(warehouse: Path, code: str = "P06") -> set[str]:
    return set(column(warehouse, f"SELECT log_id FROM verdicts WHERE code = '{code}' AND state = 'fired'"))


def digests(folder: Path) -> dict[str, tuple[str, int]]:
    """Bytes and time of every file."""
    return {
        str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_comparison_shows_what_would_change_and_whose(iomine, again: Path) -> None:
    """A higher threshold clears three logs of two users, one row each, those with most first; nothing else is shown."""
    assert FIRED == fired(again)
    answer = iomine("judge", "--set", "P06.small_write_ratio=0.3", "--compare", "--format", "json", "--warehouse", again)
    assert [("P06", "ann", "solver", 0, 2, 0), ("P06", "bob", "mesher", 0, 1, 0)] == changes(answer)


def test_comparison_separates_ways_of_changing(iomine, again: Path) -> None:
    """Under a lower threshold a clear log is now fired; what was stored as unknown and is now clear is another change."""
    answer = iomine(
        "judge",
        "--set",
        "P06.small_write_ratio=0.01",
        "--set",
        "P06.small_write_count=100",
        "--compare",
        "--format",
        "json",
        "--warehouse",
        again,
    )
    assert [("P06", "bob", "mesher", 1, 0, 0)] == changes(answer)

    here = "cluster = 'red' AND night = '2024-05-01'"
    columns = ", ".join(TABLES["verdict"].columns)
    stored = rows(again, f"SELECT {columns} FROM core.verdict WHERE {here} AND code <> 'P06'")
    _replace_verdicts(
        Warehouse(again), [*stored, {**stored[0], "log_id": "b2", "code": "GONE-001", "state": "fired"}], "red", MAY
    )
    answer = iomine("judge", "--compare", "--format", "json", "--warehouse", again)
    assert [("GONE-001", "bob", "mesher", 0, 1, 0), ("P06", "bob", "mesher", 0, 0, 1)] == changes(answer)


def test_a_setting_is_set_like_a_threshold(iomine, again: Path) -> None:
    """Under a smaller size that counts as small, no write is, so four logs of two users lose that finding."""
    assert FIRED == fired(again, "POSIX-102")
    answer = iomine("judge", "--set", "POSIX-102.small_write_bytes=50", "--compare", "--format", "json", "--warehouse", again)
    assert [("POSIX-102", "ann", "solver", 0, 3, 0), ("POSIX-102", "bob", "mesher", 0, 1, 0)] == changes(answer)


def test_comparison_leaves_the_warehouse_as_it_is(iomine, again: Path) -> None:
    """Not a byte of it changes and no file is added, and the answer to a person is a table on stdout."""
    before = digests(again)
    answer = iomine("judge", "--set", "P06.small_write_ratio=0.3", "--compare", "--warehouse", again)
    assert 0 == answer.exit_code
    assert ["code", "user", "uid", "app", "now_fired_count", "no_longer_fired_count", "other_count"] == answer.stdout.split("\n")[
        0
    ].split()
    assert 2 + 2 == len(answer.stdout.splitlines())
    assert before == digests(again)


def test_comparison_waits_for_no_sweep(iomine, again: Path) -> None:
    """While another is writing, and has committed some tables already, the last published state is compared."""
    warehouse = Warehouse(again)
    with warehouse.locked():
        lake = LakeWriter(warehouse.lake, warehouse.staging)
        lake.commit("verdict", [staged(warehouse, "verdict", [{"log_id": "a1"}], "blue", APRIL)], "unfinished")
        answer = iomine("judge", "--compare", "--format", "json", "--warehouse", again)
    assert [] == changes(answer)


@pytest.mark.proof
@pytest.mark.sample
def test_committed_bars_are_what_sql_answers(iomine, again: Path) -> None:
    """Three of all verdicts change, `iomine sql` shows their new state with the threshold in force, and no sweep is made up."""
    sweeps = rows(again, "SELECT * FROM sweeps")
    answer = iomine("judge", "--set", "P06.small_write_ratio=0.3", "--warehouse", again)
    assert 0 == answer.exit_code, answer.stderr
    assert f"3 of {len(LOGS) * len(TRIGGERS)} verdicts changed, on 6 logs of 4 nights, in " == re.sub(
        r"[^ ]+ s\n", "", answer.stdout
    )
    assert f"Sweeps judge by {again}/thresholds.toml: write thresholds there to keep them." == answer.stderr.splitlines()[-1]

    reported = iomine(
        "sql", "SELECT log_id, state, bar FROM verdicts WHERE code = 'P06'", "--format", "json", "--warehouse", again
    )
    clear, unknown = dict.fromkeys(["a1", "a2", "b1", "b2"], "clear"), {"c1": "unknown"}
    assert clear | unknown | {"a3": "fired"} == {row["log_id"]: row["state"] for row in json.loads(reported.stdout)}
    assert {0.3} == {row["bar"] for row in json.loads(reported.stdout)}
    assert sweeps == rows(again, "SELECT * FROM sweeps")
    assert not (again / "staging").exists()


def test_views_work_with_the_settings_that_verdicts_were_judged_by(iomine, again: Path) -> None:
    """What counts as small is the same in a view as in the verdicts, whichever client asks."""
    small = "SELECT sum(small_count)::BIGINT FROM iomine.file_requests WHERE op = 'write' AND layer = 'posix'"
    assert [17_000] == column(again, small)
    iomine("judge", "--set", "POSIX-102.small_write_bytes=50", "--warehouse", again)
    assert [0] == column(again, small)
    with duckdb.connect(again / "iomine.duckdb", read_only=True) as other:
        assert [(0,)] == other.sql(small).fetchall()


def test_judging_again_without_bars_gives_the_verdicts_back(iomine, again: Path) -> None:
    """Under the thresholds that ship, every row is what it was at first; a second time nothing changes."""
    before = rows(again, ALL_VERDICTS)
    iomine("judge", "--set", "P06.small_write_ratio=0.3", "--warehouse", again)
    assert before != rows(again, ALL_VERDICTS)

    counts = [iomine("judge", "--warehouse", again).stdout.partition(" of ")[0] for _ in range(2)]
    assert ["3", "0"] == counts
    assert before == rows(again, ALL_VERDICTS)


def test_one_ruleset_leaves_the_verdicts_of_others(iomine, again: Path) -> None:
    """Judged by ruleset iomine, what the other holds stays, though the site's thresholds would change it, and is not compared."""
    before = rows(again, ALL_VERDICTS)
    (again / "thresholds.toml").write_text("[P06]\nsmall_write_ratio = 0.3\n")
    other = iomine("judge", "--ruleset", "iomine", "--compare", "--format", "json", "--warehouse", again)
    assert [] == changes(other)
    assert 0 == iomine("judge", "--ruleset", "iomine", "--warehouse", again).exit_code
    assert before == rows(again, ALL_VERDICTS)

    assert 0 == iomine("judge", "--ruleset", "drishti", "--warehouse", again).exit_code
    assert {"a3"} == fired(again)
    assert len(before) == len(rows(again, ALL_VERDICTS))


def test_thresholds_of_the_site_stand_until_others_are_given(iomine, again: Path, tmp_path: Path) -> None:
    """`thresholds.toml` in the warehouse counts; a file that is named counts instead, and an assignment over either."""
    (again / "thresholds.toml").write_text("[P06]\nsmall_write_ratio = 0.3\n")
    (tmp_path / "own.toml").write_text("[P06]\nsmall_write_ratio = 0.22\n")
    compared = ("judge", "--compare", "--format", "json", "--warehouse", again)
    assert 3 == sum(row[4] for row in changes(iomine(*compared)))
    assert 1 == sum(row[4] for row in changes(iomine(*compared, "--thresholds", tmp_path / "own.toml")))
    assert 2 == sum(row[4] for row in changes(iomine(*compared, "--set", "P06.small_write_ratio=0.27")))
    assert 4 == sum(
        row[4] for row in changes(iomine(*compared, "--thresholds", tmp_path / "own.toml", "--set", "P06.small_write_ratio=1"))
    )


@pytest.mark.sample
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--set", "P06.small_write_raito=0.3"], "P06 has no threshold small_write_raito: did you mean small_write_ratio?"),
        (
            ["--set", "P06.small_write_ratio=7"],
            "The threshold P06.small_write_ratio is a ratio: give a number from 0 to 1, not 7.",
        ),
        (
            ["--set", "P06.small_write_count=-1"],
            "The threshold P06.small_write_count cannot be negative: give 0 or more, not -1.",
        ),
        (["--set", "P06.small_write_ratio=few"], "The threshold P06.small_write_ratio must be a number, not 'few'."),
        (["--set", "P066.x=1"], "There is no trigger P066: did you mean P06?"),
        (["--set", "P06"], "'P06' sets no threshold: write CODE.metric=VALUE, such as POSIX-101.small_read_ratio=0.2."),
        (["--ruleset", "drishty"], "There is no ruleset drishty: choose drishti or iomine."),
        (
            ["--ruleset", "iomine", "--set", "P06.small_write_ratio=0.3"],
            "P06 is of ruleset drishti, which --ruleset iomine leaves out.",
        ),
        (["--format", "csv"], "--format and --json are for a comparison: add --compare, or leave them out."),
        (
            ["--thresholds", "/nowhere/b.toml"],
            "The thresholds in /nowhere/b.toml cannot be read (No such file or directory): name a file that can.",
        ),
    ],
)
def test_misuse_is_one_sentence(iomine, judged: Path, arguments: list[str], sentence: str) -> None:
    """What is wrong ends with 2 and names what is right, before anything is touched."""
    before = digests(judged)
    answer = iomine("judge", *arguments, "--warehouse", judged)
    assert (2, f"{sentence}\n", "") == (answer.exit_code, answer.stderr, answer.stdout)
    assert before == digests(judged)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"[P06]\nsmall_write_ratio = 7", "The threshold P06.small_write_ratio is a ratio: give a number from 0 to 1, not 7."),
        (b"[P066]\nx = 1", "There is no trigger P066: did you mean P06?"),
    ],
)
def test_wrong_thresholds_of_the_site_stop_sweeps_too(iomine, tmp_path: Path, content: bytes, sentence: str) -> None:
    """The sentence names the file; a sweep reports it before it begins, on the command line and in a flow."""
    (tmp_path / "thresholds.toml").write_bytes(content)
    answer = iomine("sweep", tmp_path, "--warehouse", tmp_path)
    assert (2, f"{tmp_path}/thresholds.toml: {sentence}\n") == (answer.exit_code, answer.stderr)
    with pytest.raises(Exception, match=re.escape(sentence)), begun(Settings((tmp_path,), tmp_path)):
        pass
    assert [tmp_path / "thresholds.toml"] == list(tmp_path.iterdir())


@pytest.mark.sample
def test_bars_that_are_no_text_are_refused(iomine, again: Path, tmp_path: Path) -> None:
    """A file in another encoding is reported as such."""
    (tmp_path / "b.toml").write_bytes(b"# \xff")
    answer = iomine("judge", "--thresholds", tmp_path / "b.toml", "--warehouse", again)
    assert (2, f"The thresholds in {tmp_path}/b.toml are not UTF-8 text: save the file as UTF-8.\n") == (
        answer.exit_code,
        answer.stderr,
    )


@pytest.mark.sample
def test_judging_waits_for_nobody(iomine, again: Path) -> None:
    """While a sweep is writing, it ends with 1 and names the holder of the lock."""
    with Warehouse(again).locked():
        answer = iomine("judge", "--warehouse", again)
    assert 1 == answer.exit_code
    assert answer.stderr.startswith(f"Another sweep is writing to {again} (process {os.getpid()} on {socket.gethostname()}")


@pytest.mark.sample
@pytest.mark.parametrize("arguments", [[], ["--compare"]])
def test_warehouse_that_is_not_there_is_reported(iomine, tmp_path: Path, arguments: list[str]) -> None:
    """In the words of the other commands, and without making one."""
    answer = iomine("judge", *arguments, "--warehouse", tmp_path / "nowhere")
    sentence = f"There is no warehouse at {tmp_path}/nowhere: run `iomine sweep` first, or name another with --warehouse.\n"
    assert (1, sentence) == (answer.exit_code, answer.stderr)
    assert not (tmp_path / "nowhere").exists()


def test_what_a_dead_sweep_left_is_rolled_back_first(iomine, again: Path) -> None:
    """Tables ahead of the last committed sweep do not find their way into what is published."""
    warehouse = Warehouse(again)
    before = rows(again, "SELECT * FROM logs ORDER BY ALL")
    stray = staged(warehouse, "log", [{"log_id": "stray", "user": "eve"}], "blue", APRIL)
    LakeWriter(warehouse.lake, warehouse.staging).commit("log", [stray], "dead")

    assert 0 == iomine("judge", "--warehouse", again).exit_code
    assert before == rows(again, "SELECT * FROM logs ORDER BY ALL")


def test_judging_that_fails_half_way_changes_nothing(iomine, again: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the verdicts committed but not that they belong to the rest, readers see what was; the next run finishes the work."""
    before = rows(again, ALL_VERDICTS)
    whole = LakeWriter.commit

    def failing(lake: LakeWriter, name: str, *given: object, **named: object) -> None:
        if name == "sweep":
            raise OSError(28, "No space left on device")
        whole(lake, name, *given, **named)

    judge = ("judge", "--set", "P06.small_write_ratio=0.3", "--warehouse", again)
    with monkeypatch.context() as full:
        full.setattr(LakeWriter, "commit", failing)
        answer = iomine(*judge)
    assert 1 == answer.exit_code
    assert f"The disk that holds {again} is full: " in answer.stderr
    publish(Warehouse(again))
    assert before == rows(again, ALL_VERDICTS)

    assert iomine(*judge).stdout.startswith("3 of ")
    assert {"a3"} == fired(again)


def test_old_names_are_read(iomine, again: Path, tmp_path: Path) -> None:
    """`bars.toml` and `--bars` are what `thresholds.toml` and `--thresholds` were called; two files are refused."""
    (again / "bars.toml").write_text("[P06]\nsmall_write_ratio = 0.3\n")
    (tmp_path / "own.toml").write_text("[P06]\nsmall_write_ratio = 0.22\n")
    compared = ("judge", "--compare", "--format", "json", "--warehouse", again)
    assert 3 == sum(row[4] for row in changes(iomine(*compared)))
    assert 1 == sum(row[4] for row in changes(iomine(*compared, "--bars", tmp_path / "own.toml")))
    (again / "thresholds.toml").write_text("")
    answer = iomine(*compared)
    message = f"{again} has thresholds.toml and bars.toml: put all thresholds in thresholds.toml, delete bars.toml.\n"
    assert (2, message) == (answer.exit_code, answer.stderr)


def test_sweep_judges_its_nights_by_the_thresholds_of_the_site(again: Path) -> None:
    """What a sweep says of a night's logs is held to `thresholds.toml`."""
    (again / "thresholds.toml").write_text("[P06]\nsmall_write_ratio = 0.3\n")
    with begun(Settings((again,), again, "blue")) as sweep:
        merged = [staged(sweep.warehouse, "log", [{"log_id": "a1"}], "blue", APRIL)]
        files = judge(sweep.lake.snapshot.files, sweep.staging, merged, sweep.triggers).files
        (file,) = [file for file in files if file.table == "verdict"]
        verdicts = pq.read_table(file.path, columns=["state", "bar"], filters=[("code", "=", "P06")]).to_pylist()
    assert [{"state": "clear", "bar": 0.3}] == verdicts
