"""Mail addresses, and names that may stand before them: only such as no header and no SMTP command can be made of otherwise."""

import re
from typing import Final

_LONGEST: Final = 254
_LONGEST_LOCAL: Final = 64
_ATOMS: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
_LABELS: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*"
_ADDRESS: Final = re.compile(f"({_ATOMS})@({_LABELS})")
# Python 3.11 folds a name of other alphabets without the quotes that dots, commas and brackets need.
_NEEDS_QUOTES: Final = re.compile(r"[^\w '\N{RIGHT SINGLE QUOTATION MARK}-]+")
_LONGEST_NAME: Final = 80


def is_address(text: str) -> bool:
    """Whether a text is an address that every mail server takes: ASCII, without quotes and comments."""
    match = _ADDRESS.fullmatch(text)
    return match is not None and len(text) <= _LONGEST and len(match[1]) <= _LONGEST_LOCAL


def domain_of(address: str) -> str:
    """The part after the @."""
    return address.rpartition("@")[2]


def plain_name(text: str) -> str:
    """A person's name of letters, digits, spaces, hyphens and apostrophes; whatever else is in it becomes a space."""
    return " ".join(_NEEDS_QUOTES.sub(" ", text).split())[:_LONGEST_NAME].strip()
