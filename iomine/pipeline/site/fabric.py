"""What a site adds to what its fabric says of itself: which host a guid is, where servers are, and what lies behind routers."""

from collections.abc import Mapping
from typing import ClassVar, Final, NamedTuple

from iomine.errors import UnreadableError, UsageError
from iomine.lake import Warehouse
from iomine.settings import Line, Lines, SiteSettings, read_site_file, setting

FABRIC_FILE: Final = "fabric.toml"
_MOST_BYTES: Final = 1 << 26


class NameSettings(SiteSettings):
    """Where hosts are named."""

    whose: ClassVar[str] = "names"
    file: Line = setting("", "A file of guids and hosts, such as the node-name-map of infiniband-diags; seen from the warehouse.")


class FabricSettings(SiteSettings):
    """What a site says of its fabric."""

    whose: ClassVar[str] = "fabric"
    names: NameSettings = setting(NameSettings(), "Hosts of adapters whose descriptions do not name them.")
    servers: Mapping[str, Line] = setting(
        {}, 'Host of a target or a network id, where `lctl dl -t` is not swept, such as "scratch-OST0014" = "oss05".'
    )
    gateways: Mapping[str, Lines] = setting(
        {}, 'Hosts of the LNet routers before a network id or a whole network, such as "tcp1" = ["router1", "router2"].'
    )


class SiteFabric(NamedTuple):
    """What a site says of its fabric, its file of names read.

    Attributes:
        hosts: host by guid, of 16 hex digits.
        servers: host by target or network id.
        gateways: hosts of LNet routers by network id or network.
    """

    hosts: Mapping[str, str]
    servers: Mapping[str, str]
    gateways: Mapping[str, tuple[str, ...]]


NO_SITE: Final = SiteFabric({}, {}, {})


def site_fabric(warehouse: Warehouse) -> SiteFabric:
    """What `fabric.toml` in the warehouse says; nothing where there is no such file.

    Raises:
        UsageError: the file or that of names cannot be read, or something in one is not fit.
    """
    given = read_site_file(warehouse.root / FABRIC_FILE, "settings of the fabric", FabricSettings.parse)
    return SiteFabric(_hosts(warehouse, given.names.file), given.servers, given.gateways)


def _hosts(warehouse: Warehouse, name: str) -> Mapping[str, str]:
    if not name:
        return {}
    from iomine.sources.fabric import read_guids  # noqa: PLC0415  loads all sources, and few sites name hosts

    file = warehouse.root / name
    try:
        with file.open("rb") as opened:
            data = opened.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise UsageError(f"{file} has more than 64 MiB: name a file of guids and hosts in {FABRIC_FILE}.")
        hosts, left_out = read_guids(data)
    except OSError as error:
        raise UsageError(f"The names in {file} cannot be read ({error.strerror}): change names.file in {FABRIC_FILE}.") from error
    except UnreadableError as error:
        raise UsageError(f"{file}: {error.reason}") from error
    if left_out:
        raise UsageError(f"{file} is no list of guids and hosts: {left_out}")
    return hosts
