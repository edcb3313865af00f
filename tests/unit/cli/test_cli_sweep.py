"""`iomine sweep` in the hands of people: what cannot be done is one sentence, and the exit status says what kind."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from shared import darshan_rows
from sweeping import BY_ONE, IOMINE, column, rows, state

from iomine.lake import Warehouse
from iomine.pipeline.sweep import Settings, run
from iomine.report.facts import Place
from iomine.report.write import write_reports
from iomine.views.query import Limits, answer_own, open_catalog

_SOME_REPORTS: Final = """
SELECT cluster, night, log_id
FROM (SELECT DISTINCT cluster, night, log_id FROM findings)
QUALIFY row_number() OVER (ORDER BY log_id) % 4 = 0
"""

Finished = subprocess.CompletedProcess[str]


def sentence(result) -> str:
    """All that was said, which must be one line."""
    (line,) = result.stderr.splitlines()
    return line


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return tmp_path / "warehouse"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


def test_a_missing_path_is_misuse(iomine, warehouse, logs):
    """Nothing is begun, the warehouse not even made."""
    result = iomine("sweep", logs, logs / "nowhere", "--warehouse", warehouse)

    assert 2 == result.exit_code
    assert f"There is no {logs}/nowhere: name folders or files that exist." == sentence(result)
    assert not warehouse.exists()


@pytest.mark.parametrize("name", ["../x", "a/b", "", "x y"])
def test_a_cluster_has_a_name_that_can_be_a_folders(iomine, warehouse, logs, name):
    """Anything else is misuse, reported before any work."""
    result = iomine("sweep", logs, "--warehouse", warehouse, "--cluster", name)

    assert 2 == result.exit_code
    assert f"{name!r} is not a valid cluster name: use letters, digits, dots, dashes and underscores." == sentence(result)


def test_no_workers_are_misuse(iomine, warehouse, logs):
    """A sweep needs at least one."""
    result = iomine("sweep", logs, "--warehouse", warehouse, "--workers", "0")

    assert 2 == result.exit_code
    assert "'--workers'" in result.stderr


def test_a_warehouse_that_is_a_file_is_refused(iomine, tmp_path, logs):
    """The sentence says what to give instead."""
    (tmp_path / "file").touch()
    result = iomine("sweep", logs, "--warehouse", tmp_path / "file")

    assert 1 == result.exit_code
    assert f"{tmp_path}/file is a file, not a warehouse: give a folder with --warehouse." == sentence(result)


def test_a_second_sweep_is_refused_at_once(iomine, warehouse, logs):
    """Before any work, with the name of the holder."""
    with Warehouse(warehouse).locked():
        result = iomine("sweep", logs, "--warehouse", warehouse)

    assert 1 == result.exit_code
    assert sentence(result).startswith(
        f"Another sweep is writing to {warehouse} (process {os.getpid()} on {socket.gethostname()}"
    )
    assert not (warehouse / "lake").exists()


@pytest.mark.parametrize("address", ["nonsense", "foo://head:8786"])
def test_an_address_that_is_none_is_misuse(iomine, warehouse, logs, address):
    """One sentence that names it, at once."""
    result = iomine("sweep", logs, "--warehouse", warehouse, "--scheduler", address)

    assert 2 == result.exit_code
    assert f"No Dask scheduler answers at {address}: start one, or leave --scheduler out." == sentence(result)


def test_slurm_without_settings_is_misuse(iomine, warehouse, logs):
    """The sentence says where to get them."""
    result = iomine("sweep", logs, "--warehouse", warehouse, "--slurm")

    assert 2 == result.exit_code
    assert sentence(result).startswith(f"There is no {warehouse}/slurm.toml: copy deploy/slurm/slurm.toml there")


def test_slurm_and_workers_of_its_own_are_misuse(iomine, warehouse, logs):
    """One or the other."""
    result = iomine("sweep", logs, "--warehouse", warehouse, "--slurm", "--workers", "2")

    assert 2 == result.exit_code
    assert "With --slurm the workers are jobs as slurm.toml describes them: leave --workers out." == sentence(result)


# What needs a process of its own: other rights, a whole disk, Prefect.


def command(*arguments: object, before: tuple[str, ...] = ()) -> Finished:
    whole = [*before, *IOMINE, "sweep", *map(str, arguments)]
    return subprocess.run(whole, check=False, capture_output=True, encoding="utf-8")


@pytest.fixture
def ordinary() -> tuple[str, ...]:
    """What makes a command that of somebody who may open only what the mode of a file allows; root may open all."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("root without setpriv cannot give up its rights")
    given_up = "-dac_override,-dac_read_search"
    return ("setpriv", f"--bounding-set={given_up}", f"--inh-caps={given_up}", "--")


