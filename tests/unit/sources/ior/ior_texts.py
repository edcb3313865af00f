"""IOR's text as it is printed by different versions, with what they say twice worked out, so that a test changes one thing."""

from collections.abc import Sequence
from typing import NamedTuple

from iomine.units import KIB, MIB

TABLE_30 = "access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter"
TABLE_33 = "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter"


class Run(NamedTuple):
    """A repetition: how long it took, and lines that stand before it."""

    op: str = "write"
    seconds: float = 2.0
    repetition: int = 0
    moved: int | None = None
    before: Sequence[str] = ()


class Settings(NamedTuple):
    """What a test is asked to do."""

    ranks: int = 4
    block: int = 4 * MIB
    transfer: int = MIB
    segments: int = 2
    repetitions: int = 1

    @property
    def total(self) -> int:
        """Bytes that it moves."""
        return self.ranks * self.block * self.segments


def number(value: float) -> str:
    """As IOR prints it in its table."""
    return f"{value:.6f}" if value < 1 else f"{value:.2f}" if value < 3600 else f"{value:.0f}"


def row(settings: Settings, run: Run, *, has_iops: bool = True) -> str:
    """A row of the table; the time is one tenth open, eight tenths data and one tenth close."""
    moved = run.moved or settings.total
    open_, data, close = run.seconds * 0.1, run.seconds * 0.8, run.seconds * 0.1
    iops = [moved / settings.transfer / data, 0.001] if has_iops else []
    sizes = [settings.block / KIB, settings.transfer / KIB]
    numbers = [moved / MIB / run.seconds, *iops, *sizes, open_, data, close, run.seconds]
    return "  ".join([run.op, *map(number, numbers), str(run.repetition), ""])


def rates(settings: Settings, runs: Sequence[Run]) -> list[float]:
    """MiB a second of each run."""
    return [(run.moved or settings.total) / MIB / run.seconds for run in runs]


def summary(
    settings: Settings, runs: Sequence[Run], *, test: int = 0, api: str = "MPIIO", fpp: int = 0, old: bool = False
) -> str:
    """A row of the summary of one operation."""
    of_runs = rates(settings, runs)
    first = runs[0].moved or settings.total
    bandwidths = [max(of_runs), min(of_runs), sum(of_runs) / len(of_runs), 0.0]
    columns = [f"{value:.2f}" for value in bandwidths]
    columns += [] if old else [*["1.00"] * 4]
    columns += [f"{sum(run.seconds for run in runs) / len(runs):.5f}"]
    columns += [] if old else ["NA", "NA"]
    columns += [str(each) for each in (test, settings.ranks, 2, len(runs), fpp, 0, 1, 0, 0, settings.segments)]
    columns += [str(settings.block), str(settings.transfer), str(first) if old else f"{first / MIB:.1f}", api, "0"]
    return " ".join([runs[0].op, *columns])


SUMMARY_33 = (
    "Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    Mean(s) Stonewall(s) "
    "Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff reordrand seed segcnt   blksiz    xsize aggs(MiB)   API RefNum"
)
SUMMARY_30 = (
    "Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev    Mean(s) Test# #Tasks tPN reps fPP reord reordoff reordrand seed "
    "segcnt blksiz xsize aggsize API RefNum"
)


def settings_33(settings: Settings, test: int = 0, *more: str, **changed: str) -> list[str]:
    """The head of a test, from 3.2 on."""
    keys = {
        "api": "MPIIO",
        "apiVersion": "(4.0)",
        "test filename": "/scratch/a:b=c/f",
        "access": "single-shared-file",
        "type": "collective",
        "segments": str(settings.segments),
        "ordering in a file": "sequential",
        "nodes": "2",
        "tasks": str(settings.ranks),
        "clients per node": "2",
        "repetitions": str(settings.repetitions),
        "xfersize": f"{settings.transfer // MIB} MiB",
        "blocksize": f"{settings.block // MIB} MiB",
        "aggregate filesize": f"{settings.total // MIB} MiB",
    } | changed
    head = [f"TestID              : {test}", f"StartTime           : Sat Mar  2 10:0{test}:00 2024"]
    lines = [f"{key:<20}: {value}" for key, value in keys.items()]
    return [*head, "Path                : /scratch", "", "Options: ", *lines, "", "Results: ", "", *more]


def output(settings: Settings = Settings(), runs: Sequence[Run] = (Run(), Run("read", 1.0)), **changed: str) -> list[str]:  # noqa: B008
    """One test as IOR 3.3 and later print it."""
    head = [
        "IOR-3.3.0: MPI Coordinated Test of Parallel I/O",
        "Began               : Sat Mar  2 10:00:00 2024",
        "Command line        : ior -a MPIIO -c -b 4m -t 1m -s 2",
        "Machine             : Linux cn001",
    ]
    rows = [line for run in runs for line in (*run.before, row(settings, run))]
    ops = [[run for run in runs if run.op == op] for op in ("write", "read")]
    fastest = [f"Max {of[0].op.title()}: {max(rates(settings, of)):.2f} MiB/sec (0.00 MB/sec)" for of in ops if of]
    sums = [summary(settings, of) for of in ops if of]
    return [
        *head,
        *settings_33(settings, 0, **changed),
        TABLE_33,
        "------    ---------  ----",
        *rows,
        *fastest,
        "",
        "Summary of all tests:",
        SUMMARY_33,
        *sums,
        "Finished            : Sat Mar  2 10:00:09 2024",
    ]


def joined(lines: Sequence[str]) -> bytes:
    """Lines as a file."""
    return "".join(f"{line}\n" for line in lines).encode()
