"""Words and tables hold together: each column is a known word, and a word's name has its unit."""

import re

import pyarrow as pa
import pytest

from iomine.schema import FIELDS, TABLES, Kind, Privacy, field, table
from iomine.schema.counters import COUNTERS, columns_of, field_of
from iomine.schema.registry import arrow_schema

# How the names of a kind end; what is not here has no unit, or a unit that its sentence gives.
_ENDINGS = {
    Kind.BYTES: "_bytes",
    Kind.SECONDS: "_seconds",
    Kind.CORE_SECONDS: "_core_seconds",
    Kind.RATIO: "_ratio",
    Kind.COUNT: "_count",
    Kind.TIME: "at",
    Kind.DATE: "night",
}


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_unit_is_in_the_name(name: str) -> None:
    """A field with a unit ends in it, and no field without that unit ends so."""
    kind = FIELDS[name].kind
    if kind in _ENDINGS and not re.search(r"_per_rank$", name):
        assert name.endswith(_ENDINGS[kind])
    for other in (Kind.BYTES, Kind.SECONDS, Kind.RATIO, Kind.COUNT):
        if name.endswith(_ENDINGS[other]):
            assert kind is other or (kind, other) == (Kind.CORE_SECONDS, Kind.SECONDS)


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_each_field_says_what_it_is(name: str) -> None:
    """A field is registered under its own name and explained in sentences."""
    entry = field(name)
    assert entry.name == name
    assert re.fullmatch(r"[a-z][a-z0-9_]*", name)
    assert re.fullmatch(r"[A-Za-z0-9].*\.", entry.about)


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_each_text_and_id_has_a_decision_on_privacy(name: str) -> None:
    """What may name people or places says what an anonymised export makes of it; a new column cannot be forgotten."""
    entry = field(name)
    if entry.kind in {Kind.TEXT, Kind.LABEL, Kind.TEXTS, Kind.ID}:
        assert isinstance(entry.privacy, Privacy)


@pytest.mark.parametrize("name", sorted(TABLES))
def test_tables_hold_known_words(name: str) -> None:
    """A table is registered under its own name, says what a row is, and lists known fields, each once."""
    entry = table(name)
    assert entry.name == name
    assert entry.about.endswith(".")
    assert len(set(entry.columns)) == len(entry.columns)
    assert set(entry.columns + entry.partition_keys) <= set(FIELDS)
    assert not set(entry.columns) & set(entry.partition_keys)


@pytest.mark.parametrize("name", sorted(TABLES))
def test_arrow_schema(name: str) -> None:
    """A table's Arrow schema has its columns in order, with the fields' types and units, keys in front where asked for."""
    entry = table(name)
    for with_keys, columns in ((False, entry.columns), (True, entry.partition_keys + entry.columns)):
        schema = arrow_schema(name, with_partition_keys=with_keys)
        assert [*columns] == schema.names
        assert [field(column).type for column in columns] == schema.types
        assert [field(column).unit.encode() for column in columns] == [entry.metadata[b"unit"] for entry in schema]


@pytest.mark.parametrize("module", sorted(COUNTERS))
def test_counters_become_distinct_fields(module: str) -> None:
    """No two counters of a module become the same field; integers become integers and floats floats."""
    counters = COUNTERS[module]
    assert len(set(columns_of(module))) == len(counters.integers) + len(counters.floats)
    assert {pa.int64()} == {field_of(word).type for word in counters.integers}
    assert {pa.float64()} == {field_of(word).type for word in counters.floats}


@pytest.mark.parametrize(
    ("word", "name", "kind"),
    [
        ("BYTES_READ", "read_bytes", Kind.BYTES),
        ("OPENS", "open_count", Kind.COUNT),
        ("OBJ_FETCHES", "obj_fetch_count", Kind.COUNT),
        ("FLUSHES", "flush_count", Kind.COUNT),
        ("SIZE_READ_AGG_100_1K", "read_size_100_1k_count", Kind.COUNT),
        ("SIZE_WRITE_1G_PLUS", "write_size_1g_plus_count", Kind.COUNT),
        ("F_CLOSE_END_TIMESTAMP", "close_end_seconds", Kind.SECONDS),
        ("STRIDE2_STRIDE", "stride2_bytes", Kind.BYTES),
        ("ACCESS3_LENGTH_D4", "access3_length_d4_count", Kind.COUNT),
        ("BPUT_VARM", "bput_varm_count", Kind.COUNT),
        ("ENODES", "torus_e_count", Kind.COUNT),
    ],
)
def test_words_become_fields(word: str, name: str, kind: Kind) -> None:
    """A counter's word becomes a field that reads as English and has its unit."""
    assert (name, kind) == (field_of(word).name, field_of(word).kind)


def test_unknown_words() -> None:
    """A word that nobody explained is an error, not a field."""
    for unknown in (field_of, field, table):
        with pytest.raises(KeyError):
            unknown("F_NO_SUCH_WORD")
