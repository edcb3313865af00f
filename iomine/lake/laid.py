"""Concatenates Parquet files: row groups stay compressed as they are, and one new footer says where they all are.

A footer is `FileMetaData` of parquet.thrift (apache/parquet-format) in Thrift's compact protocol. All of it is copied, except for
the number of rows and the places of row groups. The files are trusted, as the program's own. A field that is not known here may
be a place too, so files that have one are not laid.
"""

import shutil
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

_MAGIC: Final = b"PAR1"
_TAIL: Final = struct.Struct("<I4s")
# Types of the protocol.
_NUMBERS: Final = (4, 5, 6)
_BYTES_OF: Final = {1: 0, 2: 0, 3: 1, 7: 8}
_BINARY, _LIST, _STRUCT = 8, 9, 12
# A longer list has its length in a separate number.
_LONG: Final = 15
# Bits of a number in each byte, and the flag that more bytes follow.
_SEVEN_BITS, _MORE = 127, 128
# Fields of a file, by their numbers in parquet.thrift.
_ROWS, _GROUPS = 3, 4
# For each known field of a struct: whether its offset is raised, or the same map for a nested struct.
_Known = Mapping[int, "_Known | bool"]
# Offsets in a row group, in each of its column chunks, and in the metadata of the chunk. Field 2 of a chunk is
# deprecated, and 0. Chunks that are encrypted, or are in another file, have fields that are left out here.
_OF_CHUNK: Final[_Known] = dict.fromkeys(range(1, 18), False) | dict.fromkeys((9, 10, 11, 14), True)
_PLACES: Final[_Known] = dict.fromkeys(range(2, 8), False) | {
    1: {2: False, 3: _OF_CHUNK, 4: True, 5: False, 6: True, 7: False},
    5: True,
}
_ORDINAL: Final[_Known] = dict.fromkeys(range(1, 7), False) | {7: True}


class _UnknownFieldError(Exception):
    """A row group has a field that is not known here."""


class _Footer(NamedTuple):
    """The footer of a file.

    Attributes:
        begin: where in the file it begins.
        head: what precedes the number of rows, such as the schema.
        row_count: number of rows.
        groups: its row groups.
        rest: what follows these.
    """

    begin: int
    head: bytes
    row_count: int
    groups: Sequence[bytes]
    rest: bytes


def laid(paths: Sequence[Path], path: Path) -> bool:
    """Makes one file of the row groups of several, in their order.

    Args:
        paths: the files.
        path: of the new file.

    Returns:
        False if no file was made, since the files differ in more than their rows (columns, notes, or writer), or have a field
        that is not known here.
    """
    footers = [_footer(each) for each in paths]
    if any((footer.head, footer.rest) != (footers[0].head, footers[0].rest) for footer in footers):
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("wb") as out:
            _lay(paths, footers, out)
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, _UnknownFieldError):
            return False
        raise
    return True


def _lay(paths: Sequence[Path], footers: Sequence[_Footer], out: BinaryIO) -> None:
    groups: list[bytes] = []
    for path, footer in zip(paths, footers, strict=True):
        at = out.tell()
        groups += [_raised(_raised(group, at, _PLACES), len(groups), _ORDINAL) for group in footer.groups]
        with path.open("rb") as file:
            shutil.copyfileobj(file, out)
        # Nobody looks for the footer there.
        out.seek(at + footer.begin)
    row_count = _coded(2 * sum(footer.row_count for footer in footers))
    of_groups = bytes((1 << 4 | _LIST, _LONG << 4 | _STRUCT)) + _coded(len(groups))
    data = b"".join((footers[0].head, row_count, of_groups, *groups, footers[0].rest))
    out.write(data + _TAIL.pack(len(data), _MAGIC))
    out.truncate()


def _footer(path: Path) -> _Footer:
    with path.open("rb") as file:
        end = file.seek(-_TAIL.size, 2)
        begin = file.seek(end - _TAIL.unpack(file.read())[0])
        data = file.read(end - begin)
    spans = {field: span for field, _, *span in _fields(data)}
    (rows_at, _), (groups_at, groups_end) = spans[_ROWS], spans[_GROUPS]
    groups = [data[at:end] for at, end in _items(data, groups_at)]
    return _Footer(begin, data[:rows_at], _number(data, rows_at)[0] // 2, groups, data[groups_end:])


def _raised(data: bytes, by: int, fields: _Known) -> bytes:
    """A struct in which some numbers are higher.

    Raises:
        _UnknownFieldError: it has another field.
    """
    pieces, done = [], 0
    for field, kind, at, end in _fields(data):
        if field not in fields:
            raise _UnknownFieldError
        within = fields[field]
        if within is False:
            continue
        for begin, stop in _items(data, at) if kind == _LIST else ((at, end),):
            raised = _coded(_number(data, begin)[0] + 2 * by) if within is True else _raised(data[begin:stop], by, within)
            pieces += [data[done:begin], raised]
            done = stop
    return b"".join((*pieces, data[done:]))


def _fields(data: bytes, at: int = 0) -> Iterator[tuple[int, int, int, int]]:
    """Fields of a struct: number, type, and where the value begins and ends."""
    field = 0
    while data[at]:
        step, kind = divmod(data[at], 16)
        at += 1
        if step:
            field += step
        else:
            number, at = _number(data, at)
            field = number // 2
        end = _end(data, at, kind)
        yield field, kind, at, end
        at = end


def _items(data: bytes, at: int) -> Iterator[tuple[int, int]]:
    """Where the items of a list begin and end."""
    count, kind, at = _list(data, at)
    for _ in range(count):
        end = _end(data, at, kind)
        yield at, end
        at = end


def _end(data: bytes, at: int, kind: int) -> int:
    """Where a value ends."""
    if kind in _NUMBERS:
        return _number(data, at)[1]
    if kind == _BINARY:
        size, at = _number(data, at)
        return at + size
    if kind == _LIST:
        count, kind, at = _list(data, at)
        for _ in range(count):
            at = _end(data, at, kind)
        return at
    if kind == _STRUCT:
        return max((end for *_, end in _fields(data, at)), default=at) + 1
    return at + _BYTES_OF[kind]


def _list(data: bytes, at: int) -> tuple[int, int, int]:
    """Length of a list, type of its items, and where they begin."""
    count, kind = divmod(data[at], 16)
    at += 1
    if count == _LONG:
        count, at = _number(data, at)
    return count, kind, at


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number without a sign, seven bits to a byte, and where it ends; one that may be negative is twice as large, or odd."""
    number = shift = 0
    while data[at] > _SEVEN_BITS:
        number |= (data[at] & _SEVEN_BITS) << shift
        at, shift = at + 1, shift + 7
    return number | data[at] << shift, at + 1


def _coded(number: int) -> bytes:
    """The bytes of such a number."""
    low = bytearray()
    while number > _SEVEN_BITS:
        low.append(number & _SEVEN_BITS | _MORE)
        number >>= 7
    return bytes((*low, number))
