"""Recorder's traces as `recorder2parquet` writes them: a folder of `_metadata`, `global.json` and parts, a row for each call.

Calls have no descriptor, offset or result: `size` is what a read or write asked for. Times are seconds since some start, which is
not said, as floats of 32 bits, so that they get coarser as the run goes on.
"""

import io
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from iomine.errors import UnreadableError
from iomine.schema.ops import OPS, OtherCalls
from iomine.sources.traced import CALLS, KINDS, Floats, Integers, Requests, Traced, file_id_of, segments_of

MAGIC: Final = b"PAR1"
# Parts within the folder.
PARTS: Final = "part.*.parquet"
GLOBAL: Final = "global.json"
_COLUMNS: Final[Mapping[str, pa.DataType]] = {
    "rank": pa.int64(),
    "tstart": pa.float64(),
    "tend": pa.float64(),
    "func_id": pa.large_string(),
    "file_name": pa.large_string(),
    "hostname": pa.large_string(),
    "size": pa.int64(),
}
# A million ranks, and calls of less than a TiB, are more than any run has.
_MOST_RANKS: Final = 2**20
_MOST_BYTES: Final = 2**40
_LONGEST_SECONDS: Final = 1e9
_LONGEST_PATH: Final = 4096


def read_recorder(parts: Sequence[bytes]) -> Traced:
    """A run from the bytes of its parts.

    Raises:
        UnreadableError: a part is damaged, or none of recorder2parquet's, or there is nothing in them.
    """
    calls = pa.concat_tables([_calls_in(part) for part in parts]).combine_chunks() if parts else None
    if calls is None or not len(calls):
        raise UnreadableError("The folder holds no parts with calls: run recorder2parquet again.")
    is_sound = _is_sound(calls)
    sound = calls.filter(pa.array(is_sound))
    lost = len(calls) - len(sound)
    if 2 * lost > len(calls):
        raise UnreadableError(f"More than half of its calls cannot be ({lost:,} of {len(calls):,}): run recorder2parquet again.")
    ranks = sound["rank"].to_numpy()
    end = float(sound["tend"].to_numpy().max())
    paths, files = _coded(sound["file_name"])
    file_ids = np.array([file_id_of(path) for path in paths], np.int64)[files]
    hosts, host_codes = _coded(sound["hostname"])
    host_of = {rank: hosts[code] for rank, code in dict(zip(ranks.tolist(), host_codes.tolist(), strict=True)).items()}
    functions, codes = _coded(sound["func_id"])
    segments, others = [], []
    for layer, names in CALLS.items():
        kinds = [names.get(function) for function in functions]
        op = np.array([OPS.index(kind) if kind in OPS else -1 for kind in kinds])[codes]
        other = np.array([KINDS[layer].index(kind) if kind is not None and kind not in OPS else -1 for kind in kinds])[codes]
        if (at := np.flatnonzero(op >= 0)).size:
            offsets = np.full(len(at), -1)
            lengths = sound["size"].to_numpy()[at]
            requests = Requests(file_ids[at], ranks[at], op[at], offsets, lengths, *_times(sound, at))
            segments.append(segments_of(layer, requests, host_of))
        at = np.flatnonzero(other >= 0)
        others.append(OtherCalls(layer, file_ids[at], ranks[at], other[at], KINDS[layer], *_times(sound, at)))
    lost_sentence = f"{lost:,} calls have times, ranks or sizes that cannot be and were left out" if lost else ""
    step = float(np.spacing(np.float32(end)))
    doubt = f"the trace does not say when the run started, and its times are known to {step * 1e6:,.0f} microseconds at its end"
    return Traced(
        tool="recorder",
        start_at=None,
        run_seconds=end,
        nprocs=int(ranks.max()) + 1,
        command=None,
        event_count=len(calls),
        segments=segments,
        calls=others,
        paths=dict(zip(file_ids.tolist(), np.array(paths, object)[files].tolist(), strict=True)),
        notes="bytes are those that calls asked for",
        not_watched="what Recorder traced of it is not read",
        lost=lost_sentence,
        doubt="; ".join(filter(None, (lost_sentence, doubt))),
    )


def missing_parts(metadata: bytes, names: Collection[str]) -> list[str]:
    """Parts that a folder's metadata lists and that are not there, sorted.

    Args:
        metadata: the bytes of `_metadata`.
        names: of the parts that are there.

    Raises:
        UnreadableError: the metadata is damaged.
    """
    try:
        footer = pq.read_metadata(io.BytesIO(metadata))
        listed = {footer.row_group(group).column(0).file_path for group in range(footer.num_row_groups)}
    except (pa.ArrowException, OSError, ValueError, IndexError) as error:
        raise UnreadableError(f"The folder's _metadata is damaged ({error}).") from error
    return sorted(listed.difference(names, ("",)))


def _calls_in(data: bytes) -> pa.Table:
    try:
        table = pq.read_table(io.BytesIO(data), columns=[*_COLUMNS], use_threads=False)
        return table.select([*_COLUMNS]).cast(pa.schema(_COLUMNS.items()))
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        raise UnreadableError(f"A part is damaged, or was not written by recorder2parquet ({error}).") from error


def _is_sound(calls: pa.Table) -> npt.NDArray[np.bool_]:
    rank, size = (calls[name].fill_null(-1).to_numpy() for name in ("rank", "size"))
    start, end = (calls[name].fill_null(np.nan).to_numpy() for name in ("tstart", "tend"))
    is_named = pc.and_(*(pc.is_valid(calls[name]) for name in ("file_name", "func_id"))).to_numpy()
    is_short = pc.less_equal(pc.utf8_length(calls["file_name"].fill_null("")), _LONGEST_PATH).to_numpy()
    is_timed = (start >= 0) & (end >= start) & (end < _LONGEST_SECONDS)
    found: npt.NDArray[np.bool_] = is_named & is_short & is_timed & (rank >= 0) & (rank < _MOST_RANKS)
    found &= (size >= 0) & (size < _MOST_BYTES)
    return found


def _coded(column: pa.ChunkedArray) -> tuple[list[str], Integers]:
    """Distinct texts, and the index of each row's."""
    coded = column.fill_null("").combine_chunks().dictionary_encode()
    return coded.dictionary.to_pylist(), coded.indices.to_numpy().astype(np.int64)


def _times(calls: pa.Table, at: Integers) -> tuple[Floats, Floats]:
    """Starts and ends of some calls."""
    return calls["tstart"].to_numpy()[at], calls["tend"].to_numpy()[at]
