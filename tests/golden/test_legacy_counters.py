"""Every counter of logs before format 3.00 is what Darshan's own tools of that time print, and goes where it belongs."""

import gzip
import time
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final

import numpy as np
import pytest
from legacy_logs import FOLDER, real_logs
from shared import NOT_HERE

from iomine.errors import UnreadableError
from iomine.schema.legacy import FLOATS, INTEGERS
from iomine.sources.darshan import read_log
from iomine.sources.darshan.legacy import LegacyLog, read_legacy
from iomine.sources.darshan.legacy_tables import legacy_tables

pytestmark = pytest.mark.skipif(not real_logs(), reason=NOT_HERE)

# Of the lines that `darshan-parser` of Darshan 2.3.1 prints of each log.
_DIGESTS: Final = (
    *("3b5c1930", "f4699551", "afa2202c", "5676b637", "58a04f4f", "4738f5be", "76b7df1b", "7d3223d2", "59277852"),
    *("7f4c8385", "4cad3403", "67f3cd21", "4747ea90", "53a2f8dc", "795802e5", "10c4ee98"),
)
_LARGE: Final = FOLDER / "perf" / "harms_IOR_id350665_2-8-78651_12.darshan.gz"
# As these print them: format, uid, job, start, end, processes, mounts.
_RUNS: Final = (
    ("1.21", 4279, "178062", 77, 78, 4, 0),
    ("1.24", 4279, "178062", 74, 75, 4, 5),
    ("1.22", 4279, "178062", 76, 78, 4, 0),
    ("1.23", 4279, "178062", 78, 79, 4, 5),
    ("2.00", 4279, "180936", 79, 80, 4, 5),
    ("2.02", 4279, "100", 1355419009, 1355419011, 4, 5),
)


def _lines(log: LegacyLog) -> list[str]:
    numbers = log.words.tolist()
    floats = np.ascontiguousarray(log.words[:, -len(FLOATS) :]).view(np.float64).tolist()
    found = []
    for (hash_, rank, *words), doubles in zip(numbers, floats, strict=True):
        keys = f"{rank}\t{hash_ % 2**64}"
        found += [f"{keys}\tCP_{word}\t{value}\n" for word, value in zip(INTEGERS, words, strict=False)]
        found += [f"{keys}\tCP_{word}\t{value:f}\n" for word, value in zip(FLOATS, doubles, strict=True)]
    return found


def test_counters_are_those_of_the_parser_of_their_time() -> None:
    """All 1,330,020 counters of 16 logs are equal; the log of format 1.4 is refused."""
    digests, counters = [], 0
    for path in real_logs():
        if path.name.startswith("pcarns_cp_"):
            with pytest.raises(UnreadableError, match=r"format 1\.4; of formats before 3\.00, 1\.21 to 1\.24 and 2\.00 to 2\.06"):
                read_log(path)
            continue
        lines = _lines(read_legacy(path.read_bytes(), path.stem))
        counters += len(lines)
        digests.append(sha256("".join(lines).encode()).hexdigest()[:8])
    assert (tuple(digests), counters) == (_DIGESTS, 1_330_020)


def test_headers_are_read_in_full() -> None:
    """Format, user, job, times, processes and mounts of the first logs are those that the parser prints."""
    found = []
    for path in real_logs()[: len(_RUNS)]:
        log = read_legacy(path.read_bytes(), path.stem)
        job = log.job
        clock = [doubt.value for doubt in job.doubts if doubt.column == "end_at"]
        end = int(job.end_at.timestamp() if job.end_at else clock[0])
        start = end - int(job.run_seconds) + 1
        found.append((log.version, job.uid, job.job_id, start, end, job.nprocs, len(job.mounts)))
    assert tuple(found) == _RUNS


def test_the_largest_log_adds_up() -> None:
    """IOR of 2,048 ranks, each with its own files, wrote and read 2 TiB on one mount."""
    log = read_log(_LARGE)
    posix = log.table("posix_file")
    sums = [int(np.sum(posix[name].to_numpy())) for name in ("read_count", "write_count", "read_bytes", "write_bytes")]
    assert [524_288, 524_288, 2_199_023_255_552, 2_199_023_255_552] == sums
    names = log.table("file_name")
    assert {("/intrepid-fs1", "pvfs2", True)} == {
        *zip(*(names[name].to_pylist() for name in ("mount", "fs_type", "is_path_cut")), strict=True)
    }
    assert (8192, 8192) == (len(posix), len(names))
    job = log.job
    assert ("harms", 4211, "350665", 2048, 2684.0) == (log.user, job.uid, job.job_id, job.nprocs, job.run_seconds)
    assert job.exe.endswith("-o /intrepid-fs1/users/harms/scratch/ior.out -r -w -t 4m -v")
    assert [("/bgsys", "nfs"), ("/gpfs/home", "gpfs"), ("/gpfs/software", "gpfs"), ("/intrepid-fs0", "gpfs")] == [*job.mounts[:4]]
    assert datetime(2011, 2, 8, 21, 50, 51, tzinfo=UTC) == job.start_at


def test_decoding_takes_at_most_three_times_gunzip() -> None:
    """The largest log becomes records in at most three times the CPU time that unpacking alone takes."""
    data = _LARGE.read_bytes()

    def seconds(what) -> float:
        best = float("inf")
        for _ in range(5):
            begun = time.process_time()
            what()
            best = min(best, time.process_time() - begun)
        return best

    assert seconds(lambda: legacy_tables(read_legacy(data, _LARGE.name))) <= 3 * seconds(lambda: gzip.decompress(data))
