"""Lustre layouts: every component of a file's layout with the OSTs that it is striped over.

Version 2 (`darshan-lustre-log-format.h`): record id, rank, components, stripes; a component has seven counters and a
pool name of 16 bytes; then the OST indices of all components in turn. Version 1 knew one component only: OSTs and MDTs
of the file system, stripe offset, stripe size, stripe width, then the OST indices.
"""

from typing import Final

from iomine.schema.counters import LUSTRE_COMPONENT, field_of
from iomine.sources.darshan.decoded import WORD_BYTES, Decoded, native_words

_TABLE: Final = "lustre_component"
_COUNTERS: Final = tuple(field_of(word).name for word in LUSTRE_COMPONENT)
_COLUMNS: Final = ("file_id", "rank", "component", *_COUNTERS, "pool_name", "ost_ids", "fs_ost_count", "fs_mdt_count")
_STRIPES: Final = _COUNTERS.index("stripe_count")
_POOL_BYTES: Final = 16
_COMPONENT_WORDS: Final = len(_COUNTERS) + _POOL_BYTES // WORD_BYTES
_HEAD_V2: Final = 4
_HEAD_V1: Final = 7
_NOT_KNOWN: Final = -1
_SHARED: Final = -1


def _decoded(rows: list[tuple[object, ...]], record_count: int, damage: str) -> Decoded:
    if not rows:
        return Decoded(damage=damage)
    columns = {name: list(values) for name, values in zip(_COLUMNS, zip(*rows, strict=True), strict=True)}
    return Decoded({_TABLE: columns}, record_count, damage)


def decode_lustre(data: bytes, version: int, order: str) -> Decoded:
    """Records of version 1 or 2, read as far as they make sense."""
    words = native_words(data, order).tolist()
    rows: list[tuple[object, ...]] = []
    count, end = _walk_v1(words, rows) if version == 1 else _walk_v2(words, data, rows)
    damage = "" if end * WORD_BYTES == len(data) else f"bytes from {end * WORD_BYTES:,} on are not Lustre records"
    return _decoded(rows, count, damage)


def _walk_v1(words: list[int], rows: list[tuple[object, ...]]) -> tuple[int, int]:
    count = position = 0
    while position + _HEAD_V1 <= len(words):
        first_ost = position + _HEAD_V1
        file_id, rank, osts, mdts, _offset, size, width = words[position:first_ost]
        end = first_ost + width
        if width < 0 or rank < _SHARED or end > len(words):
            break
        # What the record does not say, libdarshan-util gives as -1, the whole file as 0 to -1.
        says = (size, width, _NOT_KNOWN, _NOT_KNOWN, 0, -1, _NOT_KNOWN)
        rows.append((file_id, rank, 0, *says, None, words[first_ost:end], osts, mdts))
        count, position = count + 1, end
    return count, position


def _walk_v2(words: list[int], data: bytes, rows: list[tuple[object, ...]]) -> tuple[int, int]:
    count = position = 0
    while position + _HEAD_V2 <= len(words):
        first = position + _HEAD_V2
        file_id, rank, components, stripes = words[position:first]
        first_ost = first + components * _COMPONENT_WORDS
        end = first_ost + stripes
        if components < 0 or stripes < 0 or rank < _SHARED or end > len(words):
            break
        widths = words[first + _STRIPES : first_ost : _COMPONENT_WORDS]
        if min(widths, default=0) < 0 or sum(widths) > stripes:
            break
        if not components:
            rows.append((file_id, rank, *([None] * (len(_COLUMNS) - 2))))
        ost = first_ost
        for index, width in enumerate(widths):
            at = first + index * _COMPONENT_WORDS
            pool_at = (at + len(_COUNTERS)) * WORD_BYTES
            pool = data[pool_at : pool_at + _POOL_BYTES].split(b"\0")[0].decode("utf-8", "backslashreplace")
            says = words[at : at + len(_COUNTERS)]
            rows.append((file_id, rank, index, *says, pool or None, words[ost : ost + width], None, None))
            ost += width
        count, position = count + 1, end
    return count, position
