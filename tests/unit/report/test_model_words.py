"""The sentence that says what a program does."""

from typing import Any

import pytest

from iomine.report.model import again, in_words

MIB = 1 << 20


def _class(number: int = 1, **values: Any) -> dict[str, Any]:
    usual = {
        "phase_class": number, "op": "write", "is_relevant": True, "access": "shared", "file_count": 1, "file_id": 1,
        "phase_count": 50, "rank_count": 16, "bytes_per_rank": 640 << 10, "moved_bytes": 500 * MIB, "period_seconds": 2.0,
        "gap_seconds": 1.5, "start_seconds": 1.0, "end_seconds": 5.0, "log_class_count": 1,
    }  # fmt: skip
    return usual | values


_READ = {"op": "read", "phase_count": 1, "start_seconds": 5.0, "end_seconds": 6.0, "period_seconds": None}


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        ([_class()], "writes 10.0 MiB 50 times, every 2.0 s (500.0 MiB in all); 16 ranks share one file."),
        (
            [_class(log_class_count=2), _class(2, **_READ)],
            "writes 10.0 MiB 50 times, every 2.0 s (500.0 MiB in all), then reads 500.0 MiB back once; 16 ranks share one file.",
        ),
        # Phases that are alike, and not equal; nobody knows that what another file holds was written.
        (
            [_class(moved_bytes=499 * MIB, period_seconds=None, log_class_count=2), _class(2, **_READ, file_id=2)],
            "writes about 10.0 MiB 50 times (499.0 MiB in all), then reads 500.0 MiB once; 16 ranks share one file.",
        ),
        (
            [_class(phase_count=1, log_class_count=2), _class(2, **_READ | {"start_seconds": 2.0, "file_id": 2})],
            "writes 500.0 MiB once, and meanwhile reads 500.0 MiB once; 16 ranks share one file.",
        ),
        (
            [_class(phase_count=1, rank_count=1, access="own", file_count=7)],
            "writes 500.0 MiB once; one rank does all of it.",
        ),
        (
            [_class(phase_count=1, access="own", file_count=16)],
            "writes 500.0 MiB once; each of 16 ranks has files of its own.",
        ),
        ([_class(phase_count=1, file_count=5)], "writes 500.0 MiB once; 16 ranks share 5 files."),
        ([_class(phase_count=1, access="mixed")], "writes 500.0 MiB once."),
        # By counters.
        (
            [
                _class(phase_count=None, start_seconds=None, end_seconds=None, log_class_count=2),
                _class(2, **_READ, rank_count=8, file_id=2),
            ],
            "writes 500.0 MiB in an unknown number of phases, and reads 500.0 MiB once.",
        ),
        ([_class(moved_bytes=None)], "writes a number of bytes that is not known; 16 ranks share one file."),
        (
            [
                _class(n, phase_count=1, moved_bytes=n * MIB, log_class_count=100, start_seconds=n, end_seconds=n)
                for n in range(1, 6)
            ],
            (
                "writes 3.0 MiB once, then writes 4.0 MiB once, then writes 5.0 MiB once, and moves the rest in 97 other ways; "
                "16 ranks share one file."
            ),
        ),
        ([_class(is_relevant=False, phase_count=1)], "writes 500.0 MiB once; 16 ranks share one file."),
    ],
)
def test_a_stranger_learns_what_a_program_does(classes: list[dict[str, Any]], words: str) -> None:
    """What it writes and reads, how often, in which order, and who does it, as far as each is known."""
    assert f"This program {words}" == in_words(classes)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "every 2.0 s"),
        ({"period_seconds": None}, "after 1.5 s"),
        ({"period_seconds": None, "gap_seconds": None}, None),
        ({"phase_count": 1, "period_seconds": None, "gap_seconds": None}, "no"),
    ],
)
def test_how_a_class_comes_again(values: dict[str, Any], said: str | None) -> None:
    """By its period, else by its gap; what is not known is not made up."""
    assert said == again(_class(**values))
