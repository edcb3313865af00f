"""Options that narrow `worst`, `trend`, `compare` and `show` to people, programs, accounts, machines and nights."""

import datetime as dt
import json
import re
import sys
from pathlib import Path

import pytest
from rich.text import Text

from iomine.cli.app import build_app
from iomine.cli.options import night_of

FIRST, LAST = dt.date(2024, 4, 18), dt.date(2024, 5, 1)
HOSTILE = "a'; DROP TABLE log; --\x1b[31m\u202e"
KEYS = ("log_id", "user", "uid", "app", "account", "cluster", "night")
RUNS = [
    dict(zip(KEYS, values, strict=True))
    for values in (
        ("aa00000000000001", "ann", 7, "solver", "phys", "blue", FIRST),
        ("aa00000000000002", "ann", 7, "post", "phys", "blue", LAST),
        ("bb00000000000003", "bob", 8, "solver", "chem", "red", LAST),
        ("cc00000000000004", HOSTILE, 9, HOSTILE, None, "blue", LAST),
    )
]


def _start(night: dt.date) -> dt.datetime:
    return dt.datetime.combine(night, dt.time(1), dt.UTC)


@pytest.fixture(scope="module")
def site(warehouse_of) -> Path:
    """Four runs of three users on two nights, with their sums; one user has a hostile name."""
    sums = {
        "log_count": 1,
        "finding_count": 2,
        "io_core_seconds": 7200.0,
        "timed_core_seconds": 14400.0,
        "cost_core_seconds": 60.0,
    }
    sums |= {"run_core_seconds": 14400.0, "read_bytes": 2**34, "write_bytes": 0}
    return warehouse_of(
        app_night=[{name: run[name] for name in KEYS[1:]} | sums for run in RUNS],
        log=[
            {name: run[name] for name in KEYS if name != "account"}
            | {"job_id": f"job{run['uid']}", "start_at": _start(run["night"]), "run_seconds": 90.0, "read_bytes": 2**34}
            for run in RUNS
        ],
        job=[{name: run[name] for name in ("account", "cluster", "night")} | {"job_id": f"job{run['uid']}"} for run in RUNS[::2]],
        verdict=[
            {name: run[name] for name in ("log_id", "cluster", "night")}
            | {"ruleset": "iomine", "code": "POSIX-101", "level": "high", "state": "fired", "charged_core_seconds": 60.0}
            for run in RUNS
        ],
    )


CHOICES = [
    (["--user", "ann"], {1, 2}),
    (["--user", "8"], {3}),
    (["--app", "solver"], {1, 3}),
    (["--account", "phys"], {1, 2}),
    (["--cluster", "red"], {3}),
    (["--since", "2024-04-19"], {2, 3, 4}),
    (["--until", "2024-04-18"], {1}),
    (["--user", "ann", "--since", "2024-05-01", "--app", "post"], {2}),
    (["--user", HOSTILE, "--app", HOSTILE], {4}),
]


@pytest.mark.parametrize(("options", "runs"), CHOICES)
def test_options_choose_the_same_everywhere(iomine, site: Path, options: list[str], runs: set[int]) -> None:
    """Rankings, trends of all and of a trigger, and lists of logs are about the same runs."""
    chosen = [run for number, run in enumerate(RUNS, 1) if number in runs]

    def rows(*arguments: str) -> list[dict]:
        answer = iomine(*arguments, *options, "--json", "--warehouse", site)
        assert (0, "") == (answer.exit_code, answer.stderr)
        return json.loads(answer.stdout)

    assert {(run["uid"], run["app"]) for run in chosen} == {(row["uid"], row["app"]) for row in rows("worst")}
    assert {run["log_id"] for run in chosen} == {row["log_id"] for row in rows("show")}
    for trend in (["trend"], ["trend", "--code", "POSIX-101"]):
        assert len(chosen) == sum(row["log_count"] for row in rows(*trend))


@pytest.mark.parametrize(("options", "runs"), CHOICES)
def test_options_choose_what_is_compared(iomine, site: Path, options: list[str], runs: set[int]) -> None:
    """Nights are compared by the runs that are left of both; where one has none left, that is said, and exit is 2."""
    chosen = [run for number, run in enumerate(RUNS, 1) if number in runs]
    answer = iomine("compare", FIRST, LAST, *options, "--json", "--warehouse", site)
    if {run["night"] for run in chosen} != {FIRST, LAST}:
        assert (2, "") == (answer.exit_code, answer.stdout)
        assert re.match(r"There are no logs of|2024-0\d-\d\d is (before --since|after --until)", answer.stderr)
        return
    # No program of these ran in both nights.
    expected = {("new" if run["night"] == LAST else "not run", run["user"], run["app"]) for run in chosen}
    assert expected == {(row["change"], row["user"], row["app"]) for row in json.loads(answer.stdout)}


@pytest.mark.parametrize("command", ["worst", "trend", "show", f"compare {FIRST} {LAST}"])
@pytest.mark.parametrize(
    ("options", "reported"),
    [
        (["--user", "anm"], "There is no user anm: did you mean ann?"),
        (
            ["--user", "zzz"],
            "There is no user zzz: the warehouse has a'; DROP TABLE log; --\\x1b[31m\\u202e, ann, bob, 7, 8 and 1 more",
        ),
        (["--app", "solvr"], "There is no program solvr: did you mean solver?"),
        (["--account", "fys"], "There is no account fys: did you mean phys?"),
        (["--cluster", "rad"], "There is no cluster rad: did you mean red?"),
        (["--user", "' OR 1=1 --"], "There is no user ' OR 1=1 --: "),
        (
            ["--since", "2024-05-02", "--until", "2024-05-01"],
            "--until 2024-05-01 is before --since 2024-05-02: change one of them.",
        ),
        (["--since", "soon"], "write 2026-11-01, yesterday, or 7d"),
    ],
)
def test_what_is_not_known_is_misuse(iomine, site: Path, command: str, options: list[str], reported: str) -> None:
    """A name that the warehouse does not know ends with 2 and the nearest that it does, and nothing on stdout."""
    answer = iomine(*command.split(), *options, "--warehouse", site)
    assert (2, "") == (answer.exit_code, answer.stdout)
    assert reported in " ".join(answer.stderr.replace("│", "").split())


