"""The wheel is the product: what it lacks, nobody has."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from sweeping import column, rows_of_logs

from iomine.pipeline.sweep import Settings, run
from iomine.sources.darshan.convert import NO_LIBRARY

REPO = Path(__file__).parents[2]
_VERSIONS = ("3.11", "3.12", "3.13")
_HERE = f"3.{sys.version_info.minor}"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from this checkout."""
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", out, REPO], check=True)
    return next(out.glob("*.whl"))


def test_wheel_carries_sql_flows_and_the_client(wheel):
    """Every view, every flow, what pages are made with, licences of the bundle and the list of dependencies are in the wheel."""
    packed = set(zipfile.ZipFile(wheel).namelist())
    folders = (REPO / "sql", REPO / "flows", REPO / "iomine" / "report" / "assets")
    expected = {
        f"iomine/{path.relative_to(REPO)}".replace("iomine/iomine/", "iomine/")
        for folder in folders
        for path in folder.rglob("*.*")
    }
    assert "iomine/report/assets/LICENSES.txt" in expected
    assert {name for name in expected if "__pycache__" not in name} <= packed
    # The place that PEP 770 gives it.
    assert any(name.endswith(".dist-info/sboms/iomine.cdx.json") for name in packed)


def python_of(version: str) -> Path:
    """A Python of this version, on the path or beside this one, that makes environments; without one, the test is skipped."""
    beside = Path(sys.base_prefix).parent.glob(f"{version}.*/bin/python{version}")
    on_path = shutil.which(f"python{version}")
    for python in (*((sys.executable,) if version == _HERE else ()), *((on_path,) if on_path else ()), *beside):
        if not subprocess.run([python, "-c", "import ensurepip, venv"], check=False, capture_output=True).returncode:
            return Path(python)
    pytest.skip(f"There is no Python {version} here that makes environments.")


@pytest.fixture(scope="module")
def logs() -> str:
    """The logs that come with PyDarshan."""
    program = [sys.executable, REPO / "docs" / "demo_logs.py"]
    return subprocess.run(program, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def swept_here(logs, tmp_path_factory):
    """A warehouse of these logs, swept from this checkout."""
    warehouse = tmp_path_factory.mktemp("here") / "warehouse"
    run(Settings((Path(logs),), warehouse))
    return warehouse


@pytest.mark.parametrize(
    "version", [pytest.param(version, marks=pytest.mark.proof if version == _HERE else pytest.mark.site) for version in _VERSIONS]
)
@pytest.mark.timeout(600)
def test_wheel_sweeps_from_an_empty_environment(version, wheel, logs, swept_here, tmp_path):
    """Installed with nothing but its own dependencies, on each Python that it is for, it sweeps logs into the same rows."""
    environment = tmp_path / "environment"
    subprocess.run([python_of(version), "-m", "venv", environment], check=True)
    python = environment / "bin" / "python"
    # The pip that comes with Python may be years old, and takes twice as long.
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile", wheel]
    subprocess.run(install, check=True)
    swept = subprocess.run(
        [environment / "bin" / "iomine", "sweep", logs, "--json", "--warehouse", warehouse := tmp_path / "warehouse"],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert swept.returncode in {0, 3}, swept.stderr
    summary = json.loads(swept.stdout)
    found = len([path for path in Path(logs).rglob("*") if ".darshan" in path.name])
    assert found == summary["found"] == summary["ingested"] + summary["known"] + summary["rejected"]
    assert summary["ingested"] > 0
    # For a new Python PyDarshan may come without its library, which older records need.
    has_library = not subprocess.run(
        [python, "-c", "import darshan.backend.cffi_backend"], check=False, capture_output=True
    ).returncode
    assert ({} if has_library else {NO_LIBRARY: summary["rejected"]}) == summary["reasons"]
    log_ids = column(warehouse, "SELECT log_id FROM core.log")
    assert len(log_ids) == summary["ingested"]
    assert rows_of_logs(swept_here, log_ids) == rows_of_logs(warehouse, log_ids)
