"""Whose a log is: one whose file another user owns than it names is that user's offence nowhere, and in no mail."""

import io
import os
import pwd
import shutil
import tarfile
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from sweeping import column, judge_by, rows

from iomine.errors import UsageError
from iomine.lake import Warehouse
from iomine.pipeline.digest import Order, digest
from iomine.pipeline.judging.rejudge import rejudge
from iomine.pipeline.site.collectors import parse_collectors, site_collectors
from iomine.pipeline.sweep import Settings, run
from iomine.sources.darshan import read_log, uid_of
from iomine.triggers import TRIGGERS

FORGER, NAMED = 66_666, 31_074
LOG = "ecpam21/logs/snyder_h5-block_id511919_4-14-3389-13517322816805000194_1.darshan"
OTHER = "ecpam21/logs/snyder_h5-block-chunk-coll_id511919_4-14-3948-13517322816805000194_1.darshan"
IS_ROOT = os.geteuid() == 0
ROOT = pytest.mark.skipif(not IS_ROOT, reason="Only root gives files to others.")


@pytest.fixture(autouse=True)
def _few_triggers(monkeypatch: pytest.MonkeyPatch) -> None:
    judge_by(monkeypatch, "LUSTRE-101", "MPIIO-102")


@pytest.fixture
def forged(shared_data: Path, tmp_path: Path) -> Path:
    """A folder with two logs of one user, of which somebody else wrote one; who packed them is a collector."""
    archive = tmp_path / "logs" / "night.tar"
    archive.parent.mkdir()
    of = {Path(name).name: ((shared_data / "darshan" / name).read_bytes(), uid) for name, uid in ((LOG, FORGER), (OTHER, NAMED))}
    pack(archive, of)
    return archive.parent


def pack(archive: Path, of: dict[str, tuple[bytes, int]]) -> None:
    """An archive of logs with these bytes and owners, by name."""
    with tarfile.open(archive, "w") as packed:
        for name, (data, uid) in of.items():
            member = tarfile.TarInfo(name)
            member.size, member.uid = len(data), uid
            packed.addfile(member, io.BytesIO(data))


def mailed(warehouse: Path, outbox: Path) -> list[str]:
    (warehouse / "digest.toml").write_text('least_core_hours = 0.0\n[directory]\ntemplate = "{user}@site.test"\n')
    done = digest(Order(warehouse, since=date(2021, 4, 1), outbox=outbox, is_dry=True))
    return done.post.sent


def offenders(warehouse: Path) -> list[dict[str, Any]]:
    return rows(warehouse, "SELECT app, log_count FROM worst_offenders ORDER BY app")


@pytest.mark.proof
def test_a_forged_log_is_nobodys_offence(forged: Path, tmp_path: Path):
    """It stands in `logs` with its mark, and in no ranking and no mail; the user's own log does."""
    warehouse = tmp_path / "warehouse"
    run(Settings((forged,), warehouse, workers=1))
    confirmed = "SELECT app, is_owner_confirmed FROM logs ORDER BY app"
    assert [
        {"app": "h5-block", "is_owner_confirmed": False},
        {"app": "h5-block-chunk-coll", "is_owner_confirmed": None},
    ] == rows(warehouse, confirmed)
    assert [f"its file is of uid {FORGER}, its record of uid {NAMED}"] == column(warehouse, "SELECT reason FROM owner_doubt")
    assert [{"app": "h5-block-chunk-coll", "log_count": 1}] == offenders(warehouse)
    assert {"h5-block-chunk-coll"} == set(column(warehouse, "SELECT DISTINCT app FROM core.finding_night"))
    assert {"h5-block", "h5-block-chunk-coll"} == set(column(warehouse, "SELECT DISTINCT app FROM findings"))
    assert "h5-block" not in column(warehouse, "SELECT application FROM applications")
    outbox = tmp_path / "outbox"
    assert ["user snyder"] == mailed(warehouse, outbox)
    (mail,) = (file.read_text() for file in outbox.glob("*.eml"))
    assert "h5-block-chunk-coll" in mail
    assert "h5-block" not in mail.replace("h5-block-chunk-coll", "")

    # The site says that this account gathers logs: nothing is in doubt, and history is summed up again.
    (warehouse / "sources.toml").write_text(f'collectors = ["{FORGER}"]\n')
    rejudge(Warehouse(warehouse), TRIGGERS)
    assert [None, None] == [row["is_owner_confirmed"] for row in rows(warehouse, confirmed)]
    assert [{"app": "h5-block", "log_count": 1}, {"app": "h5-block-chunk-coll", "log_count": 1}] == offenders(warehouse)


@ROOT
def test_the_owner_of_the_file_that_was_read_counts(shared_data: Path, tmp_path: Path):
    """A log and an archive of logs are their owners', whatever their names and headers say."""
    log = Path(shutil.copy(shared_data / "darshan" / LOG, tmp_path))
    os.chown(log, FORGER, FORGER)
    assert (FORGER, None) == ((read := read_log(log)).owner_uid, read.archive_uid)
    archive = tmp_path / "logs.tar"
    pack(archive, {log.name: (log.read_bytes(), NAMED)})
    os.chown(archive, FORGER, FORGER)
    assert (NAMED, FORGER) == ((read := read_log(f"{archive}#{log.name}")).owner_uid, read.archive_uid)


@ROOT
def test_a_symbolic_link_is_not_its_owner(shared_data: Path, tmp_path: Path):
    """Of a link, the owner of the bytes counts, and not that of the link."""
    log = Path(shutil.copy(shared_data / "darshan" / LOG, tmp_path))
    os.chown(log, NAMED, NAMED)
    (link := tmp_path / "link.darshan").symlink_to(log)
    os.chown(link, FORGER, FORGER, follow_symlinks=False)
    assert NAMED == read_log(link).owner_uid


@pytest.mark.parametrize(
    ("user", "uid"),
    [(None, None), ("root", 0), ("31074", 31_074), ("9" * 30, None), ("no such login", None), ("\\xff", None), ("", None)],
)
def test_uid_of_a_name(user: str | None, uid: int | None):
    """It is what this host knows, or the digits that Darshan writes where it finds no name."""
    assert uid == uid_of(user)


def test_collectors_are_logins_and_uids(tmp_path: Path):
    """Who sweeps is one; a login that nobody has is named."""
    assert (os.geteuid(),) == site_collectors(Warehouse(tmp_path))
    me = pwd.getpwuid(0).pw_name
    assert (0, 5012) == parse_collectors(f'collectors = ["{me}", "5012"]')
    with pytest.raises(UsageError, match="There is no login 'nobody knows' here"):
        parse_collectors('collectors = ["nobody knows"]')