@pytest.fixture
def closed(logs: Path) -> Iterator[Callable[[Path], None]]:
    """Takes everybody's rights to a file or folder, until the test is over."""
    taken: list[Path] = []

    def close(path: Path) -> None:
        path.chmod(0)
        taken.append(path)

    yield close
    for path in taken:
        path.chmod(0o755)


def test_a_folder_that_is_closed_is_reported(ordinary, warehouse, logs, closed):
    """A path that was given and cannot be opened ends the command."""
    closed(logs)
    result = command(logs, "--warehouse", warehouse, before=ordinary)

    assert 1 == result.returncode
    assert f"{logs} cannot be opened: ask its owner for permission to read it." == sentence(result)


def test_a_path_below_a_closed_folder_is_reported(ordinary, warehouse, logs, closed):
    """Whether it exists cannot be known; the sentence says so."""
    (logs / "in").mkdir()
    closed(logs)
    result = command(logs / "in", "--warehouse", warehouse, before=ordinary)

    assert 1 == result.returncode
    assert f"{logs}/in cannot be examined: Permission denied." == sentence(result)


def test_a_warehouse_that_cannot_be_written_to_is_reported(ordinary, warehouse, logs):
    """Another user's warehouse is refused before any work."""
    warehouse.mkdir(mode=0o555)
    result = command(logs, "--warehouse", warehouse, before=ordinary)

    assert 1 == result.returncode
    assert f"The warehouse {warehouse} cannot be written to: ask its owner, or give another with --warehouse." == sentence(result)


@pytest.mark.proof
def test_what_is_closed_further_down_is_rejected(ordinary, warehouse, logs, closed, shared_data):
    """A folder and a file that cannot be opened are rejects with their reason; the logs beside them are read."""
    shutil.copy(shared_data / "darshan" / "codes" / "ior-uniq.darshan", logs / "good.darshan")
    (logs / "file.darshan").touch()
    (logs / "folder").mkdir()
    closed(logs / "file.darshan")
    closed(logs / "folder")
    result = command(logs, "--warehouse", warehouse, "--json", before=ordinary)

    assert 3 == result.returncode, result.stderr
    reported = json.loads(result.stdout)
    assert [3, 1, 0, 2] == [reported[key] for key in ("found", "ingested", "known", "rejected")]
    expected = [
        {"path": str(logs / "file.darshan"), "stage": "identify", "reason": "The file cannot be read: Permission denied."},
        {"path": str(logs / "folder"), "stage": "find", "reason": "The folder cannot be opened: Permission denied."},
    ]
    assert expected == rows(warehouse, "SELECT path, stage, reason FROM rejects ORDER BY path")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """A disk of its own that can be made larger."""
    disk = tmp_path / "disk"
    disk.mkdir()

    def sized(size: str, option: str = "size={}") -> Path:
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", option.format(size), "none", disk], check=False, capture_output=True)
        if done.returncode:
            pytest.skip("only root mounts disks, and not everywhere")
        return disk

    yield sized
    subprocess.run(["umount", disk], check=False, capture_output=True)


@pytest.mark.proof
def test_a_full_disk_is_reported_and_harms_nothing(small_disk, shared_data):
    """The sentence names the disk; what was published stays as it was, and with more room the next sweep does all the work."""
    logs = shared_data / "darshan"
    warehouse = small_disk("9m") / "warehouse"
    run(Settings((logs / "codes",), warehouse, workers=1))
    before = state(warehouse)
    result = command(logs / "codes", logs / "darshan-logs", "--warehouse", warehouse, "--workers", 1)

    assert 1 == result.returncode
    *bars, reported = result.stderr.splitlines()
    assert reported.startswith(f"The disk that holds {warehouse}")
    assert reported.endswith(" is full: free some space and try again, what was published stays.")
    assert all("━" in line for line in bars)
    assert before == state(warehouse)

    small_disk("100m", "remount,size={}")
    run(Settings((logs / "codes", logs / "darshan-logs"), warehouse, workers=1))
    assert [60] == column(warehouse, "SELECT count(*) FROM logs")


