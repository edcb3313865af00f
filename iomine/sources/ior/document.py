"""IOR's summary as JSON (`-O summaryFormat=JSON`): tests with their parameters and results, and the summary of all.

Where it went to standard output, lines of talk stand within; none of these begins as a line of JSON does.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from iomine.errors import UnreadableError
from iomine.sources.accounting.lines import text_of
from iomine.sources.ior.model import OPS, FlawError, Launch, Result, Summary, Test, moment
from iomine.sources.ior.numbers import Size, Span, exactly, integer, printed, size
from iomine.sources.ior.rows import rows_of, table_of
from iomine.sources.model import Input, Readings, Source
from iomine.units import KIB, MIB

_HEAD_BYTES: Final = 64 * KIB
_SHAPE: Final = re.compile(rb'^\s{0,8}\{\s*"Version"\s*:\s*"[^"]*"\s*,\s*"Began"\s*:', re.MULTILINE)
_TALK: Final = re.compile(r"^(?![ \t]*[\]\[{}\",]).*$", re.MULTILINE)
_TEST: Final = re.compile(r'"Parameters"\s*:')
_RESULT: Final = re.compile(r'"access"\s*:\s*"(?:write|read|remove)"')
_SUMMARY: Final = re.compile(r'"operation"\s*:')
# Of each number that is not whole.
PLACES: Final = 4
_RATES: Final = ("bwMaxMIB", "bwMinMIB", "bwMeanMIB", "MeanTime")
_PARTS: Final = {
    "block": "blockKiB",
    "transfer": "xferKiB",
    "open": "openTime",
    "data": "wrRdTime",
    "close": "closeTime",
}


class _Number(str):
    """A number as it stands in the text, which says how it was rounded."""

    __slots__ = ()


def _knows(source: Input) -> bool:
    return bool(_SHAPE.search(source.data[:_HEAD_BYTES]))


def _read(source: Input) -> Readings:
    text = text_of(source.data)
    try:
        launch = _launch(text, source)
        rows = rows_of(launch, 0)
    except FlawError as flaw:
        raise UnreadableError(f"No run of IOR can be read here: line {flaw.line} ({flaw.why}).") from flaw
    return Readings(table_of(source, rows))


def _launch(text: str, source: Input) -> Launch:
    try:
        document = json.loads(_TALK.sub("", text), parse_float=_Number, parse_int=_Number, parse_constant=_Number, strict=False)
    except json.JSONDecodeError as error:
        raise FlawError(error.lineno, f"it is no JSON from here on: {error.msg}") from error
    except RecursionError as error:
        raise FlawError(1, "it is nested too deeply") from error
    lines = {name: _lines(text, shape) for name, shape in (("test", _TEST), ("result", _RESULT), ("summary", _SUMMARY))}
    launch = Launch(text.count("\n") + 1, is_summed=True, is_ended=True)
    return _Reader(launch, source, lines).read(document)


def _lines(text: str, shape: re.Pattern[str]) -> Iterator[int]:
    """The number of each line with something, the last line for ever after."""
    number, last = 1, 0
    for match in shape.finditer(text):
        number += text.count("\n", last, match.start())
        last = match.start()
        yield number
    while True:
        yield number


class _Reader:
    """Reads a document.

    Args:
        launch: what it becomes.
        source: the input.
        lines: where tests, results and summaries stand, in their order.
    """

    def __init__(self, launch: Launch, source: Input, lines: Mapping[str, Iterator[int]]) -> None:
        self._launch, self._zone, self._lines = launch, source.zone, lines
        self._line = 1

    def read(self, document: object) -> Launch:
        """What it says.

        Raises:
            FlawError: it is not as IOR writes it.
        """
        try:
            self._read(_members(document))
        except FlawError:
            raise
        except KeyError as error:
            raise FlawError(self._line, f"it lacks {error}") from error
        except (ValueError, TypeError) as error:
            raise FlawError(self._line, str(error)) from error
        return self._launch

    def _read(self, document: Mapping[str, Any]) -> None:
        launch = self._launch
        launch.version, launch.command = _text(document["Version"]), _text(document["Command line"])
        launch.host = [*_text(document["Machine"]).split(), "", ""][1] or None
        launch.began = moment(_text(document["Began"]), self._zone)
        if moment(_text(document["Finished"]), self._zone) < launch.began:
            raise ValueError("it finishes before it began")
        for each in _items(document["tests"]):
            launch.tests.append(self._test(_members(each)))
        self._line = launch.last_line
        for each in _items(document["summary"]):
            self._summary(_members(each))

    def _test(self, entry: Mapping[str, Any]) -> Test:
        self._line = next(self._lines["test"])
        parameters, options = _members(entry["Parameters"]), _members(entry["Options"])
        test = Test(
            self._line,
            _whole(entry["TestID"]),
            start=moment(_text(entry["StartTime"]), self._zone),
            api=_text(options["api"]).upper(),
            path=_text(options["test filename"]),
            is_shared=_whole(parameters["filePerProc"]) == 0,
            is_collective=_whole(parameters["collective"]) != 0,
            segments=_whole(parameters["segmentCount"]),
            nodes=_whole(parameters["nodes"]),
            ranks=_whole(options["tasks"]),
            ranks_per_node=_whole(parameters["tasksPerNode"]),
            repetitions=_whole(parameters["repetitions"]),
            block=_size(parameters["blockSize"]),
            transfer=_size(parameters["transferSize"]),
        )
        again = {
            "api": (_text(parameters["api"]).upper(), test.api),
            "access": (_text(options["access"]), "single-shared-file" if test.is_shared else "file-per-process"),
            "type": (_text(options["type"]), "collective" if test.is_collective else "independent"),
            "segments": (_whole(options["segments"]), test.segments),
            "repetitions": (_whole(options["repetitions"]), test.repetitions),
            "clients per node": (_whole(options["clients per node"]), test.ranks_per_node),
            "nodes": (_whole(options.get("nodes", parameters["nodes"])), test.nodes),
            "test filename": (_text(parameters["testFileName"]), test.path),
        }
        for name, (one, other) in again.items():
            if one != other:
                raise ValueError(f"options and parameters differ in {name}")
        for name, mine in (("blocksize", test.block), ("xfersize", test.transfer)):
            if mine and not size(_text(options[name])).span.meets(mine.span):
                raise ValueError(f"options and parameters differ in {name}")
        # Older ones have a list of its own for each repetition.
        for each in _items(entry["Results"]):
            for row in each if isinstance(each, list) else [each]:
                self._result(test, _members(row))
        return test

    def _result(self, test: Test, row: Mapping[str, Any]) -> None:
        self._line = next(self._lines["result"])
        op = _text(row["access"])
        if op not in OPS:
            return
        repetition = sum(each.op == op for each in test.results)
        spans: dict[str, Any] = {name: _span(row[key]) for name, key in _PARTS.items()}
        # Since 3.3.
        if "iops" in row:
            spans["requests_rate"] = _span(row["iops"])
        test.results.append(Result(self._line, op, repetition, _span(row["bwMiB"]), _span(row["totalTime"]), **spans))

    def _summary(self, row: Mapping[str, Any]) -> None:
        self._line = next(self._lines["summary"])
        test = next((each for each in self._launch.tests if each.number == _whole(row["TestID"])), None)
        op = _text(row["operation"])
        if test is None or op not in OPS or op in test.summaries:
            raise ValueError("it sums up a test that is not here")
        settings = {
            "api": _text(row["API"]).upper(),
            "segments": _whole(row["segmentCount"]),
            "block": _size(row["blockSize"]),
            "transfer": _size(row["transferSize"]),
            "ranks": _whole(row["numTasks"]),
            "ranks_per_node": _whole(row["tasksPerNode"]),
            "repetitions": _whole(row["repetitions"]),
            "is_shared": _whole(row["filePerProc"]) == 0,
        }
        most, least, mean, seconds = (_span(row[name]) for name in _RATES)
        test.summaries[op] = Summary(self._line, most, least, mean, seconds, _span(row["xsizeMiB"]).times(MIB), settings)


def _members(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("it is not nested as IOR's summaries are")
    return value


def _items(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("it is not nested as IOR's summaries are")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or isinstance(value, _Number):
        raise TypeError(f"{str(value)[:40]!r} is no text")
    return value


def _number(value: object) -> str:
    if not isinstance(value, _Number):
        raise TypeError(f"{str(value)[:40]!r} is no number")
    return value


def _whole(value: object) -> int:
    return integer(_number(value))


def _span(value: object) -> Span:
    return printed(_number(value), PLACES)


def _size(value: object) -> Size:
    return Size(exactly(_whole(value)), _whole(value))


DOCUMENT: Final = Source("ior_json", _knows, _read)
