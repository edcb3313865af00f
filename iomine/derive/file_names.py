"""What files are called, and on which mount they lie."""

import numpy as np

from iomine.derive.trace import Integers, Tables


def mounts_of(tables: Tables, file_ids: Integers) -> tuple[list[str | None], Integers]:
    """Mounts, None where one is not known, and the number of that of each file."""
    numbers: dict[str | None, int] = {}
    of_files = [numbers.setdefault(mount, len(numbers)) for mount in _said(tables, file_ids, "mount")]
    return list(numbers), np.array(of_files, np.int64)


def paths_of(tables: Tables, file_ids: Integers) -> list[str | None]:
    """The path of each file, None where it is not known."""
    return _said(tables, file_ids, "path")


def _said(tables: Tables, file_ids: Integers, column: str) -> list[str | None]:
    wanted = set(file_ids.tolist())
    said = {
        file_id: text
        for part in tables.get("file_name", ())
        for file_id, text in zip(part["file_id"], part[column], strict=True)
        if file_id in wanted
    }
    return [said.get(file_id) for file_id in file_ids.tolist()]
