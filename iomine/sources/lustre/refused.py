"""Texts of Lustre that hold nothing to keep: they are known, so that a reject says what they are."""

import re
from functools import partial
from typing import Final, NoReturn

from iomine.errors import UnreadableError
from iomine.sources.lustre.parameters import KEPT, name_in_tree, parameter
from iomine.sources.lustre.shapes import kind_of
from iomine.sources.model import Input, Source

_HEAD_BYTES: Final = 1 << 16
_GETSTRIPE: Final = rb"^\s{0,8}(?:lmm_stripe_count|lcm_layout_gen|lcm_entry_count|stripe_count):|^\s{0,8}obdidx\s+objid"
_LNETCTL: Final = (
    rb"\A(?:net|peer|route|routing|statistics|global|tunables|numa|udsp|buffers|discovery):[ \t]*\r?\n"
    rb"[ \t]{1,16}(?:- )?[a-z][a-z_ ]{0,40}:"
)


def _looks(shape: bytes, source: Input) -> bool:
    return bool(re.search(shape, source.data[:_HEAD_BYTES], re.MULTILINE))


def _refuse(what: str, _source: Input) -> NoReturn:
    raise UnreadableError(what)


def _is_left_out(source: Input) -> bool:
    name = name_in_tree(source.path)
    return bool(name) and (parameter(name) is None or not kind_of(source.data))


def _refuse_parameter(source: Input) -> NoReturn:
    kept = ", ".join(KEPT)
    raise UnreadableError(
        f"it is Lustre's parameter {name_in_tree(source.path)}; iomine keeps {kept} of targets and clients only"
    )


def _refused(kind: str, shape: bytes, what: str) -> Source:
    return Source(kind, partial(_looks, shape), partial(_refuse, f"it is {what}, which iomine does not keep"))


PARAMETER: Final = Source("parameter", _is_left_out, _refuse_parameter)
REFUSED: Final = (
    _refused("lfs_getstripe", _GETSTRIPE, "lfs getstripe, layouts of files"),
    _refused("lnetctl", _LNETCTL, "lnetctl, the state of the network"),
)
