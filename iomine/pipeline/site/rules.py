"""A site's own triggers and views, in folders beside its settings or in the warehouse, and those of installed packages.

They are trusted as the settings are. So nobody else may be able to write them, and no other place is looked at.
"""

import importlib.resources
import json
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pyarrow as pa

from iomine import __version__
from iomine.cache import cached
from iomine.config import config_of
from iomine.errors import IomineError, UsageError, did_you_mean
from iomine.lake import Warehouse
from iomine.packages import Brought, Group, brought
from iomine.schema import TABLES, field
from iomine.triggers.judge import held_name, judge_sql
from iomine.triggers.model import ACTIVITY, Case, Trigger
from iomine.triggers.site import NO_RULES, Kind, RuleFile, SiteRules, load_rules
from iomine.views import site, trial
from iomine.views.catalog import template
from iomine.views.model import find_views
from iomine.views.trial import Tried, answer_over, try_views

_ENDINGS: Final[dict[Kind, str]] = {"triggers": ".toml", "views": ".sql"}
_GROUPS: Final[dict[Kind, Group]] = {"triggers": "iomine.triggers", "views": "iomine.views"}
_MOST_FILES: Final = 500
_MOST_BYTES: Final = 1 << 16
_OTHERS_WRITE: Final = 0o022
_NIGHT: Final = ("cluster", "night", "log_id")
# Names of files, each with what reads it.
_Listed = Mapping[str, Callable[[], RuleFile]]


def site_rules(warehouse: Warehouse) -> SiteRules:
    """The rules of a site that can be used, and why others cannot."""
    files, left_out = _found(warehouse.root)
    if not files:
        return replace(NO_RULES, left_out=left_out)
    rules = checked(tuple(files))
    return replace(rules, left_out=left_out | dict(rules.left_out))


@lru_cache(maxsize=8)
def checked(files: tuple[RuleFile, ...]) -> SiteRules:
    """The rules in files that keep to the form, bind, and answer their cases; that is worked out once for the same files."""
    rules = load_rules(files)
    sources = b"".join(Path(module.__file__ or "").read_bytes() for module in (site, trial))
    made_from = (files, __version__, sha256(template(find_views())).digest(), sources, Path(__file__).read_bytes())
    key = f"rules-{sha256(repr(made_from).encode()).hexdigest()}"
    faults = json.loads(cached(key, partial(_faults, rules)))
    found = load_rules(file for file in rules.files if file.name not in faults)
    return replace(found, left_out={**rules.left_out, **found.left_out, **faults})


def with_file(warehouse: Warehouse, path: Path) -> tuple[SiteRules, str]:
    """The rules of a site as they would be with a file, in the place of that of its name; and this name.

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
    rules = checked((*(other for other in files if other.name != file.name), file))
    return replace(rules, left_out=left_out | dict(rules.left_out)), file.name


def folders(root: Path) -> list[Path]:
    """Where a site's rules may lie: beside its settings, and in the warehouse."""
    config = config_of(root)
    return list(dict.fromkeys([*([config.absolute().parent] if config else []), root.absolute()]))


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
        left_out[name] = f"{paths} have one name: give one of them another."
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
        raise UsageError(f"{path} has more than {_MOST_BYTES:,} bytes, which no rule needs: make it shorter.")
    try:
        return held.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: save the file as such.") from error


@contextmanager
def _faults_named(path: object) -> Iterator[None]:
    """Says of what the system refuses which file or folder it is about."""
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


def _faults(rules: SiteRules) -> bytes:
    """What is wrong with rules that keep to the form, by name, as JSON."""
    published = {page.trigger.view for page in rules.manuals.values() if page.trigger.view.startswith("main.")}
    tried = try_views(rules.views, {file.name: file.cases for file in rules.files if file.kind == "views"}, sorted(published))
    faults = dict(tried.faults)
    paths = {file.name: file.path for file in rules.files}
    for code, page in rules.manuals.items():
        try:
            _check_trigger(page.trigger, tried)
        except IomineError as error:
            faults[code] = f"{paths[code]}: {error.args[0]}"
    return json.dumps(faults).encode()


def _check_trigger(trigger: Trigger, tried: Tried) -> None:
    if trigger.is_featureless:
        if trigger.view not in tried.columns:
            raise UsageError(f"its view {trigger.view} is left out.")
        there = tried.columns[trigger.view]
    else:
        there = (*TABLES[trigger.view].partition_keys, *TABLES[trigger.view].columns)
    if missing := next((column for column in (*_NIGHT, *trigger.columns) if column not in there), None):
        hint = did_you_mean(missing, there) or f"it has {', '.join(there)}."
        raise UsageError(f"its view {trigger.view} has no column {missing}: {hint}")
    states = _states(trigger)
    for case, state in zip(trigger.cases, states, strict=True):
        if case.state != state:
            raise UsageError(f"the case {case.name!r} is {state}, and is to be {case.state}.")


def _states(trigger: Trigger) -> list[str]:
    """What the trigger says of each of its cases."""
    rows = [_row(case, number) for number, case in enumerate(trigger.cases)]
    log = [*_NIGHT, "io_core_seconds", "run_seconds", "nprocs"]
    view = f"temp.main.{held_name(trigger.view)}" if trigger.is_featureless else f"core.{trigger.view}"
    tables = {
        "core.log": _table(log, rows),
        "core.cost_claim": _table([*_NIGHT, "claim_group", "cost_name", "claim_core_seconds"], []),
        view: _table(list(dict.fromkeys([*_NIGHT, "is_complete", *trigger.columns])), rows),
        f"core.{ACTIVITY}": _table([*_NIGHT, *dict.fromkeys(trigger.activity)], rows),
    }
    verdicts = answer_over(tables, judge_sql([trigger]))
    found = dict(zip(verdicts["log_id"].to_pylist(), verdicts["state"].to_pylist(), strict=True))
    return [found[row["log_id"]] for row in rows]


def _row(case: Case, number: int) -> dict[str, Any]:
    # What a finding costs is bounded by the time of its log.
    made_up = {
        "cluster": "cases",
        "night": date(1970, 1, 1),
        "log_id": f"{number:04}",
        "io_core_seconds": 1e12,
        "is_complete": True,
    }
    return made_up | dict(case.metrics)


def _table(columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> pa.Table:
    schema = pa.schema([(name, field(name).type) for name in columns])
    return pa.Table.from_pylist(
        [{name: _whole(row.get(name), schema.field(name).type) for name in columns} for row in rows], schema
    )


def _whole(value: object, kind: pa.DataType) -> object:
    # TOML's numbers came as floats.
    return int(value) if isinstance(value, float) and pa.types.is_integer(kind) else value
