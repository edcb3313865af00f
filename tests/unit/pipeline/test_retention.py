"""For how many days rows are kept: what a site may set, and what leaves when."""

import datetime as dt
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iomine.errors import UsageError
from iomine.lake import LakeFile, Warehouse
from iomine.pipeline.judging.rollups import ROLL_UPS
from iomine.pipeline.site.retention import (
    REPORT,
    SUGGESTED_DAYS,
    Packing,
    days_of_reports,
    expired,
    kept_from,
    parse_retention,
    perishable,
    site_retention,
    tables_of_logs,
)
from iomine.schema import TABLES
from iomine.triggers import TRIGGERS

TEMPLATE = Path(__file__).parents[3] / "deploy" / "retention.toml"
TODAY = dt.date(2024, 5, 1)
_NIGHTS = st.dates(dt.date(2024, 3, 1), dt.date(2024, 6, 1))


def _file(table: str, night: dt.date | None, cluster: str | None = "blue") -> LakeFile:
    return LakeFile(table, cluster, night, Path("x.parquet"), 1, 1)


def test_the_template_sets_what_is_suggested() -> None:
    """deploy/retention.toml can be taken as it is, and names every table that may leave."""
    text = TEMPLATE.read_text()
    assert parse_retention(text) == SUGGESTED_DAYS
    days, _, packing = text.partition("[pack]")
    assert re.findall(r"^#?(\w+) = ", days, re.MULTILINE) == list(perishable())
    assert re.findall(r"^#(\w+) = ", packing, re.MULTILINE) == list(Packing.model_fields)


def test_what_verdicts_need_stays() -> None:
    """Records and features that triggers ask leave with the logs only, tables without nights never; logs and verdicts may."""
    views = {trigger.view for trigger in TRIGGERS.values()}
    stays = views | {"posix_file", "rank_io", "phase", "request_size", "reject", "sweep", "known_log"}
    assert not stays & set(perishable())
    assert {"log", "segment", "verdict", *SUGGESTED_DAYS} <= set(perishable()) < {*TABLES, REPORT}
    assert views | {"log", "verdict", "segment", "posix_file", "phase"} <= tables_of_logs()
    assert not {"job", "server_interval", "known_log", *ROLL_UPS} & tables_of_logs()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("[days]", {}),
        ("[days]\nsegment = 30\nverdict = 3650\nmount = 0", {"segment": 30, "verdict": 3650}),
        ("[days]\nlog = 400\napp_night = 400\nmount_night = 0", {"log": 400, "app_night": 400}),
    ],
    ids=["empty", "no table named", "some", "sums as long as logs"],
)
def test_days_that_are_fit(text: str, expected: dict[str, int]) -> None:
    """What is not named, or has 0 days, is kept for ever."""
    assert expected == parse_retention(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[days", "This is not TOML"),
        ("segment = 30", "There is no retention setting segment: write it below [days] or [pack]."),
        ("days = 30", "days is a table: write its settings under a line [days]."),
        ("[pack]\nafter_days = 30", "pack.into must be an absolute path, such as /archive/darshan, not ''."),
        ("[pack]\nafter_days = 30\ninto = 'x'", "pack.into must be an absolute path, such as /archive/darshan, not 'x'."),
        ("[pack]\nafter = 30", "There is no retention setting pack.after: "),
        ("[pack]\nfiles = 0", "pack.files must be greater than or equal to 1, not 0."),
        ("[days]\nsegments = 30", "There is no table segments: did you mean segment?"),
        ("[days]\nzzz = 30", "There is no table zzz: docs/views.md names them all."),
        ("[days]\nposix_file = 30", "posix_file cannot leave the lake"),
        ("[days]\nsweep = 30", "sweep cannot leave the lake"),
        ("[days]\nlog = 30\nmount_night = 29", "mount_night is computed from logs: keep it for at least as many days as log"),
        ("[days]\nlog = 0\napp_night = 29", "app_night is computed from logs: keep it for at least as many days as log"),
        ("[days]\nsegment = -1", "days.segment must be greater than or equal to 0, not -1."),
        ("[days]\nsegment = 1.5", "must be a whole number"),
        ("[days]\nsegment = true", "must be a whole number"),
        ('[days]\nsegment = "30"', "must be a whole number"),
    ],
)
def test_days_that_are_not_fit(text: str, words: str) -> None:
    """What cannot be meant is refused, with what to write instead."""
    with pytest.raises(UsageError, match=re.escape(words)):
        parse_retention(text)


