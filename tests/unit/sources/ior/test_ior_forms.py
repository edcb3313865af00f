"""IOR's JSON and CSV, and what lies beside its outputs."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from ior_mutations import AT, outcomes, read, rows

from iomine.errors import UnreadableError
from iomine.sources.model import Readings
from iomine.units import MIB

_CSV = (
    "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),numTasks,iter\n"
    "write,16.0000,20.0000,0.0500,4096.0000,1024.0000,0.2000,1.6000,0.2000,2.0000,4,0\n"
    "read,32.0000,40.0000,0.0500,4096.0000,1024.0000,0.1000,0.8000,0.1000,1.0000,4,0\n"
)


def _result(op: str, seconds: float, mib: float = 32.0) -> dict[str, Any]:
    times = {"openTime": 0.1 * seconds, "wrRdTime": 0.8 * seconds, "closeTime": 0.1 * seconds, "totalTime": seconds}
    return {"access": op, "bwMiB": mib / seconds, "blockKiB": 4096.0, "xferKiB": 1024.0, "iops": mib / seconds / 0.8} | times


def _document(*results: dict[str, Any], first_mib: float = 32.0) -> dict[str, Any]:
    results = results or (_result("write", 2.0), _result("read", 1.0))
    parameters = {"testID": 0, "api": "POSIX", "testFileName": "/scratch/f", "nodes": 2, "tasksPerNode": 2}
    parameters |= {"repetitions": sum(each["access"] == "write" for each in results), "filePerProc": 1, "collective": 0}
    parameters |= {"segmentCount": 2, "transferSize": MIB, "blockSize": 4 * MIB}
    options = {"api": "POSIX", "test filename": "/scratch/f", "access": "file-per-process", "type": "independent", "segments": 2}
    options |= {"nodes": 2, "tasks": 4, "clients per node": 2, "repetitions": parameters["repetitions"]}
    options |= {"xfersize": "1 MiB", "blocksize": "4 MiB"}
    summaries = []
    for op in dict.fromkeys(each["access"] for each in results if each["access"] != "remove"):
        rates, times = ([each[name] for each in results if each["access"] == op] for name in ("bwMiB", "totalTime"))
        sums = {"bwMaxMIB": max(rates), "bwMinMIB": min(rates), "bwMeanMIB": sum(rates) / len(rates)}
        sizes = {"segmentCount": 2, "blockSize": 4 * MIB, "transferSize": MIB, "numTasks": 4, "tasksPerNode": 2}
        about = {"operation": op, "API": "POSIX", "TestID": 0, "repetitions": len(rates), "filePerProc": 1}
        summaries.append(about | sizes | sums | {"MeanTime": sum(times) / len(times), "xsizeMiB": first_mib})
    test = {"TestID": 0, "StartTime": "Sat Mar  2 10:00:00 2024", "Parameters": parameters, "Options": options}
    return {
        "Version": "4.0.0",
        "Began": "Sat Mar  2 10:00:00 2024",
        "Command line": "ior -F",
        "Machine": "Linux cn001",
        "tests": [test | {"Results": list(results)}],
        "summary": summaries,
        "Finished": "Sat Mar  2 10:00:09 2024",
    }


def _text(document: dict[str, Any]) -> str:
    def placed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: placed(each) for key, each in value.items()}
        if isinstance(value, list):
            return [placed(each) for each in value]
        return f"<{value:.4f}>" if isinstance(value, float) else value

    return json.dumps(placed(document), indent=2).replace('"<', "").replace('>"', "")


def _refusal(data: str) -> str:
    with pytest.raises(UnreadableError) as refused:
        read(data.encode())
    return refused.value.reason


def test_json() -> None:
    """All that the document says is in the rows."""
    write, read_ = rows(_text(_document()).encode())
    assert {
        "start_at": datetime(2024, 3, 2, 10, tzinfo=UTC),
        "system": "here",
        "host": "cn001",
        "output_path": "/ior/out",
        "ior_version": "4.0.0",
        "test": 0,
        "api": "POSIX",
        "nprocs": 4,
        "node_count": 2,
        "ior_block_bytes": 4 * MIB,
        "ior_transfer_bytes": MIB,
        "ior_segment_count": 2,
        "is_shared": False,
        "is_collective": False,
        "hints": None,
        "test_path": "/scratch/f",
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
    assert ("read", 1.0) == (read_["op"], read_["elapsed_seconds"])


def test_json_of_older_versions_and_with_talk() -> None:
    """Results of a repetition may be a list of their own, without requests; talk of standard output may stand within."""
    sound = rows(_text(_document()).encode())
    old = _document(_result("write", 2.0), _result("read", 1.0), {"access": "remove", "totalTime": 0.5})
    results = old["tests"][0]["Results"]
    for each in results:
        each.pop("iops", None)
    old["tests"][0]["Results"] = [results]
    del old["tests"][0]["Options"]["nodes"]
    head, tests, body = _text(old).partition('"tests"')
    body = body.replace("\n", "\nCommencing write performance test: Sat Mar  2\n")
    assert sound == rows(f"ior WARNING: fsync() only available in POSIX\n{head}{tests}{body}".encode())


def test_bytes_of_a_stonewalled_run_stand_in_the_summary() -> None:
    """It has those of the first repetition; those of others are not known."""
    document = _document(_result("write", 2.0, 20.0), _result("write", 2.0, 24.0), first_mib=20.0)
    assert [20 * MIB, None] == [row["moved_bytes"] for row in rows(_text(document).encode())]


def _set(*path: str | int, value: object) -> Callable[[dict[str, Any]], None]:
    def change(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = value

    return change


_OF_TEST = ("tests", 0)


@pytest.mark.parametrize(
    ("change", "at", "why"),
    [
        (_set(*_OF_TEST, "Results", 1, "totalTime", value=2.0), '"access": "read"', "do not make the same bytes"),
        (_set(*_OF_TEST, "Results", 1, "wrRdTime", value=0.7), '"access": "read"', "do not make the same bytes"),
        (_set(*_OF_TEST, "Results", 1, "openTime", value=1.2), '"access": "read"', "a part took 1.2000 s of 1.0000 s"),
        (_set(*_OF_TEST, "Results", 1, "bwMiB", value=32), '"access": "read"', "'32' is no number as IOR prints it"),
        (_set(*_OF_TEST, "Results", 1, "bwMiB", value="x"), '"access": "read"', "'x' is no number"),
        (_set("summary", 1, "bwMinMIB", value=31.0), '"operation": "read"', "its slowest rate of 31.0000"),
        (_set("summary", 1, "numTasks", value=5), '"operation": "read"', "it differs from the settings in tasks"),
        (_set("summary", 1, "TestID", value=5), '"operation": "read"', "it sums up a test that is not here"),
        (_set("summary", 1, "operation", value="write"), '"operation": "write"', "it sums up a test that is not here"),
        (_set(*_OF_TEST, "Options", "segments", value=3), '"Parameters"', "options and parameters differ in segments"),
        (_set(*_OF_TEST, "Options", "blocksize", value="4 GiB"), '"Parameters"', "options and parameters differ in blocksize"),
        (_set(*_OF_TEST, "Options", value=[]), '"Parameters"', "it is not nested as IOR's summaries are"),
        (_set("tests", value={}), "{", "it is not nested as IOR's summaries are"),
        (_set("Finished", value="Sat Mar  2 09:00:09 2024"), "{", "it finishes before it began"),
        (_set(*_OF_TEST, "TestID", value=10**40), '"Parameters"', "is no whole number"),
        (lambda document: document.pop("summary"), "", "it lacks 'summary'"),
    ],
)
def test_json_that_contradicts_itself_is_refused(change: Callable[[dict[str, Any]], None], at: str, why: str) -> None:
    """The reason says where and what."""
    document = _document()
    change(document)
    text = _text(document)
    line = max(number for number, each in enumerate(text.splitlines(), 1) if each.strip().startswith(at)) if at != "{" else 1
    reason = _refusal(text)
    assert reason.startswith(f"No run of IOR can be read here: line {line} (")
    assert why in reason


def test_json_that_is_cut_is_refused() -> None:
    """The reason says where it ends; nesting without end ends too."""
    text = _text(_document())
    cut = text[: text.index('"summary"')]
    assert f"line {cut.count(chr(10)) + 1} (it is no JSON from here on" in _refusal(cut)
    assert "it is no JSON from here on" in _refusal(text.replace("16.0000", "-nan"))
    deep = text.replace('"tests": [', '"tests": ' + "[" * 100_000)
    assert "it is nested too deeply" in _refusal(deep) or "it is no JSON" in _refusal(deep)


def test_csv() -> None:
    """A summary as CSV says neither where nor when: the file's time of change is the start, and the rest is not known."""
    readings = read(_CSV.encode())
    table = readings.tables["ior_run"].to_pylist()
    known = {
        "nprocs": 4,
        "ior_block_bytes": 4 * MIB,
        "ior_transfer_bytes": MIB,
        "system": "here",
        "output_path": "/ior/out",
        "test": 0,
    }
    known |= {"op": "write", "repetition": 0, "bytes_per_second": 16 * MIB, "elapsed_seconds": 2.0, "open_seconds": 0.2}
    known |= {"data_seconds": 1.6, "close_seconds": 0.2, "start_at": AT, "night": AT.date()}
    assert known == {name: value for name, value in table[0].items() if value is not None}
    assert "nothing but the file's time of change says when it was read" == readings.doubt
    assert Readings(readings.tables, readings.doubt, False) == readings
    (named, *_) = read(_CSV.encode(), "/ior/2026-01-05/1410/x.csv").tables["ior_run"]["start_at"].to_pylist()
    assert datetime(2026, 1, 5, 14, 10, tzinfo=UTC) == named


