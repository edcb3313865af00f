"""What Darshan would have kept of programs: the records of every module, and the names of what they are about.

Programs are taken many at once, since most have little to do and NumPy is quick with much.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from iomine.schema.ops import READ, WRITE
from iomine.simulate import filesystem as fs
from iomine.simulate.program import Program, host
from iomine.simulate.records import FILE_ALIGNMENT, Records, records_of
from iomine.simulate.runs import LAYERS, Calls, Flags, Floats, Integers, Runs, joined
from iomine.simulate.timeline import bin_width, shares
from iomine.sources.darshan.writing import CounterRecords, HeatMaps, dxt_data, lustre_data, record_id

_POSIX, _MPIIO, _STDIO, _H5F, _H5D = range(len(LAYERS))
# Layers beneath which is the file system.
LOWEST_LAYERS: Final = (_POSIX, _STDIO)
_HEATED: Final = {_POSIX: "posix", _MPIIO: "mpiio", _STDIO: "stdio"}
_HEAT_NAMES: Final = {_POSIX: "heatmap:POSIX", _MPIIO: "heatmap:MPIIO", _STDIO: "heatmap:STDIO"}
_TRACED: Final = {_POSIX: "DXT_POSIX", _MPIIO: "DXT_MPIIO"}
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


class Batch(NamedTuple):
    """Programs that have run.

    Attributes:
        programs: the programs.
        first_files: index of the first file of each among the files of all, and how many there are.
        owners: program of each file.
        nprocs: of each file, processes of its program.
        layouts: of all files.
        on_lustre: whether each file lies on the file system.
        runs: of all programs.
        calls: of all programs.
    """

    programs: Sequence[Program]
    first_files: Integers
    owners: Integers
    nprocs: Integers
    layouts: fs.Layouts
    on_lustre: Flags
    runs: Runs
    calls: Calls


class Contents(NamedTuple):
    """What a log holds beyond its job record.

    Attributes:
        names: names by record id.
        modules: records by module.
        read_bytes: read through POSIX and stdio.
        write_bytes: written through them.
        request_seconds: that their requests took, summed over ranks.
        meta_seconds: that their metadata calls took, summed over ranks.
        has_trace: whether requests were traced.
        has_heatmap: whether there are heat maps.
    """

    names: dict[int, str]
    modules: dict[str, bytes]
    read_bytes: int
    write_bytes: int
    request_seconds: float
    meta_seconds: float
    has_trace: bool
    has_heatmap: bool


def batch_of(programs: Sequence[Program]) -> Batch:
    """Puts programs together."""
    counts = [len(program.paths) for program in programs]
    first_files = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    runs, calls = joined([program.tape for program in programs], first_files[:-1].tolist())
    layouts = fs.Layouts(*(np.concatenate(columns) for columns in zip(*(program.layouts for program in programs), strict=True)))
    owners = np.repeat(np.arange(len(programs)), counts)
    nprocs = np.array([program.nprocs for program in programs], np.int64)[owners]
    on_lustre = np.array([path.startswith(fs.MOUNT) for program in programs for path in program.paths], bool)
    return Batch(programs, first_files, owners, nprocs, layouts, on_lustre, runs, calls)


def contents_of(batch: Batch, wants_trace: Flags, wants_heatmap: Flags) -> list[Contents]:
    """The contents of each program's log.

    Args:
        batch: the programs.
        wants_trace: keep DXT traces of it, unless they would be too large.
        wants_heatmap: keep heat maps of it.
    """
    ids = np.array([record_id(path) for program in batch.programs for path in program.paths], np.int64)
    modules: list[dict[str, bytes]] = [{} for _ in batch.programs]
    records = records_of(batch.runs, batch.calls, batch.nprocs)
    _add_counters(modules, records, ids, batch)
    _add_layouts(modules, records, ids, batch)
    traced = wants_trace & (_requests(batch) <= _MOST_TRACED)
    for place in np.flatnonzero(traced).tolist():
        _add_traces(modules[place], place, ids, batch)
    heated = _add_heatmaps(modules, batch, wants_heatmap)
    moved, seconds = _moved(batch), _seconds(batch)
    found = []
    for place, program in enumerate(batch.programs):
        own = ids[batch.first_files[place] : batch.first_files[place + 1]].tolist()
        names = dict(zip(own, program.paths, strict=True)) | {record_id(name): name for name in heated[place]}
        read, written = moved[:, place].tolist()
        asking, calling = seconds[:, place].tolist()
        found.append(Contents(names, modules[place], read, written, asking, calling, bool(traced[place]), bool(heated[place])))
    return found


def _requests(batch: Batch) -> Integers:
    is_traced = np.isin(batch.runs.layers, list(_TRACED))
    found: Integers = np.bincount(batch.owners[batch.runs.files], batch.runs.counts * is_traced, len(batch.programs)).astype(
        np.int64
    )
    return found


def _moved(batch: Batch) -> Integers:
    moved = np.zeros((2, len(batch.programs)), np.int64)
    is_lowest = np.isin(batch.runs.layers, LOWEST_LAYERS)
    np.add.at(moved, (batch.runs.ops, batch.owners[batch.runs.files]), batch.runs.moved_bytes * is_lowest)
    return moved


def _seconds(batch: Batch) -> Floats:
    """Time in requests, and in metadata calls, by program."""

    def summed(layers: Integers, files: Integers, taken: Floats) -> Floats:
        found: Floats = np.bincount(batch.owners[files], taken * np.isin(layers, LOWEST_LAYERS), len(batch.programs)).astype(
            float
        )
        return found

    runs, calls = batch.runs, batch.calls
    return np.array(
        [summed(runs.layers, runs.files, runs.seconds * runs.counts), summed(calls.layers, calls.files, calls.seconds)]
    )


def _add_counters(modules: list[dict[str, bytes]], records: Records, ids: Integers, batch: Batch) -> None:
    for layer, module in enumerate(LAYERS):
        begin, end = np.searchsorted(records.layers, [layer, layer + 1]).tolist()
        if begin == end:
            continue
        files = records.files[begin:end]
        values = {name: column[begin:end] for name, column in records.values.items()}
        counters = CounterRecords(module, end - begin)
        counters["file_id"], counters["rank"] = ids[files], records.ranks[begin:end]
        for name, column in values.items():
            if name in counters:
                counters[name] = column
        for name, value in _FIXED[module].items():
            counters[name] = value
        if layer == _H5D:
            parents = np.concatenate(
                [_parents(program, first) for program, first in zip(batch.programs, batch.first_files, strict=False)]
            )
            counters["parent_file_id"] = ids[parents[files]]
            _about_datasets(counters, values)
        edges = np.searchsorted(files, batch.first_files).tolist()
        for place in range(len(modules)):
            if edges[place] < edges[place + 1]:
                modules[place][module] = counters.data(slice(edges[place], edges[place + 1]))


def _parents(program: Program, first: int) -> Integers:
    parents = np.zeros(len(program.paths), np.int64)
    for dataset, file in program.datasets.items():
        parents[dataset] = first + file
    return parents


def _about_datasets(counters: CounterRecords, values: dict[str, Integers]) -> None:
    """Datasets of one dimension, of which each request is one piece."""
    counters["regular_hyperslab_select_count"] = values["read_count"] + values["write_count"]
    counters["use_mpiio_collective"] = values["coll_read_count"] + values["coll_write_count"] > 0
    counters["point_count"] = (
        np.maximum(values["max_read_offset_bytes"], values["max_write_offset_bytes"]) + 1
    ) // _ELEMENT_BYTES
    for n in range(1, 5):
        counters[f"access{n}_length_d5_count"] = values[f"access{n}_bytes"] // _ELEMENT_BYTES
        counters[f"access{n}_stride_d5_count"] = values[f"access{n}_bytes"] > 0


def _add_layouts(modules: list[dict[str, bytes]], records: Records, ids: Integers, batch: Batch) -> None:
    """A layout for each file of the file system, of the lowest rank that has a record of it."""
    is_kept = np.isin(records.layers, LOWEST_LAYERS) & batch.on_lustre[records.files]
    order = np.lexsort((records.ranks[is_kept], records.files[is_kept]))
    files, firsts = np.unique(records.files[is_kept][order], return_index=True)
    ranks, layouts = records.ranks[is_kept][order][firsts], batch.layouts
    for width in np.unique(layouts.stripe_counts[files]):
        chosen = layouts.stripe_counts[files] == width
        of = files[chosen]
        data, size = lustre_data(ids[of], ranks[chosen], layouts.stripe_bytes[of], layouts.osts(of))
        edges = (np.searchsorted(of, batch.first_files) * size).tolist()
        for place, module in enumerate(modules):
            if edges[place] < edges[place + 1]:
                module["LUSTRE"] = module.get("LUSTRE", b"") + data[edges[place] : edges[place + 1]]


def _add_heatmaps(modules: list[dict[str, bytes]], batch: Batch, wanted: Flags) -> list[list[str]]:
    """Heat maps of the layers of each program that moved data; their names."""
    runs = batch.runs
    owners = batch.owners[runs.files]
    chosen = np.flatnonzero(wanted[owners] & np.isin(runs.layers, list(_HEATED)))
    runs, owners = runs.where(chosen), owners[chosen]
    widths = [bin_width(program.seconds) for program in batch.programs]
    maps = HeatMaps()
    maps_of = np.zeros((len(batch.programs), len(LAYERS)), np.int64)
    names: list[list[str]] = [[] for _ in batch.programs]
    for place, layer in sorted({*zip(owners.tolist(), runs.layers.tolist(), strict=True)}):
        width, bins = widths[place]
        maps_of[place, layer] = maps.add(_HEATED[layer], batch.programs[place].nprocs, width, bins)
        names[place].append(_HEAT_NAMES[layer])
    if len(runs.files):
        part = shares(runs, np.array([width for width, _ in widths])[owners])
        of = part.runs
        maps.fill(maps_of[owners, runs.layers][of], runs.ranks[of], runs.ops[of] == READ, part.bins, part.moved)
    for place, module in enumerate(modules):
        if names[place]:
            module["HEATMAP"] = b"".join(
                maps.data(maps_of[place, layer]) for layer in _HEATED if _HEAT_NAMES[layer] in names[place]
            )
    return names


def _add_traces(modules: dict[str, bytes], place: int, ids: Integers, batch: Batch) -> None:
    """Traces of a program: a record for each rank and file, writes before reads, each in the order in which they were made."""
    program, runs = batch.programs[place], batch.runs
    for layer, module in _TRACED.items():
        each = runs.where((runs.layers == layer) & (batch.owners[runs.files] == place)).one_by_one()
        if not len(each.files):
            continue
        keys = each.files * program.nprocs + each.ranks
        order = np.lexsort((each.ops == READ, keys))
        each, keys = each.where(order), keys[order]
        starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        hosts = np.array([host(node).encode() for node in program.seat.nodes[each.ranks[starts]].tolist()], "S64")
        written = np.add.reduceat((each.ops == WRITE).astype(np.int64), starts)
        segments = (each.offsets, each.lengths, each.starts, each.ends)
        modules[module] = dxt_data(ids[each.files[starts]], each.ranks[starts], hosts, starts, written, segments=segments)
