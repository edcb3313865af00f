"""What each rank did, held against programs whose every request is known."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import pyarrow as pa
import pytest
from heat_bins import heat_bins
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import Row, darshan_rows, each, log_of, truth_of, workloads
from tables import columns, rows_of, types_of

from iomine.derive import rank_io, special_files, special_ids, traces
from iomine.errors import UnreadableError
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import Log, read_log

MEASURES = ("read_count", "write_count", "read_bytes", "write_bytes", "read_seconds", "write_seconds", "meta_seconds")
BYTES = MEASURES[2:4]
TABLES = {"posix": "posix_file", "mpiio": "mpiio_file", "stdio": "stdio_file"}
STREAM = 9
NAMES = {"file_id": [1, 2, 3, STREAM], "path": ["/a", "/b", "/c", "<STDOUT>"]}


@dataclass(frozen=True)
class Request:
    layer: str
    file_id: int
    rank: int
    op: str
    length_bytes: int
    seconds: float
    meta_seconds: float

    def amounts(self) -> dict[str, float]:
        """All measures, most of them 0."""
        asked = {f"{self.op}_count": 1, f"{self.op}_bytes": self.length_bytes, f"{self.op}_seconds": self.seconds}
        return dict.fromkeys(MEASURES, 0) | asked | {"meta_seconds": self.meta_seconds}


@dataclass(frozen=True)
class Program:
    """A run of which every request is known, and how Darshan keeps it.

    Attributes:
        nprocs: its processes.
        requests: what its ranks did.
        shared: layer and file of records that all ranks share.
        traced: layer and file with a whole trace.
        cut: layer and file with a trace that lacks its last request.
        heat: layers with heat maps.
    """

    nprocs: int
    requests: tuple[Request, ...]
    shared: frozenset[tuple[str, int]] = frozenset()
    traced: frozenset[tuple[str, int]] = frozenset()
    cut: frozenset[tuple[str, int]] = frozenset()
    heat: frozenset[str] = frozenset()

    def of(self, layer: str) -> Iterator[Request]:
        """What went through a layer."""
        return (request for request in self.requests if request.layer == layer)

    def recorded_rank(self, request: Request) -> int:
        """Rank of the record that counts a request."""
        return -1 if (request.layer, request.file_id) in self.shared else request.rank

    def tables(self) -> dict[str, list[Mapping[str, Any]]]:
        """Records, traces and heat maps as a reader gives them."""
        tables: dict[str, list[Mapping[str, Any]]] = {"file_name": [NAMES]}
        for layer, table in TABLES.items():
            records: dict[tuple[int, int], dict[str, float]] = {}
            for request in self.of(layer):
                key = request.file_id, self.recorded_rank(request)
                add(records.setdefault(key, dict.fromkeys(MEASURES, 0)), request.amounts())
            rows = [{"file_id": file_id, "rank": rank, **_words(layer, sums)} for (file_id, rank), sums in records.items()]
            if rows:
                tables[table] = [columns(table, rows)]
            self._add_trace(layer, tables)
            if layer in self.heat:
                self._add_heat(layer, tables)
        return tables

    def _add_trace(self, layer: str, tables: dict[str, list[Mapping[str, Any]]]) -> None:
        requests = [request for request in self.of(layer) if (layer, request.file_id) in self.traced | self.cut]
        lasts = {request.file_id: number for number, request in enumerate(requests) if (layer, request.file_id) in self.cut}
        kept = [request for number, request in enumerate(requests) if number not in lasts.values()]
        rows = [asdict(request) | {"end_seconds": request.seconds} for request in kept]
        tables.setdefault("segment", []).append(columns("segment", rows))

    def _add_heat(self, layer: str, tables: dict[str, list[Mapping[str, Any]]]) -> None:
        rows = []
        for rank in range(self.nprocs):
            own = [request for request in self.of(layer) if request.rank == rank]
            bins = {op: [request.length_bytes for request in own if request.op == op] for op in ("read", "write")}
            rows.append({"layer": layer, "rank": rank, **heat_bins(**bins)})
        tables.setdefault("heatmap_rank", []).append(columns("heatmap_rank", rows))

    def rows(self) -> list[dict[str, Any]]:
        """What is made of these."""
        tables = self.tables()
        return rows_of(rank_io(tables, traces(tables), self.nprocs, special_ids(special_files(tables))))


def _words(layer: str, sums: dict[str, float]) -> dict[str, float]:
    """A record's counters: MPI-IO counts its requests by kind."""
    return {f"coll_{name}" if layer == "mpiio" and name.endswith("_count") else name: value for name, value in sums.items()}


