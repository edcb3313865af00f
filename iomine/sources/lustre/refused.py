"""Texts of Lustre that hold nothing to keep: they are known, so that a reject says what they are."""

from typing import Final, NoReturn

from iomine.errors import UnreadableError
from iomine.sources.lustre.parameters import KEPT, name_in_tree, parameter
from iomine.sources.lustre.shapes import kind_of
from iomine.sources.model import Input, Source
from iomine.sources.refused import refused

_GETSTRIPE: Final = rb"^\s{0,8}(?:lmm_stripe_count|lcm_layout_gen|lcm_entry_count|stripe_count):|^\s{0,8}obdidx\s+objid"
_LNETCTL: Final = (
    rb"\A(?:net|peer|route|routing|statistics|global|tunables|numa|udsp|buffers|discovery):[ \t]*\r?\n"
    rb"[ \t]{1,16}(?:- )?[a-z][a-z_ ]{0,40}:"
)
_NOT_KEPT: Final = ", which iomine does not keep"
_CHANGELOG: Final = rb"\A\d+ \d\d[A-Z_]{2,8} \d\d:\d\d:\d\d\.\d+ \d{4}\.\d\d\.\d\d "


def _is_left_out(source: Input) -> bool:
    name = name_in_tree(source.path)
    return bool(name) and (parameter(name) is None or not kind_of(source.data))


def _refuse_parameter(source: Input) -> NoReturn:
    kept = ", ".join(KEPT)
    raise UnreadableError(
        f"it is Lustre's parameter {name_in_tree(source.path)}; iomine keeps {kept} of targets and clients only"
    )


PARAMETER: Final = Source("parameter", _is_left_out, _refuse_parameter)
REFUSED: Final = (
    refused("lfs_getstripe", _GETSTRIPE, f"it is lfs getstripe, layouts of files{_NOT_KEPT}"),
    refused("lnetctl", _LNETCTL, f"it is lnetctl, the state of the network{_NOT_KEPT}"),
    refused("lfs_quota", rb"^Disk quotas for ", f"it is lfs quota{_NOT_KEPT}"),
    refused("lfs_changelog", _CHANGELOG, f"it is lfs changelog, single changes of files{_NOT_KEPT}"),
    refused(
        "llstat",
        rb"^\S+ @ \d+\.\d+\s*$|^Name +Cur\.Count ",
        "it is llstat, differences of counters; give the counters, which lctl get_param *.*.stats prints",
    ),
)
