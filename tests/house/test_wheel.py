"""The wheel is the product: what it lacks, nobody has."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]


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


@pytest.mark.proof
@pytest.mark.timeout(600)
def test_wheel_sweeps_from_an_empty_environment(wheel, tmp_path):
    """Installed with nothing but its own dependencies, iomine sweeps the logs that come with PyDarshan."""
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    python = environment / "bin" / "python"
    # The pip that comes with Python may be years old, and takes twice as long.
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile", wheel]
    subprocess.run(install, check=True)
    logs = subprocess.run([python, REPO / "docs" / "demo_logs.py"], check=True, capture_output=True, text=True).stdout.strip()
    swept = subprocess.run(
        [environment / "bin" / "iomine", "sweep", logs, "--json", "--warehouse", tmp_path / "warehouse"],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    summary = json.loads(swept.stdout)
    found = len([path for path in Path(logs).rglob("*") if ".darshan" in path.name])
    assert found == summary["found"] == summary["ingested"] + summary["known"]
    assert summary["ingested"] > 0
