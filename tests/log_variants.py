"""Variants of real logs: a module, a traced layer or a direction dropped, or the trace cut short.

What a site's Darshan was configured to leave out, and what a full record budget cut, comes as such tables. `python
tests/log_variants.py` puts all variants of all workloads through every derivation and counts those that raise.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from shared import log_of, workloads

from iomine.derive.trace import Tables
from iomine.errors import UnreadableError
from iomine.pipeline.ingest.rows import tables_of
from iomine.schema.ops import OPS
from iomine.sources.darshan import Log, read_log

_CUTS = (0.1, 0.5, 0.9)
# Modules, as the tables of which each is the source.
_MODULES = (
    ("posix_file",),
    ("mpiio_file",),
    ("stdio_file",),
    ("heatmap_rank",),
    ("segment", "dxt_file"),
    ("posix_file", "mpiio_file", "stdio_file"),
)
_LAYERS = ("posix", "mpiio")


def variants(tables: Tables) -> Iterator[tuple[str, Tables]]:
    """Each variant of a log that differs from it, with what was done to it."""
    yield "whole", tables
    for module in _MODULES:
        if any(tables.get(table) for table in module):
            yield f"without {' and '.join(module)}", {name: parts for name, parts in tables.items() if name not in module}
    for layer in _LAYERS:
        if any(_layer(part) == layer for part in tables.get("segment", ())):
            kept = [part for part in tables["segment"] if _layer(part) != layer]
            yield f"{layer} not traced", {**tables, "segment": kept}
            yield f"{layer} traced alone, no heat map", {**_without(tables, "heatmap_rank"), "segment": _of(tables, layer)}
            records = _without(tables, f"{layer}_file")
            yield f"neither trace nor counters of {layer}", {**records, "segment": kept}
    for op in OPS:
        if tables.get("segment"):
            yield f"{op}s not traced", {**tables, "segment": [_cut(part, _is_not(part, op)) for part in tables["segment"]]}
        if tables.get("heatmap_rank"):
            bins = [_no_bins(part, op) for part in tables["heatmap_rank"]]
            yield f"{op}s in no heat map", {**tables, "heatmap_rank": bins}
            yield (
                f"{op}s in heat maps alone",
                {
                    **tables,
                    "segment": [_cut(part, _is_not(part, op)) for part in tables.get("segment", ())],
                    "posix_file": [],
                },
            )
    for share in _CUTS:
        if tables.get("segment"):
            yield f"{share:.0%} of the trace", {**tables, "segment": [_shortened(part, share) for part in tables["segment"]]}


def all_variants() -> Iterator[tuple[str, str, Log]]:
    """Every variant of every workload that can be read: its id, what was done, and the log."""
    for workload in workloads():
        try:
            log = read_log(log_of(workload))
        except UnreadableError:
            continue
        for name, tables in variants(log.tables):
            yield workload["id"], name, replace(log, tables=dict(tables))


def _without(tables: Tables, table: str) -> Tables:
    return {name: parts for name, parts in tables.items() if name != table}


def _layer(part: Mapping[str, Any]) -> str:
    return str(part["layer"].values[0].as_py()) if len(part["layer"]) else ""


def _of(tables: Tables, layer: str) -> list[Mapping[str, Any]]:
    return [part for part in tables["segment"] if _layer(part) == layer]


def _is_not(part: Mapping[str, Any], op: str) -> pa.Array:
    return pa.array([name != op for name in part["op"].to_pylist()])


def _shortened(part: Mapping[str, Any], share: float) -> Mapping[str, Any]:
    """The first requests of the part."""
    total = len(part["layer"])
    return _cut(part, pa.array(np.arange(total) < total * share))


def _cut(part: Mapping[str, Any], wanted: pa.Array) -> Mapping[str, Any]:
    """The requests that are wanted, in the runs that are left of theirs."""
    runs = {name: column for name, column in part.items() if isinstance(column, pa.RunEndEncodedArray)}
    run_ends = part["op"].run_ends
    wanted_upto = np.append(0, np.cumsum(wanted.to_numpy(zero_copy_only=False)))[run_ends.to_numpy()]
    kept = np.flatnonzero(np.diff(wanted_upto, prepend=0))
    ends = pa.array(wanted_upto[kept], run_ends.type)
    return {name: column.filter(wanted) for name, column in part.items() if name not in runs} | {
        name: pa.RunEndEncodedArray.from_arrays(ends, column.values.take(pa.array(kept))) for name, column in runs.items()
    }


def _no_bins(part: Mapping[str, Any], op: str) -> Mapping[str, Any]:
    names = (f"{op}_bin_numbers", f"{op}_bin_amounts")
    return {**part, **{name: pa.array([[]] * len(part[name]), part[name].type) for name in names}}


def main() -> int:
    """Counts the variants of all workloads that raise, and names them."""
    total = raised = 0
    for workload, name, log in all_variants():
        total += 1
        try:
            for parts in tables_of(log, "variant.darshan").values():
                list(parts)
        except Exception as error:  # noqa: BLE001
            raised += 1
            sys.stdout.write(f"{workload}, {name}: {type(error).__name__}: {error}\n")
    sys.stdout.write(f"{raised} of {total} variants raise\n")
    return 1 if raised else 0


if __name__ == "__main__":
    sys.exit(main())
