"""Damages logs of formats before 3.00 and says what becomes of them: `tests/legacy_mutations.py 5000`, which `make fuzz` calls.

A log that was damaged is read or refused, never a crash; it takes no more than the reader's memory, and what is read of it
becomes rows of today's tables.
"""

import bz2
import gzip
import struct
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from legacy_logs import legacy_log, real_logs
from mutations import cut, other_bytes, spliced

from iomine.errors import UnreadableError
from iomine.pipeline.ingest.reader import Limits, limit_memory
from iomine.pipeline.ingest.rows import tables_of
from iomine.schema.legacy import ABSENT
from iomine.sources.darshan import identify, read_log, row_count

_WORDS = (0, 1, -1, -2, 1 << 31, (1 << 31) - 1, 1 << 40, 1 << 60, (1 << 63) - 1, -(1 << 63))
_PACKERS = (gzip.compress, bz2.compress)
_BOMB_BYTES = 1 << 30
# A bomb takes seconds to unpack as far as it is.
_BOMBS_RATIO = 1 / 500


@cache
def sound() -> tuple[bytes, ...]:
    """Logs of all formats, unpacked: real ones where they are here, small ones, and made ones."""
    record = {"POSIX_OPENS": 1, "POSIX_FREADS": 2, "INDEP_OPENS": 1, "BYTES_READ": 9, "DEVICE": 15}
    made = [legacy_log([record, record | {"hash": 0, "rank": 3}], version=version, pack="no") for version in ABSENT]
    return (*made, *(gzip.decompress(path.read_bytes()) for path in real_logs() if path.stat().st_size < 1 << 14))


def damaged(random: Random) -> bytes:
    """A log that was damaged, before it was packed or after."""
    data, pack = random.choice(sound()), random.choice(_PACKERS)
    if random.random() < _BOMBS_RATIO:
        return _bomb(data, pack, random)
    if random.random() < 1 / 3:
        packed = pack(data)
        return random.choice((cut, other_bytes, spliced))(packed, random, (packed, gzip.compress(random.choice(sound()))))
    way = random.randrange(6)
    if way == 0:
        data = cut(data, random, sound())
    elif way == 1:
        data = other_bytes(data, random, sound())
    elif way == 2:
        data = spliced(data, random, sound())
    elif way == 3:
        data += data[-random.randrange(1, 5000) :]
    else:
        changed = bytearray(data)
        for _ in range(random.choice((1, 2, 20, 200))):
            at = random.randrange(len(data) // 8) * 8 if random.random() < 1 / 2 else random.randrange(min(len(data), 120) - 8)
            changed[at : at + 8] = struct.pack(random.choice("<>") + "q", random.choice(_WORDS))
        data = bytes(changed)
    return pack(data)


def _bomb(data: bytes, pack, random: Random) -> bytes:
    zeros = pack(bytes(1 << 26))
    return pack(data) + zeros * random.choice((1, 2, _BOMB_BYTES >> 26, (_BOMB_BYTES >> 26) + 1))


def outcomes(count: int, seed: int) -> Counter[str]:
    """How often damage ended in what.

    Args:
        count: how many damaged logs to make.
        seed: of chance.

    Raises:
        AssertionError: what was read of one does not hold together.
    """
    random = Random(seed)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ann_ior_id4711_3-13-61875_1.darshan.gz"
        return Counter(_outcome(path, damaged(random)) for _ in range(count))


def _outcome(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    identity = identify(path)
    try:
        log = read_log(path)
    except UnreadableError:
        return "refused"
    except MemoryError:
        return "too large"
    # A log that was identified is read as the same, and one that was not is refused.
    assert (identity.log_id, "") == (log.log_id, identity.reason)
    rows = tables_of(log, str(path))
    assert "failed_derivation" not in rows
    assert sum(row_count(part) for part in log.tables["module"]) == len(log.modules)
    return "read in part" if any(module.state != "read" for module in log.modules) else "read"


if __name__ == "__main__":
    limit_memory(Limits().memory_bytes)
    sys.stdout.write(f"Logs of formats before 3.00: {dict(outcomes(int(sys.argv[1]), 1))}\n")
