"""A whole sweep, without Prefect."""

import time
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

from iomine.errors import WorkersError
from iomine.pipeline.stages.commit import commit
from iomine.pipeline.stages.context import Counts, Settings, Sweep, begun
from iomine.pipeline.stages.find import find
from iomine.pipeline.stages.identify import identify
from iomine.pipeline.stages.judge import judge
from iomine.pipeline.stages.merge import merge
from iomine.pipeline.stages.publish import publish
from iomine.pipeline.stages.read import read
from iomine.pipeline.stages.report import Summary, report

__all__ = [
    "RETRY_SECONDS",
    "Counts",
    "Settings",
    "Summary",
    "Sweep",
    "begun",
    "commit",
    "find",
    "identify",
    "judge",
    "merge",
    "publish",
    "read",
    "report",
    "run",
]

# Workers may be gone for a moment.
RETRY_SECONDS: Final = 10.0

Given = ParamSpec("Given")
Done = TypeVar("Done")


def run(settings: Settings) -> Summary:
    """Sweeps. A stage that lost its workers is tried once more."""
    with begun(settings) as sweep:
        identified = _retried(identify, sweep, find(sweep))
        staged = _retried(read, sweep, identified)
        merged = _retried(merge, sweep, staged)
        judged = _retried(judge, sweep, merged)
        committed = commit(sweep, judged)
        published = publish(sweep, committed)
        return _retried(report, sweep, published)


def _retried(stage: Callable[Given, Done], *given: Given.args, **named: Given.kwargs) -> Done:
    try:
        return stage(*given, **named)
    except WorkersError:
        # What the failed try wrote is never committed.
        time.sleep(RETRY_SECONDS)
    return stage(*given, **named)
