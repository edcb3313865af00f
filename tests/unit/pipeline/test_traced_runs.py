"""Runs of DFTracer in a sweep: which files are one run's, what is counted, and what its log says and does not."""

import gzip
import re
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sweeping import judge_by, rows, state, write_no_reports

from iomine.errors import UnreadableError
from iomine.lake import Warehouse
from iomine.pipeline.export.export import Choice, export
from iomine.pipeline.export.pseudonyms import Pseudonyms
from iomine.pipeline.ingest.runs import read_run, runs_of
from iomine.pipeline.sweep import Settings, Summary, run
from iomine.sources.darshan import Identity, identify
from iomine.sources.dftracer import Extent
from iomine.sources.traced import digest_of


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    judge_by(monkeypatch, "POSIX-101", "MPIIO-101")
    write_no_reports(monkeypatch)


@pytest.fixture
def traces(shared_data: Path, tmp_path: Path) -> Path:
    """Two real runs, of one file and of eight."""
    return Path(shutil.copytree(shared_data / "traces" / "dftracer", tmp_path / "traces"))


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return tmp_path / "warehouse"


def _counts(summary: Summary) -> tuple[int, int, int, int]:
    return summary.found, summary.ingested, summary.known, summary.rejected


def _part(path: str, start: int, end: int, command: str = "a.out", digest: str = "") -> tuple[str, Identity]:
    return path, Identity((digest or path[-1]) * 64, 10, None, extent=Extent(start, end, command))


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([_part("/f/a", 0, 9), _part("/f/b", 5, 20), _part("/f/c", 19, 30)], [("/f/a", "/f/b", "/f/c")]),
        ([_part("/f/a", 0, 90), _part("/f/b", 5, 20), _part("/f/c", 50, 60)], [("/f/a", "/f/b", "/f/c")]),
        ([_part("/f/a", 0, 9), _part("/f/b", 10, 20)], [("/f/a",), ("/f/b",)]),
        ([_part("/f/a", 0, 9), _part("/g/b", 5, 20)], [("/f/a",), ("/g/b",)]),
        ([_part("/f/a", 0, 9), _part("/f/b", 5, 20, "b.out")], [("/f/a",), ("/f/b",)]),
        ([_part("/f/b", 0, 9), _part("/f/a", 0, 9, digest="b")], [("/f/a",)]),
    ],
    ids=["overlapping", "within", "one after the other", "folders", "commands", "copies"],
)
def test_files_of_a_run(parts: list[tuple[str, Identity]], expected: list[tuple[str, ...]]) -> None:
    """Files of one folder that were started alike and overlap in time are a run, in whatever order they come."""
    for given in (parts, parts[::-1]):
        assert sorted(paths for _, paths in runs_of(given)) == expected
        assert {identity.sha256 for identity, _ in runs_of(given)} == {
            digest_of({dict(parts)[path].sha256 for path in paths}) for paths in expected
        }


def test_a_run_is_one_log(traces: Path, warehouse: Path) -> None:
    """Nine files are two logs with all bytes; another sweep knows both and changes nothing, wherever the files lie by then."""
    assert _counts(run(Settings((traces,), warehouse))) == (2, 2, 0, 0)
    before = state(warehouse)
    assert _counts(run(Settings((traces,), warehouse))) == (2, 0, 2, 0)
    (traces / "cm1_1_48_20240926").rename(traces / "moved")
    assert _counts(run(Settings((traces,), warehouse))) == (2, 0, 2, 0)
    assert [before[table] for table in ("log", "segment")] == [state(warehouse)[table] for table in ("log", "segment")]
    logs = rows(
        warehouse, "SELECT exe, nprocs, job_id, uid, user, night::VARCHAR AS night, format_version FROM logs ORDER BY night"
    )
    nothing: dict[str, Any] = dict.fromkeys(("job_id", "uid", "user"))
    assert logs == [
        {"exe": "", "nprocs": 21, "night": "2023-10-26", "format_version": "dftracer", **nothing},
        {"exe": "./cm1.exe", "nprocs": 8, "night": "2024-09-26", "format_version": "dftracer", **nothing},
    ]
    moved = rows(warehouse, "SELECT op, SUM(length_bytes)::BIGINT AS moved FROM segments GROUP BY ALL ORDER BY op")
    assert [row["moved"] for row in moved] == [21_455_767_560, 121_532_608]
    for table in ("posix_file", "stdio_file"):
        (counted,) = rows(warehouse, f"SELECT SUM(read_bytes)::BIGINT AS r, SUM(write_bytes)::BIGINT AS w FROM core.{table}")
        layer = table.removesuffix("_file")
        (traced,) = rows(
            warehouse,
            "SELECT SUM(length_bytes) FILTER (op = 'read')::BIGINT AS r, "
            "COALESCE(SUM(length_bytes) FILTER (op = 'write'), 0)::BIGINT AS w "
            f"FROM core.segment ANTI JOIN core.special_file USING (log_id, file_id) WHERE layer = '{layer}'",
        )
        assert counted == traced
    assert rows(warehouse, "SELECT * FROM core.failed_derivation") == []


