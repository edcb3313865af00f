"""Features of older nights, worked out again from the records where other statements or settings gave those that are kept.

What servers and links did is kept as it is: readings that it was worked out from may have left.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from iomine.lake import LakeFile, Partition, replaced
from iomine.pipeline import progress
from iomine.pipeline.judging.definitions import notes_of
from iomine.pipeline.judging.judge import feature_notes, judging_views, night_files, work_out
from iomine.pipeline.judging.spans import JUDGED_AT_ONCE, Span, in_halves, spans
from iomine.schema import TABLES
from iomine.triggers.judge import features
from iomine.triggers.model import Trigger


def stale_features(there: Sequence[LakeFile], judges: Sequence[Trigger]) -> dict[Partition, set[str]]:
    """Tables of features, by night, that lack logs or were worked out by other statements or settings than today's.

    Args:
        there: the files of all tables.
        judges: the triggers, those of the site among them.
    """
    notes, asked = feature_notes(judges), features(judges)
    logs: Counter[Partition] = Counter()
    kept: dict[tuple[str, Partition], list[LakeFile]] = defaultdict(list)
    for file in there:
        if file.partition and file.table == "log":
            logs[file.partition] += file.row_count
        elif file.partition and file.table in notes:
            kept[file.table, file.partition].append(file)
    stale: dict[Partition, set[str]] = defaultdict(set)
    for night, count in logs.items():
        for table, note in notes.items():
            files = kept[table, night]
            lacks_logs = "is_complete" in TABLES[table].columns and sum(file.row_count for file in files) != count
            # A site may let go of what no trigger asks.
            if lacks_logs or (not files and table in asked) or any(notes_of(file.path) != note for file in files):
                stale[night].add(table)
    return dict(stale)


def fresh_files(there: Sequence[LakeFile], staging: Path, judges: Sequence[Trigger]) -> list[LakeFile]:
    """The features of `stale_features`, worked out again as a sweep does.

    Args:
        there: the files of all tables.
        staging: the folder to write to.
        judges: the triggers, those of the site among them.

    Raises:
        WarehouseError: files cannot be read or written.
    """
    stale = stale_features(there, judges)
    of_nights = [file for file in there if file.partition in stale]
    made = night_files(staging, of_nights, judges) if stale else []
    of_nights = replaced(of_nights, made)
    found = spans(of_nights, JUDGED_AT_ONCE)
    done = 0

    def worked_out(span: Span) -> list[LakeFile]:
        tables = set().union(*(stale[night] for night in span.partitions))
        files = [file for file in of_nights if file.partition in span.partitions and file.table not in tables]
        with judging_views(files, judges) as views:
            return work_out(staging, span, views, judges, tables)

    for span in found:
        made += in_halves(span, worked_out)
        done += span.logs
        progress.report("features", done, sum(each.logs for each in found))
    return made
