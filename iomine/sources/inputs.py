"""Inputs other than Darshan logs: opened, unpacked, and given to the parser of their format."""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import cache
from io import BytesIO
from itertools import chain, takewhile
from typing import Final

from iomine.errors import UnreadableError
from iomine.packages import brought
from iomine.sources import accounting, fabric, ior, lustre, series
from iomine.sources.accounting.lines import text_of
from iomine.sources.model import LARGEST_BYTES, Input, Readings, Source
from iomine.sources.refused import REFUSED
from iomine.sources.unpacking import BROKEN, opener_of, unpack_first
from iomine.units import human_bytes

SOURCES: Final[tuple[Source, ...]] = tuple(chain(lustre.SOURCES, series.SOURCES, ior.SOURCES, accounting.SOURCES, fabric.SOURCES))

_HEAD_BYTES: Final = 1 << 16
_MOST_LINES: Final = 100
_MOST_SHOWN: Final = 200
# Slurm's commands put their names before it, and its libraries those of the function.
_COMPLAINT: Final = re.compile(rb"(?:[a-z][\w-]{0,63}:? )?(?:error|fatal|warning): ", re.ASCII)
_ZEROS_OF_UTF16: Final = 0.75
_HOST: Final = re.compile(rb"[A-Za-z0-9_.-]{1,255}: ?")


@cache
def package_sources() -> tuple[dict[str, tuple[Source, ...]], list[str]]:
    """Sources of installed packages by package, and why others are not used."""
    found: dict[str, tuple[Source, ...]] = {}
    faults = []
    for each in brought("iomine.sources"):
        sources = (each.value,) if isinstance(each.value, Source) else tuple(each.value or ())
        if each.fault or not all(isinstance(source, Source) for source in sources):
            faults.append(each.fault or f"The package {each.package} names {each.name} as sources, which it is not.")
        elif taken := {source.kind for source in (*SOURCES, *chain.from_iterable(found.values()))} & {s.kind for s in sources}:
            faults.append(f"The package {each.package} brings a source {min(taken)}, which is there already.")
        else:
            found[each.package] = found.get(each.package, ()) + sources
    return found, faults


def open_input(path: str, data: bytes, modified_at: datetime, zone: tzinfo, cluster: str = "") -> Input:
    """An input with its bytes unpacked.

    Args:
        path: where it lies.
        data: its bytes as they are.
        modified_at: when it was last changed, in UTC.
        zone: time zone of times without one.
        cluster: the machine that it is about.

    Raises:
        UnreadableError: it cannot be unpacked, or is too large then.
    """
    return Input(path, _unpacked(data), modified_at, zone, cluster)


def read_input(given: Input) -> tuple[str, Readings]:
    """What an input holds, and its kind.

    Raises:
        UnreadableError: no source knows it, or the one that knows it cannot read it.
    """
    # Ours come first, so that no package takes an input from them. A package may read what iomine refuses by name.
    sources = (*SOURCES, *chain.from_iterable(package_sources()[0].values()), *REFUSED)
    for source in sources:
        if source.knows(given):
            return source.kind, source.read(given)
    if complaints := _complaints(given.data):
        # The numbers of lines stay as they are.
        rest = replace(given, data=b"\n" * len(complaints) + given.data[sum(map(len, complaints)) :])
        first = text_of(complaints[0]).strip()[:_MOST_SHOWN]
        for source in sources:
            if source.knows(rest):
                readings = source.read(rest)
                doubt = f"The command failed in part before it printed this, so something may be missing: {first}"
                return source.kind, replace(readings, doubt=" ".join(filter(None, (doubt, readings.doubt))))
        if not rest.data.strip():
            raise UnreadableError(f"It holds nothing but errors of the command that wrote it: {first}")
    bare = replace(given, data=_without_hosts(given.data))
    if bare.data and any(source.knows(bare) for source in sources):
        raise UnreadableError(
            "Each line begins with a host, as pdsh prints it: write the lines of each host to a file of its own (dshbak -d)."
        )
    if not given.data.strip():
        raise UnreadableError("It is empty, as a command leaves it that got no answer.")
    if encoding := _utf16(given.data[:_HEAD_BYTES]):
        raise UnreadableError(f"It is text in {encoding}: convert it, for example with `iconv -f {encoding} -t UTF-8`.")
    raise UnreadableError("Its format is not known as statistics or accounting: docs/system_state.md lists those that are.")


def _without_hosts(data: bytes) -> bytes:
    """The first lines without the host and the colon that each begins with; empty where one does not."""
    lines = data[:_HEAD_BYTES].splitlines()[:_MOST_LINES]
    found = [_HOST.match(line) for line in lines]
    return b"\n".join(line[match.end() :] for line, match in zip(lines, found, strict=True) if match) if all(found) else b""


def _complaints(data: bytes) -> list[bytes]:
    """The first lines of a text that are errors and warnings of the command that printed it, whose stderr went there too."""
    lines = data[:_HEAD_BYTES].splitlines(keepends=True)
    return list(takewhile(_COMPLAINT.match, lines))


def _utf16(head: bytes) -> str:
    """The name of the encoding of a text in UTF-16, empty where it is none: nearly every other byte is zero."""
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "UTF-16"
    even, odd = head[::2].count(0), head[1::2].count(0)
    least = _ZEROS_OF_UTF16 * len(head) / 2
    return "UTF-16LE" if odd > least > even else "UTF-16BE" if even > least > odd else ""


def _unpacked(data: bytes) -> bytes:
    if opener := opener_of(data):
        try:
            with opener(BytesIO(data)) as file:
                data = file.read(LARGEST_BYTES + 1)
        except BROKEN as error:
            raise UnreadableError(f"It cannot be unpacked ({error}): copy or pack it again.") from error
    elif reason := unpack_first(data):
        raise UnreadableError(reason)
    if len(data) > LARGEST_BYTES:
        raise UnreadableError(f"Unpacked it has more than {human_bytes(LARGEST_BYTES)}, the limit for one file.")
    return data
