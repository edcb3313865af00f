"""Who moves bytes for whom and to where: edges of a trace, their latencies and sizes, and clocks."""

from collections.abc import Callable, Mapping
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import Row, darshan_rows, each, log_of, truth_of, workloads
from striping import component, lustre
from tables import Rows, columns, types_of

from iomine.derive import Lustre, in_order, link_detail, link_node, link_ring, links_of, traces
from iomine.derive.collective import Calls
from iomine.derive.links import NO_HOSTS, NO_LAYOUTS, NO_MATCH, NO_MPIIO, NO_OFFSETS, NO_POSIX
from iomine.derive.radial.carriers import Requests, carriers
from iomine.derive.radial.medians import medians
from iomine.derive.radial.moves import Links
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import Log, read_log

_MOST = 2**63 - 1
_OPEN_PMD = "jeanbez_8_benchmark_parallel"
_SUMMIT = "jlbez_IO_test5"
_COLLECTIVE = ("s103", "s105", "s106", "s107", "s010", "s055")


def links(tables: Mapping[str, Any], nprocs: int, run_seconds: float | None = None) -> Links | None:
    traced = traces(tables)
    return links_of(tables, in_order(traced), Lustre(tables, traced), nprocs, run_seconds)


def of_log(log: Log) -> Links:
    found = links(log.tables, log.job.nprocs, log.job.run_seconds)
    assert found
    return found


def made(segments: Rows, nprocs: int = 4, **more: Any) -> dict[str, list[dict[str, Any]]]:
    """Rows of all three tables, of requests that are one trace for each layer."""
    hosts = {row["rank"]: row["host"] for row in segments if row.get("host")}
    records = columns("dxt_file", [{"rank": rank, "host": host} for rank, host in hosts.items()])
    by_layer = [[row for row in segments if row["layer"] == layer] for layer in ("posix", "mpiio")]
    tables = {
        "segment": [columns("segment", rows) for rows in by_layer if rows],
        "dxt_file": [records] if hosts else [],
        **more,
    }
    return rows_of_all(tables, nprocs)


def rows_of_all(tables: Mapping[str, Any], nprocs: int) -> dict[str, list[dict[str, Any]]]:
    found = links(tables, nprocs)
    answers = {"link_detail": link_detail(found), "link_node": link_node(found, tables), "link_ring": link_ring(found)}
    for name, answer in answers.items():
        wanted = {column.name: column.type for column in arrow_schema(name) if column.name != "log_id"}
        assert not answer or wanted == types_of(name, answer)
    return {name: pa.table(answer).to_pylist() if answer else [] for name, answer in answers.items()}


def request(layer: str, rank: int, start: float, end: float, **more: Any) -> Row:
    defaults = {"op": "write", "file_id": 1, "host": f"n{rank // 2}", "offset_bytes": 0, "length_bytes": 1}
    return {"layer": layer, "rank": rank, "start_seconds": start, "end_seconds": end, **defaults, **more}


def mpiio_file(**counts: int) -> dict[str, list[Any]]:
    return {"mpiio_file": [columns("mpiio_file", [{"file_id": 1, **counts}])]}


def edges(rows: Rows, ring: str, metric: str) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for row in rows:
        if (ring, metric) == (row["ring"], row["metric"]):
            key = row["from_node"], row["to_node"]
            found[key] = found.get(key, 0) + row["request_count"]
    return found


_REQUESTS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(-1, 12), st.integers(1, 8), st.integers(0, 9), st.integers(0, 4)),
    max_size=25,
)


def as_requests(rows: list[tuple[int, ...]]) -> Requests:
    row, rank, offset, length, start, lasts = np.array(rows, np.int64).reshape(-1, 6).T
    times = start.astype(float), (start + lasts).astype(float)
    return Requests(np.arange(len(rows)), row, row * 3 + rank, rank, offset, length, *times)