@pytest.mark.parametrize(
    ("days", "expected"),
    [({}, None), ({"segment": 3}, None), ({"report": 9}, 9), ({"report": 90, "verdict": 30}, 30), ({"log": 400}, 400)],
    ids=["none set", "others set", "set", "longer than verdicts", "logs leave"],
)
def test_reports_are_kept_no_longer_than_their_verdicts(days: dict[str, int], expected: int | None) -> None:
    """A report says what verdicts say, so it leaves with them at the latest."""
    assert expected == days_of_reports(days)


def test_the_file_of_a_site(tmp_path: Path) -> None:
    """`retention.toml` in the warehouse counts; without one all is kept, and one that cannot be read is reported by its path."""
    warehouse = Warehouse(tmp_path)
    assert site_retention(warehouse) == {}
    file = tmp_path / "retention.toml"
    file.write_text("[days]\nsegment = 7\n")
    assert site_retention(warehouse) == {"segment": 7}
    file.write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"The days in .*retention\.toml are not UTF-8 text"):
        site_retention(warehouse)
    file.unlink()
    file.mkdir()
    with pytest.raises(UsageError, match=r"The days in .*retention\.toml cannot be read"):
        site_retention(warehouse)


@given(st.sets(_NIGHTS, min_size=1), st.integers(1, 60))
def test_the_last_nights_stay(nights: set[dt.date], days: int) -> None:
    """So many nights stay, counted back from the newest or today, whichever is earlier; all that is older leaves."""
    files = [_file(table, night) for table in ("log", "segment", "mount") for night in nights]
    newest = min(TODAY, max(nights))
    expected = {("segment", night) for night in nights if night <= newest - dt.timedelta(days=days)}
    assert expected == expired({"segment": days}, files, "blue", TODAY)


@given(st.sets(_NIGHTS, min_size=1), st.sets(_NIGHTS), st.integers(1, 60), st.integers(1, 60))
def test_what_belongs_to_logs_leaves_with_them(
    nights: set[dt.date], closed: set[dt.date], log_days: int, segment_days: int
) -> None:
    """At the latest; a night whose logs have left gets none again; sums, and what servers recorded, stay."""
    tables = ("log", "segment", "verdict", "posix_file", "job", *ROLL_UPS)
    files = [*(_file(table, night) for table in tables for night in nights), *(_file("known_log", night) for night in closed)]
    newest = min(TODAY, max(nights))

    def is_past(night: dt.date, days: int) -> bool:
        return night <= newest - dt.timedelta(days=days)

    leaving = {night for night in nights if is_past(night, log_days) or night in closed}
    expected = {(table, night) for table in ("log", "verdict", "posix_file") for night in leaving}
    expected |= {("segment", night) for night in nights if night in leaving or is_past(night, segment_days)}
    assert expected == expired({"log": log_days, "segment": segment_days}, files, "blue", TODAY)


@pytest.mark.parametrize("missing", ROLL_UPS)
def test_logs_stay_until_they_are_summed_up(missing: str) -> None:
    """A night that was swept before there were sums, or by a version with fewer, keeps its logs."""
    old = dt.date(2024, 1, 1)
    files = [_file(table, old) for table in ("log", "posix_file", *ROLL_UPS) if table != missing] + [_file("log", TODAY)]
    assert expired({"log": 30}, files, "blue", TODAY) == set()
    assert expired({"log": 30}, [*files, _file(missing, old)], "blue", TODAY) == {("log", old), ("posix_file", old)}


def test_each_cluster_counts_from_its_own_newest_night() -> None:
    """Another cluster's nights neither leave nor count; tables without nights stay."""
    old, new = dt.date(2024, 1, 1), dt.date(2024, 4, 1)
    files = [
        _file("log", old),
        _file("segment", old),
        _file("log", new, "red"),
        _file("segment", old, "red"),
        _file("sweep", None, None),
    ]
    assert expired({"segment": 30}, files, "blue", TODAY) == set()
    assert expired({"segment": 30}, files, "red", TODAY) == {("segment", old)}


def test_more_days_than_the_calendar_has() -> None:
    """They keep everything."""
    assert kept_from(TODAY, 10**12, TODAY) == dt.date.min
