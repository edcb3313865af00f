"""Environment of processes that work: how much memory their allocators keep."""

from typing import Final

from iomine.units import GIB

_KEPT_BYTES: Final = str(GIB)
_KEPT_MS: Final = 10_000

# Memory that was needed once is kept for what comes next. Asking the system for it again takes a tenth of the time for small
# logs, half of it for long traces, and a twentieth of judging and reports.
KEPT_MEMORY: Final = {
    "MALLOC_MMAP_THRESHOLD_": _KEPT_BYTES,
    "MALLOC_TRIM_THRESHOLD_": _KEPT_BYTES,
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    # DuckDB has jemalloc of its own, which gives memory back that is free for a second.
    "DUCKDB_JE_MALLOC_CONF": f"dirty_decay_ms:{_KEPT_MS}",
}
