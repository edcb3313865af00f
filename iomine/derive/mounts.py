"""On which mount files lie."""

import numpy as np

from iomine.derive.trace import Integers, Tables


def mounts_of(tables: Tables, file_ids: Integers) -> tuple[list[str | None], Integers]:
    """Mounts, None where one is not known, and the number of that of each file."""
    wanted = set(file_ids.tolist())
    mount_of = {
        file_id: mount
        for part in tables.get("file_name", ())
        for file_id, mount in zip(part["file_id"], part["mount"], strict=True)
        if file_id in wanted
    }
    numbers: dict[str | None, int] = {}
    of_files = [numbers.setdefault(mount_of.get(file_id), len(numbers)) for file_id in file_ids.tolist()]
    return list(numbers), np.array(of_files, np.int64)
