"""Server statistics and accounting in a sweep: told from known ones, and read into staged files."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from iomine import __version__
from iomine.errors import UnreadableError
from iomine.lake import LakeFile, ParquetSink, faults_told
from iomine.lake.files import new_file_path
from iomine.pipeline.find import shown
from iomine.pipeline.reader import CHANGED, Refused
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import GONE
from iomine.sources.model import Readings

# Python answers what an input may make it do with one of these.
_AT_FAULT: Final = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    OverflowError,
    ArithmeticError,
    RecursionError,
    pa.ArrowException,
)


_Part = tuple[str, date, pa.Table]


@dataclass(frozen=True, slots=True)
class NewInput:
    """An input that is to be read."""

    path: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class InputBatch:
    """Inputs that are read together.

    Attributes:
        cluster: the machine that they tell of.
        zone: name of the time zone of times that do not tell theirs.
        inputs: the inputs.
    """

    cluster: str
    zone: str
    inputs: tuple[NewInput, ...]


@dataclass(frozen=True, slots=True)
class InputsResult:
    """What came of a batch.

    Attributes:
        files: staged files.
        rows: of the table `source_file`, one for each input that was read.
        refused: inputs that were not.
    """

    files: tuple[LakeFile, ...]
    rows: tuple[Mapping[str, Any], ...]
    refused: tuple[Refused, ...]


def digest_all(paths: Sequence[str]) -> list[NewInput | UnreadableError]:
    """What each input is, by its bytes, or why it cannot be looked at."""
    return [_digest(path) for path in paths]


def _digest(path: str) -> NewInput | UnreadableError:
    try:
        with Path(path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
            return NewInput(path, digest.hexdigest(), file.tell())
    except FileNotFoundError:
        return UnreadableError(GONE, False)
    except OSError as error:
        return UnreadableError(f"The file cannot be read: {error.strerror}.", False)


def read_inputs(batch: InputBatch, staging: Path) -> InputsResult:
    """Reads a batch into a staged file for each table and night.

    Raises:
        WarehouseError: the staged files cannot be written.
    """
    rows, refused = [], []
    with faults_told(staging), ExitStack() as stack:
        sinks = _NightSinks(staging, batch.cluster, stack)
        for each in batch.inputs:
            try:
                kind, readings = _read(each, ZoneInfo(batch.zone))
                # All of it before any of it is written: a file is read whole or refused.
                parts = list(_by_night(readings))
            except UnreadableError as error:
                refused.append(Refused(each.path, error.reason, error.is_final))
            except MemoryError:
                refused.append(Refused(each.path, "Reading it takes more memory than there is.", is_final=False))
            except _AT_FAULT as error:
                refused.append(
                    Refused(each.path, f"It makes no sense to its reader ({type(error).__name__}: {error}).", is_final=True)
                )
            else:
                sinks.write(parts)
                rows.append(_row(each, batch.cluster, kind, readings))
        stack.pop_all().close()
    return InputsResult(tuple(sinks.files()), tuple(rows), tuple(refused))


def _read(each: NewInput, zone: ZoneInfo) -> tuple[str, Readings]:
    # Their readers take half a second to load, which sweeps of logs alone need not wait for.
    from iomine.sources.inputs import open_input, read_input  # noqa: PLC0415

    path = Path(each.path)
    try:
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != each.sha256:
            raise UnreadableError(CHANGED, False)
        return read_input(open_input(path, data, zone))
    except OSError as error:
        raise UnreadableError(f"The file cannot be read: {error.strerror}.", False) from error


def _by_night(readings: Readings) -> Iterator[_Part]:
    """Rows by table and night, as their table has them."""
    for table, rows in readings.tables.items():
        if rows["night"].null_count:
            raise ValueError(f"there are rows of {table} that belong to no night")
        for night in pc.unique(rows["night"]).to_pylist():
            schema = arrow_schema(table)
            yield table, night, rows.filter(pc.equal(rows["night"], night)).select(schema.names).cast(schema)


class _NightSinks:
    """Writes rows of many inputs, a file for each table and night that gets any."""

    def __init__(self, staging: Path, cluster: str, stack: ExitStack) -> None:
        self._staging, self._cluster, self._stack = staging, cluster, stack
        self._sinks: dict[tuple[str, date], ParquetSink] = {}

    def write(self, parts: Iterable[_Part]) -> None:
        """Adds what an input holds."""
        for table, night, rows in parts:
            if (table, night) not in self._sinks:
                sink = ParquetSink(table, new_file_path(self._staging, table, self._cluster, night))
                self._sinks[table, night] = self._stack.enter_context(sink)
            self._sinks[table, night].write(rows)

    def files(self) -> Iterator[LakeFile]:
        """The files, once they are finished."""
        return (sink.lake_file(self._cluster, night) for (_, night), sink in self._sinks.items())


def _row(each: NewInput, cluster: str, kind: str, readings: Readings) -> dict[str, Any]:
    tables = readings.tables.values()
    moments = [
        column
        for rows in tables
        for name in ("sampled_at", "begin_at", "start_at", "end_at")
        if name in rows.column_names and (column := rows[name]).null_count < len(column)
    ]
    return {
        "path": shown(each.path),
        "sha256": each.sha256,
        "cluster": cluster,
        "source_kind": kind,
        "size_bytes": each.size_bytes,
        "row_count": sum(rows.num_rows for rows in tables),
        "first_at": min((pc.min(column).as_py() for column in moments), default=None),
        "last_at": max((pc.max(column).as_py() for column in moments), default=None),
        "doubt": readings.doubt,
        "reader_version": __version__,
        "at": datetime.now(UTC),
    }
