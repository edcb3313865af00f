import pytest

from iomine.units import GIB, KIB, MIB, bytes_of, fine_seconds, human_bytes, human_seconds


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (KIB, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (-1536, "-1.5 KiB"),
        (5 * MIB, "5.0 MiB"),
        (3 * GIB // 2, "1.5 GiB"),
        (KIB**5, "1.0 PiB"),
        (5000 * KIB**6, "5000.0 EiB"),
    ],
)
def test_bytes(count: int, text: str) -> None:
    """A count of bytes is written in the largest binary unit that leaves at least one of it, EiB being the last."""
    assert text == human_bytes(count)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("512", 512),
        ("512 b", 512),
        ("4GiB", 4 * GIB),
        ("4g", 4 * GIB),
        (" 1.5 MiB ", 3 * MIB // 2),
        ("512MB", 512_000_000),
        ("1 kB", 1000),
        ("2TiB", 2048 * GIB),
    ],
)
def test_bytes_as_people_write_them(text: str, expected: int) -> None:
    """Units of thousands differ from units of 1,024; one character alone means the latter."""
    assert expected == bytes_of(text)


@pytest.mark.parametrize("text", ["", "GiB", "-1", "1e9", "4 GiB per core", "1,5GB", "4 pounds", "٤GB"])
def test_what_is_no_number_of_bytes(text: str) -> None:
    """Anything else is refused, with what to write instead."""
    with pytest.raises(ValueError, match="write it as 512MB or 4GiB"):
        bytes_of(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 s"),
        (0.04, "0.0 s"),
        (59.9, "59.9 s"),
        (60, "1 min 00 s"),
        (3599.9, "59 min 59 s"),
        (3600, "1 h 00 min"),
        (3723, "1 h 02 min"),
        (47 * 3600 + 3599, "47 h 59 min"),
        (48 * 3600, "2 d 00 h"),
        (100 * 86400 + 5 * 3600, "100 d 05 h"),
    ],
)
def test_seconds(seconds: float, text: str) -> None:
    """A duration is written in its two largest units, the smaller one cut, never rounded up to a whole larger one."""
    assert text == human_seconds(seconds)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0.0 s"), (1.9e-6, "1.9 µs"), (9.5e-5, "95 µs"), (1e-4, "0.0001 s"), (0.0123, "0.012 s"), (2.5, "2.5 s")],
)
def test_fine_durations(seconds: float, text: str) -> None:
    """Below a second two digits are written, and no exponent."""
    assert text == fine_seconds(seconds)
