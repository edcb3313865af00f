"""Takes damaged inputs of every kind through all of iomine: `python tests/sweep_mutations.py 20000`, as `make fuzz` does.

They are swept by the hundred beside sound logs, and then every view is asked, reports and mails are written. Nothing may fail,
nothing be lost, the sound logs have the rows that they have alone, and no number that cannot be is published without a mark: what
can be is worked out by tests/raw_records.py, which knows nothing of iomine. Input number n is always the same: a fault names the
numbers of those that it is about, and `--only 17,18` sweeps these alone.
"""

import argparse
import gzip
import hashlib
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any, Final

import darshan_mutations
import h5py
import mutations
import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc
from distributed import LocalCluster
from shared import SHARED_DATA
from sweeping import most_memory, rows, rows_of_logs

from iomine.pipeline.digest import Order, digest
from iomine.pipeline.sweep import Settings, Summary, run
from iomine.schema import TABLES
from iomine.schema.counters import COUNTERS, columns_of
from iomine.simulate import Settings as Facility
from iomine.simulate import simulate
from iomine.sources.darshan.counters import LAYOUTS
from iomine.triggers import TRIGGERS
from iomine.triggers.judge import settings
from iomine.views.model import View, find_views
from iomine.views.query import answer_own, open_catalog, set_variables

RESULTS: Final = Path(__file__).parents[1] / "build" / "fuzz.json"
SEED: Final = 20261
# Of a sweep. Each costs half a minute of CPU time whatever it holds: planning the questions of all triggers and views, mostly.
_BATCH: Final = 2000
# A busy machine takes long; what hangs takes for ever.
_SLOWEST_SECONDS: Final = 7200
_LARGEST_LOG_BYTES: Final = 20_000
# Damaged large inputs say no more than small ones.
_LARGEST_BYTES: Final = 40_000
_SOUND_LOGS: Final = 20
_SHARE_OF_LOGS: Final = 0.6
_POLICY: Final = 'least_core_hours = 0.0\noperators = ["ops@site.test"]\n[directory]\ntemplate = "{user}@site.test"\n'
_NO_NUMBER: Final = re.compile(r"\b(?:nan|inf|NaN|Infinity)\b")
# What a command line holds that says which part a process has.
_PARTS: Final = {"iomine.pipeline.ingest.reading": "reader", "spawn_main": "worker"}
_READER_FAILED: Final = ("Its reader failed", "The log ended the process that read it")

Damage = Callable[[bytes, Random, tuple[bytes, ...]], bytes]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of input. One more is one more entry of `KINDS`.

    Attributes:
        folder: of samples, below the shared data.
        is_log: whether they are logs, and not statistics or accounting.
        damage: makes an input of a sample.
    """

    folder: str
    is_log: bool
    damage: Damage

    def samples(self) -> tuple[tuple[str, bytes], ...]:
        """Names and contents of sound inputs."""
        return _samples(self)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A damaged input.

    Attributes:
        number: it is always made alike.
        kind: what it was.
        name: path of what it was.
        data: its bytes.
    """

    number: int
    kind: Kind
    name: str
    data: bytes


@dataclass(slots=True)
class Outcome:
    """What became of inputs.

    Attributes:
        counts: how many ended in what.
        faults: what must not be, in words.
        seconds: how long each sweep took.
        beside: how reading ended of those that are logs, here and in PyDarshan's `DarshanReport`.
        memory: bytes that a process of each part has held, at most.
    """

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    beside: dict[str, Counter[str]] = field(default_factory=lambda: {"iomine": Counter(), "`DarshanReport`": Counter()})
    memory: dict[str, int] = field(default_factory=dict)


def _text(data: bytes, random: Random, sound: tuple[bytes, ...]) -> bytes:
    """A text or an HDF5 file after one to three damages."""
    if data.startswith(b"\x89HDF"):
        return _hdf5(data, random)
    for _ in range(random.randint(1, 3)):
        data = random.choice(_TEXTS)(data, random, sound) or b"\n"
    return data if random.random() < 0.9 else gzip.compress(data, mtime=0)


