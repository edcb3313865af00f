"""How fast small logs are packed, how much larger the archive is, and how fast single logs are read out of it.

The logs are those of a simulated night, and copies of them that are a word longer, so that each has a digest of its own.
"""

import multiprocessing
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from measure import exponent
from options import Options, kept
from part_sweeps import simulated
from results import Result

from iomine.pipeline import packing
from iomine.sources.darshan.packed import INDEX, members, path_of, read_member

_NIGHT: Final = 10_000
_LEAST_PER_SECOND: Final = 4000
_MOST_EXPONENT: Final = 1.05
_MOST_LARGER: Final = 1.06
_MOST_INDEX_BYTES: Final = 150
_READ_BACK: Final = 1000
_MOST_READ_BACK_SECONDS: Final = 0.2
# Functions of the module that packs, and what each of them is about.
_STAGES: Final = {
    "find": "finding",
    "_read": "reading",
    "night_of": "nights",
    "_header": "headers",
    "_append": "writing",
    "_write_index": "the index",
}


def measured(options: Options) -> list[Result]:
    """Archives of ten times as many logs each."""
    sizes = [size for size in (1000, 10_000, 100_000) if size <= options.packed]
    grown = [kept(options, f"archive-{size}", lambda size=size: _measure(options, size)) for size in sizes]  # type: ignore[misc]
    return [*_speed(grown), *_archive(grown[-1])]


def _speed(grown: list[dict[str, Any]]) -> Iterator[Result]:
    for each in grown:
        yield Result(what=f"{each['logs']:,} logs packed", ours=each["seconds"], cpu_seconds=each["cpu_seconds"])
    for stage, cpu_seconds in grown[-1]["stages"].items():
        yield Result(what=f"  of that {stage}, {grown[-1]['logs']:,} logs", ours=cpu_seconds)
    last = grown[-1]
    per_second = last["logs"] / last["cpu_seconds"]
    yield Result(what="logs packed in a second of one core", ours=per_second, unit="logs", least=_LEAST_PER_SECOND)
    if len(grown) > 1:
        found = exponent([each["logs"] for each in grown], [each["cpu_seconds"] for each in grown])
        yield Result(what=f"exponent of CPU seconds, up to {last['logs']:,} logs", ours=found, unit="", most=_MOST_EXPONENT)


def _archive(last: dict[str, Any]) -> Iterator[Result]:
    logs = last["logs"]
    ratio = last["archive_bytes"] / last["log_bytes"]
    yield Result(
        what=f"archive of {logs:,} logs, its index included", ours=last["archive_bytes"], unit="B", peer=last["log_bytes"],
        beside="the logs", ratio=ratio, most=_MOST_LARGER,
    )  # fmt: skip
    yield Result(what="index, bytes for each log", ours=last["index_bytes"] / logs, unit="", most=_MOST_INDEX_BYTES)
    what = f"{_READ_BACK:,} random ones read back, the index opened first"
    yield Result(what=what, ours=last["read_seconds"], cpu_seconds=last["read_cpu_seconds"], most=_MOST_READ_BACK_SECONDS)
    yield Result(what="logs that tar does not list", ours=last["unlisted"], unit="logs", most=0)


def _measure(options: Options, size: int) -> dict[str, Any]:
    night = simulated(options.cache, _NIGHT)
    with tempfile.TemporaryDirectory(prefix="iomine-bench-", dir=options.cache) as name:
        folder = Path(name)
        _copy(night, folder / "logs", size)
        # Each in a process of its own, which has opened nothing yet.
        with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
            packed = pool.apply(_pack, (folder / "logs", folder / "archive"))
            staged = pool.apply(_pack_in_stages, (folder / "logs", folder / "again"))
            read = pool.apply(_read_back, (folder / "archive",))
        (tar,) = (folder / "archive").glob("*.tar")
        listed = subprocess.run(["tar", "tf", tar], check=True, capture_output=True).stdout.splitlines()
        shutil.rmtree(folder / "again")
        index_bytes = (folder / "archive" / INDEX).stat().st_size
        return {
            "logs": size,
            **packed,
            **staged,
            **read,
            "archive_bytes": tar.stat().st_size + index_bytes,
            "index_bytes": index_bytes,
            "unlisted": size - len({*listed}),
        }


def _copy(night: Path, into: Path, count: int) -> None:
    logs = sorted(night.rglob("*.darshan"))
    for number in range(count):
        copy, place = divmod(number, len(logs))
        to = into / str(copy) / logs[place].relative_to(night)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(logs[place].read_bytes() + number.to_bytes(8, "little"))


def _pack(logs: Path, into: Path) -> dict[str, Any]:
    # What is imported when it is first asked for.
    packing.pack([next(logs.rglob("*.darshan"))], into.with_name("first"))
    start, cpu_start = time.perf_counter(), time.process_time()
    done = packing.pack([logs], into)
    return {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - cpu_start,
        "log_bytes": done.packed_bytes,
    }


def _pack_in_stages(logs: Path, into: Path) -> dict[str, Any]:
    """CPU seconds of each stage."""
    seconds = dict.fromkeys(_STAGES.values(), 0.0)

    def timed(name: str) -> Any:
        real = getattr(packing, name)

        def call(*given: object, **named: object) -> object:
            start = time.process_time()
            try:
                return real(*given, **named)
            finally:
                seconds[_STAGES[name]] += time.process_time() - start

        return call

    with patch.multiple(packing, **{name: timed(name) for name in _STAGES}):
        packing.pack([logs], into)
    return {"stages": seconds}


def _read_back(archive: Path) -> dict[str, Any]:
    (tar,) = map(str, archive.glob("*.tar"))
    chosen = random.Random(1).sample([member.name for member in members(tar)], _READ_BACK)
    start, cpu_start = time.perf_counter(), time.process_time()
    for name in chosen:
        read_member(path_of(tar, name))
    return {"read_seconds": time.perf_counter() - start, "read_cpu_seconds": time.process_time() - cpu_start}
