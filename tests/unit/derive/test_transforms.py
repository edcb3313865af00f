"""What MPI-IO requests became in POSIX, held against the requests themselves and against known workloads."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median_low
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import Row, each, log_of, workloads
from tables import Rows, columns, rows_of, types_of

from iomine.derive import mpiio_posix, traces
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import read_log

FILES = (-7, 2**62)
CALLS = ("indep", "coll", "split", "nb")
Request = dict[str, Any]


def tables_of(mpiio: Rows, posix: Rows, records: Rows = ()) -> dict[str, list[Mapping[str, Any]]]:
    """Traces of both layers, and MPI-IO's counters, as a reader gives them."""
    parts = {"mpiio": mpiio, "posix": posix}
    segments = [columns("segment", [{"layer": layer, **row} for row in rows]) for layer, rows in parts.items()]
    return {"segment": segments, "mpiio_file": [columns("mpiio_file", records)]}


def became(mpiio: Rows, posix: Rows, records: Rows = ()) -> list[dict[str, Any]]:
    tables = tables_of(mpiio, posix, records)
    return rows_of(mpiio_posix(tables, traces(tables)))


def request(rank: int, offset: int, length: int, start: float, *, lasts: float = 1.0, **more: Any) -> Request:
    """A write on a file."""
    place = {"file_id": 3, "rank": rank, "op": "write", "offset_bytes": offset, "length_bytes": length}
    return place | {"start_seconds": start, "end_seconds": start + lasts} | more


def calls(**counts: int) -> list[dict[str, int]]:
    return [{"file_id": 3, "rank": -1} | {f"{kind}_write_count": count for kind, count in counts.items()}]


def one(mpiio: Rows, posix: Rows, records: Rows = ()) -> dict[str, Any]:
    [row] = became(mpiio, posix, records)
    return row


def lies_in(inner: Request, outer: Request, op: str, *equal: str) -> bool:
    is_within = outer["start_seconds"] <= inner["start_seconds"] and inner["end_seconds"] <= outer["end_seconds"]
    return is_within and outer["op"] == op and all(inner[name] == outer[name] for name in ("file_id", *equal))


def place(row: Request) -> tuple[int, int, int]:
    return row["rank"], row["offset_bytes"], row["length_bytes"]


def is_copy(outer: Request, inside: Sequence[Request]) -> bool:
    if len(inside) != 1 or inside[0]["length_bytes"] != outer["length_bytes"]:
        return False
    return outer["offset_bytes"] in (-1, inside[0]["offset_bytes"])


def is_split(outer: Request, inside: Sequence[Request]) -> bool:
    return len(inside) > 1 and sum(row["length_bytes"] for row in inside) == outer["length_bytes"]


def row_by_hand(file_id: int, op: str, mpiio: Sequence[Request], posix: Sequence[Request]) -> dict[str, Any]:
    """A row, request by request; each rank has one MPI-IO request at a time."""
    above = [row for row in mpiio if (row["file_id"], row["op"]) == (file_id, op)]
    below = [row for row in posix if row["file_id"] == file_id and row["length_bytes"]]
    sieve = [
        row
        for row in below
        if row["op"] == "read"
        and not any(lies_in(row, outer, "read", "rank") for outer in mpiio)
        and any(lies_in(row, outer, "write", "rank") for outer in mpiio)
    ]
    done = [row for row in below if row["op"] == op and row not in sieve]
    beneath = sieve if op == "write" else []
    asked = [row for row in above if row["length_bytes"]]
    same, left, own, foreign = 0, Counter(), [], []
    for outer in above:
        inside = [row for row in done if lies_in(row, outer, op, "rank")]
        own += inside
        same += is_copy(outer, inside)
        if not is_copy(outer, inside) and not is_split(outer, inside):
            foreign += inside
        if not inside and outer["length_bytes"]:
            left[place(outer)] += 1
    paired, others = 0, 0
    for row in done:
        if row in own:
            continue
        if left[place(row)]:
            left[place(row)] -= 1
            paired += 1
        else:
            others += any(lies_in(row, outer, op) for outer in above)
    asking, aggregators = {row["rank"] for row in asked}, sorted({row["rank"] for row in foreign})
    if len(aggregators) >= len(asking) or not left.total():
        aggregators = []
    return {
        "file_id": file_id,
        "op": op,
        "mpiio_request_count": len(asked),
        "posix_request_count": len(done),
        "posix_per_mpiio_ratio": len(done) / max(len(asked), 1),
        "mpiio_bytes": sum(row["length_bytes"] for row in asked),
        "posix_bytes": sum(row["length_bytes"] for row in done),
        "mpiio_median_bytes": median_low([row["length_bytes"] for row in asked] or [0]),
        "posix_median_bytes": median_low([row["length_bytes"] for row in done] or [0]),
        "sieve_read_count": len(beneath),
        "sieve_read_bytes": sum(row["length_bytes"] for row in beneath),
        "mpiio_rank_count": len(asking),
        "posix_rank_count": len({row["rank"] for row in done}),
        "aggregator_rank_count": len(aggregators),
        "aggregator_ranks": aggregators or None,
        "own_request_ratio": len(own) / max(len(done), 1),
        "matched_request_ratio": (len(own) + paired + others) / max(len(done), 1),
        "unchanged_ratio": (same + paired) / max(len(asked), 1),
    }


