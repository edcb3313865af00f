"""`iomine trend` and `iomine compare`: nights after each other, and nights beside each other."""

import datetime as dt
import json
from pathlib import Path

import pytest

from iomine.views.query import ask

FIRST, SECOND, LAST = dt.date(2024, 5, 1), dt.date(2024, 5, 2), dt.date(2024, 5, 4)


def _log(log_id: str, night: dt.date, user: str = "ann", **values: object) -> dict[str, object]:
    usual = {"uid": ord(user[0]), "app": "solver", "nprocs": 2, "run_seconds": 50.0, "io_core_seconds": 20.0}
    return usual | {"log_id": log_id, "night": night, "user": user} | values


def _verdict(
    log_id: str, night: dt.date, code: str, cost: float | None, state: str = "fired", **values: object
) -> dict[str, object]:
    usual = {"ruleset": "iomine", "level": "high", "charged_core_seconds": cost, "is_facility_cause": code == "POSIX-301"}
    return usual | {"log_id": log_id, "night": night, "code": code, "cost_core_seconds": cost, "state": state} | values


@pytest.fixture(scope="module")
def nights(warehouse_of) -> Path:
    """Three nights with a gap; on the first ann, bob, cyd and dan have findings, on the last some of them and eve."""
    tables = {
        "log": [
            *(_log(f"{user[0]}{night.day}", night, user) for user in ("ann", "bob", "cyd", "dan") for night in (FIRST, LAST)),
            _log("f1", FIRST, "fay"),
            _log("e4", LAST, "eve"),
            _log("b2", SECOND, "bob", io_core_seconds=None),
            _log("r1", FIRST, "rob", cluster="red"),
        ],
        "verdict": [
            # More, though of two findings about the same requests one is charged with what the other leaves.
            _verdict("a1", FIRST, "POSIX-101", 10.0),
            _verdict("a4", LAST, "POSIX-101", 15.0),
            _verdict("a4", LAST, "POSIX-301", 15.0, charged_core_seconds=5.0),
            # Gone, seen to be clear.
            _verdict("b1", FIRST, "POSIX-101", 8.0),
            _verdict("b2", SECOND, "POSIX-101", 6.0),
            _verdict("b4", LAST, "POSIX-101", None, "clear"),
            # No longer assessable.
            _verdict("c1", FIRST, "POSIX-101", 4.0),
            _verdict("c4", LAST, "POSIX-101", None, "unknown"),
            # No longer of any kind that it asks about.
            _verdict("a4", LAST, "MPIIO-101", None, "not applicable"),
            # Hardly any change.
            _verdict("d1", FIRST, "POSIX-101", 5.0),
            _verdict("d4", LAST, "POSIX-101", 5.4),
            # Not run again, and run for the first time.
            _verdict("f1", FIRST, "POSIX-101", 2.0),
            _verdict("e4", LAST, "POSIX-101", None),
            # None of these is a finding.
            _verdict("e4", LAST, "POSIX-102", 9.0, level="info", charged_core_seconds=None),
            _verdict("e4", LAST, "P05", 9.0, ruleset="drishti", charged_core_seconds=None),
            _verdict("r1", FIRST, "POSIX-101", 1.0, cluster="red"),
        ],
    }
    database = warehouse_of(**tables) / "iomine.duckdb"
    return warehouse_of(**tables, app_night=ask(database, "FROM feature.app_night").to_pylist())


def _json(iomine, *arguments: object) -> list[dict[str, object]]:
    answer = iomine(*arguments, "--format", "json")
    assert (0, "") == (answer.exit_code, answer.stderr)
    return json.loads(answer.stdout)


def test_nights_are_summed_up(iomine, nights: Path) -> None:
    """Each night has its logs, share of I/O, findings, their cost, never more than the I/O of a log, and the facility's part."""
    names = (
        "night",
        "log_count",
        "io_core_seconds",
        "io_ratio",
        "finding_count",
        "cost_core_seconds",
        "facility_cost_core_seconds",
    )
    expected = [
        ("2024-05-01", 6, 120.0, 0.2, 6, 30.0, 0.0),
        ("2024-05-02", 1, None, None, 1, 6.0, 0.0),
        ("2024-05-04", 5, 100.0, 0.2, 4, 25.4, 5.0),
    ]
    assert [dict(zip(names, row, strict=True)) for row in expected] == _json(iomine, "trend", "--warehouse", nights)


