"""Rows of text as columns, to a terminal or to a file."""

import sys
from collections.abc import Iterator, Sequence
from typing import Final

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from iomine.cli.terminal.text import say
from iomine.units import visible

_WIDEST: Final = 60
# Of which one is the divider that the table draws itself.
_GAP: Final = 2


def lay_out(names: Sequence[str], rows: Sequence[Sequence[str]], is_number: Sequence[bool]) -> Iterator[str]:
    """Aligned lines with a head, nothing cut; numbers stand to the right."""
    heads = [visible(name) for name in names]
    widths = _widths(heads, rows)
    for row in (heads, ["-" * width for width in widths], *rows):
        cells = [_padded(*cell) for cell in zip(row, widths, is_number, strict=True)]
        yield (" " * _GAP).join(cells).rstrip()


def draw(names: Sequence[str], rows: Sequence[Sequence[str]], is_number: Sequence[bool]) -> None:
    """The same on a terminal: as many columns as fit; stderr lists the columns that did not."""
    heads = [visible(name) for name in names]
    console = Console(file=sys.stdout, highlight=False)
    whole = _widths(heads, rows)
    widths = fit(whole, console.width)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, _GAP - 1, 0, 0), pad_edge=False)
    for head, width, is_right in zip(heads, widths, is_number, strict=False):
        if is_right:
            # Without its last digits it would be another number.
            table.add_column(Text(head), justify="right", width=width, overflow="fold")
        else:
            table.add_column(Text(head), width=width, no_wrap=True, overflow="ellipsis")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row[: len(widths)]))
    console.print(table)
    left_out = heads[len(widths) :]
    if left_out:
        say(f"Not shown, the terminal is too narrow: {', '.join(left_out)}. Ask for fewer columns, or use --format csv.")
    if any(width < full for width, full in zip(widths, whole, strict=False)):
        say("Values that end in … are cut: --format csv has them whole.")


def fit(widths: Sequence[int], available: int) -> list[int]:
    """Widths of the columns that fit side by side, from the left; the first always does, cut if need be."""
    fitting: list[int] = []
    for width in widths:
        wanted = min(width, _WIDEST)
        if fitting and sum(fitting) + _GAP * len(fitting) + wanted > available:
            break
        fitting.append(min(wanted, available))
    return fitting


def _widths(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    return [max((cell_len(row[n]) for row in (heads, *rows)), default=0) for n in range(len(heads))]


def _padded(cell: str, width: int, is_right: bool) -> str:
    return " " * (width - cell_len(cell)) + cell if is_right else set_cell_size(cell, width)