_RANK = st.integers(0, 2)
_ABOVE = st.fixed_dictionaries(
    {
        "file_id": st.sampled_from([*FILES, FILES[0], FILES[0]]),
        "op": st.sampled_from(["read", "write", "write"]),
        "offset_bytes": st.integers(-1, 2),
        "length_bytes": st.integers(0, 4),
    }
)
# What POSIX made of a request, or of something else about that time.
_BELOW = st.fixed_dictionaries(
    {},
    optional={
        "rank": _RANK,
        "op": st.sampled_from(["read", "write"]),
        "offset_bytes": st.integers(0, 2),
        "length_bytes": st.integers(0, 8),
        "start_seconds": st.integers(-1, 40).map(float),
        "end_seconds": st.integers(0, 42).map(float),
    },
)


@st.composite
def _requests(draw: st.DrawFn) -> tuple[list[Request], list[Request]]:
    """Requests of both layers, and of MPI-IO one after the other of each rank."""
    above = draw(st.dictionaries(st.tuples(_RANK, st.integers(0, 3)), _ABOVE, min_size=1, max_size=12))
    mpiio = [
        row | {"rank": rank, "start_seconds": 10.0 * slot, "end_seconds": 10.0 * slot + 8} for (rank, slot), row in above.items()
    ]
    posix: list[Request] = []
    for row in mpiio:
        for other in draw(st.lists(_BELOW, max_size=2)):
            below = row | {"id": len(posix), "offset_bytes": max(row["offset_bytes"], 0)} | other
            posix.append(below | {"end_seconds": max(below["start_seconds"], below["end_seconds"])})
    return mpiio, draw(st.permutations(posix))


@settings(deadline=None, max_examples=400)
@given(_requests())
@pytest.mark.proof
def test_rows_equal_brute_force(drawn: tuple[list[Request], list[Request]]) -> None:
    """Whatever the requests of both layers are, each file and direction has the row that they give one by one."""
    mpiio, posix = drawn
    rows = [row_by_hand(file_id, op, mpiio, posix) for file_id in FILES for op in ("read", "write")]
    expected = [row for row in rows if row["mpiio_request_count"] and row["posix_request_count"]]
    assert expected == [{name: row[name] for name in rows[0]} for row in became(mpiio, posix)]


EACH = [request(rank, 100 * rank, 100, 10 * rank) for rank in range(10)]
COLLECTIVE = [request(rank, 100 * rank, 100, 0) for rank in range(4)]
UNEVEN = [request(0, 0, 1000, 0), *(request(rank, 1000 * rank, 2, 0) for rank in range(1, 10))]


def halves(row: Request) -> list[Request]:
    half = row["length_bytes"] // 2
    return [row | {"offset_bytes": row["offset_bytes"] + more, "length_bytes": half} for more in (0, half)]


