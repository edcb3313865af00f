"""AutoPerf modules: MPI calls of each rank (APMPI) and counters of the Cray Aries routers (APXC).

Layouts after `darshan-apmpi-log-format.h` and `darshan-apxc-log-format.h`: one header record, then a record for each
rank or router. Which counters belong to which call follows from the order in those headers: calls that carry messages
have a count, bytes and six size bins, the others a count; every call has three times; blocking collectives have the
time spent waiting for the other ranks.
"""

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.schema.apmpi import CALL_COUNTERS, CALL_TIMES
from iomine.sources.darshan.decoded import WORD_BYTES, Decoded, Records, Words, labels, native_words, texts

_MESSAGES: Final = (
    "SEND SSEND RSEND BSEND RECV SENDRECV SENDRECV_REPLACE ISEND ISSEND IRSEND IBSEND IRECV".split(),
    "BCAST GATHER GATHERV SCATTER SCATTERV SCAN EXSCAN ALLGATHER ALLGATHERV REDUCE ALLREDUCE REDUCE_SCATTER ALLTOALL "
    "ALLTOALLV ALLTOALLW IBCAST IGATHER IGATHERV ISCATTER ISCATTERV ISCAN IEXSCAN IALLGATHER IALLGATHERV IREDUCE "
    "IALLREDUCE IREDUCE_SCATTER IALLTOALL IALLTOALLV IALLTOALLW PUT GET ACCUMULATE GET_ACCUMULATE".split(),
)
_SIGNALS: Final = (
    "PROBE IPROBE TEST TESTANY TESTALL TESTSOME WAIT WAITANY WAITALL WAITSOME BARRIER IBARRIER".split(),
    "FETCH_AND_OP COMPARE_AND_SWAP WIN_FENCE WIN_START WIN_COMPLETE WIN_POST WIN_WAIT WIN_TEST WIN_LOCK WIN_UNLOCK "
    "WIN_UNLOCK_ALL WIN_FLUSH WIN_FLUSH_ALL WIN_FLUSH_LOCAL WIN_FLUSH_LOCAL_ALL WIN_SYNC".split(),
)
CALLS: Final = (*_MESSAGES[0], *_SIGNALS[0], *_MESSAGES[1], *_SIGNALS[1])
CARRIES_MESSAGE: Final = np.isin(CALLS, _MESSAGES[0] + _MESSAGES[1])
SYNCHRONISING: Final = ("BARRIER", *_MESSAGES[1][: _MESSAGES[1].index("IBCAST")])

_WIDTHS: Final = np.where(CARRIES_MESSAGE, len(CALL_COUNTERS), 1)
_COUNTS: Final = int(_WIDTHS.sum())
_TIMES: Final = len(CALL_TIMES) * len(CALLS)
_HOST_WORDS: Final = 16
_APMPI_HEAD: Final = 6
_APMPI_RECORD: Final = 2 + _COUNTS + _TIMES + len(SYNCHRONISING) + 2 + _HOST_WORDS
# Word of each call's counters in a record, and -1 for the counters that it does not have.
_AT: Final = np.where(
    CARRIES_MESSAGE[:, None] | (np.arange(len(CALL_COUNTERS)) == 0),
    2 + np.cumsum(_WIDTHS)[:, None] - _WIDTHS[:, None] + np.arange(len(CALL_COUNTERS)),
    -1,
)
_APXC_RUN: Final = (
    *("file_id", "rank", "magic", "blade_count", "chassis_count", "group_count", "memory_mode", "cluster_mode"),
    "application_id",
)
_APXC_ROUTER: Final = ("file_id", "rank", "group_index", "chassis_index", "blade_index", "node_index")
_APXC_COUNTERS: Final = 392


