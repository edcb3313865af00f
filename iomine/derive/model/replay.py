"""IOR lines that replay classes: what IOR needs, what it would do, and how closely that matches the trace.

IOR's request j of block and segment s begins at `s * ranks * b + rank * b + j * t` in a shared file, and at `s * b + j * t` in
a file of the rank's own (`GetOffsetArraySequential` in `src/ior.c`). It takes only lengths that are multiples of 8 bytes, and
blocks that are multiples of the transfer size.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from iomine.derive.model import Model, Requests
from iomine.derive.trace import Integers, grouped

_APIS: Final = {"posix": "POSIX", "mpiio": "MPIIO"}
# The size of IOR's numbers, of which all its lengths are multiples.
_WORD: Final = 8
# A class whose calls are collective for half or more is replayed so.
_MOST: Final = 0.5
# A line may move so much more or less than its class.
_HEAVY: Final = 0.1
_FARTHEST: Final = 1 << 60
# A line with so many requests more than the trace is not worked out.
_SLACK: Final = 1 << 20
# Requests beyond which a line that is not exact is not compared in another order: that takes longer than all else of the model.
_MOST_COMPARED: Final = 1 << 17


class Ior(NamedTuple):
    """What IOR needs to do as a class does; each attribute is named as its option.

    Attributes:
        api: `POSIX` or `MPIIO` (-a).
        op: `write` (-w) or `read` (-r).
        ranks: processes of mpiexec.
        block_bytes: consecutive bytes of a rank (-b).
        transfer_bytes: bytes of a request (-t).
        segment_count: blocks of each rank (-s).
        repetitions: how often all of it (-i).
        delay_seconds: between repetitions (-d).
        is_own_files: each rank has a file (-F).
        is_collective: requests are collective (-c).
        is_random: requests come in no order (-z).
        shift: whose data a rank reads: of the rank so many further on (-C -Q shift), 0 for its own. IOR takes it for nodes
            instead where it finds that ranks fill node after node (`tasksBlockMapping`).
        is_synced: files are synced after writing (-e).
    """

    api: str
    op: str
    ranks: int
    block_bytes: int
    transfer_bytes: int
    segment_count: int
    repetitions: int
    delay_seconds: int
    is_own_files: bool
    is_collective: bool
    is_random: bool
    shift: int
    is_synced: bool

    @property
    def request_count(self) -> int:
        """Requests of all ranks in all repetitions."""
        return self.ranks * self.segment_count * (self.block_bytes // self.transfer_bytes) * self.repetitions

    @property
    def moved_bytes(self) -> int:
        """Bytes of these."""
        return self.request_count * self.transfer_bytes

    def options(self) -> list[str]:
        """Options of IOR, but for files."""
        flags = {"-c": self.is_collective, "-F": self.is_own_files, "-z": self.is_random, "-e": self.is_synced}
        options = ["-a", self.api, *(flag for flag, is_set in flags.items() if is_set)]
        options += ["-C", "-Q", str(self.shift)] if self.shift else []
        options += ["-b", str(self.block_bytes), "-t", str(self.transfer_bytes), "-s", str(self.segment_count)]
        options += ["-i", str(self.repetitions)]
        options += ["-d", str(self.delay_seconds)] if self.delay_seconds else []
        return [*options, f"-{self.op[0]}"]


class Fidelity(NamedTuple):
    """How closely a line matches a class.

    Attributes:
        name: `exact` (each rank makes the same requests in the same order), `unordered` (the same in another order), or
            `bytes` (as far as IOR can: other places, lengths or counts, as the reason says).
        matched_count: requests of the line that are in the trace; None where they were not compared.
        line_count: requests of the line.
        trace_count: requests of the class, None where no trace holds them.
        reason: why it is not exact, None where it is.
    """

    name: Literal["exact", "unordered", "bytes"]
    matched_count: int | None
    line_count: int
    trace_count: int | None
    reason: str | None


def _values(row: Mapping[str, Any], held: Requests | None) -> Ior | None:
    """What IOR needs for a class, None for layers that IOR does not have, or where the length of requests is not known."""
    if row["layer"] not in _APIS or not row["request_bytes"] or not row["bytes_per_rank"]:
        return None
    transfer = _rounded(row["request_bytes"], _WORD)
    # Counters are those of all phases together.
    ranks, phases = row["rank_count"], row["phase_count"] if held is not None else 1
    is_own = row["access"] == "own" and ranks > 1
    is_random = row["request_order"] == "random" and not row["is_collective"]
    # Counters show the order, and at times not how long the blocks are.
    has_blocks = row["request_order"] in {"strided", "segmented"} and None not in {row["block_bytes"], row["segment_count"]}
    segments = row["segment_count"] if has_blocks else 1
    block = row["block_bytes"] if has_blocks else row["bytes_per_rank"]
    if row["request_order"] == "consecutive" and (row["block_bytes"] or 0) * 2 > row["bytes_per_rank"]:
        block = row["block_bytes"]
    if is_random and row["moved_bytes"] is not None:
        # IOR deals requests out to ranks at random: each has as many as the others only on average.
        block = row["moved_bytes"] // (ranks * phases)
    block = _rounded(block, transfer)
    step = block * segments * (1 if is_own else ranks)
    # Phases that follow each other in the file are segments, others are repetitions.
    is_one_file = phases > 1 and row["phase_step_bytes"] == step and not is_random
    line = Ior(
        api=_APIS[row["layer"]],
        op=row["op"],
        ranks=ranks,
        block_bytes=block,
        transfer_bytes=transfer,
        segment_count=segments * (phases if is_one_file else 1),
        repetitions=1 if is_one_file else phases,
        delay_seconds=0 if is_one_file or phases == 1 else max(round(row["gap_seconds"] or 0), 0),
        is_own_files=is_own,
        is_collective=row["layer"] == "mpiio" and (row["collective_ratio"] or 0) >= _MOST,
        is_random=is_random,
        shift=_shift(held, ranks, block) if row["op"] == "read" and not is_own and not is_random else 0,
        is_synced=bool(row["is_synced"]),
    )
    return _as_heavy(line, row["moved_bytes"], phases)


def _as_heavy(line: Ior, moved_bytes: int | None, phases: int) -> Ior:
    """A line that moves what the class does: where ranks and phases differ, each gets the mean."""
    if moved_bytes is None:
        return line
    mean = moved_bytes // line.ranks
    lines = (
        line,
        line._replace(block_bytes=_rounded(mean // phases, line.transfer_bytes), segment_count=1, repetitions=phases),
        line._replace(block_bytes=_rounded(mean, line.transfer_bytes), segment_count=1, repetitions=1, delay_seconds=0),
    )
    found = (each for each in lines if abs(each.moved_bytes - moved_bytes) <= _HEAVY * moved_bytes)
    return next(found, lines[-1])


def _rounded(length: int, unit: int) -> int:
    """The nearest multiple, at least one."""
    return max((length + unit // 2) // unit, 1) * unit


def _shift(held: Requests | None, ranks: int, block: int) -> int:
    """How many ranks further on those are whose blocks are read first; 0 where that is not the same for all."""
    if held is None:
        return 0
    numbers = np.unique(held.ranks, return_inverse=True)[1]
    is_first = held.phases == 0
    firsts = np.unique(numbers[is_first], return_index=True)[1]
    bases = held.offsets[is_first][firsts]
    shift = int(bases[0]) // block
    expected = (np.arange(ranks) + shift) % ranks
    return shift if 0 < shift < ranks and len(bases) == ranks and np.array_equal(bases, expected * block) else 0


def ior_requests(values: Ior) -> tuple[Integers, Integers, Integers]:
    """Rank, offset and length of each request of a line: rank by rank, and those of a rank in their order.

    Of a line with -z they are in the order of their offsets instead, as IOR chooses order and ranks at random.
    """
    per_block = values.block_bytes // values.transfer_bytes
    shape = (values.ranks, values.repetitions, values.segment_count, per_block)
    rank, _, segment, number = (axis.ravel() for axis in np.indices(shape))
    if values.is_own_files:
        begins = segment * values.block_bytes
    else:
        begins = (segment * values.ranks + (rank + values.shift) % values.ranks) * values.block_bytes
    return rank, begins + number * values.transfer_bytes, np.full(len(rank), values.transfer_bytes)


def fidelity(values: Ior, held: Requests | None, row: Mapping[str, Any]) -> Fidelity:
    """How closely a line matches its class, request by request and in whole numbers.

    Ranks of the class are numbered from 0 as IOR's are, and files differ by rank only.

    Args:
        values: what IOR is given.
        held: what the class holds, None without a trace.
        row: the class's row of `phase_class`.
    """
    count = values.request_count
    if held is None:
        return Fidelity("bytes", None, count, None, "no trace to compare it with")
    total = len(held.lengths)
    end = values.ranks * values.segment_count * values.block_bytes
    if count > total + _SLACK or end >= _FARTHEST:
        return Fidelity("bytes", None, count, total, f"{count} requests for {total}")
    line = np.column_stack(ior_requests(values))
    order = np.argsort(held.ranks, kind="stable")
    ranks = np.unique(held.ranks, return_inverse=True)[1]
    trace = np.column_stack([ranks, held.offsets, held.lengths])[order]
    if np.array_equal(line, trace) and not values.is_random:
        return Fidelity("exact", count, count, total, None)
    if max(count, total) > _MOST_COMPARED:
        return Fidelity("bytes", None, count, total, _reason(values, row, line, trace))
    # IOR deals out the requests on a shared file to ranks at random.
    of_all = slice(1, None) if values.is_random and not values.is_own_files else slice(None)
    matched = _in_common(line[:, of_all], trace[:, of_all])
    if matched == count == total:
        why = "IOR chooses order and ranks at random" if values.is_random else "the trace has them in another order"
        return Fidelity("unordered", matched, count, total, why)
    return Fidelity("bytes", matched, count, total, _reason(values, row, line, trace))


def _in_common(left: Integers, right: Integers) -> int:
    """How many rows are in both, each as often as it is in both."""
    # Column by column, which takes a fraction of the time in which NumPy sorts rows.
    rows, of_both = grouped(*np.concatenate([left, right]).T)
    counts = (np.bincount(part, minlength=len(rows)) for part in (of_both[: len(left)], of_both[len(left) :]))
    return int(np.minimum(*counts).sum())


def _reason(values: Ior, row: Mapping[str, Any], line: Integers, trace: Integers) -> str:
    """Why a line differs from the trace: the most important reason that holds."""
    others = int((trace[:, 2] != values.transfer_bytes).sum())
    if row["request_bytes"] % _WORD:
        return f"IOR takes only multiples of {_WORD} bytes, and requests have {row['request_bytes']}"
    if others:
        return f"{others} of {len(trace)} requests have other lengths than {values.transfer_bytes}"
    if len(line) != len(trace) or not np.array_equal(line[:, 0], trace[:, 0]):
        return "ranks or phases do not all have the same number of requests"
    if row["view_count"]:
        return "the program has a file view, of which the trace has only the first piece of a request"
    if row["request_order"] not in {"single", "consecutive", "strided", "segmented"}:
        return f"requests are {row['request_order'] or 'in places that the trace does not have'}, in no order that IOR has"
    return "same lengths and counts in other places: IOR puts ranks side by side from the start of the file"


def class_columns(model: Model) -> dict[str, list[Any]]:
    """Columns of the table `phase_class`: those of the model, and how IOR replays each class."""
    if not model.columns:
        return {}
    lines = replayed(model)
    return {
        **model.columns,
        "ior_options": [line and " ".join(line[0].options()) for line in lines],
        "replay_fidelity": [line and line[1].name for line in lines],
        "replay_reason": [line[1].reason if line else "IOR has no such layer, or requests are not known." for line in lines],
    }


def replayed(model: Model) -> Sequence[tuple[Ior, Fidelity] | None]:
    """For each class what IOR needs, and how closely that matches the class; None where IOR cannot."""
    found: list[tuple[Ior, Fidelity] | None] = []
    for number, columns in enumerate(zip(*model.columns.values(), strict=True)):
        row, held = dict(zip(model.columns, columns, strict=True)), model.requests(number)
        values = _values(row, held)
        found.append(None if values is None else (values, fidelity(values, held, row)))
    return found
