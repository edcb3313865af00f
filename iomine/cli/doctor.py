"""`iomine doctor`: is this installation sound, and can it work on this warehouse."""
# ruff: noqa: PLC0415

import fcntl
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from iomine import QUERY_MEMORY
from iomine.cli.options import DEFAULT_WAREHOUSE, Warehouse, database_of
from iomine.errors import IomineError, did_you_mean
from iomine.locks import NO_LOCKS_REMEDY
from iomine.units import GIB, bytes_of, counted, human_bytes, visible

# A night of a large centre takes a few GiB; with less free space the next sweep may fail halfway.
_SPACE_TO_WORK: Final = 10 * GIB
# A night has a report for each log with findings, which at a large centre are tens of thousands.
_FILES_TO_WORK: Final = 100_000
_LOAD_SECONDS: Final = 60
_SLURM_FILE: Final = "slurm.toml"


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check.

    Attributes:
        state: whether it is sound.
        what: what was seen.
        remedy: what to do about it, empty where nothing needs doing.
    """

    state: Literal["ok", "warn", "fail"]
    what: str
    remedy: str = ""


def command(
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
    as_json: Annotated[bool, typer.Option("--json", help="JSON, for machines: an array of checks.")] = False,
) -> None:
    """Check this installation and the warehouse.

    Prints a line for each check, with what to do about a fault, and exits with status 1 if a fault would keep iomine
    from working.
    """
    checks = []
    of_program, of_settings = (_python, _libraries, _darshan), (_settings, _rules, _slurm)
    for look in (*of_program, _folder, _access, _outputs, _locks, *of_settings, _database, _backfill, _features):
        for check in _looked(look, warehouse):
            checks.append(check)
            if not as_json:
                remedy = f": {check.remedy}" if check.remedy else ""
                typer.echo(visible(f"{check.state:<5} {check.what}{remedy}"))
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks]))
    if any(check.state == "fail" for check in checks):
        raise typer.Exit(1)


def _looked(look: Callable[[Path], Iterator[Check]], warehouse: Path) -> Iterator[Check]:
    """The results of a group of checks; a group that fails itself must not hide the results of the others."""
    try:
        yield from look(warehouse)
    except Exception as error:  # noqa: BLE001 - any failure is a result
        yield Check(
            "fail", f"{look.__name__.strip('_')} cannot be checked ({type(error).__name__}: {error})", "install iomine again"
        )


def _python(_warehouse: Path) -> Iterator[Check]:
    from packaging.specifiers import SpecifierSet

    bounds = metadata.metadata("iomine")["Requires-Python"]
    version = platform.python_version()
    if SpecifierSet(bounds).contains(version, prereleases=True):
        yield Check("ok", f"Python {version}")
    else:
        yield Check("fail", f"Python {version}", f"install iomine under a Python {bounds}")


def _libraries(_warehouse: Path) -> Iterator[Check]:
    from packaging.requirements import Requirement

    for line in metadata.requires("iomine") or ():
        need = Requirement(line)
        if need.marker is not None and not need.marker.evaluate():
            continue
        try:
            version = metadata.version(need.name)
        except metadata.PackageNotFoundError:
            yield Check("fail", f"{need.name} is missing", f"pip install '{need}'")
            continue
        if need.specifier.contains(version, prereleases=True):
            yield Check("ok", f"{need.name} {version}")
        else:
            yield Check("fail", f"{need.name} {version} is not {need.specifier}", f"pip install '{need}'")


def _darshan(_warehouse: Path) -> Iterator[Check]:
    # In a process of its own: a C library that does not fit this machine may end the one that loads it.
    program = "from darshan.backend.cffi_backend import libdutil"
    loaded = subprocess.run(  # noqa: S603
        [sys.executable, "-P", "-c", program],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_LOAD_SECONDS,
        check=False,
    )
    if loaded.returncode == 0:
        yield Check("ok", "libdarshan-util loads")
    else:
        # PyDarshan lists all that may be tried.
        why = loaded.stderr.strip().rpartition("\n")[2].partition("! ")[0] or f"it ended with status {loaded.returncode}"
        yield Check(
            "fail",
            f"libdarshan-util does not load ({why}): logs with records of older versions are rejected",
            "use a Python version for which PyDarshan has a wheel, or name the library's folder in LD_LIBRARY_PATH",
        )


def _folder(warehouse: Path) -> Iterator[Check]:
    if not warehouse.exists():
        yield from _place_for(warehouse)
        return
    if not warehouse.is_dir():
        yield Check("fail", f"{warehouse} is not a folder", "name another with --warehouse")
        return
    if not os.access(warehouse, os.R_OK | os.X_OK):
        yield Check("fail", f"{warehouse} cannot be read", "ask its owner for access, or name another with --warehouse")
        return
    yield Check("ok", f"{warehouse} can be read")
    if os.access(warehouse, os.W_OK):
        yield Check("ok", f"{warehouse} can be written")
        yield from _space(warehouse)
    else:
        yield Check("warn", f"{warehouse} cannot be written", "queries work; run sweeps as its owner")


def _place_for(warehouse: Path) -> Iterator[Check]:
    above = next(folder for folder in warehouse.resolve().parents if folder.exists())
    if os.access(above, os.W_OK):
        yield Check("warn", f"{warehouse} does not exist yet", "run `iomine sweep`, or name another with --warehouse")
        yield from _space(above)
    else:
        yield Check("fail", f"{warehouse} does not exist and {above} cannot be written", "name another with --warehouse")


def _space(folder: Path) -> Iterator[Check]:
    """Checks room for what is kept in a folder, and for temporary files, where queries put what memory does not hold."""
    yield _room(folder, _SPACE_TO_WORK)
    disk = os.statvfs(folder)
    # Some file systems have no limit, and count none.
    if disk.f_files and disk.f_favail < _FILES_TO_WORK:
        left = counted(disk.f_favail, "more file")
        yield Check(
            "warn", f"the disk has room for only {left}", f"remove files, or move it to one with {_FILES_TO_WORK:,} inodes free"
        )
    temporary = Path(tempfile.gettempdir())
    if temporary.stat().st_dev != folder.stat().st_dev:
        yield _room(temporary, bytes_of(QUERY_MEMORY), f" in {temporary}", ", or name another folder with $TMPDIR")


def _room(folder: Path, needed_bytes: int, where: str = "", otherwise: str = "") -> Check:
    free = shutil.disk_usage(folder).free
    if free >= needed_bytes:
        return Check("ok", f"{human_bytes(free)} free{where}")
    return Check("warn", f"only {human_bytes(free)} free{where}", f"free at least {human_bytes(needed_bytes)}{otherwise}")


def _access(warehouse: Path) -> Iterator[Check]:
    """Checks who can read the files of logs, pages and mails."""
    from iomine.pipeline.site.config import site_config
    from iomine.sharing import giving, group_of, openness

    try:
        nightly, group = site_config(warehouse).nightly, group_of(warehouse)
    except IomineError:
        # Faults of the settings are results of another check.
        return
    places = [warehouse, *(Path(place) for place in (nightly.outbox, nightly.site) if place)]
    for place in places:
        if not place.is_dir() or warehouse in place.parents:
            continue
        seen = openness(place, group)
        if seen.first is None:
            yield Check("ok", f"{place} is closed to others than its owner and group")
        else:
            what = f"others can read {counted(seen.read_count, 'file')} and write {counted(seen.write_count, 'path')} in {place}"
            yield Check("warn", f"{what}, such as {seen.first}", f"run `chmod -R o-rwx {shlex.quote(str(place))}`")
        if group is not None and not seen.is_given:
            yield Check("warn", f"{place} is not of the group in the settings", f"run `{giving(place, group)}`")


def _outputs(warehouse: Path) -> Iterator[Check]:
    """Checks that a night can write what the settings ask for beside the warehouse."""
    from iomine.pipeline.site.config import site_config

    try:
        nightly = site_config(warehouse).nightly
    except IomineError:
        # Faults of the settings are results of another check.
        return
    # Who cannot write the warehouse does not run nights.
    if not os.access(warehouse, os.W_OK):
        return
    for name in ("outbox", "site", "metrics"):
        if not (place := getattr(nightly, name)):
            continue
        key, path = f"nightly.{name}", Path(place)
        # Other folders are made.
        folder = path.parent if name == "metrics" else next(each for each in (path, *path.parents) if each.exists())
        if not folder.is_dir():
            yield Check("fail", f"{folder} is not a folder", f"make it, or change {key}")
        elif not os.access(folder, os.W_OK | os.X_OK):
            yield Check("fail", f"{folder} cannot be written", f"let the user who runs nights write there, or change {key}")
        else:
            yield Check("ok", f"{path} can be written ({key})")


def _locks(warehouse: Path) -> Iterator[Check]:
    if not os.access(warehouse, os.W_OK):
        return
    try:
        with tempfile.TemporaryFile(dir=warehouse) as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        yield Check("fail", f"files in {warehouse} cannot be locked ({error.strerror})", NO_LOCKS_REMEDY)
    else:
        yield Check("ok", f"files in {warehouse} can be locked")


def _settings(warehouse: Path) -> Iterator[Check]:
    from iomine.config import CONFIG_FILE, config_of
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline.digest import site_settings
    from iomine.pipeline.site.config import problems
    from iomine.pipeline.site.fabric import FABRIC_FILE, site_fabric
    from iomine.pipeline.site.retention import site_retention
    from iomine.pipeline.site.triggers import OLD_FILE, THRESHOLDS_FILE, site_triggers
    from iomine.pipeline.site.views import VIEWS_FILE, site_views
    from iomine.pipeline.site.zones import site_zone
    from iomine.post.access import ACCESS_FILE, site_access

    folder = Folder(warehouse)
    if (config := config_of(warehouse)) is not None:
        wrong = list(problems(warehouse))
        yield from (Check("fail", sentence) for sentence in wrong)
        if not wrong:
            yield Check("ok", f"the settings in {config} can be used")
    readers: dict[str, Callable[[], object]] = {
        ACCESS_FILE: partial(site_access, warehouse),
        THRESHOLDS_FILE: partial(site_triggers, folder),
        OLD_FILE: partial(site_triggers, folder),
        "digest.toml": partial(site_settings, warehouse),
        FABRIC_FILE: partial(site_fabric, folder),
        "retention.toml": partial(site_retention, folder),
        "sources.toml": partial(site_zone, folder, ""),
        VIEWS_FILE: partial(site_views, folder),
    }
    for name in sorted(file.name for file in warehouse.glob("*.toml") if file.name not in {_SLURM_FILE, CONFIG_FILE}):
        if name not in readers:
            nearest = did_you_mean(name, (*readers, _SLURM_FILE)) or "take it out of the warehouse"
            yield Check("warn", f"{name} is not a file that iomine reads", nearest)
            continue
        try:
            readers[name]()
        except IomineError as error:
            yield Check("fail", str(error.args[0]))
        else:
            yield Check("ok", f"the settings in {name} can be used")


def _rules(warehouse: Path) -> Iterator[Check]:
    """Lists the rules and sources that the site or packages bring."""
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline.site.rules import site_rules
    from iomine.sources.inputs import package_sources

    rules = site_rules(Folder(warehouse))
    for file in rules.files:
        what = "trigger" if file.kind == "triggers" else "view site."
        yield Check("ok", f"{what}{' ' if file.kind == 'triggers' else ''}{file.name} comes from {file.package or file.path}")
    of_packages, faults = package_sources()
    for package, sources in of_packages.items():
        yield from (Check("ok", f"source {source.kind} comes from {package}") for source in sources)
    yield from (Check("fail", fault) for fault in (*rules.left_out.values(), *faults))


def _slurm(warehouse: Path) -> Iterator[Check]:
    from iomine.pipeline.workers.slurm import check, site_of
    from iomine.settings import has_site_file

    if not has_site_file(warehouse / _SLURM_FILE):
        return
    try:
        check(site_of(warehouse))
    except IomineError as error:
        yield Check("fail", str(error.args[0]))
    else:
        yield Check("ok", "Slurm would take the jobs that slurm.toml describes")


def _database(warehouse: Path) -> Iterator[Check]:
    from iomine.schema import TABLES
    from iomine.views.query import LAKE_DIRECTORY, answer, open_catalog

    database = database_of(warehouse)
    if not database.exists():
        yield Check("warn", f"{database} does not exist yet", "run `iomine sweep`")
        return
    try:
        connection = open_catalog(database)
    except IomineError as error:
        yield Check("fail", str(error.args[0]))
        return
    yield Check("ok", f"{database} opens")
    with connection:
        rows = answer(connection, "SELECT value FROM _meta WHERE key = $key", {"key": LAKE_DIRECTORY})["value"].to_pylist()
        elsewhere = [place for place in rows if not (warehouse / place).resolve().is_relative_to(warehouse.resolve())]
        # Of a folder that was moved, every table would fail for the one reason that is said below.
        tables = () if elsewhere else TABLES
        broken = [fault for table in tables if (fault := _fault(partial(answer, connection), table))]
    yield from (Check("fail", fault, "run `iomine sweep` to build the views again") for fault in broken)
    # A copy answers with the files of the original, as long as these are there.
    yield from (
        Check("fail", f"{database} shows the files of {place}", "run `iomine judge` to show this folder's") for place in elsewhere
    )
    if not broken and not elsewhere:
        yield Check("ok", "all files of the lake are there")
        yield from _failures(database)


def _backfill(warehouse: Path) -> Iterator[Check]:
    """Looks for nights that a killed backfill has left to be judged again."""
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline.corrections import unsettled

    if nights := sorted(night for _, night in unsettled(Folder(warehouse)).noted()):
        what = f"{counted(len(nights), 'night')} came after later ones, which are not judged again yet"
        yield Check("warn", what, f"run `iomine backfill --since {nights[0]} --until {nights[0]}`, which judges them at its end")


def _features(warehouse: Path) -> Iterator[Check]:
    """Looks for nights whose features another iomine, or other settings, gave."""
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline.judging.fresh import stale_features
    from iomine.pipeline.site.triggers import site_triggers

    folder = Folder(warehouse)
    try:
        files, triggers = folder.lake.snapshot().files, site_triggers(folder)
    except IomineError:
        # What is wrong with the warehouse or its settings is the result of another check.
        return
    if nights := stale_features(files, list(triggers.values())):
        what = f"features of {counted(len(nights), 'night')} were worked out by other definitions or settings than today's"
        yield Check("warn", what, "run `iomine judge`, which works them out again")


def _failures(database: Path) -> Iterator[Check]:
    """Looks for derivations that failed on logs, which are faults of this program."""
    from iomine.views.query import ask
    from iomine.views.questions import question

    (row,) = ask(database, question("doctor/failures")).to_pylist()
    if row["failures"]:
        what = f"{counted(row['failures'], 'derivation')} of {counted(row['logs'], 'log')} failed, for example of {row['first']}"
        yield Check("warn", what, "`iomine status` lists them; report it with such a log")


def _fault(ask: Callable[[str], object], table: str) -> str | None:
    """The reason why a table cannot be read, if there is one. A count opens every file, and reads only its last bytes."""
    try:
        ask(f"SELECT count(*) FROM lake.{table}")  # noqa: S608
    except IomineError as error:
        return f"the table {table} cannot be read ({error.__cause__ or error})"
    return None
