"""IOR's text: what each version prints, what stands between, and what is refused where it is cut or contradicts itself."""

from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from ior_mutations import AT, given, outcomes, read, rows
from ior_texts import SUMMARY_30, TABLE_30, TABLE_33, Run, Settings, joined, output, row, settings_33, summary

from iomine.errors import UnreadableError
from iomine.sources.ior import SOURCES
from iomine.sources.model import Input
from iomine.units import MIB

_CUT = "it is cut: IOR does not say that it has finished"
_OTHER_UNITS = "the table has other columns, or other units, than those of IOR 3.0 to 4.1"
_TWICE = Settings(repetitions=2)
_REPEATED = tuple(Run(op, seconds, repetition) for repetition, seconds in enumerate((2.0, 4.0)) for op in ("write", "read"))


def _row(data: bytes) -> dict[str, Any]:
    (one,) = rows(data)
    return one


def test_a_row_has_all_that_the_output_says() -> None:
    """Sizes are in bytes, rates in bytes a second, and the system is the sweep's cluster."""
    write, read_ = rows(joined(output()))
    assert {
        "start_at": datetime(2024, 3, 2, 10, tzinfo=UTC),
        "system": "here",
        "host": "cn001",
        "output_path": "/ior/out",
        "ior_version": "3.3.0",
        "test": 0,
        "api": "MPIIO",
        "nprocs": 4,
        "node_count": 2,
        "ior_block_bytes": 4 * MIB,
        "ior_transfer_bytes": MIB,
        "ior_segment_count": 2,
        "is_shared": True,
        "is_collective": True,
        "hints": None,
        "test_path": "/scratch/a:b=c/f",
        "op": "write",
        "repetition": 0,
        "moved_bytes": 32 * MIB,
        "bytes_per_second": 16 * MIB,
        "open_seconds": 0.2,
        "data_seconds": 1.6,
        "close_seconds": 0.2,
        "elapsed_seconds": 2.0,
        "night": datetime(2024, 3, 2, tzinfo=UTC).date(),
    } == write
    assert ("read", 32 * MIB) == (read_["op"], read_["bytes_per_second"])


@pytest.mark.parametrize(
    ("path", "system"),
    [
        ("/ior/system=scratch2/run.txt", "scratch2"),
        ("system=a/system=b c/run.txt", "b c"),
        ("/ior/system=x", "here"),
        ("/ior/subsystem=x/run.txt", "here"),
    ],
)
def test_a_folder_names_the_system(path: str, system: str) -> None:
    """The nearest folder `system=NAME` says what was measured, otherwise the sweep's cluster does."""
    table = read(joined(output()), path).tables["ior_run"]
    assert {system} == set(table["system"].to_pylist())


def test_times_are_those_of_the_inputs_zone() -> None:
    """IOR prints no zone."""
    source = Input("x", joined(output()), AT, ZoneInfo("America/Los_Angeles"))
    table = SOURCES[0].read(source).tables["ior_run"]
    assert datetime(2024, 3, 2, 18, tzinfo=UTC) == table["start_at"][0].as_py()
    assert [None, None] == table["system"].to_pylist()


def test_ior_30_says_less() -> None:
    """Segments stand in its summary, nodes follow from clients, and the command line says whether calls are collective."""
    settings, run = Settings(segments=3), Run()
    lines = [
        "Using /scratch for test....",
        "IOR-3.0.1: MPI Coordinated Test of Parallel I/O",
        "",
        "ior WARNING: fsync() only available in POSIX/MMAP.  Using value of 0.",
        "Began: Sat Mar  2 10:00:00 2024",
        "Command line used: /bin/ior -wkc -a MPIIO -b 4m -t 1m -s 3 -o /scratch/f",
        "Machine: Linux cn001 3.10.0-957.1.3.el7.x86_64 #1 SMP Thu Nov 29 14:49:43 UTC 2018 x86_64",
        "Start time skew across all tasks: 0.00 sec",
        "",
        "Test 0 started: Sat Mar  2 10:00:01 2024",
        "Path: /scratch",
        "FS: 1704.7 TiB   Used FS: 48.3%   Inodes: 2635486.5 Mi   Used Inodes: 35.2%",
        "Participating tasks: 4",
        "task 0 on cn001",
        "Summary:",
        "\tapi                = MPIIO (version=2, subversion=1)",
        "\ttest filename      = /scratch/f",
        "\taccess             = single-shared-file",
        "\tordering in a file = sequential offsets",
        "\tordering inter file= random task offsets >= 1, seed=0",
        "\tclients            = 4 (2 per node)",
        "\trepetitions        = 1",
        "\txfersize           = 1 MiB",
        "\tblocksize          = 4 MiB",
        "\taggregate filesize = 48 MiB",
        "",
        TABLE_30,
        "------    ---------  ---------- ---------  --------   --------   --------   --------   ----",
        "Commencing write performance test: Sat Mar  2 10:00:01 2024",
        row(settings, run, has_iops=False),
        "remove    -          -          -          -          -          -          0.182582   0   ",
        "",
        "Max Write: 24.00 MiB/sec (25.17 MB/sec)",
        "",
        "Summary of all tests:",
        SUMMARY_30,
        summary(settings, [run], old=True),
        "",
        "Finished: Sat Mar  2 10:00:09 2024",
        "tasks: 7",
    ]
    got = _row(joined(lines))
    names = (
        "ior_version",
        "api",
        "nprocs",
        "node_count",
        "ior_segment_count",
        "is_shared",
        "is_collective",
        "moved_bytes",
        "start_at",
    )
    start = datetime(2024, 3, 2, 10, 0, 1, tzinfo=UTC)
    assert ("3.0.1", "MPIIO", 4, 2, 3, True, True, 48 * MIB, start) == tuple(got[name] for name in names)
    without = [line for line in lines if not line.startswith("Command line")]
    assert _row(joined(without))["is_collective"] is None
    verbose = [line.replace("shared-file", "shared-file, independent") for line in lines]
    assert _row(joined(verbose))["is_collective"] is False


