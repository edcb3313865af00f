"""The example package: installed, listed, used in a sweep, and removed again."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from sweeping import IOMINE, rows

from iomine.sources.darshan import read_log

pytestmark = [pytest.mark.proof, pytest.mark.timeout(900)]

REPO = Path(__file__).parents[2]
STATES = "SELECT state, count(*) AS logs FROM verdicts WHERE code = 'SITE-901' GROUP BY ALL"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the example package is installed into, built from this checkout."""
    folder = tmp_path_factory.mktemp("package")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder]
    subprocess.run([*install, REPO / "docs" / "example_package"], check=True)
    return folder


def run(*arguments: object, package: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, with a package or without any."""
    path = {} if package is None else {"PYTHONPATH": str(package)}
    return subprocess.run(
        [*IOMINE, *map(str, arguments)], env=os.environ | path, capture_output=True, text=True, check=False, cwd=REPO
    )


def test_a_package_is_listed_used_and_leaves_nothing(package: Path, tmp_path: Path) -> None:
    """Doctor lists what it brings; its source is read and its trigger fires; without it all answers as before."""
    logs = min(Path(find_spec("darshan").submodule_search_locations[0]).rglob("*.darshan"), key=lambda path: path.stat().st_size)
    job = read_log(str(logs)).job
    warehouse = ("--warehouse", tmp_path / "warehouse")
    times = ";".join(f"{at:%Y-%m-%dT%H:%M:%S}" for at in (job.start_at, job.end_at))
    jobs = f"job;user;start;end;nodes\n{job.job_id};ada;{times};n[1-{job.nprocs + 3}]\n"
    (tmp_path / "jobs.txt").write_text(jobs)
    listed = run("doctor", *warehouse, package=package).stdout
    for line in (
        "trigger SITE-901 comes from example-site 1.0",
        "view site.idle_nodes comes from example-site 1.0",
        "source example_job_list comes from example-site 1.0",
    ):
        assert f"ok    {line}\n" in listed

    swept = run("sweep", logs, "--stats", tmp_path / "jobs.txt", *warehouse, package=package)
    assert 0 == swept.returncode, swept.stderr
    assert "statistics and accounting: 1 found = 1 ingested" in swept.stdout
    assert [{"state": "fired", "logs": 1}] == rows(tmp_path / "warehouse", STATES)
    assert "SITE-901: Nodes without a process" in run("explain", "SITE-901", *warehouse, package=package).stdout

    assert "example" not in run("doctor", *warehouse).stdout
    assert 2 == run("explain", "SITE-901", *warehouse).returncode
    assert 0 == run("judge", *warehouse).returncode
    assert [] == rows(tmp_path / "warehouse", STATES)
    assert [] == rows(tmp_path / "warehouse", "SELECT * FROM view_dictionary WHERE starts_with(table_name, 'site.')")
    assert [{"n": 1}] == rows(tmp_path / "warehouse", "SELECT count(*) AS n FROM logs")


def test_a_package_that_cannot_be_loaded_is_a_sentence(tmp_path: Path) -> None:
    """All else works; a source that is none, and one of a name that is taken, are sentences too."""
    info = tmp_path / "broken-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[iomine.triggers]\nx = nowhere.at.all\nv = broken_one\nw = broken_folder\n"
        "[iomine.sources]\ny = broken_one:NOTHING\nz = broken_one:TAKEN\n"
    )
    (tmp_path / "broken_folder").mkdir()
    (tmp_path / "broken_folder" / "__init__.py").touch()
    (tmp_path / "broken_folder" / "SITE-101.toml").write_bytes(b"\xff")
    (tmp_path / "broken_one.py").write_text(
        "from iomine.sources.model import Source\nNOTHING = 7,\nTAKEN = Source('sacct', lambda _: False, None)\n"
    )
    done = run("doctor", "--warehouse", tmp_path / "warehouse", package=tmp_path)
    assert "fail  The package broken 1 cannot be loaded for iomine.triggers (ModuleNotFoundError: No module" in done.stdout
    assert "fail  The package broken 1 names v as its triggers: name a folder with the files and an __init__.py.\n" in done.stdout
    assert "fail  broken_folder/SITE-101.toml is not UTF-8 text: save the file as UTF-8.\n" in done.stdout
    assert "fail  The package broken 1 names y as sources, which it is not.\n" in done.stdout
    assert "fail  The package broken 1 brings a source sacct, which is there already.\n" in done.stdout
    assert 0 == run("explain", "POSIX-101", package=tmp_path).returncode
