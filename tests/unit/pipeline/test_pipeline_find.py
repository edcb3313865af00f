import json
import os
import stat
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from iomine.errors import InputError, UsageError
from iomine.pipeline.ingest.find import check, find, shown

MIB = 1 << 20


def reasons(*paths: Path) -> dict[str, str]:
    return {Path(candidate.path).name: candidate.reason for candidate in find(paths, MIB)}


def test_only_names_of_logs_are_candidates(tmp_path):
    """Names with `.darshan` in them, those that Darshan gives to unfinished logs too, and gzip files; nothing else."""
    for name in ("a.darshan", "b.darshan_partial", "c.darshan.tmp", "d.gz", "e.txt", "darshan"):
        (tmp_path / name).touch()

    assert ["a.darshan", "b.darshan_partial", "c.darshan.tmp", "d.gz"] == list(reasons(tmp_path))


def test_a_file_that_is_named_is_a_candidate_whatever_its_name(tmp_path):
    """Who names a file wants it read."""
    (tmp_path / "log").touch()

    assert {"log": ""} == reasons(tmp_path / "log")


def test_paths_that_overlap_give_each_file_once(tmp_path):
    """A folder, a folder in it and a file in that name the same file, which is found once."""
    log = tmp_path / "in" / "a.darshan"
    log.parent.mkdir()
    log.touch()

    assert [str(log)] == [candidate.path for candidate in find([tmp_path, log.parent, log], MIB)]


def test_what_is_no_file_is_not_opened(tmp_path):
    """Pipes and devices named like logs never end, and sparse giants fill memory: each is reported, none is opened."""
    os.mkfifo(tmp_path / "pipe.darshan")
    (tmp_path / "pipe-behind-a-link.darshan").symlink_to("pipe.darshan")
    with (tmp_path / "giant.darshan").open("wb") as giant:
        giant.truncate(1 << 40)

    expected = {
        "giant.darshan": "The file has 1.0 TiB, more than 1.0 MiB, the limit for one file.",
        "pipe-behind-a-link.darshan": "This is not a regular file.",
        "pipe.darshan": "This is not a regular file.",
    }
    assert expected == reasons(tmp_path)


def test_a_device_is_not_opened(tmp_path):
    """A device named like a log is no file."""
    try:
        os.mknod(tmp_path / "zero.darshan", 0o644 | stat.S_IFCHR, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only root makes devices")

    assert {"zero.darshan": "This is not a regular file."} == reasons(tmp_path)


def test_links_that_lead_nowhere_are_reported(tmp_path):
    """A broken link and a loop of links are candidates with the system's reason."""
    (tmp_path / "broken.darshan").symlink_to("nowhere")
    (tmp_path / "loop.darshan").symlink_to("loop.darshan")

    expected = {
        "broken.darshan": "The file cannot be examined: No such file or directory.",
        "loop.darshan": "The file cannot be examined: Too many levels of symbolic links.",
    }
    assert expected == reasons(tmp_path)


def test_a_loop_of_folders_ends(tmp_path):
    """A link to a folder above is not followed, so that the walk comes to an end and finds each file once."""
    (tmp_path / "a.darshan").touch()
    (tmp_path / "up").symlink_to(tmp_path)

    assert {"a.darshan": ""} == reasons(tmp_path)


def test_a_link_that_leads_out_of_the_paths_is_reported(tmp_path):
    """A link to a folder elsewhere is not followed, but named, unless its target is below another path."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "old" / "day").mkdir(parents=True)
    (tmp_path / "old" / "day" / "a.darshan").touch()
    (tmp_path / "logs" / "away").symlink_to(tmp_path / "old" / "day")

    (reason,) = reasons(tmp_path / "logs").values()
    assert reason.startswith("The folder is a symbolic link, which is not followed")
    assert {"a.darshan": ""} == reasons(tmp_path / "logs", tmp_path / "old")


def test_parts_of_recorder_without_metadata_are_reported(tmp_path):
    """Parts that recorder2parquet wrote are named by their global.json where the file that stands for them is gone."""
    for name in ("part.0.parquet", "part.1.parquet", "global.json"):
        (tmp_path / name).touch()

    assert {"global.json": "The folder holds parts of recorder2parquet without their _metadata: run recorder2parquet again."} == (
        reasons(tmp_path)
    )


def test_a_missing_path_is_misuse(tmp_path):
    """The sentence names the path."""
    with pytest.raises(UsageError, match=r"There is no .*/nowhere: name folders or files that exist\."):
        check([tmp_path, tmp_path / "nowhere"])


def test_a_path_that_leads_round_in_circles_is_reported(tmp_path):
    """A loop of links that is given itself ends the command with the system's reason."""
    (tmp_path / "loop").symlink_to("loop")

    with pytest.raises(InputError, match="cannot be examined: Too many levels of symbolic links"):
        check([tmp_path / "loop"])


@pytest.mark.parametrize("name", [b"\xff", b"new\nline", b"quo'te\"", "ü".encode(), b"\xf0\x9f\x98"])
def test_any_name_can_be_found_and_shown(tmp_path, name):
    """A name of any bytes is found, and as it is shown it passes through JSON, Arrow and DuckDB unchanged."""
    path = os.path.join(os.fsencode(tmp_path), name + b".darshan")  # noqa: PTH118  bytes
    Path(os.fsdecode(path)).touch()

    (candidate,) = find([tmp_path], MIB)
    assert path == os.fsencode(candidate.path)
    reported = shown(candidate.path)
    assert reported == json.loads(json.dumps(reported))
    assert reported == pa.array([reported]).to_pylist()[0]
    assert (reported,) == duckdb.execute("SELECT $1", [reported]).fetchone()


def test_bytes_that_are_no_text_are_shown_as_escapes():
    """What is UTF-8 is shown as it is, anything else by its number."""
    assert r"/logs/ü\xff.darshan" == shown(os.fsdecode("/logs/ü".encode() + b"\xff.darshan"))
