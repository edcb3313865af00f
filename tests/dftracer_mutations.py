"""Damages DFTracer's files and says what becomes of them: `python tests/dftracer_mutations.py 20000`, which `make fuzz` calls.

A file that was damaged is read or refused, never a crash; where it is read, its requests are of its ranks and files.
"""

import gzip
import sys
import zlib
from collections import Counter
from functools import cache
from random import Random

from mutations import cut, hostile_words, lines, number, other_bytes, spliced
from shared import SHARED_DATA

from iomine.errors import UnreadableError
from iomine.pipeline.ingest.reader import Limits, limit_memory
from iomine.sources.dftracer import extent_of, is_trace, read_trace

_MOST_LINES = 200
_DEPTH = 10_000
_DIGITS = 400
_BOMB_BYTES = 1 << 28
# A bomb takes a second to unpack as far as it is.
_BOMBS_RATIO = 1 / 500


@cache
def real() -> tuple[bytes, ...]:
    """The first lines of real files, packed, none where they are not here."""
    files = sorted((SHARED_DATA / "traces" / "dftracer").rglob("*.pfw.gz"))
    texts = (gzip.decompress(path.read_bytes()) for path in files)
    return tuple(gzip.compress(b"".join(text.splitlines(keepends=True)[:_MOST_LINES])) for text in texts)


def _nested(data: bytes, random: Random, _sound: tuple[bytes, ...]) -> bytes:
    """Something stands in it that is nested deep, or a number of hundreds of digits."""
    place = random.randrange(len(data))
    deep = random.choice((b"[" * _DEPTH, b'{"a":' * _DEPTH, b"[" * _DEPTH + b"]" * _DEPTH, b"9" * _DIGITS))
    return data[:place] + deep + data[place:]


_DAMAGES = (cut, hostile_words, lines, _nested, number, other_bytes, spliced)


def outcomes(sound: tuple[bytes, ...], count: int, seed: int) -> Counter[str]:
    """How often damage ended in what.

    Args:
        sound: files to damage.
        count: how many damaged ones to make.
        seed: of chance.

    Raises:
        AssertionError: what was read of one does not hold together.
    """
    random = Random(seed)
    return Counter(_outcome(_damaged(sound, random)) for _ in range(count))


def _damaged(sound: tuple[bytes, ...], random: Random) -> bytes:
    """A file that was damaged, before it was packed or after."""
    data = random.choice(sound)
    is_packed = data.startswith(b"\x1f\x8b")
    if random.random() < _BOMBS_RATIO:
        return gzip.compress(_text(data) + random.choice((b" ", b"\n", b"{")) * _BOMB_BYTES, 1)
    if is_packed and random.random() < 1 / 2:
        return random.choice((cut, other_bytes, spliced))(data, random, sound)
    texts = tuple(_text(each) for each in sound)
    damaged = random.choice(_DAMAGES)(_text(data), random, texts)
    return gzip.compress(damaged, 1) if is_packed else damaged


@cache
def _text(data: bytes) -> bytes:
    return zlib.decompress(data, 31) if data.startswith(b"\x1f\x8b") else data


def _outcome(data: bytes) -> str:
    try:
        is_trace(data)
        extent_of(data)
        run = read_trace([data])
    except UnreadableError:
        return "refused"
    assert run.run_seconds >= 0
    for part in run.segments:
        assert set(part["rank"].to_pylist()) <= set(range(run.nprocs))
        assert set(part["file_id"].to_pylist()) <= run.paths.keys()
        assert min(part["length_bytes"].to_pylist()) >= 0
        assert min(part["offset_bytes"].to_pylist()) >= -1
    return "read"


if __name__ == "__main__":
    limit_memory(Limits().memory_bytes)
    sys.stdout.write(f"DFTracer: {dict(outcomes(real(), int(sys.argv[1]), 1))}\n")
