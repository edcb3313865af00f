"""A program as it runs: archetypes say what its ranks do next, and it charges the time and keeps the tapes."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from iomine.schema.ops import READ, WRITE
from iomine.simulate import filesystem as fs
from iomine.simulate.runs import LAYERS, Call, Column, Each, Floats, Integers, Tape

# Requests of one rank differ little within a burst, bursts and ranks more.
_NOISE: Final = 0.12
_GAP: Final = 1.02
_STREAM_SECONDS: Final = 2e-6
_STREAM_BYTES_PER_SECOND: Final = 4e8
_BUFFER_BYTES: Final = 4 << 20
_PLACES: Final = {layer: place for place, layer in enumerate(LAYERS)}
STDOUT: Final = "<STDOUT>"


def host(node: int) -> str:
    """A node's name."""
    return f"nid{node:05d}"


class Seat(NamedTuple):
    """Where and when a program runs.

    Attributes:
        nprocs: its processes.
        nodes: node of each rank.
        slowdowns: of each rank's path to the file system.
        start_second: its start, in seconds since the beginning of the system state.
        mdt: MDT of its project's folders.
        folder: folder of its own.
        project: folder that its project shares.
        slowed_by: kind of the incident that slows paths.
    """

    nprocs: int
    nodes: Integers
    slowdowns: Floats
    start_second: float
    mdt: int
    folder: str
    project: str
    slowed_by: str = "degraded_link"