def add(sums: dict[str, float], more: Mapping[str, float]) -> None:
    for name in more:
        sums[name] = sums.get(name, 0) + more[name]


@dataclass
class Part:
    """A layer's files worked out request by request: what is known by rank, and what is not."""

    known: dict[int, dict[str, float]] = field(default_factory=dict)
    missing: dict[str, float] = field(default_factory=lambda: dict.fromkeys(MEASURES, 0))
    evidence: int = 0


def part_by_hand(program: Program, layer: str, left_out: set[int]) -> Part:
    part, rest_is_known = Part(), True
    wanted = [request for request in program.of(layer) if request.file_id not in left_out]
    for request in program.of(layer):
        key = layer, request.file_id
        amounts = request.amounts()
        is_shared = key in program.shared and program.nprocs > 1
        is_unread = is_shared and not (key in program.traced and key not in program.cut)
        if request.file_id in left_out:
            rest_is_known &= not (is_unread and request.length_bytes)
            continue
        if is_shared:
            part.missing["meta_seconds"] += amounts.pop("meta_seconds")
            part.evidence = max(part.evidence, 0 if is_unread else 1)
        add(part.missing if is_unread else part.known.setdefault(request.rank, dict.fromkeys(MEASURES, 0)), amounts)
    if any(part.missing[name] for name in BYTES) and rest_is_known and layer in program.heat:
        part.evidence = 2
        for request in wanted:
            sums = part.known.setdefault(request.rank, dict.fromkeys(MEASURES, 0))
            if program.recorded_rank(request) == -1 and (layer, request.file_id) not in program.traced - program.cut:
                sums[f"{request.op}_bytes"] += request.length_bytes
        part.missing |= dict.fromkeys(BYTES, 0)
    return part


def rows_by_hand(program: Program) -> list[dict[str, Any]]:
    parts = {
        layer: part_by_hand(program, layer, {STREAM} if layer == "stdio" else set()) for layer in TABLES if any(program.of(layer))
    }
    rows = [row for layer, part in parts.items() for row in layer_by_hand(layer, [part], 0.0)]
    if "mpiio" in parts and "posix" in parts:
        parts["posix"] = part_by_hand(program, "posix", {request.file_id for request in program.of("mpiio")})
    return rows + layer_by_hand("all", list(parts.values()), 0.1)


def layer_by_hand(layer: str, parts: list[Part], tolerance: float) -> list[dict[str, Any]]:
    known: dict[int, dict[str, float]] = {}
    missing, total = dict.fromkeys(MEASURES, 0.0), dict.fromkeys(MEASURES, 0.0)
    for part in parts:
        add(missing, part.missing)
        add(total, part.missing)
        for rank, sums in part.known.items():
            add(known.setdefault(rank, {}), sums)
            add(total, sums)

    def is_little(*names: str) -> bool:
        lacking = sum(missing[name] for name in names)
        return lacking == 0 or lacking < tolerance * sum(total[name] for name in names)

    if not is_little(*BYTES):
        return []
    evidence = ("records", "trace", "heatmap")[max((part.evidence for part in parts), default=0)]
    return [
        {"layer": layer, "rank": rank, "host": None, "evidence": evidence}
        | {name: sums[name] if is_little(name) else None for name in MEASURES}
        for rank, sums in sorted(known.items())
        if any(sums.values())
    ]