@pytest.mark.parametrize("command", ["ior -f script -c", "ior -O collective=1", "ior -o 'x"])
def test_a_command_line_that_is_not_all_says_nothing(command: str) -> None:
    """Where a script, a directive or a broken quote may say otherwise, what only the command line says is not known."""
    lines = [line for line in output() if not line.startswith("type ")]
    changed = [f"Command line        : {command}" if line.startswith("Command line") else line for line in lines]
    assert {None} == {got["is_collective"] for got in rows(joined(changed))}
    assert {True} == {got["is_collective"] for got in rows(joined(lines))}


def test_a_file_without_a_head() -> None:
    """IOR 3.2 prints its version elsewhere, so that it is not known."""
    (one, *_), (other, *_) = rows(joined(output())), rows(joined([*output()[1:], *output()[1:]]))
    assert one | {"ior_version": None} == other
    assert [0, 0, 1, 1] == [each["test"] for each in rows(joined([*output()[1:], *output()[1:]]))]


def test_several_tests_and_several_outputs() -> None:
    """Tests of a script and outputs that follow each other are counted through; what stands between does not matter."""
    one, other = Settings(), Settings(ranks=8, segments=1)
    first, second = Run(), Run("read", 5.0)
    both = [
        *output(one, [first])[:4],
        *settings_33(one, 0, TABLE_33, row(one, first)),
        *settings_33(other, 1, TABLE_33, row(other, second)),
        "Summary of all tests:",
        output()[-4],
        summary(one, [first]),
        summary(other, [second], test=1),
        "Finished            : Sat Mar  2 10:09:00 2024",
    ]
    got = rows(joined([*both, "srun: a step ended", *output()]))
    assert [(0, 4, "write"), (1, 8, "read"), (2, 4, "write"), (2, 4, "read")] == [
        (each["test"], each["nprocs"], each["op"]) for each in got
    ]
    assert [datetime(2024, 3, 2, 10, minute, tzinfo=UTC) for minute in (0, 1, 0, 0)] == [each["start_at"] for each in got]


def test_repetitions() -> None:
    """Each repetition of each operation is a row."""
    got = rows(joined(output(_TWICE, _REPEATED)))
    assert [(run.op, run.repetition, run.seconds) for run in _REPEATED] == [
        (each["op"], each["repetition"], each["elapsed_seconds"]) for each in got
    ]


_STONEWALLED = (
    "stonewalling pairs accessed min: 3 max: 5 -- min data: 0.0 GiB mean data: 0.0 GiB time: 1.0s",
    f"WARNING: Expected aggregate file size       = {32 * MIB}",
    f"WARNING: Stat() of aggregate file size      = {20 * MIB}",
    f"WARNING: Using actual aggregate bytes moved = {20 * MIB}.",
    "WARNING: Maybe caused by deadlineForStonewalling",
)


def test_a_stonewalled_run_moved_what_it_says() -> None:
    """Bytes that were moved are those that IOR names, of that repetition alone."""
    runs = (Run(moved=20 * MIB, before=_STONEWALLED), Run("read"))
    assert [20 * MIB, 32 * MIB] == [each["moved_bytes"] for each in rows(joined(output(runs=runs)))]


