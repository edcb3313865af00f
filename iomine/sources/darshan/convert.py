"""Records of older module versions, brought to the current layout by libdarshan-util.

The library knows every version and byte order, but trusts what it reads. So it is handed a file made here, in memory:
the log's own header with its map rewritten to one module, whose bytes were inflated and bounded before.
"""

import os
import zlib
from functools import cache
from typing import TYPE_CHECKING, Any

from iomine.errors import UnreadableError
from iomine.sources.darshan.container import MODULES, Container, Region
from iomine.sources.darshan.counters import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_LIBRARY = "It holds records of an older version, and libdarshan-util, which reads them, does not load: see `iomine doctor`."
_ZLIB = 0
# Of what is left of a record of version 1, the library would make records without end.
_BGQ_BYTES = 120


@cache
def _library() -> tuple[Any, Any]:
    try:
        # Imported late: it takes half a second, and most nights hold no log that needs it.
        from darshan.backend.cffi_backend import ffi, libdutil  # noqa: PLC0415
    except Exception as error:
        # PyDarshan raises a RuntimeError where it was installed without the library; a library may fail in any way.
        raise UnreadableError(NO_LIBRARY, is_final=False) from error
    return ffi, libdutil


def convert(container: Container, region: Region, data: bytes) -> bytes:
    """The records of a module in its current layout and in this machine's byte order.

    Args:
        container: the log.
        region: the module, with a version older than the current one.
        data: its region, inflated.

    Returns:
        Records end to end; fewer than the region holds if the library stops early, which it says on stderr.

    Raises:
        UnreadableError: the library does not load on this machine.
    """
    if region.module == "BG/Q":
        data = data[: len(data) // _BGQ_BYTES * _BGQ_BYTES]
    descriptor = os.memfd_create("darshan")
    try:
        os.write(descriptor, _single_module_log(container, region, data))
        return b"".join(_records(f"/proc/self/fd/{descriptor}", region.module))
    finally:
        os.close(descriptor)


def _single_module_log(container: Container, region: Region, data: bytes) -> bytes:
    header = container.era.header(container.order)
    start = 16 + header.size
    # Stored, not compressed: the library crashes on logs that say they are not compressed at all.
    stored = zlib.compress(data, level=0)
    maps = [0] * (2 * container.era.slots)
    maps[2 * region.id : 2 * region.id + 2] = start, len(stored)
    versions = [0] * container.era.slots
    versions[region.id] = region.version
    return container.data[:16] + header.pack(_ZLIB, 0, start, 0, *maps, *versions) + stored


def _records(path: str, module: str) -> "Iterator[bytes]":
    ffi, library = _library()
    size = ffi.sizeof(f"struct {LAYOUTS[module].struct}")
    handle = library.darshan_log_open(path.encode())
    if handle == ffi.NULL:
        return
    try:
        record = ffi.new("void **")
        while library.darshan_log_get_record(handle, MODULES.index(module), record) > 0:
            yield bytes(ffi.buffer(record[0], size))
            library.darshan_free(record[0])
            record[0] = ffi.NULL
    finally:
        library.darshan_log_close(handle)
