"""`iomine workload`."""

import datetime as dt
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from shared import log_of, workloads

from iomine.derive.model.replay import class_columns
from iomine.pipeline.ingest.rows import model_of
from iomine.sources.darshan import assembled, read_log

HOSTILE = "/scratch/x\n$(touch owned) `touch owned` \"'\x1b[2J"
# Writes the summary that IOR would: 1 MiB/s where ranks write, 2 MiB/s where they read.
FAKE = """#!/usr/bin/env bash
printf '%s\\n' "$*" >> "$NOTES"
for word in "$@"; do
  case $word in
    -r) rate=2.0000 ;;
    -w) rate=1.0000 ;;
    summaryFormat=*) printf '{ "summary": [ {\\n "bwMeanMIB": %s, \\n} ] }\\n' "$rate" > "${word##*summaryFile=}" ;;
  esac
done
"""


def _class(log_id: str, number: int, **values: Any) -> dict[str, Any]:
    usual = {
        "log_id": log_id, "phase_class": number, "layer": "posix", "op": "write", "access": "shared", "request_order": "single",
        "is_collective": False, "rank_count": 4, "caller_count": 4, "requests_per_rank": 1, "bytes_per_rank": 1 << 20,
        "request_bytes": 1 << 20, "moved_bytes": 12 << 20, "rank_call_seconds": 1.0, "is_relevant": True, "file_id": 1,
        "largest_path": HOSTILE, "replay_fidelity": "exact", "ior_options": "-a POSIX -b 1048576 -t 1048576 -s 1 -i 3 -w",
    }  # fmt: skip
    return usual | values


@pytest.fixture
def warehouse(warehouse_of) -> Path:
    """Writes alike in two logs, reads of a later night, and streams."""
    logs = [{"log_id": "a" * 16, "app": HOSTILE}, {"log_id": "b" * 16, "app": "solver", "night": dt.date(2024, 4, 19)}]
    reads = {"op": "read", "moved_bytes": 6 << 20, "rank_call_seconds": 9.0, "night": dt.date(2024, 4, 19)}
    return warehouse_of(
        log=logs,
        phase_class=[
            _class("a" * 16, 1),
            _class("b" * 16, 1, night=dt.date(2024, 4, 19), rank_call_seconds=None),
            _class("b" * 16, 2, ior_options="-a POSIX -b 1048576 -t 1048576 -s 1 -i 1 -r", **reads),
            _class(
                "b" * 16,
                3,
                layer="stdio",
                moved_bytes=2 << 20,
                night=dt.date(2024, 4, 19),
                ior_options=None,
                replay_fidelity=None,
                replay_reason="IOR has no such layer.",
            ),
        ],
        lustre_component=[
            {
                "log_id": "b" * 16, "file_id": 1, "rank": -1, "component": 0, "stripe_count": 4, "stripe_bytes": 1 << 20,
                "night": dt.date(2024, 4, 19),
            }
        ],
    )  # fmt: skip


def test_the_heaviest_classes_come_with_lines_and_weights(iomine, warehouse) -> None:
    """24 of 32 MiB are 75%: one class for three quarters, two for more; the line is that of the model."""
    answer = iomine("workload", "--cover", "0.75", "--warehouse", warehouse)
    assert 0 == answer.exit_code
    lines = answer.stdout.splitlines()
    line = "mpiexec -n 4 ior -a POSIX -b 1048576 -t 1048576 -s 1 -i 3 -w"
    assert [line] == [each for each in lines if each.startswith("mpiexec")]
    assert line in iomine("model", "a" * 16, "--warehouse", warehouse).stdout.splitlines()
    assert "# class 1: 75.0% of the bytes (24.0 MiB), 9.1% of the core-seconds (4.0); replay: exact" in lines
    assert "1 of 3 classes hold 75.0% of the bytes." in lines
    assert "No line for 6.2%: STDIO writes, shared files, single. IOR has no such layer." in lines
    assert "Phase classes without known bytes or time, which have no weight: 1." in lines
    assert "\x1b" not in answer.stdout


def test_cost_weighs_core_seconds(iomine, warehouse) -> None:
    """Reads took 36 of 44; a share that no lines hold is said."""
    half = json.loads(iomine("workload", "--by", "cost", "--cover", "0.5", "--json", "--warehouse", warehouse).stdout)
    assert ["read"] == [row["op"] for row in half["classes"]]
    assert (36 / 44, ["stdio"], None) == (half["covered_ratio"], [row["layer"] for row in half["without_line"]], half["script"])
    most = iomine("workload", "--cover", "1", "--warehouse", warehouse)
    assert "2 of 3 classes hold 93.8% of the bytes, less than the 100.0% asked for: no other class has a line." in most.stdout


def test_later_nights_alone_make_another_mix(iomine, warehouse) -> None:
    """Weights are those of the nights that are asked for."""
    answer = iomine("workload", "--since", "2024-04-19", "--cover", "0.5", "--json", "--warehouse", warehouse)
    (row,) = json.loads(answer.stdout)["classes"]
    assert (12 << 20, 1, 0.6) == tuple(row[name] for name in ("moved_bytes", "log_count", "workload_ratio"))


