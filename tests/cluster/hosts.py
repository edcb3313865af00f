"""Hosts made out of network namespaces: each has an address of its own, sees this host's files, and can be cut off."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache

HUB = "10.77.0.1"
_PREFIX = f"iomine{os.getpid()}-"


def why_not() -> str:
    """Why there can be no such hosts here, empty where there can."""
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    if shutil.which("ip") is None:
        return "iproute2 is not here"
    return _refusal()


@cache
def _refusal() -> str:
    name = f"{_PREFIX}probe"
    for command in (["netns", "add", name], ["-n", name, "link", "add", "probe", "type", "bridge"]):
        if (tried := subprocess.run(["ip", *command], check=False, capture_output=True, text=True)).returncode:
            break
    subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
    return f"the system refuses network namespaces: {tried.stderr.strip()}" if tried.returncode else ""


def within(host: str, *command: str) -> list[str]:
    """The command as one that runs on a host."""
    return ["ip", "netns", "exec", _PREFIX + host, *command]


def cut(host: str) -> None:
    """Pulls the cable: nothing that the host sends arrives, and nothing reports it."""
    _ip("-n", _PREFIX + host, "link", "set", "eth0", "down")


def mend(host: str) -> None:
    """Puts the cable back."""
    _ip("-n", _PREFIX + host, "link", "set", "eth0", "up")


@contextmanager
def network(*hosts: str) -> Iterator[None]:
    """A host called hub, at `HUB`, and others, all on one switch inside the hub and without a way out."""
    with ExitStack() as stack:
        for number, host in enumerate(("hub", *hosts), 1):
            name = _PREFIX + host
            _ip("netns", "add", name)
            stack.callback(_ip, "netns", "del", name)
            _ip("-n", name, "link", "set", "lo", "up")
            if host == "hub":
                _ip("-n", name, "link", "add", "eth0", "type", "bridge")
            else:
                _ip("-n", _PREFIX + "hub", "link", "add", f"port{number}", "type", "veth", "peer", "name", "eth0", "netns", name)
                _ip("-n", _PREFIX + "hub", "link", "set", f"port{number}", "master", "eth0", "up")
            _ip("-n", name, "address", "add", f"10.77.0.{number}/24", "dev", "eth0")
            _ip("-n", name, "link", "set", "eth0", "up")
        yield


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)
