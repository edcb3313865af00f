"""Pictures of two runs beside each other, both on one scale.

Places across are percents and text is not scaled, so that it can be read on a narrow screen too.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
from markupsafe import Markup, escape

from iomine.report.grids import Grid
from iomine.report.pair import PART_WORDS, Pair, Side
from iomine.report.pictures import cells_picture, heat, lifeline_spans, moment, step_of
from iomine.units import fine_seconds, human_bytes, visible

_HEIGHT: Final = 96
_AXIS: Final = 24
_TICKS: Final = 4
_RANKS_HEIGHT: Final = 100
# How high a file's lane is, and where in it its rectangles lie: from where on, and how high.
_FILE: Final = 14
_FILE_BARS: Final = {"open": (5, 2), "read": (1, 5), "write": (6, 5)}


def parts_picture(parts: Mapping[str, float], longest: float) -> Markup:
    """The parts of one run beside each other, as long as it is of the longer run."""
    left, rects = 0.0, []
    for name in PART_WORDS:
        width = 100 * max(0.0, parts.get(name, 0.0)) / longest if longest else 0.0
        said = f"{PART_WORDS[name]}: {fine_seconds(parts.get(name, 0.0))}"
        rects.append(f'<rect class="{name}" x="{left:.3f}" width="{width:.3f}" height="8"><title>{said}</title></rect>')
        left += width
    shape = 'class="bar pair" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"'
    return Markup(f"<svg {shape}>{''.join(rects)}</svg>")  # noqa: S704  numbers, and words of ours


def time_picture(side: Side, pair: Pair) -> Markup:
    """Bytes by time and rank of one of the runs, by the time and the colours of both; lines of files where there is no more."""
    facts, seconds = side.facts, _shown_seconds(pair)
    if seconds <= 0 or not (facts.grid or facts.lifelines or facts.phases):
        return Markup("")
    if facts.grid:
        says, parts = (
            "Bytes by time and rank",
            list(_of_grid(facts.grid, pair, seconds, "first" if side is pair.first else "second")),
        )
        bottom = (bool(facts.grid.read.any()) + bool(facts.grid.write.any())) * (_HEIGHT + _AXIS)
    elif facts.lifelines:
        says, parts = "When files were opened, read, written and closed", list(_of_files(side, seconds))
        bottom = _AXIS + len(facts.lifelines) * _FILE
    else:
        says, parts, bottom = "Phases of I/O by time", list(_of_phases(side, seconds)), _HEIGHT + _AXIS
    return Markup(  # noqa: S704  what is escaped, and numbers and words of ours
        f'<svg class="pairtime" height="{bottom + _AXIS}" role="img" aria-label="{says} over {fine_seconds(seconds)}">'
        f"{''.join(parts)}{''.join(_axis(seconds, bottom))}</svg>"
    )


def most_bytes(pair: Pair) -> float:
    """The most that a cell of either run holds."""
    grids = [side.facts.grid for side in (pair.first, pair.second) if side.facts.grid]
    return max((float(cells.max()) for grid in grids for cells in (grid.read, grid.write)), default=0.0)


def ranks_picture(side: Side, pair: Pair) -> Markup:
    """How long each rank took, the longest first, as high as it is of the longest of both runs."""
    highest = max((row["rank_seconds"] for each in (pair.first, pair.second) for row in each.ranks), default=0.0)
    if not side.ranks or not highest:
        return Markup("")
    count = sum(row["rank_count"] for row in side.ranks)
    left, path = 0.0, f"M0 {_RANKS_HEIGHT}"
    for row in side.ranks:
        top = _RANKS_HEIGHT * (1 - row["rank_seconds"] / highest)
        right = left + 100 * row["rank_count"] / count
        path += f"V{top:.2f}H{right:.3f}"
        left = right
    shape = f'class="ranks" viewBox="0 0 100 {_RANKS_HEIGHT}" preserveAspectRatio="none" role="img"'
    says = f"Seconds of {count:,} ranks, sorted: {fine_seconds(side.ranks[0]['rank_seconds'])} at most"
    return Markup(f'<svg {shape} aria-label="{says}"><path d="{path}V{_RANKS_HEIGHT}z"/></svg>')  # noqa: S704  numbers


def _shown_seconds(pair: Pair) -> float:
    lengths = [side.log["run_seconds"] or 0.0 for side in (pair.first, pair.second)]
    grids = [side.facts.grid.seconds for side in (pair.first, pair.second) if side.facts.grid]
    return float(max([*lengths, *grids]))


def _of_grid(grid: Grid, pair: Pair, seconds: float, which: str) -> Iterator[str]:
    most, top = most_bytes(pair), _AXIS
    for kind, name, cells in (("read", "read", grid.read), ("write", "written", grid.write)):
        if cells.any():
            yield f'<text class="panel" x="0" y="{top - 6}">Bytes {name}: {human_bytes(float(np.nansum(cells)))}</text>'
            across = 0, 100 * grid.seconds / seconds
            yield cells_picture(kind, f"{which}-{kind}", heat(cells, most), across, (top, _HEIGHT))
            top += _HEIGHT + _AXIS


def _of_phases(side: Side, seconds: float) -> Iterator[str]:
    yield f'<text class="panel" x="0" y="{_AXIS - 6}">Phases of I/O, as far as they are known</text>'
    run = 100 * (side.log["run_seconds"] or 0.0) / seconds
    yield f'<rect class="lane" x="0" y="{_AXIS}" width="{run:.3f}%" height="{_HEIGHT}"/>'
    for phase in side.facts.phases:
        start, end = (100 * max(0.0, phase[name]) / seconds for name in ("start_seconds", "end_seconds"))
        yield f'<rect class="mark" x="{start:.3f}%" y="{_AXIS}" width="{max(0.2, end - start):.3f}%" height="{_HEIGHT}"/>'


def _of_files(side: Side, seconds: float) -> Iterator[str]:
    """A lane for each file: from the first open to the last close, and from the first read or write to the last."""
    yield f'<text class="panel" x="0" y="{_AXIS - 6}">Files, from the first open to the last close</text>'
    run = 100 * (side.log["run_seconds"] or 0.0) / seconds
    yield f'<rect class="lane" x="0" y="{_AXIS}" width="{run:.3f}%" height="{len(side.facts.lifelines) * _FILE}"/>'
    for number, row in enumerate(side.facts.lifelines):
        top = _AXIS + number * _FILE
        spans = lifeline_spans(row)
        yield f"<g><title>{escape(visible(row['path'] or 'a file without a name'))}</title>"
        for name, (start, end) in spans.items():
            left, right = (100 * min(at / seconds, 1.0) for at in (start, end))
            y, height = _FILE_BARS[name]
            shape = f'y="{top + y}" width="{max(0.2, right - left):.3f}%" height="{height}"'
            yield f'<rect class="{name}" x="{left:.3f}%" {shape}/>'
        yield "</g>"


def _axis(seconds: float, top: float) -> Iterator[str]:
    step = step_of(seconds, _TICKS)
    for number in range(int(seconds / step) + 1):
        across = 100 * number * step / seconds
        anchor = "start" if number == 0 else "middle" if across < 90 else "end"  # noqa: PLR2004  percent
        yield f'<line x1="{across:.3f}%" x2="{across:.3f}%" y1="{top}" y2="{top + 5}"/>'
        yield f'<text x="{across:.3f}%" y="{top + 18}" text-anchor="{anchor}">{moment(number * step, step)}</text>'
