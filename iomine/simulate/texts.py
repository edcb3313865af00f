"""Small helpers for the texts that servers, switches and the scheduler leave."""

import datetime as dt
from pathlib import Path
from typing import Final

from zlib_ng import zlib_ng

_GZIP: Final = 31


def iso(seconds: float) -> str:
    """A moment as Slurm prints it, in UTC."""
    return dt.datetime.fromtimestamp(int(seconds), dt.UTC).isoformat()[:19]


def day(seconds: float) -> str:
    """The date of a moment, in UTC."""
    return iso(seconds)[:10]


def packed(text: str, level: int = 1) -> bytes:
    """A text compressed; the same text always gives the same bytes, and those of several may follow one another."""
    return zlib_ng.compress(text.encode(), level, _GZIP)


def write_snapshot(folder: Path, moment: float, content: bytes) -> None:
    """Writes packed texts under date and time of their moment."""
    at = iso(moment)
    path = folder / at[:10] / f"{at[11:13]}{at[14:16]}.txt.gz"
    try:
        path.write_bytes(content)
    except FileNotFoundError:
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
