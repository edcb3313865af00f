"""Small helpers for the texts that servers, switches and the scheduler leave."""

import datetime as dt
from pathlib import Path
from typing import Final

from zlib_ng import zlib_ng

_LEVEL: Final = 1
_GZIP: Final = 31


def iso(seconds: float) -> str:
    """A moment as Slurm prints it, in UTC."""
    return dt.datetime.fromtimestamp(int(seconds), dt.UTC).isoformat()[:19]


def day(seconds: float) -> str:
    """The date of a moment, in UTC."""
    return iso(seconds)[:10]


def write_snapshot(folder: Path, moment: float, text: str) -> None:
    """Writes a text compressed, under date and time of its moment; the same text always gives the same bytes."""
    at = iso(moment)
    path = folder / at[:10] / f"{at[11:13]}{at[14:16]}.txt.gz"
    compressed = zlib_ng.compress(text.encode(), _LEVEL, _GZIP)
    try:
        path.write_bytes(compressed)
    except FileNotFoundError:
        path.parent.mkdir(parents=True)
        path.write_bytes(compressed)
