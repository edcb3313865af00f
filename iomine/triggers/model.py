"""What a trigger is: metrics, thresholds, texts and the cases that prove it. Data only; `judge.py` makes SQL of it."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import chain, product
from typing import TYPE_CHECKING, ClassVar, Final, Literal

import pyarrow as pa

from iomine.schema import TABLES, field, is_word
from iomine.triggers.finding import Slot, parts

if TYPE_CHECKING:
    # It loads pydantic, which commands that show something do without.
    from iomine.views.site import SiteView

State = Literal["fired", "clear", "not applicable", "unknown"]
Language = Literal["c", "fortran", "python", "shell"]
Op = Literal["read", "write"]

DEFAULT_RULESET: Final = "iomine"
# The view of what each log did, and what it lacks; every trigger may use it beside its own view.
ACTIVITY: Final = "log_activity"
# What a fired verdict of level high or warn must have cost, with the time in which others stood idle; below that, it becomes
# info. The start of a program alone takes as much.
FINDING_CORE_SECONDS: Final = 1.0
# What must have been lost of the whole run, where it was lost in ranks that stood idle.
FINDING_RUN_RATIO: Final = 0.001

# The second form is that of Drishti's codes.
_CODE: Final = re.compile(r"[A-Z][A-Z0-9]*-\d{3}|[A-Z]\d{2}")
# Views that are no features are named with their schema.
_VIEW: Final = re.compile(r"((main|site)\.)?[a-z][a-z0-9_]*")


class Level(StrEnum):
    """How much a fired trigger weighs; HIGH and WARN become findings."""

    HIGH = "high"
    WARN = "warn"
    INFO = "info"
    OK = "ok"


FINDING_LEVELS: Final = (Level.HIGH, Level.WARN)


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold that a metric is compared with, on one side of it; a value equal to the number is on neither side.

    Attributes:
        metric: a column of the trigger's view.
        value: the number, in the metric's unit.
        why: where this number comes from, in one sentence.
    """

    metric: str
    value: float
    why: str

    side: ClassVar[str]
    # The comparison in SQL.
    sign: ClassVar[str]


class Above(Threshold):
    """A metric that must lie above a threshold."""

    __slots__ = ()
    side = "above"
    sign = ">"


class Below(Threshold):
    """A metric that must lie below a threshold."""

    __slots__ = ()
    side = "below"
    sign = "<"


@dataclass(frozen=True, slots=True)
class Setting:
    """A number that the view of a trigger works with, such as the size below which a request is small.

    Attributes:
        name: a field; the view gets its value as the DuckDB variable of that name, which no other view reads, and has it as a
            column, which identifies what a log was judged with.
        default: its value where a site sets no other.
        why: where this number comes from, in one sentence.
    """

    name: str
    default: float
    why: str


@dataclass(frozen=True, slots=True)
class Snippet:
    """A few lines of a program that do what the advice says.

    Attributes:
        language: what they are written in.
        title: what they show.
        code: the lines.
        places: words of these lines that stand for the run's own, each with a metric of the finding, or with `file` or `folder`
            for the path that the finding names.
    """

    language: Language
    title: str
    code: str
    places: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Where:
    """A part of an advice that is for some runs only: advice on HDF5 is for programs that use it.

    Attributes:
        metrics: columns of `log_activity` or of the view. A text must be known; a number must be above `above`, or not known.
        text: whole sentences, a template like the others.
        above: what the numbers must be above.
        is_not: whether it is for the runs that the above is known not to hold of.
    """

    metrics: tuple[str, ...]
    text: str
    above: float = 0
    is_not: bool = False

    def is_said(self, holds: bool) -> bool:
        """Whether it is for a run, of which the condition holds or does not."""
        return holds != self.is_not


Advice = tuple[str | Where, ...]


@dataclass(frozen=True, slots=True)
class Instead:
    """What a trigger says instead if more is known about a log, such as the OST that is to blame.

    Attributes:
        known: the metric that is known then.
        finding: what is said instead of the trigger's finding, a template like it.
        advice: what is advised instead of the trigger's advice.
        sign_of: the code of the finding on the part of the facility that is to blame: where the log has that finding, this one is
            a sign of it, and the facility has to fix that.
    """

    known: str
    finding: str
    advice: str | Advice
    sign_of: str | None = None


@dataclass(frozen=True, slots=True)
class Requests:
    """Which requests of a trace show what a finding is about; reports highlight them.

    Attributes:
        layer: of the requests; None for all.
        op: their direction; None for both.
        path: the metric that names their file, or the worst of several, which `sql/questions/trace/evidence.sql` then has.
        rank: the metric that names their rank, likewise, or the rank.
        ost: the metric that names their OST, likewise.
        below: the setting below whose bytes they are.
    """

    layer: Literal["posix", "mpiio"] | None = None
    op: Op | None = None
    path: str | None = None
    rank: str | int | None = None
    ost: str | None = None
    below: str | None = None

    @property
    def named(self) -> tuple[str, ...]:
        """Metrics and settings of the trigger without whose values nothing can be shown."""
        return tuple(name for name in (self.path, self.rank, self.ost, self.below) if isinstance(name, str))