_TEXTS: Final = (
    mutations.lines,
    mutations.number,
    mutations.number,
    mutations.hostile_words,
    mutations.other_bytes,
    mutations.cut,
    mutations.spliced,
)


def _hdf5(data: bytes, random: Random) -> bytes:
    """An HDF5 file in which datasets hold other numbers, have another shape or are gone, or attributes say something else."""
    if random.random() < 0.2:
        return mutations.other_bytes(data, random, ())
    out = BytesIO(data)
    with h5py.File(out, "r+") as file:
        names: list[str] = []
        file.visit(names.append)
        for _ in range(random.randint(1, 4)):
            name = random.choice(names)
            if name not in file:
                continue
            held = file[name]
            if isinstance(held, h5py.Dataset) and held.size and held.dtype.kind in "iuf" and random.random() < 0.6:
                _spoil(held, random)
            elif held.attrs and random.random() < 0.7:
                held.attrs[random.choice(list(held.attrs))] = random.choice((0, -1, 2**62, float("nan"), "x" * 500, [1, 2]))
            elif random.random() < 0.5:
                del file[name]
            else:
                del file[name]
                file[name] = np.zeros(random.choice(((0,), (1,), (3, 0), (2, 2, 2), (50,))), random.choice(("i8", "f8", "S8")))
    return out.getvalue()


def _spoil(held: Any, random: Random) -> None:
    values = held[()]
    spoiled = np.asarray(values).reshape(-1)
    spoiled[random.randrange(len(spoiled)) :: random.choice((1, 7, 10**9))] = (
        random.choice((float("nan"), float("inf"), -1.0, 1e30, 0.0))
        if held.dtype.kind == "f"
        else random.choice((0, 1, np.iinfo(held.dtype).max, np.iinfo(held.dtype).min))
    )
    held[...] = spoiled.reshape(np.shape(values))


KINDS: Final = (
    Kind("darshan", True, darshan_mutations.damaged),
    *(Kind(folder, False, _text) for folder in ("lustre", "slurm", "ior", "fabric")),
)


@cache
def _samples(kind: Kind) -> tuple[tuple[str, bytes], ...]:
    folder = SHARED_DATA / kind.folder
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "README.md")
    if kind.is_log:
        logs = [path for path in paths if path.suffix == ".darshan" and 0 < path.stat().st_size <= _LARGEST_LOG_BYTES]
        held = [(str(path.relative_to(folder)), path.read_bytes()) for path in logs]
        return tuple(each for each in held if darshan_mutations.apart(each[1]))
    return tuple(
        (str(path.relative_to(SHARED_DATA)).removesuffix(".gz"), data) for path in paths if (data := _beginning(path)).strip()
    )


def _beginning(path: Path) -> bytes:
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    # Half an HDF5 file or archive is none.
    return data if data.startswith(b"\x89HDF") else data[:_LARGEST_BYTES]


@cache
def _parted() -> tuple[tuple[tuple[str, bytes], ...], tuple[tuple[str, bytes], ...]]:
    """Logs that stay sound, and logs to damage: of programs that no sound log is of, in few nights, every module among them."""
    logs = KINDS[0].samples()
    random = Random(SEED)
    shuffled = random.sample(logs, len(logs))
    modules: Counter[object] = Counter()
    chosen = []
    for each in shuffled:
        parts = darshan_mutations.apart(each[1])
        kinds = {(parts.module_of(id_), version) for id_, (version, _) in parts.modules.items()} if parts else set()
        if any(modules[kind] < 3 for kind in kinds):
            modules.update(kinds)
            chosen.append(each)
    programs = {_program(data) for _, data in chosen}
    sound = [each for each in shuffled if _program(each[1]) not in programs]
    return tuple(sound), tuple(chosen)


def _program(data: bytes) -> bytes:
    parts = darshan_mutations.apart(data)
    return parts.job[:8] + parts.job[-1024:].split(b"\n")[0] if parts else b""


def mutant(number: int) -> Mutant:
    """The input of a number."""
    random = Random(f"{SEED}/{number}")
    kind = KINDS[0] if random.random() < _SHARE_OF_LOGS else random.choice(KINDS[1:])
    samples = _parted()[1] if kind.is_log else kind.samples()
    name, data = random.choice(samples)
    return Mutant(number, kind, name, kind.damage(data, random, tuple(data for _, data in samples)))


