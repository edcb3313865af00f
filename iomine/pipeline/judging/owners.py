"""Logs whose owner is in doubt: found together with the sums of their nights, which leave such logs out."""

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from iomine.lake import LakeFile, Partition
from iomine.pipeline.judging.rollups import rows_of
from iomine.pipeline.judging.spans import spans, written

OWNER_DOUBT: Final = "owner_doubt"
# They are held in memory by the process that sweeps.
_AT_ONCE: Final = 25_000


def owner_files(
    staging: Path, there: Sequence[LakeFile], nights: Collection[Partition], collectors: Sequence[int]
) -> list[LakeFile]:
    """Rows of the table `owner_doubt`.

    Args:
        staging: the folder to write to.
        there: the files of all tables as they will be.
        nights: clusters and nights to look at.
        collectors: uids that own files of other users' logs.

    Returns:
        Files of nights with such logs, and of nights that no longer have any.
    """
    before = {file.partition for file in there if file.table == OWNER_DOUBT}
    rows = partial(rows_of, view=OWNER_DOUBT, there=there, variables={"collector_uids": list(collectors)})
    found = spans((file for file in there if file.partition in nights), _AT_ONCE)
    files = written(staging, OWNER_DOUBT, found, rows, "log_id")
    return [file for file in files if file.row_count or file.partition in before]