def by_hand(call: tuple[int, ...], done: list[tuple[int, ...]], kinds: Calls) -> set[int]:
    """Requests that are the first to hold the first byte, of those that count; several may start at once."""
    row, rank, offset, _, start, lasts = call
    holds = [at for at, each in enumerate(done) if each[0] == row and 0 <= each[2] <= offset < each[2] + each[3]]
    own = [at for at in holds if done[at][1] == rank]
    ways = [[at for at in own if start <= done[at][4] <= start + lasts]]
    ways += [[at for at in holds if start <= done[at][4] <= start + lasts]] if kinds.collective[row] else []
    ways += [[at for at in own if start <= done[at][4]]] if kinds.other[row] else []
    for way in ways:
        if way:
            return {at for at in way if done[at][4] == min(done[other][4] for other in way)}
    return {-1}


@settings(deadline=None, max_examples=300)
@given(_REQUESTS, _REQUESTS, st.lists(st.sampled_from([0, 5, float("nan")]), min_size=4, max_size=4))
def test_carriers_by_hand(asked: list[tuple[int, ...]], done: list[tuple[int, ...]], counts: list[float]) -> None:
    """The carrier is the rank's own request within the call, else the first of any rank in it, else its own later one."""
    kinds = Calls(np.array(counts[:2]), np.array(counts[2:]))
    mpiio = as_requests(asked)
    found = carriers(mpiio, as_requests(done), kinds, mpiio.ends)
    wanted = [{-1} if call[2] < 0 else by_hand(call, done, kinds) for call in asked]
    assert all(answer in allowed for answer, allowed in zip(found.tolist(), wanted, strict=True))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.sampled_from([0, 1, 300, 65535, 65536, 70000]), st.floats(-9, 9)), max_size=30))
def test_medians(pairs: list[tuple[int, float]]) -> None:
    """Each group's median is NumPy's, and NaN where there is nothing."""
    groups, values = np.array([group for group, _ in pairs], np.int64), np.array([value for _, value in pairs])
    found = medians(groups, values, 70001)
    for group in {*groups.tolist(), 70000}:
        own = values[groups == group]
        assert np.isnan(found[group]) if not len(own) else found[group] == pytest.approx(np.median(own))


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(lambda chance, count: chance.normal(0, 1, count), id="of both signs"),
        pytest.param(lambda chance, count: 0.02 * chance.lognormal(0, 3, count), id="over many decades"),
        pytest.param(lambda chance, count: chance.choice([1.0, 4096.0, 2.0**20, 2.0**20 + 1], count), id="few that differ"),
        pytest.param(lambda chance, count: np.where(chance.random(count) < 0.5, 7.0, chance.random(count)), id="one often"),
        pytest.param(lambda _, count: np.full(count, 3.0), id="all the same"),
        pytest.param(lambda chance, count: chance.choice([-1e300, 5e-324, 0.0, 1e300], count), id="far apart"),
    ],
)
def test_medians_of_many(values: Callable[[np.random.Generator, int], np.ndarray]) -> None:
    """Of more values than are sorted, each group's median is still NumPy's, of groups of one value as of large ones."""
    chance = np.random.default_rng(7)
    groups = np.minimum(chance.geometric(0.01, 100_000) - 1, 600)
    many = values(chance, len(groups))
    found = medians(groups, many, 700)
    wanted = [np.median(many[groups == group]) if (groups == group).any() else np.nan for group in range(700)]
    np.testing.assert_array_equal(found, wanted)


def test_outer_edges_end_at_who_moved_the_bytes() -> None:
    """A collective write of four ranks that ranks 0 and 2 carry out: edges, latencies and both hosts' arcs."""
    calls = [request("mpiio", rank, 1.0, 2.0, offset_bytes=10 * rank, length_bytes=10) for rank in range(4)]
    moves = [request("posix", rank, 1.0 + 0.1 * (rank + 1), 1.9, offset_bytes=10 * rank, length_bytes=20) for rank in (0, 2)]
    found = made([*calls, *moves], **mpiio_file(coll_write_count=4))
    assert {(0, 0): 1, (1, 0): 1, (2, 1): 1, (3, 1): 1} == edges(found["link_detail"], "outer", "latency")
    ranks = {row["node_id"]: row for row in found["link_node"] if (row["node_level"], row["stretch"]) == ("rank", "run")}
    assert {"n0", "n1"} == {row["host"] for row in ranks.values()}
    medians_of = {
        (row["ring"], row["node_id"]): 10 ** row["median_log10"]
        for row in found["link_node"]
        if (row["node_level"], row["metric"], row["stretch"]) == ("carrier", "latency", "run")
    }
    expected = {("outer", 0): 0.1, ("outer", 2): 0.3, ("inner", 0): 0.8, ("inner", 2): 0.6}
    assert {key: pytest.approx(seconds) for key, seconds in expected.items()} == medians_of
    assert {"aggregator"} == {row["carrier_kind"] for row in found["link_ring"]}
    assert [None, NO_LAYOUTS] == [row["missing"] for row in found["link_ring"]]


