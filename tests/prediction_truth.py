"""How well times are predicted from IOR: programs whose time is known, and IOR with their settings on the same storage.

`python tests/prediction_truth.py` writes docs/predictions.md. Logs are read as a sweep does, and the views are asked. IOR's JSON
has no hints, so those that the experiment's description names are set here; logs on one kind of storage are one cluster.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from catalogs import catalog_of
from lineage_truth import files_of
from shared import SHARED_DATA, Row

from iomine.lake import LakeFile
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import read_log
from iomine.sources.inputs import SOURCES
from iomine.sources.model import Input
from iomine.units import MIB
from iomine.views.query import ask

PAGE: Final = Path(__file__).parents[1] / "docs" / "predictions.md"
EXPERIMENT: Final = SHARED_DATA / "groundtruth" / "io_time_experiment.json"
# Shorter I/O is mostly what two cores happened to do (README of the logs).
LONG_SECONDS: Final = 0.3
_IOR_AT: Final = datetime(2026, 11, 21, tzinfo=UTC)
_CLASSES: Final = """
SELECT
    path, predicted.op, system, sum(predicted_seconds) AS predicted, sum(least_predicted_seconds) AS least,
    sum(most_predicted_seconds) AS most, bool_and(predicted_seconds IS NOT NULL) AS is_known,
    sum(predicted.rank_call_seconds) AS called, max(ior_distance) AS distance, sum(predicted.moved_bytes)::BIGINT AS moved,
    sum(predicted_seconds - predicted.rank_wait_seconds - predicted.rank_exchange_seconds) AS by_ior,
    sum(phase_class.storage_seconds) AS stored, max(repetition_count) AS repetitions
FROM class_predictions AS predicted
JOIN logs AS log USING (cluster, night, log_id)
JOIN phase_class USING (cluster, night, log_id, phase_class)
WHERE predicted.is_relevant
GROUP BY ALL
"""
# The one program on two kinds of storage.
PAIR: Final = ("s107_btio_full_A_16", "s112_btio_full_A_16_raw")


class Time(NamedTuple):
    """The time of a program's reads or writes.

    Attributes:
        program: id of the log.
        op: direction.
        measured: seconds, as the description of the experiment has it: of BT-IO the mean rank's time in requests, of the
            checkpoints how long the phases took by the program's clock, with opens and closes.
        called: seconds in requests of the mean rank, by the log.
        predicted: seconds; NULL where a class is unknown.
        least: the interval's lower end.
        most: its upper end.
        distance: of the nearest IOR test.
        by_bandwidth: bytes over the mean bandwidth that IOR prints, for the test made for the program.
    """

    program: str
    op: str
    measured: float
    called: float
    predicted: float | None
    least: float | None
    most: float | None
    distance: float | None
    by_bandwidth: float

    @property
    def error(self) -> float | None:
        """Of the prediction, as a share of the measured time."""
        return None if self.predicted is None else self.predicted / self.measured - 1

    @property
    def is_within(self) -> bool:
        """Whether the measured time lies in the interval."""
        return self.least is not None and self.most is not None and self.least <= self.measured <= self.most

    @property
    def is_within_called(self) -> bool:
        """Whether the log's time in requests lies in the interval."""
        return self.least is not None and self.most is not None and self.least <= self.called <= self.most


@cache
def experiments() -> tuple[Row, ...]:
    """The programs of the experiment, none where the logs are not here."""
    return tuple(json.loads(EXPERIMENT.read_text())["experiments"]) if EXPERIMENT.exists() else ()


@cache
def classes() -> tuple[Row, ...]:
    """What the view says of each program's reads and writes, on each system."""
    with TemporaryDirectory() as folder:
        logs = ((storage(each), read_log(SHARED_DATA / "groundtruth" / each["log"]), each["app"]) for each in experiments())
        files = [*files_of(Path(folder) / "lake", logs), *_ior_files(Path(folder))]
        return tuple(ask(catalog_of(Path(folder), files), _CLASSES).to_pylist())


def storage(experiment: Row) -> str:
    """Name of the kind of storage that a program and its IOR ran on."""
    latency = experiment["storage"].get("latency_us_per_request")
    return f"latency-{latency}us" if latency else "page-cache"


def _ior_files(folder: Path) -> Iterator[LakeFile]:
    for number, (cluster, rows) in enumerate(_ior_rows()):
        place = folder / "ior" / f"cluster={cluster}" / "night=2026-11-21"
        place.mkdir(parents=True, exist_ok=True)
        path = place / f"{number:02}.parquet"
        pq.write_table(pa.Table.from_pylist(rows, schema=arrow_schema("ior_run")), path)
        yield LakeFile("ior_run", cluster, date(2026, 11, 21), path, path.stat().st_size, len(rows))


