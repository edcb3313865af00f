"""Server statistics and accounting in a sweep: new ones are identified, and read into staged files."""

import hashlib
import os
from bisect import bisect_right, insort
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from iomine import __version__
from iomine.errors import UnreadableError
from iomine.lake import LakeFile, ParquetSink, as_warehouse_errors
from iomine.lake.files import new_file_path
from iomine.pipeline.ingest.find import shown
from iomine.pipeline.ingest.reader import CHANGED, Refused
from iomine.schema.registry import arrow_schema
from iomine.sources.archive import Member, Unread, is_archive, members
from iomine.sources.clock import moment_given
from iomine.sources.darshan import GONE
from iomine.sources.lustre.parameters import target_named
from iomine.sources.model import ELSEWHERE, SNAPSHOTS, Input, Readings
from iomine.sources.opening import opened

# Errors that Python raises if an input is at fault.
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
_TOO_MUCH: Final = "Reading it takes more memory than there is."

_Part = tuple[str, date, pa.Table]


class Key(NamedTuple):
    """What identifies a reading: its bytes, and what the bytes do not say.

    Attributes:
        sha256: of its bytes, in hex.
        target: target that its path names, None where it names none.
        owner: client that its path names, None where it names none.
        sampled_at: when it was read by its path or its time of change; None where the bytes say so.
    """

    sha256: str
    target: str | None
    owner: str | None
    sampled_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewInput:
    """An input that is to be read: a file, or a member of an archive.

    Attributes:
        path: of the file, or of the member below its archive.
        key: what identifies it.
        size_bytes: its size.
        modified_at: when it was last changed.
        archive: the archive that it is a member of, empty where it is a file.
        member: its number there.
    """

    path: str
    key: Key
    size_bytes: int
    modified_at: datetime
    archive: str = ""
    member: int = 0

    @property
    def place(self) -> str:
        """The file on disk."""
        return self.archive or self.path


@dataclass(frozen=True, slots=True)
class InputBatch:
    """Inputs that are read together.

    Attributes:
        cluster: the machine that they are from.
        zone: name of the time zone of times without one.
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
        refused: inputs that were not, and why.
    """

    files: tuple[LakeFile, ...]
    rows: tuple[Mapping[str, Any], ...]
    refused: tuple[tuple[NewInput, UnreadableError], ...]


def known_keys(source_files: pa.Table, cluster: str) -> set[Key]:
    """The keys of inputs that were read, but for those with rows of this cluster that were read for another one.

    Args:
        source_files: rows of the table `source_file`.
        cluster: the machine that is swept.
    """
    is_here = pc.equal(source_files["cluster"].cast(pa.string()), cluster)
    is_left = pc.match_substring(source_files["doubt"].cast(pa.string()), ELSEWHERE).fill_null(fill_value=False)
    return {
        Key(*key.values()) for key in source_files.filter(pc.or_(is_here, pc.invert(is_left))).select(Key._fields).to_pylist()
    }


def is_known(key: Key, known: Collection[Key]) -> bool:
    """Whether an input was read: with the same bytes, and at the same moment unless the bytes say theirs."""
    return key in known or key._replace(sampled_at=None) in known


class Holding:
    """Snapshots that were read, each of which holds until the next of its kind.

    Args:
        source_files: rows of the table `source_file`.
        cluster: the machine whose snapshots count.
    """

    def __init__(self, source_files: pa.Table, cluster: str) -> None:
        self._kinds: dict[str, str] = {}
        self._read: dict[str, list[tuple[datetime, str]]] = {}
        rows = source_files.select(["source_kind", "sha256", "first_at", "cluster"])
        is_one = pc.is_in(rows["source_kind"].cast(pa.string()), pa.array(sorted(SNAPSHOTS)))
        is_here = pc.equal(rows["cluster"].cast(pa.string()), cluster)
        for row in rows.filter(pc.and_(pc.and_(is_one, is_here), rows["first_at"].is_valid())).to_pylist():
            self._kinds[row["sha256"]] = row["source_kind"]
            insort(self._read.setdefault(row["source_kind"], []), (row["first_at"], row["sha256"]))

    def __contains__(self, sha256: str) -> bool:
        """Whether bytes are those of a snapshot."""
        return sha256 in self._kinds

    def says(self, key: Key) -> bool:
        """Whether the snapshot that holds at the moment of an input has its bytes; if not, the input holds from then on."""
        kind = self._kinds.get(key.sha256)
        if kind is None or key.sampled_at is None:
            return False
        read, new = self._read[kind], (key.sampled_at, key.sha256)
        place = bisect_right(read, new)
        if place and read[place - 1][1] == key.sha256:
            return True
        read.insert(place, new)
        return False


