"""The templates of a room, compiled once and kept in the user's cache folder."""

import hashlib
from typing import Final

import jinja2
from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket

from iomine.cache import held, keep

_KEY_DIGITS: Final = 32


class _Compiled(BytecodeCache):
    """Compiled templates in the cache folder; Jinja itself checks them against Python's version and their source.

    To compile those of a report takes 0.2 s, a twentieth of a sweep of two logs.

    Args:
        what: what else the compiled form depends on.
    """

    def __init__(self, what: str) -> None:
        self._what = what

    def load_bytecode(self, bucket: Bucket) -> None:
        content = held(self._key(bucket))
        if content is not None:
            bucket.bytecode_from_string(content)

    def dump_bytecode(self, bucket: Bucket) -> None:
        keep(self._key(bucket), bucket.bytecode_to_string())

    def _key(self, bucket: Bucket) -> str:
        # Two versions of iomine beside each other do not take turns in one file.
        named = f"{jinja2.__version__} {self._what} {bucket.key} {bucket.checksum}"
        return f"template-{hashlib.sha256(named.encode()).hexdigest()[:_KEY_DIGITS]}"


def templates_of(room: str, *, is_markup: bool = True) -> Environment:
    """Templates of a room, in which nothing that is missing goes unseen.

    Args:
        room: the package whose folder `templates` has them.
        is_markup: whether texts are escaped; plain text has nothing to escape.
    """
    return Environment(
        loader=PackageLoader(room),
        autoescape=is_markup,  # noqa: S701  plain text has nothing to escape
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        bytecode_cache=_Compiled("markup" if is_markup else "text"),
    )
