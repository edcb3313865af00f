"""Panels of a site's own views, drawn as the views' headers say, with what all panels are drawn with."""
# ruff: noqa: S608 - put together from names that were looked up

from collections.abc import Iterator, Mapping
from typing import Final

from iomine.schema import Kind
from iomine.schema.fields.site import PREFIX
from iomine.sqltext import name_of
from iomine.triggers.site import published_rules
from iomine.views.site import SitePanel, SiteView
from iomine.web.cells import kind_of
from iomine.web.panel import Column, Drill, JobName, Panel, named, rows_with, user_of
from iomine.web.sessions import Session

_MOST_ROWS: Final = 10
_MOST_LINES: Final = 20
_MOST_PLACES: Final = 400
_EMPTY: Final = "The view has no rows of these nights."
# What is added up where rows share a place; of others the highest counts.
_SUMMED: Final = (Kind.COUNT, Kind.BYTES, Kind.SECONDS, Kind.CORE_SECONDS)
_DRILLS: Final[Mapping[str, Drill]] = {
    "user": user_of,
    "job_id": lambda row, _window: JobName(row["cluster"], row["job_id"]) if row.get("cluster") and row["job_id"] else None,
    **{kind: named(kind, kind) for kind in ("application", "target")},
    "mount": named("filesystem", "mount"),
}


def site_panels(session: Session) -> list[Panel]:
    """The panels of the site's views that the catalog was published with."""
    views = published_rules(session.ask).views
    return [_panel(view, view.panel, session.types(view.qualified)) for view in views if view.panel]


def _panel(view: SiteView, said: SitePanel, types: Mapping[str, str]) -> Panel:
    title = said.title or _title(view.name)
    sql = {"line": _places, "heatmap": _grid}.get(said.form, _rows)(view, said, types)
    return Panel(f"site-{view.name}", title, view.about, sql, tuple(_columns(view, said, types)), _EMPTY, said.form)


def _source(view: SiteView, types: Mapping[str, str]) -> str:
    where = " WHERE {where}" if {"night", "cluster"} <= types.keys() else ""
    return f"{name_of('site', view.name)}{where}"


def _rows(view: SiteView, said: SitePanel, types: Mapping[str, str]) -> str:
    first = [f"{name_of(said.y)} DESC NULLS LAST"] if said.y else []
    by = ", ".join((*first, *map(name_of, view.grain))) or "ALL"
    order = "" if view.is_ordered and not first else f"\nORDER BY {by}"
    return f"SELECT *\nFROM {_source(view, types)}{order}\nLIMIT {_MOST_ROWS}"


def _amount(column: str) -> str:
    if kind_of(column) in _SUMMED:
        return f"sum({name_of(column)})::DOUBLE"
    return f"max({name_of(column)})"


def _places(view: SiteView, said: SitePanel, types: Mapping[str, str]) -> str:
    x, y = name_of(said.x), name_of(said.y)
    source = _source(view, types)
    return f"SELECT {x}, {_amount(said.y)} AS {y}\nFROM {source}\nGROUP BY {x}\nORDER BY {x} DESC\nLIMIT {_MOST_PLACES}"


def _grid(view: SiteView, said: SitePanel, types: Mapping[str, str]) -> str:
    x, y, value = map(name_of, (said.x, said.y, said.value))
    return f"""WITH place AS (
    SELECT {x}, {y}, {_amount(said.value)} AS {value}
    FROM {_source(view, types)}
    GROUP BY {x}, {y}
)
SELECT {y}, max({value}) AS {value}, list({x} ORDER BY {x}) AS places, list({value} ORDER BY {x}) AS amounts
FROM place
WHERE {x} IS NOT NULL AND {value} IS NOT NULL
GROUP BY {y}
ORDER BY sum({value}) DESC NULLS LAST, {y}
LIMIT {_MOST_LINES}"""


def _columns(view: SiteView, said: SitePanel, types: Mapping[str, str]) -> Iterator[Column]:
    if said.form == "heatmap":
        yield Column(said.y, _title(said.y), _drill(view, said.y, said.y))
        yield Column("amounts", f"{_title(said.value)} by {_title(said.x).lower()}")
        yield Column(said.value, "At most", rows_with(view.qualified, (), f"-{said.value}", said.y))
        return
    first = [said.x, said.y] if said.form in {"bar", "line"} else []
    others = [] if said.form == "line" else [name for name in (said.columns or types) if name not in first]
    for name in (*first, *others):
        yield Column(name, _title(name), _drill(view, name, said.x), is_barred=said.form == "bar" and name == said.y)


def _drill(view: SiteView, name: str, key: str) -> Drill | None:
    if name in _DRILLS:
        return _DRILLS[name]
    # The rows that a place stands for.
    return rows_with(view.qualified, (), "", key) if key and name != "log_id" else None


def _title(name: str) -> str:
    return name.removeprefix(PREFIX).replace("_", " ").capitalize()
