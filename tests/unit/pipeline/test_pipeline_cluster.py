import ast
import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from distributed import Client, LocalCluster, Nanny
from sweeping import wait_for

from iomine.errors import NoWorkersError, UsageError, WarehouseError, WorkersError
from iomine.pipeline import progress
from iomine.pipeline.workers import cluster
from iomine.pipeline.workers.cluster import Workers, map_unordered, own_workers, standing_workers
from iomine.pipeline.workers.environment import KEPT_MEMORY
from iomine.pipeline.workers.model import task_memory_bytes


@pytest.fixture(scope="module")
def workers(scheduler):
    with Client(scheduler, set_as_default=False) as connected:
        yield Workers(connected)


def refuse(item):
    raise WarehouseError(f"no room for {item}")


def stumble(item):
    raise ZeroDivisionError(f"over\n{item}")


def test_every_item_comes_back_with_its_result(workers):
    """In whatever order they are done, each result stands beside the item that it is of."""
    assert {n: n + 100 for n in range(50)} == dict(map_unordered(workers, lambda item, more: item + more, range(50), 100))


def test_a_task_has_an_equal_part_of_its_workers_memory(workers):
    """Outside of workers there is no such part."""
    ((worker,),) = (workers.client.scheduler_info()["workers"].values(),)
    ((_, held),) = map_unordered(workers, lambda _: task_memory_bytes(), [0])
    assert worker["memory_limit"] // worker["nthreads"] == held > 0
    assert task_memory_bytes() is None


def test_nothing_to_do_is_done_at_once(workers):
    """No items, no results, and no waiting for some."""
    assert [] == list(map_unordered(workers, str, []))


def test_no_more_is_in_flight_than_the_workers_can_soon_take(workers):
    """Items are drawn as workers come free: a million logs do not become a million futures."""
    drawn = done = most = 0

    def items():
        nonlocal drawn
        while drawn < 100:
            drawn += 1
            yield drawn

    for _ in map_unordered(workers, abs, items()):
        done += 1
        most = max(most, drawn - done)

    assert 100 == done
    assert most <= cluster._IN_FLIGHT_PER_THREAD * workers.thread_count()


@pytest.fixture
def nobody():
    """A scheduler to which no worker has come yet."""
    with LocalCluster(n_workers=0, processes=False, threads_per_worker=1, dashboard_address="127.0.0.1:0") as empty:
        yield empty


@pytest.fixture
def reported():
    """What is reported of progress."""
    heard: list[tuple[str, int, int]] = []
    progress.listen(lambda *news: heard.append(news))
    yield heard
    progress.listen(None)


def _scaled_once_heard(cluster: LocalCluster, reported: list[tuple[str, int, int]]) -> None:
    while not reported:
        time.sleep(0.05)
    cluster.scale(1)


def test_what_is_in_flight_follows_the_workers_that_come(nobody, reported):
    """Where there is no worker yet a few items wait; as workers come, more are handed out, four to each of their threads."""
    drawn = 0

    def items():
        nonlocal drawn
        while True:
            drawn += 1
            yield drawn

    with Client(nobody, set_as_default=False) as client:
        results = map_unordered(Workers(client), abs, items())
        threading.Thread(target=_scaled_once_heard, args=(nobody, reported), daemon=True).start()
        next(results)
        assert 4 == drawn
        nobody.scale(3)
        client.wait_for_workers(3)
        next(results)

    assert 4 * 3 + 1 == drawn
    assert [(progress.WAITING, 0, 1), (progress.WAITING, 1, 1)] == sorted(set(reported))


def test_work_is_handed_out_for_workers_that_may_come(nobody):
    """Else a cluster that grows by what waits would see no reason to grow."""
    with Client(nobody, set_as_default=False) as client:
        assert [1, 40] == [Workers(client, most).capacity() for most in (0, 40)]


def test_workers_that_never_come_are_not_waited_for_forever(nobody, reported):
    """Missing workers are reported at once, and after the set time one sentence ends the wait."""
    with Client(nobody, set_as_default=False) as client, pytest.raises(NoWorkersError) as error:
        list(map_unordered(Workers(client, patience_seconds=0.5), abs, [1]))

    assert str(error.value).startswith("There was no worker for 0.5 s: see what keeps them, and sweep again")
    assert {(progress.WAITING, 0, 1)} == set(reported)


def test_a_failure_that_was_foreseen_comes_back_as_it_was_raised(workers):
    """A full disk on a worker is reported in the same sentence as one here."""
    with pytest.raises(WarehouseError, match=r"^no room for 1$"):
        list(map_unordered(workers, refuse, [1]))


def test_any_other_failure_is_reported_in_one_line(workers):
    """The kind of the fault and its words, in a sentence that may be retried."""
    reported = r"^Workers could not do a part of the work \(ZeroDivisionError: over 1\)\.$"
    with pytest.raises(WorkersError, match=reported):
        list(map_unordered(workers, stumble, [1]))


@pytest.mark.proof
def test_a_cluster_of_its_own_leaves_nothing_behind(tmp_path, monkeypatch):
    """Its workers are processes with one thread each, gone afterwards, and the working directory stays as it was."""
    monkeypatch.chdir(tmp_path)
    with own_workers(2) as own:
        pids = own.client.run(os.getpid)
        assert [1, 1] == list(own.client.nthreads().values())
        assert os.getpid() not in pids.values()
        nannies = [nanny.address for nanny in own.client.cluster.workers.values()]
        addresses = [own.client.scheduler.address, *own.client.nthreads(), *nannies]
        assert {"tls"} == {address.partition(":")[0] for address in addresses}
        strangers_are_refused(addresses[:-1])
        pages_are_empty(own)

    assert [] == list(tmp_path.iterdir())
    assert not any(is_running(pid) for pid in pids.values())


