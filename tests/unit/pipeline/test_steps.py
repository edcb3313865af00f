"""Plans whose steps are shared among workers, beside those of other plans."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from iomine.pipeline.judging.steps import Steps, beside, worked
from iomine.pipeline.workers.model import Item, Result, Smaller


class Backwards:
    """Workers who finish what they were given last at first, and count how much they had at a time."""

    are_lost = False

    def __init__(self) -> None:
        self.batches: list[int] = []

    def capacity(self) -> int:
        """Two at a time."""
        return 2

    def map(
        self,
        function: Callable[..., Result],
        items: Iterable[Item],
        *arguments: object,
        after_deaths: Callable[[Item], Smaller[Item] | Result] | None = None,  # noqa: ARG002  none dies
    ) -> Iterator[tuple[Item, Result]]:
        """Does all items, the last one first."""
        found = list(items)
        self.batches.append(len(found))
        for item in reversed(found):
            yield item, function(item, *arguments)


def doubled(first: int, steps: int) -> Steps[list[int]]:
    """Doubles a number and the one after it, step by step; each step has one task more."""
    numbers = [first]
    for _ in range(steps):
        numbers = yield [partial(int.__mul__, number, 2) for number in [*numbers, numbers[-1] + 1]]
    return numbers


def test_results_come_in_the_order_of_their_tasks():
    """Whatever finishes first, a plan gets its results in the order in which it asked."""
    workers = Backwards()
    assert worked(doubled(1, 3)) == worked(doubled(1, 3), lambda: workers) == [8, 16, 20, 22]
    assert [2, 3, 4] == workers.batches


def test_plans_beside_each_other_share_steps():
    """Of plans of any lengths, one of none and one of plans among them, each has what it has alone."""
    workers = Backwards()
    plans = ((1, 3), (5, 1), (7, 0), (9, 2))
    alone = [worked(doubled(*plan)) for plan in plans]
    both = [beside(*(doubled(*plan) for plan in plans[:2])), beside(*(doubled(*plan) for plan in plans[2:]))]
    assert [alone[:2], alone[2:]] == worked(beside(*both), lambda: workers)
    assert [6, 6, 4] == workers.batches
    assert [] == worked(beside())