def decode_apmpi(data: bytes, order: str) -> Decoded:
    """The run's header, a row for each rank, and a row for each call that a rank made."""
    words = native_words(data, order)
    count, rest = divmod(len(words) - _APMPI_HEAD, _APMPI_RECORD)
    if count < 0 or rest or len(data) % WORD_BYTES:
        return Decoded(damage=f"its {len(data):,} bytes are not a header and records of APMPI")
    head = words[:_APMPI_HEAD]
    # The flag is the first half of its word, the other half is padding.
    flag = np.frombuffer(data, dtype=f"{order}u4", count=1, offset=3 * WORD_BYTES)
    variances = np.ascontiguousarray(head[4:]).view(np.float64)
    run = {
        "file_id": pa.array(head[:1]),
        "rank": pa.array(head[1:2]),
        "magic": pa.array(head[2:3]),
        "sync_flag": pa.array(flag.astype(np.int64)),
        "comm_seconds_variance": pa.array(variances[:1]),
        "comm_sync_seconds_variance": pa.array(variances[1:]),
    }
    matrix = words[_APMPI_HEAD:].reshape(count, _APMPI_RECORD)
    host_at = _APMPI_RECORD - _HOST_WORDS
    comm = np.ascontiguousarray(matrix[:, host_at - 2 : host_at].T).view(np.float64)
    starts = (_APMPI_HEAD + np.arange(count) * _APMPI_RECORD + host_at) * WORD_BYTES
    rank = {
        "file_id": pa.array(np.ascontiguousarray(matrix[:, 0])),
        "rank": pa.array(np.ascontiguousarray(matrix[:, 1])),
        "host": labels(*texts(data, starts, _HOST_WORDS * WORD_BYTES)),
        "comm_seconds": pa.array(comm[0]),
        "comm_sync_seconds": pa.array(comm[1]),
    }
    return Decoded({"apmpi_run": run, "apmpi_rank": rank, "apmpi_call": _calls(matrix)}, 1 + count)


def _calls(matrix: Words) -> dict[str, pa.Array]:
    """One row for each rank and call, rows of zeros left out."""
    times_at = 2 + _COUNTS
    times = np.ascontiguousarray(matrix[:, times_at : times_at + _TIMES]).reshape(len(matrix), len(CALLS), len(CALL_TIMES))
    waits = np.zeros((len(matrix), len(CALLS)), dtype=np.int64)
    sync_at = times_at + _TIMES
    waits[:, [CALLS.index(call) for call in SYNCHRONISING]] = matrix[:, sync_at : sync_at + len(SYNCHRONISING)]
    # Counters and times of a call are either all zero or not, but that is Darshan's promise, not this file's.
    made = np.logical_or.reduceat(matrix[:, 2:times_at] != 0, _AT[:, 0] - 2, axis=1)
    made |= (times != 0).any(axis=2) | (waits != 0)
    ranks, calls = np.nonzero(made)
    with_message = CARRIES_MESSAGE[calls]
    columns: dict[str, pa.Array] = {
        "file_id": pa.array(matrix[ranks, 0]),
        "rank": pa.array(matrix[ranks, 1]),
        "mpi_call": labels(calls, [f"MPI_{call}" for call in CALLS]),
    }
    for index, name in enumerate(CALL_COUNTERS):
        columns[name] = pa.array(matrix[ranks, _AT[calls, index]], mask=None if index == 0 else ~with_message)
    for index, name in enumerate(CALL_TIMES):
        columns[name] = pa.array(_floats(times[ranks, calls, index]))
    columns["sync_seconds"] = pa.array(_floats(waits[ranks, calls]), mask=~np.isin(CALLS, SYNCHRONISING)[calls])
    return columns


def _floats(words: Words) -> npt.NDArray[np.float64]:
    return np.ascontiguousarray(words).view(np.float64)


def decode_apxc(data: bytes, order: str) -> Decoded:
    """The run's header, and a row for each router."""
    words = native_words(data, order)
    width = len(_APXC_ROUTER) + _APXC_COUNTERS
    count, rest = divmod(len(words) - len(_APXC_RUN), width)
    if count < 0 or rest or len(data) % WORD_BYTES:
        return Decoded(damage=f"its {len(data):,} bytes are not a header and records of APXC")
    head = words[: len(_APXC_RUN)].reshape(1, -1)
    matrix = words[len(_APXC_RUN) :].reshape(count, width)
    routers = Records.columns_of([Records("apxc_router", _APXC_ROUTER, matrix)])
    counters = np.ascontiguousarray(matrix[:, len(_APXC_ROUTER) :]).ravel()
    offsets = pa.array(np.arange(count + 1, dtype=np.int32) * _APXC_COUNTERS)
    routers["router_counts"] = pa.ListArray.from_arrays(offsets, pa.array(counters))
    return Decoded({"apxc_run": Records("apxc_run", _APXC_RUN, head), "apxc_router": routers}, 1 + count)
