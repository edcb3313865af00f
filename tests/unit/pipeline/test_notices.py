"""Notices that a sweep sends: each event once, by mail and to a server."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from post_office import Books, parsed

from iomine.digest.notices import notices
from iomine.errors import UsageError
from iomine.lake import write_file
from iomine.pipeline.notices import check_notices, notify
from iomine.post.settings import Limit
from iomine.post.transports import Message, Outcome
from iomine.schema.registry import arrow_schema
from iomine.triggers import reference_table
from iomine.views.catalog import build_catalog
from iomine.views.query import ask

NIGHT = date(2026, 11, 20)
NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
SETTINGS = """
operators = ["ops@site.test"]
[smtp]
host = "mail.site.test"
[notices]
faulty_links = 0
"""


def _hour(port: int, night: date = NIGHT, **more: Any) -> dict[str, Any]:
    link = {"link_id": f"a/{port}", "guid": "a", "port": port, "device": "leaf<00>", "peer_device": "spine", "peer_port": port}
    return {"night": night, "faulty_slot_count": 1, "congested_slot_count": 0, "job_count": 0} | link | more


def _publish(root: Path, *hours: dict[str, Any]) -> None:
    files = [
        write_file(root, "link_hour", pa.Table.from_pylist([hour], schema=arrow_schema("link_hour")), "x", hour["night"])
        for hour in hours
    ]
    assert all(pq.read_metadata(file.path).num_rows == 1 for file in files)
    build_catalog(root / "iomine.duckdb", {"link_hour": [str(file.path) for file in files]}, {"triggers": reference_table()}, {})


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A warehouse with a link that was faulty."""
    (tmp_path / "digest.toml").write_text(SETTINGS)
    _publish(tmp_path, _hour(9))
    return tmp_path


def test_each_event_is_sent_once(site: Path):
    """The next sweep reports nothing, one that finds another link that alone, and the next night no link that it had."""
    books = Books()

    def sent(at: datetime = NOW) -> list[str]:
        books.mails.clear()
        notify(site, books, lambda: at)
        return [" ".join(str(parsed(mail.content).get_body(("plain",)).get_content()).split()) for mail in books.mails]

    (first,) = sent()
    assert "faulty_links is 1, above its threshold of 0 after 0 of the night before" in first
    assert "New: leaf<00> port 9 - spine port 9." in first
    assert [] == sent()
    _publish(site, _hour(9), _hour(8))
    (second,) = sent(NOW + timedelta(minutes=10))
    assert "faulty_links is 2" in second
    assert ("port 8" in second, "port 9" in second) == (True, False)
    assert [] == sent(NOW + timedelta(minutes=20))
    _publish(site, _hour(9), _hour(9, NIGHT + timedelta(days=1)))
    assert [] == sent(NOW + timedelta(days=1))
    _publish(site, _hour(9, NIGHT + timedelta(days=2)))
    assert "port 9" in sent(NOW + timedelta(days=2))[0]


def test_what_was_not_sent_is_tried_again_and_then_not(site: Path):
    """A server that refuses for now gets the same bytes later, and once."""
    answers = iter([Outcome("later", "busy"), Outcome("sent")])
    books = Books(plan=lambda _: next(answers))
    assert 1 == len(notify(site, books, lambda: NOW).deferred)
    assert 1 == len(notify(site, books, lambda: NOW + timedelta(minutes=10)).sent)
    notify(site, books, lambda: NOW + timedelta(minutes=20))
    first, again = books.mails
    assert first == again


