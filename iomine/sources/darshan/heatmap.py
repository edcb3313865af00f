"""Heat maps: bytes read and written by each rank in time bins.

A record (`darshan-heatmap-log-format.h`): record id, rank, width of a bin in seconds, number of bins, two pointers that
mean nothing on disk, then the write bins and the read bins.
"""

from typing import Final

import numpy as np
import pyarrow as pa

from iomine.sources.darshan.decoded import WORD_BYTES, Decoded, Words, labels, native_words

_HEAD: Final = 6
_HEAD_PART, _WRITE_PART, _READ_PART = range(3)
# Record ids that Darshan gives the heat maps of its layers (`heatmap:POSIX` and so on, hashed).
_LAYERS: Final = {16592106915301738621: "posix", 3989511027826779520: "stdio", 3668870418325792824: "mpiio"}
_LAYER_OF: Final = {int(np.uint64(id_).astype(np.int64)): layer for id_, layer in _LAYERS.items()}


def decode_heatmap(data: bytes, order: str) -> Decoded:
    """Heat map records, read as far as their bins fit the region."""
    words = native_words(data, order)
    widths = words[2:].view(np.float64)
    heads: list[tuple[int, int]] = []
    position = 0
    while position + _HEAD <= len(words):
        bins = int(words[position + 3])
        end = position + _HEAD + 2 * bins
        # A width of zero or none at all is what other modules' bytes look like when they are taken for heat maps.
        if bins < 0 or end > len(words) or not 0 < widths[position] < np.inf:
            break
        heads.append((position, bins))
        position = end
    damage = "" if position * WORD_BYTES == len(data) else f"bytes from {position * WORD_BYTES:,} on are not heat maps"
    if not heads:
        return Decoded(damage=damage)
    starts, counts = (np.array(column) for column in zip(*heads, strict=True))
    ids = words[starts]
    part = np.repeat(
        np.tile(np.array([_HEAD_PART, _WRITE_PART, _READ_PART], np.int8), len(heads)),
        np.stack([np.full(len(heads), _HEAD), counts, counts], axis=1).ravel(),
    )
    layers, codes = np.unique(ids, return_inverse=True)
    columns = {
        "file_id": pa.array(ids),
        "rank": pa.array(words[starts + 1]),
        "layer": labels(codes, [_LAYER_OF.get(id_) for id_ in layers.tolist()]),
        "bin_seconds": pa.array(widths[starts]),
        "bin_count": pa.array(counts),
        "write_bins": _bins(words[:position][part == _WRITE_PART], counts),
        "read_bins": _bins(words[:position][part == _READ_PART], counts),
    }
    return Decoded({"heatmap_rank": columns}, len(heads), damage or _disagreement(ids, widths[starts], counts))


def _bins(bins: Words, counts: Words) -> pa.Array:
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(bins))


def _disagreement(ids: Words, widths: np.ndarray, counts: Words) -> str:
    """Why heat maps of one layer cannot be laid over each other, empty where they can."""
    for id_ in np.unique(ids):
        same = ids == id_
        for what, values in (("bin width", widths[same]), ("number of bins", counts[same])):
            if len(np.unique(values)) > 1:
                return f"ranks disagree on the {what}, so that their time bins cannot be laid over each other"
    return ""
