"""What findings are about, as conditions on traced requests.

A trigger's `traced` says which; a finding about counts alone has none. A finding names the worst of the ranks, OSTs or files
that it counts, and the highlight has all of them.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from iomine.report.facts import Facts, Place, which
from iomine.report.trace import Highlight
from iomine.triggers import Requests, find_trigger
from iomine.units import visible
from iomine.views.answers import Ask, Row, rows_of
from iomine.views.questions import question

_MOST_TEXT: Final = 300
# What a finding counts, by the metric that names one of it: numbers, or paths.
Counted = Mapping[str, Sequence[int | str]]


def counted_by_findings(ask: Ask, facts: Sequence[Facts]) -> dict[str, Counted]:
    """The ranks, OSTs and files that the findings of logs count, by log.

    Args:
        ask: answers queries over the published views.
        facts: of logs of one cluster.
    """
    if not any(_traced(finding["code"]) for each in facts for finding in each.findings):
        return {}
    places = [Place(each.log["cluster"], each.log["night"], each.log["log_id"]) for each in facts]
    found: dict[str, dict[str, Sequence[int | str]]] = defaultdict(dict)
    for row in rows_of(ask(question("trace/evidence"), which(places))):
        found[row["log_id"]][row["metric"]] = row["numbers"] or row["paths"] or ()
    return dict(found)


def highlights_of(facts: Facts, counted: Counted) -> list[Highlight]:
    """What can be highlighted in the trace for each finding that names requests, files, ranks or OSTs.

    Args:
        facts: of a log.
        counted: what its findings count, where they name one of several.
    """
    found = (_highlight(finding, counted) for finding in facts.findings)
    return [highlight for highlight in found if highlight]


def _traced(code: str) -> Requests | None:
    return trigger.traced if (trigger := find_trigger(code)) else None


def _highlight(finding: Row, counted: Counted) -> Highlight | None:
    code, metrics = finding["code"], finding["metrics"]
    about = _traced(code)
    if about is None or any(metrics.get(name) is None for name in about.named):
        return None

    def every(name: str | int | None) -> list[Any] | None:
        if not isinstance(name, str):
            return None if name is None else [name]
        # The one that is named is there whatever the views say by now.
        return list(dict.fromkeys([metrics[name], *counted.get(name, ())]))

    return Highlight(
        code=code,
        text=visible(finding["finding"] or "")[:_MOST_TEXT],
        layers=[about.layer] if about.layer else None,
        ops=[about.op] if about.op else None,
        paths=every(about.path),
        ranks=every(about.rank),
        ost_ids=every(about.ost),
        length_bytes_below=metrics[about.below] if about.below else None,
    )
