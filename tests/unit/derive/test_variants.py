"""Derivations bear logs of which something is missing."""

import dataclasses
from pathlib import Path

import pytest
from log_variants import variants
from shared import log_of, workloads

from iomine.pipeline.ingest.rows import tables_of
from iomine.sources.darshan import read_log

# One of each kind: with MPI-IO and HDF5, whose reads serve writes, of many phases, of reads, of small files.
_SAMPLE = ("s011", "s016", "s040", "s048", "s051", "s065", "s067", "s103", "s153", "s170")


@pytest.mark.proof
@pytest.mark.parametrize("workload", _SAMPLE)
def test_no_variant_raises(workload: str, shared_data: Path) -> None:
    """A log without a module, a traced layer or a direction, or with a part of its trace, gives rows; the log is one of them.

    `python tests/log_variants.py` tries all workloads.
    """
    (row,) = (row for row in workloads() if row["id"].startswith(workload))
    log = read_log(log_of(row))
    names = []
    for name, tables in variants(log.tables):
        rows = tables_of(dataclasses.replace(log, tables=dict(tables)), "variant.darshan")
        assert "log" in rows
        assert all(list(parts) is not None for parts in rows.values())
        names.append(name)
    assert len(names) == len(set(names)) > 5
