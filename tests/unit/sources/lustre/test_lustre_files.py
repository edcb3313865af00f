"""Every real file of Lustre's is read, or refused with a reason."""

import pytest
from reading import LUSTRE, an_input, members, read, shared, source_of, tried
from shared import NOT_HERE

from iomine.errors import UnreadableError
from iomine.schema.registry import arrow_schema

_HERE = pytest.mark.skipif(not LUSTRE.is_dir(), reason=NOT_HERE)
_READ = ("job_stats", "lctl", "lfs", "procfs")
_FILES = sorted(
    str(path.relative_to(LUSTRE)) for folder in _READ for path in (LUSTRE / folder).glob("*") if not path.name.endswith(".tar.gz")
)
_NOT_READ = {"lctl/wc_recovery-multiple.txt": "3 recovery_status"}
# Read as names of the fabric.
_OF_THE_FABRIC = {"lfs/lctl-dl-t.txt.gz"}
_TOOLS = {"getstripe": "lfs getstripe", "lnet": "lnetctl"}
_REFUSED = sorted(
    (str(path.relative_to(LUSTRE)), reason) for folder, reason in _TOOLS.items() for path in (LUSTRE / folder).glob("*")
)
_ARCHIVES = sorted(str(path.relative_to(LUSTRE)) for path in (LUSTRE / "procfs").glob("*.tar.gz"))
_LEAVES = ("job_stats", "stats", "md_stats", "brw_stats", "rpc_stats")


@pytest.mark.parametrize("name", [name for name in _FILES if name not in {*_NOT_READ, *_OF_THE_FABRIC}])
def test_files_that_are_read(name: str) -> None:
    """No line of a real file is strange, and tables have the schema's columns, with the night last."""
    got = read(shared(name), f"/data/{name}")
    assert "lines left out" not in got.doubt
    for table_name, table in got.tables.items():
        assert table.num_rows
        assert [*arrow_schema(table_name).types, table.schema.types[-1]] == table.schema.types
        assert [at.date() for at in table["sampled_at"].to_pylist()] == table["night"].to_pylist()


@pytest.mark.parametrize("name", ["job_stats/exascaler6_es01a_lctl-get_param.job_stats", "lctl/wc_osd.txt"])
@_HERE
def test_line_ends_of_windows(name: str) -> None:
    """A carriage return before each line feed changes neither rows nor doubts."""
    there, windows = (read(data, "/stats") for data in (shared(name), shared(name).replace(b"\n", b"\r\n")))
    assert there.doubt == windows.doubt
    assert [table.to_pylist() for table in there.tables.values()] == [table.to_pylist() for table in windows.tables.values()]


@_HERE
@pytest.mark.parametrize(("name", "reason"), [*_NOT_READ.items(), *_REFUSED])
def test_files_that_are_refused(name: str, reason: str) -> None:
    """What holds nothing to keep is known, and refused with what it is."""
    with pytest.raises(UnreadableError, match=reason):
        read(shared(name), f"/data/{name}")


@pytest.mark.parametrize("name", _ARCHIVES)
def test_copies_of_proc(name: str) -> None:
    """Of all files below a folder of Lustre's, those that hold what is kept are read, and all others refused by their name."""
    kept = 0
    for path, data in members(name):
        source = an_input(data, path)
        reader = source_of(source)
        parts = path.split("/")
        if "lustre" not in parts:
            assert reader is None, path
            continue
        assert reader, path
        got, reason = tried(reader, source)
        kept += not reason
        assert "lines left out" not in got.doubt
        if reason:
            is_service = {"OSS", "MDS", "MGS"} & set(parts)
            # Some files are links that were copied as files.
            assert parts[-1] not in _LEAVES or is_service or data.startswith(b"../.."), path
            assert ".".join(parts[parts.index("lustre") + 1 :]) in reason
        else:
            assert parts[-1] in _LEAVES, path
    assert kept