@dataclass(frozen=True, slots=True)
class Case:
    """A made-up log that shows what the trigger says of it.

    Attributes:
        name: the circumstance.
        metrics: columns of the view and of `log_activity`; those left out are NULL, but `is_complete` is then true.
        state: the verdict.
    """

    name: str
    metrics: Mapping[str, float | bool | str | None]
    state: State


@dataclass(frozen=True, slots=True)
class Trigger:
    """One check.

    Attributes:
        code: family and number, such as POSIX-101 or P05; unique over all rulesets.
        view: the view with the metrics: one row per log, with `cluster`, `night`, `log_id` and `is_complete`. A published view,
            or one of the site, is named with its schema, and may lack the last: then a log is complete that is not cut short.
        level: its weight when fired.
        all_of: fires when all of these hold.
        finding: what a fired trigger says, a template (see `finding.py`).
        advice: what to change, a template like the finding, or several, each of whole sentences, some of them for some runs only.
        cases: what it must catch and what it must leave alone.
        needs: which inputs answer it, and how to get them.
        applies_to: what the log must have done for the question to arise: columns of `log_activity`, or of the view, which count
            where nothing is lacking. Where one is known and not above its threshold, nothing of the kind was done, and a verdict
            that is not fired is `not applicable`.
        lacks: text columns of `log_activity`, NULL where nothing is lacking; the first that is not says why a verdict is unknown.
        unless: does not fire when all of these hold, if there are any.
        high: raises the level of a fired verdict to high when it holds.
        cost: the metric of core-seconds that ranks spent in the requests that a finding is about.
        idle: the metric of core-seconds in which other ranks stood idle meanwhile, which are no part of the cost.
        is_facility_cause: whether the facility has to fix what it finds, and a user can change nothing about it.
        sign_of: codes of findings with a cost, of which it is a sign where their log has one, the first before all others; for a
            trigger without a cost, which is otherwise a cause of its own.
        evidence: the text column of the view that says what the metrics were worked out from.
        settings: numbers that the view works with.
        instead: other texts for logs of which more is known; of several, the first whose metric is known holds.
        op: which of the program's requests it is about, where it is about reads alone or writes alone.
        traced: where a trace shows what it is about.
        snippets: programs that do what the advice says.
        ruleset: the set that it belongs to.
        version: changes whenever verdicts may.
        site_views: of a site's trigger, the site's views that its metrics come from, each after those that it reads.

    Raises:
        ValueError: it does not keep to this form.
    """

    code: str
    view: str
    level: Level
    all_of: tuple[Threshold, ...]
    finding: str
    advice: str | Advice
    cases: tuple[Case, ...]
    needs: str = "the module's records, whole"
    applies_to: tuple[Above, ...] = ()
    lacks: tuple[str, ...] = ()
    unless: tuple[Threshold, ...] = ()
    high: Above | None = None
    cost: str | None = None
    idle: str | None = None
    is_facility_cause: bool = False
    sign_of: tuple[str, ...] = ()
    evidence: str | None = None
    settings: tuple[Setting, ...] = ()
    instead: tuple[Instead, ...] = ()
    op: Op | None = None
    traced: Requests | None = None
    snippets: tuple[Snippet, ...] = ()
    ruleset: str = DEFAULT_RULESET
    version: str = "1"
    site_views: "tuple[SiteView, ...]" = ()

    def __post_init__(self) -> None:
        """Refuse what could only fail later, in the middle of a night."""
        self._require(bool(_CODE.fullmatch(self.code)), "its code must be a family and three digits like POSIX-101, or like P05")
        self._require(bool(_VIEW.fullmatch(self.view)), "its view must be a plain name")
        texts = (self.finding, *(part for part in parts_of(self.advice) if isinstance(part, str)))
        self._require(len(texts) > 1 and all(text.strip() for text in texts), "it must say what it found and what to change")
        self._require(bool(self.all_of), "it must hold at least one metric against a threshold")
        for each in (*self.thresholds, *self.applies_to):
            self._require(bool(each.why.strip()), f"the threshold of {each.metric} must say why")
            self._require(math.isfinite(each.value), f"the threshold of {each.metric} must be a number")
        for setting in self.settings:
            self._require(is_word(setting.name) and math.isfinite(setting.default), f"setting {setting.name} must be a field")
        held = [each.metric for each in self.thresholds]
        for metric in held:
            # A site sets a threshold by the metric's name.
            self._require(held.count(metric) == 1, f"{metric} must be held against one threshold")
        for metric in (*held, *filter(None, [self.cost, self.idle])):
            self._require(_is_number(metric), f"{metric} must be a field of the schema and a number")
        for metric in self.metrics:
            self._require(_is_number(metric) or _is_text(metric), f"{metric} must be a field of the schema, a number or a text")
        self._require(not (self.cost and self.sign_of), "what it costs says which cause it is of")
        for each in self.applies_to:
            self._require(_is_number(each.metric), f"{each.metric} must be a number of {ACTIVITY} or of its view")
        self._check_asked()
        for column in self.lacks:
            self._require(column in TABLES[ACTIVITY].columns and _is_text(column), f"{column} must be a text of {ACTIVITY}")
        for name in self.traced.named if self.traced else ():
            self._require(name in self.shown, f"{name} must come with its findings, or no trace can show it")
        for case in self.cases:
            is_fit = set(held) <= set(case.metrics) and all(map(is_word, case.metrics))
            self._require(is_fit, f"case {case.name!r} must name fields, and all held to a threshold")

    def _check_asked(self) -> None:
        for metric in (*(each.metric for each in self.applies_to), *self._asked):
            known = self.is_featureless or metric in (*TABLES[ACTIVITY].columns, *TABLES[self.view].columns)
            self._require(known, f"{metric} must be a column of {ACTIVITY} or of its view")

    @property
    def is_featureless(self) -> bool:
        """Whether its view is not one of the features that the lake keeps, and so is queried whenever logs are judged."""
        return "." in self.view

    def about(self, metric: str) -> str:
        """What a metric is, in a sentence; a word of the site's as the view says that has it."""
        return next((said for view in self.site_views if (said := view.about_of(metric))), field(metric).about)

    @property
    def thresholds(self) -> tuple[Threshold, ...]:
        """All metrics that are compared with a threshold."""
        return self.all_of + self.unless + ((self.high,) if self.high else ())

    @property
    def metrics(self) -> tuple[str, ...]:
        """All columns of the view that the trigger needs, each once."""
        texts = (*self.templates("finding"), *self.templates("advice"))
        shown = (part.metric for text in texts for part in parts(text) if isinstance(part, Slot))
        known = (each.known for each in self.instead)
        asked = (metric for metric in self._asked if metric not in TABLES[ACTIVITY].columns)
        others = filter(None, (*known, *asked, self.cost, self.idle, self.evidence))
        return tuple(dict.fromkeys((*(each.metric for each in self.thresholds), *shown, *others)))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of the view that judging takes: the metrics, and what the trigger applies to, each once."""
        asked = (each.metric for each in self.applies_to if each.metric not in self.activity)
        return tuple(dict.fromkeys((*self.metrics, *asked)))

    @property
    def activity(self) -> tuple[str, ...]:
        """The columns of `log_activity` that decide whether it applies, and what is lacking."""
        asked = (*(each.metric for each in self.applies_to), *self._asked)
        return (*(metric for metric in asked if metric in TABLES[ACTIVITY].columns), *self.lacks)

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns of the view that say why it fired: metrics, and the settings that these were worked out with."""
        return (*self.metrics, *(setting.name for setting in self.settings))

    @property
    def advices(self) -> tuple[Advice, ...]:
        """The advice, and what is advised instead, each in its parts."""
        return tuple(map(parts_of, (self.advice, *(each.advice for each in self.instead))))

    def templates(self, text: Literal["finding", "advice"]) -> tuple[str, ...]:
        """The templates that a text may have been filled into."""
        if text == "finding":
            return (self.finding, *(each.finding for each in self.instead))
        return tuple(dict.fromkeys(chain.from_iterable(map(_variants, self.advices))))

    @property
    def _asked(self) -> tuple[str, ...]:
        """What parts of the advice depend on, each once."""
        parts = (part for advice in self.advices for part in advice if isinstance(part, Where))
        return tuple(dict.fromkeys(metric for part in parts for metric in part.metrics))

    def _require(self, holds: bool, demand: str) -> None:
        if not holds:
            raise ValueError(f"Trigger {self.code}: {demand}.")


def parts_of(advice: str | Advice) -> Advice:
    """An advice in its parts."""
    return (advice,) if isinstance(advice, str) else advice


def whole(advice: str | Advice) -> str:
    """An advice with all of its parts."""
    return " ".join(part if isinstance(part, str) else part.text for part in parts_of(advice))


@cache
def _variants(advice: Advice) -> tuple[str, ...]:
    """All texts that an advice may come to."""
    asked = dict.fromkeys((part.metrics, part.above) for part in advice if isinstance(part, Where))
    cases = (dict(zip(asked, holds, strict=True)) for holds in product((True, False), repeat=len(asked)))
    return tuple(
        whole(tuple(part for part in advice if isinstance(part, str) or part.is_said(said[part.metrics, part.above])))
        for said in cases
    )


def _is_text(name: str) -> bool:
    return is_word(name) and bool(pa.types.is_string(field(name).type))


def _is_number(name: str) -> bool:
    if not is_word(name):
        return False
    kind = field(name).type
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
