"""What the servers of the file system see of programs: bytes, requests and time by target and minute."""

from typing import Final, NamedTuple

import numpy as np

from iomine.schema.ops import OPS
from iomine.simulate import filesystem as fs
from iomine.simulate.contents import LOWEST_LAYERS, Batch
from iomine.simulate.runs import Call, Floats, Integers
from iomine.simulate.timeline import shares
from iomine.units import KIB, MIB

# Clients gather contiguous requests into these at most; less than a page does not travel.
_MOST_RPC_BYTES: Final = 4 * MIB
_LEAST_RPC_BYTES: Final = 4 * KIB
OST_AMOUNTS: Final = tuple(f"{op}_{what}" for op in OPS for what in ("bytes", "samples", "usecs"))
_CALL_SECONDS: Final = np.array(
    [{Call.OPEN: fs.OPEN_SECONDS, Call.CLOSE: fs.CLOSE_SECONDS, Call.STAT: fs.STAT_SECONDS}[call] for call in Call]
)
_MDT_OPERATIONS: Final = {Call.OPEN: "open", Call.CLOSE: "close", Call.STAT: "getattr"}
MDT_AMOUNTS: Final = tuple(f"{_MDT_OPERATIONS[call]}_{what}" for call in Call for what in ("samples", "usecs"))
AMOUNTS: Final = len(OST_AMOUNTS)
_MOVED: Final = [OST_AMOUNTS.index(f"{op}_bytes") for op in OPS]
TARGETS: Final = fs.OST_COUNT + fs.MDT_COUNT
_MICROSECONDS: Final = 1_000_000


class Load(NamedTuple):
    """Amounts by program, target and minute.

    Attributes:
        programs: index of the program.
        targets: index of the OST; MDTs come after OSTs.
        minutes: minutes since the epoch.
        amounts: a column for each of `OST_AMOUNTS` or `MDT_AMOUNTS`, as they are quicker added up.
    """

    programs: Integers
    targets: Integers
    minutes: Integers
    amounts: Integers


class Flows(NamedTuple):
    """Bytes between a node and an OST by program and minute.

    Attributes:
        programs: index of the program.
        osts: index of the OST.
        minutes: minutes since the epoch.
        nodes: the node.
        moved: a row for bytes read, and one for bytes written.
    """

    programs: Integers
    osts: Integers
    minutes: Integers
    nodes: Integers
    moved: Integers


_NONE: Final = np.empty(0, np.int64)
NO_LOAD: Final = Load(_NONE, _NONE, _NONE, np.empty((AMOUNTS, 0), np.int64))


def load_of(batch: Batch, starts: Floats) -> Load:
    """Load of programs on all targets.

    Args:
        batch: the programs.
        starts: when each began, in seconds since the epoch.
    """
    return load_and_flows_of(batch, starts)[0]