class Chain:
    """Takes inputs through everything, a warehouse for each sweep.

    Args:
        folder: for warehouses and inputs.
        scheduler: address of its workers' scheduler.
        sound_count: sound logs beside the inputs of each sweep; where there are not so many real ones, the others are simulated.
    """

    def __init__(self, folder: Path, scheduler: str, sound_count: int = _SOUND_LOGS) -> None:
        self._folder, self._scheduler = folder, scheduler
        self._sound = [self._put(folder / "sound", name, data) for name, data in _parted()[0][:sound_count]]
        if lacking := sound_count - len(self._sound):
            simulate(Facility(folder / "simulated", lacking, SEED, 2, "simulated"), lambda *_: None)
            self._sound += sorted((folder / "simulated" / "darshan").rglob("*.darshan"))
        alone = folder / "alone"
        run(Settings(tuple(self._sound), alone, scheduler=scheduler))
        self._published = self._log_ids(alone)
        assert len(self._published) == sound_count
        # What a build of Darshan counts, the logs of a night say together.
        known = "SELECT log_id FROM lake.log_activity WHERE stat_lack IS NULL"
        self._ids = [row["log_id"] for row in rows(alone, known)]
        # Files that were written just before a sweep are not remembered yet.
        self._alone = {name: held for name, held in rows_of_logs(alone, self._ids).items() if name != "known_file"}

    def _log_ids(self, warehouse: Path) -> set[str]:
        return {row["log_id"] for row in rows(warehouse, "SELECT log_id FROM logs")}

    def _put(self, folder: Path, name: str, data: bytes) -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def sweep(self, mutants: Sequence[Mutant], outcome: Outcome) -> None:
        """Sweeps inputs beside sound logs, asks every view, writes reports and mails, and adds what became of them."""
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            folder, warehouse = Path(name), Path(name) / "warehouse"
            places = {
                str(self._put(folder / ("logs" if each.kind.is_log else "stats") / str(each.number), each.name, each.data)): each
                for each in mutants
            }
            warehouse.mkdir()
            (warehouse / "digest.toml").write_text(_POLICY)
            began_at = time.monotonic()
            logs, stats = folder / "logs", folder / "stats"
            logs.mkdir(exist_ok=True)
            paths = (*self._sound, logs)
            order = Settings(paths, warehouse, scheduler=self._scheduler, stats=(stats,) if stats.exists() else ())
            try:
                summary = run(order)
            except Exception as error:  # noqa: BLE001  whatever it is, it is what is looked for
                outcome.faults.append(f"the sweep of {_numbers(mutants)} ended: {type(error).__name__}: {error}"[:500])
                return
            outcome.faults += [f"{_numbers(mutants)}: {fault}" for fault in self._summed(summary, len(mutants))]
            self._count(warehouse, places, outcome)
            outcome.faults += self._differences(warehouse, mutants)
            outcome.faults += absurd_rows(warehouse, mutants)
            outcome.faults += _unmarked(warehouse, places)
            outcome.faults += _mailed(warehouse, folder / "mails", mutants)
            outcome.seconds.append(time.monotonic() - began_at)
            _beside(warehouse, {path: each for path, each in places.items() if each.kind.is_log}, outcome.beside)
            for part, held in _memory():
                outcome.memory[part] = max(held, outcome.memory.get(part, 0))

    def _summed(self, summary: Summary, count: int) -> Iterator[str]:
        held = (summary.found, summary.ingested + summary.known + summary.rejected)
        stats = summary.statistics
        held_stats = (stats.found, stats.ingested + stats.known + stats.rejected)
        if held[0] != held[1] or held_stats[0] != held_stats[1] or held[0] + held_stats[0] < count + len(self._sound):
            yield f"found, and ingested, known and rejected: {held}, {held_stats}"
        yield from (f"no report: {fault}" for fault in summary.unreported)

    def _count(self, warehouse: Path, places: Mapping[str, Mutant], outcome: Outcome) -> None:
        reasons = {row["path"]: row["reason"] for row in rows(warehouse, "SELECT path, reason FROM rejects")}
        failed = rows(warehouse, "SELECT path, derivation, error FROM failed_derivations")
        doubted = {row["path"] for row in rows(warehouse, "SELECT path FROM logs WHERE doubt IS NOT NULL")}
        for path, each in places.items():
            kind = each.kind.folder
            reason = reasons.get(path)
            if reason and reason.startswith(_READER_FAILED):
                outcome.faults.append(f"{each.number} ({each.name}): {reason}"[:400])
            end = "rejected" if reason else "read, in doubt" if path in doubted else "read"
            outcome.counts[f"{kind}: {end}"] += 1
        numbers = {path: each.number for path, each in places.items()}
        outcome.faults += [f"{numbers.get(row['path'])}: {row['derivation']} failed: {row['error']}"[:400] for row in failed]

    def _differences(self, warehouse: Path, mutants: Sequence[Mutant]) -> Iterator[str]:
        beside = rows_of_logs(warehouse, self._ids)
        of_logs_alone = all(each.kind.is_log for each in mutants)
        if lost := self._published - self._log_ids(warehouse):
            yield f"{_numbers(mutants)}: sound logs were not published: {', '.join(sorted(lost))}"
        for table, expected in self._alone.items():
            # Servers and accounting say something of sound logs too.
            if beside[table] != expected and (of_logs_alone or table in _read_from_logs()):
                yield f"{_numbers(mutants)}: rows of sound logs differ in {table}"


