"""Lists what an installation of iomine consists of, as CycloneDX 1.6: `python deploy/sbom.py > iomine.cdx.json`.

Names, versions and licences are those of the packages that are installed beside the program, so the list is of the very
environment that sweeps. Nothing is asked of the network. Format: https://cyclonedx.org/docs/1.6/json/
"""

import json
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_EXTRAS = ("ldap", "mcp", "slurm")
_UNKNOWN = ("", "UNKNOWN")
_CLASSIFIER = "License :: OSI Approved :: "
_LONGEST_NAME = 100


@cache
def needed(name: str = "iomine", extras: tuple[str, ...] = _EXTRAS) -> dict[str, Distribution]:
    """The package and all that it needs here, by name; extras that are not installed are left out."""
    found: dict[str, Distribution] = {}
    asked = [(name, extras)]
    done = set()
    while asked:
        wanted = asked.pop()
        if wanted in done:
            continue
        done.add(wanted)
        try:
            package = distribution(wanted[0])
        except PackageNotFoundError:
            continue
        found[canonicalize_name(wanted[0])] = package
        asked += [(each.name, tuple(sorted(each.extras))) for each in _required(package, wanted[1])]
    return dict(sorted(found.items()))


def _required(package: Distribution, extras: tuple[str, ...]) -> Iterator[Requirement]:
    for text in package.requires or ():
        requirement = Requirement(text)
        environments = ({"extra": extra} for extra in ("", *extras))
        if requirement.marker is None or any(requirement.marker.evaluate(each) for each in environments):
            yield requirement


def licence_of(package: Distribution) -> str:
    """What its metadata says of its licence: an SPDX expression, a name, or the classifiers' words; empty where nothing."""
    said = package.metadata
    text = said.get("License") or ""
    named = [each.removeprefix(_CLASSIFIER) for each in said.get_all("Classifier") or () if each.startswith(_CLASSIFIER)]
    # Some put the licence's whole text where its name should be.
    short = "" if text in _UNKNOWN or "\n" in text or len(text) > _LONGEST_NAME else text
    return said.get("License-Expression") or short or " and ".join(named) or text.partition("\n")[0]


def sbom() -> dict[str, object]:
    """The list, as CycloneDX has it."""
    packages = needed()
    components = [_component(name, package) for name, package in packages.items()]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": next(each for each in components if each["name"] == "iomine") | {"type": "application"}},
        "components": [each for each in components if each["name"] != "iomine"],
        "dependencies": [
            {
                "ref": _ref(name, package),
                "dependsOn": sorted(
                    _ref(needs, packages[needs])
                    for needs in {canonicalize_name(each.name) for each in _required(package, ())} & packages.keys()
                ),
            }
            for name, package in packages.items()
        ],
    }


def _component(name: str, package: Distribution) -> dict[str, object]:
    licence = licence_of(package)
    return {
        "type": "library",
        "bom-ref": _ref(name, package),
        "name": name,
        "version": package.version,
        "purl": _ref(name, package),
        "licenses": [{"license": {"name": licence}}] if licence else [],
    }


def _ref(name: str, package: Distribution) -> str:
    return f"pkg:pypi/{name}@{package.version}"


if __name__ == "__main__":
    json.dump(sbom(), sys.stdout, indent=1)
    sys.stdout.write("\n")
