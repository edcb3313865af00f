"""What PyDarshan's low-level interface says of a log, in the shapes in which iomine's tables are compared.

Each call opens the log anew, so that no module's reading can depend on another's.
"""

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
from darshan.backend import cffi_backend as backend
from darshan.backend.apmpi import log_get_apmpi_record
from darshan.backend.apxc import log_get_apxc_record
from heat_bins import heat_bins

Record = dict[str, Any]

OPS = ("write", "read")
_PART_OF = ("H5D", "PNETCDF_VAR")


@contextmanager
def _opened(path: str) -> Iterator[Record]:
    log = backend.log_open(path)
    try:
        yield log
    finally:
        backend.log_close(log)


def _records(path: str, read: Callable[[Record], Record | None]) -> list[Record]:
    with _opened(path) as log:
        return list(iter(lambda: read(log), None))


def _signed(ids: list[int]) -> list[int]:
    return np.array(ids, np.uint64).view(np.int64).tolist()


def header(path: str) -> Record:
    """Job, command line, mounts, names and modules."""
    with _opened(path) as log:
        job = backend.log_get_job(log)
        names = backend.log_get_name_records(log)
        return job | {
            "exe": backend.log_get_exe(log),
            "mounts": set(backend.log_get_mounts(log)),
            "names": dict(zip(_signed(list(names)), names.values(), strict=True)),
            "modules": {
                name: (module["ver"], module["len"], module["partial_flag"])
                for name, module in backend.log_get_modules(log).items()
            },
        }


def counters(path: str, module: str) -> Record:
    """Records of a module with a fixed row of counters; floats as their bits, so that NaN equals NaN."""
    records = _records(path, lambda log: backend.log_get_record(log, module, dtype="numpy"))
    return {
        "file_id": _signed([record["id"] for record in records]),
        "rank": [record["rank"] for record in records],
        "counters": np.stack([record["counters"] for record in records]),
        "floats": np.stack([record["fcounters"] for record in records]).view(np.int64),
    } | ({"parent_file_id": _signed([record["file_rec_id"] for record in records])} if module in _PART_OF else {})


def lustre(path: str) -> list[Record]:
    """A row for each component."""
    records = _records(path, lambda log: backend.log_get_record(log, "LUSTRE", dtype="numpy"))
    return [
        {
            "file_id": _signed([record["id"]])[0],
            "rank": record["rank"],
            "component": index,
            "counters": component["counters"].tolist(),
            "pool_name": component["pool_name"] or None,
            "ost_ids": component["ost_ids"].tolist(),
        }
        for record in records
        for index, component in enumerate(record["components"])
    ]


def heatmap(path: str) -> list[Record]:
    """A row for each record."""
    return [
        {
            "file_id": _signed([record["id"]])[0],
            "rank": record["rank"],
            "bin_seconds": record["bin_width_seconds"],
            "bin_count": record["nbins"],
            **heat_bins(**{op: record[f"{op}_bins"].tolist() for op in OPS}),
        }
        for record in _records(path, lambda log: backend.log_get_record(log, "HEATMAP"))
    ]


def dxt(path: str, module: str) -> tuple[pa.Table, pa.Table]:
    """Trace records, and their segments: the writes of a record, then its reads. As columns: segments are millions."""
    records = _records(path, lambda log: backend.log_get_record(log, module))
    ids = _signed([record["id"] for record in records])
    files = {"file_id": ids} | {
        column: [record[name] for record in records]
        for column, name in (("rank", "rank"), ("host", "hostname"), ("write_count", "write_count"), ("read_count", "read_count"))
    }
    parts = [(index, op, segment) for index, record in enumerate(records) for op in OPS for segment in record[f"{op}_segments"]]
    of_record = pa.array([index for index, _, _ in parts], pa.int64())
    segments = {column: pa.array(files[column]).take(of_record) for column in ("file_id", "rank", "host")}
    segments["op"] = pa.array([op for _, op, _ in parts], pa.string())
    for column, name in (("offset_bytes", "offset"), ("length_bytes", "length")):
        segments[column] = pa.array([segment[name] for _, _, segment in parts], pa.int64())
    for column, name in (("start_seconds", "start_time"), ("end_seconds", "end_time")):
        segments[column] = pa.array([segment[name] for _, _, segment in parts], pa.float64())
    return pa.table(files), pa.table(segments)


def fresh(function: str, path: str) -> Any:
    """The answer of one of these functions in a process of its own.

    The library keeps in a static variable whether the header of an AutoPerf module is still to come.
    """
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(globals()[function], (path,))


def apmpi(path: str) -> tuple[Record, pa.Table]:
    """The header, and a row for each rank, with a column for each counter."""
    with _opened(path) as log:
        head = log_get_apmpi_record(log, "APMPI", "HEADER")
        ranks = list(iter(lambda: log_get_apmpi_record(log, "APMPI", "PERF"), None))
    names = dict.fromkeys(name for rank in ranks for name in rank["all_counters"])
    whose = {name: [rank[name] for rank in ranks] for name in ("rank", "node_name")}
    return head, pa.table(whose | {name: np.array([rank["all_counters"][name] for rank in ranks]) for name in names})


def apxc(path: str) -> tuple[Record, list[Record]]:
    """The header, and each router with its counters in order."""
    with _opened(path) as log:
        head = log_get_apxc_record(log, "APXC", "HEADER")
        return head, list(iter(lambda: log_get_apxc_record(log, "APXC", "PERF"), None))


def daos_ids(path: str, module: str) -> list[tuple[str, ...]]:
    """Pool and container of each record in hex, and for objects the halves of their id."""
    ids = []
    with _opened(path) as log:
        number = backend.log_get_modules(log)[module]["idx"]
        while backend.libdutil.darshan_log_get_record(log["handle"], number, buffer := backend.ffi.new("void **")) > 0:
            record = backend.ffi.cast(backend._structdefs[module], buffer)[0]
            uuids = tuple(bytes(uuid).hex() for uuid in (record.pool_uuid, record.cont_uuid))
            halves = tuple(_signed([record.oid_hi, record.oid_lo])) if module == "DAOS" else ()
            ids.append(uuids + halves)
            backend.libdutil.darshan_free(buffer[0])
    return ids


def counter_names(module: str) -> tuple[list[str], list[str]]:
    """Libdarshan's own names of a module's counters: integers, floats."""
    return backend.counter_names(module), backend.fcounter_names(module)


def lustre_names() -> list[str]:
    """Libdarshan's own names of a Lustre component's counters."""
    return backend.counter_names("LUSTRE_COMP")


def apmpi_names() -> tuple[list[str], list[str], list[str]]:
    """Libdarshan's own names of what it counts of MPI calls: counters, times, times spent waiting."""
    return (
        backend.counter_names("APMPI"),
        backend.counter_names("APMPI", True, "mpiop_totaltime_"),
        backend.counter_names("APMPI", True, "mpiop_synctime_"),
    )


def struct_bytes(struct: str) -> int:
    """Size of a struct of libdarshan, in bytes."""
    return backend.ffi.sizeof(f"struct {struct}")
