"""Settings of `sources.toml`, which inputs do not say of their clusters: time zones, collectors of logs, most processes."""

from collections.abc import Mapping
from functools import partial
from typing import ClassVar, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from iomine.config import Toml
from iomine.errors import UsageError
from iomine.lake import Warehouse
from iomine.settings import Count, Line, Lines, SiteSettings, read_site_file, setting

_UTC: Final = "UTC"


class Sources(SiteSettings):
    """What inputs do not say of themselves."""

    whose: ClassVar[str] = "sources"
    time_zone: Mapping[str, Line] = setting({}, "Time zones by cluster.")
    most_processes: Mapping[str, Count] = setting({}, "Processes that a run can have, by cluster.")
    collectors: Lines = setting((), "Logins or uids that own files of logs which they did not write.")


def site_zone(warehouse: Warehouse, cluster: str) -> str:
    """Name of a cluster's time zone, as `sources.toml` in the warehouse says; UTC where it does not.

    Raises:
        UsageError: the file cannot be read, or something in it is not fit.
    """
    return read_site_file(warehouse.root / "sources.toml", "settings of sources", partial(parse_zone, cluster=cluster))


def site_most_processes(warehouse: Warehouse, cluster: str) -> int | None:
    """How many processes a run on a cluster can have, as `sources.toml` in the warehouse says; None where it does not.

    Raises:
        UsageError: the file cannot be read, or something in it is not fit.
    """
    sources = read_site_file(warehouse.root / "sources.toml", "settings of sources", Sources.parse)
    return sources.most_processes.get(cluster)


def parse_zone(toml: Toml, cluster: str) -> str:
    """A cluster's time zone, of a TOML file with a table `time_zone`.

    Raises:
        UsageError: it is not TOML, has another form, or names a zone that there is not.
    """
    zones = Sources.parse(toml).time_zone
    for name, zone in zones.items():
        try:
            ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise UsageError(f'{zone!r} is not a time zone: write one such as "Europe/Berlin" for {name}.') from None
    return zones.get(cluster, _UTC)
