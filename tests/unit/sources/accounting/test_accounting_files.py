"""Every file of schedulers that is at hand, whole and damaged: it is read, or refused with a reason, and nothing else."""

import gzip
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import NOT_HERE, SHARED_DATA

from iomine.errors import UnreadableError
from iomine.sources.accounting import SOURCES, lines
from iomine.sources.model import Input

FOLDER = SHARED_DATA / "slurm"
# Jobs of each file, or what the reason says; None where no source knows the shape, since it has no jobs (some are the fabric's).
EXPECTED = {
    "sacct/xdmod_phillips.sacct.gz": ("sacct", 4285),
    "sacct/xdmod_unit_accounting-logs.log": ("sacct", 4),
    "sacct/xdmod_unit_accounting-logs-with-job-arrays.log": ("sacct", 6),
    "sacct/xdmod_unit_non-ended-job-state.log": ("sacct", 2),
    "sacct/ood_sacct_with_steps.txt": ("sacct", "has no times"),
    "pbs/xdmod_pbs_accounting.log": ("pbs", 9),
    "other_schedulers/xdmod_lsf_accounting.log": ("lsf", 2),
    "other_schedulers/xdmod_uge_accounting.log": ("uge", 2),
    "json/rivos_slurmrestd_jobs_v0.0.37.json": ("slurm_json", 2),
    "json/rivos_sinfo.json": ("scheduler_setup", "JSON of nodes"),
    "scontrol/bristol_bc4_show_-d_job.txt": ("scontrol", 1),
    "scontrol/buhpc_show_jobs_slurm15.txt": ("scontrol", 1),
    "nodes/puhti_scontrol_show_node.txt.gz": ("scheduler_setup", "scontrol show node"),
    "nodes/puhti_etc_hosts.txt.gz": None,
    "nodes/nersc_edison_sacct_parsed.json": ("scheduler_setup", "pytokio"),
    "nodes/nersc_sample.xtdb2proc.gz": ("scheduler_setup", "xtdb2proc"),
    "nodes/puhti_lustre-params.txt": None,
    "topology/psmn_X5.topology.conf": None,
    "topology/nvidia_superpod.topology.conf": None,
    "topology/schedmd_testcase1_topology.conf": None,
    "topology/schedmd_testcase3_topology.conf": None,
    "topology/topograph_dra-block.conf": None,
    "hostlist/hostlist_oracle.tsv": None,
}
needs_data = pytest.mark.skipif(not FOLDER.exists(), reason=NOT_HERE)


def given_as(data: bytes, path: str = "x") -> Input:
    """Bytes as an input."""
    return Input(path, data, datetime(2026, 1, 1, tzinfo=UTC))


@cache
def content(name: str) -> bytes:
    """A file's bytes, unpacked."""
    data = (FOLDER / name).read_bytes()
    return gzip.decompress(data) if name.endswith(".gz") else data


@needs_data
def test_no_file_is_left_out():
    """There is an expectation for each file."""
    files = {str(Path(path).relative_to(FOLDER)) for path in FOLDER.glob("*/*")}
    assert files == set(EXPECTED)


@needs_data
@pytest.mark.parametrize("name", EXPECTED)
def test_every_file_is_read_or_refused(name):
    """Exactly one source knows the file, and reads all its jobs or says what it is instead."""
    source = given_as(content(name), name)
    known = [each for each in SOURCES if each.knows(source)]
    if (expected := EXPECTED[name]) is None:
        assert [] == known
        return
    kind, what = expected
    assert [kind] == [each.kind for each in known]
    if isinstance(what, str):
        with pytest.raises(UnreadableError, match=what):
            known[0].read(source)
    else:
        assert what == known[0].read(source).tables["job"].num_rows


def survives(data: bytes) -> None:
    """Whatever the bytes are, a source knows them or does not, and reads them or refuses."""
    source = given_as(data)
    for each in SOURCES:
        assert each.knows(source) in (True, False)
        try:
            tables, reason = each.read(source).tables, "."
        except UnreadableError as error:
            tables, reason = {}, error.reason
        assert reason.endswith(".")
        for table in tables.values():
            table.validate(full=True)
            assert table.num_rows


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_garbage_is_refused(data):
    """No bytes make a source fail in any other way, not even one that does not know them."""
    survives(data)


