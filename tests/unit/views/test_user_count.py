"""How views count users, against a count in Python."""

from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows_in import BY_NAME, columns_of, stage

from iomine.views.model import find_views

NIGHT: Final = "2024-04-18"
# A log whose file was renamed has a uid and no name; one of a traced run has neither.
LOGS: Final = st.lists(
    st.fixed_dictionaries({"user": st.sampled_from(["ada", "bob", None]), "uid": st.sampled_from([1, 2, 3, None])}), min_size=1
)
# Where each view that counts users has them from, and what else its rows need.
SOURCES: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "core.finding_sum": ("core.finding_night", {"app": "ior", "code": "A", "level": "warn", "finding_count": 1}),
    "main.applications": ("main.logs", {"application": "ior"}),
    "main.layer_usage": ("core.layer_night", {"layer": "posix", "log_count": 1}),
    "main.mount_usage": ("core.mount_night", {"mount": "/s", "log_count": 1}),
    "main.trends": ("core.app_night", {"app": "ior", "log_count": 1}),
}


def test_all_views_that_count_users_are_held_against_python():
    """No view counts users in a way of its own."""
    # Hands on what core.finding_sum counts.
    handed_on = {"main.findings_by_trigger"}
    assert set(SOURCES) | handed_on == {view.qualified for view in find_views() if "user_count" in columns_of(view)}


@pytest.mark.parametrize("name", sorted(SOURCES))
@given(logs=LOGS)
@settings(max_examples=25, deadline=None)
def test_a_user_counts_once_however_many_names_the_uid_has(name: str, logs: list[dict[str, Any]]):
    """A user is a uid: a log without a name is no further user, and a log without a uid is of nobody in particular."""
    view = BY_NAME[name]
    source, others = SOURCES[name]
    rows = [{"cluster": "x", "night": NIGHT, "log_id": f"{number}", **others, **log} for number, log in enumerate(logs)]
    known = set(columns_of(BY_NAME[source]))
    given_rows = {source: [{column: value for column, value in row.items() if column in known} for row in rows]}
    if "core.newest_night" in view.reads:
        given_rows["core.newest_night"] = [{"cluster": "x", "last_night": NIGHT, "recent_night_count": 1}]
    where = "grouped_by = 'code'" if name == "core.finding_sum" else "true"
    with stage(view, given_rows) as con:
        counts = con.sql(f"SELECT user_count FROM ({view.sql}) WHERE {where}").fetchall()
    assert counts == [(len({log["uid"] for log in logs} - {None}),)]