_EIGHTHS = st.integers(0, 40).map(lambda eighths: eighths / 8)
_REQUEST = st.builds(
    Request,
    layer=st.sampled_from(list(TABLES)),
    file_id=st.sampled_from([1, 2, 3, STREAM]),
    rank=st.integers(0, 3),
    op=st.sampled_from(["read", "write"]),
    length_bytes=st.one_of(st.integers(0, 9), st.integers(100, 1000)),
    seconds=_EIGHTHS,
    meta_seconds=_EIGHTHS,
)
_FILES = st.frozensets(st.tuples(st.sampled_from(list(TABLES)), st.sampled_from([1, 2, 3, STREAM])))


def _program(nprocs: int, requests: list[Request], **kept: Any) -> Program:
    within = tuple(replace(request, rank=request.rank % nprocs) for request in requests)
    # Streams are stdio's alone.
    return Program(nprocs, tuple(r for r in within if r.layer == "stdio" or r.file_id != STREAM), **kept)


_PROGRAMS = st.builds(
    _program,
    nprocs=st.integers(1, 4),
    requests=st.lists(_REQUEST, max_size=25),
    shared=_FILES,
    traced=_FILES,
    cut=_FILES,
    heat=st.frozensets(st.sampled_from(list(TABLES))),
)


@settings(deadline=None, max_examples=400)
@given(_PROGRAMS)
@pytest.mark.proof
def test_ranks_equal_brute_force(program: Program) -> None:
    """From whatever Darshan kept, each rank gets exactly what it did, or NULL, or no row: never a wrong number."""
    expected, got = rows_by_hand(program), program.rows()
    assert [row["layer"] for row in expected] == [row["layer"] for row in got]
    assert expected == got


def test_columns_are_those_of_the_table() -> None:
    """All columns of the table are given, in the types of the schema."""
    tables = Program(2, (Request("posix", 1, 0, "read", 5, 1.0, 0.0),)).tables()
    got = rank_io(tables, traces(tables), 2)
    assert {field.name: field.type for field in arrow_schema("rank_io") if field.name != "log_id"} == types_of("rank_io", got)


def test_nothing_without_records() -> None:
    """A log without records has no rows, nor has one that did nothing."""
    assert {} == rank_io({}, [], 4)
    assert {} == rank_io({"posix_file": [columns("posix_file", [{"rank": 0}])]}, [], 4)


def test_hosts_come_from_trace_and_mpi_profile() -> None:
    """A rank's host is the one that trace or MPI profile name, and NULL where neither does."""
    tables = {
        "posix_file": [columns("posix_file", [{"rank": rank, "read_bytes": 1} for rank in range(4)])],
        "dxt_file": [columns("dxt_file", [{"rank": 2, "host": "n1"}]), columns("dxt_file", [{"rank": 0, "host": "n0"}] * 2)],
        "apmpi_rank": [columns("apmpi_rank", [{"rank": 3, "host": "n1"}])],
    }
    hosts = {row["rank"]: row["host"] for row in rows_of(rank_io(tables, [], 4))}
    assert {0: "n0", 1: None, 2: "n1", 3: "n1"} == hosts


def test_heat_map_that_saw_other_bytes() -> None:
    """A heat map that is more than a hundredth off the records parts nothing; one that is less off does."""
    record = {"posix_file": [columns("posix_file", [{"rank": -1, "read_bytes": 1000, "read_count": 2}])]}

    def read(*by_rank: int) -> list[int]:
        heat = [{"layer": "posix", "rank": rank, **heat_bins(read=[0, read])} for rank, read in enumerate(by_rank)]
        rows = rows_of(rank_io(record | {"heatmap_rank": [columns("heatmap_rank", heat)]}, [], 2))
        return [row["read_bytes"] for row in rows if row["layer"] == "posix"]

    assert [600, 391] == read(600, 391)
    assert [] == read(600, 389)
    assert [] == read(600, 411)


