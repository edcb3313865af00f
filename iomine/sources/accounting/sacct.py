"""What `sacct -P` and `sacct -p` print: a line for each job and step, with a header that names the columns.

Open XDMoD collects the same without a header, in an order of its own. Values are not quoted, so a job's name may hold the
delimiter; the columns to its left and right, which cannot, show where it ends. Where several columns may hold it, the format of
the others decides which one does; otherwise the columns between them are NULL.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from iomine.errors import UnreadableError
from iomine.sources.accounting.ledger import Ledger
from iomine.sources.accounting.lines import batches, head_of
from iomine.sources.model import Input, Readings, Source

# A line of it where the header was left out.
_BARE_LINE: Final = re.compile(r"\s*\d{1,19}[_+.\w]{0,64}\|(?:[^|\n]{0,4096}\|){1,99}?\d{4}-\d\d-\d\dT[\d:]{8}\|", re.ASCII)
# Columns of sacct that a column of ours is read from; the first that is there counts.
_SOURCES: Final[Mapping[str, Sequence[str]]] = {
    "shown_job_id": ("jobid", "jobidraw"),
    "cluster": ("cluster",),
    "job_name": ("jobname",),
    "user": ("user",),
    "uid": ("uid",),
    "account": ("account",),
    "partition": ("partition",),
    "qos": ("qos",),
    "job_state": ("state",),
    "exit_code": ("exitcode",),
    "submit_at": ("submit",),
    "start_at": ("start",),
    "end_at": ("end",),
    "run_seconds": ("elapsedraw", "elapsed"),
    "limit_seconds": ("timelimit", "timelimitraw"),
    "node_count": ("nnodes", "allocnodes"),
    "core_count": ("ncpus", "alloccpus"),
    "tres": ("alloctres",),
    "node_list": ("nodelist",),
}
_IDS: Final = frozenset({"jobid", "jobidraw"})
_TIMES: Final = frozenset({"submit", "start", "end"})
_XDMOD: Final = (
    "jobid jobidraw cluster partition qos account group gid user uid submit eligible start end elapsed exitcode state "
    "nnodes ncpus reqcpus reqmem reqtres alloctres timelimit nodelist jobname".split()
)
_WHEN: Final = r"(?:\d{4}-\d\d-\d\dT[\d:]{8}|\d{9,10}|Unknown|None|)"
_XDMOD_LINE: Final = re.compile(rf"^\d[^|\n]*\|\d+\|(?:[^|\n]*\|){{8}}(?:{_WHEN}\|){{4}}", re.MULTILINE | re.ASCII)
# Columns whose texts users make up, and those that Slurm joins with `|`.
_FREE: Final = frozenset(
    "jobname comment admincomment systemcomment constraints container extra licenses reason stderr stdin stdout submitline "
    "wckey workdir".split()
)
# How words of columns look that users do not make up.
_LOOKS: Final = {
    name: re.compile(look, re.ASCII)
    for names, look in (
        ("jobid jobidraw", r"\d+\S*"),
        ("submit eligible start end", rf"{_WHEN}[+\-Z\d:]*"),
        ("uid gid elapsedraw nnodes ncpus alloccpus allocnodes reqcpus", r"\d*[KM]?"),
        ("elapsed timelimit", r"(?:\d+-)?[\d:]*|[A-Za-z_]+"),
        ("exitcode derivedexitcode", r"(?:\d+:\d+)?"),
        ("state", r"[A-Z_]+(?: by \d+)?"),
        ("alloctres reqtres", r"(?:[\w/:-]+=[\w.]+,?)*+"),
    )
    for name in names.split()
}
_HEADER: Final = re.compile(r"[A-Za-z]+(?P<delimiter>\s+|[^A-Za-z0-9]{1,16})[A-Za-z]")
# Values hold these too.
_IN_VALUES: Final = frozenset(",:-.=/+_[]()%*")
_STEP: Final = r"(?:\.(?P<step>[\w+]{1,32}))?"
_RAW_ID: Final = rf"^(?P<job_id>\d{{1,19}}){_STEP}$"
# An array's tasks and the later parts of a heterogeneous job are shown by other numbers than those that logs carry.
_SHOWN_ID: Final = rf"^(?P<job_id>\d{{1,19}}(?:_(?:\d{{1,9}}|\[[^\]]*\]?)|\+[1-9]\d{{0,8}})?)(?:\+0)?{_STEP}$"


@dataclass(frozen=True, slots=True)
class _Layout:
    """How lines fall into columns.

    Attributes:
        names: sacct's names of the columns, in lower case; a delimiter at the end makes one without a name.
        delimiter: what stands between them.
    """

    names: Sequence[str]
    delimiter: str = "|"

    @property
    def free(self) -> list[int]:
        """Columns that may hold the delimiter."""
        return [index for index, name in enumerate(self.names) if name in _FREE]

    def is_header(self, line: str) -> bool:
        """Whether a line is the header, which is there again where files were joined."""
        return line.lower().split(self.delimiter) == self.names

    def cells(self, line: str) -> Sequence[str | None] | None:
        """Cells of a line that holds more delimiters than the header, None where it does not, or none may.

        The delimiters belong to the only column that may hold them, or to the one with which all others have their format.
        Otherwise the cells of the columns between those that may hold them are None.
        """
        ways = {at: cells for at in self.free if (cells := self._held_by(at, line))}
        if len(ways) > 1:
            ways = {at: cells for at, cells in ways.items() if self._is_sound(cells)} or ways
        if len(ways) <= 1:
            return next(iter(ways.values()), None)
        first, after = min(ways), max(ways) + 1
        return [*ways[first][:first], *[None] * (after - first), *ways[first][after:]]

    def _held_by(self, at: int, line: str) -> Sequence[str] | None:
        """Cells where one column holds all delimiters that are too many."""
        after = len(self.names) - at - 1
        *left, rest = line.split(self.delimiter, at)
        cell, *right = rest.rsplit(self.delimiter, after)
        return [*left, cell, *right] if (len(left), len(right)) == (at, after) else None

    def _is_sound(self, cells: Sequence[str]) -> bool:
        return all(_LOOKS[name].fullmatch(cell) for name, cell in zip(self.names, cells, strict=True) if name in _LOOKS)


class _Cells:
    """Lines of a batch, split.

    Attributes:
        rows: index of each line that has cells, in order.
        unfit: indices of the others.
        unread: indices of lines with cells that are None.
    """

    def __init__(self, layout: _Layout, lines: Sequence[str]) -> None:
        self._layout = layout
        split = pc.split_pattern(pa.array(lines, pa.string()), layout.delimiter)
        is_whole = pc.equal(pc.list_value_length(split), len(layout.names)).to_numpy(zero_copy_only=False)
        if len(layout.delimiter) > 1 and len(layout.free) == 1:
            # A name may end with a part of the delimiter, and then the split from the left alone is wrong.
            is_whole[:] = False
        self._flat = split.filter(pa.array(is_whole)).flatten()
        mended = {row: layout.cells(lines[row]) for row in np.flatnonzero(~is_whole).tolist()}
        self._mended = [cells for cells in mended.values() if cells is not None]
        self.unfit = [row for row, cells in mended.items() if cells is None]
        self.unread = [row for row, cells in mended.items() if cells is not None and None in cells]
        rows = np.append(np.flatnonzero(is_whole), [row for row, cells in mended.items() if cells is not None]).astype(np.int64)
        self._order = np.argsort(rows)
        self.rows = rows[self._order]

    def __getitem__(self, name: str) -> pa.Array:
        """The cells of one of sacct's columns."""
        at, width = self._layout.names.index(name), len(self._layout.names)
        whole = self._flat.take(pa.array(np.arange(at, len(self._flat), width)))
        if not self._mended:
            return whole
        return pa.concat_arrays([whole, pa.array([cells[at] for cells in self._mended], pa.string())]).take(pa.array(self._order))

    def columns(self) -> dict[str, pa.Array]:
        """The cells by our names of the columns, without the number of the job."""
        there = {ours: next((name for name in names if name in self._layout.names), None) for ours, names in _SOURCES.items()}
        found = {ours: self[name] for ours, name in there.items() if name}
        if there["limit_seconds"] == "timelimitraw":
            found["limit_seconds"] = pc.replace_substring_regex(found["limit_seconds"], r"^(\d+)$", r"\1:00")
        return found


