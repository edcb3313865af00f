"""One log, read whole: its job, its names, and the records of every module as columns."""

import hashlib
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyarrow as pa

from iomine.errors import UnreadableError
from iomine.schema.column import as_arrow
from iomine.sources.darshan.autoperf import decode_apmpi, decode_apxc
from iomine.sources.darshan.container import LATEST, Container, Inflated, Region, open_container
from iomine.sources.darshan.convert import convert
from iomine.sources.darshan.counters import LAYOUTS, decode_counters, decode_mdhim
from iomine.sources.darshan.decoded import NATIVE, WORD_BYTES, Columns, Decoded, assembled
from iomine.sources.darshan.dxt import decode_dxt
from iomine.sources.darshan.heatmap import decode_heatmap
from iomine.sources.darshan.identity import log_id_of, read_owned
from iomine.sources.darshan.job import Job, read_job, user_from
from iomine.sources.darshan.legacy import is_legacy, read_legacy
from iomine.sources.darshan.legacy_tables import legacy_tables
from iomine.sources.darshan.lustre import decode_lustre
from iomine.sources.darshan.modules import ModuleState
from iomine.sources.darshan.names import MountTable, read_names
from iomine.sources.darshan.packed import file_name

_SIMPLE: Final[dict[str, Callable[[bytes, str], Decoded]]] = {
    "HEATMAP": decode_heatmap,
    "APMPI": decode_apmpi,
    "APXC": decode_apxc,
    "MDHIM": decode_mdhim,
}
# Newest version of the modules that are not a fixed row of counters.
_NEWEST: Final = {"LUSTRE": 2, "DXT_POSIX": 2, "DXT_MPIIO": 3, "HEATMAP": 1, "APMPI": 1, "APXC": 1, "MDHIM": 1}
_TRACES: Final = ("DXT_POSIX", "DXT_MPIIO")
# The library's last release before format 3.41; logs of that format by it are of a version between releases.
_BEFORE_3_41: Final = "3.4.0"


@dataclass(frozen=True, slots=True)
class Log:
    """A log, read.

    Attributes:
        log_id: its id.
        job: what it says of its run.
        format_version: version of the file format.
        user: login name from the file name, None where that does not follow Darshan's pattern.
        size_bytes: size of the file.
        doubt: what is wrong with header or names, empty where nothing is.
        modules: state of each module.
        tables: columns by table, once for each module that gave some; `assembled` makes Arrow tables of them.
        owner_uid: owner of the file, of a log in an archive as the archive says; None where that is not known.
        archive_uid: owner of the archive, None where the log is a file of its own.
    """

    log_id: str
    job: Job
    format_version: str
    user: str | None
    size_bytes: int
    doubt: str
    modules: tuple[ModuleState, ...]
    tables: dict[str, list[Columns]] = field(default_factory=dict)
    owner_uid: int | None = None
    archive_uid: int | None = None

    @property
    def is_partial(self) -> bool:
        """True where Darshan ran out of memory for the records of some module."""
        return any(module.region.is_partial for module in self.modules)

    def table(self, name: str) -> pa.Table:
        """Rows of a table, none where the log has none of it."""
        return assembled(name, [(self.log_id, columns) for columns in self.tables.get(name, [])])


def read_log(path: str | os.PathLike[str], *, leave_traces: str = "") -> Log:
    """Reads every module of a log.

    A module that is damaged, of an unknown version, or does not hold what its name says is marked and left out or cut
    to what is sure; the others are read all the same.

    Args:
        path: a Darshan log of format 1.21 to 1.24, 2.00 to 2.06 or 3.x, or of one in an archive, `ARCHIVE.tar#NAME`; the user
            is taken from its file name.
        leave_traces: why DXT modules are to be left as they are, neither inflated nor decoded, and marked as unread with
            this reason; empty where they are to be read.

    Raises:
        UnreadableError: the file is not such a log, or too little of its header and job record is left.
    """
    file = Path(path)
    owned = read_owned(file)
    data = owned.data
    if is_legacy(data):
        return _read_legacy(data, file_name(path), owned.owner_uid, owned.archive_uid)
    container = open_container(data)
    job = read_job(container)
    names, name_doubt = read_names(container)
    log_id = log_id_of(hashlib.sha256(data).hexdigest())
    run_seconds = None if job.doubt else job.run_seconds
    numberings = [container.regions]
    if is_between_releases := container.era is LATEST and job.darshan_version == _BEFORE_3_41:
        numberings.append(container.regions_of_development)
    named = names.keys() if is_between_releases else None
    readings = [_read_modules(container, regions, run_seconds, leave_traces, named) for regions in numberings]
    # Under the wrong numbers, most regions are not what they are called.
    states, tables = min(readings, key=lambda reading: sum(state.state != "read" for state in reading[0]))
    for table, columns in _about(job, names, states, len(data)).items():
        tables[table] = [columns]
    return Log(
        log_id,
        job,
        container.version,
        user_from(file_name(path)),
        len(data),
        "; ".join(filter(None, (job.doubt, name_doubt))),
        tuple(states),
        tables,
        owned.owner_uid,
        owned.archive_uid,
    )


