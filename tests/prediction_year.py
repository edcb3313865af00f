"""A year of benchmark runs on Edison, predicted from IOR runs within hours on the same file system.

`python tests/prediction_year.py` writes docs/prediction_year.md. The tables have no traces, so waiting and exchange are not
known: a prediction is bytes over IOR's rate in the same direction, with files shared or own alike. Rates are Darshan's, by the
slowest rank.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from shared import Row
from tokio_year import YEAR, runs

PAGE: Final = Path(__file__).parents[1] / "docs" / "prediction_year.md"
NEAR: Final = timedelta(hours=12)
PAST: Final = timedelta(days=30)
FEWEST: Final = 5
BENCHMARK: Final = "ior"
FILE_SYSTEMS: Final = ("scratch1", "scratch2", "scratch3")
# Less moves no benchmark that was meant to: some runs of DBSCAN moved next to nothing.
_LEAST_BYTES: Final = 2**30


class Run(NamedTuple):
    """A run of a program, and what IOR says of its time.

    Attributes:
        application: its name.
        file_system: where it ran.
        start_at: when.
        moved_bytes: by all ranks.
        measured: seconds, bytes over the rate by the slowest rank.
        predicted: seconds, by the IOR run nearest in time.
    """

    application: str
    file_system: str
    start_at: datetime
    moved_bytes: float
    measured: float
    predicted: float


@cache
def predicted() -> tuple[Run, ...]:
    """All runs of programs for which IOR ran within `NEAR`, in the order of their start."""
    return tuple(sorted(_predicted(), key=lambda run: run.start_at))


def _predicted() -> Iterator[Run]:
    rows = [row for row in runs(YEAR).to_pylist() if _is_usable(row)]
    tests: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["start_at"]):
        if row["application"] == BENCHMARK:
            tests[row["op"], row["mode"], row["file_system"]].append(row)
    for row in rows:
        if row["application"] == BENCHMARK:
            continue
        test = _nearest(tests[row["op"], row["mode"], row["file_system"]], row["start_at"])
        if test is not None:
            seconds = (row["moved_bytes"] / each["io_bytes_per_second"] for each in (row, test))
            yield Run(row["application"], row["file_system"], row["start_at"], row["moved_bytes"], *seconds)


def _is_usable(row: Row) -> bool:
    return bool(row["op"] and row["file_system"] and row["io_bytes_per_second"] and row["moved_bytes"] >= _LEAST_BYTES)


def _nearest(tests: Sequence[Row], at: datetime) -> Row | None:
    near = [test for test in tests if abs(test["start_at"] - at) <= NEAR]
    return min(near, key=lambda test: abs(test["start_at"] - at), default=None)


def calibrated(application: str, file_system: str, by: str) -> list[float]:
    """Errors of a program's runs on a file system with `k` from its runs on another, or the same, in the days before."""
    own = [run for run in predicted() if run.application == application]
    past = [run for run in own if run.file_system == by]
    starts = [run.start_at for run in past]
    errors = []
    for run in own:
        if run.file_system == file_system:
            before = past[bisect_left(starts, run.start_at - PAST) : bisect_left(starts, run.start_at)]
            if len(before) >= FEWEST:
                k = median(each.measured / each.predicted for each in before)
                errors.append(abs(k * run.predicted / run.measured - 1))
    return errors


def plain(application: str) -> list[float]:
    """Errors of a program's runs without `k`."""
    return [abs(run.predicted / run.measured - 1) for run in predicted() if run.application == application]


def applications() -> list[str]:
    """The programs."""
    return sorted({run.application for run in predicted()})


class Fastest(NamedTuple):
    """How often the file system that is predicted to be the fastest was.

    Attributes:
        application: the program.
        days: on which it ran on all three file systems.
        right: of these, those on which the file system of the shortest prediction was the fastest.
        apart: days on which the intervals of the two shortest predictions do not meet.
        apart_right: of these, those on which it was the fastest.
        usually_predicted: the file system that is predicted to be the fastest over the year, by medians.
        usually: the one that was.
    """

    application: str
    days: int
    right: int
    apart: int
    apart_right: int
    usually_predicted: str
    usually: str