class Program:
    """Ranks with a clock each.

    Args:
        seat: where it runs.
        state: how slow the file system is meanwhile.
        rng: what makes runs of the same program differ.
    """

    def __init__(self, seat: Seat, state: fs.SystemState, rng: np.random.Generator) -> None:
        self.seat = seat
        self.nprocs = seat.nprocs
        self.rng = rng
        self.ranks: Integers = np.arange(seat.nprocs)
        self.paths: list[str] = []
        self._room: Integers = np.zeros((3, 8), np.int64)
        self.layouts = fs.Layouts(*self._room[:, :0])
        self.tape = Tape()
        self.bursts = {READ: 0, WRITE: 0}
        self.lost_seconds = {"hot_ost": 0.0, "metadata_storm": 0.0, "degraded_link": 0.0} | {seat.slowed_by: 0.0}
        self.datasets: dict[int, int] = {}
        self.state = state
        self._is_slowed = bool((seat.slowdowns != 1).any())
        self._clock: Floats = np.full(seat.nprocs, 0.05) + rng.random(seat.nprocs) * 0.01
        self._next_ost = int(rng.integers(fs.OST_COUNT))

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return float(self._clock.max())

    def files(
        self, paths: Sequence[str], stripe_count: int = 1, stripe_bytes: int = 1 << 20, first_ost: int | None = None
    ) -> Integers:
        """Indices of new files; OSTs are taken in turn, or from a given one on."""
        count = len(paths)
        first = len(self.paths)
        self.paths += paths
        if first_ost is None:
            osts = (self._next_ost + np.arange(count) * stripe_count) % fs.OST_COUNT
            self._next_ost = int(osts[-1]) + stripe_count
        else:
            osts = np.full(count, first_ost)
        if first + count > len(self._room[0]):
            self._room = np.concatenate([self._room, np.zeros((3, first + 2 * count), np.int64)], axis=1)
        more = self._room[:, first : first + count]
        more[0], more[1], more[2] = osts, stripe_count, stripe_bytes
        self.layouts = fs.Layouts(*self._room[:, : first + count])
        return np.arange(first, first + count)

    def compute(self, seconds: float) -> None:
        """All ranks work for about this long, then wait for each other."""
        self._clock += seconds * self.rng.lognormal(0, 0.02, self.nprocs)
        self.barrier()

    def barrier(self) -> None:
        """All ranks wait for the last one."""
        self._clock[:] = self._clock.max()

    def open(
        self, files: Each, ranks: Integers | None = None, *, layers: Sequence[str] = ("POSIX",), is_collective: bool = False
    ) -> None:
        """Each rank opens its file."""
        ranks = self.ranks if ranks is None else ranks
        # Servers see nothing of what is opened within a file.
        seconds = self._meta_seconds(ranks, fs.OPEN_SECONDS, times=int("POSIX" in layers))
        starts = self._advance(ranks, seconds)
        for layer in layers:
            flag = is_collective and layer == "MPI-IO"
            self._call(layer, files, ranks, Call.OPEN, 1, flag, starts, starts + seconds, seconds)

    def close(self, files: Each, ranks: Integers | None = None, *, layers: Sequence[str] = ("POSIX",)) -> None:
        """Each rank closes its file."""
        ranks = self.ranks if ranks is None else ranks
        seconds = self._meta_seconds(ranks, fs.CLOSE_SECONDS)
        starts = self._advance(ranks, seconds)
        for layer in layers:
            self._call(layer, files, ranks, Call.CLOSE, 1, 0, starts, starts + seconds, seconds)

    def transfer(
        self,
        op: int,
        files: Each,
        offsets: Each,
        length: Each,
        counts: Each = 1,
        *,
        step: Each | None = None,
        ranks: Integers | None = None,
        layers: Sequence[str] = ("POSIX",),
    ) -> None:
        """Each rank reads or writes; a rank that is named more than once does so once after the other.

        Args:
            op: `READ` or `WRITE`.
            files: file of each rank.
            offsets: where its first request begins.
            length: bytes of each request.
            counts: requests of each rank.
            step: from one request to the next, that is the length if not given.
            ranks: who does it, all if not given.
            layers: those that it passes through.
        """
        ranks = self.ranks if ranks is None else ranks
        seconds = self._request_seconds(files, ranks, length, counts)
        pitches = seconds * _GAP
        starts = self._advance(ranks, pitches * counts)
        stepping = length if step is None else step
        for layer in layers:
            self._run(layer, files, ranks, op, offsets, length, stepping, counts, 0, starts, pitches, seconds)

    def visit(
        self,
        op: int,
        files: Each,
        lengths: Each,
        *,
        ranks: Integers | None = None,
        counts: Each = 1,
        stats: int = 0,
        opens: int = 1,
    ) -> None:
        """Each rank looks its file up, opens it, reads or writes it from the beginning and closes it, file after file."""
        ranks = self.ranks if ranks is None else ranks
        looking = self._meta_seconds(ranks, opens * fs.OPEN_SECONDS + stats * fs.STAT_SECONDS, opens + stats)
        closing = self._meta_seconds(ranks, fs.CLOSE_SECONDS * opens)
        seconds = self._request_seconds(files, ranks, lengths, counts)
        pitches = seconds * _GAP
        moving = pitches * counts
        starts = self._advance(ranks, looking + moving + closing)
        opened, done = starts + looking, starts + looking + moving
        if stats:
            self._call("POSIX", files, ranks, Call.STAT, stats, 0, starts, starts + looking / 2, looking / 2)
        share = looking / 2 if stats else looking
        self._call("POSIX", files, ranks, Call.OPEN, opens, 0, opened - share, opened, share)
        self._run("POSIX", files, ranks, op, 0, lengths, lengths, counts, 0, opened, pitches, seconds)
        self._call("POSIX", files, ranks, Call.CLOSE, opens, 0, done, done + closing, closing)

    def collective(self, op: int, file: int, offset: int, length: int, *, aggregators: Integers) -> None:
        """All ranks move a piece each, in rank order, in one collective call; aggregators do it for them, in large requests.

        Args:
            op: `READ` or `WRITE`.
            file: the file.
            offset: where the piece of rank 0 begins.
            length: bytes of a piece.
            aggregators: ranks that go to the file system.
        """
        self.barrier()
        begin = self.seconds
        places, begins, lengths, counts = _file_domains(length * self.nprocs, len(aggregators))
        self.transfer(op, file, offset + begins, lengths, counts, ranks=aggregators[places])
        self.barrier()
        seconds = (self.seconds - begin) * self.rng.uniform(0.99, 1.0, self.nprocs)
        offsets = offset + self.ranks * length
        self._run("MPI-IO", file, self.ranks, op, offsets, length, length, 1, 1, begin, seconds, seconds)

    def poll(self, files: Integers, length: int, times: int) -> None:
        """Each rank looks its own file up, opens it, reads it from the beginning and closes it, over and over."""
        idle = fs.OPEN_SECONDS + fs.STAT_SECONDS + fs.CLOSE_SECONDS
        asking = self._meta_seconds(self.ranks, idle, 3, times=times)
        seconds = self._request_seconds(files, self.ranks, length, times)
        pitches = asking + seconds
        starts = self._advance(self.ranks, pitches * times)
        ends = starts + pitches * times
        for kind, share in ((Call.STAT, 0.25), (Call.OPEN, 0.65), (Call.CLOSE, 0.1)):
            self._call("POSIX", files, self.ranks, kind, times, 0, starts, ends, asking * share * times)
        self._run("POSIX", files, self.ranks, READ, 0, length, 0, times, 0, starts + asking * 0.9, pitches, seconds)

    def dataset(self, file: int, name: str) -> int:
        """Index of a new dataset of an HDF5 file."""
        dataset = int(self.files([name])[0])
        self.datasets[dataset] = file
        return dataset

    def stream(self, op: int, file: Each, length: int, count: int, rank: int = 0) -> None:
        """A rank moves data through the buffer of a stdio stream, which it opens and closes."""
        ranks = np.array([rank])
        seconds = (_STREAM_SECONDS + length / _STREAM_BYTES_PER_SECOND) * self._noise(ranks)
        self._lose(self.seat.slowed_by, 1 - 1 / self.seat.slowdowns[ranks], seconds, count)
        opening = self._meta_seconds(ranks, fs.OPEN_SECONDS)
        starts = self._advance(ranks, opening + seconds * _GAP * count)
        opened, done = starts + opening, starts + opening + seconds * _GAP * count
        self._call("STDIO", file, ranks, Call.OPEN, 1, 0, starts, opened, opening)
        self._run("STDIO", file, ranks, op, 0, length, length, count, 0, opened, seconds * _GAP, seconds)
        self._call("STDIO", file, ranks, Call.CLOSE, 1, 0, done, done + 1e-6, 1e-6)

    def say(self, lines: int) -> None:
        """Rank 0 has written so many lines to its standard output."""
        begin, end = 0.02, self.seconds
        pitch = (end - begin) / lines
        file = self.files([STDOUT])[0]
        first = self.ranks[:1]
        self._call("STDIO", file, first, Call.OPEN, 1, 0, 0.001, 0.001, 0.0)
        self._run("STDIO", file, first, WRITE, 0, 64, 64, lines, 0, begin, pitch, min(3e-6, pitch))

    def _run(self, layer: str, files: Each, ranks: Integers, *columns: Column) -> None:
        self.tape.runs.append((len(ranks), _PLACES[layer], files, ranks, *columns))

    def _call(self, layer: str, files: Each, ranks: Integers, *columns: Column) -> None:
        self.tape.calls.append((len(ranks), _PLACES[layer], files, ranks, *columns))

    def _minute(self, rank: int) -> int:
        """The minute that it is for a rank; it is taken to be that for all that do something with it."""
        return int((self.seat.start_second + self._clock[rank]) / fs.MINUTE)

    def _noise(self, ranks: Integers) -> Floats:
        """How much longer than others' what ranks ask for takes, by chance and by their path to the file system."""
        noise: Floats = self.rng.lognormal(0, _NOISE, len(ranks))
        return noise * self.seat.slowdowns[ranks] if self._is_slowed else noise

    def _request_seconds(self, files: Each, ranks: Integers, length: Each, counts: Each) -> Floats:
        """How long each of a rank's requests takes."""
        rivals = min(len(ranks), self.nprocs)
        used = int(np.take(self.layouts.stripe_counts[files], 0))
        if np.size(files) > 1:
            used = min(fs.OST_COUNT, used * rivals)
        rate = min(fs.STREAM_BYTES_PER_SECOND, fs.OST_BYTES_PER_SECOND * used / rivals)
        slow, lost = self.state.osts(self.layouts, files, self._minute(ranks[0]))
        seconds: Floats = (fs.REQUEST_SECONDS + length / rate) * slow * self._noise(ranks)
        self._lose("hot_ost", lost, seconds, counts)
        self._lose(self.seat.slowed_by, 1 - 1 / self.seat.slowdowns[ranks], seconds, counts)
        return seconds

    def _meta_seconds(self, ranks: Integers, idle: float, calls: int = 1, *, times: int = 1) -> Floats:
        """How long a rank's calls take, which it makes so many times."""
        rivals = min(len(ranks), self.nprocs)
        slow, lost = self.state.mdt(self.seat.mdt, self._minute(ranks[0]))
        seconds: Floats = max(idle, calls * rivals / fs.MDT_CALLS_PER_SECOND) * slow * self._noise(ranks)
        self._lose("metadata_storm", lost, seconds, times)
        self._lose(self.seat.slowed_by, 1 - 1 / self.seat.slowdowns[ranks], seconds, times)
        return seconds

    def _lose(self, kind: str, ratio: Floats | float, seconds: Floats, counts: Each) -> None:
        if np.any(ratio):
            self.lost_seconds[kind] += float(np.sum(ratio * seconds * counts))

    def _advance(self, ranks: Integers, seconds: Floats) -> Floats:
        """When each row begins, if the rows of a rank follow one another; moves the clocks on."""
        if len(ranks) == 1 or ranks is self.ranks:
            starts = self._clock[ranks]
            self._clock[ranks] += seconds
            return starts
        order = np.argsort(ranks, kind="stable")
        of, spent = ranks[order], seconds[order]
        upto = np.cumsum(spent) - spent
        starts = np.empty(len(ranks))
        starts[order] = self._clock[of] + upto - upto[np.searchsorted(of, of)]
        self._clock += np.bincount(ranks, seconds, self.nprocs)
        return starts


@lru_cache
def _file_domains(total: int, aggregators: int) -> tuple[Integers, Integers, Integers, Integers]:
    """Aggregator, offset, length and number of requests for bytes that are moved collectively.

    Domains are as large as each other, in whole buffers; the last may end within one.
    """
    buffers = -(-total // _BUFFER_BYTES)
    edges = np.minimum((np.arange(aggregators + 1) * buffers // aggregators) * _BUFFER_BYTES, total)
    whole, rest = np.divmod(np.diff(edges), _BUFFER_BYTES)
    counts = np.concatenate([whole, rest > 0])
    used = np.flatnonzero(counts)
    lengths = np.concatenate([np.full(aggregators, _BUFFER_BYTES), rest])
    begins = np.concatenate([edges[:-1], edges[:-1] + whole * _BUFFER_BYTES])
    return used % aggregators, begins[used], lengths[used], counts[used]
