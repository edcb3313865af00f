"""Work in steps: tasks of a step do not need each other's results, so workers share them.

A plan is a generator. It yields the tasks of a step, gets their results in the same order, and returns the result of all steps.
Plans that do not need each other run beside each other, so that workers which one of them leaves idle work for another.
"""

from collections.abc import Callable, Generator, Sequence
from itertools import islice
from typing import Any, TypeVar

from iomine.pipeline.judging.spans import shared
from iomine.pipeline.workers.model import Workers

_Result = TypeVar("_Result")
_Returned = TypeVar("_Returned")

Task = Callable[[], Any]
Steps = Generator[Sequence[Task], Sequence[Any], _Returned]


def beside(*plans: Steps[_Returned]) -> Steps[list[_Returned]]:
    """Merges plans step by step: the first steps of all plans, then the second steps of all that have one, and so on.

    Args:
        plans: what to do.

    Returns:
        What each returned, in their order.
    """
    returned: dict[int, _Returned] = {}
    # None starts a generator.
    results: dict[int, Any] = dict.fromkeys(range(len(plans)))
    while len(returned) < len(plans):
        asked: dict[int, Sequence[Task]] = {}
        for place, of_plan in results.items():
            try:
                asked[place] = plans[place].send(of_plan)
            except StopIteration as end:
                returned[place] = end.value
        if asked:
            done = iter((yield [task for tasks in asked.values() for task in tasks]))
            results = {place: list(islice(done, len(tasks))) for place, tasks in asked.items()}
    return [returned[place] for place in range(len(plans))]


def worked(plan: Steps[_Returned], workers: Callable[[], Workers] | None = None) -> _Returned:
    """Does what a plan asks for.

    Args:
        plan: what to do.
        workers: gives workers that share the tasks, None to do them here.

    Returns:
        What the plan returned.
    """
    # None starts a generator.
    results: Any = None
    while True:
        try:
            tasks = plan.send(results)
        except StopIteration as end:
            returned: _Returned = end.value
            return returned
        done = {place: result for (place, _), result in shared(workers, _done, enumerate(tasks))}
        results = [done[place] for place in range(len(tasks))]


def _done(item: tuple[int, Callable[[], _Result]]) -> _Result:
    return item[1]()
