"""How fast archives of years are read: logs of formats before 3.00, made out of real ones, decoded, swept and asked about.

An archive has as many logs a night as that of Intrepid, a machine of 2012 and 2013, so that one of ten times as many logs is one
of ten times as many nights. One log in a thousand has 8,192 records, the others up to 32; no two have the same bytes.
"""

import gzip
import shutil
import struct
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Final

from measure import Contest, Times, exponent
from options import Options, kept
from part_sweeps import Measures, swept
from results import Result, slower

from iomine.sources.darshan.legacy import read_legacy
from iomine.sources.darshan.legacy_tables import legacy_tables
from iomine.sources.dftracer import read_trace

_SMALLEST: Final = 1000
_LOGS_A_NIGHT: Final = 208
_LOGS_TO_A_LARGE_ONE: Final = 1000
_FIRST_NIGHT: Final = datetime(2012, 1, 1, tzinfo=UTC)
_DAY_SECONDS: Final = 86_400
_USERS: Final = 211
# How often the records of a small log are written, each time with other hashes.
_MOST_COPIES: Final = 32
_PROGRAMS: Final = 17
_LARGE_BYTES: Final = 1 << 20
# What small ones have at most when they are packed.
_SMALL_BYTES: Final = 1 << 16
# Where headers from 2.00 on have the job.
_JOB_AT: Final = 48
# Bytes of a record, which begins with its hash.
_WIDTHS: Final = {"1.21": 1192, "1.22": 1248, "1.23": 1264, "1.24": 1264}
_WIDTH: Final = 1328
_LEAST_DECODED: Final = 2000
_MOST_TIMES_GUNZIP: Final = 3
_LEAST_EVENTS: Final = 150_000
_MOST_EXPONENT: Final = 1.05
# An hour for so many logs.
_LARGEST: Final = 150_000
_MOST_SECONDS: Final = 3600
_MOST_ANSWER_SECONDS: Final = 3
_QUESTIONS: Final = {view: f"FROM {view}" for view in ("trends", "worst_offenders", "mount_usage", "lineages")}


def measured(options: Options) -> list[Result]:
    """Decoding alone, and sweeps of growing archives, each of which is asked about."""
    sizes = [size for size in (_SMALLEST, 10_000, _LARGEST) if size <= options.archive]
    return [*_decoding(options), *_sweeps([kept(options, f"legacy-{size}", partial(_swept, options, size)) for size in sizes])]


def _swept(options: Options, size: int) -> Measures:
    return swept(archive(options, size), size, 2, _QUESTIONS)


def _sweeps(archives: Sequence[Measures]) -> Iterator[Result]:
    for each in archives:
        size = each["logs"]
        is_largest = size == _LARGEST
        yield Result(
            what=f"archive of {size:,} logs swept", ours=each["seconds"], cpu_seconds=each["cpu_seconds"],
            most=_MOST_SECONDS if is_largest else None,
        )  # fmt: skip
        yield Result(what=f"{size:,} logs: lost or counted twice", ours=each["lost"], unit="logs", most=0)
        for view, (seconds, cpu_seconds) in each["answers"].items():
            yield Result(what=f"{view} of all {size:,}", ours=seconds, cpu_seconds=cpu_seconds, most=_MOST_ANSWER_SECONDS)
    if len(archives) > 1:
        logs = [each["logs"] for each in archives]
        for what in ("seconds", "cpu_seconds"):
            found = exponent(logs, [each[what] for each in archives])
            span = f"from {logs[0]:,} to {logs[-1]:,} logs"
            yield Result(what=f"exponent of {what.replace('_', ' ')}, {span}", ours=found, unit="", most=_MOST_EXPONENT)


def _decoding(options: Options) -> Iterator[Result]:
    large = next(path for path in _samples(options.data) if path.stat().st_size > _LARGE_BYTES)
    small = [path for path in archive(options, _SMALLEST).rglob("*.gz") if path.stat().st_size < _SMALL_BYTES]
    traces = sorted((options.data / "traces" / "dftracer").rglob("*.pfw.gz"))
    events = sum(read_trace([path.read_bytes()]).event_count for path in traces)
    with Contest({"decoded": decode, "unpacked": unpack}) as contest:
        times = contest.times(str(large), options.rounds)
        yield slower("a log of 8,192 records decoded", times["decoded"], "gunzip", times["unpacked"], _MOST_TIMES_GUNZIP)
    with Contest({"decoded": decode}) as contest:
        yield _pace(
            "small logs decoded", len(small), "logs", contest.times(_lines(small), options.rounds)["decoded"], _LEAST_DECODED
        )
    with Contest({"followed": follow}) as contest:
        yield _pace(
            "events of DFTracer read", events, "events", contest.times(_lines(traces), options.rounds)["followed"], _LEAST_EVENTS
        )


