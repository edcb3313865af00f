"""DXT traces: every read and write of a rank on a file.

A record (`darshan-dxt-log-format.h`): record id, rank, shared flag, host name of 64 bytes, counts of writes and reads,
then the write segments and the read segments. A segment begins with offset, length, start and end; module versions
that came later, and builds that kept the version and changed the layout, append to it. So the size of a segment is
found by arithmetic: it must lay the records out so that they end where the region ends, each begin with a rank and a
host, and give times within the run.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from iomine.sources.darshan.decoded import WORD_BYTES, Decoded, Words, labels, native_words, texts

_HOST_AT: Final = 3 * WORD_BYTES
_HOST_BYTES: Final = 64
# What is wrong with a trace that is whole, and that no program can have made.
NO_SENSE: Final = "some records name no rank or host, or requests start or end outside the run or have a negative length"
_WRITES_AT: Final = 11
_HEAD: Final = 13
# Segment sizes in words: Darshan 3.x up to 3.5, then with a thread id, then builds that append text, then any other.
_PLAIN, _WITH_THREAD, _WITH_TEXT = 4, 5, 12
_KNOWN_SIZES: Final = (_PLAIN, _WITH_THREAD, _WITH_TEXT)
_SIZES: Final = (*_KNOWN_SIZES, *(size for size in range(6, 65) if size != _WITH_TEXT))
# The first version of MPI-IO traces had room for offsets but did not record them; libdarshan-util gives -1.
_WITHOUT_OFFSETS: Final = ("DXT_MPIIO", 1)
# No file is as long, and no clock as fine: an integer whose bits are those of a time, a time whose bits are an integer's.
_ABSURD_BYTES: Final = 1 << 60
_ABSURD_SECONDS: Final = float(np.finfo(np.float64).tiny)
# Records with fewer segments are taken apart together, since there may be many.
_MANY: Final = 256
_OPS: Final = 2
_SPACE: Final = ord(" ")
_NOT_KNOWN: Final = -1
_SHARED: Final = -1
_THREAD_TEXT: Final = b"pthread_id="
# The run's length is rounded to whole seconds before format 3.41, and clocks of nodes differ a little.
_CLOCK_SLACK_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class _Trace:
    """A region taken apart, under one size of segments.

    Attributes:
        starts: where records start, in words.
        counts: writes and reads of each record.
        columns: words of all segments, a row for the offsets, the lengths, the starts, the ends, and whatever is appended.
    """

    starts: Words
    counts: Words
    columns: Words


def decode_dxt(
    module: str, version: int, data: bytes, order: str, run_seconds: float | None, *, is_whole: bool = True
) -> Decoded:
    """Trace records and their segments.

    Args:
        module: `DXT_POSIX` or `DXT_MPIIO`.
        version: the module's version, which hints at the size of a segment.
        data: the region, inflated.
        order: struct code of its byte order.
        run_seconds: length of the run, None where it is not known.
        is_whole: nothing of the region is missing.
    """
    words = native_words(data, order)
    usual = _PLAIN if version <= (1 if module == "DXT_POSIX" else 2) else _WITH_THREAD
    trace, damage = (_filling_trace(data, words, usual, run_seconds) if is_whole else None) or _cut_trace(
        data, words, usual, run_seconds
    )
    records = len(trace.starts)
    if not records:
        return Decoded(damage=damage or "it holds no trace records")
    layer = module.removeprefix("DXT_").lower()
    host_codes, names = texts(data, trace.starts * WORD_BYTES + _HOST_AT, _HOST_BYTES)
    hosts = [name or None for name in names]
    ids, ranks = words[trace.starts], words[trace.starts + 1]
    offsets, lengths, starts, ends = trace.columns[:_PLAIN]
    if (module, version) == _WITHOUT_OFFSETS:
        offsets = np.full_like(offsets, _NOT_KNOWN)
    # The writes of a record, and then its reads, are a run: what is true of all in one is said once.
    runs = np.flatnonzero(trace.counts)
    run_ends = pa.array(np.cumsum(trace.counts.ravel()[runs]))

    def of_runs(values: pa.Array) -> pa.Array:
        return pa.RunEndEncodedArray.from_arrays(run_ends, values)

    records_of_runs = runs // _OPS
    return Decoded(
        {
            "dxt_file": {
                "file_id": pa.array(ids),
                "rank": pa.array(ranks),
                "layer": labels(0, [layer], records),
                "host": labels(host_codes, hosts),
                "write_count": pa.array(np.ascontiguousarray(trace.counts[:, 0])),
                "read_count": pa.array(np.ascontiguousarray(trace.counts[:, 1])),
            },
            "segment": {
                "layer": of_runs(labels(0, [layer], len(runs))),
                "file_id": of_runs(pa.array(ids[records_of_runs])),
                "rank": of_runs(pa.array(ranks[records_of_runs])),
                "host": of_runs(labels(host_codes[records_of_runs], hosts)),
                "op": of_runs(labels(runs % _OPS, ["write", "read"])),
                "offset_bytes": pa.array(offsets),
                "length_bytes": pa.array(lengths),
                "start_seconds": pa.array(starts.view(np.float64)),
                "end_seconds": pa.array(ends.view(np.float64)),
                **_threads(trace.columns[_PLAIN:], order),
            },
        },
        records,
        damage,
    )


def _filling_trace(data: bytes, words: Words, usual: int, run_seconds: float | None) -> tuple[_Trace, str] | None:
    """The reading that fills the region with sensible segments; otherwise one that fills it, and what is wrong with it."""
    filling: list[_Trace] = []
    for size in sorted(_SIZES, key=lambda size: size != usual):
        starts, end = _walk(words, size)
        if end != len(words):
            continue
        trace = _trace(words[:end], starts, size)
        if _is_sensible(data, words, trace, run_seconds):
            return trace, ""
        filling.append(trace)
    if filling:
        return filling[0], NO_SENSE
    return None


def _cut_trace(data: bytes, words: Words, usual: int, run_seconds: float | None) -> tuple[_Trace, str]:
    """The reading that makes sense as far as it goes, by a known size: where a region ends too early, none can fill it."""
    for size in sorted(_KNOWN_SIZES, key=lambda size: size != usual):
        starts, end = _walk(words, size)
        trace = _trace(words[:end], starts, size)
        if starts and _is_sensible(data, words, trace, run_seconds):
            return trace, f"bytes from {end * WORD_BYTES:,} on are not trace records of a known size"
    return _trace(words[:0], [], usual), "its bytes are not trace records of a known size"


def _walk(words: Words, size: int) -> tuple[list[int], int]:
    """Where records start if segments have this size, and where the last whole one ends; all in words."""
    starts: list[int] = []
    position = 0
    limit = len(words)
    while position + _HEAD <= limit:
        writes, reads = words[position + _WRITES_AT : position + _HEAD].tolist()
        end = position + _HEAD + (writes + reads) * size
        if writes < 0 or reads < 0 or end > limit:
            break
        starts.append(position)
        position = end
    return starts, position


def _trace(words: Words, starts: list[int], size: int) -> _Trace:
    at = np.array(starts, dtype=np.int64)
    counts = np.stack([words[at + _WRITES_AT], words[at + _WRITES_AT + 1]], axis=1)
    in_records = counts.sum(axis=1)
    columns = np.empty((size, int(in_records.sum())), np.int64)
    if len(columns[0]) >= _MANY * len(starts):
        done = 0
        for start, count in zip((at + _HEAD).tolist(), in_records.tolist(), strict=True):
            columns[:, done : done + count] = words[start : start + count * size].reshape(-1, size).T
            done += count
    else:
        is_segment = np.ones(len(words), dtype=bool)
        is_segment[(at[:, None] + np.arange(_HEAD)).ravel()] = False
        columns[:] = words[is_segment].reshape(-1, size).T
    return _Trace(at, counts, columns)


def _is_sensible(data: bytes, words: Words, trace: _Trace, run_seconds: float | None) -> bool:
    first_of_host = np.frombuffer(data, np.uint8)[trace.starts * WORD_BYTES + _HOST_AT]
    is_nameless = first_of_host == 0
    if (words[trace.starts + 1] < _SHARED).any() or (first_of_host[~is_nameless] <= _SPACE).any():
        return False
    # A log may name no hosts at all. Zeros inside a segment that is larger than supposed look like records that traced nothing.
    if is_nameless.any() and not (is_nameless.all() and trace.counts.any(axis=1).all()):
        return False
    offsets, lengths, starts, ends = trace.columns[:_PLAIN]
    if not len(lengths):
        return True
    first, last = starts.view(np.float64), ends.view(np.float64)
    latest = np.inf if run_seconds is None else run_seconds + _CLOCK_SLACK_SECONDS
    # Under a wrong size times are taken for lengths and lengths for times; NaN fails each of these comparisons.
    if lengths.min() < 0 or max(offsets.max(), lengths.max()) >= _ABSURD_BYTES or np.any((first > 0) & (first < _ABSURD_SECONDS)):
        return False
    return bool(first.min() >= 0 and last.max() <= latest and (last >= first).all())


def _threads(appended: Words, order: str) -> dict[str, pa.Array]:
    """Thread ids, if any, from the appended word or from appended text such as `pthread_id=22754482475008`."""
    if len(appended) == _WITH_THREAD - _PLAIN:
        return {"thread_id": pa.array(appended[0])}
    if len(appended) == _WITH_TEXT - _PLAIN:
        lines = np.ascontiguousarray(appended.T).astype(f"{order}i8")
        values, codes = np.unique(lines.view(f"S{len(appended) * WORD_BYTES}").ravel(), return_inverse=True)
        return {"thread_id": pa.array([_thread_from(value) for value in values.tolist()], pa.int64()).take(pa.array(codes))}
    return {}


def _thread_from(text: bytes) -> int | None:
    digits = text.split(b"\0")[0].removeprefix(_THREAD_TEXT)
    return int(digits) if text.startswith(_THREAD_TEXT) and digits.isdigit() and len(digits) <= 18 else None  # noqa: PLR2004