def test_what_was_not_watched_is_not_known(traces: Path, warehouse: Path) -> None:
    """Records are marked as worked out, and what DFTracer does not watch is unknown, with that reason."""
    run(Settings((traces,), warehouse))
    modules = rows(warehouse, "SELECT DISTINCT module, state, split_part(reason, ';', 1) AS reason FROM core.module ORDER BY ALL")
    assert modules == [
        {"module": module, "state": state, "reason": reason}
        for module, state, reason in (
            ("DXT_POSIX", "read", "ranks are processes, in the order of their ids, and no MPI ranks"),
            ("LUSTRE", "unread", "DFTracer does not watch it"),
            ("MPI-IO", "unread", "DFTracer does not watch it"),
            ("POSIX", "read", "worked out from the trace"),
            ("STDIO", "read", "worked out from the trace"),
        )
    ]
    verdicts = rows(warehouse, "SELECT DISTINCT code, state, reason FROM verdicts WHERE code = 'MPIIO-101'")
    assert verdicts == [
        {"code": "MPIIO-101", "state": "unknown", "reason": "The log's MPI-IO module is unread: DFTracer does not watch it."}
    ]
    assert rows(
        warehouse, "SELECT COUNT(file_not_aligned_count) + COUNT(mem_not_aligned_count) AS known FROM core.posix_file"
    ) == [{"known": 0}]