def test_who_reads_for_itself_has_no_other_carrier() -> None:
    """Where another rank reads the same byte a moment before for itself, each still is its own carrier."""
    rows = [
        request(layer, rank, 1.0 + rank / 1e4 + nth / 1e6, 2.0 - nth / 1e6, op="read", length_bytes=8)
        for nth, layer in enumerate(("mpiio", "posix"))
        for rank in range(4)
    ]
    found = made(rows, **mpiio_file(coll_read_count=2, indep_read_count=2))
    assert {(rank, rank): 1 for rank in range(4)} == edges(found["link_detail"], "outer", "latency")
    assert {"rank"} == {row["carrier_kind"] for row in found["link_ring"]}


def test_what_does_not_block_is_carried_out_later() -> None:
    """A request that does not block ends before its bytes are moved, and has its rank's later one as its carrier."""
    rows = [request("mpiio", 1, 1.0, 1.1), request("posix", 1, 3.0, 3.5), request("posix", 0, 1.0, 1.1)]
    found = made(rows, **mpiio_file(nb_write_count=1))
    (cell,) = [row for row in found["link_detail"] if (row["ring"], row["metric"]) == ("outer", "latency")]
    assert (pytest.approx(2.0, rel=1 / 256), 1) == (cell["most_value"], cell["request_count"])


def test_inner_edges_part_bytes_by_stripes() -> None:
    """A request over three stripes goes to both OSTs, with their bytes and its whole time on each."""
    layout = {"lustre_component": [lustre({1: [component(0, -1, 4, [7, 3])]})]}
    found = made([request("posix", 0, 1.0, 1.5, offset_bytes=2, length_bytes=9)], **layout)
    inner = [row for row in found["link_detail"] if (row["ring"], row["metric"]) == ("inner", "latency")]
    assert [(0, 4, 0.5), (1, 5, 0.5)] == [(row["to_node"], row["moved_bytes"], row["latency_seconds"]) for row in inner]
    osts = {row["node_id"]: row["arc"] for row in found["link_node"] if row["node_level"] == "ost"}
    assert {3: 0, 7: 1} == osts
    assert {"host"} == {row["carrier_kind"] for row in found["link_ring"]}
    assert [NO_MPIIO, None] == [row["missing"] for row in found["link_ring"]]


def test_neighbouring_ranks_on_other_osts_are_seen_by_bytes_alone() -> None:
    """1 where the rank decides on the OST, 0 where all ranks use all OSTs alike."""
    layout = {"lustre_component": [lustre({1: [component(0, -1, 4, [*range(24)])]})]}

    def striped_by(parts: list[tuple[int, int]]) -> float:
        rows = [request("posix", rank, 1.0, 2.0, offset_bytes=4 * place, length_bytes=4) for rank, place in parts]
        return made(rows, **layout)["link_ring"][1]["striped_by_ratio"]

    assert 1 == pytest.approx(striped_by([(rank, rank % 2) for rank in range(4)]))
    assert 0 == pytest.approx(striped_by([(rank, place) for rank in range(4) for place in range(2)]))
    assert None is striped_by([(rank, 0) for rank in range(4)])
    # However shares add up.
    assert {None} == {striped_by([(0, place) for place in range(count)]) for count in range(2, 24)}


@pytest.fixture(scope="module")
def open_pmd() -> Log:
    """The log of openPMD, of 1,024 ranks on 64 hosts."""
    return open_log(_OPEN_PMD)


