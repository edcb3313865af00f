"""Notes of pending work for nights and logs, kept beside the lake so that it is done even if the process is killed."""

import json
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from iomine.lake import Warehouse, as_warehouse_errors
from iomine.whole import written_whole

# Where a log lies: its cluster, its night and its id.
LogPlace = tuple[str, date, str]
Noted = TypeVar("Noted", bound=tuple[Any, ...])


class Note(Generic[Noted]):
    """Nights of clusters or logs of nights, in a file of the warehouse that is replaced as a whole.

    Args:
        warehouse: whose they are.
        path: of the file, relative to the warehouse's root; its folder is made when something is noted.
    """

    def __init__(self, warehouse: Warehouse, path: str) -> None:
        self._root = warehouse.root
        self._file = warehouse.root / Path(path)

    def add(self, new: Iterable[Noted]) -> None:
        """Notes something besides what was noted before.

        Raises:
            WarehouseError: the file cannot be written.
        """
        if noted := sorted({*self.noted(), *new}):
            self._write(noted)

    def noted(self) -> list[Noted]:
        """What is noted, in order of clusters, nights and ids.

        Raises:
            WarehouseError: the file cannot be read.
        """
        if not self._file.exists():
            return []
        with as_warehouse_errors(self._root):
            rows = json.loads(self._file.read_text(encoding="utf-8"))
        return [cast("Noted", (cluster, date.fromisoformat(night), *log_id)) for cluster, night, *log_id in rows]

    def strike(self, done: Iterable[Noted]) -> None:
        """Removes entries for which everything is done from the note; entries that were noted meanwhile stay.

        Raises:
            WarehouseError: the file cannot be written or removed.
        """
        if left := sorted(set(self.noted()).difference(done)):
            self._write(left)
            return
        with as_warehouse_errors(self._root):
            self._file.unlink(missing_ok=True)

    def _write(self, noted: Iterable[Noted]) -> None:
        with as_warehouse_errors(self._root):
            self._file.parent.mkdir(exist_ok=True)
            rows: list[list[str]] = [[cluster, night.isoformat(), *log_id] for cluster, night, *log_id in noted]
            with written_whole(self._file) as beside:
                beside.write_text(json.dumps(rows), encoding="utf-8")
