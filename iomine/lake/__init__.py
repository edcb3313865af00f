"""The lake: Parquet files in Delta tables, replaced partition by partition, all tables of a sweep or none."""

from iomine.lake.files import LakeFile, ParquetSink, Partition, merge_files, replaced, row_groups, write_file
from iomine.lake.lake import Lake, LakeWriter
from iomine.lake.snapshot import Snapshot
from iomine.lake.warehouse import Warehouse, check_cluster, check_place, faults_told

__all__ = [
    "Lake",
    "LakeFile",
    "LakeWriter",
    "ParquetSink",
    "Partition",
    "Snapshot",
    "Warehouse",
    "check_cluster",
    "check_place",
    "faults_told",
    "merge_files",
    "replaced",
    "row_groups",
    "write_file",
]
