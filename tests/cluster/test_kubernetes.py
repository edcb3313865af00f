"""The Dask cluster of the manifests for Kubernetes, its commands and settings started here as they stand there."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import darshan
import pytest
import yaml
from standing import Standing
from sweeping import IOMINE, state

from iomine.pipeline.sweep import Settings, run
from iomine.pipeline.workers.certificates import certified

MANIFEST = Path(__file__).parents[2] / "deploy" / "kubernetes" / "workers.yaml"
LOGS = Path(darshan.__file__).parent


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Address of the scheduler, and what the pod of a sweep has in its environment."""
    made, place = certified(), tmp_path / "tls"
    place.mkdir()
    for name, text in {"ca.crt": made.tls_ca_file, "tls.crt": made.tls_client_cert, "tls.key": made.tls_client_key}.items():
        (place / name).write_text(text)
    items = yaml.safe_load(MANIFEST.read_text())["items"]
    containers = [item["spec"]["template"]["spec"]["containers"][0] for item in items if item["kind"] == "Deployment"]
    host = Standing.on_a_free_port(tmp_path).address.removeprefix("tcp://")
    port = host.partition(":")[2]
    processes = []
    try:
        for container in containers:
            env = {each["name"]: each["value"].replace("/tls/", f"{place}/") for each in container["env"]}
            program, *arguments = (
                each.replace("iomine-scheduler:8786", host).replace("8786", port) for each in container["command"]
            )
            command = [Path(sys.executable).with_name(program), *arguments, "--host", "127.0.0.1"]
            processes.append(
                subprocess.Popen(command, env=os.environ | env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            )
        yield f"tls://{host}", os.environ | env
    finally:
        for process in processes:
            process.terminate()
            process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return not probe.connect_ex(("127.0.0.1", port))


def test_sweep_on_the_workers_of_the_manifests(cluster: tuple[str, Mapping[str, str]], tmp_path: Path) -> None:
    """With their certificate a sweep has them do its work, into the rows that its own workers give; without, they do nothing."""
    address, env = cluster
    warehouse = tmp_path / "warehouse"
    command = [*IOMINE, "sweep", LOGS, "--scheduler", address, "--warehouse", warehouse]

    assert 0 == subprocess.run(command, env=env, check=False, capture_output=True).returncode
    run(Settings((LOGS,), tmp_path / "own"))
    assert state(tmp_path / "own") == state(warehouse)

    refused = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (2, 1) == (refused.returncode, len(refused.stderr.splitlines()))
    assert refused.stderr.startswith(f"No Dask scheduler answers at {address}")
