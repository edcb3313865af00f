"""Thresholds of a site: numbers that stand in for those that triggers ship with, each checked against the trigger it is for.

A threshold is named by code and metric, such as `POSIX-101.small_read_ratio`. A setting, a number that the trigger's view
works with, is named and set in the same way.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from iomine.config import Toml, parse_toml
from iomine.errors import UsageError, did_you_mean
from iomine.schema import field
from iomine.schema.fields import Kind
from iomine.triggers.model import Threshold, Trigger
from iomine.triggers.registry import known

_Held = TypeVar("_Held", bound=Threshold)
_NEVER_NEGATIVE: Final = (Kind.COUNT, Kind.BYTES, Kind.SECONDS, Kind.CORE_SECONDS, Kind.RATIO)


@dataclass(frozen=True, slots=True)
class SiteThreshold:
    """A number that a site sets, found to be fit for its trigger.

    Attributes:
        code: the trigger's.
        name: a metric that the trigger holds to a threshold, or one of its settings.
        value: in the unit of that name.
    """

    code: str
    name: str
    value: float


def parse_threshold(text: str, triggers: Mapping[str, Trigger]) -> SiteThreshold:
    """A threshold written as `CODE.metric=VALUE`.

    Raises:
        UsageError: it is written otherwise, or is not fit for its trigger.
    """
    name, equals, value = text.partition("=")
    code, dot, metric = name.partition(".")
    if not (equals and dot):
        raise UsageError(f"{text!r} sets no threshold: write CODE.metric=VALUE, such as POSIX-101.small_read_ratio=0.2.")
    try:
        number: object = float(value)
    except ValueError:
        number = value
    return _checked(code.strip(), metric.strip(), number, triggers)


def parse_thresholds(toml: Toml, triggers: Mapping[str, Trigger]) -> tuple[SiteThreshold, ...]:
    """The thresholds of a TOML file, which has a table for each trigger, and in it a number for each metric.

    Raises:
        UsageError: it is not TOML, has another form, or a threshold is not fit for its trigger.
    """
    tables = parse_toml(toml)
    if loose := [name for name, table in tables.items() if not isinstance(table, dict)]:
        raise UsageError(f"{loose[0]} is under no trigger: write a line such as [POSIX-101] above it.")
    return tuple(_checked(code, name, value, triggers) for code, table in tables.items() for name, value in table.items())


def with_thresholds(triggers: Mapping[str, Trigger], thresholds: Iterable[SiteThreshold]) -> dict[str, Trigger]:
    """The triggers with the thresholds of a site in place of their own; of two thresholds of one name the later counts.

    All else of a trigger stays as it is, its version too: a verdict names the threshold that it was held to.
    """
    found = dict(triggers)
    for threshold in thresholds:
        # A setting belongs to the view, so triggers that share it cannot differ in it.
        found = {
            code: _with_threshold(trigger, threshold)
            if code == threshold.code or threshold.name in _settings_of(trigger)
            else trigger
            for code, trigger in found.items()
        }
    return found


def shipped_thresholds(trigger: Trigger) -> dict[str, float]:
    """All that a site may set of a trigger, by name, with the values that it ships with."""
    return {each.metric: float(each.value) for each in trigger.thresholds} | _settings_of(trigger)


def _settings_of(trigger: Trigger) -> dict[str, float]:
    return {setting.name: float(setting.default) for setting in trigger.settings}


def _with_threshold(trigger: Trigger, threshold: SiteThreshold) -> Trigger:
    def moved(each: _Held) -> _Held:
        return replace(each, value=threshold.value) if each.metric == threshold.name else each

    settings = tuple(
        replace(setting, default=threshold.value) if setting.name == threshold.name else setting for setting in trigger.settings
    )
    return replace(
        trigger,
        all_of=tuple(map(moved, trigger.all_of)),
        unless=tuple(map(moved, trigger.unless)),
        high=trigger.high and moved(trigger.high),
        settings=settings,
    )


def _checked(code: str, name: str, value: object, triggers: Mapping[str, Trigger]) -> SiteThreshold:
    trigger = triggers[known(code, triggers)]
    shipped = shipped_thresholds(trigger)
    if name not in shipped:
        hint = did_you_mean(name, shipped) or f"its thresholds are {', '.join(shipped)}."
        raise UsageError(f"{trigger.code} has no threshold {name}: {hint}")
    threshold = SiteThreshold(trigger.code, name, _finite(f"{trigger.code}.{name}", value))
    _check_range(threshold, shipped[name])
    return threshold


def _finite(name: str, value: object) -> float:
    # True is an int to Python, and TOML's integers have no bound.
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise UsageError(f"The threshold {name} must be a number, not {value!r}.")


def _check_range(threshold: SiteThreshold, shipped: float) -> None:
    kind = field(threshold.name).kind
    # A ratio that ships with a threshold of 1 or more is no share of a whole, or its trigger could not fire.
    if kind is Kind.RATIO and shipped < 1 and not 0 <= threshold.value <= 1:
        raise UsageError(
            f"The threshold {threshold.code}.{threshold.name} is a ratio: give a number from 0 to 1, not {threshold.value:g}."
        )
    if kind in _NEVER_NEGATIVE and threshold.value < 0:
        raise UsageError(
            f"The threshold {threshold.code}.{threshold.name} cannot be negative: give 0 or more, not {threshold.value:g}."
        )
