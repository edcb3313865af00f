"""Nights that something is still to be done for, noted beside the lake so that it is done even after the process was killed."""

import json
from collections.abc import Iterable
from datetime import date
from pathlib import Path

from iomine.lake import Partition, Warehouse, as_warehouse_errors


class Note:
    """Nights of clusters, in a file of the warehouse that is replaced as a whole.

    Args:
        warehouse: whose nights they are.
        path: of the file, relative to the warehouse's root; its folder is made when something is noted.
    """

    def __init__(self, warehouse: Warehouse, path: str) -> None:
        self._root = warehouse.root
        self._file = warehouse.root / Path(path)

    def add(self, nights: Iterable[Partition]) -> None:
        """Notes nights besides those noted before.

        Raises:
            WarehouseError: the file cannot be written.
        """
        if noted := sorted({*self.nights(), *nights}):
            self._write(noted)

    def nights(self) -> list[Partition]:
        """What is noted, in order of clusters and nights.

        Raises:
            WarehouseError: the file cannot be read.
        """
        if not self._file.exists():
            return []
        with as_warehouse_errors(self._root):
            return [(cluster, date.fromisoformat(night)) for cluster, night in json.loads(self._file.read_text(encoding="utf-8"))]

    def strike(self, done: Iterable[Partition]) -> None:
        """Removes nights from the note once what was to be done for them is done; what was noted meanwhile stays.

        Raises:
            WarehouseError: the file cannot be written or removed.
        """
        if left := sorted(set(self.nights()).difference(done)):
            self._write(left)
            return
        with as_warehouse_errors(self._root):
            self._file.unlink(missing_ok=True)

    def _write(self, nights: Iterable[Partition]) -> None:
        with as_warehouse_errors(self._root):
            self._file.parent.mkdir(exist_ok=True)
            beside = self._file.with_name(f".{self._file.name}")
            beside.write_text(json.dumps([(cluster, night.isoformat()) for cluster, night in nights]), encoding="utf-8")
            beside.replace(self._file)
