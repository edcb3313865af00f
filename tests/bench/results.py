"""What was measured: a number of ours, a peer's beside it, and the target that is asked for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from measure import Times

from iomine.units import human_bytes, human_seconds

HEAD: Final = ("what", "ours", "CPU", "beside", "ratio", "target", "spread", "is it met")
MET: Final = {True: "met", False: "MISSED", None: ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One row of the table.

    Attributes:
        what: what was measured.
        ours: the number of iomine.
        unit: `s` for seconds, `B` for bytes, empty for what has none.
        cpu_seconds: CPU time of all processes, beside a wall time.
        peer: the number of what it is held against.
        beside: what that is.
        ratio: of the two, the way round that the target has it.
        least: the ratio must not be below it, or the number of ours where there is no ratio.
        most: neither may be above it.
        spread: slowest run minus fastest run, as a share of the median.
    """

    what: str
    ours: float
    unit: str = "s"
    cpu_seconds: float | None = None
    peer: float | None = None
    beside: str = ""
    ratio: float | None = None
    least: float | None = None
    most: float | None = None
    spread: float | None = None

    @property
    def is_met(self) -> bool | None:
        """Whether the target is met; None where none is asked for."""
        held = self.ours if self.ratio is None else self.ratio
        if self.least is None and self.most is None:
            return None
        return (self.least is None or held >= self.least) and (self.most is None or held <= self.most)

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as text, under `HEAD`."""
        targets = (("at least", self.least), ("at most", self.most))
        unit = self.unit if self.ratio is None else "x"
        return (
            self.what,
            shown(self.ours, self.unit),
            "" if self.cpu_seconds is None else shown(self.cpu_seconds, "s"),
            "" if self.peer is None else f"{self.beside} {shown(self.peer, self.unit)}",
            "" if self.ratio is None else shown(self.ratio, "x"),
            ", ".join(f"{word} {shown(target, unit)}" for word, target in targets if target is not None),
            "" if self.spread is None else f"{self.spread:.0%}",
            MET[self.is_met],
        )


def shown(value: float, unit: str) -> str:
    """A number for people, three digits long."""
    if unit == "s":
        return human_seconds(value) if value >= 60 else f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms"
    if unit == "B":
        return human_bytes(int(value))
    number = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{number} {unit}".rstrip()


def faster(what: str, ours: Times, beside: str, peer: Times, least: float | None = None) -> Result:
    """A time held against that of a peer, which is to be so many times as long; both in CPU seconds."""
    return Result(
        what=what, ours=ours.cpu, cpu_seconds=ours.cpu, peer=peer.cpu, beside=beside, ratio=peer.cpu / ours.cpu, least=least,
        spread=ours.spread,
    )  # fmt: skip


def slower(what: str, ours: Times, beside: str, peer: Times, most: float | None = None) -> Result:
    """A time held against that of a floor, which it may be so many times as long as; both in CPU seconds."""
    return Result(
        what=what, ours=ours.cpu, cpu_seconds=ours.cpu, peer=peer.cpu, beside=beside, ratio=ours.cpu / peer.cpu, most=most,
        spread=ours.spread,
    )  # fmt: skip


def timed(what: str, ours: Times, most: float | None = None) -> Result:
    """A wall time, which may be so long."""
    return Result(what=what, ours=ours.median, cpu_seconds=ours.cpu, most=most, spread=ours.spread)


def lines(rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows of a table for a terminal, the first column to the left and the others to the right."""
    cells = list(rows)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))])
        for row in cells
    ]
