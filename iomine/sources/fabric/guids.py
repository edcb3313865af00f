"""GUIDs: 16 hex digits in tables, numbers of 64 bits within the readers."""

import re
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Guids = npt.NDArray[np.uint64]

# The form in which infiniband-diags names a device: what it is, and its guid.
NAMED: Final = re.compile(r"([SHR])-([0-9a-fA-F]{16})")
_IN_PATH: Final = re.compile(r"(?<![0-9a-fA-F])0x([0-9a-fA-F]{16})(?![0-9a-fA-F])")


def guid_text(guid: int) -> str:
    """A guid as tables have it."""
    return f"{guid:016x}"


def guid_texts(guids: Guids) -> Any:  # noqa: ANN401
    """Guids as a column of tables, NULL for 0, which no device has."""
    distinct, index = np.unique(guids, return_inverse=True)
    texts = pa.array([guid_text(guid) if guid else None for guid in distinct.tolist()], pa.string())
    return texts.take(pa.array(index.ravel()))


def guid_column(texts: Iterable[bytes | None]) -> Guids:
    """Guids from hex digits, at most 16; 0 where there are none."""
    return np.fromiter((int(text or b"0", 16) for text in texts), np.uint64)


def guid_in_path(path: str) -> str | None:
    """The guid that a path names as `0x` and 16 digits, None where it names none or several."""
    named = {guid.lower() for guid in _IN_PATH.findall(path)}
    return named.pop() if len(named) == 1 else None
