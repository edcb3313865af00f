"""How fast a large fabric is read, in seconds of a core, so that other programs on the machine do not count."""

import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from fabric_mutations import read

pytestmark = pytest.mark.proof

SWITCHES, LEAVES, HOSTS, LINKS = 494, 182, 8317, 22_819
MEGABYTE = 1e6


def ibnetdiscover() -> bytes:
    """The list of a fabric with hosts on leaf switches, and leaf switches on others, with the links that are left."""
    guids = [0x2C5EAB0300000000 + 64 * number for number in range(SWITCHES)] + [
        0xB8E9240300000000 + each for each in range(HOSTS)
    ]
    names = [f"MF0;switch{number}:MQM9700/U1" for number in range(SWITCHES)] + [f"node{each:05d} mlx5_0" for each in range(HOSTS)]
    uplinks = range(LINKS - HOSTS)
    pairs = [(SWITCHES + host, host % LEAVES) for host in range(HOSTS)]
    pairs += [(link % LEAVES, LEAVES + link * 7 % (SWITCHES - LEAVES)) for link in uplinks]
    ports: list[list[tuple[int, int]]] = [[] for _ in guids]
    for one, other in pairs:
        places = len(ports[one]) + 1, len(ports[other]) + 1
        ports[one].append((other, places[1]))
        ports[other].append((one, places[0]))

    def block(device: int) -> Iterator[str]:
        guid, is_switch = guids[device], device < SWITCHES
        yield f"\nvendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x{guid:x}\n"
        if is_switch:
            yield f"switchguid=0x{guid:x}({guid:x})\n"
            yield f'Switch\t129 "S-{guid:016x}"\t\t# "{names[device]}" enhanced port 0 lid {device + 1} lmc 0\n'
        else:
            yield f'caguid=0x{guid:x}\nCa\t1 "H-{guid:016x}"\t\t# "{names[device]}"\n'
        for port, (peer, peer_port) in enumerate(ports[device], 1):
            other = guids[peer]
            if not is_switch:
                yield f'[{port}]({guid:x}) \t"S-{other:016x}"[{peer_port}]\t\t'
                yield f'# lid {device + 1} lmc 0 "{names[peer]}" lid {peer + 1} 4xNDR\n'
            elif peer < SWITCHES:
                yield f'[{port}]\t"S-{other:016x}"[{peer_port}]\t\t# "{names[peer]}" lid {peer + 1} 4xNDR\n'
            else:
                yield f'[{port}]\t"H-{other:016x}"[{peer_port}]({other:x}) \t\t# "{names[peer]}" lid {peer + 1} 4xNDR\n'

    head = "#\n# Topology file: generated on Wed May 13 14:36:33 2020\n#\n"
    return (head + "".join(line for device in range(len(guids)) for line in block(device))).encode()


def dump_fts(switches: int, lids: int) -> bytes:
    """Forwarding tables as infiniband-diags prints them."""
    lines = [f"{1 + lid % 64:03d} : (Channel Adapter portguid 0x0002c90300080d59: 'node{lid:05d} HCA-1')" for lid in range(lids)]
    entries = "".join(f"0x{lid + 1:04x} {line}\n" for lid, line in enumerate(lines))
    head = "Unicast lids [0x0-0x{1:x}] of switch DR path slid 0; dlid 0; 0 guid 0x{0:016x} (leaf):\n"
    return "".join(head.format(guid + 1, lids) + entries + f"{lids} valid lids dumped \n" for guid in range(switches)).encode()


def fdbs(switches: int, lids: int) -> bytes:
    """The same as OpenSM's .fdbs, whose lines are the shortest."""
    entries = "".join(f"0x{lid + 1:04X} : {1 + lid % 64:03d}  : 03   : yes\n" for lid in range(lids))
    head = "dump_ucast_routes: Switch 0x{:016x}\nLID    : Port : Hops : Optimal\n"
    return "".join(head.format(guid + 1) + entries for guid in range(switches)).encode()


COUNTERS = (
    *(
        "PortXmitData",
        "PortRcvData",
        "PortXmitPkts",
        "PortRcvPkts",
        "PortUnicastXmitPkts",
        "PortUnicastRcvPkts",
        "PortMulticastXmitPkts",
    ),
    *("PortMulticastRcvPkts", "SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter", "PortRcvErrors"),
    *("PortRcvRemotePhysicalErrors", "PortRcvSwitchRelayErrors", "PortXmitDiscards", "PortXmitConstraintErrors"),
    *(
        "PortRcvConstraintErrors",
        "LocalLinkIntegrityErrors",
        "ExcessiveBufferOverrunErrors",
        "VL15Dropped",
        "PortXmitWait",
        "QP1Dropped",
    ),
)


def perfquery(ports: int) -> bytes:
    """Counters of many ports."""
    numbers = np.random.default_rng(1).integers(0, 2**44, (ports, len(COUNTERS))).tolist()
    lines = "".join(f"{name + ':':.<33}{{}}\n" for name in COUNTERS)
    head = "# Port extended counters: Lid {} port {} (CapMask: 0x5300 CapMask2: 0x0000002)\n"
    return "".join(head.format(1 + port // 64, 1 + port % 64) + lines.format(*row) for port, row in enumerate(numbers)).encode()


def seconds(work: Callable[[], object]) -> float:
    """Seconds of a core that work takes, the least of five times."""

    def once() -> float:
        begun = time.process_time()
        work()
        return time.process_time() - begun

    return min(once() for _ in range(5))


def test_a_topology() -> None:
    """8,811 devices and 22,819 links are read in 1.5 s."""
    data = ibnetdiscover()
    tables = read(data).tables
    assert (SWITCHES + HOSTS, LINKS) == (tables["fabric_node"].num_rows, tables["fabric_link"].num_rows)
    assert seconds(lambda: read(data)) < 1.5


@pytest.mark.parametrize("data", [dump_fts(60, 9000), fdbs(150, 9000)], ids=["dump_fts", "fdbs"])
def test_forwarding_tables(data: bytes) -> None:
    """100 MB a second."""
    assert len(data) / seconds(lambda: read(data)) > 100 * MEGABYTE


def test_counters() -> None:
    """50 MB a second."""
    data = perfquery(30_000)
    assert read(data).tables["port_reading"].num_rows == 30_000
    assert len(data) / seconds(lambda: read(data)) > 50 * MEGABYTE