@pytest.mark.parametrize(
    ("transformation", "mpiio", "posix", "records"),
    [
        pytest.param("unchanged", EACH, EACH, (), id="all the same"),
        pytest.param("unchanged", EACH, [*EACH[:9], *halves(EACH[9])], (), id="nine of ten the same"),
        pytest.param("mixed", EACH, [*EACH[:8], *halves(EACH[8]), *halves(EACH[9])], (), id="eight of ten the same"),
        pytest.param("mixed", UNEVEN, [*halves(UNEVEN[0]), *UNEVEN[1:]], (), id="nine of ten the same, but few bytes"),
        pytest.param(
            "mixed", UNEVEN, [UNEVEN[0], *halves(UNEVEN[1]), *UNEVEN[2:9]], (), id="most bytes the same, but few requests"
        ),
        pytest.param("mixed", COLLECTIVE, COLLECTIVE[:1], calls(coll=4), id="a cut trace of POSIX"),
        pytest.param("mixed", COLLECTIVE, [COLLECTIVE[0], request(1, 0, 40, 0)], calls(coll=4), id="a little for others"),
        pytest.param("mixed", COLLECTIVE, [request(9, 0, 400, 0)], calls(coll=4), id="by one that did not ask"),
        pytest.param("split", EACH, [half for row in EACH for half in halves(row)], (), id="two of one"),
        pytest.param(
            "merged", [request(0, at, 1, 2 * at) for at in range(4)], [request(0, 0, 4, 6)], calls(indep=4), id="one of four"
        ),
        pytest.param("collective_buffering", COLLECTIVE, [request(0, 0, 400, 0)], calls(coll=4), id="one for four"),
        pytest.param("collective_buffering", COLLECTIVE, [request(0, 0, 400, 0)], (), id="one for four, without counters"),
        pytest.param(
            "collective_buffering",
            COLLECTIVE,
            [row | {"offset_bytes": 300 - row["offset_bytes"]} for row in COLLECTIVE],
            calls(coll=4),
            id="each for another",
        ),
        pytest.param("merged", COLLECTIVE, [request(0, 0, 400, 0)], calls(indep=4), id="one for four, not collective"),
        pytest.param("data_sieving", EACH[:1], [request(0, 0, 111, 0)], (), id="a bit more than was asked"),
        pytest.param("mixed", EACH[:1], [request(0, 0, 110, 0)], (), id="as much more as ends of blocks are"),
        pytest.param("data_sieving", EACH[:1], [EACH[0], request(0, 0, 11, 0, op="read")], (), id="read, changed, written"),
        pytest.param("unchanged", EACH[:1], [EACH[0], request(0, 0, 10, 0, op="read")], (), id="little read"),
        pytest.param("data_sieving", COLLECTIVE, [request(0, 0, 800, 0)], calls(coll=4), id="a buffer with holes"),
        pytest.param("unchanged", EACH, [row | {"end_seconds": 200.0} for row in EACH], calls(nb=10), id="done later"),
        pytest.param(None, EACH, [request(0, 0, 1, 500)], (), id="nothing to do with it"),
    ],
)
def test_transformation(transformation: str | None, mpiio: Rows, posix: Rows, records: Rows) -> None:
    """A row is named after what became of nearly all of its requests and bytes, and not at all where POSIX did other things."""
    assert transformation == one(mpiio, posix, records)["transformation"]


@pytest.mark.parametrize(
    ("expected", "records"),
    [
        pytest.param((True, True, 4), calls(coll=4), id="collective"),
        pytest.param((True, True, 4), calls(split=4), id="begun and ended"),
        pytest.param((False, False, 0), calls(indep=4), id="independent"),
        pytest.param((False, False, 0), calls(nb=4), id="nonblocking"),
        pytest.param((True, True, 3), calls(coll=3, indep=1), id="some"),
        pytest.param((True, True, 4), calls(coll=900), id="a cut trace of collective calls"),
        pytest.param((True, None, None), calls(coll=3, indep=900), id="a cut trace of some"),
        pytest.param((None, None, None), calls(coll=-1), id="not known"),
        pytest.param((None, None, None), calls(coll=-1, indep=0), id="not known how many are collective"),
        pytest.param((None, None, None), (), id="no counters"),
        pytest.param((True, True, 4), calls(coll=3) + calls(coll=1), id="a record of each rank"),
    ],
)
def test_collective_calls_that_stayed_independent(expected: tuple[bool | None, bool | None, int | None], records: Rows) -> None:
    """Counters say how many calls were collective; those beyond the others that ranks carried out themselves stayed so."""
    row = one(COLLECTIVE, COLLECTIVE, records)
    assert expected == (row["is_collective"], row["stayed_independent"], row["stayed_independent_count"])


def test_collective_calls_that_were_carried_out_for_others() -> None:
    """Calls whose bytes an aggregator moved did not stay independent, nor can those of one rank be said to have."""
    row = one(COLLECTIVE, [request(0, 0, 400, 0)], calls(coll=4))
    assert (False, 0) == (row["stayed_independent"], row["stayed_independent_count"])
    assert not one(EACH[:1], EACH[:1], calls(coll=1))["stayed_independent"]


def test_collective_calls_of_ranks_that_had_nothing_to_move() -> None:
    """A collective call that moves nothing is not counted against those that stayed independent."""
    nothing = [request(rank, 0, 0, 0) for rank in range(4, 9)]
    row = one(COLLECTIVE + nothing, COLLECTIVE, calls(coll=9))
    assert (True, 4, 4) == (row["stayed_independent"], row["stayed_independent_count"], row["mpiio_rank_count"])


