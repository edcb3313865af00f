"""Who sees what of each route: `python tests/access_walk.py` asks as each reader of a site, and writes docs/access_routes.md."""

import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from access_facility import DOUBTED, SECRET, USERS, guarded, log_of, make_site
from web_server import Reply, ask_server

from iomine.post.access import KEY_FILE
from iomine.post.tokens import Action, Pass, make_key, pass_signer_of, signer_with_key

PAGE: Final = Path(__file__).parents[1] / "docs" / "access_routes.md"
_ALICE, _BOB = log_of("alice"), log_of("bob")
# What is asked, and what the page calls it.
PATHS: Final[Mapping[str, str]] = {
    "/": "`/`",
    "/fabric": "`/fabric`",
    "/fabric/fabric.js": "`/fabric/PART.js`",
    "/circle": "`/circle`",
    "/about/user?name=alice": "`/about/user?name=alice`",
    "/about/user?name=bob": "`/about/user?name=bob`",
    "/about/application?name=app-of-alice": "`/about/application?name=` alice's",
    "/about/host?name=host-of-bob": "`/about/host?name=` bob's",
    "/about/target?name=OST0001": "`/about/target?name=` an OST that all used",
    "/about/filesystem?name=/scratch": "`/about/filesystem?name=` a mount that all used",
    "/search?q=of": "`/search?q=` a part of names",
    "/search.json?q=of": "`/search.json?q=` a part of names",
    "/views/": "`/views/`",
    "/views/logs?limit=100": "`/views/logs`",
    **{
        f"/views/{name}.json": f"`/views/{name}.json`"
        for name in (
            *("logs", "findings", "files", "jobs", "job_weather", "ost_io", "segments", "core.file_name", "worst_offenders"),
            *(
                "findings_by_user",
                "trends",
                "ost_hotspots",
                "link_hours",
                "neighbours",
                "mails",
                "rejects",
                "sweeps",
                "owner_doubt",
            ),
        )
    },
    f"/reports/{_ALICE}.html": "`/reports/LOG_ID.html` of alice",
    f"/reports/{_ALICE}.json": "`/reports/LOG_ID.json` of alice",
    f"/reports/{_BOB}.json": "`/reports/LOG_ID.json` of bob",
    f"/reports/{DOUBTED}.json": "`/reports/LOG_ID.json` that names alice, of somebody else",
    "/reports/job.blue.job-of-alice-0.html": "`/reports/job.MACHINE.JOB.html` of alice",
    "/reports/job.blue.job-of-bob-0.html": "`/reports/job.MACHINE.JOB.html` of bob",
    "/reports/index.html": "`/reports/index.html`",
    "/reports/triggers.html": "`/reports/triggers.html`",
    f"/traces/{_ALICE}.parquet": "`/traces/LOG_ID.parquet` of alice",
    f"/traces/{_BOB}.parquet": "`/traces/LOG_ID.parquet` of bob",
    f"/rings/{_ALICE}?by=rank&by=file": "`/rings/LOG_ID` of alice",
    f"/rings/{_BOB}?by=rank&by=file": "`/rings/LOG_ID` of bob",
    "/healthz": "`/healthz`",
    "/metrics": "`/metrics`",
    "/mail/TOKEN": "`/mail/TOKEN`, which a mail has",
    "/mail/forged": "`/mail/TOKEN`, which none has",
    "/assets/web.css": "`/assets/NAME`, of another version",
    "/nowhere": "any other",
}
READERS: Final = (
    "nobody",
    "alice",
    "bob",
    "carla, lead",
    "mallory",
    "olga, operator",
    "root, admin",
    "alice's link",
    "a log's link",
)
_PREFACE: Final = """\
# Who sees what of each route

<!-- Written by tests/access_walk.py. -->

This table shows what each role gets from `iomine serve` at each address. The test site has five users with two logs each.
Alice, carla and dora ran under account chem, which carla leads; mallory ran nothing. Each cell says how the server answers,
and whose names are in the answer. Sums and machines have *no names*; 404 is also the answer for logs that do not exist. The
last two readers have a signed link to alice's pages, and to one of her reports. [Who sees what](access.md) says why.

"""

Walk = Mapping[tuple[str, str], Reply]


def walk(root: Path) -> Walk:
    """What each reader is answered, by path and reader."""
    make_key(root / KEY_FILE)
    passes = pass_signer_of(root / KEY_FILE)
    until = int(time.time()) + 3600
    mail = signer_with_key(root / "digest.key").token(Action("stop", "user", "alice"))
    with guarded(root) as address:

        def asked(reader: str, path: str) -> Reply:
            path = path.replace("TOKEN", mail)
            if reader == "nobody":
                return ask_server(address, path)
            if reader.endswith("link"):
                given = Pass("alice", _ALICE if reader == "a log's link" else "", until)
                return ask_server(address, f"/by/{passes.token(given)}{path}")
            return ask_server(address, path, **{"X-Iomine-User": reader.partition(",")[0], "X-Iomine-Secret": SECRET})

        return {(path, reader): asked(reader, path) for path in PATHS for reader in READERS}


def names_in(reply: Reply) -> list[str]:
    """Users whose names, or those of something of theirs, stand in an answer."""
    return [user for user in (*USERS, "mallory") if re.search(user.encode(), reply.body)]


def page(found: Walk) -> str:
    """The table."""
    rows = [_row("route", READERS), _row("---", ["---"] * len(READERS))]
    rows += [_row(title, [_cell(found[path, reader]) for reader in READERS]) for path, title in PATHS.items()]
    return _PREFACE + "\n".join(rows) + "\n"


def _row(first: str, cells: Sequence[str]) -> str:
    return f"| {' | '.join((first, *cells))} |"


def _cell(reply: Reply) -> str:
    if reply.status != 200:
        return str(reply.status)
    names = names_in(reply)
    return "all" if set(USERS) <= set(names) else ", ".join(names) or "no names"


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        PAGE.write_text(page(walk(make_site(Path(folder)))), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")
