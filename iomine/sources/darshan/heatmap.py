"""Heat maps: bytes read and written by each rank in time bins. Bins without bytes, which are most, are not kept.

A record (`darshan-heatmap-log-format.h`): record id, rank, width of a bin in seconds, number of bins, two pointers that
mean nothing on disk, then the write bins and the read bins.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.sources.darshan.decoded import TOO_MANY, WORD_BYTES, Columns, Decoded, Packed, Words, labels, native_words

_HEAD: Final = 6
_WIDTH_AT, _BINS_AT = 2, 3
_PLACES: Final = {"file_id": 0, "rank": 1, "bin_seconds": _WIDTH_AT, "bin_count": _BINS_AT}
_BINS: Final = ("read_bin_numbers", "read_bin_amounts", "write_bin_numbers", "write_bin_amounts")
_COLUMNS: Final = ("file_id", "rank", "layer", "bin_seconds", "bin_count", *_BINS)
# Record ids that Darshan gives the heat maps of its layers (`heatmap:POSIX` and so on, hashed).
_HASHES: Final = {"posix": 16592106915301738621, "stdio": 3989511027826779520, "mpiio": 3668870418325792824}
LAYER_IDS: Final = {layer: int(np.uint64(hash_).astype(np.int64)) for layer, hash_ in _HASHES.items()}
_LAYER_OF: Final = {id_: layer for layer, id_ in LAYER_IDS.items()}


class Filled(NamedTuple):
    """Bins of one direction that hold something; most hold nothing.

    Attributes:
        counts: how many each record has.
        numbers: which bins of their records they are, those of all records end to end.
        moved_bytes: what each holds.
    """

    counts: Words
    numbers: npt.NDArray[np.int32]
    moved_bytes: Words

    @classmethod
    def of_bins(cls, bins: Words, sizes: Words) -> Self:
        """Those of all bins.

        Args:
            bins: what each bin of each record holds, record by record, in any shape.
            sizes: how many bins each record has.
        """
        bins, ends = bins.ravel(), np.cumsum(sizes)
        filled = np.flatnonzero(bins != 0)
        counts = np.searchsorted(filled, ends)
        counts[1:] -= counts[:-1].copy()
        return cls(counts, (filled - np.repeat(ends - sizes, counts)).astype(np.int32), bins[filled])

    @classmethod
    def stacked(cls, parts: Sequence[Self]) -> Self:
        """Those of several records, one part after the other."""
        return parts[0] if len(parts) == 1 else cls(*map(np.concatenate, zip(*parts, strict=True)))

    def taken(self, is_wanted: npt.NDArray[np.bool_]) -> Self:
        """Those of some of the records."""
        bins = np.repeat(is_wanted, self.counts)
        return type(self)(self.counts[is_wanted], self.numbers[bins], self.moved_bytes[bins])

    def lists(self, values: npt.NDArray[np.integer[Any]]) -> pa.ListArray:
        """Values of all bins, a list for each record."""
        offsets = np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))


class HeatMaps(Packed):
    """Heat map records.

    Attributes:
        heads: what precedes the bins of each, a word a column.
        written: bins that were written.
        read: bins that were read.
    """

    names = _COLUMNS

    def __init__(self, heads: Words, written: Filled, read: Filled) -> None:
        self.heads = heads
        self.written = written
        self.read = read

    @classmethod
    def stacked(cls, parts: Sequence[Self]) -> Self:
        """Records of one table, one part after the other."""
        heads, *filled = zip(*((part.heads, part.written, part.read) for part in parts), strict=True)
        return cls(np.concatenate(heads), *map(Filled.stacked, filled))

    @classmethod
    def columns_of(cls, parts: Sequence[Self]) -> dict[str, pa.Array]:
        """All columns of these."""
        return dict(cls.stacked(parts))

    def taken(self, rows: Words) -> Self:
        """Some of the records."""
        is_wanted = np.isin(np.arange(len(self.heads)), rows)
        return type(self)(self.heads[rows], self.written.taken(is_wanted), self.read.taken(is_wanted))

    def __getitem__(self, name: str) -> pa.Array:
        if name in _BINS:
            filled = self.read if name.startswith("read") else self.written
            return filled.lists(filled.numbers if name.endswith("numbers") else filled.moved_bytes)
        if name == "layer":
            layers, codes = np.unique(self.heads[:, 0], return_inverse=True)
            return labels(codes, [_LAYER_OF.get(id_) for id_ in layers.tolist()])
        words = np.ascontiguousarray(self.heads[:, _PLACES[name]])
        return pa.array(words.view(np.float64) if name == "bin_seconds" else words)

    @property
    def row_count(self) -> int:
        """Number of records."""
        return len(self.heads)

    @property
    def nbytes(self) -> int:
        """Memory that they take."""
        return self.heads.nbytes + sum(column.nbytes for column in (*self.written, *self.read))

    @property
    def are_bytes(self) -> bool:
        """Whether all bins can be bytes, in one look at them: one below zero is beyond all as a number without a sign."""
        return all(bins.moved_bytes.view(np.uint64).max(initial=0) <= TOO_MANY for bins in (self.written, self.read))


def decode_heatmap(data: bytes, order: str) -> Decoded:
    """Heat map records, read as far as their bins fit the region."""
    words = native_words(data, order)
    maps, end = _maps(words)
    damage = "" if end * WORD_BYTES == len(data) else f"bytes from {end * WORD_BYTES:,} on are not heat maps"
    if not maps.row_count:
        return Decoded(damage=damage)
    damage = damage or _disagreement(maps.heads) or ("" if maps.are_bytes else _oddness(have_bytes(maps)))
    return Decoded({"heatmap_rank": maps}, maps.row_count, damage)


def have_bytes(columns: Columns) -> npt.NDArray[np.bool_]:
    """Which heat maps have bins that can be bytes; sound logs have some below zero for MPI-IO.

    Args:
        columns: of the table `heatmap_rank`.
    """
    is_sound = np.ones(len(columns["rank"]), bool)
    for name in ("read_bin_amounts", "write_bin_amounts"):
        bins: pa.ListArray = columns[name]
        values, offsets = bins.values.to_numpy(), bins.offsets.to_numpy()
        odd = np.cumsum(np.concatenate([[0], (values < 0) | (values > TOO_MANY)]))
        is_sound &= odd[offsets[1:]] == odd[offsets[:-1]]
    return is_sound


def _oddness(is_sound: npt.NDArray[np.bool_]) -> str:
    return f"{len(is_sound) - int(is_sound.sum()):,} of {len(is_sound):,} heat maps have bins that are no bytes"


def _maps(words: Words) -> tuple[HeatMaps, int]:
    """Records that make sense, and where the last of them ends, in words."""
    if len(words) >= _HEAD and words[_BINS_AT] >= 0:
        # Nearly always all ranks have the same number of bins, and there is no need to go from record to record.
        bins = int(words[_BINS_AT])
        width = _HEAD + 2 * bins
        if len(words) % width == 0:
            records = words.reshape(-1, width)
            if (records[:, _BINS_AT] == bins).all() and _are_widths(records[:, _WIDTH_AT]).all():
                written, read = records[:, _HEAD : _HEAD + bins], records[:, _HEAD + bins :]
                return _heat_maps(records[:, :_HEAD].copy(), written, read), len(words)
    nothing = words[:0]
    heads, written_bins, read_bins = [nothing.reshape(0, _HEAD)], [nothing], [nothing]
    position = 0
    while position + _HEAD <= len(words):
        bins = int(words[position + _BINS_AT])
        middle, end = position + _HEAD + bins, position + _HEAD + 2 * bins
        if bins < 0 or end > len(words) or not _are_widths(words[position + _WIDTH_AT : position + _WIDTH_AT + 1]).all():
            break
        heads.append(words[None, position : position + _HEAD])
        written_bins.append(words[position + _HEAD : middle])
        read_bins.append(words[middle:end])
        position = end
    return _heat_maps(*map(np.concatenate, (heads, written_bins, read_bins))), position


def _heat_maps(heads: Words, written: Words, read: Words) -> HeatMaps:
    """Records, from all their bins."""
    sizes = heads[:, _BINS_AT]
    return HeatMaps(heads, Filled.of_bins(written, sizes), Filled.of_bins(read, sizes))


def _are_widths(words: Words) -> npt.NDArray[np.bool_]:
    """A width of zero or none at all is what other modules' bytes look like when they are taken for heat maps."""
    widths = words.view(np.float64)
    return (widths > 0) & (widths < np.inf)


def _disagreement(heads: Words) -> str:
    """Why heat maps of one layer cannot be laid over each other, empty where they can."""
    ids, widths, counts = heads[:, 0], heads[:, _WIDTH_AT].view(np.float64), heads[:, _BINS_AT]
    if (widths == widths[0]).all() and (counts == counts[0]).all():
        return ""
    for id_ in np.unique(ids):
        same = ids == id_
        for what, values in (("bin width", widths[same]), ("number of bins", counts[same])):
            if len(np.unique(values)) > 1:
                return f"ranks disagree on the {what}, so that their time bins cannot be laid over each other"
    return ""
