"""Real logs that PyDarshan does not read, or reads wrongly: what is known of them from elsewhere must come out."""

from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from shared import Row, darshan_rows, each, log_of, truth_of, workloads

from iomine.errors import UnreadableError
from iomine.sources.darshan import Log, read_log

_WITH_TEXT = "nonstandard 96-byte segments (counts from raw bytes)"
_CLOCK_SLACK_SECONDS = 2.0

# Why a log of the manifest is no log that can be read, by the tag that the manifest gives it.
_REASONS = {
    "format-1.4": "The log has format 1.4; of formats before 3.00, 1.21 to 1.24 and 2.00 to 2.06 are read.",
    "empty-file": "The file is empty: the run ended before Darshan wrote its log.",
    "header-missing": "The file does not begin with a Darshan version: it is not a finished Darshan log.",
}
# The one log of formats before 3.00 that Darshan's own tools of that time refused too.
_TOO_OLD = "darshan/2.x/pcarns_cp_id25476_1-16-15155_2.darshan.gz"
_DAMAGED_BEYOND_READING = {
    "s124": "The job record cannot be read: the file ends 11 bytes before the region does.",
    "s125": "The file is empty: the run ended before Darshan wrote its log.",
    "s127": "The file does not begin with a Darshan version: it is not a finished Darshan log.",
}
# State of each module, and records that are left of it.
_DAMAGED_IN_PART = {
    "s120": {"POSIX": ("read", 48), "STDIO": ("read", 3), "HEATMAP": ("read", 5)},
    "s121": {"POSIX": ("read", 8), "MPI-IO": ("read", 8), "STDIO": ("read", 3), "HEATMAP": ("read", 17)},
    "s122": {"POSIX": ("read", 100), "STDIO": ("read", 1), "DXT_POSIX": ("read", 100), "HEATMAP": ("read", 5)},
    "s123": {"POSIX": ("read", 1), "STDIO": ("read", 1), "DXT_POSIX": ("unsound", 0), "HEATMAP": ("unsound", 0)},
    "s126": {"POSIX": ("read", 1), "STDIO": ("read", 1), "DXT_POSIX": ("unsound", 3), "HEATMAP": ("read", 9)},
    "s128": {"POSIX": ("read", 40), "STDIO": ("read", 1), "DXT_POSIX": ("unsound", 21), "HEATMAP": ("unsound", 0)},
}
_OLD_JOB_LAYOUT = "the job record has the layout of formats before 3.41, though the log claims 3.41"


def _number(row: Row) -> str:
    return row["id"].split("_")[0]


def _whole(log: Log, table: str) -> pa.Table:
    return log.table(table).drop_columns("log_id")


def _counts(log: Log) -> dict[str, int]:
    return {module.region.module: module.record_count for module in log.modules}


def _workload(beginning: str) -> Row:
    return next(row for row in workloads() if row["id"].startswith(beginning))


@pytest.mark.parametrize("row", each(darshan_rows(), lambda row: row["dxt_layout"] == _WITH_TEXT))
def test_segments_with_text(row: Row) -> None:
    """Segments that grew to 96 bytes under an old version number are found, lie within the run and carry their thread."""
    log = read_log(log_of(row))
    files, segments = _whole(log, "dxt_file"), _whole(log, "segment")
    expected = tuple(int(row[f"dxt_posix_{what}"]) for what in ("records", "write_segments", "read_segments"))
    assert expected == (len(files), pc.sum(files["write_count"]).as_py(), pc.sum(files["read_count"]).as_py())
    assert Counter(write=expected[1], read=expected[2]) == Counter(segments["op"].to_pylist())
    assert int(row["dxt_distinct_hosts"]) == len(pc.unique(files["host"]))
    assert pc.min(segments["start_seconds"]).as_py() >= 0
    assert pc.max(segments["end_seconds"]).as_py() <= log.job.run_seconds + _CLOCK_SLACK_SECONDS
    assert segments["thread_id"].null_count == 0


