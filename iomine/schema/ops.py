"""Codes of the column `op`, where a number stands for it, calls that have none, and what a program does above its calls."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

OPS: Final = ("read", "write")
READ: Final = OPS.index("read")
WRITE: Final = OPS.index("write")


class OtherCalls(NamedTuple):
    """The calls of one layer that are neither reads nor writes: a row for each.

    Attributes:
        layer: `posix` or `stdio`.
        file_ids: file of each call.
        ranks: rank of each call.
        kinds: index into `names` of each call's kind.
        names: kinds of calls.
        starts: when each call started, in seconds since the start of the run.
        ends: when each call ended.
    """

    layer: str
    file_ids: npt.NDArray[np.int64]
    ranks: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.int64]
    names: Sequence[str]
    starts: npt.NDArray[np.float64]
    ends: npt.NDArray[np.float64]


class Steps(NamedTuple):
    """Steps that a program, or its framework, names above its calls: a row for each.

    Attributes:
        layers: what each is a step of, such as a data loader.
        names: what it is called.
        ranks: rank of each.
        starts: when it started, in seconds since the start of the run.
        ends: when it ended.
    """

    layers: Sequence[str]
    names: Sequence[str]
    ranks: npt.NDArray[np.int64]
    starts: npt.NDArray[np.float64]
    ends: npt.NDArray[np.float64]
