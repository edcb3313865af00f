"""The picture and the table of rooms in docs/architecture.md: imports from the code, layers from its contracts."""

import tomllib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import grimp

_PROGRAM: Final = "iomine"
# Within the program in a wheel, beside it in a checkout.
_FLOWS: Final = "flows"
_CONTRACTS: Final = Path(__file__).parents[1] / "pyproject.toml"

# Rooms by name, each with the rooms that it imports.
Imports = Mapping[str, frozenset[str]]


def rooms_block() -> str:
    """The made part of the page, ending in a newline."""
    contracts = tomllib.loads(_CONTRACTS.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    layers = _layers(contracts)
    imports = imports_of_rooms({room for layer in layers for room in layer})
    return "\n".join(("```mermaid", *_picture(layers, imports), "```", "", *_table(layers, imports, _owned(contracts)), ""))


def imports_of_rooms(rooms: set[str]) -> Imports:
    """Which rooms each room imports, by what its modules do import."""
    graph = grimp.build_graph(_PROGRAM, _FLOWS)
    found: dict[str, set[str]] = {room: set() for room in rooms}
    for module in graph.modules:
        if (room := _room(module)) in rooms:
            found[room] |= {_room(other) for other in graph.find_modules_directly_imported_by(module)} & rooms - {room}
    return {room: frozenset(others) for room, others in found.items()}


def _room(module: str) -> str:
    """The room of a module; that of the package itself is empty."""
    return module.removeprefix(_PROGRAM).removeprefix(".").partition(".")[0]


def _layers(contracts: list[dict[str, Any]]) -> list[list[str]]:
    """Rooms from top to bottom, those that may not know each other on one line."""
    layers = next(each["layers"] for each in contracts if each["type"] == "layers" and each.get("containers") == [_PROGRAM])
    return [[room.strip() for room in layer.split("|")] for layer in layers]


def _owned(contracts: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Packages that only one room, or few, may import, by room."""
    owned: dict[str, list[str]] = {}
    for exception in (text for each in contracts for text in each.get("ignore_imports", ())):
        module, _, package = exception.partition(" -> ")
        owned.setdefault(_room(module), []).append(package)
    return owned


def _picture(layers: list[list[str]], imports: Imports) -> list[str]:
    """A Mermaid flowchart. An arrow that follows from two others is left out; the table has them all."""
    lines = ["flowchart TD"]
    for number, layer in enumerate(layers):
        lines += [f'  subgraph layer{number}[" "]', *(f"    {room}" for room in layer), "  end"]
    for room, others in sorted(imports.items()):
        lines += [f"  {room} --> {other}" for other in sorted(others) if not any(other in _below(imports, via) for via in others)]
    return lines


def _below(imports: Imports, room: str) -> set[str]:
    """All rooms that a room stands on."""
    return set(imports[room]).union(*(_below(imports, other) for other in imports[room]))


def _table(layers: list[list[str]], imports: Imports, owned: Mapping[str, list[str]]) -> list[str]:
    rows = [
        f"| `{room}` | {_about(room)} | {_names(sorted(imports[room]))} | {_names(owned.get(room, []))} |"
        for layer in layers
        for room in layer
    ]
    return ["| room | what it is | imports | libraries that only it imports |", "|---|---|---|---|", *rows]


def _about(room: str) -> str:
    return (import_module(f"{_PROGRAM}.{room}").__doc__ or "").partition("\n")[0]


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