def open_log(name: str) -> Log:
    (row,) = [row for row in darshan_rows() if name in row["file"]] or [None]
    if row is None:
        pytest.skip("../shared/data is not here")
    return read_log(log_of(row))


# Own requests within the call first, and then the first of any rank within a collective call; of writes and reads alike.
_CARRIERS = """
WITH asked AS (FROM requests WHERE layer = 'mpiio'), done AS (FROM requests WHERE layer = 'posix'),
own AS (
    SELECT
        asked.number,
        first(struct_pack(carrier := done."rank", latency := done.begin - asked.begin) ORDER BY done.begin) AS carried
    FROM asked JOIN done ON done."rank" = asked."rank" AND done.file_id = asked.file_id AND done.op = asked.op
        AND done.place <= asked.place AND asked.place < done.place + done.length
        AND done.begin >= asked.begin - 1e-6 AND done.begin <= asked.finish
    GROUP BY asked.number
),
others AS (
    SELECT
        asked.number,
        first(struct_pack(carrier := done."rank", latency := done.begin - asked.begin) ORDER BY done.begin) AS carried
    FROM (FROM asked WHERE number NOT IN (SELECT number FROM own)) AS asked
    JOIN done ON done.file_id = asked.file_id AND done.op = asked.op
        AND done.place <= asked.place AND asked.place < done.place + done.length
        AND done.begin >= asked.begin - 1e-3 AND done.begin <= asked.finish
    GROUP BY asked.number
)
FROM own UNION ALL FROM others
"""
_BY_OST = """
SELECT osts[((stripe % len(osts)) + 1)::INT] AS ost, op,
    sum(least(place + length, (stripe + 1) * width) - greatest(place, stripe * width))::BIGINT AS moved
FROM (
    SELECT *, unnest(range(place // width, (place + length - 1) // width + 1)) AS stripe
    FROM requests, layout WHERE layer = 'posix'
)
GROUP BY ALL
"""


def whole(column: pa.Array) -> pa.Array:
    """A column that does not say equal neighbours once."""
    if not isinstance(column, pa.RunEndEncodedArray):
        return column
    values = column.values
    values = values.dictionary_decode() if isinstance(values, pa.DictionaryArray) else values
    return pc.run_end_decode(pa.RunEndEncodedArray.from_arrays(column.run_ends, values))


def database(log: Log) -> duckdb.DuckDBPyConnection:
    """Requests that move something, and the layout of the first file, as tables."""
    connection = duckdb.connect()
    names = ("layer", "file_id", "rank", "op", "offset_bytes", "length_bytes", "start_seconds", "end_seconds")
    parts = [{name: part[name] for name in names} for part in log.tables["segment"]]
    tables = [pa.table({name: whole(column) for name, column in part.items()}) for part in parts]
    connection.register("segment", pa.concat_tables(tables))
    connection.execute("""
        CREATE TABLE requests AS SELECT row_number() OVER () AS number, layer, file_id, "rank", op, offset_bytes AS place,
        length_bytes AS length, start_seconds AS begin, end_seconds AS finish FROM segment WHERE length_bytes > 0
    """)
    return connection


@pytest.mark.parametrize("name", [_OPEN_PMD, _SUMMIT])
def test_edges_and_medians_are_those_of_a_query(name: str) -> None:
    """All that was asked for has a carrier; edges, and the median of each rank and carrier, are what SQL says of segments."""
    log = open_log(name)
    found = of_log(log)
    connection = database(log)
    connection.execute(f"CREATE TABLE carried AS {_CARRIERS}")
    connection.register("nodes", pa.table(link_node(found, log.tables)))
    asked = "requests JOIN carried USING (number)"
    outer = found.outer
    for op in ("read", "write"):
        is_op = outer.ops == ("read", "write").index(op)
        wanted = connection.sql(
            f"SELECT count(*), count(DISTINCT (\"rank\", carried.carrier)) FROM {asked} WHERE op = '{op}'"
        ).fetchall()[0]
        has_mpiio = connection.sql(f"SELECT count(*) FROM requests WHERE layer = 'mpiio' AND op = '{op}'").fetchall()[0]
        known = is_op & ~np.isnan(outer.seconds)
        pairs = set(zip(outer.ranks[known].tolist(), outer.carriers[known].tolist(), strict=True))
        assert (has_mpiio[0], *wanted) == (np.count_nonzero(known), np.count_nonzero(known), len(pairs))
    differing = """
        SELECT * FROM (
            FROM nodes SELECT node_id, op, request_count, median_log10
            WHERE ring = 'outer' AND metric = 'latency' AND stretch = 'run' AND node_level = '{level}'
        ) FULL JOIN (
            SELECT {node} AS node_id, op, count(*) AS n, median(log10(greatest(carried.latency, 1e-6))) AS m
            FROM {asked} GROUP BY ALL
        ) USING (node_id, op) WHERE request_count IS DISTINCT FROM n OR abs(median_log10 - m) > 1e-9 OR m IS NULL
    """
    for level, node in (("rank", '"rank"'), ("carrier", "carried.carrier")):
        assert [] == connection.sql(differing.format(level=level, node=node, asked=asked)).fetchall()


