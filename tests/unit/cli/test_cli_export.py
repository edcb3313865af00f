"""`iomine export` in the hands of people; what it copies is tested beside the pipeline, and hostile input beside this."""

from pathlib import Path

import pytest


def test_a_key_that_is_no_secret_is_misuse(iomine, warehouse: Path, tmp_path: Path) -> None:
    """A key that others can read ends the command before anything is written, in one sentence that says what to do."""
    key = tmp_path / "key"
    key.write_bytes(bytes(32))
    key.chmod(0o644)
    answer = iomine("export", tmp_path / "out", "--anonymise", key, "--warehouse", warehouse)
    expected = f"The key {key} can be read by others than its owner: make another, or run `chmod 600` if nobody has read it.\n"
    assert (2, expected, "") == (answer.exit_code, answer.stderr, answer.stdout)
    assert not (tmp_path / "out").exists()


def test_where_there_is_no_warehouse(iomine, tmp_path: Path) -> None:
    """An export needs a warehouse that was swept."""
    answer = iomine("export", tmp_path / "out", "--warehouse", tmp_path / "none")
    expected = f"There is no warehouse at {tmp_path}/none: run `iomine sweep` first, or name another with --warehouse.\n"
    assert (1, expected) == (answer.exit_code, answer.stderr)


def test_an_empty_warehouse_has_nothing_to_give(iomine, warehouse: Path, tmp_path: Path) -> None:
    """Where there are no nights nothing is made, which is said."""
    answer = iomine("export", tmp_path / "out", "--warehouse", warehouse)
    assert (2, 1) == (answer.exit_code, answer.stderr.count("\n"))
    assert answer.stderr.endswith("has no such nights: ask for others with --since or --cluster.\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("options", [("--since", "1.5.2024"), ("--cluster", "../x")])
def test_what_is_no_date_and_no_machine_is_misuse(iomine, warehouse: Path, tmp_path: Path, options: tuple[str, str]) -> None:
    """Nights are written year first, and machines named as sweeps name them."""
    assert 2 == iomine("export", tmp_path / "out", *options, "--warehouse", warehouse).exit_code
