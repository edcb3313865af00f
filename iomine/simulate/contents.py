"""What Darshan would have kept of a program: the records of every module, and the names of what they are about."""

from typing import Final, NamedTuple

import numpy as np

from iomine.simulate.program import Program
from iomine.simulate.records import FILE_ALIGNMENT, Records, records_of
from iomine.simulate.runs import READ, WRITE, Runs
from iomine.simulate.timeline import heatmap
from iomine.sources.darshan.writing import CounterRecords, dxt_data, heatmap_data, lustre_data, record_id

_SHARED: Final = -1
_HEATED: Final = {"POSIX": "posix", "MPI-IO": "mpiio", "STDIO": "stdio"}
_HEAT_NAMES: Final = {"posix": "heatmap:POSIX", "mpiio": "heatmap:MPIIO", "stdio": "heatmap:STDIO"}
_TRACED: Final = {"POSIX": "DXT_POSIX", "MPI-IO": "DXT_MPIIO"}
# Darshan keeps traces in bounded memory; nobody traces more than this on purpose.
_MOST_TRACED: Final = 50_000
_ELEMENT_BYTES: Final = 8
# Fields that are the same in all records of a module; -1 is Darshan's word for what it was not built to see.
_FIXED: Final[dict[str, dict[str, int]]] = {
    "POSIX": {"mmap_count": -1, "mode": 0o664, "mem_alignment_bytes": 8, "file_alignment_bytes": FILE_ALIGNMENT},
    "MPI-IO": {"mode": 9},
    "STDIO": {},
    "H5F": {"use_mpiio": 1},
    "H5D": {"dimension_count": 1, "datatype_bytes": _ELEMENT_BYTES},
}


class Contents(NamedTuple):
    """What a log holds beyond its job record.

    Attributes:
        names: names by record id.
        modules: records by module.
        read_bytes: read through POSIX and stdio.
        write_bytes: written through them.
        has_trace: whether requests were traced.
        has_heatmap: whether there are heat maps.
    """

    names: dict[int, str]
    modules: dict[str, bytes]
    read_bytes: int
    write_bytes: int
    has_trace: bool
    has_heatmap: bool


def contents_of(program: Program, *, is_traced: bool, is_heated: bool) -> Contents:
    """The contents of a program's log.

    Args:
        program: one that has run.
        is_traced: keep DXT traces, unless they would be too large.
        is_heated: keep heat maps.
    """
    ids = np.array([record_id(path) for path in program.paths], np.int64)
    names = dict(zip(ids.tolist(), program.paths, strict=True))
    runs = {layer: tape.runs() for layer, tape in program.tapes.items()}
    modules: dict[str, bytes] = {}
    for layer, tape in program.tapes.items():
        records = records_of(runs[layer], tape.calls(), program.nprocs)
        modules[layer] = _counters(layer, records, ids, program)
        if layer == "POSIX":
            modules["LUSTRE"] = _layouts(records, ids, program)
    is_traced = is_traced and sum(int(runs[layer].counts.sum()) for layer in _TRACED if layer in runs) <= _MOST_TRACED
    if is_traced:
        traces = {module: _trace(runs[layer], ids, program) for layer, module in _TRACED.items() if layer in runs}
        modules |= {module: data for module, data in traces.items() if data}
    if is_heated:
        heated = {layer: heat for layer, heat in _HEATED.items() if layer in runs}
        modules["HEATMAP"] = b"".join(_heat(runs[layer], heat, program) for layer, heat in heated.items())
        names |= {record_id(_HEAT_NAMES[heat]): _HEAT_NAMES[heat] for heat in heated.values()}
    read, written = (sum(_moved(runs[layer], op) for layer in ("POSIX", "STDIO") if layer in runs) for op in (READ, WRITE))
    return Contents(names, modules, read, written, is_traced, is_heated)


def _moved(runs: Runs, op: int) -> int:
    return int(runs.moved_bytes[runs.ops == op].sum())


def _counters(module: str, records: Records, ids: np.ndarray, program: Program) -> bytes:
    counters = CounterRecords(module, len(records.files))
    counters["file_id"], counters["rank"] = ids[records.files], records.ranks
    for name, values in records.values.items():
        if name in counters:
            counters[name] = values
    for name, value in _FIXED[module].items():
        counters[name] = value
    if module == "H5D":
        _about_datasets(counters, records, ids, program)
    return counters.data()


def _about_datasets(counters: CounterRecords, records: Records, ids: np.ndarray, program: Program) -> None:
    """Datasets of one dimension, of which each request is one piece."""
    values = records.values
    counters["parent_file_id"] = ids[[program.datasets[file] for file in records.files.tolist()]]
    counters["regular_hyperslab_select_count"] = values["read_count"] + values["write_count"]
    counters["use_mpiio_collective"] = values["coll_read_count"] + values["coll_write_count"] > 0
    counters["point_count"] = (np.maximum(values["max_read_offset_bytes"], values["max_write_offset_bytes"]) + 1) // _ELEMENT_BYTES
    for n in range(1, 5):
        counters[f"access{n}_length_d5_count"] = values[f"access{n}_bytes"] // _ELEMENT_BYTES
        counters[f"access{n}_stride_d5_count"] = values[f"access{n}_bytes"] > 0


def _layouts(records: Records, ids: np.ndarray, program: Program) -> bytes:
    """A layout for each file, of the lowest rank that has a record of it."""
    files, firsts = np.unique(records.files, return_index=True)
    ranks, layouts = records.ranks[firsts], program.layouts
    data = []
    for width in np.unique(layouts.stripe_counts[files]):
        chosen = layouts.stripe_counts[files] == width
        of = files[chosen]
        data.append(lustre_data(ids[of], ranks[chosen], layouts.stripe_bytes[of], layouts.osts(of)))
    return b"".join(data)


def _heat(runs: Runs, layer: str, program: Program) -> bytes:
    width, heat = heatmap(runs, program.nprocs, program.seconds)
    return heatmap_data(layer, width, heat[WRITE], heat[READ])


def _trace(runs: Runs, ids: np.ndarray, program: Program) -> bytes:
    """One record for each rank and file, writes before reads, each in the order in which they were made."""
    if not len(runs.files):
        return b""
    each = runs.one_by_one()
    keys = each.files * program.nprocs + each.ranks
    order = np.lexsort((each.ops == READ, keys))
    each, keys = each.where(order), keys[order]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    written = np.add.reduceat((each.ops == WRITE).astype(np.int64), starts)
    times = np.stack([each.starts, each.ends], axis=1)
    data = []
    for begin, end, writes in zip(starts.tolist(), [*starts[1:].tolist(), len(keys)], written.tolist(), strict=True):
        file, rank, chosen = int(each.files[begin]), int(each.ranks[begin]), slice(begin, end)
        host = program.seat.hosts[rank]
        data.append(dxt_data(int(ids[file]), rank, host, each.offsets[chosen], each.lengths[chosen], times[chosen], writes))
    return b"".join(data)
