"""LMT's database as SQLite: counters of OSTs and MDTs that grow until a server starts again.

LMT keeps a row of each target at each time stamp. `TIMESTAMP_INFO` has local times. The database has no requests of OSTs
and, as its unit `reqs` says, no time of operations, only how often they were.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, tzinfo
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.errors import UnreadableError
from iomine.sources.darshan.decoded import labels
from iomine.sources.model import Input, Readings, Source
from iomine.sources.series.doubts import counted, joined
from iomine.sources.series.rows import COUNTER, Column, Floats, Integers, rows, whole
from iomine.sources.series.sqlite import SIGNATURE, Database, opened
from iomine.sources.series.times import steps_of, time_doubt, utc_instants

KIND: Final = "lmt"
_OST_COUNTERS: Final = {"READ_BYTES": "read_bytes", "WRITE_BYTES": "write_bytes"}
_UNTIMED: Final = "reqs"
_ABSENT: Final = -1


class _Names(NamedTuple):
    """What ids stand for: the distinct texts, and each id's place among them."""

    texts: list[str]
    places: Mapping[Any, int]


class _Times(NamedTuple):
    """Times in order, in microseconds since the epoch, and each id's place among them."""

    at: Integers
    places: Mapping[Any, int]


class _Samples(NamedTuple):
    """Rows of a table of counters.

    Attributes:
        ids: a column for each column of ids: places of what they stand for.
        numbers: a column for each column of numbers; what is none is not a number.
        left_out: rows that were left out, as an id stands for nothing.
    """

    ids: npt.NDArray[np.int64]
    numbers: Floats
    left_out: int


def _knows(given: Input) -> bool:
    return given.data.startswith(SIGNATURE)


def _read(given: Input) -> Readings:
    with opened(given.data) as database:
        if not database.tables & {"OST_DATA", "MDS_OPS_DATA"}:
            raise UnreadableError("The database is not LMT's: it has neither OST_DATA nor MDS_OPS_DATA.")
        times = _times(database.dictionary("TIMESTAMP_INFO", "TS_ID", "TIMESTAMP"), given.zone)
        osts = _names(database.dictionary("OST_INFO", "OST_ID", "OST_NAME"))
        mdts = _names(database.dictionary("MDS_INFO", "MDS_ID", "MDS_NAME"))
        operations = _names(database.dictionary("OPERATION_INFO", "OPERATION_ID", "OPERATION_NAME"))
        units = database.dictionary("OPERATION_INFO", "OPERATION_NAME", "UNITS")
        ost_keys = {"TS_ID": times.places, "OST_ID": osts.places}
        mdt_keys = {"TS_ID": times.places, "MDS_ID": mdts.places, "OPERATION_ID": operations.places}
        of_osts = _samples(database, "OST_DATA", ost_keys, _OST_COUNTERS)
        of_mdts = _samples(database, "MDS_OPS_DATA", mdt_keys, ("SAMPLES", "SUM"))
    table = pa.concat_tables(
        [*_ost_rows(of_osts, times.at, osts.texts), _mdt_rows(of_mdts, times.at, mdts.texts, operations.texts, units)]
    )
    return Readings({COUNTER: table}, joined(_doubt("OST_DATA", of_osts, times.at), _doubt("MDS_OPS_DATA", of_mdts, times.at)))


def _names(found: Mapping[Any, Any]) -> _Names:
    texts = list(dict.fromkeys(text for text in found.values() if isinstance(text, str)))
    place = {text: index for index, text in enumerate(texts)}
    return _Names(texts, {id_: place[text] for id_, text in found.items() if isinstance(text, str)})


def _times(texts: Mapping[Any, Any], zone: tzinfo) -> _Times:
    moments = {id_: moment for id_, text in texts.items() if isinstance(id_, int) and (moment := _moment(text))}
    # Ids are given in the order of time, which separates the two rounds of an hour that comes twice.
    ids = sorted(moments)
    return _Times(utc_instants((moments[id_] for id_ in ids), zone), {id_: place for place, id_ in enumerate(ids)})


def _moment(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text))
    except ValueError:
        return None


def _samples(database: Database, table: str, keys: Mapping[str, Mapping[Any, int]], columns: Iterable[str]) -> _Samples:
    ids, numbers = [np.empty((0, len(keys)), np.int64)], [np.empty((0, 2), np.float64)]
    for batch in database.batches(table, *keys, *columns):
        values = list(zip(*batch, strict=True))
        known = [[places.get(id_, _ABSENT) for id_ in column] for column, places in zip(values, keys.values(), strict=False)]
        ids.append(np.array(known, np.int64).T)
        numbers.append(np.array([[_number(value) for value in column] for column in values[len(keys) :]], np.float64).T)
    all_ids, all_numbers = np.concatenate(ids), np.concatenate(numbers)
    is_known = (all_ids != _ABSENT).all(axis=1)
    return _Samples(all_ids[is_known], all_numbers[is_known], len(is_known) - int(np.count_nonzero(is_known)))


def _number(value: object) -> float:
    return value if isinstance(value, int | float) else np.nan


def _doubt(table: str, samples: _Samples, at: Integers) -> str:
    # A series is what has the same ids except for the time.
    _, series = np.unique(samples.ids[:, 1:], axis=0, return_inverse=True)
    odd = time_doubt(steps_of(at[samples.ids[:, 0]], series.ravel()))
    doubt = joined(odd, counted(samples.left_out, "rows were left out, as their ids are not defined"))
    return f"{table}: {doubt}" if doubt else ""


def _ost_rows(samples: _Samples, at: Integers, names: list[str]) -> list[pa.Table]:
    common = _common(samples, at, names, "ost")
    return [
        rows(COUNTER, len(amount), common | {"counter": counter, "counter_unit": "bytes", "amount": amount})
        for counter, amount in zip(_OST_COUNTERS.values(), samples.numbers.T, strict=True)
    ]


def _mdt_rows(samples: _Samples, at: Integers, names: list[str], operations: list[str], units: Mapping[Any, Any]) -> pa.Table:
    operation = samples.ids[:, 2]
    unit = _names({name: units.get(name) for name in operations})
    count, total = samples.numbers.T
    units_of = np.array([unit.places.get(name, len(unit.texts)) for name in operations], np.int64)[operation]
    is_timed = np.array([text != _UNTIMED for text in unit.texts] + [False])[units_of]
    columns = {
        "counter": labels(operation, operations),
        "counter_unit": labels(units_of, [*unit.texts, None]),
        "sample_count": whole(count),
        "amount": np.where(is_timed, total, np.nan),
    }
    return rows(COUNTER, len(operation), _common(samples, at, names, "mdt") | columns)


def _common(samples: _Samples, at: Integers, names: list[str], kind: str) -> dict[str, Column]:
    doubt = {"source_kind": KIND, "target_kind": kind, "scope": "target", "owner": ""}
    return {"sampled_at": at[samples.ids[:, 0]], "target": labels(samples.ids[:, 1], names), **doubt}


SOURCE: Final = Source(KIND, _knows, _read)