def _pace(what: str, count: int, unit: str, times: Times, least: float) -> Result:
    """How many a second and core."""
    shown = f"{what} a second and core, {count:,} in all"
    return Result(what=shown, ours=count / times.cpu, unit=unit, least=least, spread=times.spread)


def _lines(paths: Sequence[Path]) -> str:
    return "\n".join(map(str, paths))


def decode(paths: str) -> None:
    """Each log from its bytes to columns of today's tables."""
    for path in map(Path, paths.splitlines()):
        legacy_tables(read_legacy(path.read_bytes(), path.name))


def unpack(paths: str) -> None:
    """Each log unpacked, and nothing else."""
    for path in paths.splitlines():
        gzip.decompress(Path(path).read_bytes())


def follow(paths: str) -> None:
    """The traces of each folder as those of one run."""
    for _, files in groupby(map(Path, paths.splitlines()), key=lambda path: path.parent):
        read_trace([path.read_bytes() for path in files])


def archive(options: Options, size: int) -> Path:
    """An archive of so many logs, written once, in folders of years, months and days as Darshan makes them."""
    out = options.cache / f"archive-{size}" / "darshan"
    if not out.exists():
        unfinished = options.cache / f"archive-{size}.tmp"
        shutil.rmtree(unfinished, ignore_errors=True)
        samples = [gzip.decompress(path.read_bytes()) for path in _samples(options.data)]
        large = [sample for sample in samples if len(sample) > _LARGE_BYTES]
        small = [sample for sample in samples if len(sample) <= _LARGE_BYTES]
        random = Random(1)
        for number in range(size):
            of_size = small if (number + 1) % _LOGS_TO_A_LARGE_ONE else large
            _write(unfinished / "darshan", number, random.choice(of_size), random)
        unfinished.rename(out.parent)
    return out


def _samples(data: Path) -> list[Path]:
    """Real logs of formats before 3.00 that are read."""
    return [path for path in sorted((data / "darshan/darshan/2.x").rglob("*.gz")) if not path.name.startswith("pcarns_cp_")]


def _write(folder: Path, number: int, sample: bytes, random: Random) -> None:
    """A log of another user, job and time, whose records stand there several times, each with hashes of their own."""
    version = sample[:4].decode()
    data, order, field, header_at = bytearray(sample), "<" if sample[8] else ">", "q", 16
    if version < "2":
        order, field, header_at = ">", "i", 12
    _, begun, ended = struct.unpack_from(f"{order}3{field}", sample, header_at)
    end = _FIRST_NIGHT + timedelta(days=number // _LOGS_A_NIGHT, seconds=random.randrange(_DAY_SECONDS))
    start, uid = end - timedelta(seconds=ended - begun), 1000 + random.randrange(_USERS)
    struct.pack_into(f"{order}3{field}", data, header_at, uid, int(start.timestamp()), int(end.timestamp()))
    if version >= "2":
        struct.pack_into(f"{order}q", data, _JOB_AT, number)
    records_at = 1024 if version < "2.04" else 4096
    copies = 1 if len(sample) > _LARGE_BYTES else random.randint(1, _MOST_COPIES)
    data += data[records_at:] * (copies - 1)
    for at in range(records_at, len(data), _WIDTHS.get(version, _WIDTH)):
        data[at : at + 8] = random.randbytes(8)
    day = folder / f"{start.year}" / f"{start.month}" / f"{start.day}"
    day.mkdir(parents=True, exist_ok=True)
    name = f"u{uid}_app{uid % _PROGRAMS}_id{number}_{start.month}-{start.day}-{start.second}_1.darshan.gz"
    (day / name).write_bytes(gzip.compress(bytes(data), 1, mtime=0))
