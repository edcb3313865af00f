"""Programs that create files at once or one after the other, run by the simulator's model of programs."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from iomine.schema.ops import READ, WRITE
from iomine.simulate import filesystem as fs
from iomine.simulate.archetypes import ARCHETYPES
from iomine.simulate.contents import batch_of, contents_of
from iomine.simulate.program import Program, Seat
from iomine.simulate.runs import Integers
from iomine.sources.darshan.container import MODULES
from iomine.sources.darshan.writing import Run, write_log
from iomine.triggers.model import State
from iomine.units import MIB

_FOLDER: Final = f"{fs.MOUNT}/proj/run"
_START_NS: Final = 1_700_000_000_000_000_000
_HOUR: Final = 3600.0
# Where the header of a log of the newest format has its flags of partial modules.
_FLAGS_AT: Final = 24
FIRST_FLUSH: Final = "first flush of 8,640 ranks"
FLUSHES: Final = 5


@dataclass(frozen=True, slots=True)
class Storm:
    """A program, and what is true of it.

    Attributes:
        label: in words.
        nprocs: its processes.
        act: makes it do what it does.
        peak: files that it creates within its busiest second.
        state: what FILE-103 has to say of it.
        level: how much that weighs if it fired.
        is_partial: Darshan ran out of memory for its records.
    """

    label: str
    nprocs: int
    act: Callable[[Program], None]
    peak: int
    state: State
    level: str = ""
    is_partial: bool = False


def _own(program: Program, name: str = "out") -> Integers:
    return program.files([f"{_FOLDER}/{rank // 1000:03d}/{name}.{rank:05d}" for rank in program.ranks])


def _writes(program: Program, files: Integers) -> None:
    program.open(files)
    program.transfer(WRITE, files, 0, MIB, 4)
    program.close(files)


def _at_once(program: Program) -> None:
    """An hour in which ranks write a log of their own now and then, and a second of creates in the middle of it."""
    # Stats show that the machine's Darshan counts them, so that what is clear is not unknown.
    first = program.ranks[:1]
    program.visit(READ, program.files([f"{_FOLDER}/input"]), MIB, ranks=first, stats=1)
    program.compute(_HOUR / 2)
    _writes(program, _own(program))
    program.compute(_HOUR / 2)
    program.visit(WRITE, program.files([f"{_FOLDER}/result"]), MIB, ranks=first)


def _in_turns(program: Program) -> None:
    for turn in range(60):
        program.compute(10.0)
        _writes(program, _own(program, f"turn{turn}"))


def _shared(program: Program) -> None:
    file = program.files([f"{_FOLDER}/all"], 8)
    program.open(file, layers=("MPI-IO", "POSIX"), is_collective=True)
    program.transfer(WRITE, file, program.ranks * MIB, MIB, layers=("MPI-IO", "POSIX"))
    program.close(file, layers=("MPI-IO", "POSIX"))


def _again(program: Program) -> None:
    files = _own(program)
    for _ in range(4):
        _writes(program, files)


def _only_read(program: Program) -> None:
    program.visit(READ, _own(program), MIB, stats=1)
    _writes_one(program)


def _writes_one(program: Program) -> None:
    program.visit(WRITE, program.files([f"{_FOLDER}/result"]), MIB, ranks=program.ranks[:1])


def _through_both(program: Program) -> None:
    files = _own(program)
    for rank in range(program.nprocs):
        program.stream(WRITE, files[rank], 4096, 4, rank)
    program.barrier()
    _writes(program, files)


def _flushes(program: Program) -> None:
    about = {"nprocs": program.nprocs, "rank_bytes": FLUSHES * 8 * MIB, "flushes": FLUSHES, "compute_seconds": 300}
    ARCHETYPES["trace_flush"].act(program, about)


STORMS: Final = (
    Storm("a second of creates in an hour", 3000, _at_once, 3000, "fired", "warn"),
    Storm(FIRST_FLUSH, 8640, _flushes, 8640, "fired", "high"),
    Storm("1,001 creates in a second", 1001, _at_once, 1001, "fired", "warn"),
    Storm("1,000 creates in a second", 1000, _at_once, 1000, "clear"),
    Storm("6,000 creates, 100 each ten seconds", 100, _in_turns, 100, "clear"),
    Storm("one file of 4,096 ranks, through MPI-IO", 4096, _shared, 1, "clear"),
    Storm("600 files, each opened four times in a second", 600, _again, 600, "clear"),
    Storm("600 files, each through stdio and then POSIX", 600, _through_both, 600, "clear"),
    Storm("2,000 files that are only read", 2000, _only_read, 1, "clear"),
    Storm("100 creates each ten seconds, records missing", 100, _in_turns, 100, "unknown", is_partial=True),
    Storm("a second of creates in an hour, records missing", 3000, _at_once, 3000, "fired", "warn", is_partial=True),
)


def write_storms(folder: Path) -> dict[str, Storm]:
    """Writes the log of each program; the programs, by the name of the log."""
    found = {}
    for number, storm in enumerate(STORMS):
        seat = Seat(storm.nprocs, np.arange(storm.nprocs) // 16, np.ones(storm.nprocs), 0.0, 0, _FOLDER, _FOLDER)
        program = Program(seat, fs.idle_state(1), np.random.default_rng(number))
        storm.act(program)
        (contents,) = contents_of(batch_of([program]), np.zeros(1, bool), np.ones(1, bool))
        end_ns = _START_NS + int(program.seconds * 1e9) + 1
        run = Run(1000, number + 1, storm.nprocs, _START_NS, end_ns, "creates", (("/", "xfs"), (fs.MOUNT, "lustre")))
        path = folder / f"create_storm_{number:02d}.darshan"
        write_log(path, run, contents.names, contents.modules)
        if storm.is_partial:
            _forget(path)
        found[path.name] = storm
    return found


def _forget(path: Path) -> None:
    """Marks the POSIX module as one for which Darshan ran out of memory."""
    data = bytearray(path.read_bytes())
    data[_FLAGS_AT : _FLAGS_AT + 8] = (1 << MODULES.index("POSIX")).to_bytes(8, "little")
    path.write_bytes(data)