@pytest.mark.parametrize("end", ["", ".", " (ior.c:401)", ", (ior.c:401)"])
def test_warnings_of_all_versions(end: str) -> None:
    """A full stop, or a place in IOR's source, may follow the bytes."""
    line = f"ior WARNING: Using actual aggregate bytes moved = {20 * MIB}{end}"
    assert [20 * MIB, 32 * MIB] == [
        each["moved_bytes"] for each in rows(joined(output(runs=(Run(moved=20 * MIB, before=(line,)), Run("read")))))
    ]


def test_a_stonewalled_run_that_does_not_say_so() -> None:
    """Where warnings went elsewhere, the summary has the bytes of the first repetition, and those of others are not known."""
    runs = tuple(Run(moved=moved * MIB, repetition=place) for place, moved in enumerate((20, 24)))
    assert [20 * MIB, None] == [each["moved_bytes"] for each in rows(joined(output(_TWICE, runs)))]


def test_hints_are_those_of_the_opened_file() -> None:
    """Hints that IOR shows are kept as Darshan keeps its own."""
    asked = ("hints passed to MPI_File_open() {", "\tcb_nodes = 1", "}")
    returned = ("hints returned from opened file {", "\tcb_nodes = 2", "\tromio_cb_write = enable", "}")
    assert ["cb_nodes=1"] * 2 == [each["hints"] for each in rows(joined(output(runs=(Run(before=asked), Run("read")))))]
    got = rows(joined(output(runs=(Run(before=asked + returned), Run("read")))))
    assert ["cb_nodes=2;romio_cb_write=enable"] * 2 == [each["hints"] for each in got]


def test_the_environment_is_no_output() -> None:
    """What an environment holds does not count, whatever it looks like."""
    lines = output()
    lines[4:4] = ["STARTING ENVIRON LOOP", "Began=Sat Mar  2 10:00:00 1999", row(Settings(), Run()), "ENDING ENVIRON LOOP"]
    assert rows(joined(output())) == rows(joined(lines))


def test_an_output_without_a_summary() -> None:
    """IO500 keeps none: such an output is whole where it has all that its command line asks for."""
    lines = output(runs=[Run()])[:-6]
    asked = [line.replace("ior -a", "ior -w -a") for line in lines]
    assert ["write"] == [each["op"] for each in rows(joined(asked))]
    assert _refusal(lines).endswith(f"line {len(lines)} ({_CUT}).")


def _refusal(lines: list[str]) -> str:
    with pytest.raises(UnreadableError) as refused:
        read(joined(lines))
    return refused.value.reason


def _line(lines: list[str], start: str) -> int:
    """Number of the last line that begins so."""
    return max(number for number, line in enumerate(lines, 1) if line.startswith(start))


def _changed(old: str, new: str, start: str = "") -> Callable[[list[str]], list[str]]:
    return lambda lines: [line.replace(old, new) if line.startswith(start) else line for line in lines]


def _without(start: str) -> Callable[[list[str]], list[str]]:
    return lambda lines: [line for line in lines if not line.startswith(start)]


@pytest.mark.parametrize(
    ("change", "at", "why"),
    [
        (_changed("16.00 ", "17.00 ", "write  16.00"), "write  ", "its rates and times do not make the same bytes"),
        (_changed("1.60", "1.70", "write  "), "write  ", "its rates and times do not make the same bytes"),
        (_changed("0.200000", "2.20", "write  "), "write  ", "a part took 2.20 s of 2.00 s"),
        (_changed("2.00", "2000.00", "write  "), "write  ", "its rates and times do not make the same bytes"),
        (_changed("1024.00", "2048.00", "write  "), "write  ", "it differs from the settings in xfersize"),
        (_changed("1024.00", "1024", "write  "), "write  ", "'1024' has other places than IOR prints"),
        (_changed("1024.00", "", "write  "), "write  ", "it has 10 of 11 columns"),
        (_changed("write", "writ", "write  "), "write ", "results and summary differ in whether there are writes"),
        (_changed("MiB", "GiB", "blocksize"), "write ", "it differs from the settings in blocksize"),
        (_changed("4", "5", "tasks"), "write ", "it differs from the settings in tasks"),
        (_changed("2", "x", "segments"), "segments", "'x' is no whole number"),
        (_changed("4 MiB", "4 MB", "blocksize"), "blocksize", "'4 MB' is no size as IOR prints it"),
        (_changed("single-shared-file", "single"), "access        ", "'single' is none of file-per-process, single-shared-file"),
        (_changed("bw(MiB/s)", "bw(MB/s)"), "access    bw", _OTHER_UNITS),
        (_changed("open(s)", "open(ms)"), "access    bw", _OTHER_UNITS),
        (_changed("Max(MiB)", "Max(MB)"), "Operation", _OTHER_UNITS),
        (_changed("MiB/sec", "GiB/sec", "Max Write"), "Max Write", "the fastest rate is not in MiB/sec"),
        (_changed("16.00", "15.00", "Max Write"), "Max Write", "the fastest write is not that of the results"),
        (_changed("16.00 0.00", "15.00 0.00"), "write ", "its mean rate of 15.00 is not that of the results"),
        (_changed(" 16.00 16.00 16.00 0.00", " 16.00 0.00"), "write ", "it has 25 of 27 columns"),
        (_changed("Sat", "Sun", "StartTime"), "StartTime", "'Sun Mar  2 10:00:00 2024' is no date"),
        (_changed("10:00", "09:00", "Finished"), "Finished", "it finishes before it began"),
        (_changed("3.3.0", "2.10.3"), "IOR", "IOR 2.10.3 is older than 3.0, and prints another table"),
        (_without("TestID"), "StartTime", "no test has begun"),
        (_without("access  "), "write  ", "it is a result without a table"),
        (_without("tasks"), "TestID", "the test has no tasks"),
        (_without("Finished"), "read ", _CUT),
        (_without("write  "), "write ", "results and summary differ in whether there are writes"),
        (lambda lines: lines[: _line(lines, "write  ")], "write  ", _CUT),
        (lambda lines: lines[: _line(lines, "Summary")], "Summary", _CUT),
        (lambda lines: lines[:1], "IOR", "it ends without a result"),
    ],
)
def test_what_is_cut_or_contradicts_itself_is_refused(change: Callable[[list[str]], list[str]], at: str, why: str) -> None:
    """The reason says where and what."""
    lines = change(output())
    assert f"No run of IOR can be read here: Left out, 1 in all: line {_line(lines, at)} ({why})." == _refusal(lines)


