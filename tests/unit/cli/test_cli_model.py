"""`iomine model`."""

import json
import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

LOG = "abcd000000000001"
HOSTILE = "/scratch/x\n$(touch owned) `touch owned` \"'\x1b[2J"
READ = "-a POSIX -C -Q 3 -b 8 -t 8 -s 1 -i 5 -d 2 -r"
# Stand for programs that are not here: each notes its name and arguments.
FAKE = '#!/bin/sh\nfor word in "${0##*/}" "$@"; do printf "%s\\n" "$word"; done >> "$NOTES"\necho end >> "$NOTES"\n'


def _class(number: int, **values: Any) -> dict[str, Any]:
    usual = {
        "log_id": LOG, "phase_class": number, "layer": "mpiio", "op": "write", "access": "shared", "request_order": "single",
        "phase_count": 50, "rank_count": 16, "requests_per_rank": 1, "request_bytes": 655_360, "moved_bytes": 524_288_000,
        "weight_ratio": 0.5, "is_relevant": True, "file_id": 1, "largest_path": HOSTILE, "replay_fidelity": "bytes",
        "replay_reason": "the program has a file view", "ior_options": "-a MPIIO -c -b 655360 -t 655360 -s 50 -i 1 -w",
    }  # fmt: skip
    return usual | values


@pytest.fixture(scope="module")
def warehouse(warehouse_of) -> Path:
    """A log that writes and reads a file on Lustre, and one without a model."""
    component = {"log_id": LOG, "file_id": 1, "rank": -1, "component": 0, "stripe_count": 4, "stripe_bytes": 1 << 20}
    return warehouse_of(
        log=[{"log_id": LOG, "job_id": "7"}, {"log_id": "b" * 16, "job_id": "8"}],
        phase_class=[
            _class(1),
            _class(
                2,
                op="read",
                replay_fidelity="exact",
                replay_reason=None,
                ior_options="-a POSIX -C -Q 3 -b 8 -t 8 -s 1 -i 5 -d 2 -r",
            ),
            _class(3, layer="stdio", ior_options=None, replay_fidelity=None, replay_reason="IOR has no such layer."),
            _class(4, is_relevant=False),
        ],
        lustre_component=[component],
    )


def test_classes_come_with_their_lines(iomine, warehouse) -> None:
    """What each class does, and how IOR replays it; a name in it cannot steer the terminal."""
    answer = iomine("model", LOG, "--warehouse", warehouse)
    assert 0 == answer.exit_code
    assert "mpiexec -n 16 ior -a MPIIO -c -b 655360 -t 655360 -s 50 -i 1 -w\n" in answer.stdout
    assert f"# {LOG} class 2: exact\n" in answer.stdout
    assert f"# {LOG} class 3: no line (IOR has no such layer.)\n" in answer.stdout
    assert "\x1b" not in answer.stdout


def test_json_has_all_classes(iomine, warehouse) -> None:
    """Each with the stripes of its file."""
    classes = json.loads(iomine("model", "7", "--json", "--warehouse", warehouse).stdout)["classes"]
    assert [1, 2, 3, 4] == [row["phase_class"] for row in classes]
    assert (4, 1 << 20, 50) == tuple(classes[0][name] for name in ("stripe_count", "stripe_bytes", "phase_count"))


def test_a_log_without_a_model_is_said(iomine, warehouse) -> None:
    """It is no failure."""
    answer = iomine("model", "8", "--warehouse", warehouse)
    assert (0, "") == (answer.exit_code, answer.stdout)
    assert answer.stderr.startswith("8 has no I/O model")


def test_a_script_runs_and_writes_below_its_folder_only(iomine, warehouse, tmp_path) -> None:
    """Bash takes it, names in it run nothing, and reads find what was written for them."""
    answer = iomine("model", LOG, "--replay", tmp_path / "scripts", "--warehouse", warehouse)
    script = tmp_path / "scripts" / f"{LOG}.sh"
    assert answer.stdout.endswith(f"{script}\n")
    assert script.stat().st_mode & stat.S_IXUSR
    run = tmp_path / "run"
    for name in ("mpiexec", "lfs"):
        fake = run / "bin" / name
        fake.parent.mkdir(parents=True, exist_ok=True)
        fake.write_text(FAKE)
        fake.chmod(0o755)
    notes, ior = run / "notes", run / "a folder"
    path = {"PATH": f"{run / 'bin'}:{os.environ['PATH']}", "NOTES": str(notes)}

    without = subprocess.run([script], env=path, cwd=run, capture_output=True, text=True, check=False)
    assert without.returncode != 0
    assert "Set IOR_DIR" in without.stderr
    subprocess.run([script], env=path | {"IOR_DIR": str(ior)}, cwd=run, check=True)

    assert {"a folder", "bin", "notes"} == {each.name for each in run.iterdir()}
    assert [] == list(ior.iterdir())
    runs = [note.split("\n") for note in notes.read_text().strip().removesuffix("end").split("\nend\n")]
    data, stripes = f"{ior}/class-2/data", ["lfs", "setstripe", "-c", "4", "-S", "1048576"]
    assert stripes == runs[0][:6]
    assert ["mpiexec", "lfs", "mpiexec", "mpiexec"] == [run[0] for run in runs[1:]]
    written = ["mpiexec", "-n", "16", "ior", "-a", "POSIX", "-b", "8", "-t", "8", "-s", "1", "-w", "-k", "-o", data]
    assert written == runs[3][: len(written)]
    read = ["-r", "-k", "-o", data, "-O", f"summaryFormat=JSON,summaryFile={ior}/class-2.json"]
    assert read == [word for word in runs[4] if word][-len(read) :]


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="ShellCheck is not installed.")
def test_shellcheck_finds_nothing(iomine, warehouse, tmp_path) -> None:
    """Nor does who reads it."""
    iomine("model", LOG, "--replay", tmp_path, "--warehouse", warehouse)
    subprocess.run(["shellcheck", tmp_path / f"{LOG}.sh"], check=True)


def test_a_folder_that_cannot_be_written_is_an_error(iomine, warehouse, tmp_path) -> None:
    """One sentence names it."""
    (tmp_path / "file").touch()
    answer = iomine("model", LOG, "--replay", tmp_path / "file", "--warehouse", warehouse)
    assert 1 == answer.exit_code
    assert f"{tmp_path / 'file'} cannot be written (File exists): name another folder with --replay." in answer.stderr
