"""What an installation consists of is listed, locked by hashes, and under licences that a centre can take."""

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

sys.path.insert(0, str(Path(__file__).parents[2] / "deploy"))
from lock import LIST, LOCK
from sbom import licence_of, needed, sbom

# Those that ask for their text to be kept, or for changes to themselves to be published; none is about who only uses them.
ALLOWED = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC", "MIT", "MIT-0", "MIT-CMU"),
    *("MPL-2.0", "PSF-2.0", "Unlicense", "Zlib"),
    # As packages without an SPDX expression call them.
    *("MIT License", "MIT license", "BSD", "BSD License", "BSD 3-Clause", "Apache 2.0", "Apache Software License", "ISC License"),
    *("Mozilla Public License 2.0 (MPL 2.0)", "Python Software Foundation License"),
}
# What the metadata does not say, or says in words that need a reason.
JUDGED = {
    "darshan": ("", "Its repository has a BSD licence; the wheel's metadata names none."),
    "python-dateutil": ("Dual License", "Apache-2.0 or BSD-3-Clause, as its file LICENSE says."),
    "clustershell": ("LGPLv2+", "Imported as it is and not changed, which the LGPL allows any program."),
    "ldap3": ("LGPL v3", "As clustershell, and only in the extra ldap."),
    "text-unidecode": ("Artistic License", "Imported by Prefect's python-slugify as it is, which the Artistic License allows."),
}


@pytest.mark.parametrize("name", sorted(needed()))
def test_a_licence_can_be_taken(name: str) -> None:
    """Each package's licence is allowed in all its parts, or was looked at and has a reason."""
    said = licence_of(needed()[name])
    if name in JUDGED:
        assert JUDGED[name][0] == said
        return
    # Names without an expression have brackets of their own.
    parts = {said} if said in ALLOWED else {part.strip("()") for part in re.split(r" (?:AND|OR|and) ", said)}
    assert set() == parts - ALLOWED


def test_the_list_is_what_is_installed() -> None:
    """It is CycloneDX, names each package once with its version, and what each needs is in it."""
    said, packages = sbom(), needed()
    assert ("CycloneDX", "1.6") == (said["bomFormat"], said["specVersion"])
    components = {each["bom-ref"]: each for each in said["components"]}  # type: ignore[attr-defined]
    assert len(packages) - 1 == len(components) > 20
    assert {"duckdb", "prefect", "distributed", "darshan", "pyarrow"} <= {each["name"] for each in components.values()}
    refs = {*components, said["metadata"]["component"]["bom-ref"]}  # type: ignore[index]
    for each in said["dependencies"]:  # type: ignore[attr-defined]
        assert {each["ref"], *each["dependsOn"]} <= refs


def locked(environment: dict[str, str] | None = None) -> dict[str, tuple[str, list[str]]]:
    """Version and hashes of each package of the lock file that is for this system and Python, or for others that are given."""
    text = "".join(line for line in LOCK.read_text().splitlines(keepends=True) if not line.startswith("#"))
    found = {}
    for entry in text.replace("\\\n", " ").splitlines():
        said, *hashes = entry.split("--hash=")
        if said.strip():
            requirement = Requirement(said)
            (pin,) = requirement.specifier
            assert "==" == pin.operator
            if requirement.marker is None or requirement.marker.evaluate(environment):
                found[canonicalize_name(requirement.name)] = (pin.version, [each.strip() for each in hashes])
    return found


def test_the_lock_file_fits_what_the_project_asks_for() -> None:
    """All that the project and its extras ask for is there, in a version that they can work with."""
    project = tomllib.loads((LOCK.parents[1] / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *(each for extra in project["optional-dependencies"].values() for each in extra)]
    pins = locked()
    for requirement in map(Requirement, asked):
        version, _ = pins[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), requirement


def test_what_is_locked_needs_nothing_else() -> None:
    """Of each package that is installed in the version that is locked, all that it needs is locked in a version that it takes."""
    pins = locked()
    here = [package for name, package in needed().items() if name in pins and package.version == pins[name][0]]
    assert here
    for package in here:
        for requirement in map(Requirement, package.requires or ()):
            if requirement.marker is None or requirement.marker.evaluate(default_environment() | {"extra": ""}):
                version, _ = pins[canonicalize_name(requirement.name)]
                assert requirement.specifier.contains(version, prereleases=True), f"{package.name}: {requirement}"


def test_the_lock_file_has_hashes_and_names_no_place() -> None:
    """Each package has its hashes, and where it comes from is up to who installs."""
    every = [hashes for _, hashes in locked().values()]
    assert all(every)
    assert all(re.fullmatch("sha256:[0-9a-f]{64}", each) for hashes in every for each in hashes)
    assert not re.search("://|--(?:extra-)?index|--find-links|--trusted", LOCK.read_text())


def test_the_list_in_the_wheel_is_of_what_is_locked() -> None:
    """Each package that it names has the version that is locked, and all are named that the project asks for."""
    said = json.loads(LIST.read_text())
    versions = {canonicalize_name(each["name"]): each["version"] for each in said["components"]}
    # The list is made by the oldest Python, which needs most.
    oldest = {"python_version": "3.11", "python_full_version": "3.11.0"}
    pins = {name: version for name, (version, _) in locked(oldest).items()}
    assert "CycloneDX" == said["bomFormat"]
    assert {name: pins[name] for name in versions} == versions
    project = tomllib.loads((LOCK.parents[1] / "pyproject.toml").read_text())["project"]
    assert {canonicalize_name(Requirement(each).name) for each in project["dependencies"]} <= versions.keys()