@contextmanager
def _server(status: int, headers: dict[str, str] | None = None) -> Iterator[tuple[str, list[tuple[str, dict[str, str], Any]]]]:
    """A server on this machine, and what it was asked."""
    asked: list[tuple[str, dict[str, str], Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked.append((self.path, dict(self.headers), json.loads(body)))
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()

        do_GET = do_POST  # noqa: N815  as the library calls it

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/hook?team=storage", asked
        finally:
            server.shutdown()
            thread.join()


def _posting(site: Path, url: str, more: str = "") -> None:
    (site / "digest.toml").write_text(f'[notices]\nfaulty_links = 0\n[webhook]\nurl = "{url}"\n{more}')


def test_notices_are_posted_as_json_with_the_token(site: Path):
    """A server gets text, events and an id, and no mail server is needed; once."""
    (site / "token").write_text("s3cret\n")
    (site / "token").chmod(0o600)
    with _server(204) as (url, asked):
        _posting(site, url, 'token_file = "token"\n')
        assert ["operator operator"] == [who.replace("notice", "operator") for who in notify(site, now=lambda: NOW).sent]
        assert not notify(site, now=lambda: NOW).sent
    ((path, headers, content),) = asked
    assert ("/hook?team=storage", "Bearer s3cret") == (path, headers["Authorization"])
    assert [{"notice": "faulty_links", "link": "leaf<00> port 9 - spine port 9"}] == content["events"]
    assert ("2026-11-20", True) == (content["night"], "leaf<00> port 9" in " ".join(content["text"].split()))


@pytest.mark.proof
@pytest.mark.parametrize(("status", "end"), [(500, "deferred"), (429, "deferred"), (404, "refused"), (302, "refused")])
def test_a_server_that_does_not_take_them(site: Path, status: int, end: str):
    """What may pass is tried again, what will not is reported; nobody is followed elsewhere."""
    with _server(200) as (elsewhere, followed), _server(status, {"Location": elsewhere}) as (url, asked):
        _posting(site, url)
        post = notify(site, now=lambda: NOW)
    assert (1, []) == (len(asked), followed)
    assert str(status) in dict(getattr(post, end))["notice operator"]


def test_what_waits_for_a_former_server_is_not_posted(site: Path):
    """The site has named another one meanwhile, and the token is for that one only."""
    (site / "token").write_text("s3cret\n")
    (site / "token").chmod(0o600)
    with _server(503) as (former, asked), _server(200) as (url, _):
        _posting(site, former)
        assert [("notice operator", "503 Service Unavailable")] == notify(site, now=lambda: NOW).deferred
        _posting(site, url, 'token_file = "token"\n')
        (refused,) = notify(site, now=lambda: NOW).refused
    assert ("notice operator", "webhook.url in the settings is another one now") == refused
    assert 1 == len(asked)


def test_a_server_that_is_not_there_is_tried_again(site: Path):
    """Nothing is lost with a server that is down."""
    with _server(200) as (url, _):
        pass
    _posting(site, url)
    ((_, reply),) = notify(site, now=lambda: NOW).deferred
    assert "is not reached" in reply


@pytest.mark.parametrize(
    ("settings", "reported"),
    [
        ("", "No notices are set"),
        ("[notices]\nlinks_down = 0\n", "Notices have no destination"),
        ('operators = ["ops@site.test"]\n[notices]\nlinks_down = 0\n', "Notices have no destination"),
    ],
)
def test_settings_that_reach_nobody_anything(tmp_path: Path, settings: str, reported: str):
    """What is missing is said before anything is swept."""
    (tmp_path / "digest.toml").write_text(settings)
    with pytest.raises(UsageError, match=reported):
        check_notices(tmp_path)


@pytest.mark.parametrize(
    ("limit", "is_reported"),
    [
        (Limit("above", 1.0), True),
        (Limit("above", 2.0), False),
        (Limit("below", 3.0), False),
        (Limit("equal", 2.0), True),
        (Limit("equal", 3.0), False),
    ],
)
def test_sides_of_a_threshold(site: Path, limit: Limit, is_reported: bool):
    """Exactly on it a metric is neither above nor below; below counts only what went down."""
    _publish(site, _hour(9, congested_slot_count=1), _hour(8, congested_slot_count=1))
    found = notices(lambda *asked: ask(site / "iomine.duckdb", *asked), {"congested_links": limit}, NIGHT)
    assert is_reported == bool(found)


def test_below_reports_what_went_down(site: Path):
    """A metric that fell below its threshold is reported, one that stays there is not."""
    _publish(
        site,
        _hour(9, NIGHT - timedelta(days=1)),
        _hour(8, NIGHT - timedelta(days=1)),
        _hour(9),
        _hour(9, NIGHT + timedelta(days=1)),
    )

    def sent(night: date) -> list[float]:
        limits = {"faulty_links": Limit("below", 2.0)}
        return [each.value for each in notices(lambda *asked: ask(site / "iomine.duckdb", *asked), limits, night)]

    assert ([1.0], []) == (sent(NIGHT), sent(NIGHT + timedelta(days=1)))


def test_a_message_to_a_person_is_none_for_the_server(site: Path):
    """Both get the same events, each in its own form."""
    books = Books()
    (site / "digest.toml").write_text(SETTINGS + '[webhook]\nurl = "https://chat.site.test/x"\n')
    notify(site, books, lambda: NOW)
    by_address: dict[str, Message] = {mail.address: mail for mail in books.mails}
    assert {"ops@site.test", "https://chat.site.test/x"} == by_address.keys()
    assert "faulty_links" in str(parsed(by_address["ops@site.test"].content)["Subject"])
    assert by_address["https://chat.site.test/x"].content.startswith(b"{")