@pytest.mark.parametrize("command", ["worst", "trend", "show"])
def test_empty_answers_say_why(iomine, site: Path, warehouse: Path, command: str) -> None:
    """No log at all, none of these nights, or none of all that is named: each has its sentence, and is no failure."""

    def said(*options: str, of: Path = site) -> str:
        answer = iomine(command, *options, "--json", "--warehouse", of)
        assert (0, "[]\n") == (answer.exit_code, answer.stdout)
        return answer.stderr

    assert "The warehouse has no logs: `iomine sweep PATH` reads some.\n" == said(of=warehouse)
    assert "No log is of user ann and cluster red at once.\n" == said("--user", "ann", "--cluster", "red")
    late = "No log of user ann is of a night from 2024-05-02 on: the existing ones are of 2024-04-18 to 2024-05-01.\n"
    assert late == said("--user", "ann", "--since", "2024-05-02")
    assert "No log is of a night up to 2020-01-01: " in said("--until", "2020-01-01")


def test_nights_may_be_written_as_people_say_them() -> None:
    """Days are counted back from today, UTC."""
    today = dt.datetime.now(dt.UTC).date()
    days = [(today - night_of(text)).days for text in ("today", "yesterday", "7d", "0d")]
    # The date may change while this runs.
    assert days in ([0, 1, 7, 0], [-1, 0, 6, -1])
    assert dt.date(2024, 2, 29) == night_of("2024-02-29")
    for text in ("", "d", "-1d", "7 d", "2024-02-30", "999999999d", "yesterday "):
        with pytest.raises(ValueError, match="is not a night: write"):
            night_of(text)


def _on_terminal(columns: int, capsys, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> tuple[list[str], str]:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with pytest.raises(SystemExit):
        build_app()([str(argument) for argument in arguments])
    shown = capsys.readouterr()
    return Text.from_ansi(shown.out).plain.splitlines(), shown.err


@pytest.mark.parametrize("command", ["worst", "show"])
def test_terminals_get_units_and_what_matters(site: Path, capsys, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """Numbers have units; on a narrow terminal the columns that matter least go, named, and no line is too long."""
    wide, said = _on_terminal(300, capsys, monkeypatch, command, "--user", "ann", "--warehouse", site)
    assert {"60.0", "core-s", "16.0", "GiB"} <= set(" ".join(wide).split())
    assert "" == said
    narrow, said = _on_terminal(75, capsys, monkeypatch, command, "--user", HOSTILE, "--warehouse", site)
    assert max(map(len, narrow)) <= 75
    assert "read_bytes" in said
    assert {"user", "app"} <= set(narrow[0].split())
    assert "…" not in "".join(narrow)
    assert "\x1b[31m" not in "".join(narrow)
    exact = _on_terminal(60, capsys, monkeypatch, command, "--user", "ann", "--json", "--warehouse", site)
    assert f'"read_bytes": {2**34}' in "".join(exact[0])


def test_terminals_show_what_nights_cost_before_all_else(site: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of nights side by side, costs stay on a narrow terminal, with their unit; ids of users go."""
    lines, said = _on_terminal(80, capsys, monkeypatch, "compare", FIRST, LAST, "--warehouse", site)
    assert max(map(len, lines)) <= 80
    assert "cost_core_seconds" in lines[0]
    assert "core-s" in " ".join(lines)
    assert "night_count" in said


def test_long_names_are_whole_on_a_terminal(warehouse_of, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program's name that is longer than a column goes on in the next line."""
    name = "".join(f"{number:03}" for number in range(60))
    place = warehouse_of(app_night=[{"user": "ann", "app": name, "log_count": 1}])
    lines, _ = _on_terminal(100, capsys, monkeypatch, "worst", "--warehouse", place)
    assert name == "".join(word for line in lines[2:] for word in line.split() if word.isdecimal() and len(word) > 10)


def test_a_log_is_not_narrowed(iomine, site: Path) -> None:
    """Who names a log and a user is asked to name one of both."""
    answer = iomine("show", "aa00000000000001", "--user", "bob", "--warehouse", site)
    assert 2 == answer.exit_code
    assert "--until are for a list of logs: leave them out" in answer.stderr


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        (("--user", "bob"), f"There are no logs of user bob of {FIRST}: the nearest that has some is {LAST}.\n"),
        (
            ("--user", "ann", "--cluster", "red"),
            f"There are no logs of user ann and cluster red of {FIRST}: no other night has any.\n",
        ),
        (("--since", "2024-04-19"), f"{FIRST} is before --since 2024-04-19: change one of them.\n"),
        (("--until", "2024-04-18"), f"{LAST} is after --until 2024-04-18: change one of them.\n"),
    ],
)
def test_nights_without_what_is_named_are_not_compared(iomine, site: Path, options: tuple[str, ...], reported: str) -> None:
    """The sentence names whose logs are missing, and where some are."""
    assert reported == iomine("compare", FIRST, LAST, *options, "--warehouse", site).stderr
