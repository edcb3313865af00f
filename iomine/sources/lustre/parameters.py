"""What a parameter of Lustre is about: which counters it holds, and of which target, by its name or its path."""

import re
from typing import Final, NamedTuple

JOB_STATS: Final = "job_stats"
COUNTERS: Final = ("stats", "md_stats")
HISTOGRAMS: Final = ("brw_stats", "rpc_stats")
KEPT: Final = (JOB_STATS, *COUNTERS, *HISTOGRAMS)

# Kinds of targets by the type of device; those of the object storage below targets are known by the target's name.
_DEVICES: Final = {"obdfilter": "ost", "mdt": "mdt", "mds": "mdt", "osc": "client", "mdc": "client", "llite": "client"}
_NAME: Final = re.compile(r"(?P<type>[a-z][a-z0-9-]*)\.(?P<device>[^.]+)\.(?:exports\.(?P<client>.+)\.)?(?P<leaf>[a-z_]+)")
_STORAGE: Final = "osd-"
# Names of devices of clients begin like those of targets.
_TARGET: Final = re.compile(
    r"(?<![A-Za-z0-9-])(?:[A-Za-z0-9]{1,8}-)?(?:OST|MDT)[0-9a-f]{4}(?![A-Za-z0-9])(?!-(?:osc|mdc|osp|lwp|mdtlov))"
)
_TREE: Final = re.compile(r"(?:^|/)(?:proc|sys)/(?:[^/]+/){1,4}?lustre/(.+)$")
_CLIENT: Final = re.compile(r"exports[/_.]([^/_@\s]{1,64}@[a-z][a-z0-9]*)")


class Parameter(NamedTuple):
    """What a parameter is about.

    Attributes:
        name: its name, as `lctl` has it; empty where only the path has it.
        leaf: the last part of its name, such as `job_stats`.
        source_kind: kind of the input: the leaf, or for clients `exports`, `osc`, `mdc` or `llite`.
        target: name of the target or of a client's device, empty where it is not known.
        target_kind: ost, mdt or client, empty where it is not known.
        scope: whom it counts for, job, client or target.
        owner: network id of the client, empty otherwise.
    """

    name: str
    leaf: str
    source_kind: str
    target: str
    target_kind: str
    scope: str
    owner: str


NOT_KEPT: Final = Parameter("", "", "", "", "", "", "")


def parameter(name: str) -> Parameter | None:
    """The parameter of that name, None where it is none that is kept."""
    match = _NAME.fullmatch(name)
    if not match or match["leaf"] not in KEPT:
        return None
    device, leaf, client = match["device"], match["leaf"], match["client"] or ""
    is_storage = match["type"].startswith(_STORAGE)
    kind = _kind_of(device) if is_storage else _DEVICES.get(match["type"], "")
    if not kind:
        return None
    source_kind = leaf
    if leaf in COUNTERS and (is_storage or kind == "client"):
        source_kind = "osd" if is_storage else match["type"]
    return _about(name, leaf, source_kind, (device, kind), client)


def parameter_of_path(path: str, leaf: str) -> Parameter | None:
    """The parameter that a file is a copy of, by its path; None where the path does not say, or it is not kept.

    Args:
        path: where it was; in a copy of /proc or /sys, and below a folder named as a type of device, its parts are those of
            the parameter's name.
        leaf: what the content looks like.
    """
    if name := name_in_tree(path):
        named = parameter(name)
        return named and named._replace(name="")
    folders = path.split("/")
    tops = [depth for depth, folder in enumerate(folders) if folder in _DEVICES or folder.startswith(_STORAGE)]
    named = parameter(".".join(folders[tops[-1] :])) if tops else None
    return named._replace(name="") if named else _plain(path, leaf)


def target_named(path: str) -> tuple[str | None, str | None]:
    """The target and the client that a path names, each None where it names none; whatever is kept there."""
    named = parameter_of_path(path, JOB_STATS)
    return (named.target or None, named.owner or None) if named else (None, None)


def name_in_tree(path: str) -> str:
    """The parameter's name that a path in a copy of /proc or /sys stands for, empty for any other path."""
    tree = _TREE.search(path)
    return tree[1].replace("/", ".") if tree else ""


def _plain(path: str, leaf: str) -> Parameter:
    targets = {match[0] for match in _TARGET.finditer(path)}
    target = targets.pop() if len(targets) == 1 else ""
    client = _CLIENT.search(path)
    leaf = "md_stats" if leaf == "stats" and "md_stats" in path else leaf
    kind = "mdt" if target and leaf == "md_stats" else _kind_of(target)
    return _about("", leaf, leaf, (target, kind), client[1] if client else "")


def _about(name: str, leaf: str, source_kind: str, target: tuple[str, str], client: str) -> Parameter:
    scope = "job" if leaf == JOB_STATS else "client" if client else "target"
    return Parameter(name, leaf, "exports" if client and leaf in COUNTERS else source_kind, *target, scope, client)


def _kind_of(target: str) -> str:
    match = re.search(r"(?:^|-)(OST|MDT)[0-9a-f]{4}$", target)
    return match[1].lower() if match else ""
