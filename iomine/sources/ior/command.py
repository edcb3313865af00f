"""What an IOR command line asks for, as far as its output may leave it out."""

import shlex
from typing import Final, NamedTuple

from iomine.sources.ior.numbers import asked_size, integer

# Options of IOR 3.0 to 4.1 that take a value.
_TAKE_VALUES: Final = frozenset("aAbdDfGijJlMNoOQstTUX")
# Directives that say the same as options; what is asked for then is not looked for in two places.
_DIRECTIVES: Final = ("collective", "writefile", "readfile", "segmentcount", "blocksize", "transfersize", "hintsfilename")


class Asked(NamedTuple):
    """What was asked for.

    Attributes:
        ops: write and read, or one of them; None where the command line does not say.
        is_collective: NULL likewise, as are the others.
        segments: number of segments.
        block: bytes.
        transfer: bytes.
    """

    ops: frozenset[str] | None = None
    is_collective: bool | None = None
    segments: int | None = None
    block: int | None = None
    transfer: int | None = None


def asked(command: str | None) -> Asked:
    """What a command line asks for; nothing where a file of IOR's own language does."""
    try:
        words = shlex.split(command or "")[1:]
    except ValueError:
        return Asked()
    options = _options(words)
    directives = " ".join(options.get("O", [])).lower()
    if not command or "f" in options or any(name in directives for name in _DIRECTIVES):
        return Asked()
    last = {name: values[-1] for name, values in options.items()}
    ops = {"write": "w", "read": "r"}
    chosen = frozenset(op for op, option in ops.items() if option in last)
    try:
        segments = integer(last.get("s", "1"))
    except ValueError:
        segments = None
    return Asked(
        chosen if {"w", "r", "W", "R"} & last.keys() else frozenset(ops),
        "c" in last,
        segments,
        asked_size(last["b"]) if "b" in last else None,
        asked_size(last["t"]) if "t" in last else None,
    )


def _options(words: list[str]) -> dict[str, list[str]]:
    """Values by letter; several letters may stand in one word, the last one's value in the same or the next."""
    options: dict[str, list[str]] = {}
    left = iter(words)
    for word in left:
        if not word.startswith("-") or word.startswith("--"):
            continue
        for place, letter in enumerate(word[1:], 1):
            if letter in _TAKE_VALUES:
                value = word[place + 1 :].removeprefix("=") or next(left, "")
                options.setdefault(letter, []).append(value)
                break
            options.setdefault(letter, []).append("")
    return options
