"""What follows from readings of counters, against loops over the same readings."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iomine.lake import LakeFile, write_file
from iomine.pipeline.judging import links
from iomine.pipeline.judging.steps import worked
from iomine.pipeline.judging.system_state import LOOKED_BACK, SLOTS, interval_files, slot_files, system_state_files
from iomine.schema.registry import arrow_schema
from iomine.views.model import tables_read

# Late enough for readings to pass midnight.
_FIRST = datetime(2024, 4, 18, 22, tzinfo=UTC)
_STEP = timedelta(minutes=10)


def _row(at: datetime, scope: str, owner: str, amount: int, since: datetime | None = None) -> dict[str, object]:
    return {
        "sampled_at": at,
        "source_kind": "test",
        "target": "s-OST0000",
        "target_kind": "ost",
        "scope": scope,
        "owner": owner,
        "counter": "write_bytes",
        "counter_unit": "bytes",
        "sample_count": amount,
        "amount": float(amount),
        "counted_since_at": since,
        "last_io_at": at,
    }


def _intervals(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """All intervals, night by night as a sweep works them out."""
    with TemporaryDirectory() as folder:
        nights = {row["sampled_at"].date() for row in rows}
        files = [_written(Path(folder), night, [row for row in rows if row["sampled_at"].date() == night]) for night in nights]
        found = worked(interval_files(Path(folder), files, {("x", night) for night in nights}))
        return [row | {"night": file.night} for file in found for row in pq.read_table(file.path).to_pylist()]


def _written(folder: Path, night: date, rows: list[dict[str, object]]) -> LakeFile:
    schema = arrow_schema("lustre_counter")
    return write_file(folder, "lustre_counter", pa.Table.from_pylist(rows, schema=schema), "x", night)


JOBS = {"7": "ada", "8": "ada", "9": "bob", "10": ""}
_SLOT_SECONDS = 600
Busy = list[tuple[str, str, int, int]]
Runs = list[tuple[str, int, int]]
_busy = st.tuples(st.sampled_from(sorted(JOBS)), st.sampled_from("tu"), st.integers(0, 4), st.integers(1, 9))
_run = st.tuples(st.sampled_from(sorted(JOBS)), st.integers(0, 3000), st.integers(0, 2400))


def _states(busy: Busy, runs: Runs, at_once: int) -> list[dict[str, object]]:
    """What runs, which have the whole of them as a phase too, met with on targets, worked out as a sweep does."""
    start = datetime(2024, 4, 18, 6, tzinfo=UTC)

    def moment(second: int) -> datetime:
        return start + timedelta(seconds=second)

    rows: dict[str, list[dict[str, object]]] = {"server_slot": [], "log": [], "phase": []}
    for job, target, slot, seconds in busy:
        place = {"begin_at": moment(slot * _SLOT_SECONDS), "target": target, "target_kind": "ost"}
        whose = {"owner": job, "job_id": job, "user": JOBS[job]}
        rows["server_slot"].append({**place, **whose, "rpc_count": seconds, "service_seconds": float(seconds)})
    for number, (job, begin, length) in enumerate(runs):
        log_id = f"{number:x}" * 16
        rows["log"].append({"log_id": log_id, "job_id": job, "start_at": moment(begin), "end_at": moment(begin + length)})
        phase = {"log_id": log_id, "layer": "all", "phase": 0, "start_seconds": 0.0, "end_seconds": float(length)}
        rows["phase"].append(phase)
    with TemporaryDirectory() as folder:
        files = [
            write_file(Path(folder), name, pa.Table.from_pylist(of_table, schema=arrow_schema(name)), "x", start.date())
            for name, of_table in rows.items()
        ]
        found = worked(system_state_files(Path(folder), files, {("x", start.date())}, at_once))
        met = [row for file in found for row in pq.read_table(file.path).to_pylist() if row["evidence"] == "job_stats"]
    return sorted(met, key=lambda row: (row["log_id"], row["layer"]))


# Each example builds views anew.
@settings(max_examples=15, deadline=None)
@given(st.lists(_busy, min_size=1, max_size=20, unique_by=lambda each: each[:3]), st.lists(_run, min_size=1, max_size=6))
def test_what_a_run_met_with_is_what_a_loop_over_slots_finds(busy: Busy, runs: Runs):
    """A run's time on targets is shared among all who kept them busy then; runs worked out together have what each has alone."""
    got = _states(busy, runs, len(runs))
    assert [pytest.approx(row) for row in _states(busy, runs, 1)] == got
    users = {job: user or job for job, user in JOBS.items()}
    expected = {}
    for number, (job, begin, length) in enumerate(runs):
        slots = range(begin // _SLOT_SECONDS, (begin + length) // _SLOT_SECONDS + 1)
        own = [(target, slot, seconds) for owner, target, slot, seconds in busy if owner == job and slot in slots]
        weights: Counter[str] = Counter()
        for target, slot, seconds in own:
            here = [(users[owner], other) for owner, at, when, other in busy if (at, when) == (target, slot)]
            for user, other in here:
                weights[user] += seconds * other / sum(each for _, each in here)
        if own:
            others = [weight for user, weight in weights.items() if user != users[job]]
            expected[f"{number:x}" * 16] = (
                len({target for target, *_ in own}),
                sum(seconds for *_, seconds in own),
                pytest.approx(weights[users[job]] / sum(weights.values())),
                pytest.approx(max(others, default=0) / sum(weights.values())),
            )
    for layer in ("", "all"):
        assert expected == {
            row["log_id"]: (row["target_count"], row["service_seconds"], row["own_ratio"], row["neighbour_ratio"])
            for row in got
            if row["layer"] == layer
        }


# Each example builds views anew.
@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=20))
def test_a_target_counts_from_zero_where_its_counter_falls(values: list[int]):
    """Each interval has the difference of two readings, or all of the later one where it is less."""
    rows = [_row(_FIRST + _STEP * n, "target", "", value) for n, value in enumerate(values)]
    expected = [
        (_FIRST + _STEP * n, later - earlier if later >= earlier else later, "sound" if later >= earlier else "restarted")
        for n, (earlier, later) in enumerate(pairwise(values))
    ]
    got = [(row["begin_at"], row["moved_bytes"], row["quality"]) for row in _intervals(rows)]
    assert expected == sorted(got)


