"""Blocks of pages, read back."""

import base64
import gzip
import json
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]


def unpacked(block: bytes) -> tuple[dict[str, Any], Arrays]:
    """What a block says, and its arrays."""
    data = gzip.decompress(block)
    at = 4 + int.from_bytes(data[:4], "little")
    about, arrays = json.loads(data[4:at]), Arrays()
    for each in about.pop("arrays"):
        at += -at % 8
        array = arrays[each["name"]] = np.frombuffer(data, np.dtype(each["type"]).newbyteorder("<"), each["length"], at)
        at += array.nbytes
    assert at == len(data)
    return about, arrays


def text_unpacked(text: str | bytes) -> tuple[dict[str, Any], Arrays]:
    """The same of a block as Base64."""
    return unpacked(base64.b64decode(text))


def columns_of(block: bytes) -> Arrays:
    """Columns of a block of rows, whose split columns have the lowest bytes of all numbers first, then the next ones."""
    about, columns = unpacked(block)
    for name, kind in about["split"].items():
        planes = columns[name].reshape(np.dtype(kind).itemsize, -1)
        columns[name] = np.stack(list(planes), axis=1).ravel().view(np.dtype(kind).newbyteorder("<"))
    return columns