def test_one_trigger_has_a_trend(iomine, nights: Path) -> None:
    """Of one trigger the nights say how many logs it fired on, was clear of, did not apply to and could not assess."""
    names = ("night", "log_count", "fired_count", "clear_count", "not_applicable_count", "unknown_count", "cost_core_seconds")
    expected = [("2024-05-02", 1, 1, 0, 0, 0, 6.0), ("2024-05-04", 5, 3, 1, 0, 1, 20.4)]
    asked = ("trend", "--code", "posix-101", "--since", "2024-05-02", "--cluster", "blue", "--warehouse", nights)
    assert [dict(zip(names, row, strict=True)) for row in expected] == _json(iomine, *asked)
    (night,) = _json(iomine, "trend", "--code", "mpiio-101", "--warehouse", nights)
    assert (1, 0, 1, 0) == (night["log_count"], night["clear_count"], night["not_applicable_count"], night["unknown_count"])


def test_trend_is_drawn_below_the_table(iomine, nights: Path) -> None:
    """Each column has its line of bars, one for each day; a night without logs is a gap."""
    lines = iomine("trend", "--warehouse", nights).stdout.splitlines()
    assert "2024-05-01 to 2024-05-04" in lines
    assert "log_count                  █▂ ▇" in lines
    assert "io_ratio                   █  █" in lines


def test_trend_of_nothing_is_empty(iomine, warehouse: Path) -> None:
    """A warehouse without nights has an empty table, and no picture."""
    answer = iomine("trend", "--warehouse", warehouse)
    assert (0, 2) == (answer.exit_code, answer.stdout.count("\n"))


def test_trend_knows_its_triggers(iomine, nights: Path) -> None:
    """A code that no trigger has is misuse, with the nearest that one has."""
    answer = iomine("trend", "--code", "STDIO-1O1", "--warehouse", nights)
    assert (2, "There is no trigger STDIO-1O1: did you mean STDIO-101?\n") == (answer.exit_code, answer.stderr)


def _changes(iomine, nights: Path, *arguments: object) -> set[tuple[object, ...]]:
    asked = ("compare", *arguments, "--cluster", "blue", "--warehouse", nights)
    shown = ("change", "user", "app", "code", "cost_core_seconds_before", "cost_core_seconds")
    return {tuple(row[name] for name in shown if name in row) for row in _json(iomine, *asked)}


def test_changes_are_reported_by_kind(iomine, nights: Path) -> None:
    """New, gone, more, less; who did not run, and what cannot be assessed any more, is not reported as gone."""
    there = {
        ("more", "ann", "solver", "POSIX-101", 10.0, 15.0),
        ("new", "ann", "solver", "POSIX-301", None, 5.0),
        ("gone", "bob", "solver", "POSIX-101", 8.0, None),
        ("unknown", "cyd", "solver", "POSIX-101", 4.0, None),
        ("not run", "fay", "solver", "POSIX-101", 2.0, None),
        ("new", "eve", "solver", "POSIX-101", None, None),
    }
    assert there == _changes(iomine, nights, FIRST, LAST)


def test_changes_the_other_way_round(iomine, nights: Path) -> None:
    """What was more is less, and what was gone or not run is new."""
    back = {
        ("less", "ann", "solver", "POSIX-101", 15.0, 10.0),
        ("unknown", "ann", "solver", "POSIX-301", 5.0, None),
        ("new", "bob", "solver", "POSIX-101", None, 8.0),
        ("new", "cyd", "solver", "POSIX-101", None, 4.0),
        ("new", "fay", "solver", "POSIX-101", None, 2.0),
        ("not run", "eve", "solver", "POSIX-101", None, None),
    }
    assert back == _changes(iomine, nights, LAST, FIRST)


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        (
            "user",
            {("more", "ann", 10.0, 20.0), ("gone", "bob", 8.0, None), ("unknown", "cyd", 4.0, None),
             ("not run", "fay", 2.0, None), ("new", "eve", None, None)},
        ),
        ("app", {("less", "solver", 29.0, 25.4)}),
        ("code", {("less", "POSIX-101", 29.0, 20.4), ("new", "POSIX-301", None, 5.0)}),
    ],
)  # fmt: skip
def test_changes_are_grouped_as_asked(iomine, nights: Path, by: str, expected: set[tuple[object, ...]]) -> None:
    """By user, program or trigger alone; findings about the same requests cost a log's I/O at most."""
    assert expected == _changes(iomine, nights, FIRST, LAST, "--by", by)


