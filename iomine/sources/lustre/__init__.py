"""Lustre's own texts: counters of jobs, targets and clients, histograms, and how full targets are."""

from functools import partial
from typing import Final

from iomine.sources.lustre.fullness import is_fullness, read_fullness
from iomine.sources.lustre.parameters import KEPT
from iomine.sources.lustre.reader import read_parameters
from iomine.sources.lustre.refused import PARAMETER, REFUSED
from iomine.sources.lustre.shapes import LCTL, kind_of
from iomine.sources.model import Input, Source

__all__ = ["SOURCES"]


def _is_of(kind: str, source: Input) -> bool:
    return kind_of(source.data) == kind


# In the order in which shapes are tried; the first and the last only say what they refuse.
SOURCES: Final[tuple[Source, ...]] = (
    PARAMETER,
    Source("lfs_df", is_fullness, read_fullness),
    *(Source(kind, partial(_is_of, kind), read_parameters) for kind in (*KEPT, LCTL)),
    *REFUSED,
)
