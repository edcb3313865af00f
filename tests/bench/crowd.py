"""Measures `iomine serve` in a crowd: clients that look at pages, beside connections that are only in the way.

`python tests/bench/crowd.py` prints a table, which says little where the machine has other work, and keeps it for
docs/reliability.md. A client looks at a page,
thinks, and looks at the next; one page in ten is one that nobody has asked for yet. The slow connections are idle, say a byte of
a header every other second, or never send the body that they announce, and come back when they are cut off.
"""

import argparse
import asyncio
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[1]))

from facility import Facility
from sweeping import IOMINE, most_memory

RESULTS = Path(__file__).parents[2] / "build" / "crowd.md"
SAME = ("/", "/?by=user", "/?by=app", "/views/", "/views/findings?limit=200", "/views/logs?limit=200")
SLOW = (b"", b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"POST /mail/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999\r\n\r\n")
THINK_SECONDS = 5.0
NEW_SHARE = 0.1


@dataclass
class Seen:
    """What clients saw."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    cut_off: int = 0


async def polite(host: str, port: int, seen: Seen, end: float, chance: random.Random) -> None:
    """A client that looks at pages, and comes again when it is asked to."""
    await asyncio.sleep(chance.random() * THINK_SECONDS)
    while time.monotonic() < end:
        path = chance.choice(SAME)
        if chance.random() < NEW_SHARE:
            path = f"/views/logs?limit=100&uid.ge=-{chance.randrange(10**9)}"
        begun, wait = time.monotonic(), THINK_SECONDS
        try:
            status, wait = await asked(host, port, path)
        except (OSError, asyncio.IncompleteReadError, IndexError):
            status = "none"
        seen.seconds.append(time.monotonic() - begun)
        seen.statuses[status] += 1
        await asyncio.sleep(wait)


async def asked(host: str, port: int, path: str) -> tuple[str, float]:
    """The status of an answer that was read whole, and how long to wait until the next."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read()
        head = (await _rest(reader, answer)).partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:])
        return head[0].split(" ")[1], float(headers.get("retry-after", THINK_SECONDS))
    finally:
        writer.close()


async def _rest(reader: asyncio.StreamReader, answer: bytes) -> bytes:
    while piece := await reader.read(1 << 16):
        answer += piece
    return answer


async def slow(host: str, port: int, said: bytes, seen: Seen, end: float) -> None:
    """A connection that is in the way."""
    while time.monotonic() < end:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(said)
            with suppress(TimeoutError):
                while time.monotonic() < end:
                    with suppress(TimeoutError):
                        if not await asyncio.wait_for(reader.read(1 << 16), 2):
                            break
                    if said.startswith(b"GET"):
                        writer.write(b"x")
            seen.cut_off += 1
            writer.close()


async def crowd(address: str, clients: int, slow_ones: int, seconds: float) -> Seen:
    """All of them at once."""
    host, port = str(urlsplit(address).hostname), int(urlsplit(address).port or 0)
    seen, end, chance = Seen(), time.monotonic() + seconds, random.Random(7)
    held = [asyncio.create_task(slow(host, port, SLOW[number % len(SLOW)], seen, end)) for number in range(slow_ones)]
    await asyncio.sleep(1)
    await asyncio.gather(*(polite(host, port, seen, end, random.Random(chance.random())) for _ in range(clients)))
    for each in held:
        each.cancel()
    return seen


def cpu_seconds(process: int) -> float:
    """Time that a process has been given."""
    user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def measured(clients: int, slow_ones: int, seconds: float) -> str:
    """The rows of the table."""
    with tempfile.TemporaryDirectory() as folder:
        root = Facility(Path(folder)).root
        with subprocess.Popen(
            [*IOMINE, "serve", "--port", "0", "--warehouse", str(root)], stdout=subprocess.PIPE, text=True
        ) as server:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            seen = asyncio.run(crowd(address, clients, slow_ones, seconds))
            memory, busy = most_memory(server.pid), cpu_seconds(server.pid)
            server.terminate()
    taken = sorted(seen.seconds)
    answers = ", ".join(f"{count:,} of {status}" for status, count in sorted(seen.statuses.items()))
    rows = {
        "slow connections, and how often one was cut off": f"{slow_ones}, {seen.cut_off:,} times",
        "polite clients, and for how long": f"{clients}, {seconds:.0f} s",
        "their requests by status": answers,
        "half of them answered within": f"{statistics.median(taken):.3f} s",
        "99 of 100 within": f"{taken[int(len(taken) * 0.99)]:.2f} s",
        "all within": f"{taken[-1]:.2f} s",
        "memory of the server, at most": f"{memory / 2**20:.0f} MiB",
        "its CPU time": f"{busy:.0f} s on {len(os.sched_getaffinity(0))} cores",
        "load of the machine, other work with it": f"{os.getloadavg()[0]:.1f}",
    }
    return "".join(f"| {what} | {value} |\n" for what, value in rows.items())


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--slow", type=int, default=150)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    table = "| what | seen |\n|---|---|\n" + measured(options.clients, options.slow, options.seconds)
    print(table, end="")  # noqa: T201
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(table)


if __name__ == "__main__":
    main()
