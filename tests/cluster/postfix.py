"""Debian's Postfix on loopback, in a folder of its own: TLS, and a maildir for each of some users."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mail_server import certificate, free_port
from sweeping import wait_for

from iomine.post.settings import SmtpSettings

_MASTER = Path("/usr/share/postfix/master.cf.dist")
_MAIN = """\
compatibility_level = 3.6
queue_directory = {base}/queue
data_directory = {base}/data
daemon_directory = /usr/lib/postfix/sbin
command_directory = /usr/sbin
mail_owner = postfix
setgid_group = postdrop
myhostname = mail.site.test
mydestination =
mynetworks = 127.0.0.0/8
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
alias_maps =
relay_domains =
default_transport = error:no mail leaves this test
virtual_mailbox_domains = site.test
virtual_mailbox_base = {base}/boxes
virtual_mailbox_maps = texthash:{base}/etc/users
virtual_minimum_uid = 8
virtual_uid_maps = static:8
virtual_gid_maps = static:8
smtpd_relay_restrictions = permit_mynetworks, reject
smtpd_tls_security_level = may
smtpd_tls_cert_file = {base}/localhost.pem
smtpd_tls_key_file = {base}/localhost.key
maillog_file = {base}/log
maillog_file_prefixes = {base}
message_size_limit = 200000
"""


def why_not() -> str:
    """What is missing for such a server, empty where nothing is."""
    if os.geteuid():
        return "starting Postfix takes root"
    return "" if shutil.which("postfix") and _MASTER.exists() else "Debian's postfix is not installed"


@dataclass
class Postfix:
    """A server that runs.

    Attributes:
        base: its folder.
        smtp: how to reach it.
    """

    base: Path
    smtp: SmtpSettings

    def mails(self, user: str) -> list[bytes]:
        """What has come into a user's maildir."""
        return [path.read_bytes() for path in sorted((self.base / "boxes" / user / "new").glob("*"))]

    def wait_until_idle(self) -> bool:
        """Waits until nothing is left to deliver; whether that came about."""
        queues = [self.base / "queue" / name for name in ("incoming", "active", "maildrop", "deferred")]
        return wait_for(lambda: not any(path.is_file() for queue in queues for path in queue.rglob("*")), 60)


@contextmanager
def postfix(users: Iterable[str]) -> Iterator[Postfix]:
    """A server that knows some users."""
    base = Path(tempfile.mkdtemp(prefix="iomine-postfix-"))
    # Its parts run as users of their own, and must get through.
    base.chmod(0o755)
    etc, port = base / "etc", free_port()
    try:
        ca_file, _ = certificate(base)
        for name, owner in (("etc", "root"), ("queue", "root"), ("data", "postfix"), ("boxes", "mail")):
            (base / name).mkdir(mode=0o755)
            shutil.chown(base / name, owner)
        (etc / "main.cf").write_text(_MAIN.format(base=base))
        (etc / "users").write_text("".join(f"{user}@site.test {user}/\n" for user in users))
        (etc / "master.cf").write_text(_services(port))
        _run(etc, "start")
        settings = SmtpSettings(
            host="localhost", port=port, tls="starttls", ca_file=str(ca_file), timeout_seconds=30, per_minute=0
        )
        yield Postfix(base, settings)
    finally:
        _run(etc, "stop")
        shutil.rmtree(base, ignore_errors=True)


def _run(etc: Path, command: str) -> None:
    subprocess.run(["postfix", "-c", etc, command], check=command == "start", capture_output=True, timeout=60)


def _services(port: int) -> str:
    """Debian's own services, none of them in a chroot that a private folder does not have."""
    lines = [line.split() for line in _MASTER.read_text().splitlines() if line and not line.startswith(("#", " "))]
    wanted = [line for line in lines if line[7] != "pipe"]
    for line in wanted:
        line[4] = "n"
        if line[7] == "smtpd":
            line[0] = f"127.0.0.1:{port}"
    return "".join(f"{' '.join(line)}\n" for line in wanted)
