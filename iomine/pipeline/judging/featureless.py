"""Rows of views that logs are judged by and that are not views of features: published views, and those of the site.

They are queried separately. So a view that fails, or takes too long, costs only the site's triggers that ask for it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from iomine.errors import LimitError, UsageError
from iomine.schema import field
from iomine.triggers.judge import held_name, rows_sql
from iomine.triggers.model import Trigger

Ask = Callable[[str], pa.Table]


@dataclass(frozen=True, slots=True)
class Asked:
    """The rows of one of these views.

    Attributes:
        view: its name, with its schema.
        rows: one for each log; none where it failed.
        fault: why it failed, empty where it did not.
    """

    view: str
    rows: pa.Table
    fault: str = ""

    @property
    def name(self) -> str:
        """The name under which judging asks for them."""
        return held_name(self.view)


def asked_views(
    judges: Iterable[Trigger], where: str, opened: Callable[[str, Sequence[Trigger]], AbstractContextManager[Ask]]
) -> Iterator[Asked]:
    """The rows of each of these views that triggers ask for.

    Args:
        judges: the triggers.
        where: a condition on cluster, night and log id.
        opened: gives who answers questions to a view, by the view's name and the triggers that ask for it.
    """
    by_view: dict[str, list[Trigger]] = defaultdict(list)
    for trigger in judges:
        if trigger.is_featureless:
            by_view[trigger.view].append(trigger)
    for view, triggers in by_view.items():
        try:
            with opened(view, triggers) as ask:
                # It is bound only, and not planned.
                columns = ask(f"SELECT column_name FROM (DESCRIBE {view})")["column_name"].to_pylist()  # noqa: S608
                rows = _one_each(ask(rows_sql(view, triggers, columns, f" WHERE {where}")))
        except (UsageError, LimitError) as error:
            yield Asked(view, _nothing(triggers), f"The view {view} failed: {str(error.args[0]).removesuffix('.')}.")
        else:
            yield Asked(view, rows)


def _one_each(rows: pa.Table) -> pa.Table:
    if pc.count_distinct(rows["log_id"]).as_py() != rows.num_rows:
        raise UsageError("it has several rows for one log")
    return rows


def _nothing(triggers: Sequence[Trigger]) -> pa.Table:
    metrics = dict.fromkeys(column for trigger in triggers for column in trigger.columns)
    names = dict.fromkeys(("cluster", "night", "log_id", "is_complete", *metrics))
    return pa.schema([(name, field(name).type) for name in names]).empty_table()
