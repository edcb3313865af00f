"""Workloads with two faults at once, made by the simulator's model of programs."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from iomine.schema.ops import READ, WRITE
from iomine.simulate import filesystem as fs
from iomine.simulate.contents import batch_of, contents_of
from iomine.simulate.program import Program, Seat
from iomine.simulate.runs import Integers
from iomine.sources.darshan.writing import Run, write_log
from iomine.units import KIB, MIB

_RANKS: Final = 16
_FOLDER: Final = f"{fs.MOUNT}/proj/run"
_START_NS: Final = 1_700_000_000_000_000_000
_SMALL: Final = 4 * KIB
_MPIIO: Final = ("MPI-IO", "POSIX")


@dataclass(frozen=True, slots=True)
class Fault:
    """What a program does wrong.

    Attributes:
        label: in words.
        code: the trigger that asks for it.
        act: makes a program do it.
        slow_rank: how many times as long the last rank takes for all that it does.
    """

    label: str
    code: str
    act: Callable[[Program], None]
    slow_rank: float = 1.0


def _own(program: Program, name: str) -> Integers:
    """A file of each rank's own: several OSTs for each, so that no layout is at fault."""
    return program.files([f"{_FOLDER}/{name}.{rank:03d}" for rank in program.ranks], 4)


def _in_order(op: int, length: int, count: int) -> Callable[[Program], None]:
    def act(program: Program) -> None:
        files = _own(program, f"ordered{op}")
        program.open(files)
        program.transfer(op, files, 0, length, count)
        program.close(files)

    return act


def _backwards(op: int) -> Callable[[Program], None]:
    def act(program: Program) -> None:
        files = _own(program, f"backwards{op}")
        program.open(files)
        program.transfer(op, files, 400 * MIB, MIB, 400, step=-MIB)
        program.close(files)

    return act


def _twice(op: int) -> Callable[[Program], None]:
    def act(program: Program) -> None:
        files = _own(program, f"again{op}")
        for _ in range(4):
            program.open(files)
            program.transfer(op, files, 0, 4 * MIB, 60)
            program.close(files)

    return act


def _by_rank_0(op: int) -> Callable[[Program], None]:
    def act(program: Program) -> None:
        first = program.ranks[:1]
        file = program.files([f"{_FOLDER}/gathered{op}"], 8)
        program.open(file, first)
        program.transfer(op, file, 0, 4 * MIB, 6000, ranks=first)
        program.close(file, first)

    return act


def _through_stdio(program: Program) -> None:
    program.stream(WRITE, program.files([f"{_FOLDER}/table.txt"]), MIB, 2000)


def _independently(op: int) -> Callable[[Program], None]:
    def act(program: Program) -> None:
        file = program.files([f"{_FOLDER}/matrix{op}"], 8)
        program.open(file, layers=_MPIIO, is_collective=True)
        program.transfer(op, file, program.ranks * 4 * MIB, 4 * MIB, 60, step=4 * MIB * program.nprocs, layers=_MPIIO)
        program.close(file, layers=_MPIIO)

    return act


def _looks_up(program: Program) -> None:
    files = program.files([f"{_FOLDER}/flags/{rank:03d}" for rank in program.ranks])
    program.poll(files, 2 * MIB, 400)


def _off_the_blocks(program: Program) -> None:
    files = _own(program, "shifted")
    program.open(files)
    program.transfer(WRITE, files, 1000, 2 * MIB, 200)
    program.close(files)


def _on_one_ost(program: Program) -> None:
    file = program.files([f"{_FOLDER}/shared.dat"], 1)
    program.open(file)
    program.transfer(WRITE, file, program.ranks * 400 * MIB, 4 * MIB, 100)
    program.close(file)


_SMALL_READS = Fault("small reads", "POSIX-101", _in_order(READ, _SMALL, 4000))
_SMALL_WRITES = Fault("small writes", "POSIX-102", _in_order(WRITE, _SMALL, 4000))
_FEW_SMALL_WRITES = Fault("small writes", "POSIX-102", _in_order(WRITE, _SMALL, 500))
_RANDOM_READS = Fault("random reads", "POSIX-111", _backwards(READ))
_RANDOM_WRITES = Fault("random writes", "POSIX-112", _backwards(WRITE))
_MISALIGNED = Fault("misaligned requests", "POSIX-121", _off_the_blocks)
_REREADS = Fault("redundant reads", "POSIX-131", _twice(READ))
_REWRITES = Fault("redundant writes", "POSIX-132", _twice(WRITE))
_LOOKUPS = Fault("metadata calls", "POSIX-302", _looks_up)
_RANK_0_READS = Fault("rank 0 reads", "RANK-301", _by_rank_0(READ))
_RANK_0_WRITES = Fault("rank 0 writes", "RANK-302", _by_rank_0(WRITE))
_STDIO = Fault("stdio", "STDIO-101", _through_stdio)
_INDEPENDENT_READS = Fault("independent reads", "MPIIO-101", _independently(READ))
_INDEPENDENT_WRITES = Fault("independent writes", "MPIIO-102", _independently(WRITE))
_ONE_OST = Fault("one OST", "LUSTRE-101", _on_one_ost)
_STRAGGLER = Fault("stragglers", "RANK-101", _in_order(READ, 4 * MIB, 100), slow_rank=8.0)

PAIRS: Final = (
    (_SMALL_READS, _RANDOM_WRITES),
    (_SMALL_WRITES, _STRAGGLER),
    (_REREADS, _RANK_0_WRITES),
    (_INDEPENDENT_READS, _STDIO),
    (_LOOKUPS, _FEW_SMALL_WRITES),
    (_RANDOM_READS, _REWRITES),
    (_MISALIGNED, _RANK_0_READS),
    (_INDEPENDENT_WRITES, _SMALL_READS),
    (_ONE_OST, _REREADS),
    (_STRAGGLER, _RANDOM_WRITES),
    (_RANK_0_READS, _SMALL_WRITES),
    (_LOOKUPS, _MISALIGNED),
)


def write_pairs(folder: Path) -> dict[str, tuple[Fault, Fault]]:
    """Writes a log for each pair of faults; the pairs, by the name of the log."""
    found = {}
    programs = [_run(number, pair) for number, pair in enumerate(PAIRS)]
    none = np.zeros(len(programs), bool)
    for number, (pair, program, contents) in enumerate(
        zip(PAIRS, programs, contents_of(batch_of(programs), none, none), strict=True)
    ):
        name = f"two_faults_{number:02d}.darshan"
        end_ns = _START_NS + int(program.seconds * 1e9) + 1
        run = Run(1000, number + 1, _RANKS, _START_NS, end_ns, "two_faults", (("/", "xfs"), (fs.MOUNT, "lustre")))
        write_log(folder / name, run, contents.names, contents.modules)
        found[name] = pair
    return found


def _run(number: int, pair: tuple[Fault, Fault]) -> Program:
    slowdowns = np.ones(_RANKS)
    slowdowns[-1] = max(fault.slow_rank for fault in pair)
    seat = Seat(_RANKS, np.arange(_RANKS), slowdowns, 0.0, 0, _FOLDER, _FOLDER)
    program = Program(seat, fs.idle_state(1), np.random.default_rng(number))
    for fault in pair:
        program.compute(1.0)
        fault.act(program)
        program.barrier()
    return program
