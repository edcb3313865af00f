"""Triggers that cannot fire: the statistics in the files of features say that no log comes beyond their thresholds."""

from collections import defaultdict
from collections.abc import Iterable

import pyarrow.parquet as pq

from iomine.lake import LakeFile
from iomine.triggers.model import Below, Threshold, Trigger

# Names of the columns of a row group, and its metadata in the file.
_Group = tuple[list[str], pq.RowGroupMetaData]


def silent(judges: Iterable[Trigger], features: Iterable[LakeFile]) -> set[str]:
    """Codes of triggers that none of the logs can fire.

    Args:
        judges: the triggers.
        features: files of all features of the logs; a trigger whose view has none may fire.
    """
    groups: dict[str, list[_Group]] = defaultdict(list)
    for file in features:
        groups[file.table] += _groups(file)
    return {
        each.code
        for each in judges
        if each.view in groups and not any(all(_may_hold(held, group) for held in each.all_of) for group in groups[each.view])
    }


def _groups(file: LakeFile) -> list[_Group]:
    found = pq.read_metadata(file.path)
    return [(found.schema.names, found.row_group(number)) for number in range(found.num_row_groups)]


def _may_hold(threshold: Threshold, group: _Group) -> bool:
    names, columns = group
    statistics = columns.column(names.index(threshold.metric)).statistics
    if statistics is None or not statistics.has_min_max:
        # Where all is NULL, nothing is beyond a threshold.
        return statistics is None or statistics.num_values > 0
    return bool(statistics.min < threshold.value if isinstance(threshold, Below) else statistics.max > threshold.value)
