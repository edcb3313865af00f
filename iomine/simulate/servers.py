"""What the servers of the file system see of a program: bytes, requests and time by target and minute."""

from typing import Final, NamedTuple

import numpy as np

from iomine.simulate import filesystem as fs
from iomine.simulate.program import Program
from iomine.simulate.runs import OPS, Call, Integers, Runs
from iomine.simulate.timeline import shares
from iomine.units import KIB, MIB

# Clients gather contiguous requests into these at most; less than a page does not travel.
_MOST_RPC_BYTES: Final = 4 * MIB
_LEAST_RPC_BYTES: Final = 4 * KIB
OST_AMOUNTS: Final = tuple(f"{op}_{what}" for op in OPS for what in ("bytes", "samples", "usecs"))
MDT_AMOUNTS: Final = tuple(f"{op}_{what}" for op in ("open", "close", "getattr") for what in ("samples", "usecs"))
_MDT_CALLS: Final = (Call.OPEN, Call.CLOSE, Call.STAT)
_MICROSECONDS: Final = 1_000_000


class Load(NamedTuple):
    """Amounts by target and minute.

    Attributes:
        targets: OST or MDT index.
        minutes: minutes since the epoch.
        amounts: a row for each, with the columns of `OST_AMOUNTS` or `MDT_AMOUNTS`.
    """

    targets: Integers
    minutes: Integers
    amounts: Integers


def ost_load(program: Program, start: float) -> Load:
    """Load of a program on OSTs.

    Args:
        program: one that has run.
        start: when it began, in seconds since the epoch.
    """
    parts = [_spread(program, tape.runs(), start) for layer, tape in program.tapes.items() if layer in ("POSIX", "STDIO")]
    keys, amounts = (np.concatenate(column) for column in zip(*parts, strict=True))
    distinct, of = np.unique(keys, return_inverse=True)
    summed = np.zeros((len(distinct), len(OST_AMOUNTS)), np.int64)
    np.add.at(summed, of, amounts)
    minutes, targets = np.divmod(distinct, fs.OST_COUNT)
    return Load(targets, minutes, summed)


def _spread(program: Program, runs: Runs, start: float) -> tuple[Integers, Integers]:
    """Rows of minute and OST, as one number, and amounts."""
    is_kept = np.array([path.startswith(fs.MOUNT) for path in program.paths])[runs.files]
    if not is_kept.all():
        runs = runs.where(is_kept)
    if not len(runs.files):
        return np.empty(0, np.int64), np.empty((0, len(OST_AMOUNTS)), np.int64)
    part = shares(runs, fs.MINUTE, -(start % fs.MINUTE))
    of = part.runs
    extents = (runs.counts - 1) * runs.steps + runs.lengths
    whole = runs.moved_bytes
    scale = np.maximum(extents, runs.lengths)[of] / whole[of]
    begins = runs.offsets[of] + part.before * scale
    ends = begins + np.maximum(1, part.moved * scale)
    which, osts, moved = fs.on_osts(program.layouts, runs.files[of], begins, ends, part.moved)
    run = of[which]
    is_gathered = (runs.steps == runs.lengths) & (runs.counts > 1)
    rpc_bytes = np.where(is_gathered, _MOST_RPC_BYTES, np.clip(runs.lengths, _LEAST_RPC_BYTES, _MOST_RPC_BYTES))
    samples = -(-moved // rpc_bytes[run])
    usecs = np.rint(moved * ((runs.seconds * runs.counts) / whole * _MICROSECONDS)[run]).astype(np.int64)
    amounts = np.zeros((len(run), len(OPS), 3), np.int64)
    amounts[np.arange(len(run)), runs.ops[run]] = np.stack([moved, samples, usecs], axis=1)
    minutes = int(start // fs.MINUTE) + part.bins[which]
    return minutes * fs.OST_COUNT + osts, amounts.reshape(len(run), len(OST_AMOUNTS))


def mdt_load(program: Program, start: float) -> Load:
    """Load of a program on its MDT; calls that last for minutes are spread over them."""
    parts = [tape.calls() for layer, tape in program.tapes.items() if layer in ("POSIX", "STDIO")]
    kinds, counts, starts, ends, seconds = (
        np.concatenate([getattr(calls, name) for calls in parts]) for name in ("kinds", "counts", "starts", "ends", "seconds")
    )
    first = ((starts + start) // fs.MINUTE).astype(np.int64)
    lasting = ((ends + start) // fs.MINUTE).astype(np.int64) - first + 1
    which = np.repeat(np.arange(len(first)), lasting)
    nth = np.arange(len(which)) - np.repeat(np.cumsum(lasting) - lasting, lasting)
    # Shares of whole calls that add up.
    samples = counts[which] * (nth + 1) // lasting[which] - counts[which] * nth // lasting[which]
    usecs = np.rint(seconds[which] * _MICROSECONDS * samples / np.maximum(1, counts[which])).astype(np.int64)
    minutes, of = np.unique(first[which] + nth, return_inverse=True)
    amounts = np.zeros((len(minutes), len(_MDT_CALLS), 2), np.int64)
    for place, kind in enumerate(_MDT_CALLS):
        chosen = kinds[which] == kind
        np.add.at(amounts[:, place], of[chosen], np.stack([samples, usecs], axis=1)[chosen])
    return Load(np.full(len(minutes), program.seat.mdt), minutes, amounts.reshape(len(minutes), len(MDT_AMOUNTS)))