def test_open_pmd_is_as_counted(open_pmd: Log) -> None:
    """All reads and writes asked for have a carrier; a rank that reads for itself is its own, so that edges of reads are few."""
    all_links = of_log(open_pmd)
    rows = pa.table(link_ring(all_links)).to_pylist()
    outer = {row["op"]: (row["request_count"], row["matched_count"]) for row in rows if row["ring"] == "outer"}
    assert {"read": (123862, 123862), "write": (1454, 1454)} == outer
    found = all_links.outer
    pairs = [
        set(zip(found.ranks[found.ops == op].tolist(), found.carriers[found.ops == op].tolist(), strict=True)) for op in (0, 1)
    ]
    assert [2021, 1442] == [*map(len, pairs)]


def test_bytes_by_ost_are_those_of_a_query(open_pmd: Log) -> None:
    """Bytes on each OST are those of the stripes that SQL counts."""
    (part, *_) = open_pmd.tables["lustre_component"]
    connection = database(open_pmd)
    layout = {"width": [part["stripe_bytes"][0]], "osts": [list(part["ost_ids"][0])]}
    connection.register("layout", pa.table(layout))
    wanted = {(ost, op): moved for ost, op, moved in connection.sql(_BY_OST).fetchall()}
    all_links = of_log(open_pmd)
    connection.register("detail", pa.table(link_detail(all_links)))
    connection.register("nodes", pa.table(link_node(all_links, open_pmd.tables)))
    found = connection.sql("""
        SELECT node_id, op, sum(moved_bytes)::BIGINT FROM (SELECT * FROM detail WHERE ring = 'inner' AND metric = 'size')
        JOIN (SELECT DISTINCT node_id, arc FROM nodes WHERE node_level = 'ost') ON arc = to_node GROUP BY ALL
    """).fetchall()
    assert wanted == {(ost, op): moved for ost, op, moved in found}
    by_node = connection.sql("""
        SELECT node_id, op, moved_bytes FROM nodes WHERE node_level = 'ost' AND stretch = 'run' AND metric = 'size'
    """).fetchall()
    assert wanted == {(ost, op): moved for ost, op, moved in by_node}


@pytest.mark.parametrize("row", each(workloads(), lambda row: row["id"].startswith(_COLLECTIVE)))
def test_carriers_are_the_truths_aggregators(row: Row) -> None:
    """All that was asked for has a carrier, an aggregator of the truth; none began a millisecond before it was asked for."""
    log = read_log(log_of(row))
    found = of_log(log)
    aggregators = truth_of(row)["truth"]["aggregator_ranks"]
    own = found.outer.where(~np.isnan(found.outer.seconds))
    ranks = found.nodes.ranks[found.nodes.carriers]
    mpiio = [trace for trace in traces(log.tables) if trace.layer == "mpiio"]
    assert sum(np.count_nonzero(trace.lengths) for trace in mpiio) == len(own.ops)
    assert own.seconds.min() > -1e-3
    if aggregators:
        assert {*aggregators} == {*ranks.tolist()}
    else:
        assert 2 == len(set(own.carriers.tolist()))


