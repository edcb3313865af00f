"""What makes a step fail is found by halving."""

import pytest

from iomine.errors import WarehouseError
from iomine.pipeline.culprits import culprits


def failing(*bad: set[int]):
    """An attempt that fails with each of these sets whole, and what it was called with."""
    calls: list[set[int]] = []

    def attempt(items) -> None:
        calls.append(set(items))
        for each in bad:
            if each <= set(items):
                raise ValueError(f"fails with {sorted(each)}")

    return attempt, calls


@pytest.mark.parametrize("bad", [(), ({5},), ({0}, {99}), ({7}, {8}, {9})])
def test_each_that_fails_alone_is_found(bad):
    """With its own error, and in few attempts."""
    attempt, calls = failing(*bad)
    found = culprits(range(100), attempt)
    assert {item: f"fails with [{item}]" for each in bad for item in each} == {item: str(error) for item, error in found.items()}
    assert len(calls) <= 1 + 14 * len(bad)


def test_of_several_that_fail_together_one_is_to_blame():
    """What is left does not fail."""
    attempt, calls = failing({3, 70})
    assert {70} == set(culprits(range(100), attempt))
    attempt(set(range(100)) - {70})
    assert {3, *range(60)} <= calls[-1]


def test_what_is_no_fault_of_the_items_is_raised():
    """A full disk is nobody's log, and what fails with nearly all is the program's."""

    def full(_items) -> None:
        raise WarehouseError("The disk is full.")

    with pytest.raises(WarehouseError):
        culprits(range(4), full)
    with pytest.raises(ValueError, match="fails with"):
        culprits(range(1000), failing(*({item} for item in range(1000)))[0])
