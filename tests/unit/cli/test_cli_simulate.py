"""`iomine simulate` on the command line."""

from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

Run = Callable[..., Result]


def test_a_facility_is_summed_up(iomine: Run, tmp_path: Path) -> None:
    """The summary counts logs by archetype and names incidents, on stdout; the next step is printed on stderr."""
    answer = iomine("simulate", tmp_path / "out", "--logs", "12", "--days", "1", "--workers", "1", "--start", "2026-03-01")
    assert 0 == answer.exit_code
    first, *others = answer.stdout.splitlines()
    assert first.startswith("12 logs of ")
    counts = [line.split() for line in others if "incident" not in line]
    assert 12 == sum(int(count) for count, _ in counts)
    assert ["degraded_link", "hot_ost", "metadata_storm"] == sorted(
        line.split()[1] for line in others if "incident" in line and line.split()[1] not in {"regression", "advice_followed"}
    )
    assert "Next: iomine sweep" in answer.stderr
    assert (tmp_path / "out" / "darshan" / "2026" / "3" / "1").is_dir()


def test_misuse_is_one_sentence(iomine: Run, tmp_path: Path) -> None:
    """A folder with something in it, and a machine's name that cannot be one, exit with 2 and touch nothing."""
    (tmp_path / "mine").write_text("mine")
    for arguments in ((tmp_path,), (tmp_path / "out", "--cluster", "a/b")):
        answer = iomine("simulate", *arguments)
        assert 2 == answer.exit_code
        assert 1 == len(answer.stderr.strip().splitlines())
    assert ["mine"] == [path.name for path in tmp_path.iterdir()]
