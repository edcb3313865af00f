"""Writes `deploy/requirements.txt`: what a site installs, each package with its version and hashes: `python deploy/lock.py`.

Beside it, `deploy/iomine.cdx.json` lists the same packages with their licences, as the wheel carries it.

Versions are those that are installed beside the program, which its tests ran with. uv (https://docs.astral.sh/uv) finds what
other systems and Python versions need, and the hashes. Run it after the dependencies in `pyproject.toml` changed, or to take up
newer ones once the tests have passed with them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import NamedTemporaryFile

from sbom import needed, sbom

_HERE = Path(__file__).parent
LOCK = _HERE / "requirements.txt"
LIST = _HERE / "iomine.cdx.json"
_HEADER = """\
# Python packages of an installation of iomine, with versions and hashes. Written by deploy/lock.py.
#
#   pip install --require-hashes -r deploy/requirements.txt
#   pip install --no-deps --no-build-isolation .

"""
_EXTRAS = ("ldap", "mcp", "slurm")
# To build the wheel, where nothing without a hash may be fetched for it.
_BUILD = "hatchling"
# Whatever index the person who runs this uses, hashes are those of the public one, and the file names no other.
_COMPILE = (
    *("uv", "pip", "compile", "--universal", "--python-version", "3.11", "--generate-hashes", "--no-header", "--quiet"),
    *("--no-config", "--no-annotate", "--no-emit-index-url", "--default-index", "https://pypi.org/simple"),
)


def locked() -> str:
    """The file's text.

    Raises:
        subprocess.CalledProcessError: the versions do not go together.
        FileNotFoundError: there is no uv.
    """
    versions = {name: package.version for name, package in needed().items() if name != "iomine"}
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("UV_", "PIP_"))}
    with NamedTemporaryFile("w", suffix=".in") as installed, NamedTemporaryFile("w", suffix=".in") as build:
        installed.write("".join(f"{name}=={version}\n" for name, version in versions.items()))
        installed.flush()
        build.write(f"{_BUILD}\n")
        build.flush()
        extras = [argument for extra in _EXTRAS for argument in ("--extra", extra)]
        command = [*_COMPILE, "pyproject.toml", build.name, *extras, "--constraint", installed.name]
        done = subprocess.run(command, check=True, cwd=_HERE.parent, env=environment, stdout=subprocess.PIPE, text=True)  # noqa: S603
    return _HEADER + done.stdout


if __name__ == "__main__":
    try:
        LOCK.write_text(locked(), encoding="utf-8")
        LIST.write_text(json.dumps(sbom(), indent=1) + "\n", encoding="utf-8")
    except FileNotFoundError:
        sys.exit("There is no uv on the PATH: `pip install uv` gives one.")
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
