"""The server: addresses in, pages and files out.

It only reads, and answers only GET and HEAD, except for links in mails: POST does what they ask for, and notes it in the post's
ledger.
"""

import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Final, cast
from urllib.parse import urlencode

import pyarrow as pa
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from iomine.errors import IomineError, LimitError, OutputError, UsageError, WarehouseError
from iomine.post.ledger import Ledger
from iomine.post.replies import described
from iomine.post.tokens import signer_of
from iomine.report.page import INDEX_PAGE
from iomine.views.encode import write_csv, write_json, write_parquet
from iomine.views.metrics import CONTENT_TYPE, openmetrics
from iomine.views.query import Limits, open_catalog
from iomine.web import pages
from iomine.web.about import about_of
from iomine.web.access import READER, Access, Doorkeeper
from iomine.web.circle import circle_night_of
from iomine.web.fabric import Fabric, fabric_night_of
from iomine.web.guard import Guard
from iomine.web.links import ServedLinks
from iomine.web.question import Question, UnknownNameError, parse
from iomine.web.report_cache import ReportCache, is_public, neighbourhood
from iomine.web.rings import moved_of
from iomine.web.search import hits_of, text_of
from iomine.web.sessions import LIMITS, SEATS, BusyError, Session, SessionPool, seen_by, state_of
from iomine.web.trace import requests_of
from iomine.web.turns import RETRY_SECONDS, Turns
from iomine.web.window import window_of

MOST_SHOWN: Final = 1000
_USUALLY_SHOWN: Final = 100
_MOST_IN_FILE: Final = 100_000
_TEXT: Final = "text/plain; charset=utf-8"
_HTML: Final = "text/html; charset=utf-8"
# Of a large fabric, 20 MB.
_MOST_PARTS: Final = 64
_SCRIPT: Final = "text/javascript; charset=utf-8"
_PARQUET: Final = "application/vnd.apache.parquet"
_FILES: Final[dict[str, tuple[str, Callable[[pa.Table, BytesIO], None]]]] = {
    "csv": ("text/csv; charset=utf-8", write_csv),
    "json": ("application/json", write_json),
    "parquet": (_PARQUET, write_parquet),
}
_STATUS: Final[dict[type[IomineError], int]] = {
    UnknownNameError: 404,
    UsageError: 400,
    LimitError: 503,
    BusyError: 503,
    WarehouseError: 503,
    OutputError: 503,
}
_SENTENCES: Final = {
    404: "There is nothing at this address: the dashboard leads to all there is.",
    405: "This server only reads: ask with GET.",
}
_BUSY: Final = f"Too many ask at this moment: try again in {RETRY_SECONDS} seconds."
# A page on which a query took too long should not stay until the next sweep.
_KEPT_SECONDS: Final = 300
_KEPT_PATHS: Final = frozenset({"/", "/fabric", "/circle", "/search", "/search.json"})
_KEPT_BELOW: Final = ("/views/", "/about/", "/reports/")
# Addresses may be 256 KiB long, and are kept with their pages.
_LONGEST_KEPT: Final = 4096
_LASTING: Final = {"cache-control": "public, max-age=31536000, immutable"}


