"""Pictures in pages: SVG as text, and grids as small PNGs within it, both made in less than a millisecond.

Cells have as much of their colour as there is of an amount. Colours come from the style sheet, those of reads and writes blue and
orange, which colour-blind people see as different, so that pictures follow the page into the dark.
"""

import base64
import math
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from markupsafe import Markup, escape

from iomine.report.causes import SLOW
from iomine.report.grids import Grid
from iomine.units import counted, fine_seconds, human_seconds, visible
from iomine.views.answers import Row, Rows

_WIDTH: Final = 960
_LEFT: Final = 104
_RIGHT: Final = 12
# Of the run's picture: pixels of a row of ranks, of the least panel, of sums above it and of a strip; its part of the width.
_ROW: Final = 2
_LEAST_HEIGHT: Final = 24
_SUM: Final = 18
_STRIP: Final = 30
_TITLE: Final = 20
_GAP: Final = 8
_STRIP_STEP: Final = _TITLE + _STRIP + _GAP
_DONE: Final = {"read": "read", "write": "written"}
_MAIN: Final = 92
# From where to how far lifelines reach, of a hundred across.
_LIVES: Final = (100 * _LEFT / _WIDTH, 100 * (_WIDTH - _LEFT - _RIGHT) / _WIDTH)
# As many moments have room beside each other on a phone.
_FEW_TICKS: Final = 4
_LANE: Final = 36
_LANE_HEIGHT: Final = 14
_LEAST_MARK: Final = 1.5
# How high a file's lane is, and how many signs of its name are shown beside it.
_LIFELINE: Final = 16
_SHORT_NAME: Final = 12
# Marks of launches in one picture; more look all the same.
MOST_MARKS: Final = 1000
# Height of all lanes of launches together, where there are too many for lanes of 8.
_LANES_HEIGHT: Final = 384
_LANE_GAP: Final = 2
# Classes of a direction that have a colour of their own; the next have these again, in lanes of their own.
_COLORS: Final = 3
# Parts of a class's time, as its rows have them.
PARTS: Final = {
    "rank_wait_seconds": "waiting",
    "rank_exchange_seconds": "exchange",
    "rank_storage_seconds": "storage",
    "rank_meta_seconds": "opens and closes",
}
_TICKS: Final = 6
_STEPS: Final = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)


# Tiny amounts must still be visible.
_MASK: Final = np.repeat(np.r_[0, np.linspace(45, 255, 255).round()].astype(np.uint8)[:, None], 3, axis=1)
# Of a curve of bars.
_STEP_TO: Final = [f"V{height}h1" for height in range(101)]
_SLOT_SECONDS: Final = 600
# Less is within what is usual.
_NOTABLE: Final = 1.1


@dataclass(frozen=True, slots=True)
class Strip:
    """An amount by time.

    Attributes:
        kind: of its colour.
        title: what it is.
        says: its numbers, in words.
        starts: from when on there was how much, in seconds since the start of the run, in order.
        amounts: from each of these until the next.
        most: the amount that fills its height.
        end: when the last of the amounts ends, None at the end of the run.
        level: an amount at which a line is drawn, None for no line.
    """

    kind: str
    title: str
    says: str
    starts: Sequence[float]
    amounts: Sequence[float]
    most: float
    end: float | None = None
    level: float | None = None


def strips_of(meta_calls: Rows, server_slots: Rows, run_seconds: float | None) -> list[Strip]:
    """What is known of a run by time, beside its bytes.

    Args:
        meta_calls: of the question `report/meta_calls`.
        server_slots: of the question `report/server_slots`.
        run_seconds: how long it took, None where that is not known.
    """
    if not run_seconds:
        return []
    strips = []
    for row in meta_calls:
        most = max(row["call_counts"])
        says = f"{row['call_count']:,.0f}, at most {most * 100 / run_seconds:,.0f} a second"
        starts = [place * run_seconds / 100 for place in row["places"]]
        strips.append(Strip("meta", "Opens and stats", says, starts, row["call_counts"], most))
    for row in server_slots:
        most = max(row["slowdown_ratios"])
        name = {"ost": "OSTs", "mdt": "MDTs"}[row["target_kind"]]
        says = f"up to {most:.1f} times as slow as usual" if most >= _NOTABLE else "as fast as usual"
        end = row["starts"][-1] + _SLOT_SECONDS
        kind = "slow" if most >= SLOW else "meta"
        strips.append(Strip(kind, name, says, row["starts"], row["slowdown_ratios"], max(2.0, most), end, 1.0))
    return strips