@pytest.mark.parametrize("row", each(darshan_rows(), lambda row: row["modules"] != "" and "bad-header" not in row["tags"]))
def test_record_counts(row: Row) -> None:
    """Each module has as many records, and each partial flag is set, as the manifest says, which was made by other means."""
    log = read_log(log_of(row))
    expected = {module: int(count) for module, _, count in (entry.rpartition(":") for entry in row["modules"].split(";"))}
    assert expected == _counts(log)
    assert row["partial_modules"].split(";") == (
        [module.region.module for module in log.modules if module.region.is_partial] or [""]
    )


def _tags(row: Row) -> set[str]:
    """What the manifest says of a file, and which format it has where that matters."""
    return {*row["tags"].split(";"), *(["format-1.4"] if row["file"] == _TOO_OLD else [])}


@pytest.mark.parametrize("row", each(darshan_rows(), lambda row: bool(_tags(row) & {*_REASONS})))
def test_unreadable_logs_say_why(row: Row) -> None:
    """A file that is no log of a format that is read is refused for good, in a sentence that says what it is."""
    with pytest.raises(UnreadableError) as error:
        read_log(log_of(row))
    assert next(_REASONS[tag] for tag in _tags(row) if tag in _REASONS) == error.value.reason
    assert error.value.is_final


@pytest.mark.parametrize("row", each(darshan_rows(), lambda row: "bad-header" in row["tags"]))
def test_older_job_layout_under_a_newer_version(row: Row) -> None:
    """A log of a development version, with an older job record than its version says, is read, and marked as doubtful."""
    log = read_log(log_of(row))
    file_name_job_id = row["file"].rpartition("_id")[2].split("-")[0]
    assert (file_name_job_id, 4, _OLD_JOB_LAYOUT) == (log.job.job_id, log.job.nprocs, log.doubt)
    assert log.job.darshan_version == "3.4.0"
    assert row["start_epoch"].split(".")[0] == f"{log.job.start_at.timestamp():.0f}"


# What such a log holds, whose modules PyDarshan takes for others.
_NUMBERED_BETWEEN_RELEASES = {
    "ior-HDF5": {"POSIX": 1, "MPI-IO": 1, "H5F": 1, "H5D": 1, "STDIO": 1, "HEATMAP": 9},
    "ior-PNETCDF": {"POSIX": 1, "MPI-IO": 1, "PNETCDF_FILE": 0, "PNETCDF_VAR": 0, "STDIO": 1, "HEATMAP": 9},
    "ior-dfs": {"POSIX": 3, "STDIO": 1, "HEATMAP": 1, "DFS": 0},
}


@pytest.mark.parametrize("row", each(darshan_rows(), lambda row: "bad-header" in row["tags"]))
def test_modules_of_development_versions(row: Row) -> None:
    """Modules are found by what they hold, where PnetCDF variables had no number yet; what has another layout gives no rows."""
    log = read_log(log_of(row))
    assert next(counts for name, counts in _NUMBERED_BETWEEN_RELEASES.items() if name in row["file"]) == _counts(log)
    paths = dict(zip(*(_whole(log, "file_name")[name].to_pylist() for name in ("file_id", "path")), strict=True))
    opened = {paths[file_id] for file_id in _whole(log, "stdio_file")["file_id"].to_pylist()}
    assert opened in ({"<STDOUT>"}, {"/tmp/snyders-daos.log"})  # noqa: S108  a path in a log
    assert {None} != set(_whole(log, "heatmap_rank")["layer"].to_pylist()) <= {"posix", "mpiio", "stdio"}
    assert not _whole(log, "dfs_file").num_rows


def test_bzip2_holds_what_zlib_held(shared_data) -> None:
    """A log that was recompressed with bzip2 gives the rows of the log that it was made from, all of them."""
    log, original = read_log(log_of(_workload("s151"))), read_log(log_of(_workload("s009")))
    assert original.tables.keys() == log.tables.keys()
    for table in original.tables.keys() - {"module", "mount"}:
        assert _whole(original, table).equals(_whole(log, table)), table
    # The conversion sorts the mounts by length.
    assert set(original.job.mounts) == set(log.job.mounts)
    assert replace(original.job, mounts=()) == replace(log.job, mounts=())
    assert {"read"} == {module.state for module in log.modules}