def test_ranges_are_compared_by_their_means(iomine, nights: Path) -> None:
    """Two nights with 29 and 6 core-seconds have less a night than one with 25.4, and more in all."""
    rows = _json(iomine, "compare", "2024-05-01..2024-05-02", LAST, "--by", "app", "--cluster", "blue", "--warehouse", nights)
    (row,) = rows
    assert ("more", 35.0, 25.4, 6, 5) == tuple(
        row[name] for name in ("change", "cost_core_seconds_before", "cost_core_seconds", "log_count_before", "log_count")
    )


def test_largest_change_comes_first(iomine, nights: Path) -> None:
    """Changes come by how much they cost or saved, and no more of them than asked for."""
    rows = _json(iomine, "compare", FIRST, LAST, "--limit", "2", "--cluster", "blue", "--warehouse", nights)
    assert [("gone", "POSIX-101"), ("more", "POSIX-101")] == [(row["change"], row["code"]) for row in rows]


def test_nights_stand_above_their_changes(iomine, nights: Path) -> None:
    """A table begins with both nights as wholes; where nothing changed it says so."""
    shown = iomine("compare", FIRST, LAST, "--warehouse", nights).stdout
    assert ["2024-05-01", "2024-05-04"] == [line.split()[0] for line in shown.splitlines()[2:4]]
    same = iomine("compare", SECOND, LAST, "--by", "code", "--cluster", "red", "--warehouse", nights)
    assert 2 == same.exit_code


@pytest.mark.parametrize(
    ("before", "after", "reported"),
    [
        ("yesterday", "2024-05-04", "yesterday is not a night: write 2026-11-01, or 2026-11-01..2026-11-07 for a range.\n"),
        ("2024-05-04..2024-05-01", "2024-05-05", "2024-05-04..2024-05-01 ends before it begins: write 2024-05-01..2024-05-04.\n"),
        ("2024-05-01..2024-05-03", "2024-05-02", "The nights to compare overlap: give nights, or ranges, that do not overlap.\n"),
        ("2024-05-01", "2024-05-07", "There are no logs of 2024-05-07: the nearest that has some is 2024-05-04.\n"),
        ("2023-01-01..2023-02-01", "2024-05-04",
         "There are no logs of 2023-01-01 to 2023-02-01: the nearest that has some is 2024-05-01.\n"),
    ],
)  # fmt: skip
def test_nights_that_are_none_are_misuse(iomine, nights: Path, before: str, after: str, reported: str) -> None:
    """What cannot be compared is reported in one sentence, with what could be."""
    answer = iomine("compare", before, after, "--warehouse", nights)
    assert (2, "", reported) == (answer.exit_code, answer.stdout, answer.stderr)


@pytest.mark.parametrize("by", ["finding", "user", "app"])
def test_names_cannot_steer_a_terminal(iomine, warehouse_of, by: str) -> None:
    """What users call themselves and their programs is shown in visible signs."""
    hostile = "a\x1b[31m\n\u202e<b>'\";"
    warehouse = warehouse_of(
        log=[_log(f"{number}1", night, hostile, app=hostile) for number, night in enumerate((FIRST, LAST))],
        verdict=[_verdict("01", FIRST, "POSIX-101", 9.0), _verdict("11", LAST, "POSIX-101", 1.0)],
    )
    answer = iomine("compare", str(FIRST), str(LAST), "--by", by, "--warehouse", warehouse)
    assert 0 == answer.exit_code
    assert r"a\x1b[31m\n\u202e<b>" in answer.stdout
    assert not {"\x1b", "\u202e"} & set(answer.stdout)
