"""What gathering would change, in words and as a picture."""

import re
from typing import Any

import pytest

from iomine.report.forwarding import (
    advice,
    by_count,
    files_advice,
    files_say,
    gathered,
    gathered_files,
    is_vain,
    left_picture,
    says,
    speed,
    vain_words,
    window_decides,
)
from iomine.units import GIB, KIB, MIB

NPROCS = 64


def way(left: int, count: int = 8, window: float | None = None, **more: Any) -> dict[str, Any]:
    """A row of `coalescing`: writes of a shared file."""
    mode = "blocking" if window is None else "write_behind"
    return {
        "log_id": "a", "layer": "posix", "mount": "/s", "access": "shared", "op": "write", "mapping": "blocks",
        "merge_mode": mode, "forwarder_count": count, "window_seconds": window,
        "request_count": 1000, "left_count": left, "left_mean_bytes": MIB,
        "left_stripe_client_count": 1, "stripe_client_count": 4, "held_bytes": None if window is None else 3 * MIB, **more,
    }  # fmt: skip


def test_collective_calls_come_first_and_many_forwarders_before_few() -> None:
    """The hints have the log's own numbers, with the nodes where these are known."""
    group = [way(10, 1), way(200, 16, mapping="host"), way(250, 32), way(500, 48), way(1, 32, 1.0)]
    assert (
        says(group, NPROCS)
        == "32 forwarders would leave 250 of 1,000 writes of shared files on /s, gathered in collective calls."
    )
    hints, libraries = advice(group, NPROCS)
    assert "romio_cb_write=enable, cb_nodes=32, cb_buffer_size=4194304, striping_unit=4194304: 250 of 1,000 writes" in hints
    for knob in ("2 I/O concentrators a node (H5Pset_fapl_subfiling)", "NumAggregators=32", "nc_num_aggrs_per_node=2"):
        assert knob in libraries


@pytest.mark.parametrize(
    ("group", "said"),
    [
        ([way(100, 16, 1.0)], "Let 16 ranks write for all and hold data for 1 s"),
        ([way(100, NPROCS, 0.01)], "Let each rank gather what it writes within 10 ms before it writes it"),
        ([way(100, 16, 1.0, op="read", merge_mode="read_ahead")], "Read ahead in blocks of 4.0 MiB on 16 ranks"),
        ([way(100, 16, op="read")], "Read in collective calls, with MPI-IO's hints romio_cb_read=enable, cb_nodes=16"),
    ],
)
def test_what_to_set_goes_by_what_merging_takes(group: Any, said: str) -> None:
    """Writing behind, a buffer of one's own, reading ahead, or collective reads."""
    assert advice(group, NPROCS)[0].startswith(said)


def test_reads_that_nobody_can_foresee_are_at_best() -> None:
    """They are no advice, and said to be the best case."""
    group = [way(10, 8, 1.0, op="read", merge_mode="at_most")]
    assert advice(group, NPROCS) == []
    assert "would leave at best 10 of 1,000 reads" in says(group, NPROCS)


@pytest.mark.parametrize(("left", "vain"), [(667, True), (666, False)])
def test_aggregation_that_would_not_help_is_said(left: int, vain: bool) -> None:
    """Below one and a half times fewer there is no advice, and it is said; above, there is just none."""
    group = [way(900), way(left, 8, 1.0)]
    assert (is_vain(group), advice(group, NPROCS)) == (vain, [])
    assert vain_words(group).startswith(f"Aggregation would not help: at best, {left} of 1,000 writes")


def test_the_window_decides_from_twice_on() -> None:
    """The longest against the shortest, for the number of forwarders that is spoken of."""
    assert window_decides([way(20, 8, 1.0), way(39, 8, 0.01), way(500, 4, 0.01)], NPROCS) is None
    said = window_decides([way(20, 8, 1.0), way(40, 8, 0.01)], NPROCS)
    lefts = "8 forwarders would leave 20 within 1 s and 40 within 10 ms"
    assert said == f"The window decides: {lefts}, of 1,000 writes of shared files on /s."


def test_groups_have_a_row_for_each_number() -> None:
    """What is left by window, none where a window changes nothing; MPI-IO's own requests are left out."""
    small = [{**way(5, 1), "access": "own", "request_count": 10}]
    (first, second) = gathered([*small, way(20, 8, 1.0), way(300, 8), way(400, 16), {**way(1), "layer": "mpiio"}])
    assert second == small
    assert [{None: 300, 0.01: None, 1.0: 20}, {None: 400, 0.01: None, 1.0: None}] == [row["lefts"] for row in by_count(first)]


def burst(**more: Any) -> dict[str, Any]:
    return {
        "mount": "/s", "file_count": 200_448, "rank_count": 200_448, "nprocs": 200_448, "host_count": 16_704,
        "write_bytes": 415 * GIB, "write_count": 10, "start_seconds": 1.0, "end_seconds": 179.0, "peak_create_count": 100_000,
        **more,
    }  # fmt: skip


def test_files_are_gathered_n_into_m() -> None:
    """One for each host, for 12 ranks, for 298 and for all, each number once; creates go with the files."""
    rows = gathered_files(burst())
    assert [16_704, 673, 1] == [row["left_file_count"] for row in rows]
    assert [8_334, 336, 1] == [row["left_create_count"] for row in rows]
    assert "each has to write 146 KiB/s to end in the 2 min 58 s that it took." in files_say(burst(), rows)
    assert "NumAggregators=16704, SIONlib with 16,704 physical files" in files_advice(rows)[1]


def test_what_is_not_known_of_files_is_left_out() -> None:
    """Times, creates, bytes and nodes; few files burden nobody."""
    unknown = dict.fromkeys(("host_count", "write_bytes", "write_count", "start_seconds", "end_seconds", "peak_create_count"))
    rows = gathered_files(burst(**unknown))
    said = "200,448 ranks wrote 200,448 files of their own on /s. 16,704 forwarders would leave 16,704 files."
    assert files_say(burst(**unknown), rows) == said
    assert files_advice(gathered_files(burst(file_count=90, rank_count=90, nprocs=90))) == []
    assert gathered_files(burst(file_count=1)) == []


@pytest.mark.parametrize(("rate", "said"), [(0, "0 B/s"), (1023, "1023 B/s"), (3.5527 * MIB, "3.55 MiB/s"), (KIB, "1 KiB/s")])
def test_speeds_have_three_digits(rate: float, said: str) -> None:
    """In the largest unit that they fill."""
    assert speed(rate) == said


def test_the_picture_has_bars_for_both_windows() -> None:
    """One that changes nothing is as high as the line of what was made, and a name in it is text."""
    picture = left_picture(
        gathered([way(100, 8, mount="<b>\x1b"), way(10, 8, 1.0, mount="<b>\x1b"), way(500, 16, mount="<b>\x1b")])
    )
    assert (2, 2) == tuple(picture.count(f'<rect class="{kind}"') for kind in ("tick", "held"))
    assert "16 forwarders: 1,000 left" in picture
    assert not re.search("<b>|\x1b", picture)
