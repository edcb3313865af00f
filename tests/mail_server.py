"""A mail server that does as a test plans."""

import datetime as dt
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from post_office import parsed

from iomine.post.settings import SmtpSettings
from iomine.post.transports import Pace, Smtp


@dataclass
class Stored:
    """A mail that the server has."""

    sender: str
    recipients: list[str]
    content: bytes
    session: Session

    @property
    def message_id(self) -> str:
        """As it says itself."""
        return str(parsed(self.content)["Message-ID"])


@dataclass
class Handler:
    """Keeps mails; `plan` may give a reply of its own for a stage (`mail`, `rcpt`, `data`, `stored`) and an address."""

    mails: list[Stored] = field(default_factory=list)
    plan: Callable[[str, str], str | None] = lambda _stage, _address: None

    async def handle_MAIL(self, server: SMTP, _session: Session, envelope: Envelope, address: str, options: list[str]) -> str:  # noqa: N802
        """The sender."""
        if reply := self._reply(server, "mail", address):
            return reply
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 ok"

    async def handle_RCPT(self, server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]) -> str:  # noqa: N802
        """Who gets it."""
        if reply := self._reply(server, "rcpt", address):
            return reply
        envelope.rcpt_tos.append(address)
        return "250 ok"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        """The mail."""
        address = envelope.rcpt_tos[0]
        if reply := self._reply(server, "data", address):
            return reply
        self.mails.append(Stored(envelope.mail_from, list(envelope.rcpt_tos), envelope.original_content, session))
        return self._reply(server, "stored", address) or "250 taken"

    def _reply(self, server: SMTP, stage: str, address: str) -> str | None:
        reply = self.plan(stage, address)
        if reply == "drop":
            server.transport.abort()
        return reply

    def addresses(self) -> list[str]:
        """Who got mails, in their order."""
        return [address for mail in self.mails for address in mail.recipients]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def mail_server(handler: Handler, **options: Any) -> Iterator[SmtpSettings]:
    """A mail server on loopback, and the settings that lead to it."""
    controller = Controller(handler, hostname="127.0.0.1", port=free_port(), **options)
    controller.start()
    try:
        yield SmtpSettings(host="127.0.0.1", port=controller.port, timeout_seconds=10, per_minute=0)
    finally:
        controller.stop()


def smtp(settings: SmtpSettings, folder: Path = Path()) -> Smtp:
    return Smtp(settings, folder, Pace(0))


def certificate(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """A certificate of localhost, as a file, and what a server shows it with."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    today = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - dt.timedelta(days=1))
        .not_valid_after(today + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file, key_file = folder / "localhost.pem", folder / "localhost.key"
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    key_file.write_bytes(key.private_bytes(encoding, form, serialization.NoEncryption()))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(file, key_file)
    return file, context


class Authenticator:
    """Lets one user in."""

    def __call__(self, _server: object, _session: object, _envelope: object, _mechanism: str, data: Any) -> AuthResult:
        """Looks at the password."""
        is_right = (data.login, data.password) == (b"iomine", b"a secret")
        return AuthResult(success=is_right, handled=is_right)
