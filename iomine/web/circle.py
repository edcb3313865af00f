"""The night's circle: users or programs, the switches, hosts or mounts that they came over, and OSTs.

What a log moved on an OST is an edge's one value: seconds a MiB, bytes, or requests. A log's bytes are shared over its switches
or hosts; its hour is that in which it ended.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from iomine.errors import UsageError, did_you_mean
from iomine.report.circles import INNER, OUTER, Bins, Circle, Lack, Metric, Picture, summed
from iomine.report.page import plain
from iomine.units import human_bytes, percent
from iomine.views.answers import Ask, rows_of
from iomine.views.questions import question
from iomine.web.question import UnknownNameError, date_of

BY: Final = {"user": ("user", "users"), "app": ("program", "programs")}
METRICS: Final = (
    Metric("seconds_per_mib", "Seconds a MiB", "seconds/MiB", 1e-5, 1e2),
    Metric("bytes", "Bytes", "bytes", 1, 2**50),
    Metric("requests", "Requests", "requests", 1, 1e9),
)
_COLUMNS: Final = ("pace_seconds", "moved_bytes", "request_count")
_MIDDLES: Final = {"switch": ("switch", "leaf switches"), "host": ("host group", "host groups"), "mount": ("mount", "mounts")}
_HOURS: Final = 24
_MOST_OUTER: Final = 256
_CUT: Final = 40
_REST: Final = "all others"
_UNKNOWN: Final = "not known"
# Share of the logs from which on a circle is drawn.
_ENOUGH: Final = 0.5

LinkOf = Callable[[str, str | int, int], str | None]


@dataclass(frozen=True, slots=True)
class CircleNight:
    """Which night of which machine is looked at.

    Attributes:
        cluster: the machine.
        night: the night.
        nights: all nights of the machine of which it is known what OSTs did, the newest first.
        clusters: all such machines.
        by: what the outermost circle is: a key of `BY`.
        user: the one whose edges are apart from those of all others, None for all.
    """

    cluster: str
    night: dt.date
    nights: tuple[dt.date, ...]
    clusters: tuple[str, ...]
    by: str = "user"
    user: str | None = None


def circle_night_of(ask: Ask, parameters: Sequence[tuple[str, str]]) -> CircleNight | None:
    """The night that an address asks for: the newest of the first machine, where it does not say.

    Returns:
        None if there is no night of which it is known what OSTs did.

    Raises:
        UsageError: a parameter makes no sense.
        UnknownNameError: nothing is known of such a machine.
    """
    known: dict[str, list[dt.date]] = {}
    for row in rows_of(ask(question("circle/nights"))):
        known.setdefault(row["cluster"], []).append(row["night"])
    asked = {name: value for name, value in parameters if value}
    if unknown := asked.keys() - {"cluster", "night", "by", "user"}:
        raise UsageError(f"There is no parameter {min(unknown)[:100]!r}: write cluster, night, by or user.")
    by = asked.get("by", "user")
    if by not in BY:
        raise UsageError(f"The circle is not by {by[:100]!r}: write {' or '.join(BY)}.")
    if not known:
        return None
    cluster = asked.get("cluster", next(iter(known)))
    if cluster not in known:
        hint = did_you_mean(cluster[:100], known) or f"there are {', '.join(known)}."
        raise UnknownNameError(f"Nothing is known of OSTs of a machine {cluster[:100]!r}: {hint}")
    night = date_of(asked["night"]) if "night" in asked else known[cluster][0]
    return CircleNight(cluster, night, tuple(known[cluster]), tuple(known), by, asked.get("user"))


@dataclass(frozen=True, slots=True)
class NightTops:
    """The nodes of a circle that moved most, as a table.

    Attributes:
        one: what a node is.
        many: what nodes are.
        rows: label, values, bytes and, where they are known, requests of each; the most bytes first.
        count: how many nodes there are.
        moved_bytes: what all nodes moved.
    """

    one: str
    many: str
    rows: Sequence[tuple[str, int, float, float | None]]
    count: int
    moved_bytes: float


def circle_of(ask: Ask, of: CircleNight, link_of: Callable[[str, str | int, int], str | None]) -> tuple[Picture, list[NightTops]]:
    """The picture of a night, and its tables.

    Args:
        ask: answers questions.
        of: which night.
        link_of: the address of the logs of a node, by `user`, `app` or `ost`, its name or number, and its place by bytes.
    """
    given = {"cluster": of.cluster, "night": of.night}
    (known,) = rows_of(ask(question("circle/known"), given))
    middle = next(
        (
            name
            for name in ("switch", "host")
            if known[f"{name}_count"] and known[f"{name}_count"] >= _ENOUGH * known["log_count"]
        ),
        "mount",
    )
    moved = ask(question("circle/moved"), given | {"middle": middle})
    weights = moved["moved_bytes"].to_numpy()
    outer, outer_names = _outer(moved, of)
    middles, middle_names = _numbered(moved["middle"])
    osts, ost_ids = _numbered(moved["ost_id"])
    circles = (
        Circle(
            *BY[of.by],
            [_named(name) for name in outer_names],
            links=_links(of.by, outer_names, outer, weights, link_of),
        ),
        Circle(*_MIDDLES[middle], [_named(name) for name in middle_names]),
        Circle("OST", "OSTs", [f"OST {number}" for number in ost_ids], links=_links("ost", ost_ids, osts, weights, link_of)),
    )
    parts = [
        _cells(moved, {"ring": ring, "metric": number, "from": start, "to": end})
        for ring, start, end in ((OUTER, outer, middles), (INNER, middles, osts))
        for number in range(len(METRICS))
    ]
    cells = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    lacks = [Lack("How long the requests of these logs to single OSTs took is not known.", metric=0)]
    title = f"{circles[0].many.capitalize()}, {circles[1].many} and OSTs of {of.night}"
    picture = Picture(title, circles, METRICS, Bins(_HOURS, 0.0, 3600.0, "hours"), cells, lacks, counts="pair")
    tops = [_tops(circle, numbers, moved) for circle, numbers in zip(circles, (outer, middles, osts), strict=True)]
    return picture, tops


def sentence_of_tops(tops: Sequence[NightTops]) -> str:
    """Who moved most, over what and where, of those that have a name, in a sentence; empty where nothing was moved."""
    said = []
    for top, did in zip(tops, ("moved", "carried", "got"), strict=True):
        named = [row for row in top.rows if row[0] not in {_REST, _UNKNOWN}]
        if named and top.moved_bytes:
            label, _, moved, _ = named[0]
            name = label if top.one == "OST" else f"{top.one} {label}"
            said.append(f"{name} {did} most ({human_bytes(moved)}, {percent(moved / top.moved_bytes)})")
    return f"Of {human_bytes(tops[0].moved_bytes)}, {'; '.join(said)}." if said else ""


def _outer(moved: pa.Table, of: CircleNight) -> tuple[npt.NDArray[np.int64], list[str | None]]:
    """The node of each row, and the names of nodes, those with most bytes first; the last, without a name, is all others."""
    codes, names = _numbered(moved[of.by])
    sums = np.bincount(codes, moved["moved_bytes"].to_numpy(), len(names))
    order = np.argsort(-sums, kind="stable")
    if of.user is not None:
        # All other users are one node.
        is_own = np.asarray(pc.equal(moved["user"], of.user).to_numpy(), bool)
        kept = [number for number in order.tolist() if np.any(is_own & (codes == number))][:_MOST_OUTER]
    else:
        is_own, kept = np.ones(len(codes), bool), order[:_MOST_OUTER].tolist()
    place = np.full(len(names), len(kept))
    place[kept] = np.arange(len(kept))
    found = np.where(is_own, place[codes], len(kept)) if len(names) else codes
    has_rest = bool((found == len(kept)).any())
    return found, [*(names[number] for number in kept), *([None] if has_rest else [])]


def _numbered(column: pa.ChunkedArray) -> tuple[npt.NDArray[np.int64], list[Any]]:
    """The number of each value among all that differ, which are in order."""
    names = sorted(pc.unique(column).to_pylist())
    found = pc.index_in(column, value_set=pa.array(names, column.type))
    return np.asarray(found.to_numpy(), np.int64), names


def _named(name: str | None) -> str:
    return _REST if name is None else plain(name, _CUT) or _UNKNOWN


def _links(
    kind: str,
    names: Sequence[Any],
    numbers: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
    link_of: LinkOf,
) -> list[str | None]:
    sums = np.bincount(numbers, weights, len(names))
    place = np.argsort(np.argsort(-sums, kind="stable"))
    return [None if name in {None, ""} else link_of(kind, name, int(place[number])) for number, name in enumerate(names)]


def _cells(moved: pa.Table, of: dict[str, Any]) -> dict[str, npt.NDArray[Any]]:
    """Cells of one ring and metric: one value for each log and OST."""
    values = np.asarray(moved[_COLUMNS[of["metric"]]].cast(pa.float64()).to_numpy(), float)
    # What is not known is NaN.
    is_known = values > 0
    values = values[is_known]
    columns = {
        "op": moved["op"].to_numpy(),
        "from": of["from"],
        "to": of["to"],
        "time": moved["hour"].to_numpy(),
        "bytes": moved["moved_bytes"].to_numpy(),
    }
    same = {name: np.full(len(values), of[name]) for name in ("ring", "metric")}
    kept = {name: column[is_known] for name, column in columns.items()}
    metric = METRICS[of["metric"]]
    return summed(
        {
            **same,
            **kept,
            "value": metric.bin_of(values),
            "count": np.ones(len(values), np.int64),
            "mean": values,
            "least": values,
            "most": values,
        }
    )


def _tops(circle: Circle, numbers: npt.NDArray[np.int64], moved: pa.Table, most: int = 20) -> NightTops:
    count = len(circle.labels)
    sums = [np.bincount(numbers, weights, count) for weights in (None, moved["moved_bytes"].to_numpy())]
    known = moved["request_count"].cast(pa.float64()).to_numpy()
    requests = np.bincount(numbers, np.nan_to_num(known), count)
    order = np.argsort(-sums[1], kind="stable")[:most].tolist()
    rows = [(circle.labels[at], int(sums[0][at]), float(sums[1][at]), float(requests[at]) or None) for at in order]
    return NightTops(circle.one, circle.many, rows, count, float(sums[1].sum()))
