"""A catalog with nothing in it but what a trigger reads, made of rows that a test gives."""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping

import duckdb
import pytest

from iomine.schema import field
from iomine.triggers import Trigger, judge_sql
from iomine.triggers.judge import EXCUSES
from iomine.triggers.model import ACTIVITY

NIGHT = dt.date(2024, 4, 18)
_TYPES = {"int64": "BIGINT", "double": "DOUBLE", "bool": "BOOLEAN", "string": "VARCHAR", "date32[day]": "DATE"}

Row = Mapping[str, object]
Judge = Callable[..., list[dict[str, object]]]


def _fill(connection: duckdb.DuckDBPyConnection, name: str, columns: Iterable[str], rows: Iterable[Row]) -> None:
    names = tuple(columns)
    typed = ", ".join(f"{column} {_TYPES[str(field(column).type)]}" for column in names)
    connection.execute(f"CREATE TABLE {name} ({typed})")
    for row in rows:
        marks = ", ".join("?" for _ in names)
        connection.execute(f"INSERT INTO {name} VALUES ({marks})", [row.get(column) for column in names])


@pytest.fixture
def judge() -> Judge:
    """Judges rows of one view, each a log of its own, and answers with one verdict per row."""

    def judged(triggers: Iterable[Trigger], rows: Iterable[Row], nights=None, silent=()) -> list[dict[str, object]]:
        triggers = list(triggers)
        logs = [
            {"log_id": f"log{n}", "cluster": "blue", "night": NIGHT, "is_complete": True, "io_core_seconds": 1e9} | dict(row)
            for n, row in enumerate(rows)
        ]
        with duckdb.connect() as connection:
            connection.execute("CREATE SCHEMA core")
            # No finding may cost more than the I/O of its log.
            timed = [{"io_core_seconds": 1e9} | log for log in logs]
            _fill(connection, "core.log", ("log_id", "cluster", "night", "io_core_seconds", "run_seconds", "nprocs"), timed)
            _fill(
                connection,
                "core.cost_claim",
                ("cluster", "night", "log_id", "claim_group", "cost_name", "claim_core_seconds"),
                (
                    log | {"claim_group": 1, "cost_name": name, "claim_core_seconds": seconds}
                    for log in logs
                    for name, seconds in log.get("claims", {}).items()
                ),
            )
            for view in {trigger.view for trigger in triggers}:
                metrics = dict.fromkeys(name for trigger in triggers if trigger.view == view for name in trigger.columns)
                _fill(
                    connection,
                    f"core.{view}",
                    ("cluster", "night", "log_id", "is_complete", *metrics),
                    (log for log in logs if not log.get("left_out")),
                )
            activity = dict.fromkeys(name for trigger in triggers for name in trigger.activity)
            _fill(connection, f"core.{ACTIVITY}", ("cluster", "night", "log_id", *activity), logs)
            _fill(connection, EXCUSES, ("cluster", "night", "log_id", "is_excused"), logs)
            answer = connection.execute(judge_sql(triggers, nights, silent=silent))
            names = [column[0] for column in answer.description]
            return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]

    return judged
