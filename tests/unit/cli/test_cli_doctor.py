"""`iomine doctor`."""

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from datetime import date
from grp import getgrgid
from importlib import metadata
from pathlib import Path

import pytest
from catalogs import committed, staged

from iomine.cli import doctor
from iomine.lake import Warehouse
from iomine.pipeline.corrections import unsettled


@pytest.fixture
def libdarshan_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where something else is looked at: to load it in a process of its own takes longer than the rest."""
    monkeypatch.setattr(subprocess, "run", lambda *_args, **_options: subprocess.CompletedProcess([], 0, "", ""))


def _lines(answer, state: str) -> list[str]:
    return [line.partition(" ")[2].strip() for line in answer.stdout.splitlines() if line.startswith(state)]


def test_sound_installation_is_all_ok(iomine, warehouse: Path) -> None:
    """On a sound warehouse nothing fails, and every library is named with its version."""
    answer = iomine("doctor", "--warehouse", warehouse)
    assert (answer.exit_code, _lines(answer, "fail")) == (0, [])
    sound = _lines(answer, "ok")
    expected = {
        f"duckdb {metadata.version('duckdb')}",
        "libdarshan-util loads",
        f"{warehouse} can be written",
        f"files in {warehouse} can be locked",
        f"{warehouse}/iomine.duckdb opens",
        "all files of the lake are there",
    }
    assert expected - set(sound) == set()


@pytest.mark.usefixtures("libdarshan_loads")
def test_missing_warehouse_is_only_a_warning(iomine, tmp_path: Path) -> None:
    """Before the first sweep there is no warehouse, and nothing is wrong with that."""
    answer = iomine("doctor", "--warehouse", tmp_path / "new" / "warehouse")
    assert answer.exit_code == 0
    assert any("does not exist yet: run `iomine sweep`" in line for line in _lines(answer, "warn"))


@pytest.mark.usefixtures("libdarshan_loads")
def test_lost_file_of_the_lake_fails(iomine, warehouse_of) -> None:
    """A data file that is gone is found, with the table that it belongs to."""
    warehouse = warehouse_of(log=[{"log_id": "a1"}, {"log_id": "a2"}])
    next((warehouse / "lake").rglob("0001.parquet")).unlink()
    answer = iomine("doctor", "--warehouse", warehouse)
    (fault,) = _lines(answer, "fail")
    assert answer.exit_code == 1
    assert fault.startswith("the table log cannot be read")
    assert "0001.parquet" in fault


@pytest.mark.usefixtures("libdarshan_loads")
def test_a_copy_that_answers_from_the_original_fails(iomine, warehouse_of, tmp_path: Path) -> None:
    """A restored backup passes no check as long as its catalog shows the files of the warehouse that it was copied from."""
    original = warehouse_of(log=[{"cluster": "x", "night": date(2024, 4, 18), "log_id": "a"}])
    copy = shutil.copytree(original, tmp_path / "copy")
    answer = iomine("doctor", "--warehouse", copy)

    assert 1 == answer.exit_code
    assert f"shows the files of {original}" in answer.stdout
    assert "shows the files" not in iomine("doctor", "--warehouse", original).stdout

    original.rename(tmp_path / "gone")
    (fault,) = _lines(iomine("doctor", "--warehouse", copy), "fail")
    assert f"shows the files of {original}" in fault


def test_derivations_that_failed_are_a_warning(iomine, warehouse_of) -> None:
    """What could not be worked out of logs is counted, with a log to report it with."""
    failed = [{"log_id": log_id, "derivation": name} for log_id, name in [("a2", "phase"), ("a2", "period"), ("a1", "verdict")]]
    answer = iomine("doctor", "--warehouse", warehouse_of(failed_derivation=failed))
    expected = "3 derivations of 2 logs failed, for example of a1: `iomine status` lists them; report it with such a log"
    assert answer.exit_code == 0
    assert expected in _lines(answer, "warn")


@pytest.mark.usefixtures("libdarshan_loads")
def test_nights_that_a_killed_backfill_left_are_a_warning(iomine, warehouse_of) -> None:
    """With the command that settles them."""
    warehouse = warehouse_of(log=[{"log_id": "a1"}])
    unsettled(Warehouse(warehouse)).add([("default", date(2026, 1, 6)), ("default", date(2026, 1, 5))])
    (warning,) = [line for line in _lines(iomine("doctor", "--warehouse", warehouse), "warn") if "came after later ones" in line]
    assert warning.startswith("2 nights came")
    assert "iomine backfill --since 2026-01-05 --until 2026-01-05" in warning


@pytest.mark.usefixtures("libdarshan_loads")
def test_nights_with_features_of_other_definitions_are_a_warning(iomine, tmp_path: Path) -> None:
    """A night without any features is one of these."""
    warehouse = Warehouse(tmp_path)
    committed(warehouse, [staged(warehouse, "log", [{"log_id": "a1"}], "default", date(2026, 1, 5))])
    answer = iomine("doctor", "--warehouse", tmp_path)
    what = "features of 1 night were worked out by other definitions or settings than today's"
    assert f"{what}: run `iomine judge`, which works them out again" in _lines(answer, "warn")


@pytest.mark.usefixtures("libdarshan_loads")
def test_file_that_is_no_database_fails(iomine, tmp_path: Path) -> None:
    """A file of views that does not open is a failure with a remedy."""
    (tmp_path / "iomine.duckdb").write_bytes(b"no database" * 1000)
    answer = iomine("doctor", "--warehouse", tmp_path)
    assert answer.exit_code == 1
    assert any("iomine sweep" in line for line in _lines(answer, "fail"))


@pytest.mark.usefixtures("libdarshan_loads")
def test_warehouse_that_is_a_file_fails(iomine, tmp_path: Path) -> None:
    """A warehouse is a folder."""
    (tmp_path / "file").touch()
    answer = iomine("doctor", "--warehouse", tmp_path / "file")
    assert answer.exit_code == 1
    assert f"{tmp_path}/file is not a folder: name another with --warehouse" in _lines(answer, "fail")


@pytest.mark.usefixtures("libdarshan_loads")
def test_someone_elses_warehouse_is_a_warning(iomine, warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may only read can ask questions; a message says that only the owner may sweep."""
    monkeypatch.setattr(os, "access", lambda _path, mode: not mode & os.W_OK)
    answer = iomine("doctor", "--warehouse", warehouse)
    assert answer.exit_code == 0
    assert any("cannot be written" in line for line in _lines(answer, "warn"))