def test_heat_map_of_an_unknown_layer() -> None:
    """Heat maps of layers that have no name are left alone."""
    record = {"posix_file": [columns("posix_file", [{"rank": -1, "read_bytes": 10}])]}
    heat = columns("heatmap_rank", [{"rank": 0, **heat_bins(read=[10])}])
    assert {} == rank_io(record | {"heatmap_rank": [heat]}, [], 2)


def test_counters_that_are_not_known() -> None:
    """A counter that Darshan does not know is NULL for its rank; a shared one is NULL for all."""

    def seconds(*records: dict[str, float], layer: str = "stdio") -> list[float | None]:
        tables = {"stdio_file": [columns("stdio_file", [{"write_bytes": 1} | record for record in records])]}
        return [row["meta_seconds"] for row in rows_of(rank_io(tables, [], 2)) if row["layer"] == layer]

    assert [None, 2.0] == seconds({"rank": 0, "meta_seconds": float("nan")}, {"rank": 1, "meta_seconds": 2.0})
    assert [None, 2.0] == seconds({"rank": 0, "meta_seconds": -1e-6}, {"rank": 1, "meta_seconds": 2.0})
    odd, shared = {"rank": 0, "meta_seconds": -1.0}, {"rank": -1, "write_bytes": 0}
    assert [None, None] == seconds({"rank": 0}, {"rank": 1}, shared | {"meta_seconds": float("inf")})
    assert [None, 2.0] == seconds(odd, {"rank": 1, "meta_seconds": 2.0}, shared | {"meta_seconds": 0.1}, layer="all")


def test_ranks_that_cannot_be() -> None:
    """Records of ranks that the run did not have are left out."""
    records = [{"rank": rank, "read_bytes": 1} for rank in (-2, 0, 1, 2, 2**62)]
    rows = rows_of(rank_io({"posix_file": [columns("posix_file", records)]}, [], 2))
    assert [0, 1] == [row["rank"] for row in rows if row["layer"] == "all"]


_ANY = st.one_of(st.integers(-3, 3), st.sampled_from([-(2**63), 2**60, 2**62, 2**63 - 1]))
_ANY_TIME = st.one_of(st.floats(), st.sampled_from([-1.0, 1e308]))


def _hostile(table: str) -> st.SearchStrategy[list[Mapping[str, pa.Array]]]:
    names = {
        field.name: _ANY_TIME if pa.types.is_floating(field.type) else _ANY
        for field in arrow_schema(table)
        if pa.types.is_floating(field.type) or pa.types.is_integer(field.type)
    }
    names = {name: drawn for name, drawn in names.items() if name in ("file_id", "rank", "start_seconds", "end_seconds")} | {
        name: drawn for name, drawn in names.items() if name.endswith(MEASURES) or name.startswith(("offset", "length"))
    }
    texts = {"layer": st.sampled_from(["posix", "stdio"]), "op": st.sampled_from(["read", "write"])}
    row = st.fixed_dictionaries(names | {name: drawn for name, drawn in texts.items() if name in arrow_schema(table).names})
    if table == "heatmap_rank":
        bins = st.lists(_ANY, max_size=3)
        row = st.builds(lambda row, read, write: row | heat_bins(read=read, write=write), row, bins, bins)
    return st.lists(row, min_size=1, max_size=6).map(lambda rows: [columns(table, rows)])


