"""A site's own triggers and views, in folders beside its settings or in the warehouse, and those of installed packages.

They are trusted as the settings are. So nobody else may be able to write them, and no other place is looked at.
"""

import importlib.resources
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Final

from iomine.config import config_of
from iomine.errors import UsageError
from iomine.lake import Warehouse
from iomine.packages import Brought, Group, brought
from iomine.triggers.site import NO_RULES, Kind, RuleFile, SiteRules

_ENDINGS: Final[dict[Kind, str]] = {"triggers": ".toml", "views": ".sql"}
_GROUPS: Final[dict[Kind, Group]] = {"triggers": "iomine.triggers", "views": "iomine.views"}
_MOST_FILES: Final = 500
_MOST_BYTES: Final = 1 << 16
_OTHERS_WRITE: Final = 0o022
# Names of files, each with what reads it.
_Listed = Mapping[str, Callable[[], RuleFile]]


def site_rules(warehouse: Warehouse) -> SiteRules:
    """The rules of a site that can be used, and why others cannot."""
    files, left_out = _found(warehouse.root)
    if not files:
        return replace(NO_RULES, left_out=left_out)
    return _checked(files, left_out)


def with_file(warehouse: Warehouse, path: Path) -> tuple[SiteRules, str]:
    """The rules of a site as they would be if a file replaced the one of the same name; and this name.

    Args:
        warehouse: whose rules these are.
        path: of a trigger or a view, wherever it lies.

    Raises:
        UsageError: it is neither, or cannot be read.
    """
    kinds = {ending: kind for kind, ending in _ENDINGS.items()}
    if path.suffix not in kinds:
        raise UsageError(f"{path} is no rule: name a trigger, such as SITE-101.toml, or a view, such as small_dirs.sql.")
    files, left_out = _found(warehouse.root)
    file = _rule_file(path.absolute(), kinds[path.suffix], _owners(warehouse.root))
    return _checked((*(other for other in files if other.name != file.name), file), left_out), file.name


def folders(root: Path) -> list[Path]:
    """Where a site's rules may lie: beside its settings, and in the warehouse."""
    config = config_of(root)
    return list(dict.fromkeys([*([config.absolute().parent] if config else []), root.absolute()]))


def _checked(files: Iterable[RuleFile], left_out: Mapping[str, str]) -> SiteRules:
    from iomine.pipeline.site.checks import checked  # noqa: PLC0415  loads DuckDB, and most sites have no rules

    rules = checked(tuple(files))
    return replace(rules, left_out={**left_out, **rules.left_out})


def _found(root: Path) -> tuple[list[RuleFile], dict[str, str]]:
    """The files of rules, and why others are not read."""
    files: list[RuleFile] = []
    left_out: dict[str, str] = {}
    for place, listed in _places(root):
        try:
            found = listed()
        except UsageError as error:
            left_out[place] = error.args[0]
            continue
        for name, read in found.items():
            try:
                files.append(read())
            except UsageError as error:
                left_out[Path(name).stem] = error.args[0]
    twice = [name for name, times in Counter(file.name for file in files).items() if times > 1]
    for name in twice:
        paths = " and ".join(file.path for file in files if file.name == name)
        left_out[name] = f"{paths} have the same name: rename one of them."
    return [file for file in files if file.name not in twice], left_out


def _places(root: Path) -> Iterator[tuple[str, Callable[[], _Listed]]]:
    """Where rules may lie, each with what lists its files."""
    owners = _owners(root)
    for folder in folders(root):
        for kind in _ENDINGS:
            yield str(folder / kind), partial(_in_folder, folder / kind, kind, owners)
    for kind in _ENDINGS:
        for each in brought(_GROUPS[kind]):
            yield f"{each.package}, {each.name} of {kind}", partial(_in_package, each, kind)


def _in_package(brought_: Brought, kind: Kind) -> _Listed:
    """The rules in the folder of a package; who may install packages may do more than write rules."""
    if brought_.fault:
        raise UsageError(brought_.fault)
    module = brought_.value
    if not isinstance(module, ModuleType) or not hasattr(module, "__path__"):
        said = f"The package {brought_.package} names {brought_.name} as its {kind}"
        raise UsageError(f"{said}: name a folder with the files and an __init__.py.")
    held = {entry.name: entry for entry in importlib.resources.files(module).iterdir()}

    def text(name: str) -> str:
        path = f"{module.__name__}/{name}"
        with _faults_named(path), held[name].open("rb") as opened:
            return _text(opened.read(_MOST_BYTES + 1), path)

    def rule(name: str) -> RuleFile:
        stem = Path(name).stem
        cases = text(f"{stem}.toml") if kind == "views" and f"{stem}.toml" in held else None
        return RuleFile(kind, stem, f"{module.__name__}/{name}", text(name), cases, brought_.package)

    return {name: partial(rule, name) for name in _rules_among(held, kind, module.__name__)}


def _owners(root: Path) -> set[int]:
    return {0, os.geteuid(), *(folder.stat().st_uid for folder in (root,) if folder.exists())}


def _in_folder(folder: Path, kind: Kind, owners: set[int]) -> _Listed:
    """The rules in a folder of the site's own."""
    with _faults_named(folder):
        try:
            names = [path.name for path in folder.iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            return {}
        _check_safe(folder, folder.stat(), owners)
    return {name: partial(_rule_file, folder / name, kind, owners) for name in _rules_among(names, kind, folder)}


def _rules_among(names: Iterable[str], kind: Kind, place: object) -> list[str]:
    mine = sorted(name for name in names if name.endswith(_ENDINGS[kind]) and not name.startswith("."))
    if len(mine) > _MOST_FILES:
        raise UsageError(f"{place} holds {len(mine):,} files, and {_MOST_FILES} are read at most: move others away.")
    return mine


def _rule_file(path: Path, kind: Kind, owners: set[int]) -> RuleFile:
    cases = path.with_suffix(".toml")
    has_cases = kind == "views" and cases.exists()
    return RuleFile(kind, path.stem, str(path), _read(path, owners), _read(cases, owners) if has_cases else None)


def _read(file: Path, owners: set[int]) -> str:
    """The text of a file of rules.

    Raises:
        UsageError: it cannot be read, is too large or no text, or others can write it.
    """
    with _faults_named(file), open(file, "rb", opener=_open_at_once) as opened:
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(f"{file} is not a regular file: move it away.")
        _check_safe(file, status, owners)
        return _text(opened.read(_MOST_BYTES + 1), file)


def _text(held: bytes, path: object) -> str:
    if len(held) > _MOST_BYTES:
        raise UsageError(f"{path} has more than {_MOST_BYTES:,} bytes, the limit for a rule: make it shorter.")
    try:
        return held.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: save the file as UTF-8.") from error


@contextmanager
def _faults_named(path: object) -> Iterator[None]:
    """Turns errors of the system into messages that name the file or folder."""
    try:
        yield
    except FileNotFoundError as error:
        raise UsageError(f"There is no file {path}: name one that is there.") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): give its reader access, or move it away.") from error


def _open_at_once(path: str, flags: int) -> int:
    """Opens a pipe without waiting for who writes to it."""
    return os.open(path, flags | os.O_NONBLOCK)


def _check_safe(path: Path, status: os.stat_result, owners: set[int]) -> None:
    if status.st_uid not in owners:
        raise UsageError(f"{path} is of user {status.st_uid}, and is not read: give it to the warehouse's owner, or to root.")
    if stat.S_IMODE(status.st_mode) & _OTHERS_WRITE:
        raise UsageError(f"{path} can be written by others than its owner, and is not read: run `chmod go-w` on it.")
