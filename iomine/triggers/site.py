"""A site's rules out of files: triggers as TOML and views as SQL, in the form of ours, and which of them can be used."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Annotated, ClassVar, Final, Literal, TypeVar

import pyarrow as pa
from pydantic import Field

from iomine.errors import UsageError, did_you_mean
from iomine.schema import TABLES, is_word
from iomine.settings import Line, SiteSettings, setting
from iomine.triggers.finding import parts
from iomine.triggers.model import Above, Below, Case, Level, Snippet, State, Threshold, Trigger
from iomine.triggers.registry import MANUALS, Manual, beside_ours, reference_table
from iomine.views.answers import Ask, rows_of
from iomine.views.model import find_views
from iomine.views.site import SITE, SiteView, beneath, in_order, parse_view, reads_verdicts, unfit_word

Kind = Literal["triggers", "views"]
_Part = TypeVar("_Part")
CODE: Final = re.compile(r"SITE-\d{3}")


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A file of a site's rules, or of a package of them.

    Attributes:
        kind: the folder that it lies in.
        name: of the file without its ending: a trigger's code, or a view's name.
        path: for messages.
        text: of the file.
        cases: of a view, the text of the file with its cases; None without one.
        package: that brought it, empty for a file of the site's own.
    """

    kind: Kind
    name: str
    path: str
    text: str
    cases: str | None = None
    package: str = ""


