"""The parameters in a text of `lctl get_param`, or the one that a file is a copy of.

Each parameter begins with its name and an equals sign at the start of a line. What stands before the first name, or all of
a text without names, is a copy of one parameter that only its path can name.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from iomine.errors import UnreadableError
from iomine.sources.lustre.lines import LETTERS, Mask, Positions, Text
from iomine.sources.lustre.moments import Moments
from iomine.sources.lustre.parameters import KEPT, NOT_KEPT, Parameter, parameter, parameter_of_path
from iomine.sources.lustre.shapes import leaf_of
from iomine.sources.model import Input

_NAME: Final = r"^(?P<name>[A-Za-z][!-<>-~]*)=(?P<value>[^\n]*)\n?$"
_JOB_STATS: Final = r"^(?:[!-<>-~]+=)?(?P<head>job_stats:)\s*$"

# Two patterns of one `lctl get_param` may both match a parameter.
_AT_ONCE: Final = 1_000_000
_MOST_PARAMETERS: Final = 2_000_000


@dataclass(frozen=True, slots=True)
class Parts:
    """The parameters of a text.

    Attributes:
        parameters: in order; those that are not kept have no leaf.
        of: for each line the number of its parameter.
        left_out: how many are not kept, by what they are called on all targets.
        headed: for each line that begins a list of jobs the number of its parameter.
    """

    parameters: Sequence[Parameter]
    of: npt.NDArray[np.int32]
    left_out: Counter[str]
    headed: npt.NDArray[np.int32]

    def lines(self, leaves: Sequence[str]) -> Mask:
        """The lines of parameters with one of these leaves."""
        return np.array([entry.leaf in leaves for entry in self.parameters], np.bool_)[self.of]

    def begins(self) -> Positions:
        """For each parameter the number of its first line."""
        return np.searchsorted(self.of, np.arange(len(self.parameters)))

    def repeated(self) -> Mask:
        """The parameters whose name occurs more than once."""
        names = Counter(entry.name for entry in self.parameters if entry.name)
        return np.array([names[entry.name] > 1 for entry in self.parameters], np.bool_)

    def without_repeats(self, moments: Moments) -> "Parts":
        """The same, with the last value of each parameter that occurs more than once at a time.

        A value of which nothing says when it was read counts as read at once with the next.

        Args:
            moments: when the parameters were read.
        """
        moment = moments.otherwise.copy()
        part, first = np.unique(self.of[moments.snapshots.at], return_index=True)
        moment[part] = moments.snapshots.moment[first]
        kept = list(self.parameters)
        last: dict[str, int] = {}
        for number, entry in enumerate(self.parameters):
            before = last.get(entry.name) if entry.name and entry.leaf else None
            if before is not None and (not moment[before] or abs(moment[number] - moment[before]) < _AT_ONCE):
                kept[before] = NOT_KEPT
            last[entry.name] = number
        return replace(self, parameters=kept)


def split(text: Text, source: Input) -> Parts:
    """Finds the parameters of a text.

    Raises:
        UnreadableError: there are more than memory is for.
    """
    found = text.find(LETTERS, _NAME)
    if len(found.at) > _MOST_PARAMETERS:
        raise UnreadableError(f"it names {len(found.at):,} parameters, more than servers have; give it those of one")
    # The rest of the line after a name is still to be read.
    text.is_known[found.at[np.asarray(pc.greater(pc.binary_length(found.words["value"]), 0))]] = False
    is_head = np.zeros(len(text), np.int32)
    is_head[found.at] = 1
    of = np.cumsum(is_head, dtype=np.int32)
    blocks = text.find(LETTERS, _JOB_STATS).at
    names = [name.decode() for name in found.words["name"].to_pylist()]
    kept = [parameter(name) for name in names]
    is_joined = bool(np.count_nonzero(of[blocks] == 0) > 1)
    unnamed = None if is_head[:1].any() else _unnamed(source, is_joined=is_joined)
    left_out = Counter(_called(name) for name, entry in zip(names, kept, strict=True) if not entry)
    return Parts([entry or NOT_KEPT for entry in (unnamed, *kept)], of, left_out, of[blocks])


def _unnamed(source: Input, *, is_joined: bool) -> Parameter | None:
    leaf = leaf_of(source.data)
    named = parameter_of_path(source.path, leaf) if leaf else None
    # A path names one target, and `job_stats` of several may be joined.
    return named._replace(target="", target_kind="") if named and is_joined else named


def _called(name: str) -> str:
    parts = name.split(".")
    return ".".join(parts[-2:] if parts[-1] in KEPT else parts[-1:])
