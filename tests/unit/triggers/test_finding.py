"""Findings are written by the database, from templates."""

import subprocess

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iomine.report.causes import core_time
from iomine.schema import FIELDS, Kind
from iomine.sqltext import quoted
from iomine.triggers import TRIGGERS
from iomine.triggers.finding import Slot, filled_sql, parts, renamed, shell_word
from iomine.units import human_bytes, human_seconds, ost_name, target_name

TEMPLATES = sorted(
    {template for trigger in TRIGGERS.values() for text in ("finding", "advice") for template in trigger.templates(text)}
)
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).filter(
    lambda name: name != "unknown"
)
NUMBERS = st.one_of(st.none(), st.integers(-(10**12), 10**12), st.floats(allow_nan=True))


def _filled(template: str, **metrics: str) -> str:
    columns = ", ".join(f"{value} AS {name}" for name, value in ({"whole_core_seconds": "7200"} | metrics).items())
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


@pytest.mark.parametrize(
    ("seconds", "whole", "expected"),
    [
        ("6120", "7200", "1.7 core-hours"),
        ("90", "7200", "0.03 core-hours"),
        ("1954.8", "7200", "0.54 core-hours"),
        ("35982", "72000", "9.99 core-hours"),
        ("35983", "72000", "10 core-hours"),
        ("151384", "1e6", "42.1 core-hours"),
        ("9", "7200", "less than 0.01 core-hours"),
        ("1234567890", "1e12", "342,936 core-hours"),
        ("3600", "7200", "1 core-hour"),
        ("90", "3599", "90 core-seconds"),
        ("1", "3599", "1 core-second"),
        ("2000.4", "3599", "2,000 core-seconds"),
        ("0.612", "NULL", "0.61 core-seconds"),
        ("0.005", "3599", "less than 0.01 core-seconds"),
        ("NULL", "7200", "?"),
    ],
)
def test_times_of_all_ranks_come_in_the_unit_of_their_page(seconds: str, whole: str, expected: str) -> None:
    """Core-hours in runs of at least one, core-seconds in others, as the page of the run has its tiles."""
    filled = _filled("{meta_core_seconds}", meta_core_seconds=f"{seconds}::DOUBLE", whole_core_seconds=f"{whole}::DOUBLE")
    assert expected == filled
    if seconds != "NULL":
        assert expected == core_time(float(seconds), None if whole == "NULL" else float(whole))


@pytest.mark.parametrize(
    ("small", "of", "expected"),
    [
        (1268, 1268, "All 1,268 writes were small."),
        (1267, 1268, "1,267 of 1,268 writes (nearly all) were small."),
        (1000, 1268, "1,000 of 1,268 writes (79%) were small."),
        (1, 1, "1 of 1 writes (100%) were small."),
        (0, 1268, "0 of 1,268 writes (0%) were small."),
    ],
)
def test_all_of_many_are_said_to_be_all(small: int, of: int, expected: str) -> None:
    """A count that is the whole is said once, and one that only rounding makes the whole is not said to be all."""
    template = "{small_write_count} of {write_count} writes ({small_write_ratio:.0%}) were small."
    metrics = {"small_write_count": f"{small}::BIGINT", "write_count": f"{of}::BIGINT", "small_write_ratio": f"{small} / {of}"}
    assert expected == _filled(template, **metrics)
    assert expected == renamed([template], expected, lambda *_: "x")
    assert f"At once, {expected[0].lower()}{expected[1:]}" == _filled(f"At once, {template}", **metrics)


def test_all_of_an_unknown_number_are_said_to_be_all() -> None:
    """A count whose whole no metric has is said to be all as well; one that is not known, or whose share is not, is not."""
    template = "{indep_read_requests_count} reads ({indep_read_ratio:.0%}) were independent."
    for count, ratio, expected in (
        ("7::BIGINT", "1.0", "All 7 reads"),
        ("7::BIGINT", "NULL", "7 reads (?)"),
        ("NULL", "1", "? reads"),
    ):
        filled = _filled(template, indep_read_requests_count=count, indep_read_ratio=f"{ratio}::DOUBLE")
        assert filled.startswith(expected)
        assert filled == renamed([template], filled, lambda *_: "x")


@pytest.mark.parametrize("seconds", [0.04, 9.96, 59.9, 60.0, 974.5, 3599.99, 3723.0, 86_400.0, 172_799.0, 172_800.0, 1e7])
def test_durations_come_as_people_say_them(seconds: float) -> None:
    """Seconds, and the time of one rank alone, are in their two largest units, as pages have them."""
    assert human_seconds(seconds) == _filled("{meta_seconds_per_rank}", meta_seconds_per_rank=f"{seconds}::DOUBLE")
    assert human_seconds(seconds) == _filled("{rank0_core_seconds:s}", rank0_core_seconds=f"{seconds}::DOUBLE")


