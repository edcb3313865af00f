"""Triggers that cannot fire are known from files, and judging without their texts gives the same verdicts."""

import dataclasses
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest

from iomine.lake import write_file
from iomine.pipeline.judging.silent import silent
from iomine.pipeline.judging.spans import Span
from iomine.pipeline.judging.uncommitted import views_over
from iomine.schema.registry import arrow_schema
from iomine.triggers import TRIGGERS, Above, Below

_VIEW = "log_meta_profile"
_METRICS = ("meta_ratio", "meta_seconds_per_rank")
_NAN = float("nan")


def _silent(folder: Path, rows: list[tuple[float | None, float | None]], *sides: type[Above | Below]) -> bool:
    """Whether a trigger that holds both metrics against 1 cannot fire, by a file for each of these rows."""
    some = next(each for each in TRIGGERS.values() if each.view == _VIEW)
    held = tuple(side(metric, 1.0, "Says the test.") for side, metric in zip(sides, _METRICS, strict=True))
    trigger = dataclasses.replace(some, all_of=held, unless=(), high=None, cases=())
    schema = arrow_schema(_VIEW)
    logs = [{"log_id": "a"} | dict(zip(_METRICS, values, strict=True)) for values in rows]
    files = [write_file(folder, _VIEW, pa.Table.from_pylist([log], schema=schema)) for log in logs]
    return silent([trigger], files) == {trigger.code}


@pytest.mark.parametrize(
    ("rows", "is_silent"),
    [
        ([(2.0, 0.5)], False),
        ([(1.0, 0.5)], True),
        ([(2.0, 1.0)], True),
        ([(None, 0.5)], True),
        ([(float("inf"), 0.5)], False),
        ([(_NAN, 0.5)], False),
        ([(0.5, 0.5), (2.0, 0.5)], False),
        ([], False),
    ],
)
def test_who_is_not_beyond_all_thresholds_cannot_fire(
    tmp_path: Path, rows: list[tuple[float | None, float | None]], *, is_silent: bool
) -> None:
    assert _silent(tmp_path, rows, Above, Below) is is_silent


def test_what_is_no_number_is_null_in_features(tmp_path: Path) -> None:
    """The statistics of a file leave NaN out, and DuckDB has it beyond every threshold."""
    night = date(2026, 1, 1)
    rows = {
        "log": [{"log_id": "a", "nprocs": 1}, {"log_id": "b", "nprocs": 1}],
        "posix_file": [
            {"log_id": log_id, "file_id": 1, "rank": 0, "open_count": 1, "meta_seconds": seconds}
            for log_id, seconds in (("a", 0.5), ("b", _NAN))
        ],
    }
    files = [
        write_file(tmp_path, table, pa.Table.from_pylist(of_table, schema=arrow_schema(table)), "x", night)
        for table, of_table in rows.items()
    ]
    with views_over(files, [f"feature.{_VIEW}"]) as views:
        made = views.make(_VIEW, Span("x", (night,), 2)).sort_by("log_id")
    assert [0.5, None] == made["meta_core_seconds"].to_pylist()
