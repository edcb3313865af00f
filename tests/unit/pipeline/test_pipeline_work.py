import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iomine.errors import WarehouseError
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
