"""Hands in `iomine nightly` to a Slurm of its own, and shows what the job wrote: `on_slurm.py SITE`."""

import os
import subprocess
import sys
from pathlib import Path

from slurm import running


def main(site: Path) -> None:
    """Waits for the job, and fails as it does."""
    with running() as slurm:
        environment = slurm.environment | {"IOMINE_CONFIG": str(site / "iomine.toml")}
        script = f"umask 027; exec {site}/opt/bin/iomine nightly"
        written = site / "job.log"
        command = ["sbatch", "--wait", f"--output={written}", "--wrap", script]
        done = subprocess.run(command, env=environment, check=False, cwd=os.sep, stdout=subprocess.DEVNULL)  # noqa: S603
        sys.stdout.write(written.read_text(errors="replace"))
        sys.exit(done.returncode)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
