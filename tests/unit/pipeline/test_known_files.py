"""Files that have not changed since a sweep read them: they are not opened, and nothing else is missed for that."""

import gzip
import os
import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from sweeping import column, judge_by_one, state, write_no_reports

from iomine.cli.terminal.sweeps import show
from iomine.lake import LakeFile, Snapshot
from iomine.pipeline.ingest import known as known_room
from iomine.pipeline.ingest.find import Candidate, find
from iomine.pipeline.ingest.known import KnownFile, file_states, is_settled, known_files, log_count, remembered, with_whole_runs
from iomine.pipeline.packing import pack
from iomine.pipeline.stages import commit as commit_stage
from iomine.pipeline.stages import identify as identify_stage
from iomine.pipeline.stages.identify import identify_all
from iomine.pipeline.sweep import Settings, run
from iomine.sources.darshan import FileState

NIGHT = date(2026, 1, 5)
Sweep = Callable[..., tuple[tuple[int, int, int, int], list[str]]]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    judge_by_one(monkeypatch)
    write_no_reports(monkeypatch)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was there when the sweep began is old enough."""
    monkeypatch.setattr(known_room, "_SETTLED_NS", 0)


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return tmp_path / "warehouse"


@pytest.fixture
def logs(shared_data: Path, tmp_path: Path) -> Path:
    """Two real logs of one night, and a file that is none."""
    folder = tmp_path / "logs"
    folder.mkdir()
    for name, path in zip("ab", sorted((shared_data / "darshan" / "ecpam21").rglob("*.darshan")), strict=False):
        shutil.copy(path, folder / f"{name}.darshan")
    (folder / "none.darshan").write_bytes(b"no log")
    return folder


@pytest.fixture
def sweep(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> Sweep:
    """Sweeps; gives what was found, ingested, known and rejected, and the names of the files that were opened."""
    opened: list[str] = []

    def look(paths: Sequence[str]) -> list[object]:
        opened.extend(Path(path).name for path in paths)
        return [*identify_all(paths)]

    monkeypatch.setattr(identify_stage, "identify_all", look)

    def swept(*paths: Path, recheck: bool = False, cluster: str = "default") -> tuple[tuple[int, int, int, int], list[str]]:
        opened.clear()
        summary = run(Settings(paths, warehouse, cluster, recheck=recheck))
        return (summary.found, summary.ingested, summary.known, summary.rejected), sorted(opened)

    return swept


@pytest.mark.usefixtures("settled")
def test_only_what_changed_is_opened(sweep, warehouse, logs):
    """The second sweep opens nothing and says the same; a file that moved, was linked or was replaced is opened again."""
    everything = ["a.darshan", "b.darshan", "none.darshan"]
    assert ((3, 2, 0, 1), everything) == sweep(logs)
    before = state(warehouse)
    assert ((3, 0, 2, 1), []) == sweep(logs, cluster="other")
    assert before == state(warehouse)
    assert ((3, 0, 2, 1), everything) == sweep(logs, recheck=True)
    assert before == state(warehouse)

    # A link changes the file's status, and so the file itself is looked at once more.
    (logs / "link.darshan").hardlink_to(logs / "a.darshan")
    (logs / "b.darshan").rename(logs / "moved.darshan")
    assert ((4, 0, 3, 1), ["a.darshan", "link.darshan", "moved.darshan"]) == sweep(logs)
    assert ((4, 0, 3, 1), []) == sweep(logs)

    # In place, of one size, and with the old time set again.
    log = logs / "moved.darshan"
    status, data = log.stat(), bytearray(log.read_bytes())
    data[-1] ^= 1
    log.write_bytes(data)
    os.utime(log, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert ((4, 1, 2, 1), ["moved.darshan"]) == sweep(logs)
    assert 3 == len(column(warehouse, "SELECT log_id FROM logs"))


@pytest.mark.usefixtures("settled")
def test_rejects_are_tried_again_by_another_reader(sweep, logs, monkeypatch):
    """What one version of iomine could not read the next one opens again, and only then."""
    shutil.copy(logs / "none.darshan", logs / "copy.darshan")
    assert (4, 2, 0, 2) == sweep(logs)[0]
    assert ((4, 0, 2, 2), []) == sweep(logs)
    monkeypatch.setattr(known_room, "__version__", "99")
    assert ((4, 0, 2, 2), ["copy.darshan", "none.darshan"]) == sweep(logs)


@pytest.mark.usefixtures("settled")
def test_a_sweep_that_died_makes_no_file_known(sweep, warehouse, logs, monkeypatch):
    """A sweep that is killed before its last commit leaves nothing behind by which the next one would pass over a log."""
    commit_rows = commit_stage._commit_rows

    def die(given: object, table: str, rows: object) -> None:
        if table == "sweep":
            raise KeyboardInterrupt
        commit_rows(given, table, rows)

    with monkeypatch.context() as killed:
        killed.setattr(commit_stage, "_commit_rows", die)
        with pytest.raises(KeyboardInterrupt):
            sweep(logs)
    assert ((3, 2, 0, 1), ["a.darshan", "b.darshan", "none.darshan"]) == sweep(logs)
    assert 2 == len(column(warehouse, "SELECT log_id FROM core.known_file"))


def test_what_has_just_changed_is_not_trusted(sweep, warehouse, logs):
    """A file may change again within a tick of its clock and look the same, so one younger than a minute is opened again."""
    assert ((3, 2, 0, 1), ["a.darshan", "b.darshan", "none.darshan"]) == sweep(logs)
    assert ((3, 0, 2, 1), ["a.darshan", "b.darshan", "none.darshan"]) == sweep(logs)
    assert [] == column(warehouse, "SELECT log_id FROM core.known_file")


def test_the_youngest_time_of_a_file_counts():
    """A time that a program set back does not make a file old, and one in the future never lets it be."""
    now = datetime(2026, 1, 5, tzinfo=UTC)
    old, young = (int((now - timedelta(seconds=seconds)).timestamp() * 1e9) for seconds in (61, 59))
    settled = [is_settled(FileState(1, modified, changed, 7), now) for modified in (old, young) for changed in (old, young)]
    assert [True, False, False, False] == settled


@pytest.mark.usefixtures("settled")
def test_runs_of_several_files_are_known_as_a_whole(sweep, shared_data, tmp_path):
    """A traced run is one log whose files stay closed; with a file more or less they are opened, since the run is another."""
    folder = Path(shutil.copytree(shared_data / "traces" / "dftracer", tmp_path / "traces")) / "cm1_1_48_20240926"
    names = sorted(path.name for path in folder.iterdir())
    assert (1, 1, 0, 0) == sweep(folder)[0]
    assert ((1, 0, 1, 0), []) == sweep(folder)

    (folder / "more.pfw.gz").write_bytes(gzip.compress(b'[\n{"id":1,"name":"x","ph":"M"}\n'))
    assert ((2, 0, 1, 1), sorted([*names, "more.pfw.gz"])) == sweep(folder)
    assert ((2, 0, 1, 1), []) == sweep(folder)
    (folder / names[0]).unlink()
    assert ((2, 1, 0, 1), names[1:]) == sweep(folder)


def _known(path: str, log_id: str = "x", count: int | None = None) -> dict[str, KnownFile]:
    return {path: KnownFile(1, NIGHT, log_id, count)}


@pytest.mark.parametrize(
    ("found", "others", "also", "expected"),
    [
        (_known("/f/a") | _known("/f/b", "y"), ["/f/c"], [], 2),
        (_known("/f/a", count=2) | _known("/f/b", count=2), [], [], 1),
        (_known("/f/a", count=2), ["/f/b"], [], 0),
        (_known("/f/a", count=1), ["/f/b"], [], 0),
        (_known("/f/a", count=1), ["/g/b"], [], 1),
        (_known("/f/a", count=1), ["/f/b"], ["/f/b"], 1),
        (_known("/f/a", count=3) | _known("/f/b", count=3) | _known("/f/c"), [], [], 1),
        (_known("/f/a", count=1) | _known("/g/a", count=1), [], [], 2),
    ],
    ids=["logs", "whole", "changed", "joined", "elsewhere", "refused", "lost", "copied"],
)
def test_a_run_is_known_where_all_of_its_folder_is(found, others, also, expected):
    """Files of a run are known if none of them is missing and no other file of their folder may belong to it."""
    candidates = [Candidate(path, 1) for path in [*found, *others]]
    assert expected == log_count(with_whole_runs(found, candidates, also))


@pytest.mark.usefixtures("settled")
def test_members_of_an_archive_are_known_while_it_stays_the_same(sweep, logs, tmp_path):
    """Logs in an archive are not opened as long as nothing was added to it."""
    (logs / "none.darshan").unlink()
    pack([logs], tmp_path / "packed")
    assert (2, 2, 0, 0) == sweep(tmp_path / "packed")[0]
    assert ((2, 0, 2, 0), []) == sweep(tmp_path / "packed")
    shutil.copy(logs / "a.darshan", logs / "c.darshan")
    with (logs / "c.darshan").open("r+b") as file:
        file.write(b"x")
    pack([logs], tmp_path / "packed")
    counts, opened = sweep(tmp_path / "packed")
    assert ((3, 0, 2, 1), 3) == (counts, len(opened))


def test_rows_replace_those_of_the_same_state(tmp_path):
    """A file that is read again has one row, and rows of other nights and machines stay where they are."""
    path = tmp_path / "a.darshan"
    path.write_bytes(b"x")
    (candidate,) = find([path], 10)
    assert candidate.state is not None
    file = KnownFile(candidate.state.key(candidate.path), NIGHT, "0123456789abcdef")
    there: list[LakeFile] = []
    for log_id in ("0" * 16, "1" * 16):
        there = known_files(tmp_path, there, "c", [file._replace(log_id=log_id), KnownFile(7, NIGHT, "f" * 16)])
    assert [("c", NIGHT, 2)] == [(each.cluster, each.night, each.row_count) for each in there]
    found = remembered(Snapshot({}, {"known_file": there}), file_states([candidate]))
    assert {str(path): file._replace(log_id="1" * 16)} == found
    assert {} == remembered(Snapshot({}, {"known_file": there}), {})


def test_rows_of_all_files_of_a_night_stay(tmp_path):
    """After a move a night has a file of each machine."""
    there = [file for state in (1, 2) for file in known_files(tmp_path, [], "c", [KnownFile(state, NIGHT, f"{state:016x}")])]
    (file,) = known_files(tmp_path, there, "c", [KnownFile(3, NIGHT, f"{3:016x}")])
    assert 3 == file.row_count


@pytest.mark.usefixtures("settled")
def test_logs_of_another_cluster_are_named(warehouse, logs, capsys):
    """Who sweeps logs under a second cluster reads where they are known, whether or not they are opened."""
    assert {} == run(Settings((logs,), warehouse, "right")).elsewhere
    assert {} == run(Settings((logs,), warehouse, "right")).elsewhere
    for recheck in (False, True):
        summary = run(Settings((logs,), warehouse, "wrong", recheck=recheck))
        assert (2, {"right": 2}) == (summary.known, summary.elsewhere)
        show(summary, warehouse, as_json=False)
        assert "  2 known: in cluster right (see iomine move)" in capsys.readouterr().out.splitlines()
