"""Logs that are judged at once."""

from datetime import date
from importlib.util import find_spec
from pathlib import Path

import pytest
import sweeping

from iomine.errors import LimitError
from iomine.lake import LakeFile, Warehouse
from iomine.pipeline.judging import judge as judge_room
from iomine.pipeline.judging.rejudge import compare, rejudge
from iomine.pipeline.judging.spans import Span, spans
from iomine.pipeline.judging.uncommitted import views_over
from iomine.pipeline.sweep import Settings, run
from iomine.triggers import TRIGGERS
from iomine.triggers.thresholds import SiteThreshold, with_thresholds

NIGHTS = [date(2026, 1, number) for number in range(1, 7)]


def log_files(**counts: list[int]) -> list[LakeFile]:
    """A file of the table `log` for each night of each cluster, with so many rows."""
    return [
        LakeFile("log", cluster, night, Path("part.parquet"), 1, rows)
        for cluster, of_cluster in counts.items()
        for night, rows in zip(NIGHTS, of_cluster, strict=False)
    ]


def test_small_nights_share_a_span_and_clusters_do_not():
    """Nights are gathered in order up to the bound, those of a cluster only."""
    expected = [
        Span("blue", (NIGHTS[0], NIGHTS[1]), 10),
        Span("blue", (NIGHTS[2],), 9),
        Span("red", (NIGHTS[0],), 1),
    ]
    assert expected == spans(log_files(red=[1], blue=[4, 6, 9]), 10)


def test_a_long_night_is_cut_into_equal_ranges_of_ids():
    """The parts of a night hold all its logs, cover all ids and do not share a span with other nights."""
    expected = [
        Span("blue", (NIGHTS[0],), 3),
        Span("blue", (NIGHTS[1],), 8, ("0000", "5555")),
        Span("blue", (NIGHTS[1],), 8, ("5555", "aaaa")),
        Span("blue", (NIGHTS[1],), 9, ("aaaa", "g")),
        Span("blue", (NIGHTS[2],), 2),
    ]
    assert expected == spans(log_files(blue=[3, 25, 2]), 10)


def test_other_tables_and_empty_lakes_make_no_spans():
    """Only logs count."""
    assert [] == spans([LakeFile("verdict", "blue", NIGHTS[0], Path("part.parquet"), 1, 5)], 10)


@pytest.mark.site
def test_what_is_held_is_of_one_part_of_a_night_alone():
    """Rows of another part would be missing, and nobody would see it."""
    one, other = (Span("blue", (NIGHTS[0],), 1, ids) for ids in (("0", "8"), ("8", "g")))
    with views_over([], ["core.log"]) as views:
        assert 0 == views.ask("FROM core.log", one).num_rows
        with pytest.raises(ValueError, match="of one part of a night"):
            views.ask("FROM core.log", other)


@pytest.mark.parametrize(
    "span",
    [
        pytest.param(Span("blue", tuple(NIGHTS[:3]), 7), id="nights"),
        pytest.param(Span("blue", (NIGHTS[0],), 7), id="a night"),
        pytest.param(Span("blue", (NIGHTS[0],), 7, ("5555", "aaaa")), id="a part"),
        pytest.param(Span("blue", (NIGHTS[0],), 7, ("aaaa", "g")), id="the last part"),
    ],
)
def test_halves_hold_each_log_of_a_span_once(span):
    """Where one ends the other begins."""
    one, other = span.halves
    assert (4, 3) == (one.logs, other.logs)
    ids = [f"{number:016x}" for number in range(0, 16**16, 16**16 // 1000)]

    def held(span):
        first, end = span.edges
        return [(night, log_id) for night in span.nights for log_id in ids if first <= log_id < end]

    assert held(span) == sorted(held(one) + held(other))
    assert held(one)
    assert held(other)


def test_a_span_of_one_log_has_no_halves():
    """There is nothing to judge apart."""
    assert () == Span("blue", (NIGHTS[0],), 1).halves


def test_what_takes_too_much_memory_is_judged_in_halves(tmp_path, scheduler, monkeypatch):
    """All tables are the same as if there were more memory."""
    logs = Path(find_spec("darshan").submodule_search_locations[0])
    sweeping.write_no_reports(monkeypatch)
    run(Settings((logs,), tmp_path / "whole", scheduler=scheduler))
    judged_at_once, spans_judged = judge_room._judged_at_once, []

    def judged(span, **others):
        spans_judged.append(span)
        if span.logs > 5:
            raise LimitError("The query needs more memory.")
        return judged_at_once(span, **others)

    monkeypatch.setattr(judge_room, "_judged_at_once", judged)
    run(Settings((logs,), tmp_path / "halves", scheduler=scheduler))
    assert len(spans_judged) > 2
    assert sweeping.state(tmp_path / "whole") == sweeping.state(tmp_path / "halves")


def test_half_of_some_nights_is_judged_without_the_others(tmp_path, monkeypatch):
    """Where memory is too little for two nights together, each has the rows of its own log."""
    sweeping.judge_by_one(monkeypatch)
    sweeping.write_no_reports(monkeypatch)
    darshan = Path(find_spec("darshan").submodule_search_locations[0])
    logs = tuple(next(darshan.rglob(name)) for name in ("noposixopens.darshan", "shane_macsio*.darshan"))
    run(Settings(logs, tmp_path / "whole"))
    judged_at_once = judge_room._judged_at_once

    def judged(span, **others):
        if len(span.nights) > 1:
            raise LimitError("The query needs more memory.")
        return judged_at_once(span, **others)

    monkeypatch.setattr(judge_room, "_judged_at_once", judged)
    run(Settings(logs, tmp_path / "halves"))
    assert sweeping.state(tmp_path / "whole") == sweeping.state(tmp_path / "halves")


def test_nights_judged_in_parts_are_judged_as_whole(tmp_path, scheduler, monkeypatch):
    """However few logs are judged at once, features and verdicts are the same, and judging again in parts changes none.

    The threshold of one trigger changes its verdicts and no others.
    """
    logs = Path(find_spec("darshan").submodule_search_locations[0])
    sweeping.write_no_reports(monkeypatch)
    whole = run(Settings((logs,), tmp_path / "whole", scheduler=scheduler))
    monkeypatch.setattr("iomine.pipeline.judging.spans.JUDGED_AT_ONCE", 5)
    monkeypatch.setattr("iomine.pipeline.judging.rejudge.JUDGED_AT_ONCE", 5)
    parts = run(Settings((logs,), tmp_path / "parts", scheduler=scheduler))
    expected = sweeping.state(tmp_path / "whole")
    assert expected == sweeping.state(tmp_path / "parts")
    assert whole.findings == parts.findings
    again = rejudge(Warehouse(tmp_path / "parts"), TRIGGERS)
    assert (0, whole.ingested, len(whole.nights)) == (again.changed, again.logs, again.nights)
    assert expected == sweeping.state(tmp_path / "parts")
    under_another_threshold = compare(
        Warehouse(tmp_path / "parts"), with_thresholds(TRIGGERS, [SiteThreshold("P06", "small_write_ratio", 1)])
    )
    assert {"P06"} == set(under_another_threshold["code"].to_pylist())
