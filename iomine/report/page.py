"""A log's facts as a page: HTML for people, JSON for programs.

Whatever a log says is text: Jinja escapes it, signs that cannot be seen become escapes, directions of writing end where a name
ends, and long names are cut. The only script on a page is the client that draws traces, which the page's policy names by its
digest in a page of one file, and otherwise by where it lies; a page without a trace has none.
"""

import base64
import datetime as dt
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal

import orjson
from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined, Template
from jinja2 import __version__ as jinja_version
from jinja2.bccache import Bucket
from jinja2.compiler import CodeGenerator, Frame
from jinja2.nodes import Call, Expr, Filter, Getattr
from markupsafe import Markup, escape

from iomine import __version__
from iomine.cache import found, keep
from iomine.report import explorer, forwarding
from iomine.report.causes import causes_of, core_time, first_sentence, likeliest, summary
from iomine.report.charges import charged, counted_elsewhere
from iomine.report.fabric import where_picture
from iomine.report.facts import Facts, title_of
from iomine.report.job import job_page_name
from iomine.report.model import FIDELITY_WORDS, ORDER_WORDS, again, in_words
from iomine.report.multiples import LAYERS, pictures_of, size_line, stacked
from iomine.report.pictures import (
    PARTS,
    bar,
    class_color,
    class_strip,
    least_shown,
    lifelines_picture,
    parts_bar,
    run_picture,
    strips_of,
    strips_picture,
)
from iomine.report.radial import Radial
from iomine.report.replay import replay_line
from iomine.report.trace import Trace
from iomine.schema import FIELDS, TABLES, field
from iomine.schema.fields import Kind
from iomine.schema.legacy import is_legacy
from iomine.triggers import Trigger, all_manuals, find_trigger
from iomine.triggers.finding import Slot, named, parts, renamed
from iomine.triggers.model import whole
from iomine.units import counted, fine_seconds, human_bytes, ost_name, percent, visible
from iomine.views.answers import Row, Rows

TRIGGERS_PAGE: Final = "triggers.html"
# The page to look for a run: in a warehouse it says how; a server and a site have a page with a search field instead.
INDEX_PAGE: Final = "index.html"
_NONE: Final = "\N{EN DASH}"
_CUT: Final = 110
_CODE: Final = re.compile("`([^`]+)`")
_SPECIAL: Final = re.compile("[&<>'\"]")
# The place of a path in a sentence, between private signs, which are escaped in all that is shown.
_MARK: Final = re.compile("\ue000([0-9]+)\ue001")
_CODE_TAGS: Final = {True: Markup("<code>"), False: Markup("</code>")}
# A column in the text of a log's doubt, with the reason if one follows.
_COLUMN: Final = re.compile(r"\b([a-z0-9_]+)\.([a-z0-9_]+)(?: \(([^()]*)\))?")
_BEYOND_WORDS: Final = re.compile(r", (?:summed|in seconds).*| \(.*|\.$")
_LAST_PARTS: Final = re.compile(r"(/.+/)([^/]+/[^/]+/?)")
# Longer texts are whole in the JSON only.
_WHOLE: Final = 1000
_NOT_YOU: Final = {
    "system": "Not you: the file system was slow",
    "neighbour": "Not you: a neighbour kept the file system busy",
    "fabric": "Not you: a link on the way to the file system was faulty or full",
}
_UNEXPLAINED: Final = "Slow, and nobody knows why"
_SIZES: Final = {
    "0_100": "up to 100 B",
    "100_1k": "to 1 KiB",
    "1k_10k": "to 10 KiB",
    "10k_100k": "to 100 KiB",
    "100k_1m": "to 1 MiB",
    "1m_4m": "to 4 MiB",
    "4m_10m": "to 10 MiB",
    "10m_100m": "to 100 MiB",
    "100m_1g": "to 1 GiB",
    "1g_plus": "above 1 GiB",
}
# Of traces, and of who talks to whom.
_SCRIPTS: Final = ("explorer", "radial")
# Of templates: names of filters that give Markup, or text in which nothing is to be escaped.
_SAFE: Final = "iomine.safe_filters"
_HUNDRED: Final = 100
_TRACERS: Final = ("dftracer", "recorder")


