"""Lustre layouts: every component of a file's layout with the OSTs that it is striped over.

Version 2 (`darshan-lustre-log-format.h`): record id, rank, components, stripes; a component has seven counters and a
pool name of 16 bytes; then the OST indices of all components in turn. Version 1 knew one component only: OSTs and MDTs
of the file system, stripe offset, stripe size, stripe width, then the OST indices.
"""

from collections.abc import Sequence
from typing import Final, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.schema.counters import LUSTRE_COMPONENT, field_of
from iomine.sources.darshan.decoded import NATIVE, WORD_BYTES, Decoded, Packed, Words, native_words

_TABLE: Final = "lustre_component"
_COUNTERS: Final = tuple(field_of(word).name for word in LUSTRE_COMPONENT)
_HEAD: Final = ("file_id", "rank")
_SYSTEM: Final = ("fs_ost_count", "fs_mdt_count")
_COLUMNS: Final = (*_HEAD, "component", *_COUNTERS, "pool_name", "ost_ids", *_SYSTEM)
_STRIPES: Final = _COUNTERS.index("stripe_count")
_POOL: Final = len(_COUNTERS)
_POOL_WORDS: Final = 16 // WORD_BYTES
_COMPONENT_WORDS: Final = _POOL + _POOL_WORDS
_HEAD_V2: Final = 4
_HEAD_V1: Final = 7
_NOT_KNOWN: Final = -1
_SHARED: Final = -1
# Instead of the number of a component, where a record has none.
_NONE: Final = -1

# Of each row where its record begins, the number of its component, where its OSTs begin, and the version of its record.
_Rows = list[tuple[int, int, int, int]]


class Components(Packed):
    """Components of layouts.

    Attributes:
        words: records as version 2 has them, before one of version 1 what only that says; names of pools as they lay there.
        rows: where among these each row has what, as `_Rows` lists it.
    """

    names = _COLUMNS

    def __init__(self, words: Words, rows: Words) -> None:
        self.words = words
        self.rows = rows

    @classmethod
    def stacked(cls, parts: Sequence[Self]) -> Self:
        """Components one part after the other."""
        ends = np.cumsum([len(part.words) for part in parts])
        shifts = np.repeat(np.append(0, ends[:-1]), [len(part.rows) for part in parts])
        rows = np.concatenate([part.rows for part in parts])
        rows[:, 0] += shifts
        rows[:, 2] += shifts
        return cls(np.concatenate([part.words for part in parts]), rows)

    @classmethod
    def columns_of(cls, parts: Sequence[Self]) -> dict[str, pa.Array | pa.ChunkedArray]:
        """All columns of these."""
        return dict(cls.stacked(parts))

    def taken(self, rows: Words) -> Self:
        """Some of the components."""
        return type(self)(self.words, self.rows[rows])

    def __getitem__(self, name: str) -> pa.Array:
        records, numbers, osts, versions = self.rows.T
        is_none = numbers == _NONE
        firsts = records + _HEAD_V2 + numbers * _COMPONENT_WORDS
        if name in _HEAD:
            return self._words(records + _HEAD.index(name))
        if name in _SYSTEM:
            return self._words(records - len(_SYSTEM) + _SYSTEM.index(name), versions != 1)
        if name == "component":
            return pa.array(numbers, mask=is_none)
        if name == "pool_name":
            return self._pools(np.where(is_none, _NONE, firsts + _POOL))
        if name == "ost_ids":
            counts = np.where(is_none, 0, self.words.take(firsts + _STRIPES, mode="clip"))
            ends = np.cumsum(counts)
            places = np.arange(counts.sum()) + np.repeat(osts - (ends - counts), counts)
            offsets = pa.array(np.append(0, ends).astype(np.int32))
            return pa.ListArray.from_arrays(offsets, pa.array(self.words[places]), mask=pa.array(is_none))
        return self._words(firsts + _COUNTERS.index(name), is_none)

    def _words(self, places: Words, is_null: npt.NDArray[np.bool_] | None = None) -> pa.Array:
        return pa.array(self.words.take(places, mode="clip"), mask=is_null)

    def _pools(self, places: Words) -> pa.Array:
        """Names of pools, by where each lies, if anywhere."""
        # Most files are in none.
        if not self.words.take(places, mode="clip")[places != _NONE].any():
            return pa.nulls(len(places), pa.string())
        pools = [b"" if at == _NONE else self.words[at : at + _POOL_WORDS].tobytes() for at in places.tolist()]
        return pa.array([pool.split(b"\0")[0].decode("utf-8", "backslashreplace") or None for pool in pools], pa.string())

    @property
    def row_count(self) -> int:
        """Number of components, and of records without any."""
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """Memory that they take."""
        return self.words.nbytes + self.rows.nbytes


def decode_lustre(data: bytes, version: int, order: str) -> Decoded:
    """Records of version 1 or 2, read as far as they make sense."""
    words = native_words(data, order)
    if version == 1:
        found, listed, count, end = _walk_v1(words.tolist())
        words = np.array(found, np.int64)
    else:
        listed, count, end = _walk_v2(words.tolist())
    damage = "" if end * WORD_BYTES == len(data) else f"bytes from {end * WORD_BYTES:,} on are not Lustre records"
    if not listed:
        return Decoded(damage=damage)
    rows = np.array(listed, np.int64)
    if order != NATIVE:
        own = rows[rows[:, 1] != _NONE]
        pools = (own[:, 0] + _HEAD_V2 + own[:, 1] * _COMPONENT_WORDS + _POOL)[:, None] + np.arange(_POOL_WORDS)
        words[pools] = words[pools].byteswap()
    return Decoded({_TABLE: Components(words, rows)}, count, damage)


def _walk_v1(words: list[int]) -> tuple[list[int], _Rows, int, int]:
    """The records as version 2 has them, their rows and number, and where the last of them ends."""
    found: list[int] = []
    rows: _Rows = []
    position = 0
    while position + _HEAD_V1 <= len(words):
        first_ost = position + _HEAD_V1
        file_id, rank, osts, mdts, _offset, size, width = words[position:first_ost]
        end = first_ost + width
        if width < 0 or rank < _SHARED or end > len(words):
            break
        found += (osts, mdts)
        record = len(found)
        # What the record does not say, libdarshan-util gives as -1, the whole file as 0 to -1.
        found += (file_id, rank, 1, width, size, width, _NOT_KNOWN, _NOT_KNOWN, 0, -1, _NOT_KNOWN, *[0] * _POOL_WORDS)
        rows.append((record, 0, len(found), 1))
        found += words[first_ost:end]
        position = end
    return found, rows, len(rows), position


def _walk_v2(words: list[int]) -> tuple[_Rows, int, int]:
    """The rows of records, their number, and where the last of them ends."""
    rows: _Rows = []
    count = position = 0
    while position + _HEAD_V2 <= len(words):
        first = position + _HEAD_V2
        _, rank, components, stripes = words[position:first]
        ost = first + components * _COMPONENT_WORDS
        end = ost + stripes
        if components < 0 or stripes < 0 or rank < _SHARED or end > len(words):
            break
        widths = words[first + _STRIPES : ost : _COMPONENT_WORDS]
        if min(widths, default=0) < 0 or sum(widths) > stripes:
            break
        if not components:
            rows.append((position, _NONE, ost, 2))
        for number, width in enumerate(widths):
            rows.append((position, number, ost, 2))
            ost += width
        count, position = count + 1, end
    return rows, count, position
