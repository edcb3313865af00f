"""What readers say of what they left out or do not trust."""


def joined(*doubts: str) -> str:
    """Doubts as one sentence, empty where there are none."""
    return "; ".join(doubt for doubt in doubts if doubt)


def counted(count: int, what: str) -> str:
    """A number of things that something happened to, empty where there are none."""
    return f"{count:,} {what}" if count else ""


def complete_lines(data: bytes) -> tuple[bytes, str]:
    """The lines that have an end, and a doubt where the last has none: a file that is still written to ends anywhere."""
    end = data.rfind(b"\n") + 1
    return data[:end], "" if end == len(data) else "the last line has no end and was left out"