def _read_modules(
    container: Container,
    regions: Sequence[Region],
    run_seconds: float | None,
    leave_traces: str,
    named: Collection[int] | None,
) -> tuple[list[ModuleState], dict[str, list[Columns]]]:
    """States of modules, and what they hold as `Log` has it.

    Args:
        container: the log.
        regions: its modules.
        run_seconds: length of the run, None where it is not known.
        leave_traces: as `read_log` has it.
        named: ids that have names, for a log whose records may have other counters than those of their versions.
    """
    states = []
    tables: dict[str, list[Columns]] = {}
    for region in regions:
        if region.module in _TRACES and leave_traces:
            states.append(ModuleState(region, 0, "unread", leave_traces))
            continue
        decoded = _decode_alone(container, region, run_seconds)
        if named is not None:
            decoded = _none_of_other_layout(decoded, named)
        state, reason = _state(region, decoded)
        states.append(ModuleState(region, decoded.record_count, state, reason))
        for table, columns in decoded.tables.items():
            tables.setdefault(table, []).append(columns)
    return states, tables


def _none_of_other_layout(decoded: Decoded, named: Collection[int]) -> Decoded:
    """The records of a module, none where they cannot have the layout of their version."""
    is_named = all(
        id_ in named for part in decoded.tables.values() if "file_id" in part for id_ in as_arrow(part["file_id"]).to_pylist()
    )
    damage = decoded.damage or ("" if is_named else "its records have another layout than those of its version")
    return Decoded(damage=damage) if damage else decoded


def _read_legacy(data: bytes, name: str, owner_uid: int | None, archive_uid: int | None) -> Log:
    name = name.removesuffix(".gz").removesuffix(".bz2")
    log = read_legacy(data, name)
    tables, states = legacy_tables(log)
    doubt = "; ".join(filter(None, (log.job.doubt, log.damage)))
    log_id = log_id_of(hashlib.sha256(data).hexdigest())
    return Log(log_id, log.job, log.version, user_from(name), len(data), doubt, states, tables, owner_uid, archive_uid)


def _newest(module: str) -> int | None:
    """Newest version of a module that is understood, None for a module that is not known."""
    return LAYOUTS[module].version if module in LAYOUTS else _NEWEST.get(module)


def _decode_alone(container: Container, region: Region, run_seconds: float | None) -> Decoded:
    """As `_decode`; what a module makes Python raise costs that module.

    Raises:
        MemoryError: a trace takes too much, which is left out by who asked for it.
        UnreadableError: a library is missing on this machine.
    """
    try:
        return _decode(container, region, run_seconds)
    except UnreadableError:
        raise
    except MemoryError:
        if region.module in _TRACES:
            raise
        return Decoded(damage="it takes more memory than a log may have")
    except Exception as error:  # noqa: BLE001  whatever it is, the other modules are sound
        return Decoded(damage=f"its records make no sense to the reader ({type(error).__name__}: {error})")


def _decode(container: Container, region: Region, run_seconds: float | None) -> Decoded:
    newest = _newest(region.module)
    if newest is None or region.version > newest:
        return Decoded()
    inflated = container.inflate(region)
    decoded = _decode_region(container, region, inflated, run_seconds)
    if inflated.damage:
        # What follows from a cut, such as half a record at the end, is not another fault.
        return Decoded(decoded.tables, decoded.record_count, inflated.damage)
    return decoded


def _decode_region(container: Container, region: Region, inflated: Inflated, run_seconds: float | None) -> Decoded:
    module, order, data = region.module, container.order, inflated.data
    if module in LAYOUTS:
        if region.version == LAYOUTS[module].version:
            return decode_counters(module, data, order)
        return _older(decode_counters(module, convert(container, region, data), NATIVE), len(data))
    if module in _TRACES:
        return decode_dxt(module, region.version, data, order, run_seconds, is_whole=not inflated.damage)
    if module == "LUSTRE":
        return decode_lustre(data, region.version, order)
    return _SIMPLE[module](data, order)


def _older(decoded: Decoded, size: int) -> Decoded:
    """Records of an older layout, marked where they are not all that the region holds.

    How wide they were is known to libdarshan-util alone, but they were all equally wide, in whole words.
    """
    if size and (not decoded.record_count or size % (decoded.record_count * WORD_BYTES)):
        return Decoded(decoded.tables, decoded.record_count, f"its {size:,} bytes are not whole records of its version")
    return decoded


def _state(region: Region, decoded: Decoded) -> tuple[str, str]:
    newest = _newest(region.module)
    if newest is None:
        return "unsupported", f"{region.module} is a module that this version does not know"
    if region.version > newest:
        return "unsupported", f"its version {region.version} is newer than {newest}, the newest that this version knows"
    if decoded.damage:
        return "unsound", decoded.damage
    return "read", ""


def _about(job: Job, names: dict[int, str], states: list[ModuleState], size_bytes: int) -> dict[str, Columns]:
    """Columns of the tables about the log itself: names, mounts, metadata, modules."""
    mount_table = MountTable(job.mounts)
    mounts = [mount_table.of(name) for name in names.values()]
    tables: dict[str, dict[str, list[object]]] = {
        "file_name": {
            "file_id": list(names),
            "path": list(names.values()),
            "is_path_cut": [False] * len(names),
            "mount": [mount for mount, _ in mounts],
            "fs_type": [fs_type for _, fs_type in mounts],
        },
        "mount": {"mount": [mount for mount, _ in job.mounts], "fs_type": [fs_type for _, fs_type in job.mounts]},
        "metadata": {"key": [key for key, _ in job.metadata], "entry": [entry for _, entry in job.metadata]},
        "module": {
            "module": [state.region.module for state in states],
            "module_version": [state.region.version for state in states],
            # A damaged map may claim more than the file, or than an integer of 64 bits, can hold.
            "region_bytes": [max(0, min(state.region.length, size_bytes - state.region.offset)) for state in states],
            "record_count": [state.record_count for state in states],
            "is_partial": [state.region.is_partial for state in states],
            "state": [state.state for state in states],
            "reason": [state.reason or None for state in states],
        },
    }
    return {table: lists for table, lists in tables.items() if next(iter(lists.values()))}
