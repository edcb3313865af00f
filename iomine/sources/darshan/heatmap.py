"""Heat maps: bytes read and written by each rank in time bins.

A record (`darshan-heatmap-log-format.h`): record id, rank, width of a bin in seconds, number of bins, two pointers that
mean nothing on disk, then the write bins and the read bins.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.sources.darshan.decoded import TOO_MANY, WORD_BYTES, Columns, Decoded, Packed, Words, labels, native_words

_HEAD: Final = 6
_WIDTH_AT, _BINS_AT = 2, 3
_PLACES: Final = {"file_id": 0, "rank": 1, "bin_seconds": _WIDTH_AT, "bin_count": _BINS_AT}
_HALVES: Final = {"write_bins": 0, "read_bins": 1}
_COLUMNS: Final = ("file_id", "rank", "layer", "bin_seconds", "bin_count", "write_bins", "read_bins")
# Record ids that Darshan gives the heat maps of its layers (`heatmap:POSIX` and so on, hashed).
_HASHES: Final = {"posix": 16592106915301738621, "stdio": 3989511027826779520, "mpiio": 3668870418325792824}
LAYER_IDS: Final = {layer: int(np.uint64(hash_).astype(np.int64)) for layer, hash_ in _HASHES.items()}
_LAYER_OF: Final = {id_: layer for layer, id_ in LAYER_IDS.items()}


class HeatMaps(Packed):
    """Heat map records.

    Attributes:
        blocks: records with the same number of bins, one a row, one 64-bit word a column.
    """

    def __init__(self, blocks: Sequence[Words]) -> None:
        self.blocks = blocks

    @classmethod
    def stacked(cls, parts: Sequence[Self]) -> Self:
        """Records of one table, one part after the other."""
        return cls([block for part in parts for block in part.blocks])

    def taken(self, rows: Words) -> Self:
        """Some of the records."""
        ends = np.cumsum([len(block) for block in self.blocks])
        split = np.split(rows, np.searchsorted(rows, ends[:-1]))
        return type(self)(
            [block[own - (end - len(block))] for block, own, end in zip(self.blocks, split, ends, strict=True) if len(own)]
        )

    def __getitem__(self, name: str) -> pa.Array:
        if name in _HALVES:
            half = _HALVES[name]
            bins = np.concatenate([block[:, _HEAD:].reshape(len(block), 2, -1)[:, half].ravel() for block in self.blocks])
            offsets = np.concatenate([[0], np.cumsum(self._head("bin_count"))]).astype(np.int32)
            return pa.ListArray.from_arrays(pa.array(offsets), pa.array(bins))
        if name == "layer":
            layers, codes = np.unique(self._head("file_id"), return_inverse=True)
            return labels(codes, [_LAYER_OF.get(id_) for id_ in layers.tolist()])
        words = self._head(name)
        return pa.array(words.view(np.float64) if name == "bin_seconds" else words)

    def _head(self, name: str) -> Words:
        at = _PLACES[name]
        return np.concatenate([block[:, at] for block in self.blocks])

    def __contains__(self, name: object) -> bool:
        return name in _COLUMNS

    def __iter__(self) -> Iterator[str]:
        return iter(_COLUMNS)

    def __len__(self) -> int:
        return len(_COLUMNS)

    @property
    def row_count(self) -> int:
        """Number of records."""
        return sum(map(len, self.blocks))

    @property
    def nbytes(self) -> int:
        """Memory that they take."""
        return sum(block.nbytes for block in self.blocks)

    @property
    def are_bytes(self) -> bool:
        """Whether all bins can be bytes, in one look at them: one below zero is beyond all as a number without a sign."""
        return all(block[:, _HEAD:].view(np.uint64).max(initial=0) <= TOO_MANY for block in self.blocks)


def decode_heatmap(data: bytes, order: str) -> Decoded:
    """Heat map records, read as far as their bins fit the region."""
    words = native_words(data, order)
    blocks, end = _blocks(words)
    damage = "" if end * WORD_BYTES == len(data) else f"bytes from {end * WORD_BYTES:,} on are not heat maps"
    if not blocks:
        return Decoded(damage=damage)
    maps = HeatMaps(blocks)
    damage = damage or _disagreement(blocks) or ("" if maps.are_bytes else _oddness(have_bytes(maps)))
    return Decoded({"heatmap_rank": maps}, maps.row_count, damage)


def have_bytes(columns: Columns) -> npt.NDArray[np.bool_]:
    """Which heat maps have bins that can be bytes; sound logs have some below zero for MPI-IO.

    Args:
        columns: of the table `heatmap_rank`.
    """
    is_sound = np.ones(len(columns["rank"]), bool)
    for name in ("write_bins", "read_bins"):
        bins: pa.ListArray = columns[name]
        values, offsets = bins.values.to_numpy(), bins.offsets.to_numpy()
        odd = np.cumsum(np.concatenate([[0], (values < 0) | (values > TOO_MANY)]))
        is_sound &= odd[offsets[1:]] == odd[offsets[:-1]]
    return is_sound


def _oddness(is_sound: npt.NDArray[np.bool_]) -> str:
    return f"{len(is_sound) - int(is_sound.sum()):,} of {len(is_sound):,} heat maps have bins that are no bytes"


def _blocks(words: Words) -> tuple[list[Words], int]:
    """Records that make sense, and where the last of them ends, in words."""
    if len(words) >= _HEAD and words[_BINS_AT] >= 0:
        # Nearly always all ranks have the same number of bins, and there is no need to go from record to record.
        width = _HEAD + 2 * int(words[_BINS_AT])
        if len(words) % width == 0:
            block = words.reshape(-1, width)
            if (block[:, _BINS_AT] == words[_BINS_AT]).all() and _are_widths(block[:, _WIDTH_AT]).all():
                return [block], len(words)
    blocks: list[Words] = []
    position = 0
    while position + _HEAD <= len(words):
        bins = int(words[position + _BINS_AT])
        end = position + _HEAD + 2 * bins
        if bins < 0 or end > len(words) or not _are_widths(words[position + _WIDTH_AT : position + _WIDTH_AT + 1]).all():
            break
        blocks.append(words[None, position:end])
        position = end
    return blocks, position


def _are_widths(words: Words) -> npt.NDArray[np.bool_]:
    """A width of zero or none at all is what other modules' bytes look like when they are taken for heat maps."""
    widths = words.view(np.float64)
    return (widths > 0) & (widths < np.inf)


def _disagreement(blocks: Sequence[Words]) -> str:
    """Why heat maps of one layer cannot be laid over each other, empty where they can."""
    heads = np.concatenate([block[:, :_HEAD] for block in blocks]) if len(blocks) > 1 else blocks[0][:, :_HEAD]
    ids, widths, counts = heads[:, 0], heads[:, _WIDTH_AT], heads[:, _BINS_AT]
    if (widths == widths[0]).all() and (counts == counts[0]).all():
        return ""
    for id_ in np.unique(ids):
        same = ids == id_
        for what, values in (("bin width", widths[same]), ("number of bins", counts[same])):
            if len(np.unique(values)) > 1:
                return f"ranks disagree on the {what}, so that their time bins cannot be laid over each other"
    return ""