def test_aggregators_among_ranks_that_also_moved_their_own() -> None:
    """Ranks that moved their own bytes alone are no aggregators, though they have POSIX requests."""
    header = [request(3, 900, 7, 50)]
    row = one(COLLECTIVE + header, [request(1, 0, 400, 0), *header], calls(coll=4, indep=1))
    assert ([1], 2) == (row["aggregator_ranks"], row["posix_rank_count"])


def test_independent_calls_have_no_aggregators() -> None:
    """Where counters say that no call was collective, nobody moved bytes of others."""
    row = one(COLLECTIVE, [request(0, 0, 400, 0)], calls(indep=4))
    assert (0, None) == (row["aggregator_rank_count"], row["aggregator_ranks"])


def test_many_aggregators() -> None:
    """The list of aggregators is cut, their number is not."""
    mpiio = [request(rank, 100 * rank, 100, 0) for rank in range(2200)]
    posix = [request(rank, 100 * rank, 200, 0) for rank in range(0, 2200, 2)]
    row = one(mpiio, posix, calls(coll=2200))
    assert 1100 == row["aggregator_rank_count"]
    assert list(range(0, 2048, 2)) == row["aggregator_ranks"]


def test_requests_of_a_rank_at_the_same_time() -> None:
    """Where a rank's MPI-IO requests overlap, a POSIX request may lie in one that began before the last."""
    mpiio = [request(0, 0, 5, 0, lasts=100), request(0, 50, 7, 10, lasts=10)]
    row = one(mpiio, [request(0, 50, 7, 12), request(0, 0, 5, 30), request(0, 90, 1, 200)])
    assert (2 / 3, 1.0) == (row["own_request_ratio"], row["unchanged_ratio"])


def test_a_read_during_a_read_and_a_write_of_its_rank() -> None:
    """A POSIX read that an MPI-IO read may have made is not taken for a part of a write that lasts as long."""
    read = EACH[0] | {"op": "read"}
    assert [1, 1] == [row["posix_request_count"] for row in became([EACH[0], read], [EACH[0], read])]


@pytest.mark.parametrize(("start", "end"), [(float("nan"), 0.5), (0.5, 0.25), (-float("inf"), 0.5), (0.5, float("nan"))])
def test_times_that_make_no_sense(start: float, end: float) -> None:
    """A request whose times make no sense lies in none, and none lies in it."""
    odd = request(0, 7, 7, 0) | {"start_seconds": start, "end_seconds": end}
    assert 0 == one([request(0, 0, 5, 0)], [odd])["own_request_ratio"]
    assert 0 == one([odd], [request(0, 0, 5, 0.5, lasts=0)])["own_request_ratio"]


def test_requests_that_are_done_later() -> None:
    """Of nonblocking requests for the same bytes, as many are done as POSIX has, and none of them was left to others."""
    mpiio = [request(0, at, 5, start) for start, at in enumerate((0, 50, 0, 50))]
    posix = [request(0, at, 5, 500) for at in (0, 50, 50, 50)]
    row = one(mpiio, posix)
    assert (0.0, 0.75, 0.75) == (row["own_request_ratio"], row["matched_request_ratio"], row["unchanged_ratio"])
    odd = [request(1, 90, 5, 0), request(1, 90, 6, 0)]
    assert (
        0
        == one([*mpiio, odd[0]], [*[row | {"start_seconds": 500, "end_seconds": 501} for row in mpiio], odd[1]])[
            "aggregator_rank_count"
        ]
    )


def test_traces_without_offsets() -> None:
    """Where MPI-IO's trace does not say where requests lie, time and length show what they became."""
    assert "unchanged" == one([row | {"offset_bytes": -1} for row in EACH], EACH)["transformation"]


def test_reads_within_writes_alone() -> None:
    """A file that POSIX reads only to write back has no row for reads."""
    assert ["write"] == [row["op"] for row in became(EACH, EACH + [row | {"op": "read"} for row in EACH])]


def test_nothing_where_a_layer_is_missing() -> None:
    """There are no rows without both traces, nor of files that one layer alone has traced."""
    assert {} == mpiio_posix({}, [])
    assert [] == became(EACH, [])
    assert [] == became([], EACH)
    assert [] == became(EACH, [row | {"file_id": 4} for row in EACH])
    assert [] == became(EACH, [row | {"length_bytes": 0} for row in EACH])


def test_columns_are_those_of_the_table() -> None:
    """All columns of the table are given, in the types of the schema."""
    tables = tables_of(EACH, EACH)
    expected = {field.name: field.type for field in arrow_schema("mpiio_posix") if field.name != "log_id"}
    assert expected == types_of("mpiio_posix", mpiio_posix(tables, traces(tables)))


