"""The job record: both layouts, clocks that were never set, and texts that users wrote."""

import datetime as dt
import tracemalloc

import pytest
from writing import EXE, METADATA, MOUNTS, RUN_SECONDS, START, Blueprint, job, words, write

from iomine.errors import UnreadableError
from iomine.sources.darshan.container import open_container
from iomine.sources.darshan.identity import identify, night_of
from iomine.sources.darshan.job import read_night, user_from
from iomine.units import MIB


def test_a_run_of_the_future(read, tmp_path) -> None:
    """When it was is not known then, and its night is that in which the file was written; how long it took is known."""
    end = 32_472_144_000
    log = read(Blueprint(job=job(start=end - 100, end=end)))
    assert (None, None, None, 100) == (log.job.start_at, log.job.end_at, log.job.night, log.job.run_seconds)
    assert "the run ends in the future, on 2999-01-01, so its clock was wrong" == log.doubt


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("version", "layout"), [("3.41", "3.41"), ("3.41", "3.10"), ("3.10", "3.10"), ("3.00", "3.00")])
@pytest.mark.parametrize("end", [0, START + RUN_SECONDS, 32_472_144_000])
def test_the_night_alone(order: str, version: str, layout: str, end: int, read) -> None:
    """It is that of the whole record, for every layout, and for clocks that were never set."""
    blueprint = Blueprint(version=version, order=order, job=job(order, layout, start=0, end=end))
    assert read(blueprint).job.night == night_of(write(blueprint))


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("version", "run_seconds"), [("3.41", RUN_SECONDS), ("3.10", RUN_SECONDS + 1)])
def test_both_layouts(version: str, order: str, run_seconds: float, read) -> None:
    """All fields come out of either layout; whole seconds count both ends, as libdarshan counts them."""
    log = read(Blueprint(version=version, order=order))
    got = log.job
    assert (1000, "77", 4, run_seconds) == (got.uid, got.job_id, got.nprocs, got.run_seconds)
    assert START == got.start_at.timestamp()
    assert START + RUN_SECONDS == got.end_at.timestamp()
    assert dt.date(2023, 11, 14) == got.night
    assert (EXE, "sim", MOUNTS) == (got.exe, got.app, got.mounts)
    assert tuple(line.split("=", 1) for line in METADATA.splitlines()) == tuple(map(list, got.metadata))
    assert ("3.4.4", "", version) == (got.darshan_version, log.doubt, log.format_version)


def test_nanoseconds(read) -> None:
    """A run's length has the nanoseconds of both its ends."""
    got = read(Blueprint(job=job(start=START, end=START + 1, nanoseconds=(900_000_000, 100_000_001)))).job
    assert got.run_seconds == pytest.approx(0.200000001, abs=1e-12)
    assert dt.timedelta(microseconds=200_000) == got.end_at - got.start_at


def test_pre_release_layout(read) -> None:
    """A log that claims 3.41 and has the older job layout, as a development version wrote, is read, and doubted."""
    log = read(Blueprint(job=job(version="3.10")))
    assert ("77", 4, RUN_SECONDS + 1) == (log.job.job_id, log.job.nprocs, log.job.run_seconds)
    assert log.doubt == "the job record has the layout of formats before 3.41, though the log claims 3.41"


@pytest.mark.parametrize(
    ("fields", "doubt"),
    [
        ({"start": 0, "end": 100}, "the run ends before Darshan existed, so its clock was not set"),
        ({"end": START - 1}, "the run ends before it starts"),
        ({"nprocs": 0}, "the run has 0 processes"),
        ({"nprocs": -5}, "the run has -5 processes"),
        ({"nprocs": 2**31}, "the run has 2147483648 processes"),
        ({"start": 0}, "the run starts before Darshan existed, so its clock was not set"),
        ({"start": START - 1001 * 86400}, "the run takes 1,001 days"),
        ({"start": 10, "end": 5, "nprocs": 0}, "the run ends before it starts; the run ends before Darshan existed"),
    ],
)
def test_doubtful_records(fields: dict[str, int], doubt: str, read) -> None:
    """A record that cannot be true is marked as doubtful, and the columns that it leaves unknown are named."""
    log = read(Blueprint(job=job(**fields)))
    assert log.doubt.startswith(doubt)
    assert fields.get("nprocs", 4) == log.job.nprocs
    assert log.job.doubts
    assert ("nprocs" in {each.column for each in log.job.doubts}) == ("nprocs" in fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"end": 2**62},
        {"start": -1},
        {"end": -(2**63)},
        {"nanoseconds": (0, 10**9)},
        {"nanoseconds": (-1, 0)},
    ],
)
def test_times_that_are_none(fields: dict[str, int], read) -> None:
    """A record whose times are no times does not have the night, so the log is refused."""
    with pytest.raises(UnreadableError, match="holds no valid start and end of the run"):
        read(Blueprint(job=job(**fields)))