def test_no_real_log_is_lost(real_sweep, shared_data):
    """Found is ingested and known and rejected, as files of the folder and rows of the warehouse; rejects make the status 3."""
    warehouse, result = real_sweep
    reported = json.loads(result.stdout)
    files = [path for path in (shared_data / "darshan").rglob("*") if ".darshan" in path.name or path.suffix == ".gz"]

    assert 3 == result.returncode, result.stderr
    assert [381, 378, 0, 3] == [reported[key] for key in ("found", "ingested", "known", "rejected")]
    assert len(files) == reported["found"]
    assert [378] == column(warehouse, "SELECT count(*) FROM logs WHERE cluster = 'open'")
    assert [] == rows(warehouse, "SELECT path, derivation, error FROM failed_derivations")
    reasons = rows(warehouse, "SELECT reason, count(*) AS n FROM rejects GROUP BY reason")
    assert {row["reason"]: row["n"] for row in reasons} == reported["reasons"]
    assert 3 == sum(reported["reasons"].values())
    assert all(len(reason) > 20 and reason.endswith(".") for reason in reported["reasons"])


def test_reports_say_what_the_published_views_say(real_sweep, tmp_path):
    """Sweeps ask views that hold their logs alone; asked of all logs, each question answers the same to the bit."""
    warehouse, _ = real_sweep
    places = [Place(**row) for row in rows(warehouse, _SOME_REPORTS)]
    # Several threads would add up some numbers in another order.
    with open_catalog(warehouse / "iomine.duckdb", Limits(threads=1)) as con:
        written = list(write_reports(partial(answer_own, con), places, tmp_path))

    assert len(written) >= 20
    assert [] == [each.fault for each in written if each.fault]
    for file in tmp_path.iterdir():
        assert file.read_bytes() == (warehouse / "reports" / file.name).read_bytes(), file.name


def test_every_log_that_pydarshan_reads_is_ingested(real_sweep):
    """Those that it reads right, and those in which it reads something wrong without a word."""
    warehouse, _ = real_sweep
    read = {
        row["sha256"][:16] for row in darshan_rows() if row["pydarshan_3_5_0"] == "ok" or "silently" in row["pydarshan_3_5_0"]
    }

    assert len(read) > 300
    assert set() == read - set(column(warehouse, "SELECT log_id FROM logs"))


@pytest.mark.proof
def test_a_folder_without_logs_is_reported_and_no_failure(tmp_path, logs):
    """Status 0, zeros on stdout, a sentence that says what logs are called, and the next command as a shell takes it."""
    (logs / "notes.txt").touch()
    warehouse = tmp_path / "my warehouse"
    result = command(logs, "--warehouse", warehouse)

    assert (0, "0 found = 0 ingested + 0 known + 0 rejected") == (result.returncode, result.stdout.partition(", in")[0])
    assert (
        "Nothing here looks like a log: names contain .darshan, end in .gz, .pfw or .otf2, or are _metadata or recorder.mt."
        in result.stderr.splitlines()
    )
    assert result.stderr.splitlines()[-1] == f"Next: iomine worst --warehouse '{warehouse}'"


@pytest.mark.proof
def test_more_paths_than_prefect_takes_are_swept(warehouse, logs):
    """A shell's list of thousands of files, some of whose names are no text, is no hindrance."""
    names = [f"{'x' * 80}{number:05}.darshan" for number in range(5000)] + [os.fsdecode(b"bad\xff.darshan")]
    for name in names:
        (logs / name).touch()
    result = command(*(logs / name for name in names), "--warehouse", warehouse)

    assert 3 == result.returncode, result.stderr
    assert result.stdout.startswith("5,001 found = 0 ingested + 0 known + 5,001 rejected")


@pytest.mark.proof
def test_a_sweep_needs_no_prefect_where_there_is_no_api(warehouse, shared_data, tmp_path):
    """Prefect takes seconds to import, so nothing of it is."""
    said = "print('prefect' in sys.modules, file=sys.stderr)"
    script = f"{BY_ONE}\nimport sys\nfrom iomine.cli import main\ntry: main()\nfinally: {said}"
    elsewhere = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    result = subprocess.run(
        [sys.executable, "-c", script, "sweep", shared_data / "darshan" / "codes", "--warehouse", warehouse, "--workers", "1"],
        env=elsewhere | {"PREFECT_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == result.returncode, result.stderr
    assert "False" == result.stderr.splitlines()[-1]


def test_a_sweep_that_is_to_notify_nobody_is_not_begun(iomine, tmp_path: Path) -> None:
    """Settings that are missing are reported before anything is read."""
    done = iomine("sweep", "--stats", tmp_path, "--notify", "--warehouse", tmp_path / "warehouse")
    assert 2 == done.exit_code
    assert "set thresholds below [notices] in digest.toml" in " ".join(done.stderr.split())
    assert not (tmp_path / "warehouse" / "iomine.duckdb").exists()