_ANY = st.one_of(st.integers(-3, 3), st.sampled_from([-(2**63), 2**60, 2**62, 2**63 - 1]))
_ANY_TIME = st.one_of(st.floats(), st.sampled_from([0.0, 1.0, -1.0, 1e308]))
_HOSTILE = st.lists(
    st.fixed_dictionaries(
        {
            "file_id": st.sampled_from([0, -(2**63), 2**63 - 1]),
            "op": st.sampled_from(["read", "write"]),
            **dict.fromkeys(("rank", "offset_bytes", "length_bytes"), _ANY),
            **dict.fromkeys(("start_seconds", "end_seconds"), _ANY_TIME),
        }
    ),
    max_size=8,
)
_RECORDS = st.lists(
    st.fixed_dictionaries({"file_id": st.just(0), "rank": _ANY, **{f"{kind}_write_count": _ANY for kind in CALLS}}), max_size=3
)


@pytest.mark.filterwarnings("error")
@settings(deadline=None)
@given(_HOSTILE, _HOSTILE, _RECORDS)
def test_hostile_numbers(mpiio: Rows, posix: Rows, records: Rows) -> None:
    """Numbers that cannot be give no error, no share beyond 1, and nothing negative."""
    for row in became(mpiio, posix, records):
        assert all(row[name] is None or row[name] >= 0 for name in row if name.endswith(("_count", "_bytes")))
        assert all(0 <= row[f"{name}_ratio"] <= 1 for name in ("own_request", "matched_request", "unchanged"))


def known(row: Row) -> list[dict[str, Any]]:
    log = read_log(log_of(row))
    return rows_of(mpiio_posix(log.tables, traces(log.tables)))


@pytest.mark.parametrize("row", each(workloads(), lambda row: row["truth"].get("aggregator_ranks") is not None))
def test_aggregators_of_known_workloads(row: Row) -> None:
    """Aggregators are the ranks that MPI-IO was asked to use, as many as the hint says, and their requests are larger."""
    for found in known(row):
        assert "collective_buffering" == found["transformation"]
        assert row["truth"]["aggregator_ranks"] == found["aggregator_ranks"]
        assert (False, 1.0) == (found["stayed_independent"], found["own_request_ratio"])
        assert found["mpiio_median_bytes"] < found["posix_median_bytes"]


@pytest.mark.parametrize("row", each(workloads(), lambda row: row["truth"].get("cb_nodes_hint") is not None))
def test_hints_of_known_workloads(row: Row) -> None:
    """There are as many aggregators as the hint asked for."""
    assert {row["truth"]["cb_nodes_hint"]} == {found["aggregator_rank_count"] for found in known(row)}


def _says_if_collective(row: Row) -> bool:
    is_claimed = {row["truth"].get(f"collective_{op}s") for op in ("read", "write")} - {None}
    return bool(is_claimed) and row["truth"].get("mpiio_used") is not False


@pytest.mark.parametrize("row", each(workloads(), _says_if_collective))
def test_collective_calls_of_known_workloads(row: Row) -> None:
    """What is said to be collective is what the program made collectively."""
    for found in known(row):
        claimed = row["truth"].get(f"collective_{found['op']}s")
        is_begun_and_ended = row["truth"].get("split_collective_writes")
        assert claimed is None or (claimed or is_begun_and_ended) == found["is_collective"]


UNMERGED = ("s009_", "s012_", "s018_", "s032_", "s042_", "s047_")


@pytest.mark.parametrize("row", each(workloads(), lambda row: row["id"].startswith(UNMERGED)))
def test_known_collective_calls_that_were_not_merged(row: Row) -> None:
    """Collective calls of pieces that lie in the order of ranks are carried out by each rank itself, one for one."""
    found = known(row)
    assert found
    assert {("unchanged", True)} == {(entry["transformation"], entry["stayed_independent"]) for entry in found}
    assert all(entry["stayed_independent_count"] == entry["mpiio_request_count"] for entry in found)


@pytest.mark.parametrize("row", each(workloads(), lambda row: row["id"].startswith("s011_")))
def test_known_buffers_with_holes(row: Row) -> None:
    """Collective buffers with holes move more than was asked for, and are read before they are written."""
    read, write = known(row)
    assert ("data_sieving", [0]) == (write["transformation"], write["aggregator_ranks"])
    assert ("data_sieving", [0]) == (read["transformation"], read["aggregator_ranks"])
    assert 64 << 20 == write["mpiio_bytes"]
    assert write["posix_bytes"] == pytest.approx(244 << 20, rel=1e-3)
    assert write["sieve_read_count"] > 0 == read["sieve_read_count"]
