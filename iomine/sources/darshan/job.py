"""The job record: who ran what, when, on how many processes, with which file systems mounted.

Layouts after `struct darshan_job` in `darshan-log-format.h`: whole seconds before format 3.41, seconds and nanoseconds
from then on. Some logs of a development version carry the version string 3.41 and the older layout.
"""

import os
import pwd
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from iomine.errors import UnreadableError
from iomine.sources.darshan.application import application_of
from iomine.sources.darshan.container import Container
from iomine.sources.darshan.doubts import Doubt

_METADATA_BYTES: Final = 1024
# By byte order, and whether times have nanoseconds.
_NUMBERS: Final = {(order, wide): struct.Struct(f"{order}{7 if wide else 5}q") for order in "<>" for wide in (False, True)}
_UID_DIGITS: Final = 10
_NANOSECONDS: Final = 1_000_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# Darshan was first released in 2009; a log that ended before was written under a clock that nobody set.
_OLDEST: Final = datetime(2008, 1, 1, tzinfo=UTC)
_LATEST_SECONDS: Final = int((datetime(9999, 1, 1, tzinfo=UTC) - _EPOCH).total_seconds())
# No machine runs as long without a break.
_LONGEST: Final = timedelta(days=1000)
# Clocks of machines differ by less.
_AHEAD: Final = timedelta(days=1)
# MPI counts processes in 32 bits.
_MOST_PROCESSES: Final = 2**31 - 1
# user_program_id<job>[-<pid>]_<month>-<day>-<seconds>[-<hash>][_<count>].darshan
_FILE_NAME: Final = re.compile(
    r"(?P<user>[^/]+?)_[^/]*_id(?P<job>\d+)(?:-\d+)?_\d+-\d+-\d+(?:-\d+)?(?:_\d+)?\.darshan(?:_partial)?"
)


@dataclass(frozen=True, slots=True)
class Job:
    """What a log says of its run.

    Attributes:
        uid: whose it was, None where the source does not say it.
        job_id: the scheduler's, None likewise.
        start_at: start in UTC, None where the clock was that of another time.
        end_at: end in UTC, None likewise.
        run_seconds: length of the run; before format 3.41 whole seconds, both ends counted, as libdarshan-util does.
        metadata: entries of the metadata text, in its order.
        mounts: mount points and file system types, in the log's order.
        doubt: what is wrong with the record, empty where nothing is.
        doubts: the numbers among it, by the columns of the table `log` that are not known for them.
    """

    uid: int | None
    job_id: str | None
    nprocs: int
    start_at: datetime | None
    end_at: datetime | None
    run_seconds: float
    exe: str
    metadata: Sequence[tuple[str, str]] = field(default_factory=tuple)
    mounts: Sequence[tuple[str, str]] = field(default_factory=tuple)
    doubt: str = ""
    doubts: Sequence[Doubt] = ()

    @property
    def night(self) -> date | None:
        """The UTC date on which the log ended, None where that is not known."""
        return self.end_at.date() if self.end_at else None

    @property
    def app(self) -> str:
        """Last part of the executable's path, without arguments."""
        return PurePosixPath(self.exe.split(" ", 1)[0]).name

    @property
    def application(self) -> str:
        """What was run, whatever started it."""
        return application_of(self.exe)

    @property
    def darshan_version(self) -> str | None:
        """Version of the library that wrote the log."""
        return dict(self.metadata).get("lib_ver")


def user_from(file_name: str) -> str | None:
    r"""Login name in a log's file name, with `\xff` for bytes that are no UTF-8; None where it is not as Darshan names logs."""
    match = _FILE_NAME.fullmatch(file_name)
    return _text(os.fsencode(match["user"])) if match else None


def job_id_from(file_name: str) -> str | None:
    """Job id in a log's file name, None where it is not as Darshan names logs."""
    match = _FILE_NAME.fullmatch(file_name)
    return match and match["job"]


