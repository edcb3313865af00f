"""The site of files: whole, consistent, and never half of one."""

import base64
import fcntl
import gzip
import json
import os
import re
import shutil
import struct
from html import unescape
from pathlib import Path
from threading import Thread
from urllib.parse import urldefrag

import pytest
from facility import LOGS, TRACED, Facility
from outline import HOSTILE, Outline
from web_server import LIMITS

from iomine.errors import OutputError, UsageError
from iomine.report.write import write_shared
from iomine.web import pages
from iomine.web.about import KINDS, About
from iomine.web.links import ServedLinks
from iomine.web.panel import Subject
from iomine.web.search import names_of
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
    """Links of the dashboard, its tables and pages about one thing that lead to no file of the site, or out of it."""
    broken = []
    (folder,) = set(re.findall(r'"(tables-[0-9a-f]+)/', (out / "index.html").read_text(encoding="utf-8")))
    for page in [out / "index.html", out / "reports" / "index.html", *(out / folder).glob("*.html")]:
        for href in map(unescape, re.findall(r'(?:href|src|action|data-names)="([^"]*)"', page.read_text(encoding="utf-8"))):
            target = urldefrag(href).url
            if href == "data:," or (not target and href.startswith("#")):
                continue
            path = (page.parent / target).resolve()
            if not path.is_file() or not path.is_relative_to(out.resolve()):
                broken.append((page.name, href))
    return broken


def test_site_is_whole(written: tuple[Path, Site]) -> None:
    """Each link of each page is relative and leads to a file; the one script is that of the search field, which it shows."""
    out, done = written
    tables = list(out.glob("tables-*/*.html"))
    assert (len(tables), 2) == (done.tables + done.subjects, done.reports)
    assert len(tables) > 100
    assert [] == broken_links(out)
    for page in [out / "index.html", *tables]:
        text = page.read_text(encoding="utf-8")
        assert "b" not in Outline(text).tags
        assert ["search"] == re.findall(r'<script[^>]* src="[^"]*/?assets/(\w+)-[0-9a-f]+[.]js"', text)
        assert 1 == len(re.findall("<form[^>]* hidden", text)) == text.count("<form") == text.count("<script")


def test_a_site_is_closed_to_others(written: tuple[Path, Site]) -> None:
    """Owner and group read it, nobody else; reports, which are links to those of the warehouse, have the modes of these.

    The file of its lock is the owner's: whoever can open it could make all who write the site wait.
    """
    out, _ = written
    made = [path for path in (out, *out.rglob("*")) if "reports" not in path.relative_to(out).parts[:-1]]
    modes = {path.name: path.stat().st_mode & 0o777 for path in made}
    assert 0o600 == modes.pop(".iomine-site")
    assert {0o640, 0o750} == set(modes.values())


def index_of(out: Path) -> dict[str, list[tuple[str, str, str]]]:
    """The names that a search on the site knows."""
    (file,) = out.glob("tables-*/names.js")
    block = re.fullmatch(r'.*\["names"\]="([^"]*)";', file.read_text())
    assert block
    packed = gzip.decompress(base64.b64decode(block[1]))
    (length,) = struct.unpack_from("<I", packed)
    return {kind: [tuple(row) for row in rows] for kind, rows in json.loads(packed[4 : 4 + length])["names"].items()}


def test_index_names_all_that_has_a_page(facility: Facility, written: tuple[Path, Site]) -> None:
    """Whatever has a page is in the index, its jobs and logs too, each name as it is, and each address is a file's."""
    out, done = written
    names = index_of(out)
    pages_of = {path.stem.rpartition("-")[0] for path in out.glob("tables-*/*.html")}
    subjects = {kind: [name for name, _, _ in rows] for kind, rows in names.items() if kind in KINDS}
    assert sum(map(len, subjects.values())) == done.subjects
    assert subjects.keys() <= pages_of
    assert set(HOSTILE.values()) <= set(subjects["user"])
    assert {TRACED, f"{8:016x}"} == {name for name, _, _ in names["log"]}
    for _, _, address in (row for rows in names.values() for row in rows):
        assert (out / address).is_file()


