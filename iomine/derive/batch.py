"""Logs side by side: the tables of many logs as one, so that a derivation costs its passes once for all of them.

In the tables of a batch each row says of which log it is, and a file goes by a number that no other log of the batch has, in
order of logs and then of file ids. Tables of a single log are what they are: the log is number 0, and files go by their ids.
Ranks, OSTs and layers are those of each log, so what is grouped by them is grouped by log first.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.derive.trace import Floats, Integers, Once, Tables, Trace, grouped, joined_traces
from iomine.schema.column import Column

# The column of a batch's tables, and of what is derived from them, that says of which log a row is.
LOG: Final = "log"
_FILE: Final = "file_id"

# Parts of a table, each with the log of each of its rows.
Parts = Sequence[tuple[Integers, Mapping[str, Any]]]


class TooMuchTogetherError(Exception):
    """Logs cannot be gone through together, though each can alone."""


class Files(NamedTuple):
    """Files of a batch by their number.

    Attributes:
        logs: log of each.
        file_ids: its id there.
    """

    logs: Integers
    file_ids: Integers

    def numbers(self, logs: Integers, file_ids: Integers) -> Integers:
        """The numbers of files, by log and id."""
        total = len(logs)
        keys = grouped(np.concatenate([logs, self.logs]), np.concatenate([file_ids, self.file_ids]))[1]
        number_of = np.empty(len(keys), np.int64)
        number_of[keys[total:]] = np.arange(len(self.logs))
        return number_of[keys[:total]]


def logs_in(part: Mapping[str, Any]) -> Integers:
    """The log of each row of a part of a table."""
    if LOG in part:
        logs: Integers = part[LOG].to_numpy()
        return logs
    return np.zeros(len(next(iter(part.values()))), np.int64)


def as_integers(column: Any) -> Integers:  # noqa: ANN401  columns are of many kinds
    """A column of whole numbers, be it a list."""
    found: Integers = np.array(column, np.int64) if isinstance(column, list) else column.to_numpy()
    return found


def of_each_log(value: npt.NDArray[Any] | float | None) -> npt.NDArray[Any]:
    """A value for each log, from an array of these or from the value of a single log; None becomes NaN."""
    return np.atleast_1d(np.nan if value is None else value)


def sums_of_logs(values: Floats, logs: Integers, log_count: int) -> Floats:
    """Sums of the values of each log, in the order of additions in which NumPy sums one log's.

    Args:
        values: the values.
        logs: log of each.
        log_count: number of logs.
    """
    order = np.argsort(logs, kind="stable")
    counts = np.bincount(logs, minlength=log_count)
    # From 0 on, as a sum begins.
    firsts = np.cumsum(counts + 1) - counts - 1
    padded = np.zeros(len(values) + log_count)
    padded[np.arange(len(values)) + logs[order] + 1] = values[order]
    return np.add.reduceat(padded, firsts) if log_count else padded


class Together(NamedTuple):
    """Several logs as one.

    Attributes:
        tables: tables of one part each, in which files go by their number; without requests of traces.
        traces: the trace of each layer, in which files go by their number too.
        files: what these numbers stand for.
    """

    tables: Tables
    traces: list[Trace]
    files: Files


def together(tables: Mapping[str, Parts], traced: Sequence[Sequence[Trace]] = ()) -> Together:
    """The tables and traces of several logs as one.

    Args:
        tables: parts of each table.
        traced: traces of each log, those of all logs in one order of their layers.
    """
    parts = {name: _Joined(of_table) for name, of_table in tables.items() if name != "segment"}
    with_files = [part for part in parts.values() if _FILE in part]
    by_layer: dict[str, list[Trace]] = {}
    for log, traces in enumerate(traced):
        for trace in traces:
            by_layer.setdefault(trace.layer, []).append(trace._replace(logs=trace.logs + log))
    joined = [joined_traces(of_layer) for of_layer in by_layer.values()]
    nothing = np.empty(0, np.int64)
    keys = [(part.logs, as_integers(part[_FILE])) for part in with_files] + [(trace.logs, trace.file_ids) for trace in joined]
    logs, file_ids = (np.concatenate(column) for column in zip((nothing, nothing), *keys, strict=True))
    firsts, numbers = grouped(logs, file_ids) if len(logs) else (nothing, nothing)
    ends = np.cumsum([len(of_logs) for of_logs, _ in keys])
    split = np.split(numbers, ends[:-1]) if len(ends) else []
    for part, of_part in zip(with_files, split, strict=False):
        part.number(of_part)
    joined = [trace._replace(file_ids=own) for trace, own in zip(joined, split[len(with_files) :], strict=True)]
    return Together({name: [Once(part)] for name, part in parts.items()}, joined, Files(logs[firsts], file_ids[firsts]))


class _Joined(Mapping[str, Any]):
    """Parts of a table one after the other, a column at a time."""

    def __init__(self, parts: Parts) -> None:
        self._parts = [part for _, part in parts]
        if any(set(part) != set(self._parts[0]) for part in self._parts[1:]):
            raise ValueError("Tables of these logs differ in their columns.")
        self.logs = np.concatenate([logs for logs, _ in parts])
        self._own: dict[str, Any] = {LOG: Column(self.logs)}

    def number(self, files: Integers) -> None:
        """Lets files go by their numbers."""
        self._own[_FILE] = files.tolist() if isinstance(self._parts[0][_FILE], list) else Column(files)

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  columns are of many kinds
        return self._own[name] if name in self._own else concatenated([part[name] for part in self._parts])

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._parts[0]

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self._parts[0]), LOG: None})

    def __len__(self) -> int:
        return len(self._parts[0]) + 1


def concatenated(columns: Sequence[Any]) -> Any:  # noqa: ANN401  columns are of many kinds
    """Columns of one name, one after the other."""
    first = columns[0]
    if len(columns) == 1:
        return first
    if isinstance(first, list):
        return list(chain.from_iterable(columns))
    if isinstance(first, pa.Array) and (pa.types.is_nested(first.type) or pa.types.is_dictionary(first.type)):
        return pa.chunked_array(columns).unify_dictionaries().combine_chunks()
    return Column.joined([column if isinstance(column, Column) else Column(column.to_numpy()) for column in columns])
