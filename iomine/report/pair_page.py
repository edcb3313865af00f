"""Two runs beside each other as a page: pictures first, then findings and numbers."""

from iomine.report.page import rendered
from iomine.report.pair import CHANGE_WORDS, PART_WORDS, Pair, core_seconds
from iomine.report.pair_pictures import most_bytes, parts_picture, ranks_picture, time_picture


def pair_page(pair: Pair, *, standalone: bool = False, run_count: int = 0) -> str:
    """The page of two runs.

    Args:
        pair: the runs.
        standalone: whether the page is to need no other file.
        run_count: of how many runs of a lineage the first is the usual one, 0 where it was chosen otherwise.
    """
    return rendered(
        "compare.html.j2",
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
