"""The docs as a house: every page is on the index, and no link leads nowhere."""

import re
from pathlib import Path

import pytest

from iomine.views.model import find_views

REPO = Path(__file__).parents[2]
DOCS = REPO / "docs"
INDEX = DOCS / "README.md"
PAGES = sorted(path for path in DOCS.rglob("*.md") if path.parent.name != "triggers")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?!https?:|mailto:)([^)\s]*)\)")
_MEASURED = re.compile(r"(?<![\w.])[\d.,]+ ?(?:ms|s|µs|ns|minutes|kB|MB|GB|TB|PB|MiB|GiB|%)(?!\w)")
_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def _links(page: Path) -> list[tuple[Path, str]]:
    """Files that a page links to, each with the heading in it, empty where none is named."""
    text = _CODE.sub("", page.read_text(encoding="utf-8"))
    targets = [target.partition("#") for target in _LINK.findall(text)]
    return [((page.parent / file).resolve() if file else page, heading) for file, _, heading in targets]


def _anchors(page: Path) -> set[str]:
    """What links may name in a page, as GitHub makes it of its headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_every_page_is_on_the_index():
    """A page that no reader is sent to is not read: give it a line in docs/README.md."""
    linked = {target for target, _ in _links(INDEX)}
    assert [] == [str(page.relative_to(REPO)) for page in PAGES if page != INDEX and page.resolve() not in linked]


def test_entries_of_the_index_are_one_line():
    """An entry is a link, with what the page is for where its title does not say it."""
    entries = [line for line in INDEX.read_text(encoding="utf-8").splitlines() if line.startswith("-")]
    assert [] == [entry for entry in entries if not re.fullmatch(r"- \[[^\]]+\]\([^)]+\)(: .+[^.])?", entry)]
    assert len(entries) == len(set(entries))


@pytest.mark.parametrize(
    "page", [REPO / "README.md", REPO / "CONTRIBUTING.md", *PAGES], ids=lambda page: str(page.relative_to(REPO))
)
def test_links_lead_somewhere(page: Path):
    """Each file that a page links to is there, and has the heading that the link names."""
    lost = [
        (str(target), heading)
        for target, heading in _links(page)
        if not target.exists() or (heading and heading not in _anchors(target))
    ]
    assert [] == lost


def test_every_page_has_a_title():
    """A page begins with its title, so that search results and tabs have a name."""
    assert [] == [str(page.relative_to(REPO)) for page in PAGES if not re.match(r"# \S", page.read_text(encoding="utf-8"))]


def test_views_that_the_page_on_asking_names_are_there():
    """Whoever is sent to a view finds it."""
    table = re.findall(r"^\| .+\? \| (.+) \|$", (DOCS / "asking.md").read_text(encoding="utf-8"), re.MULTILINE)
    named = {name for row in table for name in re.findall(r"`(\w+)`", row)}
    assert set() == named - {view.name for view in find_views() if view.schema == "main"}
    assert named


@pytest.mark.parametrize("page", [DOCS / "scale.md", *sorted((DOCS / "decisions").glob("*.md"))], ids=lambda page: page.stem)
def test_figures_that_no_program_writes_are_dated(page: Path):
    """A page written by hand with seconds, bytes or shares says when these were measured."""
    text = page.read_text(encoding="utf-8")
    assert not _MEASURED.search(text) or re.search(r"[Mm]easured on 20\d\d-\d\d-\d\d", text)
