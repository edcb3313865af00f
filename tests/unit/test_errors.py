"""What goes wrong outside, in the words of those who can mend it."""

import pytest

from iomine.errors import OutputError, as_output_errors, did_you_mean


def test_a_file_that_cannot_be_written_is_named() -> None:
    """Another place may do, and the sentence says so."""
    said = r"^/full/report\.html cannot be written \(No space left\): name another place\.$"
    with pytest.raises(OutputError, match=said), as_output_errors():
        raise OSError(28, "No space left", "/full/report.html")


def test_a_full_disk_is_named_by_what_was_written() -> None:
    """The error of a write, unlike that of an open, knows no file."""
    with (
        pytest.raises(OutputError, match=r"^/full/iomine\.prom cannot be written \(No space"),
        as_output_errors("/full/iomine.prom"),
    ):
        raise OSError(28, "No space left on device")


def test_a_reader_who_has_left_is_no_fault_of_a_file() -> None:
    """As in `iomine report JOB | head -1`: the command ends as any program does then."""
    with pytest.raises(BrokenPipeError), as_output_errors():
        raise BrokenPipeError


def test_only_near_names_are_meant():
    """A name that has half of its characters in common with another is not that name mistyped."""
    assert "did you mean phys?" == did_you_mean("fys", ["phys", "bio"])
    assert "" == did_you_mean("base_url", ["least_core_hours", "site"])