def test_ranks_bytes_go_to_whom_their_offsets_lie_with() -> None:
    """Of s010, whose two aggregators each write one half of what is written at once, each byte is with whose half it is."""
    (row,) = [row for row in workloads() if row["id"].startswith("s010")] or [None]
    if row is None:
        pytest.skip("../shared/data is not here")
    log = read_log(log_of(row))
    posix, mpiio = ({trace.layer: trace for trace in traces(log.tables)}[layer] for layer in ("posix", "mpiio"))
    found = of_log(log)
    own = ~np.isnan(found.outer.seconds)
    file_of = int(mpiio.file_ids[0])
    at = np.flatnonzero(np.repeat(posix.file_ids == file_of, posix.counts))
    holder = np.repeat(posix.ranks, posix.counts)[at]
    begins, ends = posix.offsets[at], (posix.offsets + posix.lengths)[at]
    carriers_of = found.nodes.ranks[found.nodes.carriers][found.outer.carriers[own]]
    for offset, carrier in zip(mpiio.offsets[mpiio.lengths > 0].tolist(), carriers_of.tolist(), strict=True):
        assert carrier in holder[(begins <= offset) & (offset < ends)]


def skewed(log: Log, seconds: Mapping[str, float]) -> dict[str, Any]:
    """The log's tables with times that the clocks of hosts would have shown if they had been ahead."""

    def ahead(part: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
        hosts = whole(part["host"]).to_pylist()
        late = np.array([seconds[host] for host in hosts])
        return dict(part) | {name: pa.array(part[name].to_numpy() + late) for name in ("start_seconds", "end_seconds")}

    return dict(log.tables) | {"segment": [ahead(part) for part in log.tables["segment"]]}


def of_hosts(found: Links) -> dict[str, float]:
    """What was taken off the clock of each host, as the median of its ranks."""
    return {name: float(np.median(found.ahead[found.nodes.hosts == host])) for host, name in enumerate(found.nodes.host_names)}


@pytest.mark.parametrize("row", each(workloads(), lambda row: row["id"].startswith(_COLLECTIVE)))
def test_clocks_that_differ_are_found(row: Row) -> None:
    """Normal skew of 50 ms by host is recovered within 2 ms, 5 ms in s055, and edges are those of the log as it was."""
    log = read_log(log_of(row))
    before = of_log(log)
    chance = np.random.default_rng(23)
    seconds = {host: float(chance.normal(0, 0.05)) for host in before.nodes.host_names}
    found = links(skewed(log, seconds), log.job.nprocs, log.job.run_seconds)
    assert found
    errors = np.array([of_hosts(found)[host] - put for host, put in seconds.items()])
    of_ranks = np.array([errors[host] for host in found.nodes.hosts.tolist()])
    assert np.abs(errors - np.median(of_ranks)).max() < (5e-3 if row["id"].startswith("s055") else 2e-3)
    own = ~np.isnan(before.outer.seconds)
    assert not np.isnan(found.outer.seconds).sum() > np.count_nonzero(~own)
    assert np.nanmin(found.outer.seconds) > -1e-3
    ends = [(each.nodes.ranks[each.nodes.carriers][each.outer.carriers[own]]).tolist() for each in (before, found)]
    assert np.mean(np.array(ends[0]) == np.array(ends[1])) == pytest.approx(1)


@pytest.mark.parametrize("row", each(workloads(), lambda row: row["id"].startswith(_COLLECTIVE)))
def test_clocks_that_agree_are_left(row: Row) -> None:
    """Without skew the clocks of hosts are within a millisecond of 0, where processes began to count at once."""
    found = of_hosts(of_log(read_log(log_of(row))))
    # In these, processes of a host began to count by so much apart from others: reads and writes both show it.
    most = {"s010": 1.5e-3, "s055": 3e-3}.get(row["id"][:4], 1e-3)
    assert max(map(abs, found.values())) < most


def has_no_collective_calls(row: Row) -> bool:
    names = ("collective_writes", "collective_reads", "split_collective_writes")
    return bool(row.get("dxt")) and all((row["truth"] or {}).get(name) is False for name in names)


@pytest.mark.parametrize("row", each(workloads(), has_no_collective_calls))
def test_nothing_is_corrected_without_collective_calls(row: Row) -> None:
    """Where no call ends for all ranks at once, times stay as they were traced."""
    log = read_log(log_of(row))
    found = links(log.tables, log.job.nprocs, log.job.run_seconds)
    assert not found or not found.ahead.any()


def test_few_calls_correct_nothing() -> None:
    """Seven collective calls say nothing of clocks, eight do."""

    def ahead(count: int) -> float:
        rows = [
            request("mpiio", rank, call + 0.5 * (rank // 2), call + 0.5 * (rank // 2) + 0.1, offset_bytes=call)
            for rank in range(4)
            for call in range(count)
        ]
        found = made([*rows, request("posix", 0, 0.01, 0.02)], **mpiio_file(coll_write_count=4 * count))
        return found["link_ring"][0]["skew_seconds"]

    assert (None, pytest.approx(0.25)) == (ahead(7), pytest.approx(abs(ahead(8) or 0)))


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), float("-inf"), -5.0, 1e300])
def test_times_that_make_no_sense_are_left_out_and_counted(odd: float) -> None:
    """The rest is shown in its own time, and a sentence says how many requests are not."""
    rows = [request("posix", rank, 1.0 + rank, 1.5 + rank) for rank in range(3)]
    found = made([*rows, request("posix", 3, odd, odd)])
    for row in found["link_ring"]:
        assert "1 request with times that make no sense" in row["missing"]
        assert (3, 1.0) == (row["request_count"], row["begin_seconds"])


