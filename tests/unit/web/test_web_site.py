"""The site of files: whole, consistent, and never half of one."""

import re
import shutil
from html import unescape
from pathlib import Path
from urllib.parse import urldefrag

import pytest
from facility import LOGS, TRACED, Facility
from outline import Outline
from web_server import LIMITS

from iomine.errors import OutputError, UsageError
from iomine.report.write import write_shared
from iomine.web import pages
from iomine.web.links import ServedLinks
from iomine.web.sessions import Session
from iomine.web.site import Site, write_site
from iomine.web.window import window_of

pytestmark = pytest.mark.proof


def _reports(folder: Path) -> Path:
    """Written reports of two logs, and the sweep's note."""
    folder.mkdir()
    write_shared(folder)
    for log_id in (TRACED, f"{8:016x}"):
        (folder / f"{log_id}.html").write_text(f"<title>{log_id}</title>")
        (folder / f"{log_id}.json").write_text("{}")
    (folder / "due.json").write_text("[]")
    (folder / ".half").write_text("")
    return folder


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """Reports for a test to change."""
    return _reports(tmp_path / "reports")


@pytest.fixture(scope="module")
def written(facility: Facility, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Site]:
    """A site that nobody may change, and what was said of it."""
    folder = tmp_path_factory.mktemp("site")
    session = Session(facility.root / "iomine.duckdb", LIMITS)
    try:
        return folder / "out", write(session, folder / "out", _reports(folder / "reports"))
    finally:
        session.close()


def write(session: Session, out: Path, reports: Path, *asked: tuple[str, str], most: int = 50) -> Site:
    return write_site(session, window_of(session, asked), out, reports, most=most, only_window=bool(asked))


def broken_links(out: Path) -> list[tuple[str, str]]:
    """Links of the dashboard and its tables that lead to no file of the site, or out of it."""
    broken = []
    (folder,) = set(re.findall(r'"(tables-[0-9a-f]+)/', (out / "index.html").read_text(encoding="utf-8")))
    for page in [out / "index.html", *(out / folder).glob("*.html")]:
        for href in map(unescape, re.findall(r'(?:href|src|action)="([^"]*)"', page.read_text(encoding="utf-8"))):
            target = urldefrag(href).url
            if href == "data:," or (not target and href.startswith("#")):
                continue
            path = (page.parent / target).resolve()
            if not path.is_file() or not path.is_relative_to(out.resolve()):
                broken.append((page.name, href))
    return broken


def test_site_is_whole(written: tuple[Path, Site]) -> None:
    """Each link of each page is relative and leads to a file, and no page holds a script or a form."""
    out, done = written
    tables = list(out.glob("tables-*/*.html"))
    assert (len(tables), 2) == (done.tables, done.reports)
    assert len(tables) > 100
    assert [] == broken_links(out)
    for page in [out / "index.html", *tables]:
        assert {"script", "form", "b"}.isdisjoint(Outline(page.read_text(encoding="utf-8")).tags)


def test_site_says_what_the_server_says(session: Session, written: tuple[Path, Site]) -> None:
    """The dashboard's numbers are those of the server's."""
    window = window_of(session, [])
    served = pages.dashboard(session, window, ServedLinks(""))
    numbers = [re.findall(r'<data value="([^"]+)"', text) for text in (served, (written[0] / "index.html").read_text())]
    assert len(numbers[0]) > 200
    assert sorted(numbers[0]) == sorted(numbers[1])


def test_long_tables_are_cut_and_say_so(written: tuple[Path, Site]) -> None:
    """A table of more rows than are written says how many there are."""
    texts = [Outline(page.read_text(encoding="utf-8")).text for page in written[0].glob("tables-*/logs-*.html")]
    of_all = [text for text in texts if f"The first 50 of {LOGS} rows" in " ".join(text.split())]
    assert of_all
    assert all("The others are not on this site" in text for text in of_all)


def test_reports_come_along_and_go(session: Session, tmp_path: Path, reports: Path) -> None:
    """Reports are those of the warehouse: new ones come, changed ones change, those that left leave; notes stay behind."""
    out = tmp_path / "out"
    write(session, out, reports)
    assert (reports / f"{TRACED}.html").samefile(out / "reports" / f"{TRACED}.html")
    assert not (out / "reports" / "due.json").exists()
    assert not (out / "reports" / ".half").exists()
    (reports / f"{8:016x}.html").unlink()
    (reports / f"{TRACED}.html").unlink()
    (reports / f"{TRACED}.html").write_text("changed")
    write(session, out, reports)
    assert "changed" == (out / "reports" / f"{TRACED}.html").read_text()
    assert [f"{TRACED}.html", "triggers.html"] == sorted(path.name for path in (out / "reports").glob("*.html"))
    assert [] == broken_links(out)


def test_reports_of_other_machines_stay_behind(facility: Facility, session: Session, tmp_path: Path, reports: Path) -> None:
    """A site of one machine has no report of another's logs."""
    cluster = {log["log_id"]: log["cluster"] for log in facility.logs}
    other = "green" if cluster[TRACED] == "blue" else "blue"
    write(session, tmp_path / "out", reports, ("cluster", other))
    shown = {path.stem for path in (tmp_path / "out" / "reports").glob("*.html")} - {"triggers"}
    assert shown == {log_id for log_id in (TRACED, f"{8:016x}") if cluster[log_id] == other}


def test_writing_that_fails_leaves_the_old_site(
    session: Session, written: tuple[Path, Site], tmp_path: Path, reports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the new site is whole, readers have all of the old one; what was left half is tidied away the next time."""
    out = shutil.copytree(written[0], tmp_path / "out")
    before = (out / "index.html").read_bytes()
    made = pages.rows_page
    calls = iter(range(10))

    def failing(*arguments: object, **options: object) -> str:
        if next(calls, None) is None:
            raise OSError(28, "No space left on device", "disk")
        return made(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(pages, "rows_page", failing)
    with pytest.raises(OutputError, match="disk cannot be written"):
        write(session, out, reports)
    assert before == (out / "index.html").read_bytes()
    assert [] == [link for link in broken_links(out) if link[0] == "index.html"]
    monkeypatch.undo()
    write(session, out, reports)
    assert before != (out / "index.html").read_bytes()
    # The new tables, and those of the dashboard that readers may still have open.
    assert 2 == len(list(out.glob("tables-*")))


def test_folder_of_something_else_is_left_alone(session: Session, tmp_path: Path, reports: Path) -> None:
    """A folder with other files is not written to."""
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="is no site"):
        write(session, tmp_path, reports)
    with pytest.raises(UsageError, match="is no site"):
        write(session, tmp_path / "mine.txt", reports)
