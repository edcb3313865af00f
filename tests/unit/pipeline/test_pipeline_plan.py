import datetime as dt
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from iomine.pipeline.ingest import plan
from iomine.sources.darshan import log_id_of
from iomine.units import MIB

sizes = st.lists(st.integers(0, 8 * MIB), max_size=60)
workers_asked = st.integers(1, 16)


def logs_of(found: list[tuple[int, int]]) -> list[plan.NewLog]:
    """Logs of the given sizes and nights; ids are hashes, so they come in no order."""
    return [
        plan.NewLog(f"/{n}", log_id_of(sha256), sha256, size, night)
        for n, (size, day) in enumerate(found)
        for night, sha256 in ((dt.date(2024, 4, 1 + day), f"{n * 7919 % 10007:064x}"),)
    ]


@given(sizes, workers_asked)
def test_cutting_loses_nothing_and_keeps_the_order(found, workers):
    """Pieces laid end to end are the sequence that was cut; none is empty."""
    pieces = plan.cut(enumerate(found), workers)

    assert list(range(len(found))) == [item for piece, _ in pieces for item in piece]
    assert all(piece for piece, _ in pieces)


@given(sizes, workers_asked, st.integers(0, 1 << 30))
def test_a_piece_passes_its_share_of_what_is_left_by_its_last_item_only(found, workers, later):
    """No piece goes on after it has reached its share, and only the last of all may fall short of it."""
    pieces = plan.cut(enumerate(found), workers, later)

    left = later + sum(total for _, total in pieces)
    for number, (piece, total) in enumerate(pieces):
        share = plan.bytes_per_batch(left, workers)
        assert total >= share or number == len(pieces) - 1
        assert total - (found[piece[-1]] + plan._LOG_OVERHEAD_BYTES) < share
        left -= total


@given(st.integers(2, 8), st.integers(10, 1000))
def test_pieces_get_smaller_so_that_workers_end_together(workers, count):
    """With equal items, the last pieces are of the smallest size, and no piece is larger than the one before."""
    totals = [total for _, total in plan.cut(((None, MIB // 4) for _ in range(count)), workers)]

    assert sorted(totals[:-1], reverse=True) == totals[:-1]
    assert totals[-1] < 2 * MIB


@given(st.integers(0, 1 << 50), st.integers(1, 10_000))
def test_batches_are_worth_their_while_and_bounded(left, workers):
    """However much there is to do, a batch is between one and sixteen MiB."""
    assert MIB <= plan.bytes_per_batch(left, workers) <= 16 * MIB


def test_what_one_worker_reads_alone_is_one_batch_a_night():
    """Nobody waits for the end of a batch then, and the files of one need not be merged."""
    logs = logs_of([(MIB, 0), (5 * MIB, 0), (MIB, 1), (0, 0)])
    assert plan.is_little(log.size_bytes for log in logs)
    assert {3: 1, 1: 1} == Counter(len(batch.logs) for batch in plan.batches("blue", logs, 1))


@given(st.lists(st.tuples(st.integers(0, 4 * MIB), st.integers(0, 5)), max_size=60), st.integers(1, 8))
def test_batches_hold_each_log_once_and_one_night_each(found, workers):
    """Every log is in one batch, with its id and in the night on which it ended."""
    logs = logs_of(found)
    batches = plan.batches("blue", logs, workers)

    expected = sorted((log.night, log.path, log.log_id) for log in logs)
    assert expected == sorted((batch.night, path, log_id) for batch in batches for path, log_id in batch.logs)
    assert {"blue"} >= {batch.cluster for batch in batches}


@given(st.lists(st.tuples(st.integers(0, 4 * MIB), st.integers(0, 2)), max_size=60))
def test_batches_of_a_night_are_ranges_of_log_ids(found):
    """Batches of a night do not overlap and each is sorted, so their files laid end to end are sorted by log id."""
    batches = plan.batches("blue", logs_of(found), 1)

    for night in {batch.night for batch in batches}:
        of_night = sorted([log_id for _, log_id in batch.logs] for batch in batches if batch.night == night)
        laid_out = [log_id for ids in of_night for log_id in ids]
        assert sorted(laid_out) == laid_out


@given(st.lists(st.tuples(st.integers(0, 4 * MIB), st.integers(0, 2)), max_size=60))
def test_the_largest_batches_come_first(found):
    """So that none is left over when all the others are done."""
    given_out = [batch.size_bytes for batch in plan.batches("blue", logs_of(found), 2)]

    assert sorted(given_out, reverse=True) == given_out
