"""The lake: Parquet files in Delta tables, replaced partition by partition, all tables of a sweep or none."""

from iomine.lake.files import LakeFile, ParquetSink, Partition, linked, merge_files, replaced, row_groups, write_file
from iomine.lake.lake import Lake, LakeWriter
from iomine.lake.snapshot import Snapshot
from iomine.lake.warehouse import Warehouse, as_warehouse_errors, check_cluster, check_place

__all__ = [
    "Lake",
    "LakeFile",
    "LakeWriter",
    "ParquetSink",
    "Partition",
    "Snapshot",
    "Warehouse",
    "as_warehouse_errors",
    "check_cluster",
    "check_place",
    "linked",
    "merge_files",
    "replaced",
    "row_groups",
    "write_file",
]
