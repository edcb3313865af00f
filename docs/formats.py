"""The tables of docs/formats.md: what each format of logs and traces says, taken from the mapping by which it is read."""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from iomine.derive import counters, traces
from iomine.schema.legacy import ABSENT, CAVEATS, SOURCES, columns
from iomine.schema.ops import OtherCalls
from iomine.sources.darshan import LAYOUTS
from iomine.sources.traced import CALLS, KINDS, Requests, segments_of

_INTRO: Final = """\
All of these formats are read into the same tables, so every view, trigger, report and mail covers them. What a format does not
say is NULL, never zero, and what depends on it is `unknown`, with the input that would answer. `logs.source_format` says what a
row came from, and `core.module` has notes on each module of a log.

| | Darshan 3.00 to 3.41 | 2.03 to 2.06 | 2.00 to 2.02 | 1.21 to 1.24 | DFTracer | Recorder as Parquet |
|---|---|---|---|---|---|---|
| user and job | yes | yes | yes | yes; the job from the file's name | no | no |
| when the run was | yes | yes | yes | yes | yes | no: its night is when the folder was written |
| when calls were made | first and last; DXT each | first and last | no | no | each | each, as 32-bit floats |
| requests one by one | with DXT | no | no | no | yes | yes, without offsets |
| bytes | of each layer | of POSIX and stdio together | as 2.03 | as 2.03 | as calls returned | as calls asked for |
| MPI-IO | yes | calls, sizes in bins, times; no bytes | as 2.03 | as 2.03 | no | no |
| HDF5, PnetCDF | yes | opens | opens | opens, from 1.22 on | no | no |
| paths | whole | last 15 characters | last 15 | last 11 | whole | whole |
| mounts | yes | yes | yes | from 1.23 on | no | no |
| Lustre layouts, heat maps | where Darshan has them | no | no | no | no | no |
| steps above calls (`app_phase`) | no | no | no | no | yes | no |

Rejected, with a sentence that says what to do: Darshan 1.0 to 1.20, which Darshan's own tools of that time refused too; folders
in Recorder's own format, which `recorder2parquet` converts; OTF2 archives."""
_LEGACY: Final = """\
## Darshan 1.21 to 2.06

A file has one record in a log, for all layers together. It becomes a row of each table whose calls are not zero. Bytes, sizes,
offsets and times of POSIX and stdio are one sum. They are in the table of the layer that was used. If both layers were used, they
are in `posix_file`, `stdio_file` has its calls alone, and both modules are marked. Independent and collective opens of PnetCDF
are added.

A rank that opened more than 1,024 files has one record for all of them. It keeps counts, bytes, bins and durations. Columns that
have no meaning as a sum are NULL, and the module is marked. In 32-bit programs, as on Blue Gene/P, offsets beyond 2 GiB were
recorded as lower ones. So a highest offset between 1 and 2 GiB is NULL if more than 2 GiB were moved, and the module says
for how many records."""
_TRACES: Final = """\
## DFTracer and Recorder

`posix_file` and `stdio_file` are worked out from requests and calls, by the rules by which Darshan counts while a program runs;
`core.module` says so. A process of DFTracer counts as a rank, in the order of process ids. The calls in this table count; others
are left out."""


def formats_page(made: str) -> str:
    """The text of docs/formats.md.

    Args:
        made: the line that says that it is made.
    """
    return "\n".join(
        (
            *("# What each format says", "", made, "", _INTRO, "", _LEGACY, "", *_caveats(), ""),
            *(line for module in SOURCES for line in _legacy(module)),
            *(_TRACES, "", *_calls(), "", *_unseen(), ""),
        )
    )


def _caveats() -> Iterator[str]:
    yield "| formats | modules | what is to be known |"
    yield "|---|---|---|"
    for each in CAVEATS:
        formats = each.first if each.first == each.last else f"{each.first} to {each.last}"
        yield f"| {formats} | {', '.join(each.modules)} | {each.text} |"


def _legacy(module: str) -> Iterator[str]:
    """Rows of the columns of a module's table, by the first format that has them."""
    of_first: dict[str | None, list[str]] = {}
    for name, source in columns(module, max(ABSENT)).items():
        first = next((version for version in sorted(ABSENT) if columns(module, version).get(name)), None)
        of_first.setdefault(first, []).append(f"`{name}`" if source is None else f"`{name}` (CP_{source})")
    yield from (f"### {LAYOUTS[module].table}", "", "| known | columns, with the counter that each is taken from |", "|---|---|")
    for first in sorted(of_first, key=lambda version: version or "never"):
        known = "never" if first is None else "always" if first == min(ABSENT) else f"from {first} on"
        yield f"| {known} | {', '.join(of_first[first])} |"
    yield ""


def _calls() -> Iterator[str]:
    yield "| layer | call | functions |"
    yield "|---|---|---|"
    for layer, kinds in CALLS.items():
        for kind in dict.fromkeys(kinds.values()):
            yield f"| {layer} | {kind} | {', '.join(f'`{name}`' for name, each in kinds.items() if each == kind)} |"


def _unseen() -> Iterator[str]:
    """A table of the columns that are never known, and of those that are unknown without offsets."""
    yield "| table | never known | not known where an offset of that direction is not |"
    yield "|---|---|---|"
    for layer in CALLS:
        never = _unknown(layer, offset=0)
        without_offsets = _unknown(layer, offset=-1)
        rest = [name for name in without_offsets if name not in never]
        yield f"| {layer}_file | {', '.join(f'`{name}`' for name in never)} | {', '.join(f'`{name}`' for name in rest)} |"


def _unknown(layer: str, offset: int) -> Mapping[str, object]:
    """The unknown columns of the record of a file that one rank read and wrote."""
    one, nothing = np.zeros(2, np.int64), np.empty(0, np.int64)
    requests = Requests(one, one, np.arange(2), one + offset, one + 1, one * 0.0, one + 1.0)
    calls = OtherCalls(layer, nothing, nothing, nothing, KINDS[layer], nothing * 0.0, nothing * 0.0)
    parts = traces({"segment": [segments_of(layer, requests, {0: ""})]})
    record = counters(parts, [calls], 1)[f"{layer}_file"]
    return {name: values for name, values in record.items() if values[0].as_py() == -1}
