"""Changes of the lake between sweeps: committed beside what the last sweep committed, and published with it."""

import json
import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from iomine.lake import LakeFile, LakeWriter, Partition, Warehouse, as_warehouse_errors, write_file
from iomine.schema.registry import arrow_schema


@contextmanager
def to_be_written(warehouse: Warehouse) -> Iterator[tuple[LakeWriter, Path]]:
    """Locks the warehouse and removes what a dead sweep left; yields its lake and the folder to write to.

    Raises:
        BusyError: a sweep is writing to it.
        WarehouseError: its files cannot be read or written.
    """
    with as_warehouse_errors(warehouse.root), warehouse.locked():
        warehouse.clear_staging()
        try:
            staging = warehouse.staging / uuid.uuid4().hex
            staging.mkdir(parents=True)
            yield LakeWriter(warehouse.lake, staging), staging
        finally:
            warehouse.clear_staging()


def commit(lake: LakeWriter, staging: Path, files: Sequence[LakeFile], dropped: Collection[tuple[str, Partition]] = ()) -> None:
    """Commits files, and then that they belong to what the last sweep committed.

    Args:
        lake: with a committed sweep.
        staging: the folder to write to.
        files: the new ones, which take the places of those of the same table and partition.
        dropped: tables and partitions whose rows go and get no others.
    """
    change_id = uuid.uuid4().hex
    # Cluster by cluster, since one may have lost the logs of nights that another has.
    changed = {(file.table, file.cluster or "") for file in files} | {(table, cluster) for table, (cluster, _) in dropped}
    for table, cluster in sorted(changed):
        of_both = [file for file in files if (file.table, file.cluster or "") == (table, cluster)]
        gone = [partition for name, partition in dropped if (name, partition[0]) == (table, cluster)]
        lake.commit(table, of_both, change_id, gone)
    sweeps = lake.snapshot.rows("sweep").to_pylist()
    versions = {table: version for table, version in lake.snapshot.versions.items() if table != "sweep"}
    sweeps[-1]["table_versions"] = json.dumps(versions, sort_keys=True)
    rows = pa.Table.from_pylist(sweeps, schema=arrow_schema("sweep"))
    lake.commit("sweep", [write_file(staging, "sweep", rows)], change_id)
