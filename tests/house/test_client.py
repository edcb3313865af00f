"""The client that pages carry is the one that its sources make."""

import shutil
import subprocess
from importlib import resources
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
CLIENT = REPO / "client"
ASSETS = resources.files("iomine.report") / "assets"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A copy of the client's sources with the packages that its lock file names."""
    if shutil.which("npm") is None:
        pytest.skip("Node and npm are not here: they rebuild the client, and nothing else needs them")
    copy = tmp_path_factory.mktemp("client") / "client"
    shutil.copytree(CLIENT, copy, ignore=shutil.ignore_patterns("node_modules"))
    # Its tests read the colours of reports.
    style = Path("iomine") / "report" / "templates" / "report.css"
    (copy.parent / style).parent.mkdir(parents=True)
    shutil.copy(REPO / style, copy.parent / style)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
    installed = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    if installed.returncode:
        pytest.skip(f"the npm registry is out of reach: {installed.stderr.splitlines()[-1]}")
    return copy


def test_rebuild_gives_the_same_bytes(client, tmp_path):
    """What is committed is what the committed sources make; `npm ci && npm run build` in client/ makes it anew."""
    subprocess.run(["node", "build.mjs", tmp_path], cwd=client, check=True)
    built = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert built == {asset.name: asset.read_bytes() for asset in ASSETS.iterdir()}


def test_client_passes_its_own_checks(client):
    """The types fit, and what is drawn and found is what looking at every row gives."""
    for script in ("check", "test"):
        done = subprocess.run(["npm", "run", "--silent", script], cwd=client, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_client_can_be_put_into_a_page():
    """Nothing in the script ends the block that it stands in, and nothing in the style."""
    script, style = ((ASSETS / name).read_text(encoding="utf-8").lower() for name in ("explorer.js", "explorer.css"))
    assert "</script" not in script
    assert "<!--" not in script
    assert "</style" not in style


def test_licences_of_what_is_bundled_ship_with_it():
    """Each package that is in the script is named with its version and the whole of its licence."""
    text = (ASSETS / "LICENSES.txt").read_text(encoding="utf-8")
    assert text.startswith("d3-array ")
    assert text.count("THE SOFTWARE IS PROVIDED") == 1
