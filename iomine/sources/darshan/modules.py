"""The state of each module of a log: read, unsound, unsupported or unread, with the reason."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iomine.sources.darshan.container import Region


@dataclass(frozen=True, slots=True)
class ModuleState:
    """Whether a module of a log was read.

    Attributes:
        region: where it is in the log.
        record_count: records that were read.
        state: `read`; `unsound`, where what was read is not all or not to be trusted; `unsupported`; `unread`, where
            nobody asked for it.
        reason: why, empty for `read`.
    """

    region: Region
    record_count: int
    state: str
    reason: str


def without_region(module: str, record_count: int, state: str, reason: str, *, is_partial: bool = False) -> ModuleState:
    """The state of a module of a source that does not keep modules apart."""
    return ModuleState(Region(module, 0, 0, 0, 0, is_partial), record_count, state, reason)


def rows_without_regions(states: Sequence[ModuleState]) -> dict[str, list[Any]]:
    """Columns of the table `module` for such states."""
    return {
        "module": [state.region.module for state in states],
        "record_count": [state.record_count for state in states],
        "is_partial": [state.region.is_partial for state in states],
        "state": [state.state for state in states],
        "reason": [state.reason or None for state in states],
    }