def gray_png(cells: npt.NDArray[np.uint8]) -> bytes:
    """A PNG in which nothing is black and the most is white: a mask that lets a page's own colour pass where there is much.

    Args:
        cells: indices as `heat` gives them, rows from the top.
    """
    return png(cells, _MASK)


def png(cells: npt.NDArray[np.uint8], palette: npt.NDArray[np.uint8], *, is_clear: bool = False) -> bytes:
    """A PNG of indices into a palette.

    Args:
        cells: rows from the top.
        palette: up to 256 colours as red, green and blue.
        is_clear: whether the first colour is transparent.
    """
    height, width = cells.shape
    lines = np.zeros((height, width + 1), np.uint8)
    lines[:, 1:] = cells
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    clear = ((b"tRNS", b"\0"),) if is_clear else ()
    data_chunk = (b"IDAT", zlib.compress(lines.tobytes(), 6))
    chunks = ((b"IHDR", header), (b"PLTE", palette.tobytes()), *clear, data_chunk, (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def least_shown(most: float) -> float:
    """The amount below which all amounts look alike next to the largest."""
    return max(1.0, most / 1e6)


def heat(amounts: npt.NDArray[np.float64], most: float) -> npt.NDArray[np.uint8]:
    """Indices into the palette by the logarithm of amounts: 0 for nothing, 255 for the most."""
    least = least_shown(most)
    is_any = amounts > 0
    # Most cells of most runs have nothing.
    scaled = np.log(np.maximum(amounts[is_any], least) / least) / max(math.log(most / least), 1e-9)
    cells = np.zeros(amounts.shape, np.uint8)
    cells[is_any] = 1 + np.round(254 * scaled.clip(0, 1))
    return cells


def run_picture(grid: Grid, rank_count: int, strips: Sequence[Strip] = (), layer: str = "") -> Markup:
    """Bytes by time and rank, with their sums at the sides: a panel for reads and one for writes, those without any left out.

    Args:
        grid: of bytes.
        rank_count: of the run.
        strips: what else is known by time, drawn beneath on the same axis.
        layer: the one that is drawn, empty for what reached storage.
    """
    panels = [(name, amounts) for name, amounts in (("read", grid.read), ("write", grid.write)) if amounts.any()]
    most = max(float(amounts.max()) for _, amounts in panels)
    parts: list[str] = []
    top = 0.0
    for name, amounts in panels:
        ranks = f": rank 0 on top, rank {rank_count - 1:,} at the bottom" if rank_count > 1 else ""
        parts.append(_title(f"Bytes {_DONE[name]}", ranks, 0, top))
        parts += _panel(name, f"{name}{layer}", amounts, heat(amounts, most), top + _TITLE)
        top += _TITLE + _SUM + 1 + _panel_height(amounts) + _GAP
    for strip in strips:
        parts += _strip(strip, grid.seconds, top, (0, _MAIN))
        top += _STRIP_STEP
    parts += _axis(grid.seconds, top)
    says = " and ".join(_DONE[name] for name, _ in panels)
    return _fluid(parts, top + 24, f"Bytes {says} by time and rank; the table below has the same in ten steps.")


def strips_picture(strips: Sequence[Strip], seconds: float) -> Markup:
    """What is known by time where ranks are not; the places of moments are those of lifelines.

    Args:
        strips: at least one.
        seconds: how long the run took.
    """
    parts = [part for place, strip in enumerate(strips) for part in _strip(strip, seconds, place * _STRIP_STEP, _LIVES)]
    return _fluid(parts, len(strips) * _STRIP_STEP, "; ".join(f"{strip.title}: {strip.says}" for strip in strips))


def _fluid(parts: Sequence[str], height: float, says: str) -> Markup:
    """A picture as wide as its page, whose texts are as large as the page's."""
    return Markup(  # noqa: S704  numbers and words of ours
        f'<svg class="run fluid" height="{height:.0f}" role="img" aria-label="{says}">{"".join(parts)}</svg>'
    )


def _title(text: str, more: str, left: float, top: float) -> str:
    return f'<text class="panel" x="{left:g}%" y="{top + 13:.0f}">{text}<tspan class="of">{more}</tspan></text>'


def _panel_height(amounts: npt.NDArray[np.float64]) -> int:
    return max(_LEAST_HEIGHT, len(amounts) * _ROW)


def _panel(kind: str, name: str, amounts: npt.NDArray[np.float64], cells: npt.NDArray[np.uint8], top: float) -> list[str]:
    """Bytes by time and rank, above them their sums by time, and beside them, where there are ranks, those by rank."""
    rows, columns = amounts.shape
    sums = f'<path class="{kind}" d="{_steps(amounts.sum(axis=0))}"/>'
    below = top + _SUM + 1, _panel_height(amounts)
    parts = [_stretched((0, _MAIN), (top, _SUM), (columns, 100), sums), cells_picture(kind, name, cells, (0, _MAIN), below)]
    if rows > 1:
        turned = f'<path class="{kind}" transform="matrix(0 1 -1 0 100 0)" d="{_steps(amounts.sum(axis=1))}"/>'
        parts.append(_stretched((_MAIN + 0.5, 99.5 - _MAIN), below, (100, rows), turned))
    return parts


def cells_picture(
    kind: str, name: str, cells: npt.NDArray[np.uint8], across: tuple[float, float], down: tuple[float, float]
) -> str:
    """Cells in a page's own colour on its own ground, as much of it as there is.

    Args:
        kind: of the colour, `read` or `write`.
        name: no other picture of the page has it.
        cells: as `heat` gives them, rows from the top.
        across: from where to how far, of a hundred.
        down: from where to how far, in pixels.
    """
    columns = cells.shape[1]
    size = f'width="{columns}" height="100"'
    uri = base64.b64encode(gray_png(cells)).decode()
    image = (
        f'<mask id="cells-{name}">'
        f'<image class="cells" {size} preserveAspectRatio="none" href="data:image/png;base64,{uri}"/></mask>'
        f'<rect class="ground" {size}/><rect class="{kind}" {size} mask="url(#cells-{name})"/>'
    )
    return _stretched(across, down, (columns, 100), image)


def _strip(strip: Strip, seconds: float, top: float, across: tuple[float, float]) -> list[str]:
    """An amount by time, from where to how far of a hundred across."""
    places = [min(max(at / seconds, 0.0), 1.0) * 1000 for at in strip.starts]
    ends = [*places[1:], min(1.0, (strip.end or seconds) / seconds) * 1000]
    blocks = "".join(
        f"M{start:.0f} 100V{100 * (1 - min(1.0, amount / strip.most)):.0f}H{max(end, start + 2):.0f}V100z"
        for start, end, amount in zip(places, ends, strip.amounts, strict=True)
        if amount
    )
    level = "" if strip.level is None else f'<path class="level" d="M0 {100 * (1 - strip.level / strip.most):.0f}H1000"/>'
    inside = f'<rect class="ground" width="1000" height="100"/><path class="{strip.kind}" d="{blocks}"/>{level}'
    place = _stretched(across, (top + _TITLE, _STRIP), (1000, 100), inside)
    return [_title(strip.title, f": {strip.says}", across[0], top), place]


def _stretched(across: tuple[float, float], down: tuple[float, float], size: tuple[int, int], inside: str) -> str:
    """A part of a picture that is stretched to its place.

    Args:
        across: from where to how far, of a hundred.
        down: from where to how far, in pixels.
        size: of what is inside.
        inside: what is stretched.
    """
    place = f'x="{across[0]:g}%" y="{down[0]:.0f}" width="{across[1]:g}%" height="{down[1]:.0f}"'
    return f'<svg {place} viewBox="0 0 {size[0]} {size[1]}" preserveAspectRatio="none">{inside}</svg>'


def _steps(amounts: npt.NDArray[np.float64]) -> str:
    """A curve of bars from 0 to 100, the largest amount being 100 high."""
    heights = np.rint(100 * (1 - amounts / amounts.max())).astype(int).tolist()
    return f"M0 100{''.join(map(_STEP_TO.__getitem__, heights))}V100z"


def _axis(seconds: float, top: float) -> list[str]:
    """Ticks of time beneath a picture that is as wide as its page."""
    step = step_of(seconds, _FEW_TICKS)
    parts = []
    for number in range(int(seconds / step) + 1):
        place = _MAIN * number * step / seconds
        anchor = "start" if number == 0 else "middle"
        parts.append(f'<text x="{place:.2f}%" y="{top + 12:.0f}" text-anchor="{anchor}">{moment(number * step, step)}</text>')
    return parts


def _time_axis(seconds: float, top: float) -> list[str]:
    width = _WIDTH - _LEFT - _RIGHT
    step = step_of(seconds)
    ticks = [step * number for number in range(int(seconds / step) + 1)]
    parts = []
    for tick in ticks:
        x = _LEFT + width * (tick / seconds)
        anchor = "start" if tick == 0 else "middle" if x < _WIDTH - 40 else "end"
        parts.append(
            f'<path d="M{x:.1f} {top}v5"/><text x="{x:.1f}" y="{top + 18}" text-anchor="{anchor}">{moment(tick, step)}</text>'
        )
    return parts


def moment(seconds: float, step: float) -> str:
    """A tick of an axis, as short as its step allows."""
    return (
        f"{seconds:.3g} s"
        if step < 1
        else human_seconds(seconds).replace(".0 s", " s").replace(" 00 s", "").replace(" 00 min", "")
    )


def step_of(seconds: float, ticks: int = _TICKS) -> float:
    """The least of steps that people count time in that gives few ticks."""
    wanted = seconds / ticks
    if wanted < 1:
        power = 10.0 ** math.floor(math.log10(max(wanted, 1e-9)))
        return next(power * part for part in (1, 2, 5, 10) if power * part >= wanted)
    days = math.ceil(wanted / _STEPS[-1]) * float(_STEPS[-1])
    return next((step for step in _STEPS if step >= wanted), days)


def class_strip(classes: Sequence[Row], phases: Sequence[Row], run_seconds: float | None) -> Markup:
    """The run with a lane for each phase class, in which each of its phases is a mark.

    Args:
        classes: of the question `report/phase_classes`, those of a log.
        phases: of the question `report/class_phases`.
        run_seconds: of the log, None where that is not known.
    """
    ends = [row["end_seconds"] for row in (*classes, *phases) if row["end_seconds"] is not None]
    seconds = max([run_seconds or 0.0, *ends])
    if seconds <= 0:
        return Markup("")
    colors = class_color(classes)
    scale = (_WIDTH - _LEFT - _RIGHT) / seconds
    parts: list[str] = []
    top = 0
    for row in classes:
        own = [phase for phase in phases if phase["phase_class"] == row["phase_class"]]
        parts += _lane(row, own, colors[row["phase_class"]], top, scale)
        top += _LANE
    parts += _time_axis(seconds, top)
    label = f"Phases by time, a lane for each of {len(classes)} classes; the table below says from when to when."
    return Markup(  # noqa: S704  numbers and words of ours
        f'<svg class="run strip" viewBox="0 0 {_WIDTH} {top + 24}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
    )


def lifelines_picture(lines: Sequence[Row], seconds: float) -> Markup:
    """Files by time: a line from the first open to the last close, and bars from the first read or write to the last.

    Args:
        lines: rows of `report/lifelines`.
        seconds: how long the run took; what lies beyond is drawn at its end.
    """
    scale = (_WIDTH - _LEFT - _RIGHT) / seconds
    parts: list[str] = []
    for number, row in enumerate(lines):
        parts += _lifeline(row, 4 + number * _LIFELINE, scale)
    bottom = 4 + len(lines) * _LIFELINE
    parts += _time_axis(seconds, bottom)
    label = f"When {counted(len(lines), 'file')} were opened, read, written and closed; the table below has the same."
    return Markup(  # noqa: S704  what is escaped, and numbers and words of ours
        f'<svg class="run lives" viewBox="0 0 {_WIDTH} {bottom + 24}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
    )


def lifeline_spans(row: Row) -> dict[str, tuple[float, float]]:
    """From when to when a file was `open`, in `read`s and in `write`s, in seconds; what is not known is left out.

    Args:
        row: of `report/lifelines`.
    """
    ends = {
        "open": ("open_start_seconds", "close_end_seconds"),
        **{name: (f"{name}_start_seconds", f"{name}_end_seconds") for name in ("read", "write")},
    }
    times = {name: [max(row[end], 0.0) for end in both if row[end] is not None] for name, both in ends.items()}
    # A file is open whenever it is read or written.
    times["open"] = [at for found in times.values() for at in found]
    return {name: (min(found), max(found)) for name, found in times.items() if found}


def _short(name: str) -> str:
    """The end of a name, as long as there is room for beside a picture; ends of names differ more often than their beginnings."""
    return name if len(name) <= _SHORT_NAME else f"…{name[1 - _SHORT_NAME :]}"


def _lifeline(row: Row, top: float, scale: float) -> list[str]:
    spans = lifeline_spans(row)
    placed = {name: [min(at * scale, _WIDTH - _LEFT - _RIGHT) for at in ends] for name, ends in spans.items()}
    first, last = placed.pop("open")
    path = visible(row["path"] or "a file without a name")
    short = _short(path.rsplit("/", 1)[-1])
    half = (_LIFELINE - 4) / 2
    bars = [
        f'<rect class="{name}" x="{_LEFT + start:.1f}" y="{top + place * half:.1f}" width="{max(_LEAST_MARK, end - start):.1f}" '
        f'height="{half:.1f}"/>'
        for place, (name, (start, end)) in enumerate(placed.items())
    ]
    return [
        f"<g><title>{escape(path)}</title>",
        f'<path d="M{_LEFT + first:.1f} {top + half}h{max(_LEAST_MARK, last - first):.1f}"/>',
        *bars,
        f'<text x="{_LEFT - 6}" y="{top + half + 4}" text-anchor="end">{escape(short)}</text></g>',
    ]


def marks_by_time(
    marks: Sequence[tuple[float, float, int, float, str]], names: Mapping[int, str], seconds: float, says: str
) -> Markup:
    """Marks in lanes by time, each filled as far as its share says.

    Args:
        marks: start and length in seconds, lane, share from 0 to 1, and what it says, which is escaped.
        names: of lanes that have one, which stand beside them where lanes are high enough.
        seconds: the time that the picture is wide.
        says: the picture in words.
    """
    scale = (_WIDTH - _LEFT - _RIGHT) / seconds
    marks = marks[:MOST_MARKS]
    lane_count = 1 + max(lane for _, _, lane, _, _ in marks)
    is_high = lane_count <= 12  # noqa: PLR2004  as many as fit on a screen
    height = 18.0 if is_high else min(8.0, _LANES_HEIGHT / lane_count)
    # Thin lanes have no gaps, which would be wider than what is drawn, nor smoothed edges, which would look like stripes.
    drawn, edges = (height - _LANE_GAP, "") if height > 2 * _LANE_GAP else (height + 0.5, ' shape-rendering="crispEdges"')
    parts = [
        f'<text x="{_LEFT - 6}" y="{16 + lane * height:.0f}" text-anchor="end">{escape(_short(visible(name)))}</text>'
        for lane, name in names.items()
        if is_high
    ]
    for start, length, lane, ratio, words in marks:
        width = max(_LEAST_MARK, length * scale)
        left, top = min(_LEFT + start * scale, _WIDTH - _RIGHT - width), f"{4 + lane * height:.5g}"
        parts.append(
            f'<g><title>{words}</title><rect class="whole" x="{left:.1f}" y="{top}" width="{width:.1f}" height="{drawn:.4g}"/>'
            f'<rect class="part" x="{left:.1f}" y="{top}" width="{width * ratio:.1f}" height="{drawn:.4g}"/></g>'
        )
    bottom = round(4 + lane_count * height)
    parts += _time_axis(seconds, bottom)
    about = f'viewBox="0 0 {_WIDTH} {bottom + 24}" role="img" aria-label="{says}"{edges}'
    return Markup(f'<svg class="run launches" {about}>{"".join(parts)}</svg>')  # noqa: S704  what is escaped, and ours


def class_color(classes: Sequence[Row]) -> dict[int, str]:
    """The name of each class's colour in the style sheet: warm ones for writes and cool ones for reads."""
    seen = dict.fromkeys(("read", "write"), 0)
    colors = {}
    for row in classes:
        colors[row["phase_class"]] = f"{row['op']}-{seen[row['op']] % _COLORS}"
        seen[row["op"]] += 1
    return colors


def _lane(row: Row, phases: Sequence[Row], color: str, top: float, scale: float) -> list[str]:
    place = top + _LANE - _LANE_HEIGHT - 4
    start, end = row["start_seconds"], row["end_seconds"]
    is_timed = start is not None and end is not None
    count = "phases are not known" if row["phase_count"] is None else counted(row["phase_count"], "phase")
    says = f"{count}, {f'{fine_seconds(start)} to {fine_seconds(end)}' if is_timed else 'when is not known'}"
    spans = [(phase["start_seconds"], phase["end_seconds"]) for phase in phases]
    shape = color if spans else f"{color} unknown"
    if is_timed and not spans:
        spans = [(start, end)]
    marks = "".join(_mark(start * scale, end * scale, place) for start, end in spans)
    path = f'<path class="{shape}" d="{marks}"/>' if marks else ""
    name = f"{row['phase_class']} {row['op']}"
    return [
        f"<g><title>Class {name}: {says}</title>",
        f'<rect class="lane" x="{_LEFT}" y="{place}" width="{_WIDTH - _LEFT - _RIGHT}" height="{_LANE_HEIGHT}"/>{path}',
        f'<text class="panel" x="{_LEFT - 6}" y="{place + 11}" text-anchor="end">{name}</text>',
        f'<text x="{_LEFT}" y="{place - 4}">{says}</text></g>',
    ]


def _mark(start: float, end: float, top: float) -> str:
    start = max(start, 0.0)
    width = max(_LEAST_MARK, end - start)
    left = min(_LEFT + start, _WIDTH - _RIGHT - width)
    return f"M{left:.1f} {top}h{width:.1f}v{_LANE_HEIGHT}h-{width:.1f}z"


def parts_bar(row: Mapping[str, float | None], longest: float) -> Markup:
    """A bar of the parts of a class's time, as long as they are of the longest; the numbers stand beside it."""
    left, rects = 0.0, []
    names = PARTS if row["rank_wait_seconds"] is not None else ("rank_call_seconds", "rank_meta_seconds")
    for name in names:
        width = 100 * (row[name] or 0.0) / longest if longest else 0.0
        if width > 0:
            rects.append(f'<rect class="{name.split("_")[1]}" x="{left:.2f}%" width="{width:.2f}%" height="8"/>')
        left += width
    shape = 'class="bar parts" aria-hidden="true"'
    return Markup(f"<svg {shape}>{''.join(rects)}</svg>")  # noqa: S704  numbers, and words of ours


def bar(part: float | None, whole: float | None, kind: str = "", beyond: float = 0.0) -> Markup:
    """A bar as long as the part is of the whole, for people who see it; the number stands beside it.

    Args:
        part: what the bar shows.
        whole: what it would fill.
        kind: its class, one of the stylesheet's.
        beyond: what comes on top of the part, drawn lighter.
    """
    amount = part or 0.0
    if not whole or not (amount or beyond) or not math.isfinite(reach := (amount + beyond) / whole):
        return Markup("")
    width = 100 * min(1.0, max(0.008, amount / whole)) if amount else 0.0
    lighter = f'<rect class="beyond" width="{100 * min(1.0, max(0.0, reach)):.1f}%" height="8"/>' if beyond else ""
    return Markup(  # noqa: S704  numbers, and a word of ours
        f'<svg class="bar {kind}" aria-hidden="true">{lighter}<rect width="{width:.1f}%" height="8"/></svg>'
    )
