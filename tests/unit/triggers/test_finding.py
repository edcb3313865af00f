"""Findings are written by the database, from templates."""

import duckdb
import pytest

from iomine.triggers.finding import Slot, filled_sql, parts


def _filled(template: str, **metrics: str) -> str:
    columns = ", ".join(f"{value} AS {name}" for name, value in metrics.items())
    with duckdb.connect() as connection:
        return connection.execute(f"SELECT {filled_sql(template)} FROM (SELECT {columns})").fetchone()[0]


@pytest.mark.parametrize(
    ("template", "value", "expected"),
    [
        ("{read_count}", "1234567::BIGINT", "1,234,567"),
        ("{read_count:,}", "1234567::BIGINT", "1,234,567"),
        ("{read_count:.1f}", "1234567::BIGINT", "1234567.0"),
        ("{read_count:,.1f}", "1234567::BIGINT", "1,234,567.0"),
        ("{read_count}", "NULL::BIGINT", "?"),
    ],
)
def test_whole_numbers_read_well(template: str, value: str, expected: str) -> None:
    """Counts come with thousands separators, as decimals where asked, and as `?` where they are not known."""
    assert expected == _filled(template, read_count=value)


@pytest.mark.parametrize(
    ("template", "value", "expected"),
    [
        ("{small_read_ratio:.0%}", "0.104::DOUBLE", "10%"),
        ("{small_read_ratio:.1%}", "0.104::DOUBLE", "10.4%"),
        ("{small_read_ratio}", "0.123456::DOUBLE", "0.123"),
        ("{small_read_ratio}", "12.3456::DOUBLE", "12.3"),
        ("{small_read_ratio}", "1234567.8::DOUBLE", "1,234,568"),
        ("{small_read_ratio:.2f}", "0.5::DOUBLE", "0.50"),
        ("{small_read_ratio:,}", "1234.5::DOUBLE", "1,234.5"),
        ("{small_read_ratio:.0%}", "NULL::DOUBLE", "?"),
    ],
)
def test_broken_numbers_read_well(template: str, value: str, expected: str) -> None:
    """Ratios come in percent where asked, and other numbers with about three digits, large ones never as powers of ten."""
    assert expected == _filled(template, small_read_ratio=value)


def test_text_around_slots_is_kept_to_the_letter() -> None:
    """Quotes, braces, percent signs and comments of SQL in a template are only text."""
    template = "It's {{sic}} '; DROP TABLE log; -- {read_count} \\ 100% \"reads\" {{}}"
    expected = "It's {sic} '; DROP TABLE log; -- 7 \\ 100% \"reads\" {}"
    assert expected == _filled(template, read_count="7::BIGINT")


def test_template_is_cut_into_texts_and_slots() -> None:
    """A template is read as Python reads one."""
    assert ("In ", Slot("read_count", ""), " of ", Slot("io_ratio", ".0%"), ".") == parts("In {read_count} of {io_ratio:.0%}.")


@pytest.mark.parametrize(
    "template",
    [
        "{}",
        "{0}",
        "{read_count!r}",
        "{read_count:x}",
        "{read_count:>10}",
        "{a.b}",
        "{a[0]}",
        "{1); DROP}",
        "{read_count:{width}}",
        "}",
        "{",
    ],
)
def test_slots_that_sql_cannot_fill_are_refused(template: str) -> None:
    """A slot is a column's name with one of a few formats; anything else is refused before it becomes SQL."""
    with pytest.raises(ValueError, match=r"slot|brace|format|field|Single|expected"):
        parts(template)


@pytest.mark.parametrize(("value", "expected"), [("'/it''s {here}'", "In /it's {here}."), ("NULL::VARCHAR", "In unknown.")])
def test_texts_stand_as_they_are(value: str, expected: str) -> None:
    """A path is shown as it is, whatever is in it, and one that is not known says so."""
    assert expected == _filled("In {small_read_path}.", small_read_path=value)
