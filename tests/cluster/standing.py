"""A scheduler and workers that somebody else has started, each a process of its own."""

import os
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from distributed import Client

_DASK = (sys.executable, "-c", "from distributed.cli.{0} import main; main()")
# The shortest that Dask takes: it looks at heartbeats twice as often as they may be late.
_TTL_SECONDS = 5


def start(program: str, *arguments: str) -> subprocess.Popen[bytes]:
    interpreter, option, script = _DASK
    return subprocess.Popen(
        [interpreter, option, script.format(program), *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": f"{_TTL_SECONDS}s"},
    )


@dataclass
class Standing:
    """A scheduler and two workers, each a process that somebody else has started."""

    port: int
    scratch: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @classmethod
    def on_a_free_port(cls, scratch: Path) -> Self:
        """One that is yet to be started."""
        with socket.create_server(("127.0.0.1", 0)) as probe:
            return cls(probe.getsockname()[1], scratch)

    @property
    def address(self) -> str:
        """Where the scheduler listens."""
        return f"tcp://127.0.0.1:{self.port}"

    @property
    def scheduler(self) -> subprocess.Popen[bytes]:
        """The first that was started."""
        return self.processes[0]

    @property
    def workers(self) -> list[subprocess.Popen[bytes]]:
        """All the others."""
        return self.processes[1:]

    def start(self) -> None:
        """Starts all that is to be there, on the same address each time."""
        self.end()
        scheduler = ["--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard", "--no-show"]
        worker = [self.address, "--no-nanny", "--nthreads", "1", "--no-dashboard", "--local-directory", str(self.scratch)]
        self.processes = [start("dask_scheduler", *scheduler), *(start("dask_worker", *worker) for _ in range(2))]
        with Client(self.address, set_as_default=False, timeout=60) as client:
            client.wait_for_workers(2, timeout=60)

    def end(self) -> None:
        """Ends what is still there."""
        for process in self.processes:
            process.kill()
            process.wait()