def test_a_missing_repetition() -> None:
    """A repetition that is not here makes the output a reject."""
    lines = output(_TWICE, _REPEATED)
    last = max(place for place, line in enumerate(lines) if line.startswith("read  ") and line.endswith("  1  "))
    assert "reads are here for 2 repetitions" in _refusal(lines[:last] + lines[last + 1 :])


def test_sound_outputs_beside_a_damaged_one_are_kept() -> None:
    """Of several outputs in one file those are left out that are damaged, and the doubt says which."""
    cut = output()
    del cut[_line(cut, "write  ") :]
    readings = read(joined([*cut, *output()]) + b"srun: err")
    assert 2 == len(readings.tables["ior_run"])
    assert f"Left out, 1 in all: line {len(cut)} ({_CUT}); the last line has no end and was left out" == readings.doubt


def test_sizes_that_are_rounded_come_from_the_command_line() -> None:
    """A block of 9.46 TiB is what was asked for, and not known where nothing says it."""
    settings = Settings(block=9_920_000 * MIB, segments=1, transfer=2 * MIB)
    run = Run(moved=20 * MIB, before=_STONEWALLED[3:4])
    lines = output(settings, [run], blocksize="9.46 TiB")[:-6]
    asked = [line.replace("-b 4m -t 1m", "-w -b 9920000m -t 2m") for line in lines]
    assert (settings.block, 20 * MIB) == tuple(_row(joined(asked))[name] for name in ("ior_block_bytes", "moved_bytes"))
    other = [line.replace("-b 4m -t 1m", "-w -b 9000000m -t 2m") for line in lines]
    assert (None, 20 * MIB) == tuple(_row(joined(other))[name] for name in ("ior_block_bytes", "moved_bytes"))


def test_lines_that_are_made_to_take_long() -> None:
    """Blanks without end, and lines longer than IOR's, are gone through once."""
    lines = output()
    lines[4:4] = [" " * 60_000] * 50 + ["x" * 1_000_000, f"Began{' ' * 50_000}="]
    began = monotonic()
    assert rows(joined(output())) == rows(joined(lines))
    assert monotonic() - began < 2


def test_results_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """An output has no more results than anybody asks IOR for."""
    monkeypatch.setattr("iomine.sources.ior.text._MOST_RESULTS", 1)
    lines = output()
    assert f"line {_line(lines, 'read  ')} (it has more than 1 results, the limit for one output)" in _refusal(lines)


def test_damage() -> None:
    """Whatever happens to an output, it is read or refused, and rows that come of it hold together."""
    sound = (
        joined(output()),
        joined(output(_TWICE, _REPEATED)),
        joined(output(runs=(Run(moved=20 * MIB, before=_STONEWALLED), Run("read")))),
        joined([*output(), *output()]),
    )
    found = outcomes(sound, 500, seed=3)
    assert {"refused", "as sound", "other rows"} == set(found)


def test_nobody_else_takes_them() -> None:
    """An input that only talks of IOR is not one of its outputs."""
    assert not any(source.knows(given(b"see IOR-3.3.0: MPI Coordinated Test of Parallel I/O\n")) for source in SOURCES)
