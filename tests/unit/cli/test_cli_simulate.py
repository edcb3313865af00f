"""`iomine simulate` on the command line."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

Run = Callable[..., Result]


def test_a_facility_is_summed_up(iomine: Run, tmp_path: Path) -> None:
    """The summary counts logs by archetype and names incidents, on stdout; the next step is printed on stderr."""
    out = tmp_path / "my facility"
    answer = iomine("simulate", out, "--logs", "12", "--days", "1", "--workers", "1", "--start", "2026-03-01")
    assert 0 == answer.exit_code
    first, *others = answer.stdout.splitlines()
    assert first.startswith("12 logs of ")
    counts = [line.split() for line in others if "incident" not in line]
    assert 12 == sum(int(count) for count, _ in counts)
    assert ["degraded_link", "hot_ost", "metadata_storm"] == sorted(
        line.split()[1] for line in others if "incident" in line and line.split()[1] not in {"regression", "advice_followed"}
    )
    # As a shell takes it.
    (line,) = (line for line in answer.stderr.splitlines() if line.startswith("Next: "))
    stats = [word for name in ("lustre", "slurm", "fabric") for word in ("--stats", str(out / name))]
    assert ["iomine", "sweep", str(out / "darshan"), *stats, "--cluster", "default"] == shlex.split(line.removeprefix("Next: "))
    assert (out / "darshan" / "2026" / "3" / "1").is_dir()


def test_misuse_is_one_sentence(iomine: Run, tmp_path: Path) -> None:
    """A folder with something in it, and a machine's name that cannot be one, exit with 2 and touch nothing."""
    (tmp_path / "mine").write_text("mine")
    for arguments in ((tmp_path,), (tmp_path / "out", "--cluster", "a/b")):
        answer = iomine("simulate", *arguments)
        assert 2 == answer.exit_code
        assert 1 == len(answer.stderr.strip().splitlines())
    assert ["mine"] == [path.name for path in tmp_path.iterdir()]


def test_an_archetype_is_set_up_by_name(iomine: Run, tmp_path: Path) -> None:
    """Numbers and sizes with units are taken, and what is neither is one sentence with exit 2."""
    few = ("--logs", "3", "--days", "1", "--workers", "1", "--archetype", "trace_flush")
    answer = iomine("simulate", tmp_path / "out", *few, "--set", "nprocs=32", "--set", "rank_bytes=8MiB", "--set", "flushes=2")
    assert 0 == answer.exit_code
    logs = [json.loads(line) for line in (tmp_path / "out" / "truth" / "logs.jsonl").read_text().splitlines()]
    assert {(32, 32 * 8)} == {(log["nprocs"], log["write_bytes"] >> 20) for log in logs if log["archetype"] == "trace_flush"}
    for wrong in ("nprocs", "nprocs=", "nprocs=4MiB", "rank_bytes=nan", "rank_bytes=-4", "flushes=1e3", "flushes=inf", "=4"):
        answer = iomine("simulate", tmp_path / "no", *few, "--set", wrong)
        assert 2 == answer.exit_code
        assert 1 == len(answer.stderr.strip().splitlines())
    assert not (tmp_path / "no").exists()
