"""Small pictures next to that of the run: what was called, how much, of what size, where, and how evenly.

Each is a few bars, dots or a curve with its numbers beside it. One that would say nothing of a log is left out, with the reason.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Final

from markupsafe import Markup

from iomine.report.facts import Facts
from iomine.units import core_hours, counted, fine_seconds, human_bytes, ost_name, percent, visible
from iomine.views.answers import Row, Rows

LAYERS: Final = {
    "posix": "POSIX", "mpiio": "MPI-IO", "stdio": "STDIO", "dfs": "DFS", "daos": "DAOS", "hdf5": "HDF5", "pnetcdf": "PnetCDF",
}  # fmt: skip
_KINDS: Final = {"read": "Read only", "write": "Written only", "both": "Read and written", "neither": "Opened only"}
_READ, _WRITTEN, _META = ("read", "read"), ("write", "written"), ("meta", "metadata calls")
# Rows of a layer, or of mounts, of which there may be hundreds.
_MOST: Final = 6
# With a smaller share, a picture as wide as the run would show nothing.
_LEAST_RATIO: Final = 0.1
# Shares that can be seen apart.
_LEAST_SHOWN: Final = 0.001
# Share of the run from which calls must have overlapped; clocks are rounded, so less than that proves nothing.
_OVERLAPPING: Final = 1.01
# The most of the median at which a curve would be flat.
_EVEN: Final = 1.1
_HOUR: Final = 3600


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a picture.

    Attributes:
        name: what it is about.
        value: its numbers, in words.
        parts: kind of each part of its rectangle, and how far it reaches of the whole width.
        mark: where on that something is marked, None for no mark.
        group: what it is a line of; the first of a group names it.
    """

    name: str
    value: str
    parts: Sequence[tuple[str, float]] = ()
    mark: float | None = None
    group: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A small picture.

    Attributes:
        id: of its element in a page.
        title: what it shows.
        says: what a reader has to know to read it, or what it comes to.
        keys: kinds of parts, and what they are called.
        lines: bars, with their numbers.
        drawing: what is no list of lines.
        lacks: why there is none, empty where there is one.
    """

    id: str
    title: str
    says: str = ""
    keys: Sequence[tuple[str, str]] = ()
    lines: Sequence[Line] = ()
    drawing: Markup = field(default_factory=Markup)
    lacks: str = ""

    def groups(self) -> list[tuple[str, list[Line]]]:
        """Its lines by what they are lines of, in their order."""
        return [(group, list(lines)) for group, lines in groupby(self.lines, key=attrgetter("group"))]


def pictures_of(facts: Facts) -> list[Picture]:
    """The small pictures of a log; those that it lacks say why."""
    return [
        _layer_time(facts.layers, facts.log),
        _calls(facts.calls),
        _access_sizes(facts.access_sizes, facts.layers),
        _order(facts.sizes, facts.layers),
        _file_kinds([row for row in facts.file_sums if not row["is_of_mount"]]),
        _mounts([row for row in facts.file_sums if row["is_of_mount"]]),
        _ranks(facts.spreads, facts.log),
        _osts(facts.spreads),
        _history(facts.history, facts.log),
    ]


def _layer_time(layers: Rows, log: Row) -> Picture:
    about = "layer-time", "Time by layer"
    run, nprocs = log["run_seconds"], log["nprocs"]
    if not layers or not run or not nprocs:
        return Picture(*about, lacks="no layer's time, or not how long the run took, is known")
    kinds = ("read", "write", "meta")
    ratios = [[(kind, (row[f"{kind}_core_seconds"] or 0.0) / nprocs / run) for kind in kinds] for row in layers]
    means = [sum(ratio for _, ratio in parts) for parts in ratios]
    slowest = [row["slowest_io_seconds"] for row in layers]
    most = max(*means, max((seconds for seconds in slowest if seconds is not None), default=0.0) / run)
    if not most:
        return Picture(*about, lacks="no call took time that Darshan measures")
    whole = 1.0 if most >= _LEAST_RATIO else most
    lines = [
        Line(
            LAYERS[row["layer"]],
            _of_run(mean) + ("" if seconds is None else f"; slowest by file {fine_seconds(seconds)}"),
            [(kind, ratio / max(whole, mean)) for kind, ratio in parts],
            None if seconds is None else min(1.0, seconds / run / whole),
        )
        for row, parts, mean, seconds in zip(layers, ratios, means, slowest, strict=True)
    ]
    width = f"the run, {fine_seconds(run)}" if whole == 1.0 else f"{percent(whole)} of the run"
    says = (
        "Of the mean rank; the mark is the slowest rank of each shared file, added up. A layer holds those beneath it, and "
        f"waiting or exchange. The width is {width}."
    )
    return Picture(*about, says, (_READ, _WRITTEN, _META), lines)


def _calls(calls: Rows) -> Picture:
    about = "calls", "Calls by layer"
    if not calls:
        return Picture(*about, lacks="no call was counted")
    most = calls[0]["call_count"]
    lines: list[Line] = []
    for layer, of_layer in _by_layer(calls):
        for row in of_layer[:_MOST]:
            part = _kind_of(row["call_kind"]), row["call_count"] / most
            lines.append(Line(row["call_kind"], f"{row['call_count']:,}", [part], group=layer))
        if rest := of_layer[_MOST:]:
            lines.append(Line(counted(len(rest), "other"), f"{sum(row['call_count'] for row in rest):,}", group=layer))
    return Picture(*about, lines=lines)


def _kind_of(call: str) -> str:
    return "read" if call.endswith("read") else "write" if call.endswith("write") else "meta"


def _by_layer(rows: Rows) -> Iterator[tuple[str, Rows]]:
    """Rows by layer, those layers first that the program calls."""
    order = list(reversed(LAYERS))
    ordered = sorted(rows, key=lambda row: order.index(row["layer"]))
    return ((LAYERS[layer], list(of_layer)) for layer, of_layer in groupby(ordered, key=itemgetter("layer")))


def _access_sizes(sizes: Rows, layers: Rows) -> Picture:
    about = "access-sizes", "Commonest requests"
    if not sizes:
        return Picture(*about, lacks="Darshan keeps no lengths of this log's requests (stdio has none)")
    counts = {LAYERS[row["layer"]]: (row["read_count"] or 0) + (row["write_count"] or 0) for row in layers}
    lines = []
    for layer, of_layer in _by_layer(sizes):
        for row in of_layer:
            ratio = min(1.0, row["request_count"] / counts[layer]) if counts.get(layer) else None
            of = "" if ratio is None else f", {_part(ratio)}"
            parts = [] if ratio is None else [("plain", ratio)]
            lines.append(Line(human_bytes(row["length_bytes"]), f"{row['request_count']:,}{of}", parts, group=layer))
    return Picture(*about, "Reads and writes together, of all requests of the layer.", lines=lines)


def _order(sizes: Rows, layers: Rows) -> Picture:
    about = "order", "Order of POSIX requests"
    of_layer = [next((row for row in rows if row["layer"] == "posix"), {}) for rows in (sizes, layers)]
    lines = []
    for op, done in (("read", "Reads"), ("write", "Writes")):
        consecutive, sequential = (of_layer[0].get(f"{how}_{op}_count") for how in ("consecutive", "sequential"))
        count = of_layer[1].get(f"{op}_count")
        if not count or consecutive is None or sequential is None:
            continue
        # A rank's first request follows none; a hostile log may say anything.
        ratios = [min(1.0, amount / count) for amount in (consecutive, max(0.0, sequential - consecutive))]
        says = f"{_part(ratios[0])} consecutive, {_part(ratios[1])} further on, of {count:,}"
        lines.append(Line(done, says, [(op, ratios[0]), ("meta", min(ratios[1], 1 - ratios[0]))]))
    if not lines:
        return Picture(*about, lacks="there is no request of POSIX whose order is known")
    return Picture(
        *about, "Each is compared with the request of its rank before it. The others go back, or are the first.", lines=lines
    )


def _file_kinds(sums: Rows) -> Picture:
    about = "file-kinds", "Files"
    if not sums:
        return Picture(*about, lacks="the log names no files of POSIX, STDIO or DFS")
    total = sum(row["file_count"] for row in sums)
    lines = [
        Line(_KINDS[row["file_kind"]], f"{row['file_count']:,}{_extent(row)}", [("plain", row["file_count"] / total)])
        for row in sorted(sums, key=lambda row: list(_KINDS).index(row["file_kind"]))
    ]
    return Picture(*about, f"{counted(total, 'file')}. Sizes are as far as the run touched them.", lines=lines)


def _part(ratio: float) -> str:
    return "less than 0.1%" if 0 < ratio < _LEAST_SHOWN else percent(ratio)


def _of_run(ratio: float) -> str:
    return (
        f"{_part(min(1.0, ratio))} of the run" if ratio < _OVERLAPPING else "longer than the run, since calls of threads overlap"
    )


def _extent(row: Row) -> str:
    if not row["sized_file_count"] or not row["extent_bytes"]:
        return ""
    mean = human_bytes(row["extent_bytes"] / row["sized_file_count"])
    return f"; {mean}" if row["file_count"] == 1 else f"; mean {mean}, largest {human_bytes(row['most_extent_bytes'])}"


def _mounts(sums: Rows) -> Picture:
    about = "mounts", "Bytes by mount"
    most = max(((row["read_bytes"] or 0) + (row["write_bytes"] or 0) for row in sums), default=0)
    if not most:
        return Picture(*about, lacks="no file's bytes are known")
    lines = [
        Line(
            f"{visible(row['mount'] or 'unknown')} ({visible(row['fs_type'] or 'unknown')})",
            f"{human_bytes(row['read_bytes'] or 0)} read, {human_bytes(row['write_bytes'] or 0)} written, "
            f"{counted(row['file_count'], 'file')}",
            [("read", (row["read_bytes"] or 0) / most), ("write", (row["write_bytes"] or 0) / most)],
        )
        for row in sums[:_MOST]
    ]
    if rest := sums[_MOST:]:
        lines.append(Line(counted(len(rest), "other"), counted(sum(row["file_count"] for row in rest), "file")))
    return Picture(*about, keys=(_READ, _WRITTEN), lines=lines)


def _ranks(spreads: Rows, log: Row) -> Picture:
    about = "ranks", "Ranks, the busiest first"
    spread = next((row for row in spreads if row["spread_over"] == "rank"), None)
    if log["nprocs"] == 1:
        return Picture(*about, lacks="there is one rank")
    if spread is None:
        return Picture(*about, lacks="it is not known which rank did what: records are shared, and there is no trace or heat map")
    return _spread(about, spread, "rank", lambda number: f"rank {number:,}")


def _osts(spreads: Rows) -> Picture:
    about = "ost-time", "OSTs, the busiest first"
    spread = next((row for row in spreads if row["spread_over"] == "ost"), None)
    if spread is None:
        return Picture(*about, lacks="fewer than two OSTs are known to which its bytes went")
    return _spread(about, spread, "OST", ost_name)


def _spread(about: tuple[str, str], spread: Row, what: str, called: Callable[[int], str]) -> Picture:
    if spread["most_amount"] <= _EVEN * spread["median_amount"]:
        return Picture(*about, lacks=f"all {counted(spread['spread_count'], what)} have much the same: none 10% above the median")
    shown = fine_seconds if spread["is_timed"] else human_bytes
    layer = LAYERS.get(spread["layer"], "I/O")
    unit = f"seconds in {layer}" if spread["is_timed"] else "bytes, as times are not known"
    most, median = spread["most_amount"], spread["median_amount"]
    says = f"By {unit}: of {counted(spread['spread_count'], what)} the busiest has {shown(most)}, the median {shown(median)}."
    if count := spread["outlier_count"]:
        outliers = zip(spread["outliers"], spread["outlier_amounts"], strict=True)
        named = ", ".join(f"{called(number)} with {shown(amount)}" for number, amount in outliers)
        more = f" and {count - len(spread['outliers']):,} more" if count > len(spread["outliers"]) else ""
        says += f" More than twice the median: {named}{more}."
    heights = [100 * (1 - amount / most) for amount in spread["amounts"]]
    curve = "".join(f"V{height:.0f}h1" for height in heights)
    middle = 100 * (1 - median / most)
    over = sum(amount > 2 * median for amount in spread["amounts"])
    drawing = Markup(  # noqa: S704  numbers, and words of ours
        f'<svg class="curve" viewBox="0 0 64 100" preserveAspectRatio="none" role="img" aria-label="{says}">'
        f'<path d="M0 100{curve}V100z"/><rect class="over" width="{over}" height="2" y="98"/>'
        f'<line x2="64" y1="{middle:.0f}" y2="{middle:.0f}"/></svg>'
    )
    return Picture(*about, says, drawing=drawing)


def _history(runs: Rows, log: Row) -> Picture:
    about = "runs", "This run among earlier ones"
    known = [run for run in runs if run["io_core_seconds"] is not None and run["start_at"] is not None]
    if len(known) < 2 or log["io_core_seconds"] is None or not known[-1]["earlier_run_count"]:  # noqa: PLR2004  itself and another
        return Picture(*about, lacks="no earlier run of it is known")
    this = known[-1]
    least, most = this["usual_least_core_seconds"], this["usual_most_core_seconds"]
    top = max(most, *(run["io_core_seconds"] for run in known)) or 1.0
    first, last = known[0]["start_at"].timestamp(), this["start_at"].timestamp()
    shown = core_hours if top >= _HOUR else fine_seconds
    place = "within" if least <= this["io_core_seconds"] <= most else "above" if this["io_core_seconds"] > most else "below"
    earlier = counted(this["earlier_run_count"], "earlier run")
    usual = f"the usual {shown(least)} to {shown(most)} (10th to 90th percentile of {earlier})"
    if this["earlier_run_count"] == 1:
        place, usual = "after", f"{shown(most)} in the run before"
    says = f"{shown(this['io_core_seconds'])} of all ranks in I/O, {place} {usual}."
    places = [2 + 96 * _share(run["start_at"].timestamp() - first, last - first) for run in known]
    dots = "".join(
        f'<circle{" class=this" if run is this else ""} cx="{place:.1f}%" cy="{_height(run["io_core_seconds"], top):.0f}" '
        f'r="{5 if run is this else 3}"/>'
        for run, place in zip(known, places, strict=True)
    )
    band = f'<rect y="{_height(most, top):.0f}" width="100%" height="{max(2, _height(least, top) - _height(most, top)):.0f}"/>'
    drawing = Markup(f'<svg class="dots" role="img" aria-label="{says}">{band}{dots}</svg>')  # noqa: S704  numbers, words of ours
    return Picture(*about, says, drawing=drawing)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 1.0


def _height(amount: float, most: float) -> float:
    """Where an amount lies in a picture of 70 pixels."""
    return 64 - 56 * amount / most


def size_line(sums: Rows, size_class: str, measure: str) -> Line:
    """What the requests of one size class of a layer moved, or how long they took, of all of that layer.

    Args:
        sums: of the question `report/size_sums`, those of the layer.
        size_class: as these have it.
        measure: `moved_bytes` or `request_seconds`.
    """
    known = [row for row in sums if row[measure] is not None]
    if not known:
        return Line(size_class, "not known", [])
    whole = sum(row[measure] for row in known) or 1.0
    own = [row for row in known if row["size_class"] == size_class]
    parts = [(op, sum(row[measure] for row in own if row["op"] == op)) for op in ("read", "write")]
    total = sum(amount for _, amount in parts)
    shown = human_bytes(total) if measure == "moved_bytes" else fine_seconds(total)
    return Line(size_class, f"{shown}, {_part(total / whole)}", [(op, amount / whole) for op, amount in parts])


def stacked(line: Line) -> Markup:
    """The drawing of a line, for people who see it; its numbers stand beside it."""
    left, rects = 0.0, []
    for kind, ratio in line.parts:
        width = 100 * ratio
        if width > 0:
            rects.append(f'<rect class="{kind}" x="{left:.1f}%" width="{max(0.5, width):.1f}%" height="8"/>')
        left += width
    mark = "" if line.mark is None else f'<rect class="mark" x="{min(98.5, 100 * line.mark):.1f}%" width="1.5%" height="8"/>'
    # Numbers, and words of ours.
    return Markup(f'<svg class="bar stack" aria-hidden="true">{"".join(rects)}{mark}</svg>')  # noqa: S704
