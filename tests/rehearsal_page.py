"""Writes docs/rehearsal.md: what `deploy/rehearsal/all.sh` says, of a site in /srv/site."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

REPO = Path(__file__).parents[1]
PAGE = REPO / "docs" / "rehearsal.md"
_SITE = "/srv/site"


def page(transcript: str, day: str) -> str:
    """The text of the page."""
    return (
        "# The manual, rehearsed\n\n<!-- Written by tests/rehearsal_page.py: change the program, then run that. -->\n\n"
        f"What `make rehearsal` said on {day}, as root on a machine with nothing of iomine on it: "
        "[the manual](operations.md)'s commands, each scheduler as it is, and what goes wrong at a site. "
        "Lines with `$` are commands; each part ends with how long it took, on two cores of a shared machine.\n\n"
        f"```console\n{transcript.strip()}\n```\n"
    )


def main() -> None:
    """Rehearses, and writes the page if all goes well."""
    with TemporaryDirectory(prefix="iomine-site-") as site:
        command = [REPO / "deploy" / "rehearsal" / "all.sh", site]
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.replace(site, _SITE)
    PAGE.write_text(page(said, f"{datetime.now(UTC):%Y-%m-%d}"), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")


if __name__ == "__main__":
    main()
