"""Inputs that no source reads: the reason says what they are and what to do."""

from datetime import UTC, datetime

import pytest

from iomine.errors import UnreadableError
from iomine.sources.inputs import open_input, read_input

_CHANGED = datetime(2026, 2, 1, tzinfo=UTC)
_STATS = "obdfilter.fs-OST0001.stats=\nsnapshot_time             1767622201.0 secs.nsecs\nread_bytes   1 samples [bytes] 1 1 1\n"
_JOB = "100|100|a.out|ann|COMPLETED|2026-01-05T10:00:00|2026-01-05T10:01:00|2026-01-05T11:01:00|1\n"


def _read(data: bytes | str) -> str:
    """The kind of an input."""
    given = open_input("/x", data.encode() if isinstance(data, str) else data, _CHANGED, UTC)
    return read_input(given)[0]


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
        ("", "It is empty"),
        ("a|b|c\n", "Its format is not known"),
    ],
)
def test_what_is_not_read(data: bytes | str, reason: str) -> None:
    """A reject says what an input is, and what to give instead."""
    with pytest.raises(UnreadableError, match=reason):
        _read(data)


def test_lines_of_one_host_are_read() -> None:
    """The same texts are read as they should be given."""
    header = "JobID|JobIDRaw|JobName|User|State|Submit|Start|End|NNodes\n"
    assert ("stats", "sacct") == (_read(_STATS), _read(header + _JOB))