@dataclass(frozen=True, slots=True)
class SiteRules:
    """What of a site's rules can be used.

    Attributes:
        manuals: its triggers by code.
        views: its views, each after those that it reads.
        files: the files that these stand in.
        left_out: why others are not used, a sentence each, by code, view or package.
    """

    manuals: Mapping[str, Manual] = field(default_factory=dict)
    views: tuple[SiteView, ...] = ()
    files: tuple[RuleFile, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def triggers(self) -> dict[str, Trigger]:
        """Its triggers by code."""
        return {code: page.trigger for code, page in self.manuals.items()}

    def reference(self) -> dict[str, pa.Table]:
        """What a catalog stores of our triggers and of these rules."""
        held = [{name: getattr(file, name) for name in _HELD} for file in self.files]
        kept = pa.schema([(name, pa.string()) for name in _HELD])
        return {"triggers": reference_table(MANUALS | dict(self.manuals)), "_rule": pa.Table.from_pylist(held, kept)}


NO_RULES: Final = SiteRules()
_HELD: Final = ("kind", "name", "path", "text", "package")


# TOML has lists.
_Many = Annotated[tuple[_Part, ...], Field(strict=False)]


class _Metric(SiteSettings):
    whose: ClassVar[str] = "threshold"
    metric: Line = setting("", "A column of the view.")
    above: float | None = setting(None, "The number that it must lie above.")
    below: float | None = setting(None, "The number that it must lie below.")
    why: Line = setting("", "Where this number comes from.")


class _Case(SiteSettings):
    whose: ClassVar[str] = "case"
    name: Line = setting("", "The circumstance.")
    metrics: Mapping[str, float | bool | str] = setting({}, "Columns; those left out are NULL.")
    state: State = setting("fired", "The verdict.")


class _Snippet(SiteSettings):
    whose: ClassVar[str] = "snippet"
    language: Literal["c", "fortran", "python", "shell"] = setting("shell", "What it is written in.")
    title: Line = setting("", "What it shows.")
    code: str = setting("", "The lines.")


class TriggerFile(SiteSettings):
    """A trigger as a site writes it."""

    whose: ClassVar[str] = "trigger"
    code: Line = setting("", "SITE- and three digits, as the file is named.")
    title: Line = setting("", "What it finds, in a few words.")
    about: str = setting("", "Why that matters.")
    blind_spots: str = setting("", "What it does not see.")
    level: Literal["high", "warn", "info", "ok"] = setting("warn", "Its weight when fired.")
    view: Line = setting("", "The view with the metrics.")
    all_of: _Many[_Metric] = setting((), "Fires when all of these hold.")
    unless: _Many[_Metric] = setting((), "Does not fire when all of these hold.")
    applies_to: _Many[_Metric] = setting((), "What the log must have done for the question to arise.")
    high: _Metric | None = setting(None, "Raises the level to high.")
    finding: str = setting("", "What a fired trigger says.")
    advice: str = setting("", "What to change.")
    needs: Line = setting("the records that its view reads, whole", "What answers it.")
    cost: Line | None = setting(None, "The metric of core-seconds that it is about.")
    idle: Line | None = setting(None, "The metric of core-seconds in which other ranks stood idle.")
    evidence: Line | None = setting(None, "The text column that says what the metrics were worked out from.")
    op: Literal["read", "write"] | None = setting(None, "Which requests it is about.")
    version: Line = setting("1", "Changes whenever verdicts may.")
    snippets: _Many[_Snippet] = setting((), "Programs that do what the advice says.")
    cases: _Many[_Case] = setting((), "What it must catch, and what it must leave alone.")


def published_rules(ask: Ask) -> SiteRules:
    """The rules that a catalog was published with.

    Args:
        ask: answers queries over it.
    """
    try:
        rows = rows_of(ask(f"SELECT {', '.join(_HELD)} FROM main._rule ORDER BY name"))  # noqa: S608
    except UsageError:
        # It was published before there were any.
        return NO_RULES
    return _loaded(tuple(RuleFile(**row) for row in rows))


@contextmanager
def with_published(ask: Ask) -> Iterator[None]:
    """As long as the context lasts, the triggers that a catalog was published with are found like ours.

    Args:
        ask: answers queries over it.
    """
    with beside_ours(published_rules(ask).manuals):
        yield


@lru_cache(maxsize=8)
def _loaded(files: tuple[RuleFile, ...]) -> SiteRules:
    return load_rules(files) if files else NO_RULES


def load_rules(files: Iterable[RuleFile]) -> SiteRules:
    """The rules in files that keep to the form; whether they bind, and what their cases say, is not looked at."""
    files = tuple(files)
    left_out: dict[str, str] = {}
    parsed = []
    for file in files:
        if file.kind == "views":
            try:
                parsed.append(parse_view(file.name, file.path, file.text))
            except UsageError as error:
                left_out[file.name] = error.args[0]
    views, faults = in_order(parsed)
    left_out |= faults
    manuals: dict[str, Manual] = {}
    for file in files:
        if file.kind == "triggers":
            try:
                manuals[file.name] = parse_trigger(file, views)
            except UsageError as error:
                left_out[file.name] = error.args[0]
    found = {*manuals, *(view.name for view in views)}
    return SiteRules(dict(sorted(manuals.items())), views, tuple(file for file in files if file.name in found), left_out)


def parse_trigger(file: RuleFile, views: tuple[SiteView, ...]) -> Manual:
    """The trigger in a file of a site, with its manual page.

    Args:
        file: the file.
        views: of the site, in order.

    Raises:
        UsageError: the file does not keep to the form.
    """
    try:
        return _manual(TriggerFile.parse(file.text), file, views)
    except (UsageError, ValueError) as error:
        said = str(error.args[0])
        raise UsageError(said if said.startswith(file.path) else f"{file.path}: {said}") from error


def _manual(said: TriggerFile, file: RuleFile, views: tuple[SiteView, ...]) -> Manual:
    if not CODE.fullmatch(said.code):
        raise UsageError(f"the code of a site's trigger is SITE- and three digits, such as SITE-101, not {said.code!r}.")
    if said.code != file.name:
        raise UsageError(f"the file of {said.code} is called {said.code}.toml.")
    for key in ("title", "about", "blind_spots"):
        if not getattr(said, key).strip():
            raise UsageError(f"it must say its {key}, which its manual page needs.")
    states = [case.state for case in said.cases]
    if not {"fired", "clear"} <= set(states):
        raise UsageError("it must have a case that fires and one that is clear.")
    _check_words(said, views)
    view = _view_of(said.view, views)
    trigger = Trigger(
        code=said.code,
        view=view,
        level=Level(said.level),
        all_of=tuple(map(_threshold, said.all_of)),
        unless=tuple(map(_threshold, said.unless)),
        applies_to=tuple(_above(each) for each in said.applies_to),
        high=None if said.high is None else _above(said.high),
        finding=said.finding,
        advice=said.advice,
        needs=said.needs,
        cost=said.cost,
        idle=said.idle,
        evidence=said.evidence,
        op=said.op,
        version=said.version,
        snippets=tuple(Snippet(each.language, each.title, each.code) for each in said.snippets),
        cases=tuple(_case(each, said) for each in said.cases),
        site_views=beneath(view, views),
    )
    text = f"{said.about.strip()}\n\nBlind spots: {said.blind_spots.strip()}"
    return Manual(trigger, said.title.removesuffix("."), text)


def _view_of(name: str, views: tuple[SiteView, ...]) -> str:
    """The view of that name as triggers have it: features are without a schema, published views and the site's have theirs."""
    published = {view.name: view for view in find_views() if view.schema == "main"}
    features = {view.name for view in find_views() if view.schema == "feature" and view.name in TABLES}
    of_site = {view.qualified: view for view in views}
    if name in features and "is_complete" in TABLES[name].columns:
        return name
    known = of_site | published
    if name not in known:
        near = of_site if name.startswith(f"{SITE}.") else [*published, *features]
        hint = did_you_mean(name, near) or f"name a view of features, a published one, or {SITE}.NAME."
        raise UsageError(f"its view {name} is not there, or is left out: {hint}")
    if known[name].grain != ("log_id",):
        raise UsageError(
            f"its view {name} does not have one row for each log: its grain is {', '.join(known[name].grain) or 'none'}."
        )
    qualified = known[name].qualified
    if reads_verdicts({qualified}, beneath(qualified, views)):
        raise UsageError(f"its view {name} is computed from verdicts, which do not exist while logs are judged.")
    return qualified


def _threshold(said: _Metric) -> Threshold:
    if (said.above is None) == (said.below is None):
        raise UsageError(f"{said.metric or 'a metric'} must be above a number or below one: write one of both.")
    return Above(said.metric, said.above, said.why) if said.above is not None else Below(said.metric, said.below or 0, said.why)


def _above(said: _Metric) -> Above:
    threshold = _threshold(said)
    if not isinstance(threshold, Above):
        raise UsageError(f"{said.metric} must be above a number here.")
    return threshold


def _case(said: _Case, of: TriggerFile) -> Case:
    held = [each.metric for each in (*of.all_of, *of.unless, *filter(None, [of.high]))]
    return Case(said.name, dict.fromkeys(held) | dict(said.metrics), said.state)


def _check_words(said: TriggerFile, views: tuple[SiteView, ...]) -> None:
    thresholds = (*said.all_of, *said.unless, *said.applies_to, *filter(None, [said.high]))
    slots = chain(parts(said.finding), parts(said.advice))
    named = (
        *(each.metric for each in thresholds),
        *filter(None, (said.cost, said.idle, said.evidence)),
        *chain.from_iterable(case.metrics for case in said.cases),
        *(slot.metric for slot in slots if not isinstance(slot, str)),
    )
    if unfit := next((name for name in named if not is_word(name)), None):
        raise UsageError(unfit_word(unfit, (word for view in views for word, _ in view.words)))