@cache
def _read_from_logs() -> frozenset[str]:
    """Tables that nothing but the log enters."""
    made = {view.name for view in find_views() if view.schema == "feature"} | {"verdict", "known_log", "job_route"}
    return frozenset(name for name, table in TABLES.items() if "log_id" in table.columns and name not in made)


def _numbers(mutants: Sequence[Mutant]) -> str:
    listed = ",".join(str(each.number) for each in mutants[:3])
    return f"{listed},… ({len(mutants)})" if len(mutants) > 3 else listed


@cache
def _people_views() -> tuple[View, ...]:
    return tuple(view for view in find_views() if view.schema == "main")


# Differences, and places in files and in rankings, may be below zero.
_UNMARKED: Final = "FROM main.segments WHERE trace_doubt IS NULL"
_SIGNED: Final = re.compile(
    r"change|offset|delta|difference|drift|shift|saved|lost_service|gain|slope|skew|correlation|stride|lag"
)
_MEASURES: Final = ("_bytes", "_count", "_seconds", "_ratio")


def absurd_rows(warehouse: Path, mutants: Sequence[Mutant]) -> Iterator[str]:
    """Views that do not answer, and numbers of views that no run has."""
    with open_catalog(warehouse / "iomine.duckdb") as con:
        set_variables(con, settings(list(TRIGGERS.values())))
        for view in _people_views():
            try:
                answered = answer_own(con, _UNMARKED if view.name == "segments" else f"FROM {view.qualified}")
            except Exception as error:  # noqa: BLE001  whatever it is, it is what is looked for
                yield f"{_numbers(mutants)}: {view.qualified}: {type(error).__name__}: {error}"[:400]
                continue
            # What is listed there is what was doubted.
            if view.name == "data_quality":
                continue
            yield from (f"{_numbers(mutants)}: {view.name}.{fault}" for fault in _absurd_columns(answered))
        limits = (
            "SELECT path FROM logs WHERE io_core_seconds > run_seconds * nprocs * 1.01 + nprocs + 1 OR run_seconds > 86400e3 "
            "OR end_at > now() + INTERVAL 1 DAY OR end_at < TIMESTAMPTZ '2008-01-01 00:00:00+00' OR nprocs > 2147483647 "
            "OR nprocs < 1 OR read_bytes > 2**62 OR write_bytes > 2**62"
        )
        traced = (
            "SELECT DISTINCT path FROM segments JOIN logs USING (cluster, night, log_id) WHERE trace_doubt IS NULL AND ("
            "start_seconds < 0 OR end_seconds < start_seconds OR end_seconds > run_seconds + 2 OR length_bytes < 0 "
            "OR greatest(offset_bytes, length_bytes) >= 2**60)"
        )
        for query in (limits, traced):
            yield from (f"{row['path']}: beyond its run" for row in answer_own(con, query).to_pylist())