@cache
def style() -> str:
    """The style sheet of all pages."""
    own = (files("iomine.report") / "templates" / "report.css").read_text(encoding="utf-8")
    return own + explorer.asset("explorer.css")


@cache
def shared_assets() -> dict[str, str]:
    """The files that all pages share, by names that are others whenever they change."""
    return {
        _hashed("report", "css", style()): style(),
        **{_hashed(name, "js", _script(name)): _script(name) for name in _SCRIPTS},
    }


def _script(name: str) -> str:
    return explorer.asset(f"{name}.js")


def _hashed(stem: str, ending: str, text: str) -> str:
    return f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.{ending}"


def page(facts: Facts, trace: Trace | None = None, circle: Radial | None = None, *, standalone: bool = False) -> str:
    """The page of a log.

    Args:
        facts: what is known of the log.
        trace: what the page shows of its trace, if there is one; its data lie beside the page, unless this stands alone.
        circle: what the page shows of who talks to whom, likewise.
        standalone: whether the page is to need no other file.
    """
    shows = (trace, circle)
    head = _head(*(name for name, shown in zip(_SCRIPTS, shows, strict=True) if shown), standalone=standalone)
    blocks = explorer.embedded({explorer.NAME: trace} if trace else {}, circle) if standalone else ""
    shown = {each["code"] for each in trace.about["highlights"]} if trace else set()
    template = _environment().get_template("report.html.j2")
    return template.render(
        **_view(facts), **head, trace=trace, circle=circle, blocks=blocks, highlighted=shown, data_name=explorer.data_name
    )


def triggers_page() -> str:
    """The page of all triggers that reports link to."""
    manuals = [page for page in all_manuals().values() if page.trigger.ruleset == "iomine"]
    advice = {page.trigger.code: named(whole(page.trigger.advice)) for page in manuals}
    return _environment().get_template("triggers.html.j2").render(manuals=manuals, advice=advice, **_head())


def rendered(template: str, *scripts: str, standalone: bool = False, **values: object) -> str:
    """A page other than a log's.

    Args:
        template: its file among this room's templates.
        scripts: names of those that it has.
        standalone: whether the page is to need no other file.
        values: what the template shows.
    """
    return _environment().get_template(template).render(**values, **_head(*scripts, standalone=standalone))


def as_json(facts: Facts) -> bytes:
    """All facts except the picture, for programs; the same facts give the same bytes."""
    content = {
        "iomine": __version__,
        "assets": list(shared_assets()),
        **{each.name: getattr(facts, each.name) for each in fields(facts)},
        "grid": facts.grid and facts.grid.tenths,
        "layer_grids": {layer: grid.tenths for layer, grid in facts.layer_grids.items()},
    }
    text = orjson.dumps(content, default=str)
    # A terminal obeys control characters: all but printable ASCII is escaped.
    return text if text.isascii() and b"\x7f" not in text else json.dumps(orjson.loads(text), separators=(",", ":")).encode()


@cache
def _head(*scripts: str, standalone: bool = False) -> dict[str, Any]:
    """Where a page's style and scripts are, and the policy that lets these pass and nothing else."""
    css_name = next(iter(shared_assets()))
    texts = [_script(name) for name in scripts]
    of_style, of_scripts = (_digest(style()), " ".join(map(_digest, texts))) if standalone else ("'self'", "'self'")
    script = f" script-src {of_scripts}; connect-src 'self';" if scripts else ""
    policy = f"default-src 'none'; style-src {of_style};{script} img-src data:; base-uri 'none'; form-action 'none'"
    return {
        "is_standalone": standalone,
        "policy": Markup(policy),  # noqa: S704  ours
        "style_link": f"assets/{css_name}",
        "style_text": Markup(style()),  # noqa: S704  ours
        "script_links": [f"assets/{_hashed(name, 'js', _script(name))}" for name in scripts],
        "script_texts": [Markup(text) for text in texts],  # noqa: S704  ours
    }


@cache
def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


