"""How long the files of tests take, and in which tier: `make test proof site`, and then `python tests/tiers.py` writes the table.

The table is in docs/decisions/test_tiers.md. The next run begins with the files that take longest.
"""

import re
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Collection, Mapping
from datetime import date
from pathlib import Path
from typing import Final

TIERS: Final = ("test", "proof", "site")
REPO: Final = Path(__file__).parents[1]
PAGE: Final = REPO / "docs" / "decisions" / "test_tiers.md"
MARK: Final = "<!-- Written by tests/tiers.py out of build/test.xml, build/proof.xml and build/site.xml. -->\n"
_ROW: Final = re.compile(r"^\| (test|proof|site) \| `(.+)` \| [\d,]+ \| ([\d,]+) \|$", re.MULTILINE)
# Shorter ones are summed up.
_LEAST_SECONDS: Final = 2

Times = Mapping[str, tuple[int, float]]


def seconds_by_file() -> dict[str, float]:
    """How long each file of tests took by the page, its tests of all tiers together."""
    found: Counter[str] = Counter()
    if PAGE.exists():
        for _, file, seconds in _ROW.findall(PAGE.read_text(encoding="utf-8")):
            found[file] += int(seconds.replace(",", ""))
    return dict(found)


def times(report: Path) -> Times:
    """How many tests of each file were run, and how many seconds these took with what they set up.

    Args:
        report: what pytest's `--junitxml` wrote.
    """
    counts: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    for case in ET.parse(report).iter("testcase"):  # noqa: S314  what pytest has written here
        file = case.attrib["classname"].replace(".", "/") + ".py"
        counts[file] += 1
        seconds[file] += float(case.attrib["time"])
    return {file: (count, seconds[file]) for file, count in counts.items()}


def table(of_tiers: Mapping[str, Times]) -> str:
    """The page's table, in Markdown.

    Args:
        of_tiers: what `times` gives, by tier.
    """
    lines = ["| tier | file | tests | seconds |", "|---|---|--:|--:|"]
    for tier, files in of_tiers.items():
        long = sorted((file for file in files if files[file][1] >= _LEAST_SECONDS), key=lambda file: -files[file][1])
        short = files.keys() - set(long)
        lines += [_row(tier, f"`{file}`", [files[file]]) for file in long]
        lines += [_row(tier, f"{len(short):,} shorter ones", [files[file] for file in short])]
        lines += [_row(tier, f"all {len(files):,}", files.values())]
    return "\n".join(lines) + "\n"


def _row(tier: str, which: str, files: Collection[tuple[int, float]]) -> str:
    counts, seconds = zip(*files, strict=True) if files else ((), ())
    return f"| {tier} | {which} | {sum(counts):,} | {sum(seconds):,.0f} |"


def page(text: str, of_tiers: Mapping[str, Times]) -> str:
    """The page with the table of a run instead of the one that it has."""
    return f"{text.partition(MARK)[0]}{MARK}\nMeasured on {date.today()}.\n\n{table(of_tiers)}"  # noqa: DTZ011  a day is enough


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if sys.argv[1:] else REPO / "build"
    found = {tier: times(folder / f"{tier}.xml") for tier in TIERS}
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
