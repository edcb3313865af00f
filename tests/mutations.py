"""Ways to damage an input by chance that fit any format, or any text."""

import re
from random import Random
from typing import Final

_NUMBER: Final = re.compile(rb"(?:0x)?[0-9a-fA-F]{1,20}")


def other_bytes(data: bytes, random: Random, _sound: tuple[bytes, ...]) -> bytes:
    """Up to 20 bytes are others."""
    changed = bytearray(data)
    for _ in range(random.randint(1, 20)):
        changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def cut(data: bytes, random: Random, _sound: tuple[bytes, ...]) -> bytes:
    """It ends somewhere."""
    return data[: random.randrange(len(data))]


def spliced(data: bytes, random: Random, sound: tuple[bytes, ...]) -> bytes:
    """It goes on as another one."""
    other = random.choice(sound)
    return data[: random.randrange(len(data))] + other[random.randrange(len(other)) :]


def lines(data: bytes, random: Random, _sound: tuple[bytes, ...]) -> bytes:
    """Lines are lost, doubled or moved."""
    held = data.splitlines(keepends=True)
    one, other = sorted(random.randrange(len(held)) for _ in range(2))
    ways = (
        held[:one] + held[one + 1 :],
        held[:one] + held[other:],
        [*held[:other], held[one], *held[other:]],
        [*held[:one], held[other], *held[one + 1 :]],
        held + held[one:other],
    )
    return b"".join(random.choice(ways))


def number(data: bytes, random: Random, _sound: tuple[bytes, ...]) -> bytes:
    """A number is another one, or none."""
    found = [*_NUMBER.finditer(data)]
    if not found:
        return data
    match = random.choice(found)
    others = (b"0", b"255", b"65536", b"0xffffffffffffffff", b"18446744073709551615", b"-1", b"nan", b"", b"9" * 4000, b"f" * 16)
    return data[: match.start()] + random.choice([*others, random.choice(found)[0]]) + data[match.end() :]


def hostile_words(data: bytes, random: Random, _sound: tuple[bytes, ...]) -> bytes:
    """Something stands in it that means something elsewhere."""
    hostile = (
        b'"',
        b"'",
        b"#",
        b"[1]",
        b"(",
        b"<script>alert(1)</script>",
        b"\0",
        b"\x1b[31m",
        b"\xff\xfe",
        b"a" * 5000,
        b"\r",
        b"{}",
    )
    place = random.randrange(len(data))
    return data[:place] + random.choice(hostile) + data[place:]
