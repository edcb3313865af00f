"""Real outputs of IOR: rows are held against what each says of itself at its end, read here in another way."""

import csv
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from ior_mutations import given, outcomes, read, real, rows
from shared import NOT_HERE, SHARED_DATA

from iomine.sources.inputs import SOURCES
from iomine.units import GIB, KIB, MIB

_FOLDERS = (SHARED_DATA / "ior", SHARED_DATA / "groundtruth" / "ior")
_HALF = {False: 0.0101, True: 0.51}
_SCORE = re.compile(r"^\[RESULT\].*?(ior[-_]\w+[-_]\w+) +([\d.]+) Gi?B/s", re.MULTILINE)
_ACTUAL = re.compile(r"Using actual aggregate bytes moved = (\d+)")


def _files(pattern: str) -> list[Any]:
    found = sorted(path for folder in _FOLDERS for path in folder.rglob(pattern) if path.is_file() and path.name != "README.md")
    skipped = pytest.param(None, marks=pytest.mark.skip(reason=NOT_HERE))
    return [pytest.param(path, id=str(path.relative_to(SHARED_DATA))) for path in found] or [skipped]


def _by_op(path: Path) -> dict[str, list[dict[str, Any]]]:
    by_op = defaultdict(list)
    for row in rows(path.read_bytes()):
        by_op[row["op"]].append(row)
    return by_op


def _rates(of_op: list[dict[str, Any]]) -> tuple[float, float, float, float]:
    rates = [row["bytes_per_second"] / MIB for row in of_op]
    return max(rates), min(rates), mean(rates), mean(row["elapsed_seconds"] for row in of_op)


@pytest.mark.parametrize("path", _files("*"))
def test_every_file_is_known_to_one_reader(path: Path) -> None:
    """Each is taken by one reader, and its runs or what it is instead are reported."""
    data = path.read_bytes()
    (source,) = (each for each in SOURCES if each.knows(given(data, str(path))))
    readings = source.read(given(data, str(path)))
    assert (source.kind == "io500") != bool(readings.tables)
    assert (source.kind == "ior_csv") == ("time of change" in readings.doubt)


@pytest.mark.parametrize("path", _files("*.json"))
def test_json_equals_its_summary(path: Path) -> None:
    """Fastest, slowest and mean rate, mean time, bytes and settings are those of the summary."""
    by_op = _by_op(path)
    summaries = json.loads(path.read_text())["summary"]
    assert [each["operation"] for each in summaries] == list(by_op)
    for said in summaries:
        of_op = by_op[said["operation"]]
        expected = [said[name] for name in ("bwMaxMIB", "bwMinMIB", "bwMeanMIB", "MeanTime")]
        assert expected == pytest.approx(_rates(of_op), abs=1.01e-4)
        assert [*range(said["repetitions"])] == [row["repetition"] for row in of_op]
        names = ("ior_block_bytes", "ior_transfer_bytes", "ior_segment_count", "nprocs", "is_shared", "api")
        theirs = (said["blockSize"], said["transferSize"], said["segmentCount"], said["numTasks"], not said["filePerProc"])
        for row in of_op:
            assert (*theirs, said["API"]) == tuple(row[name] for name in names)
            assert said["xsizeMiB"] == pytest.approx(row["moved_bytes"] / MIB, abs=1e-4)


