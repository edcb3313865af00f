"""Views over files that are no part of a warehouse."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from iomine.errors import UsageError, WarehouseError
from iomine.units import MIB
from iomine.views.model import View, find_views, shared_views, tables_read
from iomine.views.passing import hold, hold_files, passing_views
from iomine.views.query import answer, set_variables

_ALL = {"first_log_id": "", "end_log_id": "g"}


def _ids(con) -> list[str]:
    return answer(con, "SELECT log_id FROM logs ORDER BY log_id")["log_id"].to_pylist()


def test_they_show_these_files_and_ids_and_no_others(write_rows):
    """What one use showed is gone in the next, and ids are those between the edges."""
    first, second = (write_rows("log", [{"log_id": log_id} for log_id in ids]) for ids in ("abc", "de"))
    with passing_views({"log": [first]}) as con:
        set_variables(con, _ALL)
        assert ["a", "b", "c"] == _ids(con)
        set_variables(con, {"first_log_id": "b", "end_log_id": "c"})
        assert ["b"] == _ids(con)
    with passing_views({"log": [second]}) as con:
        set_variables(con, _ALL)
        assert ["d", "e"] == _ids(con)
    with passing_views({}) as con:
        set_variables(con, _ALL)
        assert [] == _ids(con)


def test_two_at_once_do_not_meet(write_rows):
    """Each use has a connection of its own, also within another."""
    paths = [write_rows("log", [{"log_id": log_id}]) for log_id in "ab"]
    with passing_views({"log": paths[:1]}) as outer, passing_views({"log": paths[1:]}) as inner:
        for con in (outer, inner):
            set_variables(con, _ALL)
        assert (["a"], ["b"]) == (_ids(outer), _ids(inner))


def test_a_limit_of_memory_does_not_stay():
    """It holds for one use, whichever connection the next one gets."""
    limit = "SELECT current_setting('memory_limit') AS bytes"

    def reported(**given) -> str:
        with passing_views({}, **given) as con:
            return answer(con, limit)["bytes"].to_pylist()[0]

    usual = reported()
    assert "512.0 MiB" == reported(memory_bytes=512 * MIB) != usual
    assert usual == reported()


def test_variables_do_not_stay():
    """The next use begins as the first did, whoever set what; one thread answers, so that floats are added in one order."""

    def reported(con) -> list[object]:
        names = "getvariable('small_bytes'), getvariable('first_log_id'), current_setting('threads')"
        return list(answer(con, f"SELECT {names}").to_pylist()[0].values())

    with passing_views({}) as con:
        assert [None, None, 1] == reported(con)
    with passing_views({}, {"small_bytes": 5.0}) as con:
        set_variables(con, _ALL)
        assert [5.0, "", 1] == reported(con)
    with passing_views({}) as con:
        assert [None, None, 1] == reported(con)


def test_a_question_that_fails_leaves_the_next_use_whole(write_rows):
    """Whatever state a connection was left in, none of it is met again."""
    path = write_rows("log", [{"log_id": "a"}])
    with pytest.raises(UsageError), passing_views({"log": [path]}) as con:
        answer(con, "SELECT nosuch FROM logs")
    with passing_views({"log": [path]}) as con:
        set_variables(con, _ALL)
        assert ["a"] == _ids(con)


def test_paths_that_are_not_absolute_are_refused():
    """A sweep may change its working directory between the making of a path and the reading of its file."""
    with pytest.raises(ValueError, match="absolute"), passing_views({"log": ["log/part.parquet"]}):
        pass


def test_what_is_held_answers_as_the_view_does_and_is_gone_afterwards(write_rows):
    """It is worked out from the rows that the variables select at that moment."""
    rows = [
        {"log_id": log_id, "file_id": 1, "rank": 0, "fsync_count": 2, "fdsync_count": 0, "write_count": 2, "write_bytes": 4}
        for log_id in "ab"
    ]
    lake = {"posix_file": [write_rows("posix_file", rows)]}
    question = "SELECT log_id, sync_count FROM core.synced_file ORDER BY ALL"
    needed = [view for view in find_views() if view.qualified in {"core.posix_file", "core.synced_file"}]

    def answers(views: Iterable[View]) -> list[object]:
        with passing_views(lake) as con:
            set_variables(con, {"first_log_id": "b", "end_log_id": "g"})
            hold(con, views)
            # Held rows do not follow the variables.
            set_variables(con, _ALL)
            return answer(con, question).to_pylist()

    assert [{"log_id": "b", "sync_count": 2}] == answers(needed)
    assert [{"log_id": log_id, "sync_count": 2} for log_id in "ab"] == answers([])


def test_files_that_are_held_answer_as_those_that_are_shown_and_are_gone_afterwards(write_rows):
    """They hold the rows that the variables select at that moment, with their folder's night, and NULL for what is missing."""
    paths = [
        write_rows("log", [{"log_id": log_id, "nprocs": 2} for log_id in ids], night=night, without=without)
        for ids, night, without in (("ab", "2024-04-18", ()), ("cd", "2024-04-19", ("nprocs",)))
    ]
    question = "SELECT * FROM core.log ORDER BY log_id"
    with passing_views({"log": paths}) as con:
        set_variables(con, {"first_log_id": "b", "end_log_id": "d"})
        shown = answer(con, question)
    with passing_views({}) as con:
        set_variables(con, {"first_log_id": "b", "end_log_id": "d"})
        hold_files(con, {"log": paths})
        assert shown == answer(con, question)
    assert [("b", 2), ("c", None)] == [(row["log_id"], row["nprocs"]) for row in shown.to_pylist()]
    with passing_views({}) as con:
        set_variables(con, _ALL)
        assert [] == _ids(con)


def test_a_file_that_cannot_be_held_is_an_error_in_words(tmp_path):
    """As if it had been asked for."""
    missing = str(tmp_path / "cluster=alpha" / "night=2024-04-18" / "part.parquet")
    with pytest.raises(WarehouseError, match="cannot be read"), passing_views({}) as con:
        hold_files(con, {"log": [missing]})


def test_a_view_that_cannot_be_held_is_an_error_in_words(write_rows):
    """As if it had been asked for."""
    broken = replace(find_views()[0], sql="SELECT nosuch")
    with pytest.raises(UsageError, match="nosuch"), passing_views({}) as con:
        hold(con, [broken])


def test_shared_views_are_those_that_several_read_and_that_can_be_worked_out():
    """Tables that are handed on as they are stay where they are, and what reads what is not there yet waits."""
    shared = [view.qualified for view in shared_views(["feature.log_sync_profile", "feature.cost_claim"], ["log_rank_profile"])]
    assert {"core.posix_file", "core.synced_file", "core.waited_file"} <= set(shared)
    assert shared.index("core.posix_file") < shared.index("core.synced_file")
    assert set(shared).isdisjoint({"core.log", "core.log_rank_profile", "core.slow_file", "feature.cost_claim"})
    assert [] == shared_views(["feature.cost_claim"], tables_read(["feature.cost_claim"]))
