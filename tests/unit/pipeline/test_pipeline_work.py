import datetime as dt
import errno
import os
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iomine.errors import UnreadableError, WarehouseError
from iomine.pipeline.ingest import work
from iomine.pipeline.ingest.reader import Batch, BatchResult, Limits, Refused
from iomine.pipeline.workers.cluster import Smaller
from iomine.units import MIB


def batch_of(count: int) -> Batch:
    return Batch("blue", dt.date(2024, 4, 18), tuple((f"/{n}", f"{n:016x}") for n in range(count)), count * MIB)


def broken_up(batch: Batch) -> list[BatchResult]:
    """What is left of a batch when everything that is made of it kills its workers too."""
    instead = work.after_deaths(batch)
    if isinstance(instead, Smaller):
        return [result for part in instead.items for result in broken_up(part)]
    return [instead]


@given(st.integers(2, 200))
def test_a_batch_that_its_workers_died_of_is_halved(count):
    """The halves are the batch, in its order, of its night and cluster, and neither is empty."""
    batch = batch_of(count)
    halves = work.after_deaths(batch).items

    assert batch.logs == halves[0].logs + halves[1].logs
    assert all(half.logs for half in halves)
    assert {("blue", batch.night)} == {(half.cluster, half.night) for half in halves}


@given(st.integers(1, 100))
def test_each_log_that_is_deadly_alone_is_refused_once(count):
    """With a reason, and so that another night may try again."""
    results = broken_up(batch_of(count))

    reported = "Every worker that read it died, one after the other."
    assert [(Refused(f"/{n}", reported, is_final=False),) for n in range(count)] == [result.refused for result in results]
    assert {(0, ())} == {(result.log_count, result.files) for result in results}


@pytest.mark.parametrize(
    "unit",
    [lambda folder: work.read_batch(batch_of(1), folder, Limits()), lambda folder: work.merge_all([], folder)],
    ids=["read", "merge"],
)
def test_a_worker_that_does_not_see_the_warehouse_says_so(tmp_path, unit):
    """It writes nothing: a folder of its own of the same name would be lost with what is in it."""
    reported = rf"^The worker on \S+ does not see {tmp_path}/staging: keep the warehouse where all workers see it\.$"
    with pytest.raises(WarehouseError, match=reported):
        unit(tmp_path / "staging")

    assert [] == list(Path(tmp_path).iterdir())


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", ["pipe", "device", "sparse", "loop", "closed"])
def test_what_has_taken_the_place_of_a_log_is_refused_and_not_waited_for(tmp_path, monkeypatch, kind):
    """Owners of logs can exchange them after they were found; none of it costs more than the log."""
    log = tmp_path / "a.darshan"
    _put(log, kind, monkeypatch)

    (refused,) = work.identify_all([str(log)])
    assert isinstance(refused, UnreadableError)
    assert (refused.is_final, True) == (False, _REASONS[kind] in refused.reason)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("part", ["part.0.parquet", "global.json"])
@pytest.mark.parametrize("kind", ["pipe", "device", "sparse", "loop", "closed"])
def test_a_folder_of_recorder_with_other_things_for_parts_is_refused(tmp_path, monkeypatch, kind, part):
    """The files beside `_metadata` are looked at when the folder is identified, which is the first that is known of them."""
    for name in ("_metadata", "part.0.parquet", "global.json"):
        (tmp_path / name).write_bytes(b"PAR1")
    (tmp_path / part).unlink()
    _put(tmp_path / part, kind, monkeypatch)

    (refused,) = work.identify_all([str(tmp_path / "_metadata")])
    assert _REASONS[kind] in refused.reason


_REASONS = {
    "pipe": "The file cannot be read: it is not a regular file.",
    "device": "The file cannot be read: it is not a regular file.",
    "sparse": "The file has more than 1.0 GiB, the limit for one file.",
    "loop": "Too many levels of symbolic links",
    "closed": "Permission denied",
}


def _put(place: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    match kind:
        case "pipe":
            os.mkfifo(place)
        case "device":
            place.symlink_to("/dev/zero")
        case "sparse":
            place.touch()
            os.truncate(place, 1 << 40)
        case "loop":
            place.symlink_to(place)
        case "closed":
            # Root may open everything.
            place.touch()
            system_open, system_stat = os.open, os.stat

            def closed(call, path, *given, **named):
                if str(path) == str(place):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
                return call(path, *given, **named)

            monkeypatch.setattr(os, "open", partial(closed, system_open))
            monkeypatch.setattr(os, "stat", partial(closed, system_stat))
