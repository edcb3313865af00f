"""Small helpers for the texts that servers, switches and the scheduler leave."""

import datetime as dt
import gzip
from pathlib import Path
from typing import Final

_LEVEL: Final = 4


def iso(seconds: float) -> str:
    """A moment as Slurm prints it, in UTC."""
    return dt.datetime.fromtimestamp(int(seconds), dt.UTC).isoformat()[:19]


def day(seconds: float) -> str:
    """The date of a moment, in UTC."""
    return iso(seconds)[:10]


def write_gzip(path: Path, text: str) -> None:
    """Writes a text compressed; the same text always gives the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), _LEVEL, mtime=0))
