"""Two runs beside each other as a page: pictures first, then findings and numbers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from iomine.report import explorer
from iomine.report.page import rendered
from iomine.report.pair import CHANGE_WORDS, PART_WORDS, Pair, core_seconds
from iomine.report.pair_pictures import most_bytes, parts_picture, ranks_picture, time_picture
from iomine.report.trace import Trace

# Names of the traces, also in the page's address.
_NAMES: Final = ("first", "second")


def on_one_scale(*traces: Trace | None) -> dict[str, Trace]:
    """The traces of both runs by the names that the page has for them, on one axis of time; none where one run has none."""
    known = [trace for trace in traces if trace]
    if len(known) < len(traces):
        return {}
    shown = max(trace.about["run_seconds"] for trace in known)
    return {name: replace(trace, about=trace.about | {"shown_seconds": shown}) for name, trace in zip(_NAMES, known, strict=True)}


def pair_page(
    pair: Pair, traces: Mapping[str, Trace] | None = None, stem: str = "", *, standalone: bool = False, run_count: int = 0
) -> str:
    """The page of two runs.

    Args:
        pair: the runs.
        traces: those of both, from `on_one_scale`; their data lie beside the page, unless this stands alone.
        stem: what the page's file is called, without its ending.
        standalone: whether the page is to need no other file.
        run_count: of how many runs of a lineage the first is the usual one, 0 where it was chosen otherwise.
    """
    traces = traces or {}
    return rendered(
        "compare.html.j2",
        *(["explorer"] if traces else []),
        traces=traces,
        blocks=explorer.embedded(traces) if standalone else "",
        data_name=explorer.data_name(stem),
        highlighted={each["code"] for trace in traces.values() for each in trace.about["highlights"]},
        standalone=standalone,
        pair=pair,
        run_count=run_count,
        sides=(("First", pair.first), ("Second", pair.second)),
        sentences=pair.explained(),
        measures=pair.measures(),
        changes=pair.changes(),
        difference=pair.difference(),
        longest=max(side.log["run_seconds"] or 0.0 for side in (pair.first, pair.second)),
        most=most_bytes(pair),
        part_words=PART_WORDS,
        change_words=CHANGE_WORDS,
        has_ranks=any(len(side.ranks) > 1 for side in (pair.first, pair.second)),
        core_seconds=core_seconds,
        parts_picture=parts_picture,
        time_picture=time_picture,
        ranks_picture=ranks_picture,
    )