def _header(head: str) -> _Layout | None:
    """The layout that a first line gives, None where it is no header of sacct's."""
    line = head.lstrip().partition("\n")[0].rstrip(" \r")
    match = _HEADER.match(line)
    delimiter = match["delimiter"] if match else "|"
    # Tabs, and the separators of ASCII, which no name holds, are delimiters like others.
    if not delimiter.strip(" "):
        # Columns of a fixed width are underlined.
        delimiter, line = (" ", " ".join(line.split())) if re.search(r"\n *-+ +-", head) else ("|", "")
    names = line.lower().split(delimiter)
    is_header = all(name.isalpha() or not name for name in names) and not _IDS.isdisjoint(names)
    return _Layout(names, delimiter) if is_header else None


def _knows(source: Input) -> bool:
    head = head_of(source.data)
    return bool(_header(head) or _XDMOD_LINE.search(head) or _BARE_LINE.match(head))


def _read(source: Input) -> Readings:
    head = head_of(source.data)
    layout = _header(head)
    if not layout and not _XDMOD_LINE.search(head):
        raise UnreadableError("This sacct output lacks the line that names its columns: run sacct without --noheader.")
    layout = layout or _Layout(_XDMOD)
    if layout.delimiter == " " or layout.delimiter in _IN_VALUES:
        raise UnreadableError("The columns of this sacct output cannot be separated: run sacct with --parsable2.")
    if _TIMES.isdisjoint(layout.names):
        raise UnreadableError("This list of jobs has no times: run sacct with the columns Submit, Start and End too.")
    ledger = Ledger(source, "slurm")
    for first, lines in batches(source.data):
        _add(ledger, layout, first, lines)
    return ledger.readings()


