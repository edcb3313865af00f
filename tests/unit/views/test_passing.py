"""Views over files that are no part of a warehouse."""

import pytest

from iomine.errors import UsageError
from iomine.views.passing import passing_views
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


def test_variables_and_threads_do_not_stay():
    """The next use begins as the first did, whoever set what."""

    def reported(con) -> list[object]:
        names = "getvariable('small_bytes'), getvariable('first_log_id'), current_setting('threads')"
        return list(answer(con, f"SELECT {names}").to_pylist()[0].values())

    with passing_views({}) as con:
        *unset, cores = reported(con)
    assert [None, None] == unset
    with passing_views({}, {"small_bytes": 5.0}, threads=1) as con:
        set_variables(con, _ALL)
        assert [5.0, "", 1] == reported(con)
    with passing_views({}) as con:
        assert [None, None, cores] == reported(con)


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
