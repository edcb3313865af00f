"""Who talks to whom in a traced run: its circles of ranks, carriers and places, their edges, and what to say of them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.report.circles import INNER, OPS, OUTER, Bins, Cells, Circle, Lack, Metric, Picture, coarser
from iomine.report.facts import Place, which
from iomine.report.grids import parts_by
from iomine.report.patterns import pattern_sentence, ring_sentences
from iomine.units import counted, fine_seconds, visible
from iomine.views.answers import Ask, Row, Rows, rows_of
from iomine.views.questions import question

NAME: Final = "radial"
METRICS: Final = (
    Metric("latency", "Latency", "seconds", 1e-6, 1e3),
    Metric("size", "Size", "bytes", 1, 2**34),
)
_LATENCY, _SIZE = range(len(METRICS))
TIME_BINS: Final = 64
# So many that a page stays small; of more, bins of time are put together.
_MOST_CELLS: Final = 60_000
_RINGS: Final = {"outer": OUTER, "inner": INNER}
_CARRIERS: Final = {"host": ("host", "hosts")}
_PLACES: Final = {"ost": ("OST", "OSTs"), "mount": ("mount", "mounts")}
_CIRCLE_OF: Final = {"rank": 0, "host": 0, "carrier": 1}
_EVEN: Final = {"circular", "unknown"}
_CUT: Final = 60
_COLUMNS: Final = {
    "from": "from_node",
    "to": "to_node",
    "time": "time_bin",
    "value": "value_bin",
    "count": "request_count",
    "bytes": "moved_bytes",
    "mean": "mean_value",
    "least": "least_value",
    "most": "most_value",
}


@dataclass(frozen=True, slots=True)
class Sentence:
    """What is said of the picture.

    Attributes:
        ring: of which ring, `outer` or `inner`.
        text: the sentence.
        is_even: whether it says that nothing stands out.
        nodes: of which nodes of the picture, such as `0-5` for node 5 of the outermost circle.
        op: of which direction.
        metric: of which metric.
        rings: circles whose edges show it, as the client's kinds; empty where the page's own do.
    """

    ring: str
    text: str
    is_even: bool
    nodes: Sequence[str]
    op: str
    metric: str
    rings: str = ""


@dataclass(frozen=True, slots=True)
class Radial:
    """What a page holds of who talks to whom.

    Attributes:
        block: the picture.
        patterns: what the patterns are called.
        notes: what is known of how much, and what is missing.
        tops: carriers and places over which most bytes moved, with `label`, by ring and direction.
        words: what nodes of the three circles are, as `one` and `many`.
        carrier_kind: `aggregator`, `rank` or `host`, empty where it is not known.
    """

    block: str
    patterns: Sequence[Sentence]
    notes: Sequence[str]
    tops: Mapping[tuple[str, str], Rows]
    words: Sequence[Circle]
    carrier_kind: str


def radials_of(ask: Ask, logs: Iterable[Row]) -> Iterator[tuple[str, Radial]]:
    """Who talks to whom in logs, asked for together: a question costs the same for one log as for many.

    Args:
        ask: answers queries over the published views.
        logs: rows of `logs`, all of one cluster.

    Yields:
        The id of each log of which edges are known, and what its page shows of them.
    """
    wanted = {log["log_id"]: log for log in logs}
    if not wanted:
        return
    given = which([Place(log["cluster"], log["night"], log["log_id"]) for log in wanted.values()])

    def rows(name: str) -> dict[str, Rows]:
        found: dict[str, Rows] = defaultdict(list)
        for row in rows_of(ask(question(f"radial/{name}"), given)):
            found[row["log_id"]].append(row)
        return found

    rings = rows("rings")
    if not rings:
        return
    arcs, tops, patterns = rows("arcs"), rows("tops"), rows("patterns")
    # Few sites say which servers their OSTs are on; where none does, logs are not asked for them.
    servers = rows("servers") if ask(question("radial/has_servers")).num_rows else {}
    cells = _by_log(ask(question("radial/cells"), given))
    for log_id, of_log in rings.items():
        found = _Found(of_log, arcs[log_id], tops[log_id], patterns[log_id], servers.get(log_id, []), cells.get(log_id, {}))
        yield log_id, _radial(wanted[log_id], found)


def _by_log(answer: pa.Table) -> dict[str, dict[str, npt.NDArray[Any]]]:
    """Columns of cells of each log."""
    columns = {name: answer[name].to_numpy() for name in ("ring", "op", "metric")}
    columns |= {name: answer[column].to_numpy() for name, column in _COLUMNS.items()}
    return {log_id: {name: column[part] for name, column in columns.items()} for (log_id,), part in parts_by(answer, "log_id")}


@dataclass(frozen=True, slots=True)
class _Found:
    """Answers about a log."""

    rings: Rows
    arcs: Rows
    tops: Rows
    patterns: Rows
    servers: Rows
    cells: Cells


def _radial(log: Row, found: _Found) -> Radial:
    rings, arcs = found.rings, found.arcs
    carrier_kind, place_kind = (min({row[kind] for row in rings} - {None}, default="") for kind in ("carrier_kind", "place_kind"))
    circles = _circles(log, found, carrier_kind, place_kind)
    picture = Picture(
        f"Who talks to whom: {counted(len(circles[0].labels), circles[0].one)}",
        circles,
        METRICS,
        _bins(rings),
        found.cells or _no_cells(),
        [Lack(row["missing"], _RINGS[row["ring"]], OPS.index(row["op"])) for row in rings if row["missing"]],
    )
    by_ring: dict[tuple[str, str], Rows] = defaultdict(list)
    for row in found.tops:
        label = _label(row["node_level"], row["node_id"], row["node_label"] or row["host"], is_host=carrier_kind == "host")
        by_ring[row["ring"], row["op"]].append(row | {"label": label})
    said = [
        Sentence(
            row["ring"],
            pattern_sentence(row),
            row["traffic_pattern"] in _EVEN,
            _nodes(row, arcs, carrier_kind),
            row["op"],
            row["metric"],
            # What ranks moved to places is in no cell where carriers are hosts.
            f"rank,{circles[2].kind}" if _is_beyond(row, carrier_kind) and circles[2].kind != "place" else "",
        )
        for row in found.patterns
        # Where each rank moves its own bytes, carriers are the ranks.
        if row["node_level"] != "carrier" or carrier_kind != "rank"
    ]
    return Radial(_fitted(picture).block(), said, _notes(rings), dict(by_ring), circles, carrier_kind)


def _fitted(picture: Picture) -> Picture:
    """The picture in as many cells as a page holds."""
    cells, bins = coarser(picture.cells, picture.time.bins, _MOST_CELLS)
    width = picture.time.width * picture.time.bins / bins
    return Picture(
        picture.title,
        picture.circles,
        picture.metrics,
        Bins(bins, picture.time.begin, width),
        cells,
        picture.missing,
    )


def _no_cells() -> dict[str, npt.NDArray[np.float64]]:
    return {name: np.empty(0) for name in ("ring", "op", "metric", *_COLUMNS)}


def _bins(rings: Rows) -> Bins:
    known = [row for row in rings if row["begin_seconds"] is not None and row["bin_seconds"]]
    return Bins(TIME_BINS, known[0]["begin_seconds"], known[0]["bin_seconds"]) if known else Bins()


def _circles(log: Row, found: _Found, carrier_kind: str, place_kind: str) -> list[Circle]:
    of = [[row for row in found.arcs if row["circle"] == circle] for circle in range(3)]
    rank_count = max(log["nprocs"] or 0, 1 + max((row["last_node"] for row in of[0]), default=0))
    ranks = Circle(
        "rank",
        "ranks",
        [_ranks(row["first_node"], row["last_node"]) for row in of[0]],
        [short(row["host"]) if row["host_count"] == 1 else None for row in of[0]],
        [_around(row, rank_count) for row in of[0]],
        [row["first_node"] for row in of[0]],
        [row["last_node"] for row in of[0]],
        kind="rank",
    )
    one, many = _CARRIERS.get(carrier_kind, ("carrier", "carriers"))
    spans = [_span(row, of[0], is_host=one == "host") for row in of[1]]
    middle = Circle(
        one,
        many,
        [_of_arc(row, one) for row in of[1]],
        [short(row["host"]) for row in of[1]],
        [_around(row, rank_count) for row in of[1]],
        [first for first, _ in spans],
        [last for _, last in spans],
        kind=one,
    )
    levels = {row["node_level"] for row in of[2]}
    single, several = _PLACES.get(place_kind, ("place", "places")) if len(levels) < 2 else ("place", "places")  # noqa: PLR2004
    osts = [row["first_node"] for row in of[2]] if levels == {"ost"} else []
    server_of = {row["ost_id"]: short(row["server"]) for row in found.servers}
    servers = [server_of.get(ost) for ost in osts] if server_of else []
    return [
        ranks,
        middle,
        Circle(single, several, [_of_arc(row, single) for row in of[2]], servers, osts=osts, kind=single.lower()),
    ]


def _around(row: Row, rank_count: int) -> float:
    """Where an arc lies on its circle: the first rank and the last lie side by side, not one upon the other."""
    return float((row["position"] or 0.0) * (rank_count - 1) + 0.5) / rank_count


def _span(row: Row, ranks: Rows, *, is_host: bool) -> tuple[int, int]:
    """The ranks of a carrier, where these are neighbours; otherwise an empty range, whose last is before the first."""
    if not is_host:
        return row["first_node"], row["last_node"]
    own = [each for each in ranks if each["host"] is not None and each["host"] == (row["host"] or row["node_label"])]
    if not own or any(one["last_node"] + 1 != two["first_node"] for one, two in pairwise(own)):
        return 0, -1
    return own[0]["first_node"], own[-1]["last_node"]


def _of_arc(row: Row, one: str) -> str:
    if row["node_count"] == 1:
        return _label(row["node_level"], row["first_node"], row["node_label"] or row["host"], is_host=one == "host")
    return f"{row['node_count']:,} {one}s from {row['first_node']:,}"


def _ranks(first: int, last: int) -> str:
    return f"rank {first}" if first == last else f"ranks {first} to {last}"


def _label(level: str, number: int, text: str | None, *, is_host: bool) -> str:
    if level == "ost":
        return f"OST {number}"
    if level == "carrier" and not is_host:
        return f"rank {number}"
    return short(text) or f"unknown {'host' if level == 'carrier' else level}"


def short(text: str | None) -> str | None:
    """A name on a picture: no longer than its ends say, and signs that cannot be seen as escapes."""
    if text is None:
        return None
    whole = visible(text)
    return whole if len(whole) <= _CUT else f"{whole[: _CUT // 2]}…{whole[-_CUT // 2 :]}"


def _is_beyond(row: Row, carrier_kind: str) -> bool:
    """Whether a pattern is of ranks that move bytes to places and are not carriers."""
    return bool(row["ring"] == "inner" and row["node_level"] == "rank" and carrier_kind == "host")


def _nodes(row: Row, arcs: Rows, carrier_kind: str) -> list[str]:
    """The nodes of the picture that a pattern calls outliers."""
    outlying, labels = set(row["outlying_nodes"] or ()), set(row["outlying_labels"] or ())
    level = row["node_level"]
    # In the inner ring ranks and hosts are those that move the bytes.
    is_moving = row["ring"] == "inner" and level in {"rank", "host"} and not _is_beyond(row, carrier_kind)
    circle = 1 if is_moving else _CIRCLE_OF.get(level, 2)
    of_circle = [each for each in arcs if each["circle"] == circle]
    if level == "host":
        found = [each["arc"] for each in of_circle if (each["host"] or each["node_label"]) in labels]
    else:
        same = [each for each in of_circle if circle < 2 or each["node_level"] == level]  # noqa: PLR2004
        found = [each["arc"] for each in same if any(each["first_node"] <= node <= each["last_node"] for node in outlying)]
    return [f"{circle}-{arc}" for arc in found]


def _notes(rings: Rows) -> list[str]:
    """What is missing, and how much is known."""
    notes = []
    for row in rings:
        what = f"{row['op']}s from {'ranks to carriers' if row['ring'] == 'outer' else 'carriers to places'}"
        notes += ring_sentences(row)
        if row["matched_count"] is not None and row["matched_count"] < (row["request_count"] or 0):
            notes.append(f"Of {row['request_count']:,} {what}, the other end of {row['matched_count']:,} is known.")
        if row["negative_count"]:
            notes.append(
                f"{row['negative_count']:,} {what} end sooner than clocks say they began, and are drawn as the least value."
            )
    skewed = next((row for row in rings if row["skew_seconds"]), None)
    if skewed:
        whose = short(skewed["skew_host"]) or f"rank {skewed['skew_rank']}"
        notes.append(f"Clocks are corrected by up to {fine_seconds(abs(skewed['skew_seconds']))} (that of {whose}).")
    return list(dict.fromkeys(notes))
