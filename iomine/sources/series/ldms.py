"""CSV of LDMS's `store_csv`: counters of Lustre's servers and clients, sampled every so many seconds.

Schemas may follow one another, each after its own header. Times are seconds since the epoch, or milliseconds and the
microseconds beyond them (`time_format=1`). A client's counters have its device as target and its host as owner.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from iomine.errors import UnreadableError
from iomine.sources.model import Input, Readings, Source
from iomine.sources.series.doubts import complete_lines, counted, joined
from iomine.sources.series.ldms_schema import Columns, Schema, schema_of
from iomine.sources.series.rows import COUNTER, Column, Integers, rows, whole
from iomine.sources.series.times import SECOND, instants, steps_of, time_doubt

KIND: Final = "ldms"
_HEADER: Final = re.compile(rb'^"?#?"?Time(?:_msec)?"?,[^\n]*', re.MULTILINE)
_TIMES: Final = ("Time", "Time_msec", "Time_usec")
_JOB: Final = "job_id"
_HOST: Final = "ProducerName"
_LAST_IO: Final = "snapshot_time"
_MILLISECONDS: Final = 1000
_MOST_HEADERS: Final = 1000
_MOST_NAMES: Final = 12
_LABEL: Final = pa.dictionary(pa.int32(), pa.string())
# Before this the server's clock was not set, or counts from when it booted.
_OLDEST_SECONDS: Final = 1_000_000_000


@dataclass(slots=True)
class _Heap:
    """What comes together while a file is read."""

    tables: list[pa.Table] = field(default_factory=list)
    steps: list[Integers] = field(default_factory=list)
    columns_left_out: dict[str, None] = field(default_factory=dict)
    schemas_left_out: int = 0
    rows_left_out: int = 0
    bad_rows: int = 0


def _knows(given: Input) -> bool:
    return bool(_HEADER.match(given.data))


def _read(given: Input) -> Readings:
    lines, cut = complete_lines(_utf8(given.data))
    heap, is_of_lustre = _Heap(), False
    for header, body in _sections(lines).items():
        names = _names(header)
        schema = schema_of(names)
        if not schema.counters:
            heap.schemas_left_out += 1
            heap.rows_left_out += body.count(b"\n")
        else:
            heap.columns_left_out |= dict.fromkeys(schema.left_out)
            if body.strip():
                _add(heap, names, schema, body)
        is_of_lustre |= bool(schema.counters)
    if not is_of_lustre:
        raise UnreadableError(
            f"The file has no counters of Lustre, but columns such as {_named(schema.left_out)}: give what LDMS stores of its "
            "samplers lustre_ost, lustre_mdt or lustre_client."
        )
    tables = {COUNTER: pa.concat_tables(heap.tables)} if heap.tables else {}
    return Readings(tables, joined(*_doubts(heap), cut))


def _utf8(data: bytes) -> bytes:
    """The same with bytes that are no UTF-8 written out, as pyarrow stumbles over them."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "backslashreplace").encode()
    return data


def _sections(data: bytes) -> dict[bytes, bytes]:
    """Rows by the header that they stand under."""
    headers = list(_HEADER.finditer(data))
    if not headers or headers[0].start():
        raise UnreadableError("The file does not begin with a header of LDMS, a line that begins with #Time.")
    ends = [header.start() for header in headers[1:]] + [len(data)]
    parts: dict[bytes, list[bytes]] = {}
    for header, end in zip(headers, ends, strict=True):
        parts.setdefault(header[0].strip(), []).append(data[header.end() + 1 : end])
    if len(parts) > _MOST_HEADERS:
        raise UnreadableError(f"The file has {len(parts):,} different headers; no more than {_MOST_HEADERS:,} are read.")
    return {header: b"".join(bodies) for header, bodies in parts.items()}


def _names(header: bytes) -> list[str]:
    try:
        names = next(csv.reader([header.decode("utf-8", "backslashreplace")]))
    except csv.Error as error:
        raise UnreadableError(f"A header cannot be read: {error}.") from error
    names[0] = names[0].removeprefix("#")
    if len(set(names)) < len(names) or not ({"Time"} <= set(names) or {"Time_msec", "Time_usec"} <= set(names)):
        raise UnreadableError("A header has two columns of the same name, or none of time.")
    return names


