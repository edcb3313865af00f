"""Columns of LDMS's Lustre schemas: which counter of which target each one holds.

The samplers `lustre_ost`, `lustre_mdt` and `lustre_client` (and the first two for jobs) have a row a target, with the target
in a column and an operation's count under its name, its sum under that name with `.sum`, or with `_sum` for jobs. The
older `lustre2_oss`, `lustre2_mds` and `lustre2_client` have a row a host, with the target in the column's name and a sum
where Lustre has one, otherwise a count. Names do not say which of both it is: only bytes are known to be sums.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_TARGETS: Final = {"ost": "ost", "mdt": "mdt", "llite": "client"}
# What samplers say of a row, besides its target.
_ABOUT: Final = frozenset(
    "Time Time_msec Time_usec ProducerName component_id job_id app_id fs_name snapshot_time start_time elapsed_time".split()
)
_BYTES: Final = ("read_bytes", "write_bytes")
_PAGES: Final = ("brw_read", "brw_write")
_OPERATIONS: Final = frozenset(
    (
        "read_bytes write_bytes read write brw_read brw_write open close mknod link unlink symlink mkdir rmdir rename "
        "samedir_rename crossdir_rename parallel_rename_file parallel_rename_dir getattr setattr getxattr getxattr_hits setxattr "
        "listxattr removexattr statfs sync fsync create destroy punch prealloc fallocate migrate get_info set_info quotactl "
        "connect reconnect disconnect preprw commitrw ping ioctl mmap page_fault page_mkwrite seek readdir truncate flock "
        "alloc_inode inode_permission dirty_pages_hits dirty_pages_misses"
    ).split()
)
_SAMPLES, _AMOUNT = "samples", "amount"
_ENDINGS: Final = {"_samples": _SAMPLES, "_usecs": _AMOUNT, ".sum": _AMOUNT, "_sum": _AMOUNT}
_WIDE: Final = re.compile(r"(?:\w+\.)*(?:lstats|md_stats)\.(?P<counter>[\w.]+)#(?P<kind>ost|llite|osc)\.(?P<target>.+)")
_WIDE_KINDS: Final = {"ost": "ost", "llite": "client", "osc": "client"}


@dataclass(frozen=True, slots=True)
class Columns:
    """A counter, and the columns that hold it.

    Attributes:
        counter: its name, as `job_stats` has it.
        unit: what its amount counts.
        samples: column of how often something was counted, None without one.
        amount: column of the sum of what was counted, None without one.
        target: the target, None where a column has it.
        target_kind: its kind.
    """

    counter: str
    unit: str
    samples: str | None
    amount: str | None
    target: str | None
    target_kind: str

    @property
    def columns(self) -> list[str]:
        """The columns of numbers."""
        return [column for column in (self.samples, self.amount) if column]


@dataclass(frozen=True, slots=True)
class Schema:
    """What the columns under one header mean.

    Attributes:
        target: column of the target, None where the columns' names have it.
        is_of_jobs: whether rows are of jobs, with their ids in `job_id`.
        counters: empty where the schema has nothing to do with Lustre.
        left_out: columns that are no counters, or unknown ones.
    """

    target: str | None
    is_of_jobs: bool
    counters: Sequence[Columns]
    left_out: Sequence[str]


def schema_of(names: Sequence[str]) -> Schema:
    """The meaning of columns, by their names."""
    target = next((name for name in _TARGETS if name in names), None)
    numbers = [name for name in names if name not in _ABOUT and name != target]
    counters = _tall(numbers, _TARGETS[target]) if target else _wide(numbers)
    used = {column for counter in counters for column in counter.columns}
    # Clients have the job that runs there in `job_id`, servers the one that a row is of.
    is_of_jobs = target in ("ost", "mdt") and {"job_id", "snapshot_time"}.issubset(names)
    return Schema(target, is_of_jobs, counters, [name for name in numbers if name not in used])


def _tall(names: Sequence[str], kind: str) -> list[Columns]:
    columns = {_split(name): name for name in reversed(names)}
    # Where bytes have no count of their own, it is that of the operation.
    return [
        Columns(
            counter=operation,
            unit=_unit(operation, (operation, _AMOUNT) in columns),
            samples=columns.get((operation, _SAMPLES)) or columns.get((operation.removesuffix("_bytes"), _SAMPLES)),
            amount=columns.get((operation, _AMOUNT)),
            target=None,
            target_kind=kind,
        )
        for operation in dict.fromkeys(_split(name)[0] for name in names)
        if operation in _OPERATIONS
    ]


def _split(name: str) -> tuple[str, str]:
    """The operation of a column, and what the column holds of it."""
    if name in _BYTES:
        return name, _AMOUNT
    for ending, what in _ENDINGS.items():
        if name.endswith(ending):
            return name.removesuffix(ending), what
    return name, _SAMPLES


def _unit(operation: str, has_amount: bool) -> str:
    if operation in _BYTES:
        return "bytes"
    return "reqs" if not has_amount else "pages" if operation in _PAGES else "usecs"


def _wide(names: Sequence[str]) -> list[Columns]:
    found = [(name, match) for name in names if (match := _WIDE.fullmatch(name)) and match["counter"] in _BYTES]
    return [Columns(match["counter"], "bytes", None, name, match["target"], _WIDE_KINDS[match["kind"]]) for name, match in found]