def test_index_is_bounded(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each kind there are as many as fit, the newest first; a name that is too long for the rest keeps no other out."""
    window, links = window_of(session, []), ServedLinks("")
    whole = names_of(session, window, links)
    monkeypatch.setattr("iomine.web.search._INDEXED_BYTES", 2000)
    cut = names_of(session, window, links)
    assert whole.keys() == cut.keys()
    assert len(json.dumps(cut["log"])) < 2100 < len(json.dumps(whole["log"]))
    rest = iter(whole["log"])
    assert all(entry in rest for entry in cut["log"])
    assert cut["log"][0] == whole["log"][0]


def test_pages_about_one_thing_say_what_the_server_says(session: Session, written: tuple[Path, Site]) -> None:
    """The numbers on a page of the site are those of the server's page of the same nights."""
    (folder,) = written[0].glob("tables-*")
    window = window_of(session, [])
    for kind, name in (("user", "ada"), ("application", "bob"), ("target", "scratch-OST0001")):
        subject = Subject(kind, name)
        served = pages.about_page(session, About(subject, window), ServedLinks(""))
        address = next(address for found, _, address in index_of(written[0])[kind] if found == name)
        filed = (folder.parent / address).read_text(encoding="utf-8")
        numbers = [re.findall(r'<data value="([^"]+)"', text) for text in (served, filed)]
        assert numbers[0] == numbers[1] != []


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
    assert [f"{TRACED}.html", "index.html", "triggers.html"] == sorted(path.name for path in (out / "reports").glob("*.html"))
    assert [] == broken_links(out)


def test_reports_of_other_machines_stay_behind(facility: Facility, session: Session, tmp_path: Path, reports: Path) -> None:
    """A site of one machine has no report of another's logs."""
    cluster = {log["log_id"]: log["cluster"] for log in facility.logs}
    other = "green" if cluster[TRACED] == "blue" else "blue"
    write(session, tmp_path / "out", reports, ("cluster", other))
    shown = {path.stem for path in (tmp_path / "out" / "reports").glob("*.html")} - {"triggers", "index"}
    assert shown == {log_id for log_id in (TRACED, f"{8:016x}") if cluster[log_id] == other}


def test_copy_that_fails_names_where_it_was_written(
    session: Session, tmp_path: Path, reports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fills up while reports are copied is that of the site, not that of the reports."""

    def full(source: Path, copy: Path) -> None:
        raise OSError(28, "No space left on device", str(source), None, str(copy))

    # Across file systems a report is copied instead of linked.
    monkeypatch.setattr(os, "link", full)
    monkeypatch.setattr(shutil, "copy2", full)
    with pytest.raises(
        OutputError, match=rf"^{re.escape(str(tmp_path / 'out'))}\S* cannot be written \(No space left on device\)"
    ):
        write(session, tmp_path / "out", reports)


def test_writing_that_fails_leaves_the_old_site(
    session: Session, written: tuple[Path, Site], tmp_path: Path, reports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the new site is whole, readers have all of the old one, and nothing that is half takes room."""
    out = shutil.copytree(written[0], tmp_path / "out")
    before = (out / "index.html").read_bytes()
    old = {path: path.read_bytes() for path in out.glob("*.html")}
    made = pages.rows_page
    calls = iter(range(10))

    def failing(*arguments: object, **options: object) -> str:
        if next(calls, None) is None:
            raise OSError(28, "No space left on device", "disk")
        return made(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(pages, "rows_page", failing)
    with pytest.raises(OutputError, match="disk cannot be written"):
        write(session, out, reports)
    assert old == {path: path.read_bytes() for path in out.glob("*.html")}
    assert 1 == len(list(out.glob("tables-*")))
    assert [] == [link for link in broken_links(out) if link[0] == "index.html"]
    monkeypatch.undo()
    write(session, out, reports)
    assert before != (out / "index.html").read_bytes()
    # The new tables, and those of the dashboard that readers may still have open.
    assert 2 == len(list(out.glob("tables-*")))


def test_two_that_write_one_site_wait_for_each_other(session: Session, tmp_path: Path, reports: Path) -> None:
    """Each tidies away the tables that its dashboard does not lead to, as those that the other is writing."""
    out = tmp_path / "out"
    write(session, out, reports)
    new = f"{9:016x}.html"
    (reports / new).write_text("new")
    writer = Thread(target=write, args=(session, out, reports))
    with (out / ".iomine-site").open("ab") as mark:
        fcntl.flock(mark, fcntl.LOCK_EX)
        writer.start()
        writer.join(1)
        assert (True, False) == (writer.is_alive(), (out / "reports" / new).exists())
    writer.join()
    assert (out / "reports" / new).exists()


def test_folder_of_something_else_is_left_alone(session: Session, tmp_path: Path, reports: Path) -> None:
    """A folder with other files is not written to."""
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="is no site"):
        write(session, tmp_path, reports)
    with pytest.raises(UsageError, match="is no site"):
        write(session, tmp_path / "mine.txt", reports)
