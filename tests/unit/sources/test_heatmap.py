"""Heat maps."""

import math

import pytest
from heat_bins import heat_bins
from writing import Blueprint, Module, heatmap_record, words

from iomine.sources.darshan.heatmap import decode_heatmap, have_bytes

# What Darshan hashes `heatmap:POSIX` to, its bits read as a signed number.
_POSIX_ID = -1854637158407812995


@pytest.mark.parametrize("order", ["<", ">"])
def test_round_trip(order: str, read, rows) -> None:
    """Bins come out as they went in, in either byte order, and the layer follows from the record's id."""
    data = heatmap_record(order, [0, 2, 3], [4, 0, 6], id_=_POSIX_ID) + heatmap_record(order, [], [], rank=3)
    log = read(Blueprint({"HEATMAP": Module(1, [data])}, order=order))
    assert [
        {
            "file_id": _POSIX_ID,
            "rank": 0,
            "layer": "posix",
            "bin_seconds": 0.5,
            "bin_count": 3,
            **heat_bins(write=[0, 2, 3], read=[4, 0, 6]),
        },
        {"file_id": 5, "rank": 3, "layer": None, "bin_seconds": 0.5, "bin_count": 0, **heat_bins()},
    ] == rows(log, "heatmap_rank")
    assert [(2, "read", "")] == [(module.record_count, module.state, module.reason) for module in log.modules]


@pytest.mark.parametrize(
    "bad",
    [
        words("<", 5, 0, 0.5, 2**62, 0, 0),
        words("<", 5, 0, 0.5, -1, 0, 0),
        words("<", 5, 0, 0.0, 0, 0, 0),
        words("<", 5, 0, -0.5, 0, 0, 0),
        words("<", 5, 0, math.nan, 0, 0, 0),
        words("<", 5, 0, math.inf, 0, 0, 0),
        heatmap_record("<", [1], [2])[:-8],
        b"odd",
    ],
)
def test_absurd_records(bad: bytes) -> None:
    """A record with counts or widths that cannot be true ends the reading; the record before it stays."""
    good = heatmap_record("<", [1], [2])
    decoded = decode_heatmap(good + bad, "<")
    assert (1, f"bytes from {len(good)} on are not heat maps") == (decoded.record_count, decoded.damage)
    assert [[1]] == decoded.tables["heatmap_rank"]["write_bin_amounts"].to_pylist()
    alone = decode_heatmap(bad, "<")
    assert ({}, 0, "bytes from 0 on are not heat maps") == (alone.tables, alone.record_count, alone.damage)


@pytest.mark.parametrize("bins", [([1, -5], [2, 2]), ([1, 1], [2**62, 2])])
def test_bins_that_are_no_bytes(bins: tuple[list[int], list[int]]) -> None:
    """Such heat maps are kept, and the module says how many there are."""
    sound = [heatmap_record("<", [number, 0], [number, 0], rank=number) for number in (0, 2)]
    decoded = decode_heatmap(sound[0] + heatmap_record("<", *bins, rank=1) + sound[1], "<")
    assert (3, "1 of 3 heat maps have bins that are no bytes") == (decoded.record_count, decoded.damage)
    assert [True, False, True] == have_bytes(decoded.tables["heatmap_rank"]).tolist()
    assert [[], bins[0], [2]] == decoded.tables["heatmap_rank"]["write_bin_amounts"].to_pylist()


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (heatmap_record("<", [1], [2], rank=1, width=0.25), "bin width"),
        (heatmap_record("<", [1, 2], [3, 4], rank=1), "number of bins"),
    ],
)
def test_ranks_that_disagree(other: bytes, what: str) -> None:
    """Heat maps of one layer that cannot be laid over each other are given, and marked as unsound."""
    decoded = decode_heatmap(heatmap_record("<", [1], [2]) + other, "<")
    reason = f"ranks disagree on the {what}, so that their time bins cannot be laid over each other"
    assert (2, reason) == (decoded.record_count, decoded.damage)


def test_layers_may_differ() -> None:
    """Heat maps of different layers need not agree with each other."""
    data = heatmap_record("<", [1], [2]) + heatmap_record("<", [1, 2], [3, 4], id_=6, width=0.25)
    assert decode_heatmap(data, "<").damage == ""