def hash_all(paths: Sequence[str], zone: str) -> list[list[NewInput | Refused]]:
    """What is in each file, by its bytes, or why it cannot be examined: one input, or the members of an archive.

    Args:
        paths: the files.
        zone: name of the time zone of times in paths without one.
    """
    return [_hash(path, ZoneInfo(zone)) for path in paths]


def _hash(path: str, zone: ZoneInfo) -> list[NewInput | Refused]:
    try:
        if is_archive(Path(path)):
            return [_hash_member(path, each, zone) for each in members(Path(path))]
        with opened(path) as file:
            sha256 = hashlib.file_digest(file, "sha256")
            modified_at = datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, UTC)
            return [NewInput(path, _key(path, sha256.hexdigest(), modified_at, zone), file.tell(), modified_at)]
    except FileNotFoundError:
        return [Refused(path, GONE, False)]
    except OSError as error:
        return [Refused(path, f"The file cannot be read: {error.strerror}.", False)]


def _hash_member(archive: str, member: Member | Unread, zone: ZoneInfo) -> NewInput | Refused:
    if isinstance(member, Unread):
        return Refused(member.path, member.error.reason, member.error.is_final)
    key = _key(member.path, hashlib.sha256(member.data).hexdigest(), member.modified_at, zone)
    return NewInput(member.path, key, len(member.data), member.modified_at, archive, member.number)


def _key(path: str, sha256: str, modified_at: datetime, zone: ZoneInfo) -> Key:
    return Key(sha256, *target_named(path), moment_given(Input(path, b"", modified_at, zone)))


def read_inputs(batch: InputBatch, staging: Path) -> InputsResult:
    """Reads a batch into a staged file for each table and night.

    Raises:
        WarehouseError: the staged files cannot be written.
    """
    rows, refused = [], []
    with as_warehouse_errors(staging), ExitStack() as stack:
        sinks = _NightSinks(staging, batch.cluster, stack)
        for each, data in _opened(batch.inputs):
            try:
                kind, readings = _read(each, data, batch)
                # Everything is read before anything is written: a file is read whole or refused.
                parts = list(_by_night(readings))
            except UnreadableError as error:
                refused.append((each, error))
            except MemoryError:
                refused.append((each, UnreadableError(_TOO_MUCH, False)))
            except _AT_FAULT as error:
                refused.append((each, UnreadableError(f"Its reader failed ({type(error).__name__}: {error}).")))
            else:
                sinks.write(parts)
                rows.append(_row(each, batch.cluster, kind, readings))
        stack.pop_all().close()
    return InputsResult(tuple(sinks.files()), tuple(rows), tuple(refused))


def _opened(inputs: Iterable[NewInput]) -> Iterator[tuple[NewInput, bytes | UnreadableError]]:
    """Inputs with their bytes, or why these are missing; consecutive members of an archive are read in one pass."""
    for _, group in groupby(inputs, attrgetter("place")):
        left = {each.member: each for each in group}
        fault = UnreadableError(CHANGED, False)
        try:
            for number, data in _contents(next(iter(left.values()))):
                if each := left.pop(number, None):
                    yield each, data
                if not left:
                    break
        except OSError as error:
            fault = UnreadableError(f"The file cannot be read: {error.strerror}.", False)
        except MemoryError:
            fault = UnreadableError(_TOO_MUCH, False)
        yield from ((each, fault) for each in left.values())


def _contents(first: NewInput) -> Iterator[tuple[int, bytes]]:
    """What is at the place of an input, by its number there."""
    if not first.archive:
        with opened(first.path) as file:
            yield 0, file.read()
        return
    yield from ((each.number, each.data) for each in members(Path(first.archive)) if isinstance(each, Member))


def _read(each: NewInput, data: bytes | UnreadableError, batch: InputBatch) -> tuple[str, Readings]:
    # Their readers take half a second to load, which sweeps of logs alone need not wait for.
    from iomine.sources.inputs import open_input, read_input  # noqa: PLC0415

    if isinstance(data, UnreadableError):
        raise data
    if hashlib.sha256(data).hexdigest() != each.key.sha256:
        raise UnreadableError(CHANGED, False)
    return read_input(open_input(each.path, data, each.modified_at, ZoneInfo(batch.zone), batch.cluster))


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
        **each.key._asdict(),
        "sampled_at": None if readings.has_moment else each.key.sampled_at,
        "cluster": cluster,
        "source_kind": kind,
        "size_bytes": each.size_bytes,
        "row_count": sum(rows.num_rows for rows in tables),
        "first_at": min((pc.min(column).as_py() for column in moments), default=None),
        "last_at": max((pc.max(column).as_py() for column in moments), default=None),
        "doubt": readings.doubt or None,
        "reader_version": __version__,
        "at": datetime.now(UTC),
    }
