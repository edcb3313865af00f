"""Time in opens and closes, which traces do not show: where it lies between the traced requests.

Records count how often a file was opened, and how long its metadata took in sum. A rank opens a file before its first
request and closes it after its last. Where it opened it several times, it closed and opened it in its longest pauses between
the file's first close and its last open, which records have too.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from iomine.derive.sorting import order_by
from iomine.derive.stretches import Stretches
from iomine.derive.trace import Floats, Integers, Tables, grouped

_SHARED: Final = -1
# More than there are pauses.
_MOST_OPENS: Final = 2**31
# Counters of opens, by layer.
_OPENS: Final[Mapping[str, tuple[str, ...]]] = {
    "posix": ("open_count",),
    "mpiio": ("indep_open_count", "coll_open_count"),
}


class _Records(NamedTuple):
    """Records of a layer's files.

    Attributes:
        file_ids: files.
        ranks: ranks, -1 for one of all of them.
        opens: how often each was opened, by all of its ranks.
        seconds: what one open and the close that ends it took on average, 0 where that is not known.
        most_seconds: what they took at most where there is one of each rank, infinite where that is not known.
        first_closes: when the first close began, 0 where that is not known.
        last_opens: when the last open ended, infinite where that is not known.
    """

    file_ids: Integers
    ranks: Integers
    opens: Floats
    seconds: Floats
    most_seconds: Floats
    first_closes: Floats
    last_opens: Floats


class _Opened(NamedTuple):
    """What is known of a rank's opens of a file: `opens` and the last three as in `_Records`, `seconds` at most."""

    opens: Integers
    seconds: Floats
    first_closes: Floats
    last_opens: Floats


def with_opens(stretches: Stretches, tables: Tables, layer: str) -> tuple[Floats, Floats]:
    """When each stretch starts and ends if opens before and closes after it belong to it.

    Args:
        stretches: what a layer did, each stretch of one rank on one file.
        tables: columns by table, in one or more parts.
        layer: the layer.
    """
    begins, finishes = stretches.starts, stretches.ends
    parts = [_records(part, _OPENS[layer]) for part in tables.get(f"{layer}_file", ())] if layer in _OPENS else []
    if not parts or not len(begins):
        return begins, finishes
    records = _Records._make(map(np.concatenate, zip(*parts, strict=True)))
    firsts, group_of = grouped(stretches.file_ids, stretches.ranks)
    opened = _opened(records, stretches.file_ids[firsts], stretches.ranks[firsts], stretches.logs[firsts])
    if not opened.seconds.any():
        return begins, finishes
    order = order_by(group_of, begins)
    group = group_of[order]
    is_last = np.append(group[1:] != group[:-1], True)
    # The pause after each stretch.
    pause_starts, pause_ends = finishes[order], np.append(begins[order][1:], np.inf)
    may_reopen = (pause_ends > opened.first_closes[group]) & (pause_starts < opened.last_opens[group])
    pauses = np.where(may_reopen, pause_ends - pause_starts, -np.inf)
    # A group's last stretch comes before all others.
    by_length = order_by(group, np.where(is_last, -np.inf, -pauses))
    nth = np.empty_like(order)
    nth[by_length] = np.arange(len(order)) - np.searchsorted(group, group)
    is_closing = is_last | (may_reopen & (nth < opened.opens[group]))
    is_opening = np.append(True, is_closing[:-1])
    seconds = opened.seconds[group]
    begins, finishes = begins.copy(), finishes.copy()
    finishes[order[is_closing]] += seconds[is_closing]
    begins[order[is_opening]] -= seconds[is_opening]
    return begins, finishes


def _records(part: Mapping[str, Any], counters: tuple[str, ...]) -> _Records:
    def column(name: str) -> Floats:
        values: Floats = part[name].to_numpy().astype(np.float64)
        return values

    # Darshan writes negative values for what it does not know.
    opens = sum((np.maximum(column(name), 0) for name in counters), np.zeros(len(part["rank"])))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        seconds = column("meta_seconds") / opens
        most = sum(column(f"{call}_end_seconds") - column(f"{call}_start_seconds") for call in ("open", "close"))
    last_opens = column("open_end_seconds")
    return _Records(
        part["file_id"].to_numpy(),
        part["rank"].to_numpy(),
        opens,
        np.where((seconds > 0) & (seconds < np.inf), seconds, 0.0),
        np.where(most >= 0, most, np.inf),
        column("close_start_seconds"),
        np.where(last_opens > 0, last_opens, np.inf),
    )


def _opened(records: _Records, file_ids: Integers, ranks: Integers, logs: Integers) -> _Opened:
    """What is known of each rank on a file."""
    total = len(file_ids)
    opened = _Opened(np.ones(total, np.int64), np.zeros(total), np.zeros(total), np.full(total, np.inf))
    rank_counts = np.bincount(logs[grouped(logs, ranks)[0]])[logs]
    # A rank's own record is known better than one of all ranks.
    for wanted_ranks, sharers in ((np.full(total, _SHARED), rank_counts), (ranks, np.ones(total, np.int64))):
        keys = grouped(np.concatenate([file_ids, records.file_ids]), np.concatenate([wanted_ranks, records.ranks]))[1]
        record_of = np.full(int(keys.max()) + 1, -1)
        record_of[keys[total:]] = np.arange(len(records.opens))
        found = record_of[keys[:total]]
        at = np.flatnonzero(found >= 0)
        found = found[at]
        opened.opens[at] = np.clip(np.round(records.opens[found] / sharers[at]), 1, _MOST_OPENS)
        is_one = opened.opens[at] == 1
        opened.seconds[at] = np.where(is_one, np.minimum(records.seconds, records.most_seconds)[found], records.seconds[found])
        opened.first_closes[at], opened.last_opens[at] = records.first_closes[found], records.last_opens[found]
    return opened
