"""A layer's trace as derivations need it: requests in runs, each of one rank on one file in one direction.

Traces come rank by rank and file by file, so that there are few runs, and much can be asked of runs instead of requests.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.derive.columns import TOO_MANY
from iomine.derive.sorting import order_by
from iomine.schema.ops import OPS

# Columns by table, in one or more parts; short columns are lists.
Tables = Mapping[str, Sequence[Mapping[str, Any]]]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

# In the order of a direction's code.


class Once(Mapping[str, Any]):
    """A part of a table, each of whose columns is made once, when it is first asked for, however many ask.

    Args:
        part: the part, which makes its columns again each time.
        make: gives a column by name, where it is not the part's own.
    """

    def __init__(self, part: Mapping[str, Any], make: Callable[[str], Any] | None = None) -> None:
        self._part = part
        self._make = make or part.__getitem__
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  Arrow's columns are untyped
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def kept(self, name: str, make: Callable[[], Any]) -> Any:  # noqa: ANN401  what follows from columns is of many kinds
        """What follows from the part, made once too, under a name that no column has."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._part

    def __iter__(self) -> Iterator[str]:
        return iter(self._part)

    def __len__(self) -> int:
        return len(self._part)


def kept(part: Mapping[str, Any], name: str, make: Callable[[], Any]) -> Any:  # noqa: ANN401  what follows is of many kinds
    """What follows from a part of a table, made once where the part keeps what is made of it."""
    return part.kept(name, make) if isinstance(part, Once) else make()


def once_each(tables: Tables) -> Tables:
    """The tables, with parts whose columns are made once."""
    return {name: [Once(part) for part in parts] for name, parts in tables.items()}


class Trace(NamedTuple):
    """The trace of one layer.

    Attributes:
        layer: the layer.
        offsets: where in its file each request starts, negative where that is not known.
        lengths: bytes of each request, 0 where the trace gives a negative.
        starts: when each request started, as traced.
        ends: when each request ended.
        firsts: index of each run's first request.
        file_ids: file of each run.
        ranks: rank of each run.
        ops: direction of each run, an index into `OPS`.
        counts: requests of each run.
        bytes: bytes of each run, as floats, which are exact up to 2**53.
        seconds: seconds in requests of each run; a request whose times make no sense adds nothing.
        logs: log of each run, ascending; those of a single log are of number 0.
    """

    layer: str
    offsets: Integers
    lengths: Integers
    starts: Floats
    ends: Floats
    firsts: Integers
    file_ids: Integers
    ranks: Integers
    ops: Integers
    counts: Integers
    bytes: Floats
    seconds: Floats
    logs: Integers

    @property
    def is_of_one_log(self) -> bool:
        """Whether all requests are of one log."""
        return bool(self.logs[0] == self.logs[-1])


def traces(tables: Tables) -> list[Trace]:
    """The trace of each layer that has one; a part of the table `segment` is taken for one layer's.

    Columns that say whose requests these are come run-end encoded, all with the same runs.
    """
    return [_trace(part) for part in tables.get("segment", ()) if len(part["layer"])]


def _trace(part: Mapping[str, Any]) -> Trace:
    starts, ends = part["start_seconds"].to_numpy(), part["end_seconds"].to_numpy()
    lengths = part["length_bytes"].to_numpy()
    op = part["op"].values
    code_of = np.array([OPS.index(name) for name in op.dictionary.to_pylist()])
    run_ends = part["op"].run_ends.to_numpy().astype(np.int64, copy=False)
    counts = np.diff(run_ends, prepend=0)
    firsts = run_ends - counts
    if lengths.min() < 0:
        lengths = np.maximum(lengths, 0)
    return Trace(
        part["layer"].values[0].as_py(),
        part["offset_bytes"].to_numpy(),
        lengths,
        starts,
        ends,
        firsts,
        part["file_id"].values.to_numpy(),
        part["rank"].values.to_numpy(),
        code_of[op.indices.to_numpy()],
        counts,
        np.add.reduceat(lengths, firsts, dtype=np.float64),
        np.add.reduceat(_seconds(starts, ends), firsts),
        np.zeros_like(counts),
    )


def joined_traces(parts: Sequence[Trace]) -> Trace:
    """Traces of one layer as one; at least one."""
    if len(parts) == 1:
        return parts[0]
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in Trace._fields[1:]}
    columns["firsts"] = np.cumsum(columns["counts"]) - columns["counts"]
    return Trace(parts[0].layer, **columns)


def _seconds(starts: Floats, ends: Floats) -> Floats:
    with np.errstate(invalid="ignore", over="ignore"):
        seconds = ends - starts
    is_odd = ~((seconds >= 0) & (seconds < TOO_MANY))
    if is_odd.any():
        seconds[is_odd] = 0.0
    return seconds


def label_codes(column: pa.DictionaryArray) -> Integers:
    """The index of each row's label, -1 for NULL."""
    codes = column.indices
    found: Integers = (codes.fill_null(-1) if codes.null_count else codes).to_numpy()
    return found


def group_starts(*keys: npt.NDArray[Any]) -> Integers:
    """Where equal neighbours begin, in columns that are not empty."""
    return _is_start(*keys).nonzero()[0]


def group_sizes(firsts: Integers, total: int) -> Integers:
    """How many each group has, from where each begins; at least one group.

    Args:
        firsts: where each begins.
        total: of all groups.
    """
    sizes = np.empty_like(firsts)
    np.subtract(firsts[1:], firsts[:-1], out=sizes[:-1])
    sizes[-1] = total - firsts[-1]
    return sizes


def grouped(*keys: npt.NDArray[Any]) -> tuple[Integers, Integers]:
    """Rows with equal keys, in columns that are not empty.

    Returns:
        For each group, in the order of its keys, a row of it; and for each row the number of its group.
    """
    order = order_by(*keys)
    is_start = _is_start(*(key[order] for key in keys))
    group_of = np.empty(len(order), dtype=np.int64)
    group_of[order] = is_start.cumsum() - 1
    return order[is_start], group_of


def turns(counts: Integers) -> Integers:
    """For each item the numbers from 0 up to its count, one item after the other."""
    firsts = np.cumsum(counts) - counts
    return np.arange(counts.sum()) - np.repeat(firsts, counts)


def _is_start(*keys: npt.NDArray[Any]) -> Flags:
    is_start = np.empty(len(keys[0]), dtype=bool)
    is_start[0] = True
    np.not_equal(keys[0][1:], keys[0][:-1], out=is_start[1:])
    for key in keys[1:]:
        is_start[1:] |= key[1:] != key[:-1]
    return is_start
