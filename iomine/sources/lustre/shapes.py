"""What a text of Lustre's looks like, by its beginning and never by a version."""

import re
from functools import lru_cache
from typing import Final

from iomine.sources.lustre.parameters import COUNTERS, HISTOGRAMS, JOB_STATS, KEPT

LCTL: Final = "lctl"
_HEAD_BYTES: Final = 1 << 16
_DEVICES: Final = "obdfilter|osd-[a-z]+|ost|mdt|mds|mdd|mgs|osc|osp|mdc|llite|lod|lov|lmv|lwp|ldlm|qmt|nodemap|fld|sptlrpc"
_OTHERS: Final = "memused|memused_max|lnet_memused|health_check"
_NAMES: Final = re.compile(rf"^((?:{_DEVICES})\.[!-<>-~]{{1,300}}|{_OTHERS})=".encode(), re.MULTILINE)
_SHAPES: Final = {
    JOB_STATS: rb"^job_stats:\s*$|^- job_id: ",
    COUNTERS[0]: rb"^snapshot_time +[0-9]|^[!-~]{1,64} +[0-9]+ samples \[",
    HISTOGRAMS[1]: rb"^pages per rpc  |^(?:modify|read)[ _]RPCs[ _]in[ _]flight: ",
    HISTOGRAMS[0]: rb"^[ -~]{1,64} +[a-z]+ +% cum % \|",
}


def leaf_of(data: bytes) -> str:
    """The parameter that a text without names looks like, such as job_stats; empty where it looks like none that is kept."""
    head = data[:_HEAD_BYTES]
    return next((leaf for leaf, shape in _SHAPES.items() if re.search(shape, head, re.MULTILINE)), "")


def kind_of(data: bytes) -> str:
    """The kind of a text: the parameter that it holds, on however many targets, `lctl` of several; empty of none."""
    return _kind_of_head(data[:_HEAD_BYTES])


# Each source of Lustre's asks it of the same text.
@lru_cache(maxsize=1)
def _kind_of_head(head: bytes) -> str:
    leaves = {name.rpartition(b".")[2].decode() for name in _NAMES.findall(head)}
    if not leaves:
        return leaf_of(head)
    return leaves.pop() if len(leaves) == 1 and leaves <= set(KEPT) else LCTL
