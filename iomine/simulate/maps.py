"""What the subnet manager and clients would have said of the fabric's plan: devices, cables, routes and names."""

import datetime as dt
from pathlib import Path

import numpy as np

from iomine.simulate import filesystem as fs
from iomine.simulate.lustre import target_name
from iomine.simulate.network import NODES_PER_LEAF, SERVERS, Device, Network, address, server_of
from iomine.simulate.servers import TARGETS
from iomine.simulate.texts import packed, write_snapshot

_SWITCH_PORTS = 80
_CLIENT = "ffff8a1c5d2e4800"
_UUID = "5f1d3c52-7a0e-4b6c-9d6e-2f4f3a1b7c90"


def write_maps(out: Path, network: Network, moment: int) -> None:
    """Writes all of them, as of a moment."""
    texts = {
        "ibnetdiscover": _discovered(network, moment),
        "dump_fts": _forwarding(network),
        "lctl_dl": _targets(network),
        "hosts": _hosts(network),
    }
    for name, text in texts.items():
        write_snapshot(out / "fabric" / name, moment, packed(text))


def topology(network: Network) -> str:
    """The tree as Slurm's `topology.conf`; leaf switch n answers as LID 100 + n."""
    firsts = range(0, network.node_count, NODES_PER_LEAF)
    found = [
        f"SwitchName=leaf{leaf:02d} Nodes=nid[{first:05d}-{min(network.node_count, first + NODES_PER_LEAF) - 1:05d}]\n"
        for leaf, first in enumerate(firsts)
    ]
    return "".join(found) + f"SwitchName=spine Switches=leaf[00-{network.leaf_count - 1:02d}]\n"


def _discovered(network: Network, moment: int) -> str:
    """As `ibnetdiscover` prints it: switches first, each device with its cables."""
    at = f"{dt.datetime.fromtimestamp(moment, dt.UTC):%a %b %e %H:%M:%S %Y}"
    devices = sorted(network.devices.values(), key=lambda device: (not device.is_switch, device.lid))
    first = devices[0]
    head = f"#\n# Topology file: generated on {at}\n#\n# Initiated from node {first.guid:016x} port {first.port_guid:016x}\n"
    return head + "".join(_device(network, device) for device in devices)


def _device(network: Network, device: Device) -> str:
    lines = ["", "vendid=0x2c9", f"devid=0x{0xD2F0 if device.is_switch else 0x101B:x}"]
    if device.is_switch:
        lines += [
            f"sysimgguid=0x{device.guid:x}",
            f"switchguid=0x{device.guid:x}({device.guid:x})",
            f'Switch\t{_SWITCH_PORTS} {_name(device)}\t\t# "{device.description}" enhanced port 0 lid {device.lid} lmc 0',
        ]
    else:
        lines += [
            f"sysimgguid=0x{device.guid:x}",
            f"caguid=0x{device.guid:x}",
            f'Ca\t1 {_name(device)}\t\t# "{device.description}"',
        ]
    return "\n".join([*lines, *(_cable(network, device, link) for link in network.links_of(device.lid).tolist()), ""])


def _cable(network: Network, device: Device, link: int) -> str:
    back = int(network.reverse(np.array(link)))
    peer, speed = network.devices[int(network.lids[back])], network.speed(link)
    here, there = f"[{network.ports[link]}]", f"{_name(peer)}[{network.ports[back]}]"
    if device.is_switch:
        guid = "" if peer.is_switch else f"({peer.port_guid:x})"
        return f'{here}\t{there}{guid}\t\t# "{peer.description}" lid {peer.lid} {speed}'
    return f'{here}({device.port_guid:x})\t{there}\t\t# lid {device.lid} lmc 0 "{peer.description}" lid {peer.lid} {speed}'


def _name(device: Device) -> str:
    return f'"{"S" if device.is_switch else "H"}-{device.guid:016x}"'


def _forwarding(network: Network) -> str:
    """As `dump_fts` prints all switches; LIDs without a route are left out."""
    kinds = {True: "Switch", False: "Channel Adapter"}
    ends = {
        lid: f" : ({kinds[device.is_switch]} portguid 0x{device.port_guid:016x}: '{device.description}')\n"
        for lid, device in network.devices.items()
    }
    found = []
    for lid in network.switch_lids:
        device, ports = network.devices[lid], network.out_ports(lid)
        switch = f"Lid {lid} guid 0x{device.guid:016x} ({device.description})"
        found.append(
            f"Unicast lids [0x0-0x{max(network.devices):x}] of switch {switch}:\n"
            "  Lid  Out   Destination\n       Port     Info \n"
        )
        found += [f"0x{to:04x} {port:03d}{ends[to]}" for to, port in ports.items()]
        found.append(f"{len(ports)} valid lids dumped \n")
    return "".join(found)


def _targets(network: Network) -> str:
    """As `lctl dl -t` prints it on a client."""
    nids = {device.name: f"{address(device)}@o2ib" for device in network.devices.values() if device.name in SERVERS}
    lines = [
        f"  0 UP mgc MGC{nids[server_of(fs.OST_COUNT)]} {_UUID} 5",
        f"  1 UP lov {fs.NAME}-clilov-{_CLIENT} {_UUID} 4",
        f"  2 UP lmv {fs.NAME}-clilmv-{_CLIENT} {_UUID} 4",
    ]
    for target in range(TARGETS):
        kind = "osc" if target < fs.OST_COUNT else "mdc"
        name = f"{target_name(target)}-{kind}-{_CLIENT}"
        lines.append(f"{len(lines):3d} UP {kind} {name} {_UUID} 5 {nids[server_of(target)]}")
    return "\n".join([*lines, ""])


def _hosts(network: Network) -> str:
    """As `/etc/hosts` has it, on every node."""
    lines = ["127.0.0.1\tlocalhost localhost.localdomain", "::1\tlocalhost localhost.localdomain", ""]
    adapters = (device for lid, device in sorted(network.devices.items()) if not device.is_switch)
    return "\n".join([*lines, *(f"{address(device)}\t{device.name}" for device in adapters), ""])