def fastest(application: str) -> Fastest:
    """The file system that is predicted to be the fastest, day by day; of one repetition the interval is 5% to both sides."""
    by_day: dict[object, dict[str, list[Run]]] = defaultdict(lambda: defaultdict(list))
    own = [run for run in predicted() if run.application == application]
    for run in own:
        by_day[run.start_at.date()][run.file_system].append(run)
    days = [day for day in by_day.values() if len(day) == len(FILE_SYSTEMS)]
    right, apart, apart_right = 0, 0, 0
    for day in days:
        ranked = sorted((median(run.predicted / run.moved_bytes for run in of), name) for name, of in day.items())
        took = min((median(run.measured / run.moved_bytes for run in of), name) for name, of in day.items())
        is_right = ranked[0][1] == took[1]
        is_apart = ranked[0][0] * 1.05 < ranked[1][0] * 0.95
        right, apart, apart_right = right + is_right, apart + is_apart, apart_right + (is_apart and is_right)
    usual = [
        min(FILE_SYSTEMS, key=lambda name: median(getattr(run, what) / run.moved_bytes for run in own if run.file_system == name))
        for what in ("predicted", "measured")
    ]
    return Fastest(application, len(days), right, apart, apart_right, *usual)


_TEXT: Final = """\
# A year of benchmark runs, predicted from IOR

<!-- Written by tests/prediction_year.py. -->

{count} runs of {programs} programs on Edison's three Lustre file systems, each on 2,048 processes (`traces/tokio_year`),
compared with the IOR run nearest in time on the same file system, at most {hours} hours away, in the same direction and with
shared or own files alike. The tables have no traces, so a prediction is bytes over IOR's rate; both rates are Darshan's, by
the slowest rank. Sizes of requests are not compared. Runs that moved next to nothing are left out.

`k` is the median of measured over predicted of the program's runs in the {days} days before, on the same file system; of at
least {fewest}. The targets: at most 6% for HACC-IO without `k`, and at most 10% with it for each of the programs.

| program | runs | median error | with `k`, runs | median error with `k` |
| --- | --- | --- | --- | --- |
{errors}

`k` corrects for the differences between IOR and the program. It is known only for programs that were run before, and it is
right as long as the program and the file system do not change.

## With `k` from another file system

Median errors on the file system above, with `k` from the program's runs on the one on the left.

{pairs}

## Which file system is the fastest

Days on which a program ran on all three file systems, and on how many of them the fastest by prediction was the fastest by the
program's own rate; chance would be one in three. *Apart* are days on which the intervals of the two shortest predictions do not
meet. The last two columns are the fastest over the year, by medians.

| program | days | right | apart | right of these | fastest, predicted | fastest |
| --- | --- | --- | --- | --- | --- | --- |
{fastest}
"""


def page() -> str:
    """The text of docs/prediction_year.md."""
    return _TEXT.format(
        count=f"{len(predicted()):,}",
        programs=len(applications()),
        hours=NEAR // timedelta(hours=1),
        days=PAST.days,
        fewest=FEWEST,
        errors="\n".join(map(_error_row, applications())),
        pairs="\n\n".join(map(_pairs_of, applications())),
        fastest="\n".join("| " + " | ".join(map(str, fastest(name))) + " |" for name in applications()),
    )


def with_own_k(application: str) -> list[float]:
    """Errors of a program's runs, with `k` from the same file system."""
    return [error for name in FILE_SYSTEMS for error in calibrated(application, name, name)]


def _error_row(application: str) -> str:
    without, own = plain(application), with_own_k(application)
    return f"| {application} | {len(without)} | {median(without):.1%} | {len(own)} | {median(own):.1%} |"


def _pairs_of(application: str) -> str:
    lines = [f"| {application} | " + " | ".join(FILE_SYSTEMS) + " |", "| --- | --- | --- | --- |"]
    for by in FILE_SYSTEMS:
        errors = " | ".join(f"{median(calibrated(application, name, by)):.1%}" for name in FILE_SYSTEMS)
        lines += [f"| {by} | {errors} |"]
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
