"""Blocks of numbers that pages hold: gzip of a JSON text and of arrays, as `client/src/blocks.ts` reads them.

A block is the length of the text in four bytes, the text, and the arrays in the text's order, each from a multiple of eight bytes
on.
"""

import base64
import gzip
import json
import struct
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

# Above, files hardly shrink.
_GZIP_LEVEL: Final = 6


def block_text(about: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], level: int = _GZIP_LEVEL) -> str:
    """A block as Base64, so that no text of a log can end it; otherwise as `block`."""
    return base64.b64encode(block(about, arrays, level)).decode()


def block(about: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], level: int = _GZIP_LEVEL) -> bytes:
    """A block, packed without the time: the same numbers give the same bytes.

    Args:
        about: what JSON can say.
        arrays: by name; whole numbers of up to 32 bits, or floats.
        level: of gzip; a low one where somebody waits.
    """
    listed = [{"name": key, "type": array.dtype.name, "length": len(array)} for key, array in arrays.items()]
    text = json.dumps({**about, "arrays": listed}, allow_nan=False, separators=(",", ":")).encode()
    pieces = [struct.pack("<I", len(text)), text]
    at = 4 + len(text)
    for array in arrays.values():
        raw = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        pieces += [bytes(-at % 8), raw]
        at += -at % 8 + len(raw)
    return gzip.compress(b"".join(pieces), level, mtime=0)


def block_script(name: str, about: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], level: int = _GZIP_LEVEL) -> bytes:
    """A script that does nothing but name a block, which a page from a file can load too."""
    named = block_text(about, arrays, level)
    return f"(globalThis.iomineBlocks??={{}})[{json.dumps(name)}]={json.dumps(named)};".encode()
