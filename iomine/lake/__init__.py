"""The lake: Parquet files in Delta tables, replaced partition by partition, all tables of a sweep or none."""

from iomine.lake.files import LakeFile, ParquetSink, Partition, merge_files, rows_of, write_file
from iomine.lake.lake import Lake, Pins
from iomine.lake.warehouse import Warehouse, check_cluster, check_place, faults_told

__all__ = [
    "Lake",
    "LakeFile",
    "ParquetSink",
    "Partition",
    "Pins",
    "Warehouse",
    "check_cluster",
    "check_place",
    "faults_told",
    "merge_files",
    "rows_of",
    "write_file",
]