@pytest.mark.filterwarnings("error")
@settings(deadline=None)
@given(
    st.fixed_dictionaries({}, optional={name: _hostile(name) for name in (*TABLES.values(), "segment", "heatmap_rank")}),
    st.sampled_from([-1, 0, 1, 3, 2**40]),
)
def test_hostile_numbers(tables: dict[str, list[Mapping[str, Any]]], nprocs: int) -> None:
    """Numbers that cannot be give no error, no rank beyond the run, and nothing negative."""
    for row in rows_of(rank_io(tables, traces(tables), nprocs)):
        assert 0 <= row["rank"] < nprocs
        assert all(row[name] is None or row[name] >= 0 for name in MEASURES)


def ranks_of(log: Log) -> list[dict[str, Any]]:
    return rows_of(rank_io(log.tables, traces(log.tables), log.job.nprocs, special_ids(special_files(log.tables))))


def _counts_itself(row: Row) -> bool:
    # One ran out of memory for records, so that the log lacks most of what it did.
    return bool((truth_of(row).get("self_accounting") or {}).get("issued_by_rank")) and row["id"] != "s122_partial_posix"


@pytest.mark.parametrize("row", each(workloads(), _counts_itself))
def test_ranks_of_known_workloads(row: Row) -> None:
    """Layer `all` is what the program counted itself, rank by rank; a heat map does not know how many requests there were."""
    issued = truth_of(row)["self_accounting"]["issued_by_rank"]
    log = read_log(log_of(row))
    ranks = {entry["rank"]: entry for entry in ranks_of(log) if entry["layer"] == "all"}
    for theirs, ours in zip(("read_bytes", "write_bytes", "read_ops", "write_ops"), (*BYTES, *MEASURES[:2]), strict=True):
        # What it did to set the scene is not counted.
        if theirs not in issued:
            continue
        is_known = ours in BYTES or all(entry["evidence"] != "heatmap" for entry in ranks.values())
        expected = issued[theirs] if is_known else [None] * log.job.nprocs
        assert expected == [ranks[rank][ours] if rank in ranks else 0 for rank in range(log.job.nprocs)]


def _claims_balance(row: Row) -> bool:
    # IOR deals blocks out to ranks at random there, and the claim is the mean over many.
    is_dealt_out = row["id"] in ("s005_ior_posix_random_small", "s006_ior_posix_random_read")
    return row["truth"].get("bytes_by_rank_max_over_mean") is not None and not is_dealt_out


@pytest.mark.parametrize("row", each(workloads(), _claims_balance))
def test_balance_of_known_workloads(row: Row) -> None:
    """Bytes of the rank with most, over the mean of all ranks, are what is known of the workload."""
    log = read_log(log_of(row))
    moved = [entry["read_bytes"] + entry["write_bytes"] for entry in ranks_of(log) if entry["layer"] == "all"]
    assert row["truth"]["bytes_by_rank_max_over_mean"] == pytest.approx(max(moved) * log.job.nprocs / sum(moved), rel=5e-3)


@pytest.mark.parametrize("rows", [darshan_rows(), workloads()], ids=["open", "known"])
@pytest.mark.proof
def test_ranks_add_up_to_records(rows: tuple[Row, ...]) -> None:
    """Over all ranks, bytes of each layer are those of its records."""
    wrong, seen = [], set()
    for row in rows:
        try:
            log = read_log(log_of(row))
        except UnreadableError:
            continue
        ranks = ranks_of(log)
        special = set(special_ids(special_files(log.tables)).tolist())
        for layer, table in TABLES.items():
            own = [entry for entry in ranks if entry["layer"] == layer and entry["evidence"] != "heatmap"]
            seen |= {(layer, entry["evidence"]) for entry in own}
            records = [record for record in log.table(table).to_pylist() if record["file_id"] not in special]
            for name in BYTES:
                expected = sum(record[name] for record in records)
                got = [entry[name] for entry in own]
                if own and None not in got and expected != sum(got):
                    wrong.append((log_of(row).name, layer, name, expected, sum(got)))
    if rows:
        assert {("posix", "records"), ("posix", "trace"), ("mpiio", "trace"), ("stdio", "records")} <= seen
    assert [] == wrong
