"""Time zones of clusters whose accounting and statistics do not tell theirs."""

from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from iomine.errors import UsageError
from iomine.lake import Warehouse
from iomine.pipeline.site.files import only_table, site_file

_UTC: Final = "UTC"


def site_zone(warehouse: Warehouse, cluster: str) -> str:
    """Name of a cluster's time zone, as `sources.toml` in the warehouse says; UTC where it does not.

    Raises:
        UsageError: the file cannot be read, or something in it is not fit.
    """
    file = warehouse.root / "sources.toml"
    if not file.exists():
        return _UTC
    with site_file(file, "settings of sources") as text:
        return parse_zone(text, cluster)


def parse_zone(text: str, cluster: str) -> str:
    """A cluster's time zone, of a TOML file with a table `time_zone`.

    Raises:
        UsageError: it is not TOML, has another form, or names a zone that there is not.
    """
    zones = only_table(text, "time_zone", 'mira = "America/Chicago"')
    zone = zones.get(cluster, _UTC)
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, TypeError, OSError):
        raise UsageError(f'{zone!r} is not a time zone: write one such as "Europe/Berlin" for {cluster}.') from None
    return str(zone)
