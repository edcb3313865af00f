"""Logs that are written, read back by our own reader, and held against those that libdarshan-util writes."""

from pathlib import Path

import libdarshan
import numpy as np
import pytest

from iomine.errors import OutputError
from iomine.sources.darshan import read_log
from iomine.sources.darshan.container import Container, open_container
from iomine.sources.darshan.writing import CounterRecords, HeatMaps, Run, dxt_data, lustre_data, record_id, write_log

RUN = Run(
    1000,
    77,
    2,
    1_700_000_000_250_000_000,
    1_700_000_100_500_000_000,
    "/opt/app/bin/sim --steps 10",
    (("/", "ext4"), ("/scratch", "lustre")),
    {"lib_ver": "3.4.4"},
)
FILES = ("/scratch/ü", "/scratch/b")
IDS = np.array([record_id(name) for name in FILES])


def modules() -> dict[str, bytes]:
    """One module of each shape, in no order."""
    posix = CounterRecords("POSIX", 2)
    posix["file_id"], posix["rank"], posix["read_bytes"], posix["read_seconds"] = IDS, [-1, 1], [8, 2**60], [0.5, 0.25]
    maps = HeatMaps()
    number = maps.add("posix", 2, 0.1, 3)
    maps.fill(np.array([number, number]), np.array([0, 1]), np.array([True, False]), np.array([1, 7]), np.array([8, 9]))
    hosts = np.array([b"nid1", b"nid2"], "S64")
    segments = (np.arange(3), np.arange(3) + 1, np.arange(3) / 8, np.arange(3) / 4)
    return {
        "HEATMAP": maps.data(number),
        "DXT_POSIX": dxt_data(IDS, np.array([0, 1]), hosts, np.array([0, 2]), np.array([1, 0]), segments=segments),
        "LUSTRE": lustre_data(IDS, np.array([-1, 1]), np.array([1 << 20, 1 << 20]), np.array([[3, 4], [5, 6]]))[0],
        "POSIX": posix.data(),
    }


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Job, names and records of all modules come back as they were given."""
    path = tmp_path / "log.darshan"
    write_log(path, RUN, dict(zip(IDS.tolist(), FILES, strict=True)), modules())
    log = read_log(path)
    assert "" == log.doubt + log.job.doubt
    assert {("POSIX", "read"), ("LUSTRE", "read"), ("DXT_POSIX", "read"), ("HEATMAP", "read")} == {
        (module.region.module, module.state) for module in log.modules
    }
    assert (RUN.exe, "77", 2, 100.25) == (log.job.exe, log.job.job_id, log.job.nprocs, log.job.run_seconds)
    assert {*RUN.mounts} == {*log.job.mounts}
    assert "3.4.4" == log.job.darshan_version
    assert list(FILES) == log.tables["file_name"][0]["path"]
    posix = log.tables["posix_file"][0]
    assert [8, 2**60] == posix["read_bytes"].to_pylist()
    assert [0.5, 0.25] == posix["read_seconds"].to_pylist()
    heat = log.tables["heatmap_rank"][0]
    assert ([[1], []], [[8], []]) == (heat["read_bin_numbers"].to_pylist(), heat["read_bin_amounts"].to_pylist())
    assert ([[], [2]], [[], [9]]) == (heat["write_bin_numbers"].to_pylist(), heat["write_bin_amounts"].to_pylist())
    assert [[3, 4], [5, 6]] == log.tables["lustre_component"][0]["ost_ids"].to_pylist()
    segment = log.tables["segment"][0]
    assert ["write", "read", "read"] == segment["op"].to_pylist()
    assert ["nid1", "nid1", "nid2"] == segment["host"].to_pylist()
    assert [0, 1, 2] == segment["offset_bytes"].to_pylist()


def test_a_log_is_as_old_as_its_run(tmp_path: Path) -> None:
    """The file's time is that of the end of the run."""
    write_log(tmp_path / "log.darshan", RUN, {}, {})
    assert RUN.end_ns == (tmp_path / "log.darshan").stat().st_mtime_ns


def inside(container: Container) -> dict[str, object]:
    """All that a log's regions hold, with what the header says of them."""
    modules = {region.id: (region.module, region.version, region.is_partial) for region in container.regions}
    return {
        "header": (container.version, container.order, container.compression, container.job_at),
        "job": container.inflate_job(),
        "names": container.inflate_names(),
        "modules": modules,
        "records": {region.id: container.inflate(region) for region in container.regions},
    }


def test_regions_are_those_of_libdarshan(tmp_path: Path) -> None:
    """The same records written through libdarshan-util's own calls give the same bytes in every region."""
    names = dict(zip(IDS.tolist(), FILES, strict=True))
    found = []
    for folder, write in (("libdarshan", libdarshan.write_log), ("ours", write_log)):
        write(tmp_path / folder, RUN, names, modules())
        found.append(inside(open_container((tmp_path / folder).read_bytes())))
    assert 4 == len(found[0]["modules"])
    assert found[0] == found[1]


def test_a_log_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """A folder that is not there, and a file that is, are reported in a sentence."""
    with pytest.raises(OutputError, match=r"cannot be written \(No such file or directory\): choose another folder"):
        write_log(tmp_path / "none" / "log.darshan", RUN, {}, {})
    write_log(tmp_path / "log.darshan", RUN, {}, {})
    with pytest.raises(OutputError, match=r"cannot be written \(File exists\): choose another folder"):
        write_log(tmp_path / "log.darshan", RUN, {}, {})


def test_ids_are_those_of_the_name() -> None:
    """The same name has the same id in every log, another name another."""
    assert record_id(FILES[0]) == IDS[0]
    assert IDS[0] != IDS[1]
    assert np.iinfo(np.int64).min <= record_id(FILES[0]) <= np.iinfo(np.int64).max