@pytest.mark.parametrize("path", _files("*.txt"))
def test_text_equals_its_summary(path: Path) -> None:
    """Where text ends in a summary, rows are those that it sums up."""
    text, by_op = path.read_text(), _by_op(path)
    heading = next((line.split() for line in text.splitlines() if line.startswith("Operation ")), [])
    below = text.partition("Operation ")[2].splitlines()
    lines = [line.split() for line in below if line.startswith(("write ", "read "))]
    for said in (dict(zip(heading, line, strict=True)) for line in lines):
        *rates, seconds = _rates(of_op := by_op[said["Operation"]])
        # Rates of the table have two places below 3,600, and none from there on.
        assert [float(said[f"{name}(MiB)"]) for name in ("Max", "Min", "Mean")] == pytest.approx(
            rates, abs=_HALF[rates[0] >= 3600]
        )
        assert float(said["Mean(s)"]) == pytest.approx(seconds, abs=0.0051)
        names = ("nprocs", "ior_block_bytes", "ior_transfer_bytes", "ior_segment_count")
        for row in of_op:
            assert [int(said[name]) for name in ("#Tasks", "blksiz", "xsize", "segcnt")] == [row[name] for name in names]
            assert (said["API"], said["fPP"] == "0") == (row["api"], row["is_shared"])
            moved = float(said["aggs(MiB)"]) * MIB if "aggs(MiB)" in said else int(said["aggsize"])
            assert moved == row["moved_bytes"]
        assert int(said["reps"]) == len(of_op)
    assert (path.parent.name.startswith(("dkrz", "formats")) and bool(by_op)) == bool(lines)


@pytest.mark.parametrize("path", _files("io500/*/ior*.txt"))
def test_text_equals_the_score_beside_it(path: Path) -> None:
    """The rate is that of IO500's score, and bytes are those that a warning names."""
    text = path.read_text()
    (row,) = rows(text.encode())
    scores = dict(_SCORE.findall(path.with_name("result_summary.txt").read_text()))
    assert float(scores[path.stem]) == pytest.approx(row["bytes_per_second"] / GIB, rel=1e-4)
    if named := _ACTUAL.search(text):
        assert int(named[1]) == row["moved_bytes"]
    assert row["moved_bytes"] / row["elapsed_seconds"] == pytest.approx(row["bytes_per_second"], rel=1e-4)


@pytest.mark.parametrize("path", _files("ior_summary*.csv"))
def test_csv_equals_its_lines(path: Path) -> None:
    """Each line is a row, in bytes and seconds."""
    with path.open(newline="") as file:
        expected = [
            (line["access"], int(line["iter"]), int(line["numTasks"]), float(line["block(KiB)"]) * KIB, float(line["wr/rd(s)"]))
            for line in csv.DictReader(file)
        ]
    names = ("op", "repetition", "nprocs", "ior_block_bytes", "data_seconds")
    assert expected == [tuple(row[name] for name in names) for row in rows(path.read_bytes())]


def _table(path: Path) -> Iterator[list[str]]:
    return (line.split() for line in path.read_text().splitlines() if re.match(r"(write|read) +[\d.]", line))


@pytest.mark.parametrize("path", _files("*.txt"))
def test_text_equals_its_table(path: Path) -> None:
    """Times, rates and repetitions are those of the table's lines."""
    lines = [words for words in _table(path) if len(words) < 15]
    expected = [(words[0], int(words[-1]), *map(float, words[-5:-1])) for words in lines]
    names = ("op", "repetition", "open_seconds", "data_seconds", "close_seconds", "elapsed_seconds")
    assert expected == [tuple(row[name] for name in names) for row in rows(path.read_bytes())]


def test_damage() -> None:
    """Whatever happens to a real output, it is read or refused; `make fuzz` tries it more often."""
    if not real():
        pytest.skip(NOT_HERE)
    assert {"refused", "as sound", "other rows"} == set(outcomes(real(), 300, seed=2))


def test_outputs_of_one_format_are_read_alike() -> None:
    """The same IOR prints JSON and text with the same settings in the same columns."""
    folder = SHARED_DATA / "ior" / "formats_ior4.1dev"
    if not folder.exists():
        pytest.skip(NOT_HERE)
    text, document = (
        read((folder / name).read_bytes()).tables["ior_run"]
        for name in ("ior_default_mpiio_collective.txt", "ior_json_shared_3iter.json")
    )
    for table in (text, document):
        assert {"hints", "output_path"} >= {name for name in table.column_names if table[name].null_count}