def _add(heap: _Heap, names: Sequence[str], schema: Schema, body: bytes) -> None:
    table, bad_rows = _parsed(names, schema, body)
    heap.bad_rows += bad_rows
    at = _instants(table)
    heap.steps.append(steps_of(at, _series(table, _labels(schema))))
    heap.tables += [_rows(counter, schema, table, at) for counter in schema.counters]


def _owner(schema: Schema) -> str | None:
    """Column of the owner of the counters, None where they are of the whole target."""
    if schema.is_of_jobs:
        return _JOB
    return _HOST if schema.counters[0].target_kind == "client" else None


def _labels(schema: Schema) -> list[str]:
    """Columns of text that identify a series."""
    return list(dict.fromkeys(name for name in (schema.target or _HOST, _owner(schema)) if name))


def _parsed(names: Sequence[str], schema: Schema, body: bytes) -> tuple[pa.Table, int]:
    """The columns that are wanted, and how many rows do not have as many as the header."""
    bad_rows = 0

    def skip(_: object) -> str:
        nonlocal bad_rows
        bad_rows += 1
        return "skip"

    times = [name for name in _TIMES if name in names] + ([_LAST_IO] if schema.is_of_jobs else [])
    numbers = dict.fromkeys(column for counter in schema.counters for column in counter.columns)
    types = dict.fromkeys(_labels(schema), _LABEL) | dict.fromkeys([*times, *numbers], pa.float64())
    try:
        table = pacsv.read_csv(
            pa.BufferReader(body),
            read_options=pacsv.ReadOptions(column_names=names),
            parse_options=pacsv.ParseOptions(invalid_row_handler=skip),
            convert_options=pacsv.ConvertOptions(include_columns=list(types), column_types=types),
        )
    except pa.ArrowException as error:
        raise UnreadableError(f"The rows cannot be read: {str(error).splitlines()[0]}.") from error
    return table.unify_dictionaries().combine_chunks(), bad_rows


def _instants(table: pa.Table) -> Integers:
    if "Time" in table.column_names:
        return instants(table["Time"].to_numpy())
    return instants(table["Time_msec"].to_numpy() / _MILLISECONDS + table["Time_usec"].to_numpy() / SECOND)


def _series(table: pa.Table, names: Sequence[str]) -> Integers:
    """A number for each row, the same where the labels are."""
    series = np.zeros(len(table), np.int64)
    for name in names:
        column = table[name].combine_chunks()
        series = series * len(column.dictionary) + column.indices.to_numpy()
    return series


def _rows(counter: Columns, schema: Schema, table: pa.Table, at: Integers) -> pa.Table:
    columns: dict[str, Column] = {
        "sampled_at": at,
        "source_kind": KIND,
        "target": counter.target or table[schema.target].combine_chunks(),
        "target_kind": counter.target_kind,
        "counter": counter.counter,
        "counter_unit": counter.unit,
    }
    return rows(COUNTER, len(table), columns | _whom(schema, table) | _amounts(counter, table))


def _whom(schema: Schema, table: pa.Table) -> dict[str, Column]:
    owner = _owner(schema)
    if owner is None:
        return {"scope": "target", "owner": ""}
    if owner == _HOST:
        return {"scope": "client", "owner": table[owner].combine_chunks()}
    last = table[_LAST_IO].to_numpy()
    known = np.where(last > _OLDEST_SECONDS, last, 0)
    return {"scope": "job", "owner": table[owner].combine_chunks(), "last_io_at": pa.array(instants(known), mask=known == 0)}


def _amounts(counter: Columns, table: pa.Table) -> dict[str, Column]:
    found: dict[str, Column] = {}
    if counter.samples:
        found["sample_count"] = whole(table[counter.samples].to_numpy())
    if counter.amount:
        found["amount"] = table[counter.amount].to_numpy()
    return found


def _named(columns: Sequence[str]) -> str:
    more = len(columns) - _MOST_NAMES
    return ", ".join(columns[:_MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def _doubts(heap: _Heap) -> list[str]:
    columns = list(heap.columns_left_out)
    return [
        time_doubt(np.concatenate(heap.steps)) if heap.steps else "",
        counted(heap.bad_rows, "rows were left out, as they do not have their header's columns"),
        f"columns that are no counters were left out: {_named(columns)}" if columns else "",
        counted(
            heap.schemas_left_out, f"schemas that have no counters of Lustre were left out, with {heap.rows_left_out:,} rows"
        ),
    ]


SOURCE: Final = Source(KIND, _knows, _read)
