"""Rows of text as columns, to a terminal or to a file."""
# ruff: noqa: PLC0415

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len, set_cell_size

from iomine.cli.terminal.text import say
from iomine.units import visible

if TYPE_CHECKING:
    from rich.console import OverflowMethod

_WIDEST: Final = 60
# Where texts go on in the next line, a long name leaves room for other columns.
_FOLDED: Final = 24
# One of these columns is the divider that the table draws itself.
_GAP: Final = 2


def lay_out(names: Sequence[str], rows: Sequence[Sequence[str]], is_number: Sequence[bool]) -> Iterator[str]:
    """Aligned lines with a head, nothing cut; numbers stand to the right."""
    heads = [visible(name) for name in names]
    widths = _widths(heads, rows)
    for row in (heads, ["-" * width for width in widths], *rows):
        cells = [_padded(*cell) for cell in zip(row, widths, is_number, strict=True)]
        yield (" " * _GAP).join(cells).rstrip()


def draw(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    is_number: Sequence[bool],
    order: Sequence[str] | None = None,
    whole: str = "--format csv",
) -> None:
    """The same on a terminal: as many columns as fit; stderr lists the columns that did not.

    Args:
        names: of the columns.
        rows: a text for each column.
        is_number: of each column, whether it stands to the right.
        order: names by importance: the last go where not all fit, and no text is cut, however many lines it takes. If left
            out, columns go from the right, and long texts are cut.
        whole: the option of the command that gives all columns and texts.
    """
    # Output into a file or a pipe needs no limits of a terminal.
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    heads = [visible(name) for name in names]
    console = Console(file=sys.stdout, highlight=False)
    widths = _widths(heads, rows)
    if order is None:
        fitting = fit([min(width, _WIDEST) for width in widths], console.width, range(len(names)))
    else:
        wanted = [width if is_right else min(width, _FOLDED) for width, is_right in zip(widths, is_number, strict=True)]
        fitting = fit(wanted, console.width, [names.index(name) for name in order])
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, _GAP - 1, 0, 0), pad_edge=False)
    for column, width in fitting.items():
        if is_number[column]:
            # A number without its last digits would be another number.
            table.add_column(Text(heads[column]), justify="right", width=width, overflow="fold")
        else:
            is_whole = order is not None
            overflow: OverflowMethod = "fold" if is_whole else "ellipsis"
            table.add_column(Text(heads[column]), width=width, no_wrap=not is_whole, overflow=overflow)
    for row in rows:
        table.add_row(*(Text(row[column]) for column in fitting))
    console.print(table)
    left_out = [head for column, head in enumerate(heads) if column not in fitting]
    if left_out:
        say(f"Not shown, the terminal is too narrow: {', '.join(left_out)}. {whole} has them.")
    if order is None and any(width < widths[column] for column, width in fitting.items()):
        say(f"Values that end in … are cut: {whole} has them whole.")


def fit(widths: Sequence[int], available: int, order: Iterable[int]) -> dict[int, int]:
    """Columns that fit side by side, in their places from left to right, each with its width.

    Args:
        widths: that all columns would have.
        available: of the terminal.
        order: the columns by importance; the first always fits, narrowed if need be.
    """
    fitting: dict[int, int] = {}
    for column in order:
        if fitting and sum(fitting.values()) + _GAP * len(fitting) + widths[column] > available:
            break
        fitting[column] = min(widths[column], available)
    return dict(sorted(fitting.items()))


def _widths(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    return [max((cell_len(row[n]) for row in (heads, *rows)), default=0) for n in range(len(heads))]


def _padded(cell: str, width: int, is_right: bool) -> str:
    return " " * (width - cell_len(cell)) + cell if is_right else set_cell_size(cell, width)