class _Code(CodeGenerator):
    """Writes what Jinja would do for each value of a page through a call or two more."""

    def _output_child_pre(self, node: Expr, *_: object) -> None:
        # Jinja would make Markup of each, which is only joined to a page.
        is_safe = isinstance(node, Filter) and node.name in self.environment.policies.get(_SAFE, ())
        self.write("(" if is_safe else "environment.shown(")

    def visit_Call(self, node: Call, frame: Frame, forward_caller: bool = False) -> None:  # noqa: N802  Jinja's name
        """A call of a function or macro, none of which asks for the context; Jinja would look whether it does at each call."""
        self.visit(node.node, frame)
        # Jinja begins each argument with a comma.
        self.write("(*()")
        self.signature(node, frame, {"caller": "caller"} if forward_caller else None)
        self.write(")")

    def visit_Getattr(self, node: Getattr, frame: Frame) -> None:  # noqa: N802  Jinja's name
        """Looks for the column of a row first: a failed look-up of an attribute takes ten times as long."""
        row, column = self.temporary_identifier(), repr(node.attr)
        self.write(f"({row}[{column}] if type({row} := ")
        self.visit(node.node, frame)
        self.write(f") is dict and {column} in {row} else environment.getattr({row}, {column}))")


class _Template(Template):
    """Leaves no garbage: macros hold the context that holds them, and with it all that was shown, until somebody searches."""

    def render(self, *args: Any, **kwargs: Any) -> str:  # noqa: ANN401  Jinja's
        """The page."""
        context = self.new_context(dict(*args, **kwargs))
        try:
            return self.environment.concat(self.root_render_func(context))
        except Exception:  # noqa: BLE001  it is raised again, with lines of the template
            self.environment.handle_exception()
        finally:
            context.vars.clear()


def _escaped(value: object) -> str:
    """A value as text of a page. Few texts hold what is to be escaped, and to look for it takes a third of the time."""
    if type(value) is Markup or (type(value) is str and not _SPECIAL.search(value)):
        return value
    return escape(value)


class _Templates(Environment):
    """Templates in which an attribute of a row means its column."""

    code_generator_class = _Code
    template_class = _Template

    shown = staticmethod(_escaped)


class _Compiled(BytecodeCache):
    """Keeps compiled templates in the user's cache folder: to compile them takes as long as to fill them in thirty times."""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Takes a template from the folder."""
        if (content := found(_key(bucket))) is not None:
            bucket.bytecode_from_string(content)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Puts a template into the folder."""
        keep(_key(bucket), bucket.bytecode_to_string())


def _key(bucket: Bucket) -> str:
    return f"code-{_made_by()}-{bucket.key}-{bucket.checksum}"


@cache
def _made_by() -> str:
    """What the code of a template depends on beside the template: Jinja, and what stands in this file."""
    return f"{jinja_version}-{hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]}"


