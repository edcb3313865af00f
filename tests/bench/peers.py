"""Environments of their own for the programs that iomine is held against, made once and kept."""

import subprocess
import sys
from pathlib import Path


def python_with(cache: Path, *requirements: str) -> Path:
    """The Python of an environment with these packages; made under the cache where it is not there yet.

    Args:
        cache: folder of environments.
        requirements: packages with their versions, the one that gives the environment its name first.
    """
    environment = cache / requirements[0].replace("==", "-")
    python, ready = environment / "bin/python", environment / "ready"
    if not ready.exists():
        sys.stderr.write(f"Making an environment for {requirements[0]} in {environment} ...\n")
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *requirements], check=True)
        ready.touch()
    return python