# Each example builds views anew.
@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.one_of(st.none(), st.integers(0, 1000)), min_size=3, max_size=3), min_size=2, max_size=20))
def test_what_jobs_did_is_found_whole(steps: list[list[int | None]]):
    """Entries that come, grow, are dropped and come again give back every byte, in the ten minutes in which it was moved."""
    rows, entries = [], {}
    expected: Counter[tuple[str, datetime]] = Counter()
    for n, step in enumerate(steps):
        before, at = _FIRST + _STEP * (n - 1), _FIRST + _STEP * n
        for owner, amount in zip("abc", step, strict=True):
            if amount is None:
                entries.pop(owner, None)
                continue
            value, since = entries.get(owner, (0, before + timedelta(minutes=1)))
            entries[owner] = (value + amount, since)
            expected[owner, at] += amount
        rows += [_row(at, "job", owner, value, since) for owner, (value, since) in entries.items()]
    got: Counter[tuple[str, datetime]] = Counter()
    for row in _intervals(rows) if rows else ():
        end = row["begin_at"] + timedelta(seconds=row["interval_seconds"])
        assert row["quality"] != "wrapped"
        assert end - _STEP <= row["begin_at"] < end
        got[row["owner"], end] += row["moved_bytes"]
    assert +expected == +got


def test_the_night_after_begins_with_the_last_reading_of_the_night_before():
    """Nothing is lost at midnight, also when the later night was worked out first."""
    rows = [_row(_FIRST + timedelta(hours=1, minutes=55) + _STEP * n, "target", "", 100 * n) for n in range(3)]
    assert [100, 100] == [row["moved_bytes"] for row in _intervals(rows)]
    assert {date(2024, 4, 19)} == {row["night"] for row in _intervals(rows)}


def test_slots_stay_that_were_worked_out_of_logs_which_have_left(tmp_path: Path):
    """A log that comes late would leave nothing of what the others moved."""
    night = _FIRST.date()
    files = [
        write_file(tmp_path, table, arrow_schema(table).empty_table(), "x", night)
        for table in ("server_interval", *SLOTS, "known_log")
    ]
    assert [] == worked(slot_files(tmp_path, files, {("x", night)}))
    assert {*SLOTS} == {file.table for file in worked(slot_files(tmp_path, files[:-1], {("x", night)}))}


@pytest.mark.parametrize("view", [*LOOKED_BACK, *links.READ])
def test_what_is_worked_out_of_other_nights_is_given_all_that_it_reads(view: str):
    """A table that is left out would be an empty one: logs of doubtful owners would show what is usual."""
    given_tables = {*LOOKED_BACK[view]} if view in LOOKED_BACK else {*links.READ[view][1], *links.TOPOLOGY}
    # MPI-IO says nothing of how much a file system moved.
    needless = {"mpiio_file"} if view == "traffic_slot" else set()
    assert needless == tables_read([f"feature.{view}"]) - given_tables
