"""Sums over a log's lowest layers."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import Row, each, log_of, truth_of, workloads

from iomine.derive import Totals, totals
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import read_log

_COUNTS = ("read_bytes", "write_bytes", "read_count", "write_count")
_SECONDS = ("read_seconds", "write_seconds", "meta_seconds")
_ALL = (*_COUNTS, "readx_count", "writex_count", *_SECONDS)
_RECORD = st.fixed_dictionaries(
    {name: st.integers(-1, 2**40) for name in (*_COUNTS, "readx_count", "writex_count")}
    # Binary fractions, whose sum does not depend on the order.
    | {name: st.integers(-8, 2**20).map(lambda eighths: eighths / 8) for name in _SECONDS}
)
_TABLES = st.dictionaries(
    st.sampled_from(["posix_file", "stdio_file", "dfs_file", "mpiio_file", "h5d_dataset"]),
    st.lists(st.lists(_RECORD, max_size=4), min_size=1, max_size=3),
)

Records = dict[str, list[list[dict[str, float]]]]


def _columns(records: Records) -> dict[str, list[dict[str, pa.Array]]]:
    return {
        table: [
            {
                field.name: pa.array([row[field.name] for row in part], field.type)
                for field in arrow_schema(table)
                if field.name in _ALL
            }
            for part in parts
        ]
        for table, parts in records.items()
    }


def _by_hand(records: Records) -> Totals:
    lowest = [
        (table, row) for table in ("posix_file", "stdio_file", "dfs_file") for part in records.get(table, []) for row in part
    ]

    def total(name: str) -> float:
        return sum(max(row[name], 0) for _, row in lowest)

    def indexed(name: str) -> float:
        return sum(max(row[name], 0) for table, row in lowest if table == "dfs_file")

    return Totals(
        int(total("read_bytes")),
        int(total("write_bytes")),
        int(total("read_count") + indexed("readx_count")),
        int(total("write_count") + indexed("writex_count")),
        sum(map(total, _SECONDS)),
    )


@given(_TABLES)
def test_totals_equal_brute_force(records: Records) -> None:
    """Sums are over POSIX, STDIO and DFS, part by part; other layers and counters that are not known add nothing."""
    assert _by_hand(records) == totals(_columns(records))


def test_log_without_records() -> None:
    """A log without records moved nothing."""
    assert Totals(0, 0, 0, 0, 0.0) == totals({})


@pytest.mark.parametrize("row", each(workloads(), lambda row: bool(truth_of(row).get("log_totals"))))
def test_totals_of_known_workloads(row: Row) -> None:
    """The totals of a log are the sums that another reader made of its counters."""
    expected = truth_of(row)["log_totals"]
    layers = [(expected[layer], layer) for layer in ("POSIX", "STDIO") if layer in expected]

    def total(*words: str) -> float:
        return sum(counters[f"{layer}_{word}"] for counters, layer in layers for word in words)

    got = totals(read_log(log_of(row)).tables)
    assert (total("BYTES_READ"), total("BYTES_WRITTEN"), total("READS"), total("WRITES")) == got[:4]
    # The manifest keeps four digits of each sum of seconds.
    assert total("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME") == pytest.approx(got.io_core_seconds, abs=1e-3)


def test_sum_beyond_64_bits_is_not_known() -> None:
    """Counters of a hostile log that add up to more than 64 bits hold give no sum, and leave the other sums theirs."""
    most = 2**63 - 1
    records = {"posix_file": [[{"read_bytes": most, "write_bytes": most}, {"read_bytes": 1, "write_bytes": 0}]]}
    full = dict.fromkeys((*_COUNTS, *_SECONDS), 0)
    answer = totals(_columns({table: [[full | row for row in rows] for rows in parts] for table, parts in records.items()}))
    assert Totals(None, None, 0, 0, 0.0) == answer