def test_sentences_of_earlier_versions_are_known() -> None:
    """Names in what an earlier version wrote, in core-minutes or with a share of 100%, are still found."""
    template = (
        "{small_write_count} of {write_count} writes ({small_write_ratio:.0%}) took {meta_core_seconds} for {longest_meta_path}."
    )
    before = "9 of 9 writes (100%) took 0.0423 core-minutes for"
    assert f"{before} x." == renamed([template], f"{before} /a.", lambda *_: "x")


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        *(("17179869184", "16 GiB"), ("1536", "1.5 KiB"), ("100", "100 bytes"), ("1", "1 byte"), ("NULL", "?")),
        *(("2142244976", "2 GiB"), ("14595836186", "13.6 GiB"), ("12886", "12.6 KiB")),
    ],
)
def test_bytes_come_with_a_unit(count: str, expected: str) -> None:
    """Bytes have a binary unit, and the plain number where a template asks for its digits."""
    assert expected == _filled("{read_bytes}", read_bytes=f"{count}::BIGINT")
    if count != "NULL":
        assert f"{int(count):,}" == _filled("{read_bytes:,}", read_bytes=f"{count}::BIGINT")


@given(st.integers(1024, 2**63 - 1) | st.integers(1024, 2**31))
@pytest.mark.proof
def test_bytes_are_rounded_as_pages_round_them(count: int) -> None:
    """A finding and the page around it have the same digits; a finding leaves out a zero after the point."""
    assert human_bytes(count).replace(".0 ", " ") == _filled("{read_bytes}", read_bytes=f"{count}::BIGINT")


@given(st.integers(0, 2**20))
@pytest.mark.proof
def test_osts_have_the_name_that_people_know(index: int) -> None:
    """An OST has its index and Lustre's name of it, the same in SQL and in Python, and a server's name gives the same index."""
    assert ost_name(index) == _filled("{slow_ost_id}", slow_ost_id=str(index))
    target = f"scratch-OST{index:04x}"
    assert f"OST {index} ({target})" == target_name(target)
    assert ost_name(index) == f"{index} ({target.removeprefix('scratch-')})"


@pytest.mark.parametrize("name", ["scratch-MDT0001", "OST", "scratch-OST00zz", "scratch-OST0013-osc-ffff8800", ""])
def test_other_targets_keep_their_name(name: str) -> None:
    """What names no OST stays as it is."""
    assert name == target_name(name)


def test_text_around_slots_is_kept_exactly() -> None:
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


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("/scratch/ann/out.h5", "/scratch/ann"),
        ("/scratch/it's here/a b", "/scratch/it's here"),
        ("/x/$(rm -rf ~)/`id`;\n>|&", "/x/$(rm -rf ~)"),
        ("-rf", "."),
        ("-d/-f", "-d"),
        ("/top", "/"),
        ("//top", "/"),
        ("a//b", "a"),
        ("/é/ü", "/é"),
    ],
)
def test_paths_in_commands_are_one_word_of_a_shell(path: str, folder: str) -> None:
    """A shell takes a path in a command for that path, whatever is in it, and no command takes it for an option."""
    for spec, expected in (("file", path), ("folder", folder)):
        written = _filled(f"{{small_read_path:{spec}}}", small_read_path=quoted(path))
        assert shell_word(expected) == written
        said = subprocess.run(["sh", "-c", f"printf %s {written}"], capture_output=True, text=True, check=True).stdout
        assert (expected, False) == (said.removeprefix("./"), said.startswith("-"))


def _metrics(template: str, name: str, number: float | None) -> dict[str, str]:
    """What a template asks for, each text one name and each number one number."""
    slots = {part.metric for part in parts(template) if isinstance(part, Slot)}
    shown = "NULL" if number is None else f"{str(number)!r}"
    texts = {metric for metric in slots if FIELDS[metric].kind is Kind.TEXT}
    return {metric: quoted(name) if metric in texts else f"try_cast({shown} AS {_type(metric)})" for metric in sorted(slots)}


def _type(metric: str) -> str:
    return "DOUBLE" if FIELDS[metric].unit in {"s", "core s"} or FIELDS[metric].kind in {Kind.RATIO, Kind.NUMBER} else "BIGINT"


@pytest.mark.proof
@given(st.sampled_from(TEMPLATES), NAMES, NAMES, NUMBERS)
def test_names_in_sentences_are_changed_and_nothing_else(template: str, name: str, other: str, number: float | None) -> None:
    """A sentence with other names in it is the one that would have been written of those names, whatever is in a name."""
    before, after = (_filled(template, **_metrics(template, each, number)) for each in (name, other))
    folder = other.rpartition("/")[0].rstrip("/") or "/" if "/" in other else "."
    names = {"": other, "file": shell_word(other), "folder": shell_word(folder)}
    assert after == renamed([template], before, lambda slot, _: names[slot.spec])


def test_what_a_template_does_not_give_is_found() -> None:
    """Nothing is changed in a sentence that was written otherwise, since nobody knows where the names in it are."""
    template = "{read_count} reads of {reread_path}."
    assert renamed([template], "7 writes of /home/ann.", lambda *_: "x") is None
    assert renamed([template], "seven reads of /home/ann.", lambda *_: "x") is None
    assert "7 reads of unknown." == renamed([template], "7 reads of unknown.", lambda *_: "x")