def test_a_script_weighs_what_it_runs(iomine, warehouse, tmp_path) -> None:
    """Bash and ShellCheck take it, names in it run nothing, it writes below IOR_DIR only, and adds up the time of all bytes."""
    answer = iomine("workload", "--cover", "0.9", "--replay", tmp_path / "scripts", "--warehouse", warehouse)
    script = tmp_path / "scripts" / "workload.sh"
    assert answer.stdout.endswith(f"{script}\n")
    subprocess.run(["bash", "-n", script], check=True)
    if shutil.which("shellcheck"):
        subprocess.run(["shellcheck", script], check=True)
    assert "# Weight: 18.8% of the bytes (6.0 MiB), 81.8% of the core-seconds (36.0), in 1 log;" in script.read_text()
    run = tmp_path / "run"
    (run / "bin").mkdir(parents=True)
    for name, text in {"mpiexec": FAKE, "lfs": "#!/bin/sh\n"}.items():
        (run / "bin" / name).write_text(text)
        (run / "bin" / name).chmod(0o755)
    path = {"PATH": f"{run / 'bin'}:{os.environ['PATH']}", "NOTES": str(run / "notes")}

    without = subprocess.run([script], env=path, cwd=run, capture_output=True, text=True, check=False)
    assert without.returncode != 0
    assert "Set IOR_DIR" in without.stderr
    ior = run / "a folder"
    for _ in range(2):
        said = subprocess.run(
            [script], env=path | {"IOR_DIR": str(ior)}, cwd=run, capture_output=True, text=True, check=True
        ).stdout

    assert {"a folder", "bin", "notes"} == {each.name for each in run.iterdir()}
    assert {"class-1.json", "class-2.json", "workload.txt"} == {each.name for each in ior.iterdir()}
    # 24 MiB at 1 MiB/s and 6 MiB at 2, of four ranks each.
    assert ["1 25165824 4.000000 4 1.0000 24.000", "2 6291456 36.000000 4 2.0000 3.000"] == (
        ior / "workload.txt"
    ).read_text().splitlines()
    assert (
        "The workload takes 27.0 s for 31457280 bytes, and 108.0 core-seconds where programs took 40.0." == said.splitlines()[-1]
    )
    assert 6 == len((run / "notes").read_text().splitlines())

    (run / "bin" / "mpiexec").write_text(FAKE.replace("2.0000", "").replace('"bwMeanMIB"', '"other"'))
    silent = subprocess.run(
        [script], env=path | {"IOR_DIR": str(ior)}, cwd=run, capture_output=True, text=True, check=True
    ).stdout
    assert "The workload takes unknown: 2 classes have no rate." == silent.splitlines()[-1]


def test_a_machine_has_its_own_workload(iomine, warehouse_of) -> None:
    """Of several machines one has to be named."""
    warehouse = warehouse_of(phase_class=[_class("a" * 16, 1), _class("b" * 16, 1, cluster="red", moved_bytes=1)])
    both = iomine("workload", "--warehouse", warehouse)
    assert (2, True) == (both.exit_code, "The logs are of several machines, blue, red: name one with --cluster." in both.stderr)
    red = json.loads(iomine("workload", "--cluster", "red", "--json", "--warehouse", warehouse).stdout)
    assert [("red", 1)] == [(row["cluster"], row["moved_bytes"]) for row in red["classes"]]


def test_what_cannot_be_made(iomine, warehouse, warehouse_of, tmp_path) -> None:
    """Nothing to work on, shares that are none, a folder that cannot be written: a sentence each."""
    for cover in ("0", "1.1", "nan"):
        wrong = iomine("workload", "--cover", cover, "--warehouse", warehouse)
        assert (2, True) == (wrong.exit_code, "name a share above 0 and at most 1" in wrong.stderr)
    nothing = iomine("workload", "--since", "2030-01-01", "--warehouse", warehouse)
    assert (0, "", True) == (nothing.exit_code, nothing.stdout, nothing.stderr.startswith("There is no workload"))
    unknown = iomine("workload", "--cluster", "blu", "--warehouse", warehouse)
    assert (2, "There is no cluster blu: did you mean blue?\n") == (unknown.exit_code, unknown.stderr)
    (tmp_path / "file").touch()
    answer = iomine("workload", "--replay", tmp_path / "file", "--warehouse", warehouse)
    assert 1 == answer.exit_code
    assert f"{tmp_path / 'file'} cannot be written (File exists): name another folder with --replay." in answer.stderr


def test_nothing_that_has_a_line(iomine, warehouse_of, tmp_path) -> None:
    """Streams alone make no script, and are said."""
    warehouse = warehouse_of(phase_class=[_class("a" * 16, 1, layer="stdio", ior_options=None, replay_reason="No such layer.")])
    answer = iomine("workload", "--replay", tmp_path / "scripts", "--warehouse", warehouse)
    assert 0 == answer.exit_code
    assert [
        "No line of IOR holds any of the bytes.",
        "No line for 100.0%: STDIO writes, shared files, single. No such layer.",
    ] == [line for line in answer.stdout.splitlines() if line]
    assert not (tmp_path / "scripts").exists()


@pytest.mark.skipif(not workloads(), reason="../shared/data is not here")
def test_one_program_on_two_storages_is_one_workload(iomine, warehouse_of) -> None:
    """s107 and s112 are BT-IO of class A on 16 ranks: their writes are one class and their reads another, and hold all bytes."""
    rows = []
    for number, begin in enumerate(("s107", "s112"), 1):
        path = log_of(next(row for row in workloads() if row["id"].startswith(begin)))
        rows += assembled("phase_class", [(str(number) * 16, class_columns(model_of(read_log(path))))]).to_pylist()
    moved = {op: sum(row["moved_bytes"] for row in rows if row["op"] == op) for op in ("read", "write")}
    answer = iomine("workload", "--cover", "0.99", "--json", "--warehouse", warehouse_of(phase_class=rows))
    classes = json.loads(answer.stdout)["classes"]
    assert moved == {row["op"]: row["moved_bytes"] for row in classes}
    assert [2, 2] == [row["log_count"] for row in classes]
