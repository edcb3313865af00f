"""Reports that sweeps write."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import darshan
import pytest
from sweeping import column, rows

from iomine.errors import UsageError
from iomine.lake import Warehouse
from iomine.pipeline import reports as report_room
from iomine.pipeline import sweep as sweep_room
from iomine.pipeline.judging.rejudge import rejudge
from iomine.pipeline.reports import due
from iomine.pipeline.stages import context
from iomine.pipeline.sweep import Settings, run
from iomine.report.facts import Place
from iomine.report.write import Written
from iomine.triggers import TRIGGERS, Above
from iomine.views.answers import Ask
from iomine.whole import written_whole

CODE = "POSIX-101"


@pytest.fixture
def settings(tmp_path: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A sweep of PyDarshan's own logs, judged by one trigger that some of them fire."""
    logs = Path(darshan.__file__).parent / "examples" / "example_logs"
    monkeypatch.setattr(context, "site_triggers", lambda _warehouse: {CODE: TRIGGERS[CODE]})
    return Settings((logs,), tmp_path / "warehouse", scheduler=scheduler)


def reports(settings: Settings) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (settings.warehouse / "reports").iterdir() if path.is_file()}


def listed(settings: Settings) -> set[str]:
    """Logs to whose reports the index leads."""
    return set(re.findall(r'href="([0-9a-f]{16})[.]html"', (settings.warehouse / "reports" / "index.html").read_text()))


class KilledError(BaseException):
    """Stands for a death that no code of the sweep sees."""


def die(*_given: object) -> None:
    raise KilledError


def test_reports_of_a_sweep_that_died_are_written_by_the_next_and_then_stay(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nights are noted before they are committed. Each link of `findings` leads to an anchor; a third sweep touches nothing.

    Files that the one that died had begun to write are gone.
    """
    warehouse = Warehouse(settings.warehouse)
    with monkeypatch.context() as patched:
        patched.setattr(sweep_room, "report", die)
        with pytest.raises(KilledError):
            run(settings)
    assert due(warehouse).noted()
    begun = []
    for target in (warehouse.root / "a.duckdb", warehouse.reports / "a.html"):
        with written_whole(target) as beside:
            beside.touch()
        # As if the sweep had died before it could rename the file.
        begun.append(target.rename(beside))
        os.utime(beside, (0, 0))
    summary = run(settings)
    assert not any(path.exists() for path in begun)
    links = column(settings.warehouse, "SELECT report FROM findings")
    assert links
    assert (summary.ingested, summary.reports, summary.unreported) == (0, len(links), ())
    for link in links:
        path, _, code = link.partition("#")
        assert f'id="{code}"' in (settings.warehouse / path).read_text()
        assert (settings.warehouse / path).with_suffix(".json").exists()
    assert due(warehouse).noted() == []
    users = column(settings.warehouse, 'SELECT DISTINCT coalesce("user", uid::VARCHAR) FROM findings')
    assert {link.split("/")[1].split(".")[0] for link in links} == listed(settings)
    assert all(f'id="user={quote(user)}"' in (settings.warehouse / "reports/index.html").read_text() for user in users)
    before = reports(settings)
    assert len(before) == 2 * len(links) + 2  # the triggers' page, and the index
    due(warehouse).add([("default", night) for night in column(settings.warehouse, "SELECT DISTINCT night FROM logs")])
    assert run(settings).reports == 0
    assert before == reports(settings)


@pytest.mark.parametrize("hands", [1, 2, 7])
@pytest.mark.parametrize("count", [0, 1, 250, 251, 1000, 1001, 3595, 36_000])
def test_pieces_are_of_one_size_and_leave_no_worker_without(count: int, hands: int) -> None:
    """Each item is in one piece, none of more than a thousand; as many as workers have at a time, unless these are small."""
    pieces = report_room.even_pieces(range(count), hands)
    assert list(range(count)) == [item for piece in pieces for item in piece]
    sizes = [len(piece) for piece in pieces]
    assert max(sizes, default=0) <= report_room.PIECE
    assert len(set(sizes[:-1])) <= 1
    assert sizes[-1:] <= sizes[:1]
    assert all(size == 250 for size in sizes[:-1]) or len(sizes) == hands * -(-count // (report_room.PIECE * hands))


def test_page_stays_where_a_log_has_no_findings_any_more(settings: Settings) -> None:
    """Mails link to it: the sweep after the one that judged again writes what holds now."""
    run(settings)
    page = settings.warehouse / column(settings.warehouse, "SELECT report FROM findings")[0].partition("#")[0]
    assert f'id="{CODE}"' in page.read_text()
    never = replace(TRIGGERS[CODE], all_of=(Above("small_read_ratio", 2.0, why="Nothing is above it."),))
    rejudge(Warehouse(settings.warehouse), {CODE: never}, None)
    assert run(settings).reports > 0
    assert f'id="{CODE}"' not in page.read_text()


def test_reports_leave_after_their_days(settings: Settings) -> None:
    """Of logs of older nights nothing stays, while shared pages, and what is no report, do."""
    run(settings)
    folder = settings.warehouse / "reports"
    (folder / "note.txt").write_text("kept by hand")
    of_newest = column(settings.warehouse, "SELECT DISTINCT log_id FROM findings WHERE night = (SELECT max(night) FROM logs)")
    others = column(settings.warehouse, "SELECT DISTINCT log_id FROM findings WHERE night < (SELECT max(night) FROM logs)")
    assert others
    assert {*of_newest, *others} == {path.stem for path in folder.glob("*.json")} - {"due"}
    (settings.warehouse / "retention.toml").write_text("[days]\nreport = 1")
    run(settings)
    assert set(of_newest) == {path.stem for path in folder.glob("*.json")}
    shared = {"triggers.html", "index.html"}
    assert {f"{log_id}.html" for log_id in of_newest} | shared == {path.name for path in folder.glob("*.html")}
    assert set(of_newest) == listed(settings)
    assert (folder / "note.txt").exists()


def test_a_log_that_no_question_can_be_asked_about_costs_its_own_report(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Asked for together they fail, so each is asked for alone; the one that fails again is named."""
    run(settings)
    logs = rows(settings.warehouse, "SELECT DISTINCT cluster, night, log_id FROM findings ORDER BY log_id")
    culprit, *others = [Place(**log) for log in logs]
    whole = report_room.write_reports

    def refuse(ask: Ask, places: Sequence[Place], folder: Path) -> Iterator[Written]:
        if culprit in places:
            raise UsageError("Out of Range Error: Overflow")
        return whole(ask, places, folder)

    monkeypatch.setattr(report_room, "write_reports", refuse)
    new, faults = report_room.report_piece([culprit, *others], settings.warehouse / "iomine.duckdb", tmp_path)
    assert [f"The report of log {culprit.log_id} cannot be written: Out of Range Error: Overflow"] == faults
    assert len(others) == new
    assert {place.log_id for place in others} == {path.stem for path in tmp_path.glob("*.html")}