def _ior_rows() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for each in experiments():
        for run in each["ior_runs"]:
            path = SHARED_DATA / "groundtruth" / run["file"]
            given = Input(run["file"], path.read_bytes(), _IOR_AT, cluster=storage(each))
            (source,) = (source for source in SOURCES if source.knows(given))
            hints = ";".join(f"{name}={value}" for name, value in (run["romio_hints"] or {}).items())
            yield storage(each), [row | {"hints": hints or None} for row in source.read(given).tables["ior_run"].to_pylist()]


@cache
def times() -> tuple[Time, ...]:
    """All times that were measured, where they were measured."""
    return tuple(_times())


def _times() -> Iterator[Time]:
    by_key = {(row["path"], row["op"], row["system"]): row for row in classes()}
    for each in experiments():
        for op in ("write", "read"):
            measured = each["measured"].get(f"log_{op}_s_mean_over_ranks") or each["measured"].get(f"app_phase_sum_{op}_s")
            if measured:
                row = by_key[each["app"], op, storage(each)]
                (plain, *_) = (run for run in each["ior_runs"] if run["variant"] == "default")
                bandwidth = plain["mean_max_MiBps"][op][0] * MIB
                figures = (row[name] if row["is_known"] else None for name in ("predicted", "least", "most", "distance"))
                yield Time(each["app"], op, measured, row["called"], *figures, row["moved"] / bandwidth)


class Summary(NamedTuple):
    """What came out of several times.

    Attributes:
        count: times.
        known: of these, those for which one is predicted.
        error: median error of these.
        error_of_calls: the same against the log's time in requests.
        by_bandwidth: median error of bytes over bandwidth, of all.
        within: of those known, how many lie in their interval.
        within_calls: the same of the log's time in requests.
    """

    count: int
    known: int
    error: float
    error_of_calls: float
    by_bandwidth: float
    within: int
    within_calls: int


def summary(of: Iterable[Time]) -> Summary:
    """Medians and counts of times."""
    each = list(of)
    known = [(time, time.predicted) for time in each if time.predicted is not None]
    return Summary(
        len(each),
        len(known),
        median(abs(predicted / time.measured - 1) for time, predicted in known),
        median(abs(predicted / time.called - 1) for time, predicted in known),
        median(abs(time.by_bandwidth / time.measured - 1) for time in each),
        sum(time.is_within for time, _ in known),
        sum(time.is_within_called for time, _ in known),
    )


def groups() -> dict[str, Sequence[Time]]:
    """Times by what is asked of them."""
    long = [time for time in times() if time.measured >= LONG_SECONDS]
    return {
        "all": times(),
        "0.3 s and more": long,
        "reads of these": [time for time in long if time.op == "read"],
        "writes of these": [time for time in long if time.op == "write"],
    }


# Why these are wrong, the worst five.
REASONS: Final = {
    ("s109_btio_epio_W_16", "write"): (
        "Fortran gathers records of 34,560 bytes into requests of 69,184, of which IOR was asked for twice as many, and each "
        "waits for 0.3 ms. All of it is 0.03 s."
    ),
    ("s109_btio_epio_W_16", "read"): "The same with requests of 131,072 bytes: IOR needs four times as many.",
    ("s105_btio_full_W_36", "write"): (
        "36 ranks on two cores. Gathering costs writes more than reads in IOR, and the formula takes what reads do not show for "
        "storage: more than twice what storage took in the program."
    ),
    ("s054_ckpt_strided_coll", "write"): (
        "IOR was run for it through aggregators alone, so the nearest plain test has other requests on half the ranks; all of it "
        "is 0.1 s."
    ),
    ("s112_btio_full_A_16_raw", "write"): (
        "The page cache: IOR's own repetitions differ more than the prediction is off, which the interval shows."
    ),
}
_TEXT: Final = """\
# How well times are predicted from IOR

<!-- Written by tests/prediction_truth.py. -->

`predictions` says how long a log's reads and writes would take the mean rank on a system that IOR has measured ([how to
ask](ior.md)). Here stand {count} times of {programs} programs beside what they took, each predicted from IOR on the same kind
of storage. On two cores, what takes less than {long} s is mostly chance. [A year of runs on Lustre](prediction_year.md) has a
separate page.

The table also compares predictions with the log's time in requests, which is what is predicted (for checkpoints, *measured*
also includes opens and closes, and the slowest rank). *Bytes over bandwidth* is the simple estimate: bytes divided by the
bandwidth that IOR prints for the test made for the program.

| times | predicted | median error | of time in requests | bytes over bandwidth | in interval | of time in requests |
| --- | --- | --- | --- | --- | --- | --- |
{groups}

{unknown} are unknown: {unknown_reason}

The targets: a median error of at most 10%, at most 8% of times of {long} s and more, at most 3% of reads of these, and
three quarters of the times of {long} s and more in their intervals. {verdict}

| program | op | measured s | in requests s | predicted s | interval s | error | bytes over bandwidth | IOR's distance |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
{rows}

The worst five:

{worst}

## One program, two storages

BT-IO of class A on 16 ranks, on storage with latency (s107) and in the page cache (s112): from the model of the one run and IOR
on the other's storage comes the other's time.

| model of | on storage of | op | measured s | predicted s | error | interval s |
| --- | --- | --- | --- | --- | --- | --- |
{pair}

Intervals are those of IOR's {repetitions} repetitions, 5% wider. Reads were to be within 12%. In the page cache
IOR's plain reads are 16 ranks that copy at once on two cores, where a few aggregators copy for the program: IOR's data time is
{longer} times as long as storage took for the program's reads.
"""


