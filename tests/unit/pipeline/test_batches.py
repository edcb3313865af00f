"""What follows from many logs at once is what follows from each alone."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import SHARED_DATA

from iomine.derive import phase_model
from iomine.pipeline.failures import FAILED
from iomine.pipeline.ingest import rows as room
from iomine.pipeline.ingest.rows import rows_of
from iomine.sources.darshan import NO_SENSE, Log, Owners, Records, assembled, read_log
from iomine.sources.darshan.heatmap import Filled, HeatMaps

# Small logs that differ in their modules: with and without heat maps, Lustre, MPI-IO, POSIX and traces.
_NAMES = (
    "darshan-logs/empty_log/empty_log.darshan",
    "darshan-logs/release_logs/mpi-io-test-ppc64-3.0.0.darshan",
    "darshan-logs/release_logs/mpi-io-test-x86_64-3.5.0.darshan",
    "darshan-logs/release_logs/mpi-io-test-x86_64-3.4.7.darshan",
    "darshan-logs/skew_io/skew-autobench-ior.darshan",
    "darshan-logs/dlio_logs/snyder_python3_id3116902-2110366_12-19-66957-4077632997277538683_1.darshan",
    "darshan-logs/dlio_logs/snyder_python3_id3116902-2110367_12-19-66957-18280558790378981665_1.darshan",
    "darshan-logs/ior_daos/snyder_ior-DFS_id4681120-53379_5-8-15060-3270540599978592154_1.darshan",
    "darshan/input/noposix.darshan",
    "darshan/darshan-graph/pq_app_readAB_writeC_id71326_7-31-5658-2037904274838284930_55623.darshan",
    "hpc-iopatterns/time-series-patterns/lmp-water-vapour/darshan/lammps.darshan",
    "aiio/dbin_tmatch_id66159987-64399_1-20-80251-13032481889582386138_4.darshan",
    "codes/ior-uniq.darshan",
    "darshan-ruby/ior_dxt.darshan",
    "darshan-logs/release_logs/mpi-io-test-x86_64-3.1.5.darshan",
    "darshan-logs/hdf5_diagonal_write_only/hdf5_diagonal_write_1_byte_dxt.darshan",
    "darshan-logs/mpi_io_test_with_dxt/treddy_mpi-io-test_id4373053_6-2-60198-9815401321915095332_1.darshan",
    "darshan/input/sample-dxt-simple.darshan",
    "darshan/tutorial/ior_hdf5_example.darshan",
    "hpc-iopatterns/warpx/darshan/warpx.uniform_plasma.darshan",
)
_PATH = "/logs/a.darshan"
_OF_REQUESTS = ("offset_bytes", "length_bytes", "start_seconds", "end_seconds")
# Numbers, and bits of numbers, that no program has in its counters.
_ODD = (-1, 0, 1 << 40, (1 << 63) - 1, *(np.array([1e300, np.inf, np.nan, -1e-9, 1.5]).view(np.int64).tolist()))
_Rows = dict[str, list[str]]


@cache
def _log(name: str) -> Log:
    return read_log(str(SHARED_DATA / "darshan" / name))


def _damaged(log: Log, log_id: str, seed: int) -> Log:
    """The log under another id, some of its counters overwritten, or a table without a part; unless the seed is 0."""
    random = np.random.default_rng(seed)
    tables: dict[str, list[Any]] = {}
    for table, parts in log.tables.items():
        tables[table] = []
        for part in parts:
            if seed and isinstance(part, Records) and part.row_count:
                matrix = part.matrix.copy()
                at = random.integers(part.row_count, size=3), random.integers(1, matrix.shape[1], 3)
                matrix[at] = random.choice(_ODD, 3)
                tables[table].append(Records(part.table, part.names, matrix))
            elif seed % 3 == 1 and table == "segment":
                tables[table].append({**part, **{name: _overwritten(part[name], random) for name in _OF_REQUESTS}})
            else:
                tables[table].append(part)
    if seed % 5 == 1:
        tables[random.choice([*tables])] = []
    # The reader says so of a trace with requests that no program makes.
    modules = tuple(
        replace(each, reason=NO_SENSE) if seed % 3 == 1 and each.region.module.startswith("DXT") else each for each in log.modules
    )
    return replace(log, log_id=log_id, tables=tables, modules=modules)


def _overwritten(column: pa.Array, random: np.random.Generator) -> pa.Array:
    """The column, one of its numbers an odd one."""
    values = column.to_numpy().copy()
    odd = np.array(_ODD)
    values[random.integers(len(values))] = random.choice(odd.view(np.float64) if values.dtype == np.float64 else odd)
    return pa.array(values)


def _by_log(logs: Sequence[Log]) -> dict[str, _Rows]:
    """Rows of each log by table, floats as texts, of which no two are the same."""
    found: dict[str, _Rows] = {log.log_id: {} for log in logs}
    for table, parts in rows_of([(log, _PATH) for log in logs]).items():
        owned = [(Owners([log.log_id for log in logs], numbers), part) for numbers, part in parts]
        for row in assembled(table, owned).to_pylist():
            found[row["log_id"]].setdefault(table, []).append(repr(row))
    return found


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(_NAMES), st.integers(0, 50)), min_size=2, max_size=8))
def test_rows_of_a_batch_are_those_of_its_logs(drawn: list[tuple[str, int]]) -> None:
    """Bit by bit, and in the same order, whatever other logs there are, in any order, and whatever their counters hold."""
    logs = [_damaged(_log(name), f"{number:016x}", seed) for number, (name, seed) in enumerate(drawn)]
    alone = [_by_log([log])[log.log_id] for log in logs]
    assert dict(zip((log.log_id for log in logs), alone, strict=True)) == _by_log(logs)


def test_a_derivation_that_fails_costs_one_log(monkeypatch: pytest.MonkeyPatch, shared_data: Path) -> None:
    """All other logs of the batch have their rows of it, and the log has all its other rows."""
    logs = [_damaged(read_log(str(shared_data / "darshan" / name)), f"{number:016x}", 0) for number, name in enumerate(_NAMES)]
    bad = next(number for number, log in enumerate(logs) if log.job.nprocs == 2048)
    whole = _by_log(logs)

    def stumble(tables: Any, traces: Any, layers: Any, nprocs: Any, transforms: Any) -> Any:
        if 2048 in np.atleast_1d(nprocs):
            raise ValueError("no luck")
        return phase_model(tables, traces, layers, nprocs, transforms)

    monkeypatch.setattr(room, "phase_model", stumble)
    rest = _by_log(logs)

    (failure,) = rest[logs[bad].log_id].pop(FAILED)
    assert "'derivation': 'phase_class', 'error': 'ValueError: no luck'" in failure
    assert whole[logs[bad].log_id].pop("phase_class")
    assert whole == rest


def test_what_heat_maps_claim_costs_no_other_log_its_bytes() -> None:
    """Sums of floats that run on from log to log would lose small numbers behind a high one."""
    name = "alcf-hands-on/warpdrive/snyder_warpdriveA.darshan"
    sound = _damaged(_log(name), f"{1:016x}", 0)
    (part,) = sound.tables["heatmap_rank"]
    assert isinstance(part, HeatMaps)
    sizes = np.asarray(part["bin_count"])
    bins = Filled.of_bins(np.full(sizes.sum(), 1 << 60), sizes)
    high = replace(sound, log_id=f"{0:016x}", tables={**sound.tables, "heatmap_rank": [HeatMaps(part.heads, bins, bins)]})
    assert _by_log([sound])[sound.log_id] == _by_log([high, sound])[sound.log_id]
