"""`iomine status`."""

import datetime as dt
import json
from pathlib import Path

import pytest
from rich.text import Text

from iomine.cli.status import command
from iomine.pipeline.packing import pack

START = dt.datetime(2024, 4, 19, 2, 0, tzinfo=dt.UTC)


def _reject(path: str, reason: str) -> dict[str, object]:
    return {"path": path, "stage": "read", "reason": reason, "is_final": True, "at": START}


@pytest.fixture(scope="module")
def swept(warehouse_of) -> Path:
    """A warehouse after seven sweeps, two logs and three rejects."""
    sweep = {"cluster": "blue", "found_count": 5, "ingested_count": 2, "known_count": 0, "rejected_count": 3}
    return warehouse_of(
        log=[{"log_id": "a1", "path": "/packed/logs-000.tar#x.darshan"}, {"log_id": "a2", "night": dt.date(2024, 4, 20)}],
        verdict=[{"log_id": "a1", "ruleset": "iomine", "code": "POSIX-101", "level": "high", "state": "fired"}],
        reject=[
            _reject("/logs/x", "It is cut short."),
            _reject("/logs/y", "It is cut short."),
            _reject("/logs/\x1b[2J", "It is empty."),
        ],
        failed_derivation=[{"log_id": "a1", "derivation": "phase", "error": "ValueError: odd \x1b[2J"}],
        sweep=[sweep | {"sweep_id": f"s{n}", "start_at": START + dt.timedelta(days=n)} for n in range(7)],
    )


def test_status_for_machines(iomine, swept: Path) -> None:
    """JSON has the counts, the last five sweeps with the newest first, and rejects grouped by reason."""
    status = json.loads(iomine("status", "--json", "--warehouse", swept).stdout)
    expected = {
        "log_count": 2,
        "packed_count": 1,
        "night_count": 2,
        "first_night": "2024-04-18",
        "last_night": "2024-04-20",
        "finding_count": 1,
        "reject_count": 3,
        "failed_count": 1,
    }
    assert expected == status["holds"]
    assert [sweep["sweep_id"] for sweep in status["sweeps"]] == ["s6", "s5", "s4", "s3", "s2"]
    assert [(group["reject_count"], group["reason"]) for group in status["rejects"]] == [
        (2, "It is cut short."),
        (1, "It is empty."),
    ]
    failed = {"failed_count": 1, "derivation": "phase", "error": "ValueError: odd \x1b[2J", "example_log_id": "a1"}
    assert [failed] == status["failed"]


def test_status_for_people(iomine, swept: Path) -> None:
    """People get a sentence and two tables, in which no path can steer the terminal."""
    answer = iomine("status", "--warehouse", swept)
    assert answer.exit_code == 0
    sentence = "holds 2 logs of 2 nights (2024-04-18 to 2024-04-20), 1 finding and 3 rejects."
    assert [
        part
        for part in (
            sentence,
            "Last sweeps",
            "s6",
            "It is cut short.",
            "1 derivation of its logs failed.",
            "ValueError: odd",
            "\\x1b[2J",
        )
        if part not in answer.stdout
    ] == []
    assert "\x1b" not in answer.stdout


def test_narrow_terminal_shows_what_sweeps_found(terminal, swept: Path) -> None:
    """80 columns have each sweep's machine, time and counts; what does not fit is named, with the option that has it."""
    capsys = terminal(80)
    command(as_json=False, warehouse=swept)
    shown = capsys.readouterr()
    head = next(line for line in Text.from_ansi(shown.out).plain.splitlines() if line.startswith("cluster "))
    assert ["cluster", "start_at", "found_count", "ingested_count", "rejected_count"] == head.split()
    assert "sweep_id, end_at, known_count. --json has them." in shown.err


def test_status_of_nothing(iomine, warehouse: Path) -> None:
    """A fresh warehouse has no sweeps and no rejects, and says so."""
    answer = iomine("status", "--warehouse", warehouse)
    assert [
        part for part in ("holds 0 logs of 0 nights, ", "Last sweeps: none", "reason: none") if part not in answer.stdout
    ] == []


def test_status_shows_what_is_kept_for_a_time(iomine, swept: Path) -> None:
    """Where the site has set days, there is the first night of each such table, counted back from the newest."""
    assert json.loads(iomine("status", "--json", "--warehouse", swept).stdout)["kept"] == []
    (swept / "retention.toml").write_text("[days]\nsegment = 2\nmount = 0\n")
    kept = [{"table_name": "segment", "cluster": "blue", "first_night": "2024-04-19"}]
    assert json.loads(iomine("status", "--json", "--warehouse", swept).stdout)["kept"] == kept
    assert "2024-04-19" in iomine("status", "--warehouse", swept).stdout.partition("by sweeps from")[2]


def test_status_counts_packed_logs(iomine, swept: Path, tmp_path: Path) -> None:
    """Those that were read from archives, and those in the archive into which the site has old logs packed."""
    assert "1 of its logs was read from an archive." in iomine("status", "--warehouse", swept).stdout.splitlines()
    assert json.loads(iomine("status", "--json", "--warehouse", swept).stdout)["archive"] is None
    (tmp_path / "logs").mkdir()
    for k in range(3):
        (tmp_path / f"logs/{k}.darshan").write_bytes(bytes([k]))
    pack([tmp_path / "logs"], tmp_path / "old")
    (swept / "retention.toml").write_text(f'[pack]\nafter_days = 2\ninto = "{tmp_path}/old"\n')
    archive = {"path": f"{tmp_path}/old", "log_count": 3}
    assert archive == json.loads(iomine("status", "--json", "--warehouse", swept).stdout)["archive"]
    assert f"{tmp_path}/old has 3 packed logs." in " ".join(iomine("status", "--warehouse", swept).stdout.split())
    (tmp_path / "old/index.parquet").write_bytes(b"none")
    assert json.loads(iomine("status", "--json", "--warehouse", swept).stdout)["archive"] == archive | {"log_count": None}


def test_status_refuses_days_that_are_not_fit(iomine, swept: Path) -> None:
    """As a sweep would, in one sentence."""
    (swept / "retention.toml").write_text("[days]\nsegmant = 2\n")
    answer = iomine("status", "--warehouse", swept)
    assert answer.exit_code == 2
    assert "retention.toml: There is no table segmant: did you mean segment?" in " ".join(answer.stderr.split())