def _absurd_columns(answered: pa.Table) -> Iterator[str]:
    for name, column in zip(answered.column_names, answered.columns, strict=True):
        if pa.types.is_float64(column.type) and (count := pc.sum(pc.invert(pc.is_finite(column))).as_py()):
            yield f"{name} is not finite in {count} rows"
        is_measure = pa.types.is_float64(column.type) or pa.types.is_int64(column.type)
        if is_measure and name.endswith(_MEASURES) and not _SIGNED.search(name) and (count := pc.sum(pc.less(column, 0)).as_py()):
            yield f"{name} is negative in {count} rows"


@cache
def _column_names() -> Mapping[tuple[str, str], tuple[str, str]]:
    """Table and column of each counter of PyDarshan's."""
    found = {}
    for module, layout in LAYOUTS.items():
        words = COUNTERS[module].integers + COUNTERS[module].floats
        found |= {(module, word): (layout.table, name) for word, name in zip(words, columns_of(module), strict=True)}
        found[module, "rank"] = (layout.table, "rank")
    return found


def raw(paths: Iterable[str], *options: str) -> list[dict[str, Any]]:
    """What PyDarshan says of logs."""
    command = [sys.executable, str(Path(__file__).parent / "raw_records.py"), *options]
    given = "".join(f"{path}\n" for path in paths)
    done = subprocess.run(command, check=True, capture_output=True, text=True, input=given)
    return [json.loads(line) for line in done.stdout.splitlines()]


def _unmarked(warehouse: Path, places: Mapping[str, Mutant]) -> Iterator[str]:
    """Counters that cannot be, of records that were read, which `data_quality` does not list."""
    read = rows(
        warehouse,
        "SELECT path, logs.log_id, doubt, list(DISTINCT module.module) AS modules FROM logs "
        "JOIN lake.module AS module USING (log_id) WHERE state = 'read' GROUP BY ALL",
    )
    logs = {row["path"]: row for row in read if row["path"] in places}
    listed = rows(warehouse, "SELECT DISTINCT log_id, table_name, column_name FROM data_quality")
    marked = {tuple(row.values()) for row in listed}
    for path, found in zip(logs, raw(logs), strict=True):
        row, number = logs[path], places[path].number
        if "absurd" not in found:
            continue
        if not found["is_sound"] and not row["doubt"]:
            yield f"{number}: a run of {found['run_seconds']} s on {found['nprocs']} without a doubt"
        for module, word, why, value, record in found["absurd"]:
            table, column = _column_names()[module, word]
            if module not in row["modules"] or (row["log_id"], table, column) in marked:
                continue
            # Of a module that it cannot inflate, PyDarshan gives whatever lies in its memory as a record.
            own = f"SELECT 1 FROM lake.{table} WHERE log_id = '{row['log_id']}' AND file_id = "
            if rows(warehouse, f"{own}{record - (1 << 64) if record >> 63 else record}"):
                yield f"{number}: {module} {word} = {value} ({why}) is not marked"


def _beside(warehouse: Path, places: Mapping[str, Mutant], found: Mapping[str, Counter[str]]) -> None:
    """Adds how reading of these logs ended: here, and in PyDarshan's `DarshanReport`, which has a process for each."""
    states = {
        row["log_id"]: "read" if row["is_whole"] else "read but for modules that are said to be damaged"
        for row in rows(warehouse, "SELECT log_id, bool_and(state = 'read') AS is_whole FROM lake.module GROUP BY ALL")
    }
    ours, theirs = found.values()
    for each, said in zip(places.values(), raw(places, "--report"), strict=True):
        ours[states.get(hashlib.sha256(each.data).hexdigest()[:16], "rejected, with a reason")] += 1
        # The error's name, without what it says of this log.
        theirs[" ".join((said["outcome"], said.get("error", "").partition(":")[0])).strip()] += 1


