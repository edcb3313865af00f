"""Damages inputs of the fabric and says what becomes of them: `python tests/fabric_mutations.py 20000`, which `make fuzz` calls.

An input that was damaged is read or refused, never a crash and never a wait; and what is read of it holds together: each port
has one link, each link two ports, numbers are those that a fabric can have, and a forwarding table says one thing of a LID.
"""

import gzip
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from random import Random
from typing import Any, Final

import pyarrow as pa
from mutations import cut, hostile_words, lines, number, other_bytes, spliced
from shared import SHARED_DATA

from iomine.errors import UnreadableError
from iomine.schema.registry import arrow_schema
from iomine.sources.fabric import SOURCES
from iomine.sources.model import Input, Readings

FOLDER: Final = SHARED_DATA / "fabric"
AT: Final = datetime(2026, 1, 6, tzinfo=UTC)
# Mutations of large files say no more than those of small ones.
_LARGEST_BYTES: Final = 70_000
_SLOWEST_SECONDS: Final = 5.0
_GUID_DIGITS: Final = 16
_SPEEDS: Final = {"SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", None}


def given(data: bytes, path: str = "/fabric/x") -> Input:
    """An input as a sweep gives it."""
    return Input(path, data, AT)


def read(data: bytes, path: str = "/fabric/x") -> Readings:
    """What the first reader that knows the input makes of it.

    Raises:
        UnreadableError: none knows it, or it cannot read it.
    """
    source = next((each for each in SOURCES if each.knows(given(data, path))), None)
    if source is None:
        raise UnreadableError("Nobody knows it.")
    return source.read(given(data, path))


def rows(data: bytes, table: str, path: str = "/fabric/x") -> list[dict[str, Any]]:
    """Rows of a table, none where an input has none."""
    tables = read(data, path).tables
    return tables[table].to_pylist() if table in tables else []


def content(name: str) -> bytes:
    """A file's bytes, unpacked."""
    data = (FOLDER / name).read_bytes()
    return gzip.decompress(data) if name.endswith(".gz") else data


@cache
def real() -> tuple[bytes, ...]:
    """Real inputs, the beginnings of large ones; none where they are not here."""
    names = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file() and path.name != "README.md")
    return tuple(data for data in (content(name)[:_LARGEST_BYTES] for name in names) if data)


def outcomes(sound: tuple[bytes, ...], count: int, seed: int) -> Counter[str]:
    """How often damage ended in what.

    Args:
        sound: inputs to damage.
        count: how many damaged ones to make.
        seed: of chance.

    Raises:
        AssertionError: rows that came of one do not hold together, or it took long.
    """
    random = Random(seed)
    found: Counter[str] = Counter()
    for _ in range(count):
        damaged = random.choice(sound)
        for _ in range(random.randint(1, 3)):
            damaged = random.choice(_DAMAGES)(damaged, random, sound) or b"\n"
        begun = time.process_time()
        found[_outcome(damaged)] += 1
        assert time.process_time() - begun < _SLOWEST_SECONDS
    return found


def _outcome(damaged: bytes) -> str:
    try:
        readings = read(damaged)
    except UnreadableError:
        return "refused"
    for name, table in readings.tables.items():
        table.validate(full=True)
        assert arrow_schema(name).append(pa.field("night", pa.date32())) == table.schema
        assert len(table)
        _CHECKS[name](table.to_pylist())
    return "read, in doubt" if readings.doubt else "read"


def _is_guid(guid: str | None) -> bool:
    return guid is None or (len(guid) == _GUID_DIGITS and int(guid, 16) > 0 and guid == guid.lower())


def _check_nodes(nodes: list[dict[str, Any]]) -> None:
    guids = [node["guid"] for node in nodes if node["guid"]]
    assert all(map(_is_guid, guids))
    for node in nodes:
        assert node["lid"] is None or 0 < node["lid"] <= 0xFFFF
        assert node["lmc"] is None or 0 <= node["lmc"] <= 7
        assert (node["tier"] == 0) == (node["node_kind"] == "host")
        assert node["host"] is None or node["node_kind"] == "host"


def _check_links(links: list[dict[str, Any]]) -> None:
    ends = [(link[f"{side}guid"], link[f"{side}port"]) for link in links for side in ("", "peer_")]
    assert len(ends) == len(set(ends))
    for link in links:
        one, other = (link["guid"], link["port"]), (link["peer_guid"], link["peer_port"])
        assert one < other
        assert all(map(_is_guid, (link["guid"], link["peer_guid"])))
        assert link["link_id"] == f"{link['guid']}/{link['port']}"
        assert all(0 < port <= 254 for _, port in (one, other))
        assert link["speed"] in _SPEEDS
        assert (link["capacity_bytes_per_second"] is None) == (link["speed"] is None or link["lanes"] is None)


def _check_routes(routes: list[dict[str, Any]]) -> None:
    assert len(routes) == len({route["guid"] for route in routes})
    assert all(0 < len(route["out_ports"]) <= 1 << 16 for route in routes)


def _check_readings(readings: list[dict[str, Any]]) -> None:
    ports = [(reading["guid"], reading["lid"], reading["port"]) for reading in readings]
    assert len(ports) == len(set(ports))
    for reading in readings:
        assert reading["guid"] or reading["lid"]
        assert 0 <= reading["port"] <= 254
        assert all(
            reading[name] is None or reading[name] >= 0 for name in reading if name.endswith(("_bytes", "_count", "_ticks"))
        )


def _check_names(names: list[dict[str, Any]]) -> None:
    assert all(name["name"] and name["alias"] for name in names)


_CHECKS: Final = {
    "fabric_link": _check_links,
    "fabric_name": _check_names,
    "fabric_node": _check_nodes,
    "fabric_route": _check_routes,
    "port_reading": _check_readings,
}


_DAMAGES: Final[tuple[Callable[[bytes, Random, tuple[bytes, ...]], bytes], ...]] = (
    other_bytes,
    cut,
    spliced,
    lines,
    number,
    hostile_words,
)


def _lines_of(found: Counter[str]) -> Iterator[str]:
    return (f"{count:7,} {outcome}" for outcome, count in found.most_common())


if __name__ == "__main__":
    if not real():
        sys.exit("../shared/data/fabric is not here")
    print("\n".join(_lines_of(outcomes(real(), int(sys.argv[1]), seed=1))))  # noqa: T201
