"""What findings are about, as conditions on traced requests.

A trigger's `traced` says which; a finding about counts alone has none.
"""

from typing import Final

from iomine.report.facts import Facts
from iomine.report.trace import Highlight
from iomine.triggers import TRIGGERS
from iomine.units import visible
from iomine.views.answers import Row

_MOST_TEXT: Final = 300


def highlights_of(facts: Facts) -> list[Highlight]:
    """What can be highlighted in the trace for each finding that names requests, files, ranks or OSTs."""
    found = (_highlight(finding) for finding in facts.findings)
    return [highlight for highlight in found if highlight]


def _highlight(finding: Row) -> Highlight | None:
    code, metrics = finding["code"], finding["metrics"]
    about = TRIGGERS[code].traced if code in TRIGGERS else None
    if about is None or any(metrics.get(name) is None for name in about.named):
        return None
    return Highlight(
        code=code,
        text=visible(finding["finding"] or "")[:_MOST_TEXT],
        layers=[about.layer] if about.layer else None,
        ops=[about.op] if about.op else None,
        paths=[metrics[about.path]] if about.path else None,
        ranks=None if about.rank is None else [metrics.get(about.rank, about.rank)],
        ost_ids=[metrics[about.ost]] if about.ost else None,
        length_bytes_below=metrics[about.below] if about.below else None,
    )
