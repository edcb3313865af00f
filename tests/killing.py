"""Commands that are killed at some moment, with all their processes or those of one part."""

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from sweeping import wait_for

_SLOWEST_SECONDS = 600


def family(pid: int) -> set[int]:
    """A process and all that descend from it."""
    children: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*"):
        # A thread may end meanwhile.
        with suppress(FileNotFoundError):
            children |= {int(child) for child in (task / "children").read_text().split()}
    return {pid}.union(*map(family, children))


def alive(pids: set[int]) -> list[str]:
    found = []
    for pid in pids:
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        # A process that has ended but not been collected has no command line.
        if command:
            found.append(command.replace(b"\0", b" ").decode("utf-8", "replace"))
    return found


def killed(command: Sequence[object], after: float, role: str = "") -> None:
    """Starts a command and kills processes of it after so many seconds, where it has not ended by then.

    Args:
        command: what is started.
        after: seconds.
        role: in the command line of those that are killed, of which one may have yet to be awaited; all of them if empty.
    """
    process = subprocess.Popen([*map(str, command)], start_new_session=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    pids: set[int] = set()

    def is_there() -> bool:
        nonlocal pids
        pids = {pid for pid in family(process.pid) if role in " ".join(alive({pid}))} if process.poll() is None else set()
        return bool(pids) or process.poll() is not None

    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        assert wait_for(is_there, _SLOWEST_SECONDS)
        for pid in pids if role else ():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not role:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(_SLOWEST_SECONDS)
    finally:
        os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
        process.wait()