@pytest.mark.usefixtures("libdarshan_loads")
def test_file_system_without_locks_fails(iomine, warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where files cannot be locked, two sweeps could meet, so that is a failure."""

    def refused(*_arguments: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "lockf", refused)
    answer = iomine("doctor", "--warehouse", warehouse)
    assert answer.exit_code == 1
    assert any("cannot be locked (Function not implemented)" in line for line in _lines(answer, "fail"))


@pytest.mark.usefixtures("libdarshan_loads")
def test_full_disk_is_a_warning(iomine, warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Little room is reported before a sweep ends in the middle."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: shutil._ntuple_diskusage(10, 9, 1))
    assert "only 1 B free: free at least 10.0 GiB" in _lines(iomine("doctor", "--warehouse", warehouse), "warn")


@pytest.mark.usefixtures("libdarshan_loads")
def test_a_disk_without_room_for_files_is_a_warning(iomine, warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk may have bytes free and no inodes, which the many small files of reports take first."""
    disk = list(os.statvfs(warehouse))
    disk[5:8] = 10**6, 99_999, 99_999
    monkeypatch.setattr(os, "statvfs", lambda _folder: os.statvfs_result(disk))
    said = "the disk has room for only 99,999 more files: remove files, or move it to one with 100,000 inodes free"
    assert said in _lines(iomine("doctor", "--warehouse", warehouse), "warn")


@pytest.mark.usefixtures("libdarshan_loads")
def test_a_full_disk_of_temporary_files_is_a_warning(iomine, warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries put there what memory does not hold; the disk of the warehouse is looked at once."""
    usage = shutil._ntuple_diskusage
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(10, 9, 1) if folder == Path("/proc") else usage(10, 9, 10**12))
    assert [] == [line for line in _lines(iomine("doctor", "--warehouse", warehouse), "warn") if "free" in line]
    monkeypatch.setattr(tempfile, "tempdir", "/proc")
    said = "only 1 B free in /proc: free at least 4.0 GiB, or name another folder with $TMPDIR"
    assert said in _lines(iomine("doctor", "--warehouse", warehouse), "warn")


@pytest.mark.usefixtures("libdarshan_loads")
def test_library_out_of_bounds_fails(iomine, warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that is missing, too old or too new is named with what to install."""
    monkeypatch.setattr(metadata, "requires", lambda _name: ["rich>=999", "no-such-library>=1", "typer; python_version < '3'"])
    failed = _lines(iomine("doctor", "--warehouse", warehouse), "fail")
    expected = [f"rich {metadata.version('rich')} is not >=999: pip install 'rich>=999'"]
    expected += ["no-such-library is missing: pip install 'no-such-library>=1'"]
    assert expected == failed


@pytest.mark.parametrize(
    ("ended", "expected"),
    [
        (subprocess.CompletedProcess([], 1, "", "Traceback\nImportError: no lib\n"), "ImportError: no lib"),
        (subprocess.CompletedProcess([], -11, "", ""), "it ended with status -11"),
    ],
)
def test_libdarshan_that_does_not_load_fails(
    iomine, warehouse: Path, monkeypatch: pytest.MonkeyPatch, ended, expected: str
) -> None:
    """A C library that is missing, or ends its process, is reported without ending the doctor's."""
    monkeypatch.setattr(subprocess, "run", lambda *_args, **_options: ended)
    (fault,) = _lines(iomine("doctor", "--warehouse", warehouse), "fail")
    assert f"libdarshan-util does not load ({expected})" in fault


def test_look_that_fails_hides_no_other(iomine, warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one check breaks down, it is a failure of its own and the others go on."""

    def broken(_name: str) -> None:
        raise RuntimeError("no metadata")

    monkeypatch.setattr(metadata, "requires", broken)
    answer = iomine("doctor", "--warehouse", warehouse)
    assert any("libraries cannot be checked (RuntimeError: no metadata)" in line for line in _lines(answer, "fail"))
    assert "libdarshan-util loads" in _lines(answer, "ok")


@pytest.fixture
def settings_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves out what has nothing to do with settings: to load libdarshan-util and to open all tables takes seconds each time."""
    for look in ("_libraries", "_darshan", "_database"):
        monkeypatch.setattr(doctor, look, lambda _warehouse: iter(()))


@pytest.mark.usefixtures("settings_alone")
def test_settings_for_slurm_are_looked_at_where_there_are_some(iomine, warehouse: Path) -> None:
    """An unknown one is reported with the nearest; a warehouse without the file has nothing to say of Slurm."""
    assert "Slurm" not in iomine("doctor", "--warehouse", warehouse).stdout

    (warehouse / "slurm.toml").write_text("corse = 4\n")
    answer = iomine("doctor", "--warehouse", warehouse)
    reported = f"{warehouse}/slurm.toml: There is no Slurm setting corse: did you mean cores?"
    assert (1, [reported]) == (answer.exit_code, _lines(answer, "fail"))


@pytest.mark.usefixtures("settings_alone")
@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (
            "thresholds.toml",
            "[POSIX-101]\nsmall_read_ratios = 1\n",
            "POSIX-101 has no threshold small_read_ratios: did you mean small_read_ratio?",
        ),
        ("digest.toml", "cooldwn_days = 3\n", "There is no digest setting cooldwn_days: did you mean cooldown_days?"),
        ("digest.toml", "[notices]\nregression = 3\n", "There is no notice regression: did you mean regressions?"),
        ("retention.toml", "[dayz]\n", "There is no retention setting dayz: did you mean days?"),
        ("retention.toml", "[days]\nsegmant = 3\n", "There is no table segmant: did you mean segment?"),
        ("fabric.toml", "[gateway]\n", "There is no fabric setting gateway: did you mean gateways?"),
        ("fabric.toml", "[names]\nfiles = 'x'\n", "There is no fabric setting names.files: did you mean file?"),
        ("sources.toml", "[time_zones]\n", "There is no sources setting time_zones: did you mean time_zone?"),
        (
            "sources.toml",
            '[time_zone]\nmira = "Mars"\n',
            "'Mars' is not a time zone: write one such as \"Europe/Berlin\" for mira.",
        ),
    ],
)
def test_settings_are_looked_at(iomine, warehouse: Path, file: str, text: str, message: str) -> None:
    """Each file of the site is read as commands read it; a fault is reported with the file and the nearest right name."""
    (warehouse / file).write_text(text)
    answer = iomine("doctor", "--warehouse", warehouse)
    assert (1, [f"{warehouse / file}: {message}"]) == (answer.exit_code, _lines(answer, "fail"))
    (warehouse / file).write_text("")
    assert f"the settings in {file} can be used" in _lines(iomine("doctor", "--warehouse", warehouse), "ok")


@pytest.mark.usefixtures("settings_alone")
def test_a_file_that_nothing_reads_is_reported(iomine, warehouse: Path) -> None:
    """A file whose name is mistyped would be ignored in silence otherwise."""
    (warehouse / "digets.toml").write_text("")
    answer = iomine("doctor", "--warehouse", warehouse)
    assert "digets.toml is not a file that iomine reads: did you mean digest.toml?" in _lines(answer, "warn")


@pytest.mark.usefixtures("libdarshan_loads")
def test_machines_get_the_same_in_json(iomine, tmp_path: Path) -> None:
    """Each line is an object, and the status is the same."""
    answers = [iomine("doctor", *json_, "--warehouse", tmp_path) for json_ in ([], ["--json"])]
    lines = [
        f"{each['state']:<5} {each['what']}{': ' * bool(each['remedy'])}{each['remedy']}"
        for each in json.loads(answers[1].stdout)
    ]
    assert answers[0].stdout.splitlines() == lines
    assert 1 == len({answer.exit_code for answer in answers})


@pytest.mark.usefixtures("libdarshan_loads")
def test_what_is_open_to_others_is_named(iomine, warehouse_of, tmp_path: Path) -> None:
    """Of the warehouse and the outbox, with the command that closes it; a group that is not that of the settings likewise."""
    warehouse, outbox = warehouse_of(log=[{"log_id": "a1"}]), tmp_path / "out box"
    outbox.mkdir()
    (outbox / "1.eml").touch()
    group = os.getegid()
    (warehouse / "iomine.toml").write_text(f'group = "{group}"\n[nightly]\noutbox = "{outbox}"\n')
    warehouse.chmod(0o2750)
    for path in (outbox / "1.eml", outbox):
        path.chmod(0o755)
    answer = iomine("doctor", "--json", "--warehouse", warehouse)
    assert 0 == answer.exit_code
    checks = {check["what"]: check["remedy"] for check in json.loads(answer.stdout)}
    assert not checks[f"{warehouse} is closed to others than its owner and group"]
    opened = f"others can read 1 file and write 0 paths in {outbox}, such as {outbox}/1.eml"
    assert f"run `chmod -R o-rwx '{outbox}'`" == checks[opened]
    assert checks[f"{outbox} is not of the group in the settings"].startswith(f"run `chgrp -R {getgrgid(group).gr_name} ")


@pytest.mark.usefixtures("settings_alone")
def test_places_that_nights_write_to_are_looked_at(iomine, warehouse: Path, tmp_path: Path) -> None:
    """The folder of the figures has to be there; the outbox and the site are made, unless a file is in the way."""
    (tmp_path / "file").touch()
    outbox, metrics = tmp_path / "new" / "outbox", tmp_path / "new" / "iomine.prom"
    (warehouse / "iomine.toml").write_text(
        f'[nightly]\noutbox = "{outbox}"\nsite = "{tmp_path}/file/site"\nmetrics = "{metrics}"\n'
    )
    answer = iomine("doctor", "--warehouse", warehouse)
    assert 1 == answer.exit_code
    assert [
        f"{tmp_path}/file is not a folder: make it, or change nightly.site",
        f"{tmp_path}/new is not a folder: make it, or change nightly.metrics",
    ] == _lines(answer, "fail")
    assert f"{outbox} can be written (nightly.outbox)" in _lines(answer, "ok")
    outbox.parent.mkdir()
    assert f"{metrics} can be written (nightly.metrics)" in _lines(iomine("doctor", "--warehouse", warehouse), "ok")


@pytest.mark.usefixtures("settings_alone")
def test_a_place_that_nights_may_not_write_to_fails(iomine, warehouse: Path, tmp_path: Path, monkeypatch) -> None:
    """The user who runs nights needs the right to write there."""
    (warehouse / "iomine.toml").write_text(f'[nightly]\nmetrics = "{tmp_path}/prom/iomine.prom"\n')
    (tmp_path / "prom").mkdir()
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path / "prom" and allowed(path, mode))
    remedy = "let the user who runs nights write there, or change nightly.metrics"
    assert [f"{tmp_path}/prom cannot be written: {remedy}"] == _lines(iomine("doctor", "--warehouse", warehouse), "fail")
