"""Costs of a log's findings overlap; what each is charged adds up.

Apart from causes, which know triggers: pages on the terminal are to be there at once.
"""

from collections.abc import Callable, Sequence
from typing import Final

from iomine.views.answers import Row

# What pages say of a run that servers, a neighbour or a link made slow.
EXCUSE: Final = "What its findings cost is not held against its user."
# What no page prints of a cost.
_ROUNDING: Final = 0.005


def charged(findings: Sequence[Row]) -> float | None:
    """What findings add to the one sum of their log's costs, None where no cost is known."""
    known = [finding["charged_core_seconds"] for finding in findings if finding["charged_core_seconds"] is not None]
    return sum(known) if known else None


def counted_elsewhere(finding: Row, shown: Callable[[float], str]) -> str:
    """Which part of a finding's cost others are charged for, since costs overlap: in words, empty where none is.

    Args:
        finding: with its `cost_core_seconds` and `charged_core_seconds`.
        shown: core-seconds in words.
    """
    cost = finding["cost_core_seconds"] or 0.0
    shared = cost - (finding["charged_core_seconds"] or 0.0)
    if shared <= _ROUNDING * cost:
        return ""
    how_much = "all" if shared >= (1 - _ROUNDING) * cost else shown(shared)
    return f"{how_much} of it counted with another finding"