@lru_cache(4096)
def uid_of(user: str | None) -> int | None:
    """The uid of a login name as this host knows it, or that Darshan wrote in place of a name; None where there is none."""
    # Darshan writes the uid where it finds no name.
    if user is None or (user.isascii() and user.isdecimal()):
        return int(user) if user and len(user) <= _UID_DIGITS else None
    try:
        return pwd.getpwnam(user).pw_uid
    except (KeyError, ValueError, OSError):
        return None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def moment_of(seconds: int, nanoseconds: int = 0) -> datetime | None:
    """The moment so many seconds after 1970, None where no calendar has it."""
    if not (0 <= seconds <= _LATEST_SECONDS and 0 <= nanoseconds < _NANOSECONDS):
        return None
    return _EPOCH + timedelta(seconds=seconds, microseconds=nanoseconds // 1000)


class _Record(NamedTuple):
    """The job record, without what follows it.

    Attributes:
        data: bytes of the whole region.
        end: where in them the record ends, and metadata begin.
    """

    data: bytes
    end: int
    uid: int
    job_id: int
    nprocs: int
    start_at: datetime
    end_at: datetime
    run_seconds: float
    has_old_layout: bool


def _read_record(container: Container) -> _Record:
    inflated = container.inflate_job()
    data = inflated.data
    is_wide = container.era.slots > 16  # noqa: PLR2004  the wide header came with format 3.41
    if inflated.damage:
        raise UnreadableError(f"The job record cannot be read: {inflated.damage}.")
    has_nanoseconds = is_wide and not data.startswith(b"lib_ver=", 40)
    numbers = _NUMBERS[container.order, has_nanoseconds]
    if len(data) < numbers.size:
        raise UnreadableError(f"The job record is too short: it has {len(data)} bytes.")
    if has_nanoseconds:
        uid, start, start_ns, end, end_ns, nprocs, job_id = numbers.unpack_from(data)
        run_seconds = (end - start) + (end_ns - start_ns) / _NANOSECONDS
    else:
        uid, start, end, nprocs, job_id = numbers.unpack_from(data)
        start_ns = end_ns = 0
        run_seconds = float(end - start + 1)
    start_at, end_at = moment_of(start, start_ns), moment_of(end, end_ns)
    if start_at is None or end_at is None:
        raise UnreadableError("The job record holds no valid start and end of the run: the file is damaged.")
    is_old = is_wide and not has_nanoseconds
    return _Record(data, numbers.size, uid, job_id, nprocs, start_at, end_at, run_seconds, is_old)


def read_night(container: Container) -> date | None:
    """The UTC date on which a log ended, as `read_job` has it, in a fifth of its time; None where that is not known.

    Raises:
        UnreadableError: the record is damaged, or lacks the time of the run.
    """
    return night_at(_read_record(container).end_at)


def night_at(end_at: datetime) -> date | None:
    """The UTC date of a run's end, None where no run can have ended then."""
    return end_at.date() if _OLDEST <= end_at <= datetime.now(UTC) + _AHEAD else None


def read_job(container: Container) -> Job:
    """The job record of a log.

    Raises:
        UnreadableError: the record is damaged, or lacks the time of the run.
    """
    record = _read_record(container)
    data = record.data
    sentences, found = implausible(record.start_at, record.end_at, record.nprocs)
    if record.has_old_layout:
        sentences.insert(0, "the job record has the layout of formats before 3.41, though the log claims 3.41")
    unknown = {doubt.column for doubt in found}
    metadata_end = record.end + _METADATA_BYTES
    if len(data) < metadata_end:
        sentences.append("the job record ends before its command line")
    exe, *mounts = _text(data[metadata_end:].split(b"\0")[0]).split("\n")
    return Job(
        uid=record.uid,
        job_id=str(record.job_id),
        nprocs=record.nprocs,
        start_at=None if "start_at" in unknown else record.start_at,
        end_at=None if "end_at" in unknown else record.end_at,
        run_seconds=record.run_seconds,
        exe=exe,
        metadata=metadata_of(_text(data[record.end : metadata_end].split(b"\0")[0])),
        mounts=tuple((path, fs_type) for fs_type, tab, path in (line.partition("\t") for line in mounts) if tab),
        doubt="; ".join(sentences),
        doubts=found,
    )


def implausible(start_at: datetime, end_at: datetime, nprocs: int) -> tuple[list[str], list[Doubt]]:
    """What is impossible in a run's times and processes, in sentences, and the columns that are not known for it.

    Args:
        start_at: start of the run.
        end_at: end of the run.
        nprocs: its processes.
    """
    sentences: list[str] = []
    found: list[Doubt] = []

    def add(sentence: str, check: str, value: float, limit: float, *columns: str) -> None:
        sentences.append(sentence)
        found.extend(Doubt(None, "log", column, check, value, limit) for column in columns)

    run_seconds = (end_at - start_at).total_seconds()
    latest = datetime.now(UTC) + _AHEAD
    if end_at < start_at:
        add("the run ends before it starts", "order", run_seconds, 0.0, "start_at", "run_seconds")
    if end_at < _OLDEST:
        sentence = "the run ends before Darshan existed, so its clock was not set"
        add(sentence, "clock", end_at.timestamp(), _OLDEST.timestamp(), "start_at", "end_at")
    elif end_at > latest:
        sentence = f"the run ends in the future, on {end_at:%Y-%m-%d}, so its clock was wrong"
        add(sentence, "future", end_at.timestamp(), latest.timestamp(), "start_at", "end_at")
    elif start_at < _OLDEST:
        sentence = "the run starts before Darshan existed, so its clock was not set"
        add(sentence, "clock", start_at.timestamp(), _OLDEST.timestamp(), "start_at", "run_seconds")
    if end_at - start_at > _LONGEST and "run_seconds" not in {doubt.column for doubt in found}:
        sentence = f"the run takes {run_seconds / 86400:,.0f} days"
        add(sentence, "length", run_seconds, _LONGEST.total_seconds(), "run_seconds")
    if not 1 <= nprocs <= _MOST_PROCESSES:
        add(f"the run has {nprocs} processes", "processes", nprocs, _MOST_PROCESSES, "nprocs")
    return sentences, found


def metadata_of(text: str) -> tuple[tuple[str, str], ...]:
    """Entries of a metadata text: a key and a value in each line."""
    return tuple((key, entry) for key, _, entry in (line.partition("=") for line in text.split("\n") if line))