def test_bzip2_of_a_real_machine(shared_data) -> None:
    """A bzip2 log of a production run is sound: requests fall into as many size bins, and MPI-IO never outruns POSIX."""
    (row,) = (row for row in darshan_rows() if row["tags"] == "fails;bzip2;anonymised")
    log = read_log(log_of(row))
    assert {"read"} == {module.state for module in log.modules}
    posix = _whole(log, "posix_file")
    for op in ("read", "write"):
        bins = [name for name in posix.column_names if name.startswith(f"{op}_size_")]
        assert len(bins) == 10
        assert sum(pc.sum(posix[name]).as_py() for name in bins) == pc.sum(posix[f"{op}_count"]).as_py()
    named = set(_whole(log, "file_name")["file_id"].to_pylist())
    assert named >= set(posix["file_id"].to_pylist())
    assert set(posix["rank"].to_pylist()) <= set(range(-1, log.job.nprocs))


def test_newer_traces(shared_data) -> None:
    """Traces of the record version that came after PyDarshan 3.5.0 hold each request that the program made, by thread."""
    row = _workload("s150")
    log, truth = read_log(log_of(row)), truth_of(row)["self_accounting"]
    segments = _whole(log, "segment")
    mpiio = segments.filter(pc.equal(segments["layer"].cast(pa.string()), "mpiio"))
    by_rank = mpiio.group_by("rank").aggregate([("length_bytes", "sum"), ("length_bytes", "count")]).sort_by("rank")
    assert truth["issued_by_rank"]["write_bytes"] == by_rank["length_bytes_sum"].to_pylist()
    assert truth["issued_by_rank"]["write_ops"] == by_rank["length_bytes_count"].to_pylist()
    assert {"write"} == set(segments["op"].to_pylist())
    assert segments["thread_id"].null_count == 0
    assert pc.max(segments["end_seconds"]).as_py() <= log.job.run_seconds + _CLOCK_SLACK_SECONDS
    assert {"DXT_POSIX": 2, "DXT_MPIIO": 3}.items() <= {m.region.module: m.region.version for m in log.modules}.items()


@pytest.mark.parametrize("row", each(workloads(), lambda row: _number(row) in _DAMAGED_BEYOND_READING))
def test_logs_damaged_beyond_reading(row: Row) -> None:
    """A log whose header or job record is gone is refused for good, in a sentence that says what is missing."""
    with pytest.raises(UnreadableError) as error:
        read_log(log_of(row))
    assert _DAMAGED_BEYOND_READING[_number(row)] == error.value.reason
    assert error.value.is_final


@pytest.mark.parametrize("row", each(workloads(), lambda row: _number(row) in _DAMAGED_IN_PART))
def test_logs_damaged_in_part(row: Row) -> None:
    """A log that was killed, is incomplete or damaged gives the state of each module and keeps the records that are sure."""
    log = read_log(log_of(row))
    assert _DAMAGED_IN_PART[_number(row)] == {module.region.module: (module.state, module.record_count) for module in log.modules}
    assert all((module.state == "read") == (module.reason == "") for module in log.modules)
    assert (_number(row) == "s122") == log.is_partial


@pytest.mark.parametrize("row", each(workloads(), lambda row: _number(row) in ("s123", "s126", "s128")))
def test_what_is_left_is_right(row: Row) -> None:
    """Each row of a damaged log is the row of the sound log that it was copied from, in the same place."""
    log, original = read_log(log_of(row)), read_log(log_of(_workload(truth_of(row)["derived_from"])))
    for table in log.tables.keys() - {"module"}:
        kept = _whole(log, table)
        assert _whole(original, table).slice(0, len(kept)).to_pylist() == kept.to_pylist(), table
