"""For how many days a site keeps the rows of a table: raw requests for days, verdicts for years, sums for ever.

After how many days it packs the files of logs is set beside that.

A night's rows of a table leave the lake with the sweep that finds them past their days; `docs/decisions/retention.md`
argues what may leave, and from when days are counted. When logs leave, everything that belongs to them leaves too, except sums.
"""

from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from typing import Annotated, ClassVar, Final

from pydantic import Field

from iomine.config import Toml
from iomine.errors import UsageError, did_you_mean
from iomine.lake import LakeFile, Warehouse
from iomine.pipeline.ingest.known import KNOWN_FILES
from iomine.pipeline.judging.rollups import KNOWN, ROLL_UPS
from iomine.pipeline.packing import MOST_FILES
from iomine.schema import TABLES
from iomine.settings import CountOrZero, Line, SiteSettings, read_site_file, setting
from iomine.triggers.judge import features
from iomine.triggers.registry import TRIGGERS
from iomine.views.model import tables_read

RETENTION_FILE: Final = "retention.toml"
# Not a table, but pages: the reports of logs, which leave with the logs or their verdicts at the latest.
REPORT: Final = "report"
# Old readings of these may still hold, and may be the only ones.
_SNAPSHOTS: Final = ("fabric_link", "fabric_name", "fabric_node", "fabric_route")
# Days in the template, for tables that are large and are read soon or never.
SUGGESTED_DAYS: Final = {
    "lustre_counter": 40,
    "lustre_rate": 40,
    "port_reading": 40,
    "segment": 30,
    "access_run": 90,
    "file_phase": 90,
    "lustre_histogram": 90,
    "offset_detail": 90,
    "ost_detail": 90,
    "rank_detail": 90,
    "link_detail": 90,
    REPORT: 90,
    "server_interval": 90,
}


class Packing(SiteSettings):
    """Which logs sweeps pack, and where to."""

    whose: ClassVar[str] = "retention"
    after_days: CountOrZero = setting(0, "Days after which a sweep packs the logs that it finds and has read; 0 for never.")
    into: Line = setting("", "Folder of the archive, an absolute path.")
    files: Annotated[int, Field(ge=1, le=MOST_FILES)] = setting(1, "Over how many tar files logs are spread.")
    remove: bool = setting(
        False, "Whether a log's file is deleted once its bytes were read back from the archive and are the same."
    )


class Retention(SiteSettings):
    """Days by table, and what is packed when."""

    whose: ClassVar[str] = "retention"
    days: Mapping[str, CountOrZero] = setting({}, "Days for which rows of a table are kept, 0 for ever.")
    pack: Packing = setting(Packing(), "Files of logs that sweeps pack into a few tar files, as iomine pack does.")


@cache
def perishable_tables() -> tuple[str, ...]:
    """Tables whose rows may leave the lake, by name: the logs with all that is theirs, and what no verdict is worked out from.

    Snapshots of the fabric stay, since the last before the nights that are kept is in force there.
    """
    stays = {*_judged_by(), *_SNAPSHOTS, KNOWN, KNOWN_FILES} - {"log"}
    return tuple(sorted(name for name, table in TABLES.items() if table.partitioned and name not in stays))


@cache
def perishable() -> tuple[str, ...]:
    """What a site may set days for, by name."""
    return tuple(sorted((*perishable_tables(), REPORT)))


@cache
def tables_of_logs() -> frozenset[str]:
    """Tables whose rows belong to logs, and leave with them at the latest."""
    of_logs = {name for name, table in TABLES.items() if "log_id" in table.columns}
    return frozenset((of_logs | _judged_by()) - {KNOWN, KNOWN_FILES})


@cache
def _judged_by() -> frozenset[str]:
    """Tables that verdicts are worked out from, and the one that sums of layers are made of."""
    views = {f"{schema}.{view}" for view in features(list(TRIGGERS.values())) for schema in ("core", "feature")}
    return frozenset((*tables_read(views), "log_layer"))


def site_retention(warehouse: Warehouse) -> dict[str, int]:
    """Days by table, as `retention.toml` in the warehouse says; what it does not name is kept for ever.

    Raises:
        UsageError: the file cannot be read, or something in it is not fit.
    """
    return read_site_file(warehouse.root / RETENTION_FILE, "days", parse_retention)


def site_packing(warehouse: Warehouse) -> Packing:
    """Which logs sweeps pack, as `retention.toml` in the warehouse says.

    Raises:
        UsageError: the file cannot be read, or something in it is not fit.
    """
    return read_site_file(warehouse.root / RETENTION_FILE, "days", lambda toml: _parse(toml).pack)


def parse_retention(toml: Toml) -> dict[str, int]:
    """Days by table, of a TOML file with a table `days`; those that are kept for ever are left out.

    Raises:
        UsageError: it is not TOML, has another form, names a table that there is not or that has to be kept, or sums are to
            leave before the logs that they are made of.
    """
    given = _parse(toml).days
    for name in given:
        _check_table(name)
    days = {name: count for name, count in given.items() if count}
    for name in ROLL_UPS:
        if name in days and days[name] < days.get("log", days[name] + 1):
            raise UsageError(f"{name} is computed from logs: keep it for at least as many days as log, or write 0 for ever.")
    return days


def _parse(toml: Toml) -> Retention:
    given = Retention.parse(toml)
    if given.pack.after_days and not given.pack.into.startswith("/"):
        raise UsageError(f"pack.into must be an absolute path, such as /archive/darshan, not {given.pack.into!r}.")
    return given


def kept_from(newest: date, days: int, today: date) -> date:
    """The first night that is kept.

    Args:
        newest: the newest night that a cluster has logs of.
        days: how many nights are kept.
        today: no night counts as newer, whatever a log's clock said.
    """
    return date.fromordinal(max(1, min(newest, today).toordinal() - days + 1))


def expired(days: Mapping[str, int], files: Iterable[LakeFile], cluster: str, today: date) -> set[tuple[str, date]]:
    """Tables and nights of a cluster that are past their days.

    Args:
        days: by table.
        files: of the lake, and those about to be committed. Logs stay until they are summed up, and a night whose logs have
            left does not get any again.
        cluster: the machine.
        today: as of `kept_from`.
    """
    nights = {(file.table, file.night) for file in files if file.cluster == cluster and file.night}
    newest = max((night for table, night in nights if table == "log"), default=today)
    firsts = {table: kept_from(newest, count, today) for table, count in days.items()}
    past = {(table, night) for table, night in nights if table in firsts and night < firsts[table]}
    past -= {("log", night) for table, night in past if table == "log" and any((view, night) not in nights for view in ROLL_UPS)}
    closed = {night for table, night in nights if table == KNOWN or (table == "log" and (table, night) in past)}
    return past | {(table, night) for table, night in nights if night in closed and table in tables_of_logs()}


def days_of_reports(days: Mapping[str, int]) -> int | None:
    """For how many days reports are kept: not longer than the rows that they show; None for ever."""
    return min((days[name] for name in (REPORT, "verdict", "log") if name in days), default=None)


def _check_table(name: str) -> None:
    if name not in {*TABLES, REPORT}:
        raise UsageError(f"There is no table {name}: {did_you_mean(name, TABLES) or 'docs/views.md names them all.'}")
    if name not in perishable():
        raise UsageError(f"{name} cannot leave the lake, since verdicts or sweeps need it: remove its line.")