def test_damaged_runs_are_rejects(traces: Path, warehouse: Path) -> None:
    """A file that has no time is a reject of its own; one that is half damaged costs its run, and neither is read again."""
    folder = traces / "cm1_1_48_20240926"
    empty, half = sorted(folder.iterdir())[:2]
    empty.write_bytes(gzip.compress(b'[\n{"id":1,"name":"x","ph":"M"}\n'))
    text = gzip.decompress(half.read_bytes()).splitlines()
    half.write_bytes(gzip.compress(b"\n".join(line if at < 300 else line[: len(line) // 2] for at, line in enumerate(text))))
    for known, ingested in ((0, 1), (1, 0)):
        assert _counts(run(Settings((traces,), warehouse))) == (3, ingested, known, 2)
    rejects = rows(warehouse, "SELECT stage, reason FROM rejects ORDER BY stage")
    assert [row["stage"] for row in rejects] == ["identify", "read"]
    assert rejects[0]["reason"] == "It holds no event with a time: the program ended before DFTracer wrote any."
    assert rejects[1]["reason"].startswith("More than half of its lines are not events of DFTracer")


def test_changed_file_is_refused(traces: Path) -> None:
    """What is read is what was identified."""
    paths = [str(path) for path in sorted((traces / "cm1_1_48_20240926").iterdir())]
    ((identity, members),) = runs_of((path, identify(Path(path))) for path in paths)
    assert read_run(members, identity.log_id).log_id == identity.log_id
    Path(members[3]).write_bytes(b"[\n")
    with pytest.raises(UnreadableError, match="changed while it was being read"):
        read_run(members, identity.log_id)


def test_recorder_folder_is_one_log(shared_data: Path, warehouse: Path, tmp_path: Path) -> None:
    """A folder of recorder2parquet is one log; what is in other formats is rejected with what to do."""
    for name in ("recorder/recorder-parquet", "otf2/ping-pong-otf2"):
        with tarfile.open(shared_data / "traces" / f"{name}.tar.gz") as archive:
            archive.extractall(tmp_path / "traces" / name, filter="data")
    (tmp_path / "traces" / "recorder.mt").write_bytes(b"x")
    (tmp_path / "traces" / "_metadata").write_bytes(b"PAR1")
    for known, ingested in ((0, 1), (1, 0)):
        assert _counts(run(Settings((tmp_path / "traces",), warehouse))) == (4, ingested, known, 3)
    (log,) = rows(warehouse, "SELECT nprocs, start_at, end_at, format_version, read_bytes, write_bytes FROM logs")
    assert log == {
        "nprocs": 1280,
        "start_at": None,
        "end_at": None,
        "format_version": "recorder",
        "read_bytes": 21_508_390_912,
        "write_bytes": 1_230_852_944,
    }
    assert [row["reason"].split(":")[0] for row in rows(warehouse, "SELECT reason FROM rejects ORDER BY reason")] == [
        "This is a trace in Recorder's own format",
        "This is an OTF2 archive, which is not read",
        "This is the metadata of a Parquet data set that recorder2parquet did not write.",
    ]
    assert rows(warehouse, "SELECT * FROM core.failed_derivation") == []


@pytest.mark.parametrize(
    ("gone", "reason"),
    [
        (["part.3.parquet"], "The folder lacks part.3.parquet, which its _metadata lists: copy the whole folder."),
        (["part.3.parquet", "part.5.parquet"], "The folder lacks part.3.parquet and 1 more, which its _metadata lists"),
        ([], "The folder's _metadata is damaged"),
    ],
)
def test_recorder_folder_that_lacks_parts_is_refused(shared_data: Path, tmp_path: Path, gone: list[str], reason: str) -> None:
    """Calls of some ranks are not taken for those of all."""
    with tarfile.open(shared_data / "traces" / "recorder" / "recorder-parquet.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    (metadata,) = tmp_path.rglob("_metadata")
    for name in gone:
        (metadata.parent / name).unlink()
    if not gone:
        metadata.write_bytes(b"PAR1")
    identity = identify(metadata)
    with pytest.raises(UnreadableError, match=reason):
        read_run(identity.members, identity.log_id)


@pytest.mark.proof
def test_names_of_all_formats_are_replaced_and_nights_leave(shared_data: Path, traces: Path, warehouse: Path) -> None:
    """Logs before format 3.00 and traces are exported under pseudonyms, and their rows leave with their nights."""
    legacy = shared_data / "darshan" / "darshan" / "2.x" / "example-output"
    with tarfile.open(shared_data / "traces" / "recorder" / "recorder-parquet.tar.gz") as archive:
        archive.extractall(traces / "recorder", filter="data")
    assert _counts(run(Settings((traces, legacy), warehouse))) == (17, 17, 0, 0)
    names = {
        name
        for query in (
            'SELECT DISTINCT "user" FROM logs',
            "SELECT DISTINCT app FROM logs",
            "SELECT DISTINCT app_step FROM core.app_phase",
            "SELECT DISTINCT host FROM core.rank_io",
            "SELECT DISTINCT path FROM core.file_name",
        )
        for row in rows(warehouse, query)
        for value in row.values()
        for name in re.findall(r"[\w.-]{6,}", value or "")
    }
    assert {"pcarns", "mpi-io-test", "NPZReader.open", "ruby165", "img_147_of_168.npz", "cm1.exe", "les_ConvBoundLayer"} <= names
    out = warehouse.parent / "away"
    export(Warehouse(warehouse), out, Choice(), Pseudonyms(bytes(range(32))))
    assert rows(warehouse, "SELECT COUNT(*) AS n, SUM(read_bytes)::BIGINT AS r FROM logs") == rows(
        out, "SELECT COUNT(*) AS n, SUM(read_bytes)::BIGINT AS r FROM logs"
    )
    # Kinds of special files are called so too.
    assert (names & _texts(out)) - {"device", "kernel"} == set()
    (warehouse / "retention.toml").write_text("[days]\napp_phase = 1\nsegment = 1\n")
    run(Settings((traces,), warehouse))
    (left,) = rows(
        warehouse,
        "SELECT (SELECT COUNT(*) FROM logs) AS logs, (SELECT COUNT(*) FROM segments) AS segments, "
        "(SELECT COUNT(*) FROM core.app_phase) AS steps",
    )
    assert left == {"logs": 17, "segments": 0, "steps": 0}


def _texts(out: Path) -> set[str]:
    """All words of all texts of an export."""
    found: set[str] = set()
    for path in (out / "lake").rglob("*.parquet"):
        table = pq.read_table(path)
        for column in table.columns:
            values = column.combine_chunks()
            values = values.flatten() if pa.types.is_list(values.type) else values
            values = values.dictionary if pa.types.is_dictionary(values.type) else values
            if pa.types.is_string(values.type):
                found.update(re.findall(r"[\w.-]{6,}", " ".join(filter(None, values.unique().to_pylist()))))
    return found
