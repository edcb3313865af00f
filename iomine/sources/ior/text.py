"""IOR's text: key lines, a table of results with warnings between its rows, and a summary.

Until 3.1 keys stand as `key = value` below `Summary:`, from 3.2 on as `key : value` below `Options:`. A file may hold several
outputs, and anything of anybody before, between and behind them, as what a job printed does.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import tzinfo
from typing import Any, Final

from iomine.sources.accounting.lines import LeftOut, batches, text_of
from iomine.sources.ior.model import OPS, FlawError, Launch, Summary, Test, knows_columns, moment, result_of
from iomine.sources.ior.numbers import Size, exactly, integer, printed, size, tabled
from iomine.sources.ior.rows import readings, rows_of
from iomine.sources.model import Input, Readings, Source
from iomine.sources.series.doubts import complete_lines
from iomine.units import KIB, MIB

_MARKS: Final = (b": MPI Coordinated Test of Parallel I/O", b"Began               : ")
_HEAD: Final = re.compile(r"IOR-((\d{1,3})\.[\w.+-]{1,40}): MPI Coordinated Test of Parallel I/O\s*")
# IOR 3.2 prints its head to standard output though the rest goes to a file.
_BEGAN: Final = re.compile(r"Began {15}: \w{3} \w{3} .*")
_FIRST_MAJOR: Final = 3
_HEAD_BYTES: Final = MIB
# No line of IOR's that is read is longer.
_LONGEST_LINE: Final = 64 * KIB
_MOST_RESULTS: Final = 100_000
_LONGEST_KEY: Final = 80
_SEPARATOR: Final = re.compile("[:=]")
_STARTED: Final = re.compile(r"Test (\d{1,9}) started")
_CLIENTS: Final = re.compile(r"(\d{1,9}) \((\d{1,9}) per node\)")
_SEGMENTS: Final = re.compile(r"\w+ \((\d{1,18}) segments?\)")
# With more output, the place in the source of IOR follows.
_BYTES: Final = re.compile(
    r"WARNING: (Expected aggregate file size|Using actual aggregate bytes moved) {1,40}= {0,40}(\d{1,18})\.?(?:,? \(.*)?$"
)
_HINTS: Final = re.compile(r"hints (passed to MPI_File_open\(\)|returned from opened file) \{$")
_ACCESS: Final = {"file-per-process": False, "single-shared-file": True}
_TYPE: Final = {"collective": True, "independent": False}


def _one_of(words: Mapping[str, bool], word: str) -> bool:
    if word not in words:
        raise ValueError(f"{word[:40]!r} is none of {', '.join(words)}")
    return words[word]


def _access(value: str) -> Mapping[str, object]:
    access, _, type_ = value.partition(", ")
    return {"is_shared": _one_of(_ACCESS, access)} | ({"is_collective": _one_of(_TYPE, type_)} if type_ else {})


def _clients(value: str) -> Mapping[str, object]:
    match = _CLIENTS.fullmatch(value)
    if not match:
        raise ValueError(f"{value[:40]!r} are no clients")
    return {"ranks": int(match[1]), "ranks_per_node": int(match[2])}


def _pattern(value: str) -> Mapping[str, object]:
    match = _SEGMENTS.fullmatch(value)
    if not match:
        raise ValueError(f"{value[:40]!r} are no segments")
    return {"segments": int(match[1])}


def _exact(text: str) -> Size:
    return Size(exactly(integer(text)), integer(text))


# What a setting says of a test.
_SETTINGS: Final[Mapping[str, Callable[[str], Mapping[str, object]]]] = {
    "api": lambda value: {"api": value.replace("-", " ").partition(" ")[0].upper()},
    "test filename": lambda value: {"path": value},
    "access": _access,
    "type": lambda value: {"is_collective": _one_of(_TYPE, value)},
    "pattern": _pattern,
    "segments": lambda value: {"segments": integer(value)},
    "nodes": lambda value: {"nodes": integer(value)},
    "tasks": lambda value: {"ranks": integer(value)},
    "clients": _clients,
    "clients per node": lambda value: {"ranks_per_node": integer(value)},
    "repetitions": lambda value: {"repetitions": integer(value)},
    "xfersize": lambda value: {"transfer": size(value)},
    "blocksize": lambda value: {"block": size(value)},
}
# Columns of the summary, by what they are of a test.
_SUMMED_SETTINGS: Final[Mapping[str, tuple[str, Callable[[str], object]]]] = {
    "#Tasks": ("ranks", integer),
    "tPN": ("ranks_per_node", integer),
    "reps": ("repetitions", integer),
    "fPP": ("is_shared", lambda text: integer(text) == 0),
    "segcnt": ("segments", integer),
    "blksiz": ("block", _exact),
    "xsize": ("transfer", _exact),
    "API": ("api", str),
}
_SUMMED: Final = {*_SUMMED_SETTINGS, "Max(MiB)", "Min(MiB)", "Mean(MiB)", "Mean(s)", "Test#"}
_MOVED: Final = {"aggsize", "aggs(MiB)"}


def _knows(source: Input) -> bool:
    head = source.data[:_HEAD_BYTES]
    return any(mark in head for mark in _MARKS) and any(_is_head(line.rstrip("\r")) for line in text_of(head).split("\n"))


def _is_head(line: str) -> bool:
    return bool(_HEAD.fullmatch(line) or _BEGAN.fullmatch(line))


def _read(source: Input) -> Readings:
    data, cut = complete_lines(source.data)
    rows: list[dict[str, Any]] = []
    left_out = LeftOut("line")
    for found in _launches(data, source.zone):
        try:
            rows += rows_of(_sound(found), rows[-1]["test"] + 1 if rows else 0)
        except FlawError as flaw:
            left_out.add(flaw.line, flaw.why)
    return readings(source, rows, left_out, cut)


def _sound(found: Launch | FlawError) -> Launch:
    if isinstance(found, FlawError):
        raise found
    return found


def _launches(data: bytes, zone: tzinfo) -> Iterator[Launch | FlawError]:
    """Each output from its head to where IOR has finished, or what is wrong in it; the rest of such a one is passed over."""
    reader: _Reader | None = None
    is_flawed = False
    for first, lines in batches(data):
        for number, line in enumerate(lines, first):
            if reader and _HEAD.fullmatch(line):
                yield reader.launch
                reader = None
            if reader is None:
                if not (_HEAD.fullmatch(line) if is_flawed else _is_head(line)):
                    continue
                reader, is_flawed = _Reader(zone), False
            try:
                reader.take(number, line)
            except FlawError as flaw:
                yield flaw
                reader, is_flawed = None, True
            else:
                if reader.launch.is_ended:
                    yield reader.launch
                    reader = None
    if reader:
        yield reader.launch


class _Reader:
    """Reads one output, line by line.

    Args:
        zone: time zone of its times.

    Attributes:
        launch: what was read.
    """

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self.launch = Launch()
        self._keys: dict[str, Callable[[int, str], None]] = {
            "Began": self._began,
            "Command line": self._command,
            "Command line used": self._command,
            "Machine": self._machine,
            "TestID": self._test,
            "StartTime": self._start,
            "Options": self._open_settings,
            "Summary": self._open_settings,
            "Summary of all tests": self._sum_up,
            "Max Write": lambda line, value: self._most(line, "write", value),
            "Max Read": lambda line, value: self._most(line, "read", value),
            "Finished": self._finish,
        }
        self._in_settings = False
        self._in_environment = False
        self._hints: list[str] | None = None
        self._columns: list[str] = []
        self._bytes: dict[str, int] = {}
        self._result_count = 0

    def take(self, number: int, line: str) -> None:
        """Reads a line.

        Raises:
            FlawError: it is not as IOR writes it.
        """
        self.launch.last_line = number
        try:
            if match := _HEAD.fullmatch(line):
                self._take_head(match[1], int(match[2]))
            elif len(line) <= _LONGEST_LINE:
                self._take(number, line)
        except FlawError:
            raise
        except ValueError as error:
            raise FlawError(number, str(error)) from error

    def _take_head(self, version: str, major: int) -> None:
        if major < _FIRST_MAJOR:
            raise ValueError(f"IOR {version} is older than 3.0, and prints another table")
        self.launch.version = version

    def _take(self, number: int, line: str) -> None:
        if self._in_environment:
            self._in_environment = line != "ENDING ENVIRON LOOP"
        elif line == "STARTING ENVIRON LOOP":
            self._in_environment = True
        elif self._hints is not None:
            self._take_hint(number, self._hints, line)
        elif _HINTS.fullmatch(line):
            self._hints = []
        elif match := _BYTES.search(line):
            self._bytes[match[1].split()[0]] = integer(match[2])
        elif not self._take_row(number, line.split()) and (match := _SEPARATOR.search(line, 0, _LONGEST_KEY)):
            self._take_key(number, line[: match.start()].strip(), line[match.end() :].strip())

    def _take_hint(self, number: int, hints: list[str], line: str) -> None:
        if line.strip() == "}":
            self._last(number).hints = ";".join(hints)
            self._hints = None
            return
        name, is_given, value = line.partition("=")
        if not is_given:
            raise FlawError(number, "it is no hint")
        hints.append(f"{name.strip()}={value.strip()}")

    def _take_row(self, number: int, words: list[str]) -> bool:
        """Takes a line of a table, if it is one."""
        first, second = [*words[:2], "", ""][:2]
        if (first, second[:3]) in {("access", "bw("), ("Operation", "Max")}:
            is_known = knows_columns(words) if first == "access" else {*words} >= _SUMMED and bool(_MOVED & {*words})
            if not is_known:
                raise FlawError(number, "the table has other columns, or other units, than those of IOR 3.0 to 4.1")
            self._columns, self._in_settings = words, False
            return True
        if first not in OPS or not second[:1].isdigit():
            return False
        if not self._columns:
            raise FlawError(number, "it is a result without a table")
        if self._columns[0] == "access":
            self._take_result(number, words)
        else:
            self._take_summary(number, words)
        return True

    def _take_result(self, number: int, words: list[str]) -> None:
        self._result_count += 1
        if self._result_count > _MOST_RESULTS:
            raise FlawError(number, f"it has more than {_MOST_RESULTS:,} results, the limit for one output")
        result = result_of(number, self._columns, words, tabled)
        result.expected_bytes, result.moved_bytes = self._bytes.get("Expected"), self._bytes.get("Using")
        self._bytes = {}
        self._last(number).results.append(result)

    def _take_summary(self, number: int, words: list[str]) -> None:
        if len(words) != len(self._columns):
            raise FlawError(number, f"it has {len(words)} of {len(self._columns)} columns")
        cells = dict(zip(self._columns, words, strict=True))
        moved = exactly(integer(cells["aggsize"])) if "aggsize" in cells else printed(cells["aggs(MiB)"], 1).times(MIB)
        most, least, mean = (printed(cells[f"{name}(MiB)"], 2) for name in ("Max", "Min", "Mean"))
        settings = {name: read(cells[column]) for column, (name, read) in _SUMMED_SETTINGS.items()}
        test = next((each for each in self.launch.tests if each.number == integer(cells["Test#"])), None)
        if test is None or words[0] in test.summaries:
            raise FlawError(number, "it sums up a test that is not here")
        test.summaries[words[0]] = Summary(number, most, least, mean, printed(cells["Mean(s)"], 5), moved, settings)

    def _take_key(self, number: int, key: str, value: str) -> None:
        if match := _STARTED.fullmatch(key):
            self._test(number, match[1])
            self._start(number, value)
        elif self._in_settings and key in _SETTINGS:
            for name, setting in _SETTINGS[key](value).items():
                setattr(self._last(number), name, setting)
        elif key in self._keys:
            self._keys[key](number, value)

    def _last(self, number: int) -> Test:
        if not self.launch.tests:
            raise FlawError(number, "no test has begun")
        return self.launch.tests[-1]

    def _began(self, _number: int, value: str) -> None:
        self.launch.began = moment(value, self._zone)

    def _command(self, _number: int, value: str) -> None:
        self.launch.command = value

    def _machine(self, _number: int, value: str) -> None:
        # The kernel, then the node; more where IOR is asked for more.
        self.launch.host = [*value.split(), "", ""][1] or None

    def _test(self, number: int, value: str) -> None:
        self.launch.tests.append(Test(number, integer(value)))
        self._columns = []

    def _start(self, number: int, value: str) -> None:
        self._last(number).start = moment(value, self._zone)

    def _open_settings(self, _number: int, _value: str) -> None:
        self._in_settings = True

    def _sum_up(self, _number: int, _value: str) -> None:
        self.launch.is_summed = True

    def _most(self, number: int, op: str, value: str) -> None:
        rate, _, unit = value.partition(" ")
        if not unit.startswith("MiB/sec "):
            raise FlawError(number, "the fastest rate is not in MiB/sec")
        self._last(number).most[op] = number, printed(rate, 2)

    def _finish(self, number: int, value: str) -> None:
        if moment(value, self._zone) < (self.launch.began or moment(value, self._zone)):
            raise FlawError(number, "it finishes before it began")
        self.launch.is_ended = True


TEXT: Final = Source("ior", _knows, _read)