def test_csv_of_several_tests() -> None:
    """A heading, or a repetition that was there, begins another test."""
    body = _CSV.partition("\n")[2]
    assert [0, 0, 1, 1, 2, 2] == [row["test"] for row in rows((_CSV + body + _CSV).encode())]


def test_csv_that_is_damaged() -> None:
    """Rows that contradict themselves, and rows below another heading, are left out and listed."""
    bad = _CSV.replace("1.6000,", "1.5000,").replace("open(s)", "open(ms)")
    readings = read((_CSV + _CSV.replace("1.6000,", "1.5000,") + bad).encode() + b"write,16")
    assert 3 == len(readings.tables["ior_run"])
    assert readings.doubt.startswith(
        "Left out, 3 in all: line 5 (its rates and times do not make the same bytes), "
        "line 8 (it has 12 of 0 columns), line 9 (it has 12 of 0 columns); the last line has no end and was left out; "
    )
    none = _CSV.replace(",4,0", ",0,0")
    assert "line 2 (it is neither a write nor a read of any process)" in _refusal(none)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"IO500 version io500-sc24 (standard)\n[RESULT] ior-easy-write 21.9 GiB/s : time 413 seconds\n", "the score of IO500"),
        (b"[RESULT] BW   phase 1   ior_easy_write   40.915 GB/s : time 586.58 seconds\n", "the score of IO500"),
        (b"[global]\ndatadir = /x\n\n[ior-easy]\nrun = TRUE\n", "IO500's settings or score"),
        (b"-- started at 03/30/2025 02:17:24 --\n\nmdtest-4.1.0+dev was launched with 410 total task(s)\n", "output of mdtest"),
        (b"access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput\n", "IOR's times of processes"),
        (b"time,runtime,tp\n1e-6,2e-2,3e7\n", "IOR's times of requests"),
        (b'{"DATA":{"type":"Site","att":{}}}', "IO500's description of a site"),
    ],
)
def test_what_lies_beside_outputs(data: bytes, what: str) -> None:
    """It is known, and nothing of it is kept."""
    readings = read(data)
    assert not readings.tables
    assert what in readings.doubt
    assert readings.doubt.endswith("nothing of it is kept")


def test_damage() -> None:
    """Whatever happens to JSON or CSV, it is read or refused, and rows that come of it hold together."""
    assert {"refused", "as sound"} < set(outcomes((_text(_document()).encode(), _CSV.encode()), 400, seed=4))
