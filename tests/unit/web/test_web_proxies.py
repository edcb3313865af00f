"""The examples for nginx and Apache, run by these."""

import base64
import datetime as dt
import hashlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from access_facility import SECRET, USERS, guarded, log_of, make_site
from access_walk import names_in
from web_server import ask_server

from iomine.post.access import KEY_FILE
from iomine.post.ledger import Ledger
from iomine.post.tokens import Action, Pass, make_key, pass_signer_of, signer_with_key

DEPLOY: Final = Path(__file__).parents[3] / "deploy"
LOGS: Final = "/iomine/views/logs.json?columns=user"
_NGINX: Final = """
daemon off;
pid {folder}/pid;
error_log {folder}/errors;
events {{}}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        access_log {folder}/log;
        include {folder}/example;
    }}
}}
"""
_MODULES: Final = (
    *("mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_basic", "headers", "proxy", "proxy_http"),
    "allowmethods",
)
_APACHE: Final = """
ServerRoot {folder}
ServerName localhost
PidFile {folder}/pid
ErrorLog {folder}/errors
Listen 127.0.0.1:{port}
{modules}
Include {folder}/example
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse that believes a proxy, and has keys of links."""
    site = make_site(tmp_path_factory.mktemp("proxies"))
    make_key(site / KEY_FILE)
    return site


@contextmanager
def running(name: str, site: Path) -> Iterator[str]:
    """An example behind which the site is served; gives its address."""
    program = shutil.which(name, path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if program is None:
        pytest.skip(f"{name} is not installed")
    modules = Path("/usr/lib/apache2/modules")
    with guarded(site) as backend, socket.create_server(("127.0.0.1", 0)) as free, tempfile.TemporaryDirectory() as place:
        folder, port = Path(place), free.getsockname()[1]
        free.close()
        # Its workers are another user.
        folder.chmod(0o755)
        of_config = name.removesuffix("2")
        example = (DEPLOY / f"{of_config}.conf").read_text(encoding="utf-8")
        example = example.replace("http://127.0.0.1:8123/", backend).replace(f"/etc/{name}/", f"{folder}/")
        (folder / "example").write_text(example)
        sets = "proxy_set_header X-Iomine-Secret" if name == "nginx" else "RequestHeader set X-Iomine-Secret"
        (folder / "iomine.secret").write_text(f'{sets} "{SECRET}"{";" if name == "nginx" else ""}\n')
        (folder / "iomine.secret").chmod(0o600)
        digest = base64.b64encode(hashlib.sha1(b"secret").digest()).decode()  # noqa: S324  as both know it
        (folder / "iomine.users").write_text("".join(f"{user}:{{SHA}}{digest}\n" for user in (*USERS, "root")))
        loaded = "\n".join(f"LoadModule {each}_module {modules}/mod_{each}.so" for each in _MODULES)
        text = (_NGINX if name == "nginx" else _APACHE).format(folder=folder, port=port, modules=loaded)
        (folder / "config").write_text(text)
        options = ("-c", folder / "config", "-p", folder) if name == "nginx" else ("-f", folder / "config", "-DFOREGROUND")
        with subprocess.Popen([program, *map(str, options)], stderr=subprocess.PIPE, text=True) as server:
            try:
                _wait_for(port, server)
                yield f"http://127.0.0.1:{port}/"
            finally:
                server.terminate()
                server.wait(60)


def _wait_for(port: int, server: subprocess.Popen[str]) -> None:
    for _ in range(600):
        if server.poll() is not None:
            pytest.fail(f"The server ended: {server.communicate()[1]}")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail("The server does not listen.")


def login(user: str) -> dict[str, str]:
    return {"Authorization": f"Basic {base64.b64encode(f'{user}:secret'.encode()).decode()}"}


@pytest.mark.proof
@pytest.mark.parametrize("name", ["nginx", "apache2"])
def test_example_runs(site, name):
    """Who logs in is who they are, whatever the browser says; links of mails need no login, and their buttons work."""
    forged = {"X-Iomine-User": "root", "X-Iomine-Secret": SECRET}
    mail = signer_with_key(site / "digest.key").token(Action("stop", "user", f"reader behind {name}"))
    asked = Action("acknowledge", "user", f"reader behind {name}", "0" * 32)
    other, undo = (signer_with_key(site / "digest.key").token(each) for each in (asked, replace(asked, verb="undo")))
    one = pass_signer_of(site / KEY_FILE).token(Pass("alice", log_of("alice"), int(time.time()) + 60))
    with running(name, site) as address:
        assert 401 == ask_server(address, LOGS).status
        assert 401 == ask_server(address, LOGS, **forged).status
        assert ["alice"] == names_in(ask_server(address, LOGS, **login("alice")))
        assert ["bob"] == names_in(ask_server(address, LOGS, **login("bob"), **forged))
        assert list(USERS) == names_in(ask_server(address, LOGS, **login("root")))
        assert ask_server(address, LOGS, "POST", **login("alice")).status in {403, 405}
        # Buttons of mails: a page, its form, and a mail program that posts by itself.
        assert "button" in ask_server(address, f"/iomine/mail/{mail}").text
        assert (
            200
            == ask_server(address, f"/iomine/mail/{mail}", "POST", Origin=address.rstrip("/"), **{"Content-Length": "0"}).status
        )
        empty = {"Content-Length": "0"}
        done, undone = (ask_server(address, f"/iomine/mail/{token}", "POST", **empty).text for token in (other, undo))
        assert (f'action="{undo}"' in done, "Undo" in undone) == (True, False)
        by_link = ask_server(address, f"/iomine/by/{one}/traces/{log_of('alice')}.parquet", **forged)
        assert (200, ["alice"]) == (by_link.status, names_in(by_link))
        assert 403 == ask_server(address, f"/iomine/by/{one}/views/logs.json").status
        for around in (
            "/iomine/mail/../views/logs.json",
            "/iomine/by/%2e%2e/views/logs.json",
            "/iomine/by/x/../../views/logs.json",
        ):
            assert [] == names_in(ask_server(address, around, **forged))
    with Ledger(site / "digest.sqlite") as ledger:
        assert {("stop", ""): dt.date.max} == dict(ledger.wishes("user", f"reader behind {name}"))