def _add(ledger: Ledger, layout: _Layout, first: int, lines: Sequence[str]) -> None:
    cells = _Cells(layout, lines)
    for row in cells.unfit:
        if lines[row].strip():
            found = len(lines[row].split(layout.delimiter))
            ledger.left_out.add(first + row, f"it has {found} columns, not {len(layout.names)}")
    ids = (
        pc.extract_regex(cells["jobidraw"], _RAW_ID)
        if "jobidraw" in layout.names
        else pc.extract_regex(cells["jobid"], _SHOWN_ID)
    )
    is_known = pc.is_valid(ids).to_numpy(zero_copy_only=False)
    for row in cells.rows[~is_known].tolist():
        if not layout.is_header(lines[row]):
            ledger.left_out.add(first + row, "it has no job id")
    columns = cells.columns() | {name: pc.struct_field(ids, name) for name in ("job_id", "step")}
    is_job = pc.equal(columns["step"], "").fill_null(fill_value=False).to_numpy(zero_copy_only=False)
    if is_job.any():
        rows, jobs = cells.rows[is_job], _chosen(columns, is_job)
        ledger.add_jobs(first + rows, jobs | {"doubt": _doubts(jobs["job_id"], np.isin(rows, cells.unread))})
    if (is_step := is_known & ~is_job).any():
        ledger.add_steps(first + cells.rows[is_step], _chosen(columns, is_step))


def _chosen(columns: Mapping[str, pa.Array], mask: npt.NDArray[np.bool_]) -> dict[str, pa.Array]:
    return {name: column.filter(pa.array(mask)) for name, column in columns.items()}


def _doubts(job_ids: pa.Array, is_unread: npt.NDArray[np.bool_]) -> pa.Array:
    of_id = "without JobIDRaw, the job id that logs have is not known"
    of_line = "its line has more columns than the header, and it is not known which is too many"
    return pc.if_else(pa.array(is_unread), of_line, pc.if_else(pc.match_substring_regex(job_ids, "[_+]"), of_id, ""))


SACCT: Final = Source("sacct", _knows, _read)
