import contextlib
import os
import socket
import threading
import time

import pytest
from distributed import Client

from iomine.errors import UsageError, WarehouseError, WorkersError
from iomine.pipeline import cluster
from iomine.pipeline.cluster import client, map_unordered


@pytest.fixture(scope="module")
def connected(scheduler):
    with Client(scheduler, set_as_default=False) as connected:
        yield connected


def refuse(item):
    raise WarehouseError(f"no room for {item}")


def stumble(item):
    raise ZeroDivisionError(f"over\n{item}")


def test_every_item_comes_back_with_its_result(connected):
    """In whatever order they are done, each result stands beside the item that it is of."""
    assert {n: n + 100 for n in range(50)} == dict(map_unordered(connected, lambda item, more: item + more, range(50), 100))


def test_nothing_to_do_is_done_at_once(connected):
    """No items, no results, and no waiting for some."""
    assert [] == list(map_unordered(connected, str, []))


def test_no_more_is_in_flight_than_the_workers_can_soon_take(connected):
    """Items are drawn as workers come free: a million logs do not become a million futures."""
    drawn = done = most = 0

    def items():
        nonlocal drawn
        while drawn < 100:
            drawn += 1
            yield drawn

    for _ in map_unordered(connected, abs, items()):
        done += 1
        most = max(most, drawn - done)

    assert 100 == done
    assert most <= cluster._IN_FLIGHT_PER_WORKER * sum(connected.nthreads().values())


def test_a_failure_that_was_foreseen_comes_back_as_it_was_raised(connected):
    """A full disk on a worker is told in the same sentence as one here."""
    with pytest.raises(WarehouseError, match=r"^no room for 1$"):
        list(map_unordered(connected, refuse, [1]))


def test_any_other_failure_is_told_in_one_line(connected):
    """The kind of the fault and its words, in a sentence that may be retried."""
    told = r"^Workers could not do a part of the work \(ZeroDivisionError: over 1\)\.$"
    with pytest.raises(WorkersError, match=told):
        list(map_unordered(connected, stumble, [1]))


def test_a_cluster_of_its_own_leaves_nothing_behind(tmp_path, monkeypatch):
    """Its workers are processes with one thread each, gone afterwards, and the working directory stays as it was."""
    monkeypatch.chdir(tmp_path)
    with client(workers=2) as own:
        pids = own.run(os.getpid)
        assert [1, 1] == list(own.nthreads().values())
        assert os.getpid() not in pids.values()

    assert [] == list(tmp_path.iterdir())
    assert not any(is_running(pid) for pid in pids.values())


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_scheduler_that_is_there_is_used(scheduler):
    """Its address gives a client of it."""
    with client(scheduler) as connected:
        assert scheduler == connected.scheduler.address


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
def test_an_address_without_a_scheduler_is_told_soon(address, monkeypatch):
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


def test_the_address_of_a_worker_is_not_taken_for_the_schedulers(connected):
    """The sentence says what is at the address."""
    (worker,) = connected.nthreads()

    with pytest.raises(UsageError, match=f"At {worker} is no Dask scheduler but a Worker"):
        cluster.check(worker)