def _memory() -> Iterator[tuple[str, int]]:
    """Parts that processes have which live now, and bytes that each has held at most."""
    here = psutil.Process()
    for process in (here, *here.children(recursive=True)):
        with suppress(psutil.NoSuchProcess, FileNotFoundError):
            command = " ".join(process.cmdline())
            part = next((part for word, part in _PARTS.items() if word in command), None)
            if process == here or part:
                yield part or "client and scheduler", most_memory(process.pid)


def _mailed(warehouse: Path, outbox: Path, mutants: Sequence[Mutant]) -> Iterator[str]:
    try:
        done = digest(Order(warehouse, since=date(2000, 1, 1), outbox=outbox, is_dry=True))
    except Exception as error:  # noqa: BLE001  whatever it is, it is what is looked for
        yield f"{_numbers(mutants)}: no mails: {type(error).__name__}: {error}"[:400]
        return
    if not done.post.sent:
        yield f"{_numbers(mutants)}: nobody was mailed"
    for path in sorted(outbox.glob("*.eml")):
        plain = path.read_text(errors="replace").partition("text/html")[0]
        if match := _NO_NUMBER.search(plain):
            yield f"{_numbers(mutants)}: a mail says {match[0]}: {plain[max(0, match.start() - 80) : match.end() + 20]!r}"


def batches(numbers: Sequence[int], size: int) -> Iterator[list[Mutant]]:
    """Inputs by the sweep that takes them: logs, and statistics and accounting, apart."""
    mutants = [mutant(number) for number in numbers]
    for is_log in (True, False):
        held = [each for each in mutants if each.kind.is_log == is_log]
        yield from (held[at : at + size] for at in range(0, len(held), size))


def fuzzed(numbers: Sequence[int], chain: Chain, size: int = _BATCH, limit_seconds: int = 0) -> Iterator[Outcome]:
    """What has become of the inputs of these numbers, after each sweep; one that takes longer than a limit ends the program."""
    outcome = Outcome()
    for at in range(0, len(numbers), 4 * size):
        for batch in batches(numbers[at : at + 4 * size], size):
            known = len(outcome.faults)
            # Tests have a limit of their own, by the same alarm.
            if limit_seconds:
                signal.alarm(limit_seconds)
            chain.sweep(batch, outcome)
            print("".join(f"{fault}\n" for fault in outcome.faults[known:]), end="", file=sys.stderr)  # noqa: T201
            print(f"{sum(outcome.counts.values()):7,} inputs, {len(outcome.faults)} faults", file=sys.stderr, flush=True)  # noqa: T201
            yield outcome


def _write(outcome: Outcome) -> None:
    """Keeps for docs/reliability.md what has become of inputs."""
    RESULTS.parent.mkdir(exist_ok=True)
    result = {
        "measured_on": date.today().isoformat(),  # noqa: DTZ011  a day is enough
        "counts": outcome.counts,
        "faults": outcome.faults,
        "sweeps": len(outcome.seconds),
        "slowest_sweep_seconds": max(outcome.seconds, default=0),
        "memory_bytes": outcome.memory,
        "beside": {name: dict(ends.most_common()) for name, ends in outcome.beside.items()},
    }
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")


def main() -> int:
    """Damages as many inputs as asked for, says what became of them, and ends with an error where something must not be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--only", default="", help="numbers of inputs")
    parser.add_argument("--batch", type=int, default=_BATCH, help="inputs of a sweep")
    parser.add_argument("--sound", type=int, default=_SOUND_LOGS, help="sound logs beside them")
    given = parser.parse_args()
    numbers = [int(each) for each in given.only.split(",") if each] or range(given.first, given.first + given.count)
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=50)
    with tempfile.TemporaryDirectory() as name, cluster:
        chain = Chain(Path(name), cluster.scheduler_address, given.sound)
        for outcome in fuzzed(numbers, chain, given.batch, _SLOWEST_SECONDS):
            # What is ended before its time has shown something too.
            _write(outcome)
    signal.alarm(0)
    lines = [*(f"{count:9,} {end}" for end, count in sorted(outcome.counts.items())), *outcome.faults]
    print("\n".join(lines))  # noqa: T201
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    sys.exit(main())