def load_and_flows_of(batch: Batch, starts: Floats) -> tuple[Load, Flows]:
    """Load of programs on all targets, and which nodes move the bytes of it; arguments as for `load_of`."""
    first = int(starts.min()) // fs.MINUTE
    (osts, nodes), mdts = _ost_parts(batch, starts, first), _mdt_parts(batch, starts, first)
    programs, targets, minutes, amounts = (np.concatenate(columns, axis=-1) for columns in zip(osts, mdts, strict=True))
    nodes = np.concatenate([nodes, np.zeros_like(mdts.programs)])
    span, width = int(minutes.max(initial=0)) + 1, int(nodes.max(initial=0)) + 1
    keys = ((programs * TARGETS + targets) * span + minutes) * width + nodes
    order = np.argsort(keys)
    keys = keys[order]
    amounts = amounts[:, order]

    def unpacked(places: Integers) -> tuple[Integers, Integers, Integers]:
        pairs, minutes = np.divmod(keys[places] // width, span)
        return (*np.divmod(pairs, TARGETS), minutes + first)

    firsts, by_node = firsts_of(keys // width), firsts_of(keys)
    load = Load(*unpacked(firsts), sums_of(amounts, firsts))
    moved = sums_of(amounts[_MOVED], by_node)
    some = np.flatnonzero((keys[by_node] // (width * span) % TARGETS < fs.OST_COUNT) & moved.any(axis=0))
    return load, Flows(*unpacked(by_node[some]), keys[by_node[some]] % width, moved[:, some])


def firsts_of(keys: Integers) -> Integers:
    """Places of the first of each stretch of equal keys."""
    return np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])


def sums_of(amounts: Integers, firsts: Integers) -> Integers:
    """Sums of each row's stretches."""
    return np.array([np.add.reduceat(row, firsts) for row in amounts]) if len(firsts) else amounts


def _ost_parts(batch: Batch, starts: Floats, first: int) -> tuple[Load, Integers]:
    """Parts of the load on OSTs, and the node of each."""
    runs = batch.runs
    runs = runs.where(np.isin(runs.layers, LOWEST_LAYERS) & batch.on_lustre[runs.files])
    owners = batch.owners[runs.files]
    origins = first * fs.MINUTE - starts
    part = shares(runs, float(fs.MINUTE), origins[owners])
    of = part.runs
    extents, whole = (runs.counts - 1) * runs.steps + runs.lengths, runs.moved_bytes
    scale = np.maximum(extents, runs.lengths)[of] / whole[of]
    begins = runs.offsets[of] + part.before * scale
    which, osts, moved = fs.on_osts(batch.layouts, runs.files[of], begins, begins + np.maximum(1, part.moved * scale), part.moved)
    run = of[which]
    is_gathered = (runs.steps == runs.lengths) & (runs.counts > 1)
    rpc_bytes = np.where(is_gathered, _MOST_RPC_BYTES, np.clip(runs.lengths, _LEAST_RPC_BYTES, _MOST_RPC_BYTES))
    samples = -(-moved // rpc_bytes[run])
    # What clients wait for beyond that, servers do not see.
    slow = batch.programs[0].state.of_osts(osts, part.bins[which] + _minute_of_state(batch, starts, first))
    seconds = (samples * fs.SERVICE_SECONDS + moved / fs.OST_BYTES_PER_SECOND) * slow
    usecs = np.rint(seconds * _MICROSECONDS).astype(np.int64)
    amounts = np.array([column * (runs.ops[run] == op) for op in range(len(OPS)) for column in (moved, samples, usecs)])
    first_ranks = np.cumsum([0, *(program.nprocs for program in batch.programs)])
    nodes = np.concatenate([program.seat.nodes for program in batch.programs])[first_ranks[owners] + runs.ranks]
    return Load(owners[run], osts, part.bins[which], amounts), nodes[run]


def _mdt_parts(batch: Batch, starts: Floats, first: int) -> Load:
    """Calls on MDTs; those that last for minutes are spread over them."""
    calls = batch.calls.where(np.isin(batch.calls.layers, LOWEST_LAYERS) & batch.on_lustre[batch.calls.files])
    owners = batch.owners[calls.files]
    since = starts[owners] - first * fs.MINUTE
    begins = ((calls.starts + since) // fs.MINUTE).astype(np.int64)
    lasting = ((calls.ends + since) // fs.MINUTE).astype(np.int64) - begins + 1
    which = np.repeat(np.arange(len(begins)), lasting)
    nth = np.arange(len(which)) - np.repeat(np.cumsum(lasting) - lasting, lasting)
    counts, lasting = calls.counts[which], lasting[which]
    # Shares of whole calls that add up.
    samples = counts * (nth + 1) // lasting - counts * nth // lasting
    mdts = np.array([program.seat.mdt for program in batch.programs])[owners[which]]
    minutes = begins[which] + nth
    slow = batch.programs[0].state.of_mdts(mdts, minutes + _minute_of_state(batch, starts, first))
    usecs = np.rint(samples * _CALL_SECONDS[calls.kinds[which]] * slow * _MICROSECONDS).astype(np.int64)
    amounts = np.array([column * (calls.kinds[which] == call) for call in Call for column in (samples, usecs)])
    return Load(owners[which], fs.OST_COUNT + mdts, minutes, amounts)


def _minute_of_state(batch: Batch, starts: Floats, first: int) -> int:
    """Minutes from the beginning of the system state, which is the same for all, to the first minute of the load."""
    begin = starts[0] - batch.programs[0].seat.start_second
    return first - int(begin // fs.MINUTE)
