"""One word for one thing: words of docs/glossary.md, and words that are no longer used."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

REPO = Path(__file__).parents[2]
GLOSSARY = REPO / "docs" / "glossary.md"


class Banned(NamedTuple):
    """A word that is gone from the house.

    Attributes:
        pattern: finds it in its banned sense, as a regular expression that ignores case.
        word: of the glossary, what to write instead.
        but: files in which it stays, with what stays there: a name that scripts rely on, or the field's own word.
    """

    pattern: str
    word: str
    but: tuple[str, ...] = ()


# The table `letter` of the digest's ledger, which older ledgers have too.
_LEDGER = (
    "iomine/post/ledger.py",
    "tests/cluster/test_post_kill.py",
    "tests/unit/pipeline/test_digest.py",
    "tests/unit/pipeline/test_mails.py",
)
# The table and view `core.weather`, and the key of a report's JSON.
_TABLES = ("iomine/report/facts.py", "iomine/schema/fields/servers.py", "iomine/schema/tables/servers.py")
# The table `told` of the digest's ledger.
_LISTED = ("iomine/post/ledger.py", "tests/unit/pipeline/test_mails.py")
# Letters of the alphabet.
_ALPHABET = (
    "docs/messages.md",
    "docs/decisions/digest.md",
    "docs/export.md",
    "iomine/lake/warehouse.py",
    "iomine/post/addresses.py",
    "iomine/post/tokens.py",
    "iomine/report/templates/report.css",
    "iomine/sources/ior/command.py",
    "iomine/sources/lustre/fullness.py",
    "iomine/sources/lustre/histograms.py",
    "iomine/sources/lustre/lines.py",
    "iomine/sources/lustre/moments.py",
    "iomine/sources/lustre/parts.py",
    "iomine/sources/lustre/stats.py",
    "tests/unit/cli/test_cli_sweep.py",
)

# One line for each word; add yours when it is gone everywhere else.
BANNED = (
    Banned(r"\blogfiles?\b", "log"),
    Banned(r"\bquarantin\w*", "reject"),
    Banned(r"\bdata lakes?\b", "lake"),
    Banned(r"\bseverit(y|ies)\b", "level"),
    Banned(r"\brule sets?\b", "ruleset"),
    Banned(r"\b(black|white)list\w*", "notification policy"),
    Banned(r"\bmanners?\b", "notification policy"),
    Banned(r"\bshel(f|ves)\b", "report cache"),
    Banned(r"\bhired\b", "worker pool"),
    # The column of verdicts keeps its name, and what charts draw is a bar.
    Banned(
        r"\b(site|shipped|with|parse|check)_?bars?\b|"
        r"\b(an?|the|its|their|each|every|no|another|these|other|under|above|below|of) bars?\b",
        "threshold",
        (
            "iomine/cli/terminal/sparks.py",
            "iomine/report/pictures.py",
            "iomine/sources/lustre/histograms.py",
            "iomine/views/query.py",
            "iomine/web/charts.py",
            "tests/unit/cli/test_cli_trend.py",
        ),
    ),
    # The column `told_night` and the outcome `not told` are public; a mail's button says "don't tell me again".
    Banned(r"(?<!not )(?<![a-z])(un)?told(?!_night|[a-z])|(?<![a-z.])(?<!don't )(tells?|telling)(?![a-z])", "reported", _LISTED),
    Banned(r"\bbehind_\w+|\b(first|right|stands?|comes?|begins?|starts?) behind\b", "end-exclusive"),
    Banned(
        r"(?<![a-z_.\"'/])weather(?![a-z_\"'])|(?<!job)_weather\b|\bweather_(files|profiles|truth|year)", "system state", _TABLES
    ),
    Banned(r"(?<![a-z])letters?(?![a-z])", "mail", (*_LEDGER, *_ALPHABET)),
)

_ROOMS = ("iomine", "sql", "flows", "docs", "deploy", "tests", "client/src")
_KINDS = {".py", ".sql", ".md", ".toml", ".yaml", ".j2", ".ts", ".css"}
# The glossary and this list contain the words; CHANGELOG keeps the words of its time.
_LEFT_OUT = {GLOSSARY, Path(__file__), REPO / "CHANGELOG.md"}


def _texts() -> dict[str, list[str]]:
    """Lines of every file that people read, by its path."""
    inside = (path for room in _ROOMS for path in (REPO / room).rglob("*"))
    paths = (path for path in (*REPO.glob("*"), *inside) if path.suffix in _KINDS and path not in _LEFT_OUT)
    return {str(path.relative_to(REPO)): path.read_text(encoding="utf-8").splitlines() for path in paths if path.is_file()}


@pytest.fixture(scope="module")
def texts() -> dict[str, list[str]]:
    """Lines of every file that people read, by its path."""
    return _texts()


def _rows() -> list[list[str]]:
    lines = [line for line in GLOSSARY.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def _found(banned: Banned, texts: dict[str, list[str]]) -> dict[str, list[int]]:
    pattern = re.compile(banned.pattern, re.IGNORECASE)
    numbered = {path: [n for n, line in enumerate(lines, 1) if pattern.search(line)] for path, lines in texts.items()}
    return {path: numbers for path, numbers in numbered.items() if numbers}


@pytest.mark.parametrize("banned", BANNED, ids=lambda banned: banned.word)
def test_word_is_gone(banned: Banned, texts: dict[str, list[str]]):
    """A word that was given up does not come back, but where it is listed to stay; an entry of that list is not left in vain."""
    found = _found(banned, texts)
    assert [] == [f"{path}:{n}: write {banned.word}" for path, ns in found.items() if path not in banned.but for n in ns]
    assert set(banned.but) <= set(found)


def test_a_banned_word_would_be_found():
    """The pattern finds its word whatever its case, and not within others."""
    texts = {"a.py": ["The Logfile of a run.", "A catalogfile."], "b.md": ["A log."]}
    assert {"a.py": [1]} == _found(BANNED[0], texts)


def test_each_word_of_the_glossary_has_one_meaning():
    """No word stands in the table twice, each has a meaning, and each is what some banned word may be replaced by."""
    words = [word for word, _, _ in _rows() for word in word.split(", ")]
    assert sorted(words) == sorted(set(words))
    assert all(meaning for _, meaning, _ in _rows())
    assert {banned.word for banned in BANNED} <= set(words)


def test_texts_are_looked_through(texts: dict[str, list[str]]):
    """The rooms are where this test looks for them."""
    assert {"README.md", "iomine/units.py", "docs/README.md", "client/src/main.ts"} <= set(texts)
