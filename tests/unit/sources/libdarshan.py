"""Writes logs through the writing calls of libdarshan-util, the library in PyDarshan's wheel, which declares only the others.

Calls have an order: job, command line, mounts, names, then modules by ascending id.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import darshan.backend.cffi_backend
import numpy as np
from cffi import FFI

from iomine.sources.darshan.container import MODULES
from iomine.sources.darshan.writing import VERSIONS, Run

_DECLARED = """
struct darshan_job { int64_t words[7]; char metadata[1024]; };
struct darshan_mnt_info { char type[3015]; char path[3015]; };
void *darshan_log_create(const char *, int, int);
int darshan_log_put_job(void *, struct darshan_job *);
int darshan_log_put_exe(void *, char *);
int darshan_log_put_mounts(void *, struct darshan_mnt_info *, int);
int darshan_log_put_namehash(void *, void *);
int darshan_log_put_mod(void *, int, void *, int, int);
void darshan_log_close(void *);
"""
_ZLIB = 0
# A reference to a name: pointer to the name record, then uthash's handle, of which the writer follows `next` alone.
_REF_WORDS, _REF_NEXT, _WORD_BYTES = 8, 3, 8


def write_log(path: Path, run: Run, names: Mapping[int, str], modules: Mapping[str, bytes]) -> None:
    """Writes a log as `iomine.sources.darshan.writing.write_log` does."""
    ffi, library = _library()
    log = library.darshan_log_create(os.fsencode(path), _ZLIB, 0)
    assert log != ffi.NULL
    job = ffi.new("struct darshan_job *")
    start, end = divmod(run.start_ns, 10**9), divmod(run.end_ns, 10**9)
    job.words[0:7] = [run.uid, *start, *end, run.nprocs, run.job_id]
    job.metadata = "".join(f"{key}={entry}\n" for key, entry in run.metadata.items()).encode()
    mounts = ffi.new("struct darshan_mnt_info[]", len(run.mounts))
    for mount, (mount_path, fs_type) in zip(mounts, run.mounts, strict=True):
        mount.path, mount.type = mount_path.encode(), fs_type.encode()
    assert library.darshan_log_put_job(log, job) >= 0
    assert library.darshan_log_put_exe(log, ffi.new("char[]", run.exe.encode())) >= 0
    assert library.darshan_log_put_mounts(log, mounts, len(mounts)) >= 0
    records = [ffi.from_buffer(id_.to_bytes(8, "little", signed=True) + name.encode() + b"\0") for id_, name in names.items()]
    refs = np.zeros((len(records), _REF_WORDS), np.uint64)
    refs[:, 0] = [int(ffi.cast("uintptr_t", record)) for record in records]
    at = int(refs.ctypes.data)
    refs[:-1, _REF_NEXT] = at + np.arange(1, len(records)) * (_REF_WORDS * _WORD_BYTES)
    assert library.darshan_log_put_namehash(log, ffi.cast("void *", at)) >= 0
    for module in sorted(modules, key=MODULES.index):
        data = modules[module]
        assert library.darshan_log_put_mod(log, MODULES.index(module), ffi.from_buffer(data), len(data), VERSIONS[module]) >= 0
    library.darshan_log_close(log)


def _library() -> tuple[Any, Any]:
    folder = Path(darshan.backend.cffi_backend.__file__).parents[2] / "darshan.libs"
    ffi = FFI()
    ffi.cdef(_DECLARED)
    return ffi, ffi.dlopen(str(next(folder.glob("libdarshan-util*.so*"))))
