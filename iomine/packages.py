"""Loads the triggers, views and sources that installed packages bring by their entry points."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from typing import Any, Literal

Group = Literal["iomine.triggers", "iomine.views", "iomine.sources"]


@dataclass(frozen=True, slots=True)
class Brought:
    """What a package brings under one name.

    Attributes:
        package: its name and version.
        name: that of the entry point.
        value: what it names; None where it cannot be loaded.
        fault: why it cannot, in a sentence; empty where it can.
    """

    package: str
    name: str
    value: Any
    fault: str = ""


def brought(group: Group) -> Iterator[Brought]:
    """What packages bring of a kind, by the names of packages; one that fails to load does not keep others away."""
    for point in sorted(_entry_points(group), key=lambda each: (each.dist.name if each.dist else "", each.name)):
        package = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
        try:
            yield Brought(package, point.name, point.load())
        # Whatever a package does when it is loaded, it is not ours.
        except (Exception, SystemExit) as error:  # noqa: BLE001
            said = " ".join(f"{type(error).__name__}: {error}".split())
            fault = f"The package {package} cannot be loaded for {group} ({said}): repair it, or remove it with pip."
            yield Brought(package, point.name, None, fault)


@cache
def _entry_points(group: Group) -> EntryPoints:
    """Those of all packages. To look through the packages takes milliseconds, and a sweep asks often."""
    return entry_points(group=group)