def test_requests_after_the_run_are_left_out() -> None:
    """Times beyond the end of a run whose length is known are none."""
    rows = [request("posix", 0, 1.0, 2.0), request("posix", 0, 500.0, 501.0)]
    tables = {"segment": [columns("segment", rows)], "dxt_file": []}
    found = links(tables, 1, 10.0)
    assert found
    assert [1, 1] == [len(found.inner.ops), int(found.unsound.sum())]


def test_mpiio_alone() -> None:
    """Without a trace of POSIX there are sizes by host, no inner ring, and a sentence."""
    found = made([request("mpiio", rank, 1.0, 2.0) for rank in range(4)], **mpiio_file(coll_write_count=4))
    assert {("outer", "size")} == {(row["ring"], row["metric"]) for row in found["link_detail"]}
    assert [("host", NO_POSIX)] == [(row["carrier_kind"], row["missing"]) for row in found["link_ring"]]


def test_mpiio_without_offsets() -> None:
    """The first version of MPI-IO's trace does not say where requests lie: no outer latency, and a sentence."""
    rows = [request("mpiio", rank, 1.0, 2.0, offset_bytes=-1) for rank in range(4)]
    found = made([*rows, request("posix", 0, 1.1, 1.2)], **mpiio_file(coll_write_count=4))
    assert ("outer", "latency") not in {(row["ring"], row["metric"]) for row in found["link_detail"]}
    assert NO_OFFSETS == found["link_ring"][0]["missing"]
    assert edges(found["link_detail"], "outer", "size")


def test_what_no_request_holds_is_counted() -> None:
    """Requests without a carrier are no edge; how many they are is said, and their rank has them."""
    rows = [request("mpiio", 0, 1.0, 2.0), request("mpiio", 1, 1.0, 2.0, offset_bytes=99), request("posix", 0, 1.1, 1.2)]
    found = made(rows, **mpiio_file(coll_write_count=2))
    (row,) = [row for row in found["link_ring"] if row["ring"] == "outer"]
    assert (2, 1) == (row["request_count"], row["matched_count"])
    assert "the first byte of 1 request" in row["missing"]
    assert {(0, 0): 1} == edges(found["link_detail"], "outer", "size")
    alone = made([request("mpiio", 0, 1.0, 2.0), request("posix", 0, 5.0, 6.0)], **mpiio_file(coll_write_count=1))
    assert NO_MATCH == alone["link_ring"][0]["missing"]


