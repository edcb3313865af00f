"""Whether a site's own triggers and views can be used: they bind, and answer their cases."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from iomine import __version__
from iomine.cache import cached
from iomine.errors import IomineError, UsageError, did_you_mean
from iomine.schema import TABLES, field
from iomine.triggers.judge import EXCUSES, held_name, judge_sql
from iomine.triggers.model import ACTIVITY, Case, Trigger
from iomine.triggers.site import RuleFile, SiteRules, load_rules
from iomine.views import site, trial
from iomine.views.catalog import template
from iomine.views.model import find_views
from iomine.views.trial import Tried, answer_over, try_views

_NIGHT: Final = ("cluster", "night", "log_id")


@lru_cache(maxsize=8)
def checked(files: tuple[RuleFile, ...]) -> SiteRules:
    """The rules in files that keep to the form, bind, and answer their cases; the result is cached for the same files."""
    rules = load_rules(files)
    sources = b"".join(Path(module.__file__ or "").read_bytes() for module in (site, trial))
    made_from = (files, __version__, sha256(template(find_views())).digest(), sources, Path(__file__).read_bytes())
    key = f"rules-{sha256(repr(made_from).encode()).hexdigest()}"
    faults = json.loads(cached(key, partial(_faults, rules)))
    found = load_rules(file for file in rules.files if file.name not in faults)
    return replace(found, left_out={**rules.left_out, **found.left_out, **faults})


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
            raise UsageError(f"the case {case.name!r} is {state}, but must be {case.state}.")


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
        EXCUSES: _table([*_NIGHT, "is_excused"], []),
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