def page() -> str:
    """The text of docs/predictions.md."""
    unknown = [time for time in times() if time.predicted is None]
    (cached,) = (row for row in classes() if (row["path"], row["op"], row["system"]) == (PAIR[1], "read", "page-cache"))
    return _TEXT.format(
        count=len(times()),
        programs=len(experiments()),
        long=LONG_SECONDS,
        groups="\n".join(_group(name, summary(of)) for name, of in groups().items()),
        unknown=" and ".join(f"{time.program} {time.op}s" for time in unknown),
        unknown_reason="Fortran makes requests of 128 KiB of records, and IOR's transfers are more than two doublings longer.",
        verdict=_verdict(),
        rows="\n".join(map(_row, times())),
        worst="\n".join(
            f"- {time.program}, {time.op}s ({time.error:+.0%}): {REASONS[time.program, time.op]}" for time in worst()
        ),
        pair="\n".join(_pair_row(*each) for each in pair()),
        longer=f"{cached['by_ior'] / cached['stored']:.1f}",
        repetitions=max(row["repetitions"] for row in classes() if row["is_known"]),
    )


def worst() -> list[Time]:
    """The five of which the prediction is most wrong."""
    return sorted((time for time in times() if time.error is not None), key=lambda time: -abs(time.error or 0))[:5]


def pair() -> Iterator[tuple[str, str, str, float, Row]]:
    """Model, storage, direction, measured seconds and what the view says, of the one program on two storages."""
    kinds = {each["app"]: storage(each) for each in experiments()}
    by_key = {(row["path"], row["op"], row["system"]): row for row in classes()}
    measured = {(time.program, time.op): time.measured for time in times()}
    for model, other in (PAIR, PAIR[::-1]):
        for op in ("read", "write"):
            yield model, other, op, measured[other, op], by_key[model, op, kinds[other]]


def _verdict() -> str:
    every, long, reads, _ = map(summary, groups().values())
    asked = [
        ("The first", every.error <= 0.1),
        ("the second", long.error <= 0.08),
        ("the third", reads.error <= 0.03),
        ("the fourth", long.within >= 0.75 * long.known),
    ]
    return ", ".join(f"{name} is {'met' if is_met else 'not met'}" for name, is_met in asked) + "."


def _group(name: str, of: Summary) -> str:
    errors = f"{of.error:.1%} | {of.error_of_calls:.1%} | {of.by_bandwidth:.1%}"
    return f"| {name} | {of.known} of {of.count} | {errors} | {of.within} of {of.known} | {of.within_calls} of {of.known} |"


def _row(time: Time) -> str:
    bandwidth = f"{time.by_bandwidth / time.measured - 1:+.1%}"
    if time.predicted is None:
        predicted, distance = "unknown | |", "above 2"
    else:
        predicted = f"{time.predicted:.3f} | {time.least:.3f} to {time.most:.3f} | {time.error:+.1%}"
        distance = f"{time.distance:.1f}"
    names = f"{time.program} | {time.op} | {time.measured:.3f} | {time.called:.3f}"
    return f"| {names} | {predicted} | {bandwidth} | {distance} |"


def _pair_row(model: str, other: str, op: str, measured: float, row: Row) -> str:
    error = row["predicted"] / measured - 1
    return (
        f"| {model[:4]} | {other[:4]} | {op} | {measured:.3f} | {row['predicted']:.3f} | {error:+.1%} "
        f"| {row['least']:.3f} to {row['most']:.3f} |"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