def test_hosts_unknown() -> None:
    """Where no host is known, each rank is its own carrier, and a sentence says so."""
    found = made([request("posix", rank, 1.0, 2.0, host=None) for rank in range(4)])
    assert {(rank, rank): 1 for rank in range(4)} == edges(found["link_detail"], "outer", "size")
    assert all(NO_HOSTS in row["missing"] for row in found["link_ring"])
    some = made([request("posix", rank, 1.0, 2.0, host="n" if rank else None) for rank in range(2)])
    carriers_of = {row["host"] for row in some["link_node"] if row["node_level"] == "carrier"}
    assert {"n", None} == carriers_of


def test_one_rank() -> None:
    """A single rank has its edges, and lies at the beginning of the circle."""
    found = made([request("posix", 0, 1.0, 1.0)], nprocs=1)
    assert {(0, 0): 1} == edges(found["link_detail"], "inner", "latency")
    assert {0.0, None} == {row["position"] for row in found["link_node"]}


def test_unknown_osts_and_hostile_numbers() -> None:
    """OSTs of any index, bytes that no sum holds, and offsets that cannot be: rows fit their tables."""
    layout = {"lustre_component": [lustre({1: [component(0, -1, 1 << 20, [_MOST, 0])], 2: [component(0, -1, 0, [5])]})]}
    rows = [
        request("posix", -_MOST, 1.0, 2.0, offset_bytes=_MOST, length_bytes=_MOST),
        request("posix", _MOST, 1.0, 2.0, offset_bytes=2 << 20, length_bytes=3),
        request("posix", 3, 1.0, 2.0, offset_bytes=-7, length_bytes=-9),
        request("mpiio", 3, 1.0, 2.0, offset_bytes=_MOST, length_bytes=_MOST),
        request("posix", 4, 1.0, 2.0, file_id=2, length_bytes=5),
    ]
    found = made(rows, **layout)
    assert {_MOST} == {row["node_id"] for row in found["link_node"] if row["node_level"] == "ost"}
    assert {None} < {row["moved_bytes"] for row in found["link_node"]}


def test_hostile_names() -> None:
    """Names come as they are; who shows them makes them harmless."""
    name = "\x1b[31m<script>\"';--\u202e"
    files = {"file_name": [{"file_id": [1], "path": [name], "mount": [name], "fs_type": ["x"]}]}
    found = made([request("posix", 0, 1.0, 2.0, host=name)], **files)
    assert {name, None} == {row["node_label"] for row in found["link_node"]}


def test_nothing_traced() -> None:
    """A log without a trace, or one of requests that move nothing, has no rows."""
    assert {"link_detail": [], "link_node": [], "link_ring": []} == made([])
    assert {"link_detail": [], "link_node": [], "link_ring": []} == made([request("posix", 0, 1.0, 2.0, length_bytes=0)])


def test_a_hundred_thousand_ranks() -> None:
    """256 neighbours share an arc, in order, and each rank still has its own row."""
    count = 100_000
    ranks = np.arange(count)
    of_runs = {
        "layer": pa.array(["posix"]).dictionary_encode().take(pa.array(np.zeros(count, np.int64))),
        "file_id": pa.array(np.ones(count, np.int64)),
        "rank": pa.array(ranks),
        "host": pa.nulls(count, pa.string()).dictionary_encode(),
        "op": pa.array(["read"]).dictionary_encode().take(pa.array(np.zeros(count, np.int64))),
    }
    run_ends = pa.array(ranks + 1)
    part = {name: pa.RunEndEncodedArray.from_arrays(run_ends, column) for name, column in of_runs.items()}
    numbers = {"offset_bytes": ranks, "length_bytes": ranks + 1, "start_seconds": ranks / 1e3, "end_seconds": ranks / 1e3 + 1}
    part |= {name: pa.array(column) for name, column in numbers.items()}
    found = links({"segment": [part]}, count)
    assert found
    detail, nodes = pa.table(link_detail(found)), pa.table(link_node(found, {}))
    assert 391 == len(set(detail["from_node"].to_pylist()))
    of_ranks = nodes.filter((pc.field("node_level") == "rank") & (pc.field("ring") == "inner") & (pc.field("metric") == "size"))
    arcs = of_ranks.filter(pc.field("stretch") == "run")
    assert [rank // 256 for rank in range(count)] == arcs["arc"].to_pylist()
