"""A real Slurm on this host: munge, a controller and three nodes, in a folder, on free ports and without accounting."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from sweeping import wait_for

NODES = ("n1", "n2", "n3")
_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo", "scontrol")
_START_SECONDS = 30
_STOP_SECONDS = 5

_CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={base}/munge/socket
SlurmctldPort={ports[0]}
SlurmctldPidFile={base}/slurmctld.pid
SlurmdPidFile={base}/slurmd.%n.pid
StateSaveLocation={base}/state
SlurmdSpoolDir={base}/spool.%n
SlurmctldLogFile={base}/slurmctld.log
SlurmdLogFile={base}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
ReturnToService=2
SlurmdTimeout=10
KillWait=2
{nodes}
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
_NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=4000 State=UNKNOWN"


class Slurm:
    """A Slurm that runs.

    Args:
        base: folder of its configuration and state.
    """

    def __init__(self, base: Path) -> None:
        self.base = base
        self.environment = os.environ | {"SLURM_CONF": str(base / "slurm.conf")}

    def ask(self, *command: str) -> list[str]:
        """Lines that a command of Slurm answers."""
        answer = subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True)
        return answer.stdout.splitlines()

    def jobs(self) -> dict[str, str]:
        """The node of every job that runs, by its number."""
        return dict(line.split() for line in self.ask("squeue", "--noheader", "--states=RUNNING", "--format=%A %N"))

    def lose(self, node: str) -> None:
        """Takes away a node with all that runs on it, as a failure of its power does."""
        end(self.base / f"slurmd.{node}.pid")
        for pid in self._jobs_processes_on(node):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def restore(self, node: str) -> None:
        """Gives the node back."""
        subprocess.run(["slurmd", "-N", node], env=self.environment, check=True)

    def _jobs_processes_on(self, node: str) -> list[int]:
        """Processes that it has started on a node; another Slurm of this host may have nodes of the same names."""
        theirs = {f"SLURMD_NODENAME={node}".encode(), f"SLURM_CONF={self.environment['SLURM_CONF']}".encode()}
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if theirs.issubset((process / "environ").read_bytes().split(b"\0")):
                    found.append(int(process.name))
        return found


def end(*pid_files: Path) -> None:
    """Ends the processes that files name, by their numbers alone."""
    pids = []
    for file in pid_files:
        with suppress(FileNotFoundError, ProcessLookupError, ValueError):
            pids.append(int(file.read_text()))
            os.kill(pids[-1], signal.SIGTERM)
    if not wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), _STOP_SECONDS):
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def why_not() -> str:
    """Why there can be no Slurm here, empty where there can."""
    if os.geteuid() != 0:
        return "only root can run a Slurm of its own"
    missing = [name for name in _PROGRAMS if shutil.which(name) is None]
    return f"Debian's slurm-wlm and munge are not here: {', '.join(missing)}" if missing else ""


@contextmanager
def running() -> Iterator[Slurm]:
    """A Slurm with idle nodes, gone afterwards with all of its jobs."""
    # Sockets have short names, and folders of pytest long ones.
    with tempfile.TemporaryDirectory(prefix="slurm-", ignore_cleanup_errors=True) as folder, ExitStack() as stack:
        base = Path(folder)
        base.chmod(0o711)
        slurm = Slurm(base)
        _configure(base)
        stack.callback(lambda: end(*base.glob("*.pid")))
        _start(slurm)
        stack.callback(_clear, slurm)
        yield slurm


def _configure(base: Path) -> None:
    host = socket.gethostname().partition(".")[0]
    ports = _free_ports(1 + len(NODES))
    nodes = "\n".join(_NODE.format(name=name, host=host, port=port) for name, port in zip(NODES, ports[1:], strict=True))
    (base / "slurm.conf").write_text(_CONF.format(base=base, host=host, ports=ports, nodes=nodes))
    for name in ("munge", "state"):
        (base / name).mkdir(mode=0o711)
    key = base / "munge" / "key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(1024))


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [probe.getsockname()[1] for probe in probes]


def _start(slurm: Slurm) -> None:
    munge = {"key-file": "munge/key", "socket": "munge/socket", "log-file": "munge/log", "seed-file": "munge/seed"}
    files = [f"--{option}={slurm.base}/{name}" for option, name in munge.items()]
    subprocess.run(["munged", "--force", f"--pid-file={slurm.base}/munged.pid", *files], check=True)
    subprocess.run(["slurmctld"], env=slurm.environment, check=True)
    for node in NODES:
        slurm.restore(node)
    if not wait_for(lambda: _idle(slurm) == len(NODES), _START_SECONDS):
        logs = "\n".join(path.read_text(errors="replace")[-2000:] for path in slurm.base.glob("*.log"))
        pytest.fail(f"Slurm does not start:\n{logs}")


def _idle(slurm: Slurm) -> int:
    try:
        return slurm.ask("sinfo", "--noheader", "--Node", "--format=%T").count("idle")
    except subprocess.CalledProcessError:
        return 0


def _clear(slurm: Slurm) -> None:
    slurm.ask("scancel", "--user=root")
    wait_for(lambda: not slurm.ask("squeue", "--noheader"), _STOP_SECONDS)
