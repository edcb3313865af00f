"""Signed links: what a reader may ask for with one click, for themselves only.

A token says what, who and about which subject, and holds for as long as the site keeps its key: a link to stop all mails must
work in an old mail too. It is a secret between the site and the reader; anyone who has it can do that one thing.
"""

import os
import secrets
from dataclasses import astuple, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal, get_args

from itsdangerous import BadData, URLSafeSerializer

from iomine.errors import OutputError, UsageError
from iomine.post.model import Kind
from iomine.settings import read_secret

# `undo` takes back what was asked for about a subject, or, without one, to stop.
Verb = Literal["acknowledge", "snooze", "stop", "undo"]
_KEY_BYTES: Final = 32
_LONGEST: Final = 2000
_UNKNOWN: Final = "This link is not valid: copy it from the mail again, or ask the operators."


@dataclass(frozen=True, slots=True)
class Action:
    """What a link stands for.

    Attributes:
        verb: what is to be done.
        kind: of the mails.
        recipient: of the mails.
        key: of the subject that it is about, empty where it is about all.
        days: for how long, where that matters.
    """

    verb: Verb
    kind: Kind
    recipient: str
    key: str = ""
    days: int = 0


@dataclass(frozen=True, slots=True)
class Pass:
    """What a link lets its reader see.

    Attributes:
        user: whose runs.
        log_id: the only one of these, empty for all.
        until: when it ends, in seconds since 1970.
    """

    user: str
    log_id: str
    until: int


class Signer:
    """Makes tokens, and knows its own.

    Args:
        key: the site's secret.
    """

    def __init__(self, key: bytes) -> None:
        self._serializer = _serializer(key, b"iomine.post")

    def token(self, action: Action) -> str:
        """A token of letters, digits, dots, dashes and underscores."""
        return str(self._serializer.dumps(astuple(action)))

    def action(self, token: str) -> Action:
        """What a token stands for.

        Raises:
            UsageError: it is none of this site's.
        """
        if len(token) > _LONGEST:
            raise UsageError(_UNKNOWN)
        try:
            action = Action(*self._serializer.loads(token))
        except (BadData, TypeError) as error:
            raise UsageError(_UNKNOWN) from error
        # Base64 has more than one way to write the same; ours is one.
        is_ours = action.verb in get_args(Verb) and action.kind in get_args(Kind) and self.token(action) == token
        if not is_ours:
            raise UsageError(_UNKNOWN)
        return action


class PassSigner:
    """Makes tokens of passes, and knows its own.

    Args:
        key: the site's secret.
    """

    def __init__(self, key: bytes) -> None:
        self._serializer = _serializer(key, b"iomine.pass")

    def token(self, given: Pass) -> str:
        """A token of letters, digits, dots, dashes and underscores."""
        return str(self._serializer.dumps(astuple(given)))

    def given(self, token: str, now: float) -> Pass:
        """What a token lets see.

        Raises:
            UsageError: it is none of this site's, or has ended.
        """
        if len(token) > _LONGEST:
            raise UsageError(_UNKNOWN)
        try:
            given = Pass(*self._serializer.loads(token))
        except (BadData, TypeError) as error:
            raise UsageError(_UNKNOWN) from error
        if self.token(given) != token:
            raise UsageError(_UNKNOWN)
        if now >= given.until:
            raise UsageError("This link has expired: take that of a newer mail, or log in.")
        return given


def _serializer(key: bytes, purpose: bytes) -> URLSafeSerializer:
    """Its tokens are valid for one purpose only; signatures are compared in constant time."""
    return URLSafeSerializer(key, salt=purpose, signer_kwargs={"digest_method": sha256, "key_derivation": "hmac"})


def signer_of(file: Path) -> Signer:
    """The signer of a site that has a key.

    Raises:
        UsageError: there is none, or it can be read by others.
    """
    return Signer(_key(file))


def pass_signer_of(file: Path) -> PassSigner:
    """The signer of passes; its errors are those of `signer_of`."""
    return PassSigner(_key(file))


def _key(file: Path) -> bytes:
    if not file.exists():
        raise UsageError(_UNKNOWN)
    key = read_secret(file, "key")
    if len(key) < _KEY_BYTES:
        raise UsageError(f"The key {file} is too short: delete it, and the next digest makes a new one.")
    return key


def signer_with_key(file: Path) -> Signer:
    """The signer of a site, whose key is made where there is none; its errors are those of `signer_of`, too.

    Raises:
        OutputError: the key cannot be written.
    """
    make_key(file)
    return signer_of(file)


def make_key(file: Path) -> None:
    """Makes a key where there is none, which nobody else may read.

    Raises:
        OutputError: it cannot be written.
    """
    if not file.exists():
        beside = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
        try:
            with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:  # noqa: PTH123  a descriptor
                opened.write(secrets.token_bytes(_KEY_BYTES))
                opened.flush()
                os.fsync(opened.fileno())
            beside.rename(file)
        except OSError as error:
            raise OutputError(
                f"The key {file} cannot be written ({error.strerror}): free some space, or ask its owner."
            ) from error


def passing_signer() -> Signer:
    """A signer for mails that nobody gets, whose links nobody will know."""
    return Signer(secrets.token_bytes(_KEY_BYTES))


def passing_pass_signer() -> PassSigner:
    """The same for passes."""
    return PassSigner(secrets.token_bytes(_KEY_BYTES))
