"""Shows readers the new state, all tables at once."""

from dataclasses import dataclass

from iomine.pipeline import publish as views
from iomine.pipeline.stages.commit import Committed
from iomine.pipeline.stages.context import Sweep


@dataclass(frozen=True, slots=True)
class Published:
    """What readers see.

    Attributes:
        committed: what they see.
    """

    committed: Committed


def publish(sweep: Sweep, committed: Committed) -> Published:
    """Swaps in views over what was committed.

    Raises:
        WarehouseError: files cannot be written.
    """
    views.publish(sweep.warehouse, sweep.triggers.values(), committed.snapshot)
    return Published(committed)