@pytest.mark.parametrize("region", [b"", b"short", words("<", *range(6))])
def test_record_that_is_too_short(region: bytes, read) -> None:
    """A job record without all of its numbers is refused, in a sentence that says how long it is."""
    with pytest.raises(UnreadableError, match=f"The job record is too short: it has {len(region)} bytes."):
        read(Blueprint(job=region))


def test_a_record_that_ends_in_its_metadata_is_doubted(read) -> None:
    """The numbers are whole, so the log is read; that its program is not known is said."""
    log = read(Blueprint(job=job()[:500]))
    assert ("", 4, "the job record ends before its command line") == (log.job.exe, log.job.nprocs, log.doubt)


@pytest.mark.parametrize("compression", ["zlib", "none"])
def test_a_job_record_of_megabytes(compression: str, tmp_path) -> None:
    """It is none, and identifying it, which no reader process guards, takes no memory: a file of 900 kB took 5 GiB once."""
    path = tmp_path / "x.darshan"
    path.write_bytes(write(Blueprint(job=job(mounts=(("/a" * 500_000, "lustre"),)) + bytes(200 * MIB), compression=compression)))
    data = path.read_bytes()
    tracemalloc.start()
    with pytest.raises(UnreadableError, match="inflates to more than 64"):
        read_night(open_container(data, is_for_job=True))
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most_bytes < 1 * MIB
    assert "64.0 KiB" in identify(path).reason


def test_text_is_given_as_it_is(read, rows) -> None:
    """Invalid UTF-8 is written out as escapes, and quotes, tabs and markup stay what they are."""
    exe = b"/bin/\xff<b>'x'\t\"y\" ; DROP TABLE log"
    log = read(Blueprint(job=job(exe=exe, metadata=b"key=a=b\nlonely\n\n\xfe=\xfd")))
    assert "/bin/\\xff<b>'x'\t\"y\" ; DROP TABLE log" == log.job.exe
    assert [
        {"key": "key", "entry": "a=b"},
        {"key": "lonely", "entry": ""},
        {"key": "\\xfe", "entry": "\\xfd"},
    ] == rows(log, "metadata")


def test_mounts_without_a_path_are_left_out(read) -> None:
    """A line of the mount table without a tab is no mount; anything else is kept in the log's order."""
    region = job(mounts=()).rstrip(b"\0") + b"\nnonsense\nnfs\t/home\next4\t/\0"
    assert (("/home", "nfs"), ("/", "ext4")) == read(Blueprint(job=region)).job.mounts


@pytest.mark.parametrize(
    ("file_name", "user"),
    [
        ("alice_sim_id77_11-14-100-5.darshan", "alice"),
        ("alice_sim_id77-123_11-14-100-5_1.darshan", "alice"),
        ("alice_my_sim_id77-123_11-14-100-5_1.darshan_partial", "alice"),
        ("anonymous.darshan", None),
        ("1977553-17460120447186390966.darshan", None),
        ("_sim_id77_11-14-100-5.darshan", None),
        ("alice_sim_id77_11-14-100-5.darshan.gz", None),
        ("al\udcffice_sim_id77_11-14-100-5_1.darshan", "al\\xffice"),
    ],
)
def test_user_from_file_name(file_name: str, user: str | None, read) -> None:
    """The login name is what stands before the program in a file name of Darshan's pattern, and nothing otherwise."""
    assert user == user_from(file_name)
    assert user == read(Blueprint(), file_name).user