def templates_of(room: str) -> Environment:
    """Templates of a room, in which texts are escaped and nothing that is missing goes unseen."""
    return _Templates(
        loader=PackageLoader(room),
        autoescape=True,
        undefined=StrictUndefined,
        bytecode_cache=_Compiled(),
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


@cache
def _environment() -> Environment:
    environment = templates_of("iomine.report")
    environment.filters |= _SAFE_FILTERS | _FILTERS
    environment.policies[_SAFE] = _SAFE_FILTERS.keys()
    environment.globals |= _GLOBALS
    return environment


def name(text: object) -> Markup:
    """A name that a log gives: apart from the text around it, in one line, and where it is long cut in the middle."""
    if text is None or text == "":
        return escape(_NONE)
    whole = visible(str(text))
    if len(whole) <= _CUT:
        return _apart(whole)
    cut = Markup('<details class="long"><summary><bdi>{}</bdi></summary><bdi>{}</bdi></details>')
    return cut.format(plain(text), plain(text, _WHOLE))


def _apart(text: str) -> Markup:
    return Markup(f"<bdi>{_escaped(text)}</bdi>")  # noqa: S704  what is escaped, and a tag


def label(text: object) -> Markup:
    """A name in the middle of a sentence, with the whole of a long one as a hint."""
    whole = plain(text, _WHOLE)
    if len(whole) <= _CUT:
        return _apart(whole)
    return Markup('<bdi title="{}">{}</bdi>').format(whole, plain(text))


def plain(text: object, most: int = _CUT) -> str:
    """A name in a few signs, all of which can be seen."""
    whole = visible(str(text))
    return whole if len(whole) <= most else f"{whole[: most // 2]}…{whole[-most // 2 :]}"


def sentence(text: str | None) -> Markup:
    """A sentence that may hold names from a log; what stands between backticks is shown as code."""
    escaped = _apart(plain(text or "", _WHOLE))
    return Markup(_CODE.sub(r"<code>\1</code>", str(escaped)))  # noqa: S704  what is escaped, and tags of ours


def doubt(text: str) -> Markup:
    """What of a log is not to be trusted, with the meaning of each column before its name."""

    def in_words(found: re.Match[str]) -> str:
        table, column, why = found.groups()
        if table not in TABLES or column not in FIELDS:
            return found[0]
        about = _BEYOND_WORDS.sub("", FIELDS[column].about)
        return f"{about[0].lower()}{about[1:]} (`{table}.{column}`{f': {why}' if why else ''})"

    said_ = _COLUMN.sub(in_words, text)
    return sentence(f"{said_[:1].upper()}{said_[1:]}.")


def path(text: object) -> Markup:
    """A path by its last two parts; what is before them is hidden, but there for who points at it or copies it."""
    whole = plain(text or "", _WHOLE)
    cut = _LAST_PARTS.fullmatch(whole)
    if cut is None:
        return name(text)
    before, last = map(_escaped, cut.groups())
    return Markup(f'<bdi class="whole" title="{_escaped(whole)}"><span>{before}</span>{last}</bdi>')  # noqa: S704  what is escaped, tags


def said(text: str | None, code: str, part: Literal["finding", "advice"], *, is_first: bool = False) -> Markup:
    """What a trigger says of a log, with paths by their last two parts; in a command they are whole.

    Args:
        text: the sentence, which may hold names from a log.
        code: of the trigger.
        part: what it is.
        is_first: whether only the first sentence is wanted.
    """
    paths: list[str] = []

    def held(slot: Slot, found: str) -> str:
        paths.append(found if slot.metric.endswith("_path") else "")
        return f"\ue000{len(paths) - 1}\ue001" if paths[-1] else found

    templates = trigger.templates(part) if (trigger := find_trigger(code)) else ()
    marked = renamed(templates, text, held) if text and len(text) <= _WHOLE and "\ue000" not in text else None
    if marked is None:
        return sentence(first_sentence(text) if is_first else text)
    if is_first:
        marked = first_sentence(marked)
    pieces, is_code = [], False
    for number, piece in enumerate(_MARK.split(marked)):
        if number % 2:
            pieces.append(_escaped(visible(paths[int(piece)])) if is_code else path(paths[int(piece)]))
            continue
        for place, plain_text in enumerate(piece.split("`")):
            if place:
                is_code = not is_code
                pieces.append(_CODE_TAGS[is_code])
            pieces.append(_escaped(visible(plain_text)))
    closed = _CODE_TAGS[False] if is_code else ""
    return Markup(f"<bdi>{''.join(pieces)}{closed}</bdi>")  # noqa: S704  what is escaped, and tags of ours


def _bytes(count: float | None) -> str:
    return _NONE if count is None else human_bytes(count)


def _speed(count: float | None) -> str:
    return _NONE if count is None else f"{human_bytes(count)}/s"


def _seconds(seconds: float | None) -> str:
    return _NONE if seconds is None else fine_seconds(seconds)


def _signed(seconds: float) -> str:
    sign = "+" if seconds > 0 else "\N{MINUS SIGN}" if seconds < 0 else ""
    return f"{sign}{fine_seconds(abs(seconds))}"


def _count(count: float | None) -> str:
    return _NONE if count is None else f"{count:,.0f}"


def _counted(count: int | None, what: str) -> str:
    return f"{_NONE} {what}s" if count is None else counted(count, what)


def _percent(ratio: float | None) -> str:
    return _NONE if ratio is None else percent(ratio)


def _counted_elsewhere(finding: Row, run_core_seconds: float | None) -> str:
    return counted_elsewhere(finding, lambda seconds: core_time(seconds, run_core_seconds))


def _core_time(core_seconds: float | None, run_core_seconds: float | None) -> Markup:
    # Lines may end after a hyphen.
    return Markup(f'<span class="w">{core_time(core_seconds, run_core_seconds)}</span>')  # noqa: S704  a number, and words of ours


def _moment(at: dt.datetime | None) -> str:
    return _NONE if at is None else f"{at:%Y-%m-%d %H:%M}"


def _sizes(row: Row, op: str, size: str) -> float:
    return row[f"{op}_size_{size}_count"] or 0.0


def _most(rows: Rows, column: str) -> float | None:
    return max(_known(rows, column), default=None)


def _total(rows: Rows, column: str) -> float:
    return sum(_known(rows, column))


def _known(rows: Rows, column: str) -> Iterator[float]:
    return (row[column] for row in rows if row[column] is not None)


def _bins(row: Row) -> list[tuple[str, str]]:
    """Sizes from the smallest that there are requests of to the largest."""
    used = [number for number, size in enumerate(_SIZES) if _sizes(row, "read", size) or _sizes(row, "write", size)]
    return list(_SIZES.items())[used[0] : used[-1] + 1]


def _view(facts: Facts) -> dict[str, Any]:
    """What the template shows, put in words."""
    log, job = facts.log, facts.job
    nodes = job["node_count"]
    modules = {row["module"]: row for row in facts.modules}
    uses = {"app": log["app"], "application": log["application"], "has_hdf5": bool({"H5F", "H5D"} & modules.keys())}
    uses |= {"has_mpiio": "MPI-IO" in modules, "node_count": nodes or log["host_count"]}
    causes = causes_of([_finding(finding, uses, log["run_core_seconds"]) for finding in facts.findings], log["run_core_seconds"])
    unknown = facts.unknown_by_reason()
    total = charged(facts.findings)
    return {
        "log": log,
        "job": job,
        "job_page": job_page_name(log["cluster"], log["job_id"]) if log["has_other_logs"] else None,
        "nodes": nodes or log["host_count"],
        "charged": total,
        "charged_ratio": total / log["run_core_seconds"] if total is not None and log["run_core_seconds"] else None,
        "summary": " ".join(summary(log, facts.time_kinds, causes, facts.unknown, facts.weather)),
        "causes": [cause for cause in causes if not cause.is_small],
        "small_causes": [cause for cause in causes if cause.is_small],
        "notes": facts.notes,
        "done_well": [(verdict["code"], _clear(verdict, log["run_core_seconds"])) for verdict in facts.done_well],
        "unknown": unknown,
        "not_applicable": facts.not_applicable,
        "not_you": _not_you(facts.weather),
        "system_state": facts.weather,
        "modules": modules,
        "faulty_modules": [row for row in facts.modules if row["state"] != "read" or row["is_partial"]],
        "module_notes": [row for row in facts.modules if row["state"] == "read" and row["reason"]],
        "is_traced": log["format_version"] in _TRACERS,
        "keeps_no_trace": is_legacy(log["format_version"]),
        "facts": facts,
        "pictures": pictures_of(facts),
        "strips": strips_of(facts.meta_calls, facts.server_slots, log["run_seconds"]),
        "has_trace": facts.is_traced(),
    }


def _not_you(state: Row) -> str | None:
    """What to say above findings that are to be treated with care, None where they are not."""
    if state["weather_verdict"] == "unexplained" and state["is_slow_run"]:
        return _UNEXPLAINED
    return _NOT_YOU.get(state["weather_verdict"]) if state["is_excused"] else None


def _finding(verdict: Row, uses: Row, run_core_seconds: float | None) -> Row:
    trigger = find_trigger(verdict["code"])
    return verdict | {
        "numbers": _numbers(trigger, verdict, run_core_seconds) if trigger else [],
        "snippet": likeliest(verdict, uses),
    }


def _clear(verdict: Row, run_core_seconds: float | None) -> str:
    """The value of a verdict, next to the threshold of its trigger; empty if it has no value."""
    trigger = find_trigger(verdict["code"])
    if trigger is None or verdict["value"] is None:
        return ""
    first = trigger.all_of[0]
    percents = _percents(_templates(trigger))
    value, bar_ = (_shown(first.metric, verdict[name], percents, run_core_seconds) for name in ("value", "bar"))
    return f"{value}; fires {first.side} {bar_}"


def _templates(trigger: Trigger) -> tuple[str, ...]:
    return (*trigger.templates("finding"), *trigger.templates("advice"))


@cache
def _percents(templates: tuple[str, ...]) -> frozenset[str]:
    """Metrics that texts have in percent."""
    return frozenset(part.metric for text in templates for part in parts(text) if isinstance(part, Slot) and "%" in part.spec)


def _numbers(trigger: Trigger, verdict: Row, run_core_seconds: float | None) -> list[tuple[Markup | str, str, str]]:
    """Value, meaning and threshold of each metric."""
    percents = _percents(_templates(trigger))
    first = trigger.all_of[0]
    found = []
    for metric, value in verdict["metrics"].items():
        if metric == trigger.evidence or value is None:
            continue
        threshold_text = (
            f"fires {first.side} {_shown(metric, verdict['bar'], percents, run_core_seconds)}" if metric == first.metric else ""
        )
        # When a metric is not known does not matter to who sees its value.
        meaning = trigger.about(metric).partition("; NULL ")[0].removesuffix(".") + "."
        found.append((_shown(metric, value, percents, run_core_seconds), meaning, threshold_text))
    return found


def _shown(metric: str, value: object, percents: frozenset[str], run_core_seconds: float | None) -> Markup | str:
    kind = field(metric).kind
    match value:
        case str() | list():
            return name(value if isinstance(value, str) else ", ".join(map(str, value)))
        case int() | float() if metric in percents:
            return _percent(value)
        case int() | float() if kind is Kind.CORE_SECONDS:
            return core_time(value, run_core_seconds)
        case int() | float() if kind in _WORDED:
            return _WORDED[kind](value)
        case int():
            return f"{value:,}"
        case _:
            return _digits(value)


def _digits(value: object) -> str:
    """About three digits."""
    return f"{value:,.0f}" if isinstance(value, float) and abs(value) >= _HUNDRED else f"{value:.3g}"


_WORDED: Final[dict[Kind, Callable[[float], str]]] = {
    Kind.BYTES: _bytes,
    Kind.SECONDS: _seconds,
    Kind.OST: lambda value: ost_name(int(value)),
}


_SAFE_FILTERS: Final[dict[str, Callable[..., str]]] = {
    "name": name,
    "label": label,
    "path": path,
    "said": said,
    "doubt": doubt,
    "sentence": sentence,
    "bytes": _bytes,
    "ost": ost_name,
    "seconds": _seconds,
    "signed": _signed,
    "count": _count,
    "counted": _counted,
    "percent": _percent,
    "moment": _moment,
    "speed": _speed,
    "bar": bar,
}
_FILTERS: Final[dict[str, Callable[..., object]]] = {
    "plain": plain,
    "first_sentence": first_sentence,
    "layer_name": lambda layer: LAYERS.get(layer, layer),
    "sizes": _sizes,
    "bins": _bins,
    "most": _most,
    "total": _total,
}
_GLOBALS: Final[dict[str, object]] = {
    "again": again,
    "core_time": _core_time,
    "counted_elsewhere": _counted_elsewhere,
    "class_color": class_color,
    "class_strip": class_strip,
    "fidelity_words": FIDELITY_WORDS,
    "forwarding": forwarding,
    "in_words": in_words,
    "order_words": ORDER_WORDS,
    "time_parts": PARTS,
    "parts_bar": parts_bar,
    "replay_line": replay_line,
    "run_picture": run_picture,
    "least_shown": least_shown,
    "size_line": size_line,
    "stacked": stacked,
    "strips_picture": strips_picture,
    "where_picture": where_picture,
    "layers": LAYERS,
    "lifelines_picture": lifelines_picture,
    "title_of": title_of,
    "triggers_page": TRIGGERS_PAGE,
    "index_page": INDEX_PAGE,
    "version": __version__,
    "dash": _NONE,
}
