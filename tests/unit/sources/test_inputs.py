"""Inputs that no source reads: the reason says what they are and what to do."""

import bz2
import gzip
import lzma
from datetime import UTC, datetime

import pytest

from iomine.errors import UnreadableError
from iomine.sources.inputs import open_input, read_input
from iomine.sources.model import Readings

_CHANGED = datetime(2026, 2, 1, tzinfo=UTC)
_STATS = "obdfilter.fs-OST0001.stats=\nsnapshot_time             1767622201.0 secs.nsecs\nread_bytes   1 samples [bytes] 1 1 1\n"
_HEADER = "JobID|JobIDRaw|JobName|User|State|Submit|Start|End|NNodes\n"
_JOB = "100|100|a.out|ann|COMPLETED|2026-01-05T10:00:00|2026-01-05T10:01:00|2026-01-05T11:01:00|1\n"


def _readings(data: bytes | str) -> tuple[str, Readings]:
    """The kind of an input, and what it holds."""
    return read_input(open_input("/x", data.encode() if isinstance(data, str) else data, _CHANGED, UTC))


def _rows(readings: Readings) -> dict[str, list[object]]:
    return {name: table.to_pylist() for name, table in readings.tables.items()}


def _read(data: bytes | str) -> str:
    """The kind of an input."""
    return _readings(data)[0]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x28\xb5\x2f\xfd", "compressed with zstd, and is read only if it is unpacked: run unzstd"),
        (b"PK\x03\x04", "compressed with zip"),
        ("".join(f"oss1: {line}\n" for line in _STATS.splitlines()), "as pdsh prints it: write the lines of each host"),
        ("oss1: something\noss1: else\n", "Its format is not known"),
        (_JOB * 2, "lacks the line that names its columns: run sacct without --noheader"),
        ('Errors for "n1 HCA-1"\n   GUID 0x2 port 1: [SymbolErrorCounter == 12]\n', "give what perfquery -x prints"),
        ("NodeDesc;SystemImageGUID;PortNum;LinkSpeedActive\n", "of Omni-Path's tools"),
        ("cxi0 hni_pkts_sent_by_tc_0 123456@1723114647.887\n", "of Slingshot's adapters"),
        ("# HELP lustre_job_read_bytes_total x\n# TYPE lustre_job_read_bytes_total counter\n", "Prometheus.*lctl get_param"),
        ('lustre_job_read_bytes_total{jobid="26",target="OST0000"} 1024\n', "Prometheus"),
        ("lustre2,host=oss1,jobid=12 jobstats_read_bytes=4096i,up=t 1767622201000000000\n", "InfluxDB's line protocol"),
        ('[{"fields":{"a":1},"name":"lustre2","tags":{"host":"b"},"timestamp":1767622201}]', "Telegraf's JSON"),
        ("servers.oss1.lustre.OST0001.read_bytes 123 1767622201\n", "Graphite"),
        ("#" * 80 + "\n# Collectl:   V4.0.4-1  HiRes: 1\n", "of collectl"),
        ("#Date,Time,[CPU]User%,[OST]Reads\n20260105,00:00:10,1,2\n", "of collectl"),
        ("             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n", "squeue.*give sacct -P"),
        ("JOBID|USER|STATE|START_TIME|END_TIME\n1|ann|RUNNING|2026-01-05T10:00:00|N/A\n", "squeue"),
        ("meta:\n  plugin: x\njobs:\n- account: p\n", "Slurm's YAML; run the command with --json"),
        ("VERSION 230\nJob.000 0 32\n", "Its format is not known"),
        ("PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n", "sinfo"),
        ("Cluster|Account|User|Partition|Share\nc|root|||1\n", "sacctmgr"),
        ("Job id            Name             User              Time Use S Queue\n", "qstat.*server_priv/accounting"),
        ("JOBID   USER    STAT  QUEUE      FROM_HOST\n", "bjobs.*lsb.acct"),
        ("=====\nqname        all.q\n", "qacct"),
        ("/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data:17\n", "sysfs.*perfquery -x"),
        ("CA 'mlx5_0'\n\tCA type: MT4123\n", "ibstat"),
        ("# Port info: Lid 1 port 0\nMkey:....0x0\n", "smpquery"),
        ("NIC statistics:\n     rx_packets: 123\n", "ethtool"),
        ("Disk quotas for usr ann (uid 1):\n", "lfs quota"),
        ("1 01CREAT 10:00:00.1 2026.01.05 0x0 t=[0x2:0x1:0x0]\n", "lfs changelog"),
        ("/proc/fs/lustre/obdfilter/x-OST0000/stats @ 1767622201.12\nName Cur.Count Cur.Rate\n", "llstat"),
        ("_fs_io_s_ _n_ 10.0.0.1 _nn_ n1 _rc_ 0\n", "mmpmon"),
        ("Linux 4.18.0 (oss1)  01/05/2026  _x86_64_ (64 CPU)\n", "sar or iostat"),
        ("<!DOCTYPE html>\n<html>404</html>\n", "web page"),
        ("", "It is empty"),
        ("a|b|c\n", "Its format is not known as statistics or accounting: docs/system_state.md lists those that are"),
        ("sacct: fatal: Unable to load plugin\n", "nothing but errors of the command that wrote it: sacct: fatal: Unable to"),
        ("sacct: error: x\na|b|c\n", "Its format is not known"),
        (_JOB.encode("utf-16"), "It is text in UTF-16: convert it, for example with `iconv -f UTF-16 -t UTF-8`"),
        (_JOB.encode("utf-16-le"), "It is text in UTF-16LE"),
        (_JOB.encode("utf-16-be"), "It is text in UTF-16BE"),
    ],
)
def test_what_is_not_read(data: bytes | str, reason: str) -> None:
    """A reject says what an input is, and what to give instead."""
    with pytest.raises(UnreadableError, match=reason):
        _read(data)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_packed_file_that_is_cut(pack) -> None:
    """It is not read in part, and the reject says what to do."""
    with pytest.raises(UnreadableError, match=r"It cannot be unpacked \(.*\): copy or pack it again\."):
        _read(pack((_HEADER + _JOB * 9).encode())[:-20])


@pytest.mark.parametrize(
    ("errors", "rest"),
    [
        ("sacct: error: no connection\nsacct: error: Connection refused\n", _HEADER + _JOB + "cut\n"),
        ("slurm_load_jobs error: Unable to contact\n", '{"jobs": [{"job_id": 1, "end_time": 1767622207}]}'),
    ],
)
def test_errors_before_the_output_of_a_command(errors: str, rest: str) -> None:
    """The output is read, the doubt quotes the first error, and numbers of lines are those of the file."""
    kind, readings = _readings(errors + rest)
    kind_of_rest, readings_of_rest = _readings(rest)
    assert kind_of_rest == kind
    assert _rows(readings_of_rest) == _rows(readings)
    doubt = f"The command failed in part before it printed this, so something may be missing: {errors.splitlines()[0]}"
    assert readings.doubt.startswith(doubt)
    if kind == "sacct":
        assert readings.doubt.endswith("Left out, 1 in all: line 5 (it has 1 columns, not 9).")


def test_lines_of_one_host_are_read() -> None:
    """The same texts are read as they should be given."""
    assert ("stats", "sacct") == (_read(_STATS), _read(_HEADER + _JOB))
