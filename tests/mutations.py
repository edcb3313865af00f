"""Ways to damage an input by chance that fit any format."""

from random import Random


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
