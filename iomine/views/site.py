"""Views of a site: files with our header, of schema `site`, over published views and over each other."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from iomine.errors import UsageError, did_you_mean
from iomine.schema import FIELDS, is_word
from iomine.schema.fields.site import ENDINGS, PREFIX
from iomine.settings import Line, Lines, SiteSettings, setting
from iomine.views.model import HEADER, View, find_views, tables_read
from iomine.views.texts import ViewError, parsed_text

SITE: Final = "site"
VIEW_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,62}")
# Features are asked for in `core`, where they are kept; `lake` is how the warehouse keeps them.
_READABLE: Final = ("core", "main")
# What verdicts are worked out from cannot be a verdict.
VERDICT: Final = "verdict"
_AXES: Final = {"bar": ("x", "y"), "line": ("x", "y"), "heatmap": ("x", "y", "value"), "table": ()}
_Text = Annotated[str, Field(min_length=1)]


class SitePanel(SiteSettings):
    """How a view is drawn in the dashboard."""

    whose: ClassVar[str] = "panel"
    form: Literal["bar", "line", "heatmap", "table"] = setting("table", "What is drawn.")
    title: Line = setting("", "Its heading; empty: the view's name.")
    x: Line = setting("", "In form bar the column that names a row, in line and heatmap what goes across.")
    y: Line = setting("", "In form bar and line the column that is measured, in heatmap what goes down.")
    value: Line = setting("", "In form heatmap the column that is shown as colour.")
    columns: Lines = setting((), "Columns of its table; empty: all.")

    @model_validator(mode="after")
    def _is_fit(self) -> Self:
        for axis in ("x", "y", "value"):
            if bool(getattr(self, axis)) != (axis in _AXES[self.form]):
                said = " and ".join(_AXES[self.form]) or "no axes"
                raise UsageError(f"A panel of form {self.form} has {said}: set these columns, and no others.")
        return self

    @property
    def named(self) -> tuple[str, ...]:
        """The columns that it names, each once."""
        return tuple(dict.fromkeys((*filter(None, (self.x, self.y, self.value)), *self.columns)))


class _Header(SiteSettings):
    whose: ClassVar[str] = "header"
    about: _Text = setting("", "One sentence.")
    grain: Lines = setting((), "The columns that identify a row.")
    reads: Lines = setting((), "What it reads.")
    words: Mapping[str, Line] = setting({}, "What its own columns mean.")
    panel: SitePanel | None = setting(None, "How it is drawn.")


@dataclass(frozen=True, slots=True)
class SiteView(View):
    """A view of a site.

    Attributes:
        words: its own columns, each with what it means.
        panel: how it is drawn in the dashboard, None for not at all.
    """

    words: tuple[tuple[str, str], ...] = ()
    panel: SitePanel | None = None

    def about_of(self, column: str) -> str | None:
        """What a column of its own means, None for other columns."""
        return dict(self.words).get(column)


def parse_view(name: str, path: str, text: str) -> SiteView:
    """The view in a file of a site.

    Args:
        name: of the view, which is that of the file.
        path: of the file, for messages.
        text: of the file.

    Raises:
        UsageError: the file does not keep to the form.
    """
    if not VIEW_NAME.fullmatch(name):
        raise UsageError(f"{path} must be named as a view: a-z, digits and underscores, such as small_dirs.sql.")
    try:
        said, sql = parsed_text(text, path, HEADER, ("words", "panel"))
        header = _Header.parse(said)
    except ViewError as error:
        raise UsageError(str(error)) from error
    except UsageError as error:
        raise UsageError(f"{path}: {error.args[0]}") from error
    for word in header.words:
        if word in FIELDS:
            raise UsageError(f"{path}: {word} is a name of iomine's own columns: call yours {PREFIX}{word}.")
        if not is_word(word):
            raise UsageError(f"{path}: {unfit_word(word)}")
    for read in header.reads:
        schema, dot, _ = read.partition(".")
        if not dot or schema not in (*_READABLE, SITE):
            raise UsageError(f"{path} reads {read}: a site's view reads views of main, core and {SITE}, with their schema.")
    words = tuple(sorted(header.words.items()))
    return SiteView(name, SITE, header.about, header.grain, header.reads, sql, path, words, header.panel)


def unfit_word(word: str, others: Iterable[str] = ()) -> str:
    """Why no column can have this name.

    Args:
        word: the name.
        others: words of the site that may have been meant.
    """
    near = did_you_mean(word, [*others, *FIELDS])
    own = f"call one of your own {PREFIX}..., with one of the endings {', '.join(ENDINGS)}"
    return f"{word} is no word that columns have{near and f' ({near})'}: {own}."


def in_order(views: Iterable[SiteView]) -> tuple[tuple[SiteView, ...], dict[str, str]]:
    """Views of a site, each after those that it reads.

    Returns:
        The views, and why others are left out, by name.
    """
    left = {view.qualified: view for view in views}
    ours = {view.qualified for view in find_views()}
    faults: dict[str, str] = {}
    while True:
        for view in list(left.values()):
            if unknown := next((read for read in view.reads if read not in ours and read not in left), None):
                hint = did_you_mean(unknown, [*ours, *left]) or "`iomine sql` lists views."
                faults[view.name] = f"{view.path} reads {unknown}, which is not there: {hint}"
                del left[view.qualified]
                break
        else:
            sorter = TopologicalSorter({name: [each for each in view.reads if each in left] for name, view in left.items()})
            try:
                return tuple(left[name] for name in sorter.static_order()), faults
            except CycleError as error:
                circle = error.args[1]
                for name in circle[:-1]:
                    faults[left[name].name] = f"{left[name].path} reads itself: {' reads '.join(circle)}."
                left = {name: view for name, view in left.items() if name not in circle}


def beneath(name: str, views: Iterable[SiteView]) -> tuple[SiteView, ...]:
    """A view of a site and those of the site that it reads, each after those that it reads.

    Args:
        name: with its schema.
        views: of the site, in order.
    """
    wanted, found = {name}, []
    for view in reversed(tuple(views)):
        if view.qualified in wanted:
            wanted.update(view.reads)
            found.append(view)
    return tuple(reversed(found))


def ours_beneath(names: Collection[str], views: Iterable[SiteView]) -> set[str]:
    """The package's views that views read, be they of the site or ours, each with its schema."""
    reads = {read for view in views for read in view.reads if not read.startswith(f"{SITE}.")}
    return reads | {name for name in names if not name.startswith(f"{SITE}.")}


def reads_verdicts(names: Collection[str], views: Iterable[SiteView]) -> bool:
    """Whether views are computed from verdicts, so that logs cannot be judged by them."""
    return VERDICT in tables_read(ours_beneath(names, views))
