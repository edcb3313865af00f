"""`iomine predict`."""

import datetime as dt
import json
import re
from pathlib import Path
from typing import Any

import pytest

LOG = "abcd000000000001"
AT = dt.datetime(2024, 4, 18, 1, tzinfo=dt.UTC)


def _class(number: int, **values: Any) -> dict[str, Any]:
    usual = {
        "log_id": LOG,
        "phase_class": number,
        "layer": "posix",
        "op": "read",
        "access": "own",
        "is_collective": False,
        "rank_count": 4,
        "request_bytes": 1024,
        "block_bytes": 1024,
        "moved_bytes": 65536,
        "weight_ratio": 0.5,
        "is_relevant": True,
        "rank_call_seconds": 2.0,
        "rank_wait_seconds": 0.0,
        "rank_exchange_seconds": 0.0,
        "file_id": 1,
        "ior_options": "-a POSIX -F -b 16384 -t 1024 -s 1 -i 1 -r",
    }
    return usual | values


def _run(system: str, seconds: float, **values: Any) -> dict[str, Any]:
    usual = {
        "system": system,
        "output_path": f"/ior/{system}",
        "test": 0,
        "api": "POSIX",
        "nprocs": 4,
        "ior_block_bytes": 1024,
        "ior_transfer_bytes": 1024,
        "is_shared": False,
        "op": "read",
        "repetition": 0,
        "moved_bytes": 65536,
        "start_at": AT,
    }
    return usual | {"data_seconds": seconds} | values


@pytest.fixture(scope="module")
def warehouse(warehouse_of) -> Path:
    """A log that reads, and IOR's reads on three systems; and a job that has no logs."""
    return warehouse_of(
        log=[{"log_id": LOG, "job_id": "7", "lineage_id": "l", "start_at": AT}],
        job=[{"job_id": "8"}],
        phase_class=[_class(1)],
        file_name=[{"log_id": LOG, "file_id": 1, "path": "/fast/x", "mount": "/fast"}],
        ior_run=[
            _run("fast", 1.0, test_path="/fast/ior"),
            _run("slow", 4.0),
            _run("like fast", 1.05),
            _run("small", 1.0, ior_transfer_bytes=16),
        ],
    )


def test_systems_come_by_their_time(iomine, warehouse) -> None:
    """The fastest is first, what its interval meets is not told apart, and what IOR did not measure is last."""
    answer = json.loads(iomine("predict", LOG, "--on", "all", "--json", "--warehouse", warehouse).stdout)
    found = [(row["system"], row["predicted_seconds"], row["difference"]) for row in answer["predictions"]]
    assert [("fast", 1.0, "fastest"), ("like fast", 1.05, "none"), ("slow", 4.0, "slower"), ("small", None, "unknown")] == found
    first = answer["predictions"][0]
    assert (2.0, -0.5) == (first["measured_seconds"], first["prediction_error_ratio"])
    assert (0.95, 1.05) == (first["least_predicted_seconds"], first["most_predicted_seconds"])
    assert [None] * 3 == [row["measured_seconds"] for row in answer["predictions"][1:]]


def test_what_is_unknown_comes_with_iors_line(iomine, warehouse) -> None:
    """The line is printed as it is to be run, and is that of the model."""
    answer = iomine("predict", "7", "--on", "small", "--warehouse", warehouse)
    assert 0 == answer.exit_code
    line = "mpiexec -n 4 ior -a POSIX -F -b 16384 -t 1024 -s 1 -i 1 -r"
    assert line in answer.stdout.splitlines()
    assert line in iomine("model", "7", "--warehouse", warehouse).stdout.splitlines()
    assert "difference" not in answer.stdout


def test_one_system_is_shown_alone(iomine, warehouse) -> None:
    """Columns of which nothing is known are left out of the table."""
    answer = iomine("predict", LOG, "--on", "slow", "--warehouse", warehouse)
    assert " slow " in answer.stdout
    assert "mpiexec" not in answer.stdout
    assert not {"fast", "measured_seconds", "calibration_ratio"} & set(answer.stdout.split())


def test_what_cannot_be_predicted(iomine, warehouse, warehouse_of) -> None:
    """A system that IOR has not measured, a job without logs, and a warehouse without IOR."""
    wrong = iomine("predict", LOG, "--on", "fas", "--warehouse", warehouse)
    assert (2, True) == (wrong.exit_code, "it has measured fast, like fast, slow, small" in wrong.stderr)
    nothing = iomine("predict", "8", "--on", "all", "--warehouse", warehouse)
    assert (0, "There is nothing to predict: no log has an I/O model.\n") == (nothing.exit_code, nothing.stderr)
    without = iomine("predict", LOG, "--on", "all", "--warehouse", warehouse_of(log=[{"log_id": LOG}]))
    assert "IOR has measured no system" in without.stderr


def test_names_of_systems_steer_nothing(iomine, warehouse_of) -> None:
    """A folder's name stays a name: in tables, in JSON, above IOR's line, and where another system was asked for."""
    hostile = "a'b\";\n\x1b[31m$(touch pwned) `x` <b>\u202e"
    warehouse = warehouse_of(
        log=[{"log_id": LOG, "start_at": AT}], phase_class=[_class(1)], ior_run=[_run(hostile, 1.0, ior_transfer_bytes=16)]
    )
    shown = [iomine("predict", LOG, "--on", on, "--warehouse", warehouse) for on in (hostile, "all", "other")]
    assert [0, 0, 2] == [answer.exit_code for answer in shown]
    for answer in shown:
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", answer.output)
        assert not any(line.startswith(("$", "`", "\x1b")) for line in answer.output.splitlines())
    answer = json.loads(iomine("predict", LOG, "--on", hostile, "--json", "--warehouse", warehouse).stdout)
    assert {hostile} == {row["system"] for row in answer["classes"]}
