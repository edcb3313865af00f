"""Files beside IOR's outputs that have no run of their own: recognised, so that a folder of IO500 gives no rejects for them."""

import re
from functools import partial
from typing import Final

from iomine.sources.model import Input, Readings, Source
from iomine.units import KIB

_HEAD_BYTES: Final = 64 * KIB
_SHAPES: Final = {
    rb"\A(?:IO500 version |\[RESULT\] )": "it is the score of IO500, and the runs are in outputs beside it",
    rb"^\[ior-(?:easy|hard)(?:-write)?\][ \t]*\r?$": "it is IO500's settings or score, and the runs are in outputs beside it",
    rb"^mdtest-\S{1,40} was launched with \d": "it is the output of mdtest",
    rb"\Aaccess,rank,runtime-with-openclose,runtime,": "it is IOR's times of processes, and the run is in the output beside it",
    rb"\Atime,runtime,tp\r?$": "it is IOR's times of requests, and the run is in the output beside it",
    rb'\A\{"DATA":\{"type":"Site",': "it is IO500's description of a site",
}


def _looks(shape: bytes, source: Input) -> bool:
    return bool(re.search(shape, source.data[:_HEAD_BYTES], re.MULTILINE))


def _read(what: str, _source: Input) -> Readings:
    return Readings(doubt=f"{what}: nothing of it is kept")


BESIDE: Final = tuple(Source("io500", partial(_looks, shape), partial(_read, what)) for shape, what in _SHAPES.items())
