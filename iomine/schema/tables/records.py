"""Tables of module records: one record of Darshan is one row."""

from iomine.schema.apmpi import CALL_COUNTERS, CALL_TIMES
from iomine.schema.counters import LUSTRE_COMPONENT, columns_of, field_of
from iomine.schema.table import Table

_RECORD = ("log_id", "file_id", "rank")


def _counters(name: str, module: str, about: str, *extra: str) -> Table:
    return Table(name, about, (*_RECORD, *extra, *columns_of(module)), grain=_RECORD)


POSIX_FILE = _counters("posix_file", "POSIX", "POSIX calls of a rank, or of all ranks together, on a file.")
MPIIO_FILE = _counters("mpiio_file", "MPI-IO", "MPI-IO calls of a rank, or of all ranks together, on a file.")
STDIO_FILE = _counters("stdio_file", "STDIO", "stdio calls of a rank, or of all ranks together, on a stream.")
H5F_FILE = _counters("h5f_file", "H5F", "HDF5 file calls of a rank, or of all ranks together, on a file.")
H5D_DATASET = _counters(
    "h5d_dataset", "H5D", "HDF5 transfers of a rank, or of all ranks together, on a dataset.", "parent_file_id"
)
PNETCDF_FILE = _counters("pnetcdf_file", "PNETCDF_FILE", "PnetCDF file calls of a rank, or of all ranks together, on a file.")
PNETCDF_VARIABLE = _counters(
    "pnetcdf_variable", "PNETCDF_VAR", "PnetCDF transfers of a rank, or of all ranks together, on a variable.", "parent_file_id"
)
BGQ_PARTITION = _counters("bgq_partition", "BG/Q", "The Blue Gene/Q partition that a run had.")
DFS_FILE = _counters(
    "dfs_file", "DFS", "DAOS file system calls of a rank, or of all ranks together, on a file.", "pool", "container"
)
DAOS_OBJECT = _counters(
    "daos_object", "DAOS", "DAOS object calls of a rank, or of all ranks together.", "pool", "container", "oid_hi", "oid_lo"
)
MDHIM_STORE = _counters(
    "mdhim_store", "MDHIM", "Calls of a rank, or of all ranks together, on an MDHIM store.", "server_histogram"
)
LUSTRE_COMPONENT_TABLE = Table(
    "lustre_component",
    "One layout component of a file on Lustre; a record without any has one row with the component left empty.",
    (
        *_RECORD,
        "component",
        *(field_of(word).name for word in LUSTRE_COMPONENT),
        "pool_name",
        "ost_ids",
        "fs_ost_count",
        "fs_mdt_count",
    ),
    grain=("log_id", "file_id", "rank", "component"),
)
HEATMAP_RANK = Table(
    "heatmap_rank",
    "Bytes moved by a rank in time bins of equal width.",
    (
        *(*_RECORD, "layer", "bin_seconds", "bin_count"),
        *("read_bin_numbers", "read_bin_amounts", "write_bin_numbers", "write_bin_amounts"),
    ),
    grain=("log_id", "layer", "rank"),
)
DXT_FILE = Table(
    "dxt_file",
    "The trace of a rank on a file: how many requests it holds.",
    (*_RECORD, "layer", "host", "write_count", "read_count"),
    grain=("log_id", "layer", "file_id", "rank"),
)
SEGMENT = Table(
    "segment",
    "One traced read or write.",
    (
        *("log_id", "layer", "file_id", "rank", "host", "op", "offset_bytes", "length_bytes"),
        *("start_seconds", "end_seconds", "thread_id"),
    ),
)
APMPI_RUN = Table(
    "apmpi_run",
    "MPI time of a run, as its AutoPerf header keeps it.",
    (*_RECORD, "magic", "sync_flag", "comm_seconds_variance", "comm_sync_seconds_variance"),
    grain=("log_id",),
)
APMPI_RANK = Table(
    "apmpi_rank", "MPI time of a rank.", (*_RECORD, "host", "comm_seconds", "comm_sync_seconds"), grain=("log_id", "rank")
)
APMPI_CALL = Table(
    "apmpi_call",
    "MPI calls of one kind by a rank; calls whose counters are all zero have no row.",
    (*_RECORD, "mpi_call", *CALL_COUNTERS, *CALL_TIMES, "sync_seconds"),
    grain=("log_id", "rank", "mpi_call"),
)
APXC_RUN = Table(
    "apxc_run",
    "The part of an Aries network that a run touched.",
    (*_RECORD, "magic", "blade_count", "chassis_count", "group_count", "memory_mode", "cluster_mode", "application_id"),
    grain=("log_id",),
)
APXC_ROUTER = Table(
    "apxc_router",
    "Counters of an Aries router that a run used.",
    (*_RECORD, "group_index", "chassis_index", "blade_index", "node_index", "router_counts"),
    grain=("log_id", "group_index", "chassis_index", "blade_index", "node_index"),
)