def make_app(warehouse: Path, hosts: Collection[str], limits: Limits = LIMITS, doorkeeper: Doorkeeper | None = None) -> Starlette:
    """The server's application.

    Args:
        warehouse: what it answers from.
        hosts: names that it may be called by.
        limits: for each question.
        doorkeeper: finds out who asks; None where everybody sees everything.
    """
    sessions, reports = SessionPool(warehouse / "iomine.duckdb", limits), ReportCache(warehouse / "reports")

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        sessions.close()
        reports.close()
        if doorkeeper is not None and doorkeeper.log is not None:
            doorkeeper.log.close()

    app = Starlette(
        routes=[
            Route("/", _dashboard),
            Route("/fabric", _fabric),
            Route("/fabric/{part}.js", _fabric_part),
            Route("/circle", _circle),
            Route("/about/{kind}", _about),
            Route("/search", _search),
            Route("/search.json", _search_json),
            Route("/views/", _views),
            Route("/views/{name}", _rows),
            Route("/traces/{log_id}.parquet", _trace),
            Route("/rings/{log_id}", _rings),
            Route("/reports/{name:path}", _report),
            Route("/healthz", _healthz),
            Route("/metrics", _metrics),
            Route("/mail/{token}", _mail, methods=["GET", "POST"]),
            *(Route(f"/assets/{pages.style_name(name)}", partial(_style, name)) for name in pages.STYLES),
            *(Route(f"/assets/{pages.script_name(name)}", partial(_script, name)) for name in pages.SCRIPTS),
        ],
        middleware=[
            Middleware(Guard, hosts=hosts),
            Middleware(Access, doorkeeper=doorkeeper, refuse=_not_let_in),
            Middleware(Turns, busy=_busy, at_once=SEATS, key=partial(_kept_by, warehouse), is_free=_is_free),
        ],
        exception_handlers={IomineError: _foreseen, HTTPException: _refused},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.sessions, app.state.reports, app.state.warehouse = sessions, reports, warehouse
    app.state.fabric_parts = {}
    return app


def _kept_by(warehouse: Path, scope: Scope) -> tuple[object, ...] | None:
    """The key of a cached page: the published catalog, what the reader sees of it, the address, and some minutes of time.

    A sweep writes its reports after it has published, so the key has the state of a report's file. Parts of pages are not cached,
    nor those of long addresses.
    """
    path, reader = scope["path"], scope[READER]
    if (path not in _KEPT_PATHS and not path.startswith(_KEPT_BELOW)) or any(name == b"range" for name, _ in scope["headers"]):
        return None
    if len(path) + len(scope["query_string"]) > _LONGEST_KEPT:
        return None
    try:
        written = state_of(warehouse / path[1:]) if path.startswith("/reports/") and is_public(path[9:]) else ""
        state = state_of(warehouse / "iomine.duckdb")
    except WarehouseError:
        return None
    return state, written, seen_by(reader), reader.log_id, time.monotonic() // _KEPT_SECONDS, path, scope["query_string"]


def _is_free(path: str) -> bool:
    return path.startswith("/assets/") or path == "/healthz"


async def _busy(scope: Scope, receive: Receive, send: Send) -> None:
    page = pages.fault_page(503, _BUSY, _links_of(Request(scope)))
    await Response(page, 503, {"retry-after": str(RETRY_SECONDS)}, _HTML)(scope, receive, send)


async def _not_let_in(sentence: str, scope: Scope, receive: Receive, send: Send) -> None:
    page = pages.fault_page(403, sentence, _links_of(Request(scope)))
    await Response(page, 403, media_type=_HTML)(scope, receive, send)


def _dashboard(request: Request) -> Response:
    with _session(request) as session:
        window = window_of(session, request.query_params.multi_items())
        return _page(pages.dashboard(session, window, ServedLinks("")))


def _views(request: Request) -> Response:
    with _session(request) as session:
        return _page(pages.views_page(session, ServedLinks("../")))


def _fabric(request: Request) -> Response:
    with _session(request) as session:
        of = fabric_night_of(session.ask, request.query_params.multi_items())
        # A picture is of one night, also if a sweep publishes the next while it is looked at.
        asked = f"?{urlencode(of.parameters)}" if of else ""
        return _page(pages.fabric_page(session, of, ServedLinks(""), lambda name: f"fabric/{name}.js{asked}"))


def _fabric_part(request: Request) -> Response:
    with _session(request) as session:
        of = fabric_night_of(session.ask, request.query_params.multi_items())
        if of is None:
            raise UnknownNameError("No fabric is known: give the output of `ibnetdiscover` to `iomine sweep --stats`.")
        parts: dict[object, bytes] = request.app.state.fabric_parts
        # A large fabric takes half a second, and is the same for all who see the same until the next sweep.
        key = (session.state, session.scope, of, request.path_params["part"])
        part = parts.get(key)
        if part is None:
            part = Fabric(session.ask, of).part(request.path_params["part"])
            if len(parts) >= _MOST_PARTS:
                parts.clear()
            parts[key] = part
        return Response(part, media_type=_SCRIPT)


def _circle(request: Request) -> Response:
    with _session(request) as session:
        of = circle_night_of(session.ask, request.query_params.multi_items())
        return _page(pages.circle_page(session, of, ServedLinks("")))


def _about(request: Request) -> Response:
    with _session(request) as session:
        about = about_of(session, request.path_params["kind"], request.query_params.multi_items())
        return _page(pages.about_page(session, about, ServedLinks("../")))


def _search(request: Request) -> Response:
    """What is called so; where only one thing is, its page."""
    text = text_of(request.query_params.multi_items())
    with _session(request) as session:
        hits = hits_of(session, text, ServedLinks(""), is_whole=True)
    exact = [hit for hit in hits if hit.is_exact]
    if len(exact) == 1:
        return RedirectResponse(exact[0].address, 303)
    return _page(pages.search_page(text, hits, ServedLinks("")))


def _search_json(request: Request) -> Response:
    """What completes a text, with addresses as they are seen from the dashboard."""
    text = text_of(request.query_params.multi_items())
    with _session(request) as session:
        hits = hits_of(session, text, ServedLinks(""), is_whole=False)
    return JSONResponse([{"kind": hit.kind, "name": hit.name, "about": hit.about, "address": hit.address} for hit in hits])


def _rows(request: Request) -> Response:
    name, _, ending = request.path_params["name"].rpartition(".")
    view = name if ending in _FILES else request.path_params["name"]
    with _session(request) as session:
        question = parse(view, request.query_params.multi_items(), session.types(view))
        if ending in _FILES:
            return _file(_whole(session, question), view, ending)
        shown = MOST_SHOWN if question.limit else _USUALLY_SHOWN
        return _page(pages.rows_page(session, question, ServedLinks("../"), shown, MOST_SHOWN))


def _whole(session: Session, question: Question) -> pa.Table:
    """All rows, as a file has them."""
    answer = session.answer(question.rows(_MOST_IN_FILE + 1))
    if answer.num_rows > _MOST_IN_FILE:
        raise UsageError(f"There are more than {_MOST_IN_FILE:,} rows, the most that a file holds: add conditions, or a limit.")
    return answer


def _trace(request: Request) -> Response:
    with _session(request) as session:
        log_id = request.path_params["log_id"]
        return _file(requests_of(session, log_id, request.query_params.multi_items()), log_id, "parquet")


def _rings(request: Request) -> Response:
    try:
        with _session(request) as session:
            text, status = moved_of(session, request.path_params["log_id"], request.query_params.multi_items()), 200
    except IomineError as error:
        # A script asks, and shows the sentence.
        text, status = str(error.args[0]), _status_of(error)
    return Response(text, status, media_type=_TEXT)


def _report(request: Request) -> Response:
    name, reports = request.path_params["name"], request.app.state.reports
    if name == INDEX_PAGE:
        return _page(pages.search_page("", (), ServedLinks("../")))
    path = reports.written(name)
    # Reports that sweeps have written show all that is known.
    if path is None or not request.scope[READER].sees_all_runs:
        with _session(request) as session:
            path = reports.made(session, name)
    # A reader with a link to one report sees no other page.
    if path.suffix == ".html" and "range" not in request.headers and request.scope[READER].log_id is None:
        with suppress(IomineError), _session(request) as session:
            return _page(pages.report_page(path.read_bytes(), neighbourhood(session, name), ServedLinks("../")))
    # If the links cannot be had, the report is sent without them.
    return FileResponse(path, headers=_LASTING if name.startswith("assets/") else None)


def _mail(request: Request) -> Response:
    """A link in a mail: says what it asks for, and does it by POST, which no program that looks at links sends by itself.

    Mail programs that have a button of their own send `List-Unsubscribe=One-Click` (RFC 8058), the page sends nothing: the
    address says all there is to know, so a body is not checked.
    """
    warehouse: Path = request.app.state.warehouse
    signer = signer_of(warehouse / "digest.key")
    action = signer.action(request.path_params["token"])
    undo = "" if action.verb == "undo" else signer.token(replace(action, verb="undo", days=0))
    is_asked, file = request.method == "POST", warehouse / "digest.sqlite"
    # Opening a link must not create a ledger.
    with Ledger(file if is_asked or file.exists() else None) as ledger:
        if is_asked:
            ledger.wish(action, datetime.now(UTC).date())
        return _page(pages.mail_page(described(action, ledger), ServedLinks("../"), is_done=is_asked, undo=undo))


def _healthz(request: Request) -> Response:
    """Whether questions can be answered, for what restarts servers: nothing else is said, so everybody may ask."""
    try:
        open_catalog(request.app.state.warehouse / "iomine.duckdb").close()
    except WarehouseError:
        return Response("There is no warehouse to ask.\n", 503, media_type=_TEXT)
    return Response("ok\n", media_type=_TEXT)


def _metrics(request: Request) -> Response:
    """Figures for Prometheus; who sees only their own runs gets none."""
    if not request.scope[READER].sees_all_runs:
        raise HTTPException(403, "These figures are about all runs: only operators and admins see them.")
    content = openmetrics(request.app.state.warehouse / "iomine.duckdb", datetime.now(UTC))
    # A browser would save a page of Prometheus's type instead of showing it.
    is_browser = "text/html" in request.headers.get("accept", "")
    return Response(content, headers={"content-type": _TEXT if is_browser else CONTENT_TYPE})


def _style(name: str, _request: Request) -> Response:
    return Response(pages.style(name), media_type="text/css", headers=_LASTING)


def _script(name: str, _request: Request) -> Response:
    return Response(pages.script(name), media_type=_SCRIPT, headers=_LASTING)


def _session(request: Request) -> AbstractContextManager[Session]:
    sessions: SessionPool = request.app.state.sessions
    return sessions.session(request.scope[READER])


def _page(text: str | bytes, status: int = 200) -> Response:
    headers = {"retry-after": str(RETRY_SECONDS)} if status == _STATUS[LimitError] else None
    return Response(text, status, headers, _HTML)


def _file(answer: pa.Table, name: str, ending: str) -> Response:
    kind, write = _FILES[ending]
    content = BytesIO()
    write(answer, content)
    return Response(
        content.getvalue(), media_type=kind, headers={"content-disposition": f'attachment; filename="{name}.{ending}"'}
    )


def _status_of(error: Exception) -> int:
    return next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), 500)


def _foreseen(request: Request, error: Exception) -> Response:
    status = _status_of(error)
    return _page(pages.fault_page(status, str(error.args[0]), _links_of(request)), status)


def _refused(request: Request, error: Exception) -> Response:
    refusal = cast("HTTPException", error)
    sentence = _SENTENCES.get(refusal.status_code, refusal.detail)
    page = pages.fault_page(refusal.status_code, sentence, _links_of(request))
    return Response(page, refusal.status_code, dict(refusal.headers or {}), _HTML)


def _links_of(request: Request) -> ServedLinks:
    return ServedLinks("../" * (request.url.path.count("/") - 1))
