"""Which host an adapter is in, and what kind of device it is, as its description says."""

import re
from typing import Final

# Texts of people's making are cut: InfiniBand has 64 bytes for a description.
MOST_CHARACTERS: Final = 256
# rdma-ndd writes the host's name and the device's, or the number of the adapter.
_DEVICES: Final = (
    r"HCA-\d{1,3}|(?:mlx[45]|mthca|hfi1|qib|ipath|hns|irdma|bnxt_re|ibp|ib|opap|ibs|rocep)_?[0-9a-z]{1,20}(?:_bond_\d{1,3})?"
)
_NAME: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?"
_HOST: Final = re.compile(rf"({_NAME})(?:\.[A-Za-z0-9.-]{{1,190}})?(?: +(?:{_DEVICES}))?", re.ASCII)
_NO_HOST: Final = re.compile(r"(?:localhost|localdomain|MT\d{4,6}\w*|ConnectX.*|\d+|[SHR]-[0-9a-f]{16})", re.IGNORECASE)
_AGGREGATION: Final = re.compile(r"\bAggregation Node\b", re.IGNORECASE)


def host_of(description: str) -> str | None:
    """The host that an adapter's description names, without its domain; None where it names none."""
    match = _HOST.fullmatch(description.strip())
    return match[1] if match and not _NO_HOST.fullmatch(match[1]) else None


def is_aggregation(description: str) -> bool:
    """Whether an adapter is one of a switch's own, which SHARP sums up in, and so no host."""
    return bool(_AGGREGATION.search(description))


def description_of(raw: bytes) -> str:
    """A description as text that can be stored and seen, cut where nobody would read on."""
    return raw.strip().decode("utf-8", "backslashreplace").replace("\0", "\\x00")[:MOST_CHARACTERS]
