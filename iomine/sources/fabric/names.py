"""Other names of things of the fabric: guids and hosts, addresses and hosts, targets and the network ids of their servers.

Lists of guids are the node-name-map of infiniband-diags, and those of sites that name devices as `ibnetdiscover` does:

    0x0008f10400411a08 "leaf1 (rack 11)"
    H-003048c74e4a0000 x5570comp1

`/etc/hosts` has an address and its names. `lctl dl -t` of a client has, for each target, the network id that answers for it:

      4 UP osc scratch-OST0014-osc-ffff885f81a64000 8dbdc7f6-8f86-86ea-052f-357e2db2a7d9 5 10.100.101.25@o2ib2
"""

import re
from collections.abc import Callable, Iterable, Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

import pyarrow as pa

from iomine.errors import UnreadableError
from iomine.sources.accounting.lines import LeftOut, head_of, numbered
from iomine.sources.clock import read_at
from iomine.sources.fabric.guids import guid_text
from iomine.sources.model import Input, Readings, Source
from iomine.sources.series.doubts import complete_lines, joined
from iomine.sources.series.rows import rows

TABLE: Final = "fabric_name"
_TIME: Final = pa.timestamp("us", tz="UTC")
_MOST_NAMES: Final = 2_000_000
_LONGEST: Final = 256

_GUID: Final = re.compile(
    r'(?:([SHR])-([0-9a-fA-F]{16})|0x([0-9a-fA-F]{1,16}))(?:[ \t]+(?:"([^"]{1,256})"|(\S.{0,255}?)))?[ \t]*', re.ASCII
)
_NAMED: Final = re.compile(r'(?:[SHR]-[0-9a-fA-F]{16}|0x[0-9a-fA-F]{9,16})[ \t]+(?:"[^"]*"|[\w.-]+)[ \t]*(?:#.*)?', re.ASCII)
_BARE: Final = re.compile(r"(?:[SHR]-[0-9a-fA-F]{16}|0x[0-9a-fA-F]{9,16})[ \t]*", re.ASCII)
_ADDRESS: Final = re.compile(
    r"(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7})[ \t]+[A-Za-z][\w.-]*(?:[ \t].*)?", re.ASCII
)
_HOST: Final = re.compile(r"[A-Za-z0-9](?:[\w-]{0,62})(?:\.[\w.-]{1,190})?", re.ASCII)
_DEVICE: Final = re.compile(
    r" {0,6}\d{1,6} (?P<state>[A-Z]{2}) (?P<type>[a-z0-9]+) (?P<name>\S{1,200}) \S{1,100} -?\d{1,9}(?: (?P<nid>\S{1,100}))?\s*",
    re.ASCII,
)
_TARGET: Final = re.compile(r"(.{1,100}-(?:OST|MDT)[0-9a-f]{4})-(?:osc|mdc|osp)(?:-.*)?", re.ASCII)
_NID: Final = re.compile(r"[0-9A-Za-z.:_-]{1,64}@[a-z][a-z0-9]{0,31}", re.ASCII)
_HERE: Final = {"0@lo"}

# What a name stands for, the name, and what it is.
Name = tuple[str, str, str]


def read_guids(data: bytes) -> tuple[dict[str, str], str]:
    """Names by guid, of a list of guids and names, and which lines were left out.

    Args:
        data: the list.
    """
    left_out = LeftOut("line")
    names: dict[str, set[str]] = {}
    for _, guid, name in _names(data, left_out, _of_guid):
        names.setdefault(guid, set()).add(name)
    twice = {guid for guid, of_one in names.items() if len(of_one) > 1}
    doubt = f"guids left out, which have several names: {len(twice):,}" if twice else ""
    return {guid: of_one.pop() for guid, of_one in names.items() if guid not in twice}, joined(left_out.text(), doubt)


def _names(data: bytes, left_out: LeftOut, read: Callable[[str], Iterable[Name]]) -> Iterator[Name]:
    count = 0
    for number, line in numbered(data):
        try:
            found = list(read(line))
        except ValueError as error:
            left_out.add(number, str(error))
            found = []
        count += len(found) or 1
        if count > _MOST_NAMES:
            raise UnreadableError(f"it has more than {_MOST_NAMES:,} names, the limit for one file")
        yield from found


def _of_guid(line: str) -> Iterator[Name]:
    match = _GUID.fullmatch(line.strip().partition(" #")[0].rstrip())
    name = match and (match[4] or match[5])
    if not match or not name:
        raise ValueError("it is not a guid and its name")
    yield "guid", guid_text(int(match[2] or match[3], 16)), name.strip()


def _of_address(line: str) -> Iterator[Name]:
    address, *names = line.partition("#")[0].split()
    try:
        parsed = ip_address(address)
    except ValueError:
        raise ValueError("it does not begin with an address") from None
    if not names:
        raise ValueError("it names no host")
    if _is_everywhere(parsed):
        return
    # The first is the host's own, with its domain or without; the others are aliases, which job lists may have.
    for name in dict.fromkeys(each.partition(".")[0] for each in names if _HOST.fullmatch(each)):
        yield "address", str(parsed), name


def _is_everywhere(address: IPv4Address | IPv6Address) -> bool:
    """Whether every machine has this address itself, or it is of many."""
    return address.is_loopback or address.is_multicast or address.is_link_local or address.is_unspecified


def _of_device(line: str) -> Iterator[Name]:
    match = _DEVICE.fullmatch(line)
    if not match:
        raise ValueError("it is no device")
    target = _TARGET.fullmatch(match["name"])
    if target and match["nid"] and match["nid"] not in _HERE and _NID.fullmatch(match["nid"]):
        yield "target", target[1], match["nid"]


def _first(source: Input) -> str:
    return next((line for _, line in numbered(head_of(source.data).encode())), "")


def _readings(source: Input, read: Callable[[str], Iterable[Name]], lacking: str) -> Readings:
    data, cut = complete_lines(source.data)
    left_out = LeftOut("line")
    names = dict.fromkeys(_names(data, left_out, read))
    if not names:
        raise UnreadableError(lacking)
    clock = read_at(source)
    kinds, given, aliases = zip(*names, strict=True)
    columns = {
        "sampled_at": pa.repeat(pa.scalar(clock.at, _TIME), len(names)),
        "name_kind": kinds[0],
        "name": pa.array(given, pa.string()),
        "alias": pa.array(aliases, pa.string()),
    }
    return Readings({TABLE: rows(TABLE, len(names), columns)}, joined(left_out.text(), cut, clock.doubt), has_moment=False)


def _knows_guids(source: Input) -> bool:
    return bool(_NAMED.fullmatch(_first(source)) or _BARE.fullmatch(_first(source)))


def _read_guids(source: Input) -> Readings:
    return _readings(source, _of_guid, "it is a list of guids without names; write the name of each behind its guid")


def _read_hosts(source: Input) -> Readings:
    return _readings(source, _of_address, "it names no host but this one")


def _read_devices(source: Input) -> Readings:
    return _readings(source, _of_device, "it is lctl dl without network ids; give what lctl dl -t prints on a client")


NAMES: Final = (
    Source("guid_names", _knows_guids, _read_guids),
    Source("hosts", lambda source: bool(_ADDRESS.fullmatch(_first(source))), _read_hosts),
    Source("lctl_dl", lambda source: bool(_DEVICE.fullmatch(_first(source))), _read_devices),
)
