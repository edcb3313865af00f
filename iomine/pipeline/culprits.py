"""Finds which of many items make a step fail, by halving, so that only these items are lost."""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from iomine.errors import NoWorkersError, UnforeseenError, WarehouseError, WorkersError

# No log makes a disk full, or a worker leave.
_NOT_BY_INPUT: Final = (WarehouseError, WorkersError, NoWorkersError)
# More culprits than these mean that the fault is ours, and finding them one by one would take too long.
_MOST: Final = 64

_Item = TypeVar("_Item")


def may_be_by_input(error: Exception) -> bool:
    """Whether a step may have failed by what it worked on."""
    return isinstance(error, UnforeseenError) or not isinstance(error, _NOT_BY_INPUT)


def culprits(suspects: Sequence[_Item], attempt: Callable[[Sequence[_Item]], object]) -> dict[_Item, Exception]:
    """The items without which an attempt succeeds, found by halving.

    If several fail only together, the last of them is the culprit. The remaining items were tried together and did not fail.

    Args:
        suspects: in any order; the first of them stay rather than the last.
        attempt: takes some of them. It is called about 2 log2(n) times for each culprit.

    Returns:
        Each with how it failed; nothing where the attempt does not fail with all of them.

    Raises:
        Exception: of the attempt, if more items fail than hostile input explains.
    """
    found: dict[_Item, Exception] = {}
    _search([], list(suspects), attempt, found)
    return found


def _search(
    sound: list[_Item], suspects: list[_Item], attempt: Callable[[Sequence[_Item]], object], found: dict[_Item, Exception]
) -> None:
    """Adds to `sound` those suspects that are sound together with it, and to `found` the culprits among them."""
    try:
        attempt([*sound, *suspects])
    except Exception as error:
        if not may_be_by_input(error):
            raise
        if len(suspects) == 1:
            if len(found) == _MOST:
                raise
            found[suspects[0]] = error
            return
    else:
        sound += suspects
        return
    middle = len(suspects) // 2
    _search(sound, suspects[:middle], attempt, found)
    _search(sound, suspects[middle:], attempt, found)
