"""A whole log: what is marked when a part of it cannot be read, and what is read all the same."""

import hashlib
from pathlib import Path

import pytest
from writing import Blueprint, Module, Segment, dxt_record, heatmap_record, posix_record, write

from iomine.errors import UnreadableError
from iomine.schema import TABLES
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import identify, read_log
from iomine.sources.darshan import log as log_room


@pytest.mark.parametrize(
    ("module", "version", "reason"),
    [
        ("POSIX", 5, "its version 5 is newer than 4, the newest that this version knows"),
        ("LUSTRE", 3, "its version 3 is newer than 2, the newest that this version knows"),
        ("DXT_POSIX", 3, "its version 3 is newer than 2, the newest that this version knows"),
        ("DXT_MPIIO", 4, "its version 4 is newer than 3, the newest that this version knows"),
        ("HEATMAP", 2**32 - 1, "its version 4294967295 is newer than 1, the newest that this version knows"),
        ("module 40", 1, "module 40 is a module that this version does not know"),
    ],
)
def test_unsupported_modules(module: str, version: int, reason: str, read, rows) -> None:
    """A module that is unknown or of a newer version is marked with its reason and left out; the others are read."""
    log = read(Blueprint({"STDIO": Module(2, [bytes(248)]), module: Module(version, [bytes(1000)], is_partial=True)}))
    states = {row["module"]: (row["state"], row["reason"], row["record_count"]) for row in rows(log, "module")}
    assert {"STDIO": ("read", None, 1), module: ("unsupported", reason, 0)} == states
    assert {"stdio_file", "module", "mount", "metadata"} == set(log.tables)
    assert log.is_partial


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("odd"), "its records make no sense to the reader (ValueError: odd)"),
        (MemoryError(), "it takes more memory than a log may have"),
    ],
)
def test_a_module_that_fails_costs_itself(error: Exception, reason: str, read, rows, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its records make Python raise, the other modules are read."""

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setitem(log_room._SIMPLE, "HEATMAP", fail)
    log = read(Blueprint({"HEATMAP": Module(1, [bytes(8)]), "POSIX": Module(4, [posix_record("<")])}))
    states = {row["module"]: (row["state"], row["reason"]) for row in rows(log, "module")}
    assert {"HEATMAP": ("unsound", reason), "POSIX": ("read", None)} == states
    assert 1 == len(rows(log, "posix_file"))


def test_modules_are_reported_as_they_are(read, rows) -> None:
    """The table of modules has version, size, count and partial flag of each, in the order of their ids."""
    data = write(
        Blueprint({"HEATMAP": Module(1, [heatmap_record("<", [1], [2])]), "POSIX": Module(4, [posix_record("<")], True)})
    )
    got = rows(read(data), "module")
    assert [("POSIX", 4, 1, True), ("HEATMAP", 1, 1, False)] == [
        tuple(row[name] for name in ("module", "module_version", "record_count", "is_partial")) for row in got
    ]
    assert all(0 < row["region_bytes"] < len(data) for row in got)


@pytest.mark.parametrize("module", ["DXT_POSIX", "DXT_MPIIO"])
def test_traces_left_unread(module: str, tmp_path: Path, rows) -> None:
    """Without traces a DXT module is not even inflated and says so, partial or not; all else is read as ever."""
    path = tmp_path / "a.darshan"
    modules = {"POSIX": Module(4, [posix_record("<")]), module: Module(1, [dxt_record("<", [Segment(0, 8, 1.0, 2.0)])], True)}
    data = write(Blueprint(modules))
    # The last stream's last byte is part of its checksum: inflating it shows the damage.
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    whole, log = read_log(path), read_log(path, leave_traces="nobody wants them")
    states = {row["module"]: (row["state"], row["record_count"], row["reason"]) for row in rows(log, "module")}
    assert {"POSIX": ("read", 1, None), module: ("unread", 0, "nobody wants them")} == states
    assert ["unsound"] == [row["state"] for row in rows(whole, "module") if row["module"] == module]
    assert log.is_partial
    assert {"posix_file", "module", "mount", "metadata"} == set(log.tables)
    assert whole.table("posix_file") == log.table("posix_file")


def test_batches_have_the_tables_schema(read) -> None:
    """Each batch has exactly the columns of its table, and the log's id in each row."""
    data = write(Blueprint({"POSIX": Module(4, [posix_record("<")]), "HEATMAP": Module(1, [heatmap_record("<", [1], [2])])}))
    log = read(data)
    assert hashlib.sha256(data).hexdigest()[:16] == log.log_id
    assert len(data) == log.size_bytes
    for table in log.tables:
        rows = log.table(table)
        assert [*TABLES[table].columns] == rows.schema.names
        assert arrow_schema(table).equals(rows.schema)
        assert {log.log_id} == set(rows["log_id"].to_pylist())


def test_files_that_are_not_there(tmp_path: Path) -> None:
    """A file that the system does not give is refused for now, not for good."""
    for path in (tmp_path / "missing.darshan", tmp_path):
        with pytest.raises(UnreadableError, match="The file cannot be read: ") as error:
            read_log(path)
        assert not error.value.is_final


def test_identity_is_the_log_s(tmp_path: Path) -> None:
    """A file is known by its digest, its size and the night on which its run ended, without its records being read."""
    path = tmp_path / "a.darshan"
    path.write_bytes(data := write(Blueprint({"POSIX": Module(4, [b"not records"])})))
    identity, log = identify(path), read_log(path)
    assert (hashlib.sha256(data).hexdigest(), len(data), "") == (identity.sha256, identity.size_bytes, identity.reason)
    assert (log.log_id, log.job.night) == (identity.log_id, identity.night)


def test_identity_of_what_is_no_log(tmp_path: Path) -> None:
    """A file that is no log has a digest and a reason, and no night; one that is not there has neither."""
    path = tmp_path / "a.darshan"
    path.write_bytes(b"text")
    identity = identify(path)
    assert (hashlib.sha256(b"text").hexdigest(), 4, None) == (identity.sha256, identity.size_bytes, identity.night)
    assert identity.reason.startswith("The file does not begin with a Darshan version")
    with pytest.raises(UnreadableError):
        identify(tmp_path / "missing")
