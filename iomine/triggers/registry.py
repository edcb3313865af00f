"""All triggers, found by walking `rules/`; a module there that has a `TRIGGER` is one."""

import importlib
import inspect
import pkgutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import pyarrow as pa

from iomine.errors import UsageError, did_you_mean
from iomine.triggers import rules
from iomine.triggers.model import Trigger


@dataclass(frozen=True, slots=True)
class Manual:
    """A trigger and what its module says of it.

    Attributes:
        trigger: the trigger.
        title: the first line of the module's docstring, without its full stop.
        text: the rest of it.
    """

    trigger: Trigger
    title: str
    text: str


def _all_manuals() -> dict[str, Manual]:
    found: dict[str, Manual] = {}
    for info in pkgutil.walk_packages(rules.__path__, f"{rules.__name__}."):
        module = importlib.import_module(info.name)
        trigger = getattr(module, "TRIGGER", None)
        if trigger is None:
            continue
        if trigger.code in found:
            raise ValueError(f"Two triggers are called {trigger.code}: give {info.name} another code.")
        title, _, text = (inspect.getdoc(module) or "").partition("\n")
        found[trigger.code] = Manual(trigger, title.removesuffix("."), text.strip())
    return dict(sorted(found.items()))


MANUALS: Final[dict[str, Manual]] = _all_manuals()
TRIGGERS: Final[dict[str, Trigger]] = {code: page.trigger for code, page in MANUALS.items()}


# Of the site whose warehouse is asked.
_OF_SITE: Final[ContextVar[Mapping[str, Manual]]] = ContextVar("_OF_SITE", default=MappingProxyType({}))


@contextmanager
def beside_ours(manuals: Mapping[str, Manual]) -> Iterator[None]:
    """As long as the context lasts, a site's triggers are found like ours.

    Args:
        manuals: the site's, by code.
    """
    token = _OF_SITE.set(manuals)
    try:
        yield
    finally:
        _OF_SITE.reset(token)


def all_manuals() -> dict[str, Manual]:
    """Our triggers, and those of the site, by code."""
    return MANUALS | dict(_OF_SITE.get())


def find_manual(code: str) -> Manual | None:
    """The manual page of a trigger of ours or of the site, None where there is none."""
    return MANUALS.get(code) or _OF_SITE.get().get(code)


def find_trigger(code: str) -> Trigger | None:
    """A trigger of ours or of the site, None where there is none."""
    return page.trigger if (page := find_manual(code)) else None


def known(code: str, codes: Collection[str] = MANUALS.keys()) -> str:
    """The code as its trigger has it, whether in capitals or not.

    Raises:
        UsageError: no trigger has it.
    """
    if code.upper() not in codes:
        hint = did_you_mean(code.upper(), codes) or "`iomine explain` lists them all."
        raise UsageError(f"There is no trigger {code}: {hint}")
    return code.upper()


def reference_table(manuals: Mapping[str, Manual] = MANUALS) -> pa.Table:
    """Triggers as a table that SQL can join with verdicts, all columns text."""
    rows = [
        {
            "ruleset": page.trigger.ruleset,
            "code": code,
            "level": page.trigger.level.value,
            "title": page.title,
            "view_name": page.trigger.view,
            "needs": page.trigger.needs,
            "trigger_version": page.trigger.version,
        }
        for code, page in manuals.items()
    ]
    names = ("ruleset", "code", "level", "title", "view_name", "needs", "trigger_version")
    return pa.Table.from_pylist(rows, schema=pa.schema([(name, pa.string()) for name in names]))
