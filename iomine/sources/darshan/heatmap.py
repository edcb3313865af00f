"""Heat maps: bytes read and written by each rank in time bins.

A record (`darshan-heatmap-log-format.h`): record id, rank, width of a bin in seconds, number of bins, two pointers that
mean nothing on disk, then the write bins and the read bins.
"""

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.sources.darshan.decoded import TOO_MANY, WORD_BYTES, Columns, Decoded, Words, labels, native_words

_HEAD: Final = 6
_HEAD_PART, _WRITE_PART, _READ_PART = range(3)
# Record ids that Darshan gives the heat maps of its layers (`heatmap:POSIX` and so on, hashed).
_HASHES: Final = {"posix": 16592106915301738621, "stdio": 3989511027826779520, "mpiio": 3668870418325792824}
LAYER_IDS: Final = {layer: int(np.uint64(hash_).astype(np.int64)) for layer, hash_ in _HASHES.items()}
_LAYER_OF: Final = {id_: layer for layer, id_ in LAYER_IDS.items()}


def decode_heatmap(data: bytes, order: str) -> Decoded:
    """Heat map records, read as far as their bins fit the region."""
    words = native_words(data, order)
    starts, end = _starts(words)
    damage = "" if end * WORD_BYTES == len(data) else f"bytes from {end * WORD_BYTES:,} on are not heat maps"
    if not len(starts):
        return Decoded(damage=damage)
    widths, counts = words[starts + 2].view(np.float64), words[starts + 3]
    ids = words[starts]
    written, read = _written_and_read(words[:end], counts)
    layers, codes = np.unique(ids, return_inverse=True)
    columns = {
        "file_id": pa.array(ids),
        "rank": pa.array(words[starts + 1]),
        "layer": labels(codes, [_LAYER_OF.get(id_) for id_ in layers.tolist()]),
        "bin_seconds": pa.array(widths),
        "bin_count": pa.array(counts),
        "write_bins": _bins(written, counts),
        "read_bins": _bins(read, counts),
    }
    damage = damage or _disagreement(ids, widths, counts) or _oddness(have_bytes(columns))
    return Decoded({"heatmap_rank": columns}, len(starts), damage)


def _written_and_read(words: Words, counts: Words) -> tuple[Words, Words]:
    """The write bins and the read bins of all records, which lie end to end."""
    first = int(counts[0])
    if (counts == first).all():
        bins = words.reshape(len(counts), _HEAD + 2 * first)[:, _HEAD:]
        return bins[:, :first].ravel(), bins[:, first:].ravel()
    part = np.repeat(
        np.tile(np.array([_HEAD_PART, _WRITE_PART, _READ_PART], np.int8), len(counts)),
        np.stack([np.full(len(counts), _HEAD), counts, counts], axis=1).ravel(),
    )
    return words[part == _WRITE_PART], words[part == _READ_PART]


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
    odd = len(is_sound) - int(is_sound.sum())
    return f"{odd:,} of {len(is_sound):,} heat maps have bins that are no bytes" if odd else ""


def _starts(words: Words) -> tuple[Words, int]:
    """Where records start, and where the last that makes sense ends, in words."""
    if len(words) >= _HEAD and words[3] >= 0:
        # Nearly always all ranks have the same number of bins, and there is no need to go from record to record.
        width = _HEAD + 2 * int(words[3])
        starts = np.arange(0, len(words), width)
        if len(words) % width == 0 and (words[starts + 3] == words[3]).all() and _are_widths(words[starts + 2]).all():
            return starts, len(words)
    walked: list[int] = []
    position = 0
    while position + _HEAD <= len(words):
        bins = int(words[position + 3])
        end = position + _HEAD + 2 * bins
        if bins < 0 or end > len(words) or not _are_widths(words[position + 2 : position + 3]).all():
            break
        walked.append(position)
        position = end
    return np.array(walked, dtype=np.int64), position


def _are_widths(words: Words) -> npt.NDArray[np.bool_]:
    """A width of zero or none at all is what other modules' bytes look like when they are taken for heat maps."""
    widths = words.view(np.float64)
    return (widths > 0) & (widths < np.inf)


def _bins(bins: Words, counts: Words) -> pa.Array:
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(bins))


def _disagreement(ids: Words, widths: npt.NDArray[np.float64], counts: Words) -> str:
    """Why heat maps of one layer cannot be laid over each other, empty where they can."""
    if (widths == widths[0]).all() and (counts == counts[0]).all():
        return ""
    for id_ in np.unique(ids):
        same = ids == id_
        for what, values in (("bin width", widths[same]), ("number of bins", counts[same])):
            if len(np.unique(values)) > 1:
                return f"ranks disagree on the {what}, so that their time bins cannot be laid over each other"
    return ""