def test_allocators_of_workers_start_with_the_settings_that_keep_memory():
    """The server that they are forked from has them when it starts, and this process does not keep them."""
    with own_workers(1) as own:
        (environ,) = own.client.run(lambda: Path("/proc/self/environ").read_text(encoding="utf-8")).values()

    started = dict(variable.partition("=")[::2] for variable in environ.split("\0"))
    assert KEPT_MEMORY == {name: started.get(name) for name in KEPT_MEMORY}
    assert "DUCKDB_JE_MALLOC_CONF" not in os.environ


def test_work_that_is_done_stays_done_where_a_cluster_cannot_be_closed(monkeypatch):
    """Dask fails to close workers of which one is just being replaced; its workers end nevertheless."""

    async def fail(*_, **__):
        raise AssertionError("can only join a started process")

    with own_workers(1) as own:
        pids = own.client.run(os.getpid)
        monkeypatch.setattr(Nanny, "close", fail)

    assert 1 == len(pids)
    assert wait_for(lambda: not any(is_running(pid) for pid in pids.values()), 10)


@pytest.mark.parametrize("kind", ["LocalCluster", "SLURMCluster"])
def test_whoever_starts_a_scheduler_gives_it_keys(kind):
    """There is one place for each kind, which all commands go through, and it names its security."""
    root = Path(cluster.__file__).parents[3]
    calls = [
        call
        for folder in ("iomine", "flows")
        for file in (root / folder).rglob("*.py")
        if kind in (text := file.read_text(encoding="utf-8"))
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == kind
    ]
    assert [True] == ["security" in {keyword.arg for keyword in call.keywords} for call in calls]


# Comes with a key of its own, and with none.
STRANGER = """
import os, sys
uid, *addresses = sys.argv[1:]
from distributed import Client, Security
# While it may still read the packages, which can lie in a folder of the user who runs the tests.
stranger = Security.temporary()
if int(uid):
    os.setgid(int(uid))
    os.setuid(int(uid))
for address in addresses:
    for place, security in ((address, stranger), (address.replace("tls:", "tcp:"), None)):
        try:
            Client(place, timeout=2, security=security, set_as_default=False).run_on_scheduler(os.getuid)
        except Exception as refusal:
            print("refused", flush=True)
        else:
            print("let in", flush=True)
os._exit(0)
"""
NOBODY = 65534


def strangers_are_refused(addresses):
    """Neither another user nor the same one can talk to a scheduler or worker without its key."""
    uid = NOBODY if os.getuid() == 0 else 0
    reported = subprocess.run(
        [sys.executable, "-c", STRANGER, str(uid), *addresses],
        capture_output=True,
        text=True,
        timeout=120,
        cwd="/",
        env=os.environ | {"HOME": "/nonexistent"},
        check=False,
    )
    assert ["refused"] * 2 * len(addresses) == reported.stdout.split(), reported.stderr


def pages_are_empty(own):
    """What a scheduler would show over HTTP, it would show to everybody."""
    server = own.client.cluster.scheduler.http_server
    with socket.create_connection((server.address, server.port), timeout=10) as plain:
        plain.sendall(b"GET /info/main/workers.html HTTP/1.0\r\n\r\n")
        assert b" 404 " in plain.recv(100)


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_scheduler_that_is_there_is_used(scheduler):
    """Its address gives a client of it."""
    with standing_workers(scheduler) as workers:
        assert scheduler == workers.client.scheduler.address


@contextlib.contextmanager
def listener(answer):
    """Something that is no scheduler and listens on a port."""

    def serve():
        with contextlib.suppress(OSError):
            while True:
                peer, _ = server.accept()
                peer.sendall(answer)
                kept.append(peer)

    kept: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        for peer in kept:
            peer.close()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense", "foo://head:1", "tcp://no.such.host.invalid:8786"])
def test_an_address_without_a_scheduler_is_reported_soon(address, monkeypatch):
    """One sentence with the address, within the time that is set for an answer."""
    monkeypatch.setattr(cluster, "_ANSWER_SECONDS", 0.5)
    began_at = time.monotonic()

    with pytest.raises(UsageError, match=rf"^No Dask scheduler answers at {address}: start one, or leave --scheduler out\.$"):
        cluster.check(address)
    assert time.monotonic() - began_at < 3


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.0 400 Bad Request\r\n\r\n"])
def test_something_else_at_the_address_is_not_waited_for(answer, monkeypatch):
    """A server of another kind, silent or not, is no scheduler: a client would wait for it for ever."""
    monkeypatch.setattr(cluster, "_ANSWER_SECONDS", 0.5)

    with listener(answer) as address, pytest.raises(UsageError, match="No Dask scheduler answers"):
        cluster.check(address)


def test_the_address_of_a_worker_is_not_taken_for_the_schedulers(workers):
    """The sentence says what is at the address."""
    (worker,) = workers.client.nthreads()

    with pytest.raises(UsageError, match=f"At {worker} is not a Dask scheduler but a Worker"):
        cluster.check(worker)