SMALL = [name for name, expected in EXPECTED.items() if expected and isinstance(expected[1], int) and expected[1] < 100]
PIECES = st.sampled_from(
    [
        b"|",
        b";",
        b":",
        b'"',
        b"\n",
        b"\0",
        b"\xff",
        b"9" * 30,
        b"-1",
        b"[1-999999999]",
        b"\x1b[2J",
        b"{",
        b"[",
        b"=",
        b" ",
        b"9" * 5000,
    ]
)
EDITS = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 40), PIECES | st.binary(max_size=4)), min_size=1, max_size=6
)


@needs_data
@pytest.mark.parametrize("name", SMALL)
@settings(max_examples=60)
@given(edits=EDITS, end=st.floats(0, 1) | st.just(1.0))
def test_damage_is_survived(name, edits, end):
    """Bytes that are lost, put in or overwritten anywhere cost lines, words or the file, and never more."""
    data = content(name)[: 2 + int(end * 20_000)]
    for where, length, piece in edits:
        position = int(where * len(data))
        data = data[:position] + piece + data[position + length :]
    survives(data)


@needs_data
@pytest.mark.parametrize("name", SMALL)
def test_files_are_read_in_parts(name, monkeypatch):
    """However few lines are read at once, the rows are the same, and so are the numbers of lines that are left out."""
    source = given_as(content(name).replace(b"\n", b"\n\xff\n", 1) if name.endswith(".log") else content(name))
    (known,) = [each for each in SOURCES if each.knows(source)]
    whole = known.read(source)
    monkeypatch.setattr(lines, "_BATCH_BYTES", 100)
    parts = known.read(source)
    assert whole.doubt == parts.doubt
    assert name.endswith(".log") == ("line 2 (" in parts.doubt)
    assert {each: table.to_pylist() for each, table in whole.tables.items()} == {
        each: table.to_pylist() for each, table in parts.tables.items()
    }


# What makes a careless pattern look at each byte again for every other byte.
TEDIOUS = {
    "blanks": b" " * 300_000,
    "line feeds": b"\n" * 300_000,
    "quotes": b'"JOB_FINISH" "9" 1 ' + b'" ' * 100_001,
    "colons": b":" * 300_000,
    "a name": b"JobId=1 JobName=" + b" " * 300_000 + b"x UserId=a(1) EndTime=2026-01-05T00:00:00",
    "names": b"JobId=1 JobName=" + b" \n\t x" * 60_000,
    "keys": b"01/05/2026 00:01:10;E;7;" + b" a.b" * 75_000,
    "cores": b"01/05/2026 00:01:10;E;7;end=1767571270 exec_host=" + b"n/0,1-2*3+" * 30_000,
    "nodes": b"JobID|End|NodeList\n1|2026-01-05T00:00:00|" + b"n[1-2]x[3]," * 30_000,
    "commas": b"JobID|End|NodeList\n1|2026-01-05T00:00:00|n[" + b"1," * 150_000,
    "cells": b"JobID|End|JobName\n1|2026-01-05T00:00:00" + b"|" * 300_000,
    "resources": b"JobID|End|AllocTRES\n1|2026-01-05T00:00:00|" + b"gres/gpu:a=1," * 30_000,
    "dashes": b"JobID  End\n" + b"-" * 300_000,
    "brackets": b'{"slurm": 1, "jobs": [' + b"[" * 300_000,
    "addresses": b"1:" * 150_000,
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("data", TEDIOUS.values(), ids=TEDIOUS)
def test_tedious_input_takes_no_time(data):
    """Reading takes time in proportion to the bytes, whatever they are."""
    survives(data)


def test_times_need_no_named_zone():
    """A zone that is only an offset is as good as one with a name."""
    source = Input("x", b"JobID|End\n1|2026-01-05T02:00:00\n", datetime(2026, 1, 1, tzinfo=UTC), timezone(timedelta(hours=1)))
    (sacct,) = [each for each in SOURCES if each.knows(source)]
    assert datetime(2026, 1, 5, 1, tzinfo=UTC) == sacct.read(source).tables["job"]["end_at"][0].as_py()
