"""The I/O model of a program: phases that do the same make a class, and a class has a weight, the bytes that they move.

A class is of one layer, that which the program called: MPI-IO for what went through it, POSIX for the rest, so that no
byte is in two classes. What a trace holds (nine tenths of what was counted, at least) is modelled by its requests, the
rest by counters. `docs/model.md` says how to read the rows.

To get more than rows, for example to replay a program, use a `Model`, which needs no warehouse:

    model = model_of(read_log(path))       # `iomine.pipeline.ingest.rows`
    model.columns                          # of the table `phase_class`, in the order of time; row 0 is class 1
    model.requests(row)                    # what that class holds, request by request; None by counters
    replayed(model)[row]                   # what IOR needs for it (-b, -t, -s, -i, -d, -F, -c, -z, -C, -e), and how like the
                                           # class that is (`iomine.derive.model.replay`); None where IOR cannot

After the method of PAS2P-IO (Méndez et al.), which joins phases by the order of their calls; here what they do joins them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.derive.batch import of_each_log, sums_of_logs
from iomine.derive.columns import TOO_MANY
from iomine.derive.file_names import paths_of
from iomine.derive.model.calls import LAYERS, UNKNOWN, beneath, called, calls_of, pairs_in, sieves, sums
from iomine.derive.model.counters import counted
from iomine.derive.model.files import FileRecords, file_records
from iomine.derive.model.rows import (
    ACCESSES,
    COUNTERS,
    EVIDENCE,
    Held,
    Rows,
    counted_rows,
    in_order,
    together,
    traced_rows,
)
from iomine.derive.model.shapes import ORDERS
from iomine.derive.model.similarity import ALIKE
from iomine.derive.phases import Layers, are_little, lanes
from iomine.derive.sorting import order_by
from iomine.derive.trace import Flags, Floats, Integers, Tables, Trace, group_starts, grouped
from iomine.schema.ops import OPS, WRITE

# Columns of whole numbers, and others, that are those of `Rows` as they are.
_INTEGERS: Final = (
    *("rank_count", "caller_count", "request_bytes", "requests_per_rank", "bytes_per_rank", "block_bytes", "segment_count"),
    *("stride_bytes", "first_offset_bytes", "rank_step_bytes", "phase_step_bytes", "phase_count"),
)
_FLOATS: Final = (
    *("law_ratio", "tiles_ratio", "start_seconds", "end_seconds", "gap_seconds", "period_seconds"),
    *("rank_call_seconds", "rank_wait_seconds", "rank_exchange_seconds", "storage_seconds", "overcount_seconds"),
)
# Classes that move less of a run's bytes matter little to it.
_RELEVANT: Final = 0.01


class Requests(NamedTuple):
    """Requests of a class that move something, by phase and rank, and those of a rank in the order of their start.

    Attributes:
        phases: number of the phase within the class, from 0.
        ranks: rank of each.
        file_ids: file of each.
        offsets: where in its file each starts, negative where that is not known.
        lengths: bytes of each.
        starts: when each started, in seconds since the start of the run.
        ends: when each ended.
    """

    phases: Integers
    ranks: Integers
    file_ids: Integers
    offsets: Integers
    lengths: Integers
    starts: Floats
    ends: Floats


class Model(NamedTuple):
    """The classes of a log, or of many.

    Attributes:
        columns: of the table `phase_class`, without `log_id`; none where nothing was moved.
        held: of each class with a trace, by its row in these, the requests of its layer, and which pieces of them it holds, by
            phase, rank and start.
    """

    columns: dict[str, list[Any]]
    held: Mapping[int, tuple[Held, Integers]]

    def requests(self, row: int) -> Requests | None:
        """What a class holds.

        Args:
            row: of `columns`, from 0.

        Returns:
            Its requests, None where the class is known from counters.
        """
        if row not in self.held:
            return None
        (calls, _, nth), pieces = self.held[row]
        sizes = calls.counts[pieces]
        at = np.arange(int(sizes.sum())) + np.repeat(calls.firsts[pieces] - (np.cumsum(sizes) - sizes), sizes)
        phases, ranks, file_ids = nth[calls.phases[pieces]], calls.ranks[pieces], calls.file_ids[pieces]
        phases, ranks, file_ids = (np.repeat(column, sizes) for column in (phases, ranks, file_ids))
        found = Requests(phases, ranks, file_ids, calls.offsets[at], calls.lengths[at], calls.starts[at], calls.ends[at])
        # A rank may go to and fro between files.
        order = order_by(found.phases, found.ranks, found.starts)
        order = order[found.lengths[order] > 0]
        return Requests._make(column[order] for column in found)


def phase_model(
    tables: Tables,
    traces: Sequence[Trace],
    layers: Layers,
    nprocs: Integers | int,
    transforms: Mapping[str, pa.Array],
    *,
    alike: float = ALIKE,
) -> Model:
    """The I/O model of a log, or of many.

    Args:
        tables: columns by table, in one or more parts, without special files.
        traces: the traces in these.
        layers: its phases, as `phase_layers` gives them.
        nprocs: processes of the run, or of each log's.
        transforms: columns of the table `mpiio_posix`.
        alike: how like the first phase of a class its phases are at least, above 0 and at most 1.
    """
    of_layer = {trace.layer: trace for trace in traces}
    is_sieve = sieves(of_layer.get("posix"), of_layer.get("mpiio"))
    files = called(tables, traces, is_sieve)
    if not len(files.layers):
        return Model({}, {})
    records = file_records(tables)
    collective = records.collective()
    parts: list[Rows] = []
    held: list[Held] = []
    for number, name in enumerate(LAYERS):
        trace, layer = of_layer.get(name), layers.get(name)
        if trace is None or layer is None or layer.evidence != "trace":
            continue
        is_own = None if name != "posix" or is_sieve is None else ~is_sieve
        calls = calls_of(trace, layer, pairs_in(trace.file_ids, trace.ops, files, number), is_own)
        if calls is None:
            continue
        under = beneath(of_layer["posix"], trace, layer, is_sieve) if name == "mpiio" and "posix" in of_layer else None
        found = traced_rows(number, calls, layer, collective=collective if name == "mpiio" else {}, under=under, alike=alike)
        if found is not None:
            parts.append(found[0])
            held.append(found[1])
    is_little = are_little(grouped(files.layers, files.file_ids)[1], files.moved_bytes, files.logs)
    untraced = counted(tables, files.where(~is_little), of_each_log(nprocs))
    if untraced is not None:
        parts.append(counted_rows(untraced, collective, layers, alike))
    if not parts:
        return Model({}, {})
    rows, places = in_order(together(parts))
    # Classes of a trace come first, and layer by layer.
    before = 0
    for number, (part, one) in enumerate(zip(parts, held, strict=False)):
        classes = np.where(one.classes >= 0, places[before + np.maximum(one.classes, 0)], -1)
        held[number] = one._replace(classes=classes)
        before += len(part.layers)
    moved_bytes = sums_of_logs(files.moved_bytes, files.logs, int(files.logs.max()) + 1)
    columns = _columns(rows, records, tables, transforms, moved_bytes)
    return Model(columns | {"phase_numbers": _phase_numbers(rows, held, layers)}, _by_class(held))


def _by_class(held: Sequence[Held]) -> dict[int, tuple[Held, Integers]]:
    """The requests of each class, as `Model` has them."""
    found: dict[int, tuple[Held, Integers]] = {}
    for each in held:
        calls = each.calls
        classes = each.classes[calls.phases]
        order = order_by(classes, calls.phases, calls.ranks, calls.starts[calls.firsts])
        order = order[classes[order] >= 0]
        for pieces in np.split(order, group_starts(classes[order])[1:]):
            found[int(classes[pieces[0]])] = (each, pieces)
    return found


def _phase_numbers(rows: Rows, held: Sequence[Held], layers: Layers) -> list[list[int] | None]:
    """The phases of each class, as the table `phase` numbers them; None where they are not known."""
    found: list[list[int] | None] = [None] * len(rows.layers)
    for each in held:
        phases = np.argsort(each.classes, kind="stable")
        phases = phases[each.classes[phases] >= 0]
        classes = each.classes[phases]
        logs, _ = lanes(layers[LAYERS[rows.layers[classes[0]]]])
        firsts = group_starts(classes)
        numbers = np.split(phases - np.searchsorted(logs, logs[phases]) + 1, firsts[1:])
        for row, of_row in zip(classes[firsts].tolist(), numbers, strict=True):
            found[row] = of_row.tolist()
    # By a heat map, a class that has phases has all of its layer and direction.
    is_mapped = (rows.evidence == COUNTERS) & (rows.phase_count != UNKNOWN)
    for number in np.unique(rows.layers[is_mapped]):
        logs, ops = lanes(layers[LAYERS[number]])
        lane_of = logs * len(OPS) + ops
        order = np.argsort(lane_of, kind="stable")
        numbers = (order - np.searchsorted(logs, logs[order]) + 1).tolist()
        for row in np.flatnonzero(is_mapped & (rows.layers == number)).tolist():
            begin, end = np.searchsorted(lane_of[order], rows.logs[row] * len(OPS) + rows.ops[row] + np.arange(2))
            found[row] = numbers[begin:end]
    return found


def _columns(
    rows: Rows, records: FileRecords, tables: Tables, transforms: Mapping[str, pa.Array], moved_bytes: Floats
) -> dict[str, list[Any]]:
    total = len(rows.layers)
    number = np.arange(total)
    # A file that holds most of a class, of several the lowest.
    order = np.lexsort((rows.file_ids, -rows.file_bytes, rows.file_classes))
    largest = rows.file_ids[order[np.searchsorted(rows.file_classes[order], number)]]
    of_files = records.of(rows.layers[rows.file_classes], rows.file_ids)
    ops = rows.ops[rows.file_classes]

    def summed(values: Floats) -> Floats:
        return sums(rows.file_classes, values, total)

    collective, other, nonblocking = (summed(of_files.by_op(what, ops)) for what in ("collective", "other", "nonblocking"))
    is_mpiio = rows.layers == LAYERS.index("mpiio")
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(is_mpiio, collective / (collective + other), 0.0)
        weights = rows.moved_bytes / moved_bytes[rows.logs]
    # Opens and closes of a file are those of all phases that move its bytes.
    same_file = grouped(rows.layers[rows.file_classes], rows.file_ids)[1]
    share = rows.file_phases / np.bincount(same_file, rows.file_phases)[same_file]
    callers = np.where(rows.caller_count > 0, rows.caller_count, np.nan)
    synced = np.where(rows.ops == WRITE, summed(of_files.sums("syncs")), 0.0)
    columns = {
        "layer": _named(rows.layers, LAYERS),
        "phase_class": (number - np.searchsorted(rows.logs, rows.logs) + 1).tolist(),
        "op": _named(rows.ops, OPS),
        "evidence": _named(rows.evidence, EVIDENCE),
        "access": _named(rows.accesses, ACCESSES),
        "request_order": _named(rows.orders, (*ORDERS, None)),
        "is_collective": _known(collective > 0, ~np.isnan(ratio)),
        "collective_ratio": _floats(ratio),
        "is_blocking": _known(nonblocking == 0, is_mpiio & ~np.isnan(nonblocking)),
        "is_synced": _known(synced > 0, ~np.isnan(synced)),
        "file_count": np.bincount(rows.file_classes, minlength=total).tolist(),
        "file_id": largest.tolist(),
        "largest_path": paths_of(tables, largest),
        "view_count": _counts(np.where(is_mpiio, summed(of_files.sums("views")), np.nan)),
        "hint_count": _counts(np.where(is_mpiio, summed(of_files.sums("hints")), np.nan)),
        "transformation": _transformations(transforms, is_mpiio, largest, rows.ops),
        "request_count": _counts(rows.request_count),
        "moved_bytes": _counts(rows.moved_bytes),
        "weight_ratio": weights.tolist(),
        "is_relevant": (weights >= _RELEVANT).tolist(),
        "rank_meta_seconds": _floats(summed(of_files.sums("meta_seconds") * share) / callers),
    }
    columns |= {name: _known(getattr(rows, name), getattr(rows, name) != UNKNOWN) for name in _INTEGERS}
    return columns | {name: _floats(getattr(rows, name)) for name in _FLOATS}


def _named(codes: Integers, names: Sequence[str | None]) -> list[str | None]:
    """Names by their index; `UNKNOWN` is the last."""
    return [names[max(code, -1)] for code in codes.tolist()]


def _known(values: npt.NDArray[Any], are_known: Flags) -> list[Any]:
    return [value if is_known else None for value, is_known in zip(values.tolist(), are_known.tolist(), strict=True)]


def _floats(values: Floats) -> list[float | None]:
    return _known(values, ~np.isnan(values))


def _counts(values: Floats) -> list[int | None]:
    """Whole numbers that were summed as floats; None where one is not known, or 64 bits do not hold it."""
    are_known = np.abs(values) < TOO_MANY
    return _known(np.where(are_known, values, 0).astype(np.int64), are_known)


def _transformations(transforms: Mapping[str, pa.Array], is_mpiio: Flags, largest: Integers, ops: Integers) -> list[str | None]:
    if not transforms:
        return [None] * len(ops)
    columns = (transforms[name].to_pylist() for name in ("file_id", "op", "transformation"))
    known = {(file_id, op): transformation for file_id, op, transformation in zip(*columns, strict=True)}
    classes = zip(is_mpiio.tolist(), largest.tolist(), ops.tolist(), strict=True)
    return [known.get((file_id, OPS[op])) if mpiio else None for mpiio, file_id, op in classes]
