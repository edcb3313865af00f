"""What gathering would change for a log, in words and as a picture: requests that forwarders leave, files n into m, and advice.

Forwarders are rare today. The same arithmetic is that of MPI-IO's aggregators, HDF5 subfiling and ADIOS2, which users can set.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from markupsafe import Markup

from iomine.units import MIB, counted, fine_seconds, human_bytes, visible
from iomine.views.answers import Row, Rows

# Gathering is advised from this many times fewer requests on; below the second number it is said not to help.
WORTH_RATIO: Final = 4.0
VAIN_RATIO: Final = 1.5
# Windows that are drawn: collective calls, whose window is not known in seconds, and the longest.
_DRAWN: Final = (None, 1.0)
# Windows decide if the numbers of requests that they leave differ by this factor.
_DECIDES_RATIO: Final = 2.0
_BUFFER_BYTES: Final = 4 * MIB
# What an index holds of each block: file, offset and length.
_INDEX_BYTES: Final = 24
# Ranks to a forwarder: on the machines of the IOFSL paper, and in its largest run.
_RANKS_TO_ONE: Final = (12, 298)
_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
# Fewer files burden nobody.
_FEWEST_FILES: Final = 100
_MOST_DRAWN: Final = 2
_CUT: Final = 64
# Of a panel of the picture: its width, where bars stand and end, how wide they are, and what is between panels.
_WIDTH, _LEFT, _TOP, _BASE, _BAR, _LEAST_BAR, _GAP = 460, 76, 48, 190, 30, 1.5, 40
_THOUSAND, _LONG = 1000, 9_950
# What took less was not timed.
_SHORTEST_SECONDS: Final = 1e-9
_MAPPINGS: Final = {"host": "hosts", "aggregators": "MPI-IO's", "blocks": ""}


def groups_of(rows: Rows) -> list[Rows]:
    """Rows by what is gathered, those with most requests first.

    Args:
        rows: of the table `coalescing`, of one log and layer.
    """
    found = [list(group) for _, group in groupby(sorted(rows, key=_key), key=_key)]
    return sorted(found, key=lambda group: (-group[0]["request_count"], _key(group[0])))


def _key(row: Row) -> tuple[str, ...]:
    return row.get("log_id") or "", row["layer"], row["mount"] or "", row["access"], row["op"]


def gathered(rows: Rows) -> list[Rows]:
    """Groups of what reaches the file system."""
    return groups_of([row for row in rows if row["layer"] == "posix"])


def by_count(group: Rows) -> Rows:
    """A row for each number of forwarders: what is left by window, and what they touch and hold in the longest.

    Args:
        group: one of those that `groups_of` gives.
    """
    rows = []
    for count in sorted({row["forwarder_count"] for row in group}):
        ways = {row["window_seconds"]: row for row in group if row["forwarder_count"] == count}
        longest = ways[max(ways, key=lambda window: window or 0)]
        lefts = {window: ways[window]["left_count"] if window in ways else None for window in (None, 0.01, 1.0)}
        rows.append(longest | {"lefts": lefts})
    return rows


def name_of(row: Row) -> str:
    """What a group's requests are: `2,048 writes of shared files on /scratch`."""
    whose = "shared files" if row["access"] == "shared" else "files of one rank each"
    return f"{counted(row['request_count'], row['op'])} of {whose}" + (f" on {row['mount']}" if row["mount"] else "")


def window_words(window: float | None) -> str:
    """A window as people say it."""
    return "in collective calls" if window is None else f"within {_duration(window)}"


def _duration(seconds: float) -> str:
    return f"{1000 * seconds:g} ms" if seconds < 1 else f"{seconds:g} s"


def ratio_of(row: Row) -> float:
    """How many times fewer requests a row leaves."""
    found: float = row["request_count"] / row["left_count"]
    return found


def is_vain(group: Rows) -> bool:
    """Whether no way to gather would leave much fewer of a group's requests."""
    return max(map(ratio_of, group)) < VAIN_RATIO


def chosen(group: Rows, nprocs: int) -> Row | None:
    """The way to gather that is advised, None where none leaves four times fewer requests.

    Collective calls need no holding and come first; reads that nobody can foresee can be gathered by these alone. Of one
    kind it is the way with most forwarders, since more of them move more at once.
    """
    worth = [row for row in group if ratio_of(row) >= WORTH_RATIO]
    ticks = [row for row in worth if row["window_seconds"] is None and row["forwarder_count"] < nprocs]
    held = [row for row in worth if row["window_seconds"] is not None and row["merge_mode"] != "at_most"]
    return max(ticks or held, key=lambda row: (row["forwarder_count"], -(row["window_seconds"] or 0)), default=None)


def says(group: Rows, nprocs: int) -> str:
    """What gathering would leave of a group's requests, in a sentence."""
    row = _said(group, nprocs)
    best = "at best " if row["merge_mode"] == "at_most" else ""
    many = counted(row["forwarder_count"], "forwarder")
    return f"{many} would leave {best}{row['left_count']:,} of {name_of(row)}, gathered {window_words(row['window_seconds'])}."


def _said(group: Rows, nprocs: int) -> Row:
    """The way that a sentence is about: what is advised, or what leaves least."""
    return chosen(group, nprocs) or min(group, key=lambda row: (row["left_count"], row["window_seconds"] or 0))


def window_decides(group: Rows, nprocs: int) -> str | None:
    """A sentence where it depends on how long requests are held whether few are left; None where it does not."""
    row = _said(group, nprocs)
    same = [each for each in group if (each["forwarder_count"], each["mapping"]) == (row["forwarder_count"], row["mapping"])]
    # A window that changes nothing has no row.
    held = sorted((each for each in same if each["window_seconds"] is not None), key=lambda each: each["window_seconds"])
    if not held or held[0]["left_count"] < _DECIDES_RATIO * held[-1]["left_count"]:
        return None
    lefts = " and ".join(f"{each['left_count']:,} {window_words(each['window_seconds'])}" for each in (held[-1], held[0]))
    return f"The window decides: {counted(row['forwarder_count'], 'forwarder')} would leave {lefts}, of {name_of(row)}."


def advice(group: Rows, nprocs: int) -> list[str]:
    """What to set, in knobs that exist, with the group's numbers; nothing where less than four times fewer would be left.

    Args:
        group: ways to gather the group's requests, of which one is advised.
        nprocs: ranks of the log.
    """
    row = chosen(group, nprocs)
    if row is None:
        return []
    left = f"{row['left_count']:,} of {counted(row['request_count'], row['op'])} would be left"
    per_node = _per_node(group, row["forwarder_count"])
    if row["window_seconds"] is None:
        return [_collective(row, left), _library(row, per_node)]
    if row["held_bytes"]:
        left += f"; each holds up to {human_bytes(row['held_bytes'])}"
    ranks = counted(row["forwarder_count"], "rank")
    if row["merge_mode"] == "read_ahead":
        return [f"Read ahead in blocks of {human_bytes(_BUFFER_BYTES)} on {ranks}, for all: {left}."]
    span = _duration(row["window_seconds"])
    if row["forwarder_count"] >= nprocs:
        own = "setvbuf in C, the chunk cache of HDF5, BufferChunkSize of ADIOS2"
        return [f"Let each rank gather what it writes within {span} before it writes it ({own}): {left}."]
    return [
        f"Let {ranks} write for all and hold data for {span}, or write to a buffer on the node: {left}.",
        _library(row, per_node),
    ]


def vain_words(group: Rows) -> str:
    """A sentence that gathering would not help a group, with its numbers."""
    best = min(row["left_count"] for row in group)
    return f"Aggregation would not help: at best, {best:,} of {name_of(group[0])} would remain."


def _collective(row: Row, left: str) -> str:
    op, hints = row["op"], f"cb_nodes={row['forwarder_count']}, cb_buffer_size={_BUFFER_BYTES}"
    unit = f", striping_unit={_BUFFER_BYTES}" if op == "write" else ""
    return f"{op.capitalize()} in collective calls, with MPI-IO's hints romio_cb_{op}=enable, {hints}{unit}: {left}."


def _library(row: Row, per_node: int | None) -> str:
    count = row["forwarder_count"]
    hdf5 = f"{counted(per_node, 'I/O concentrator')} a node" if per_node else f"{counted(count, 'I/O concentrator')} in all"
    pnetcdf = f"PnetCDF with nc_num_aggrs_per_node={per_node}" if per_node else "PnetCDF with nc_num_aggrs_per_node"
    adios = f"ADIOS2 with NumAggregators={count}, " if row["op"] == "write" else ""
    return f"These libraries do the same: HDF5 subfiling with {hdf5} (H5Pset_fapl_subfiling), {adios}{pnetcdf}."


def _per_node(group: Rows, count: int) -> int | None:
    """Forwarders on each node, where the nodes are known."""
    hosts = next((row["forwarder_count"] for row in group if row["mapping"] == "host"), None)
    return max(1, round(count / hosts)) if hosts else None


def gathered_files(burst: Row, counts: Sequence[tuple[str, int]] | None = None, within: float | None = None) -> Rows:
    """Files and creates that m writers would leave of a burst of files of one rank each.

    Args:
        burst: of the question `report/own_bursts`.
        counts: how ranks go to writers, and how many there are; None for one a host, one for 12 ranks, for 298 and for all.
        within: seconds in which the burst is to end; None for those that it took.

    Returns:
        A row for each number of writers below that of files. `index_bytes` is an entry for each block that ranks wrote.
    """
    took = (burst["end_seconds"] or 0) - (burst["start_seconds"] or 0)
    seconds = within or (took if took >= _SHORTEST_SECONDS else None)
    rows: Rows = []
    for mapping, count in counts if counts is not None else _counts(burst):
        if count >= burst["file_count"] or any(row["forwarder_count"] == count for row in rows):
            continue
        opened, moved = burst["peak_create_count"], burst["write_bytes"]
        rows.append(
            {
                "mount": burst["mount"],
                "mapping": mapping,
                "forwarder_count": count,
                "file_count": burst["file_count"],
                "left_file_count": count,
                "peak_create_count": opened,
                "left_create_count": None if opened is None else math.ceil(opened * count / burst["file_count"]),
                "index_bytes": None if burst["write_count"] is None else _INDEX_BYTES * burst["write_count"],
                "burst_seconds": seconds,
                "forwarder_bytes_per_second": moved / count / seconds if moved is not None and seconds else None,
            }
        )
    return rows


def _counts(burst: Row) -> Iterator[tuple[str, int]]:
    if burst["host_count"]:
        yield "host", burst["host_count"]
    if burst["nprocs"]:
        yield from (("blocks", -(-burst["nprocs"] // ranks)) for ranks in _RANKS_TO_ONE)
    yield "blocks", 1


def files_say(burst: Row, rows: Rows, *, is_asked: bool = False) -> str:
    """What gathering the files of a burst would change, in two sentences.

    Args:
        burst: of the question `report/own_bursts`.
        rows: what `gathered_files` makes of it.
        is_asked: whether the time was given, and is not the one that the burst took.
    """
    ranks, files = counted(burst["rank_count"], "rank"), counted(burst["file_count"], "file")
    where = f" on {burst['mount']}" if burst["mount"] else ""
    size = "" if burst["write_bytes"] is None else f" ({human_bytes(burst['write_bytes'])})"
    opened = "" if burst["peak_create_count"] is None else f", {burst['peak_create_count']:,} of them created in one second"
    first = f"{ranks} wrote {files} of their own{where}{size}{opened}."
    if not rows:
        return first
    row = few_files(rows)
    creates = "" if row["left_create_count"] is None else f" and {counted(row['left_create_count'], 'create')} a second"
    pace = ""
    if row["forwarder_bytes_per_second"] is not None:
        span = fine_seconds(row["burst_seconds"])
        end = f"in {span}" if is_asked else f"in the {span} that it took"
        pace = f"; each has to write {speed(row['forwarder_bytes_per_second'])} to end {end}"
    many = counted(row["forwarder_count"], "forwarder")
    return f"{first} {many} would leave {counted(row['left_file_count'], 'file')}{creates}{pace}."


def few_files(rows: Rows) -> Row:
    """The row that a sentence is about: the most writers, but for a single one where there is no other."""
    return next((row for row in rows if row["forwarder_count"] > 1), rows[0])


def files_advice(rows: Rows) -> list[str]:
    """What to set so that files become fewer; nothing where there are few, or would be less than four times fewer.

    Args:
        rows: of `gathered_files`, for one burst.
    """
    if not rows:
        return []
    row = few_files(rows)
    if row["file_count"] < max(_FEWEST_FILES, WORTH_RATIO * row["forwarder_count"]):
        return []
    count = row["forwarder_count"]
    index = "" if row["index_bytes"] is None else f", with an index of {human_bytes(row['index_bytes'])}"
    files = counted(count, "physical file")
    libraries = f"ADIOS2 with NumAggregators={count}, SIONlib with {files}, HDF5 subfiling (H5Pset_fapl_subfiling)"
    return [
        f"Let {counted(count, 'rank')} write for all ranks: {row['file_count']:,} files become {count:,}{index}.",
        f"These libraries do so: {libraries}. Or write to the node's own disk, and copy the result as one file.",
    ]


def speed(rate: float) -> str:
    """Bytes a second with three digits: `3.55 MiB/s`."""
    unit = min(len(_UNITS) - 1, max(0, math.floor(math.log(max(rate, 1), 1024))))
    number = rate / 1024**unit
    return f"{number:.3g} {_UNITS[unit]}/s" if number < _THOUSAND else f"{number:.0f} {_UNITS[unit]}/s"


def left_picture(groups: Sequence[Rows]) -> Markup:
    """Requests that are left by number of forwarders, a panel for each of the two groups with most requests.

    Bars are as high as the logarithm of what is left; those of a collective call stand beside those of the longest window.

    Args:
        groups: as `groups_of` gives them, at least one.
    """
    shown = groups[:_MOST_DRAWN]
    panels = Markup("").join(_panel(group, number * (_WIDTH + _GAP)) for number, group in enumerate(shown))
    label = (
        f"Requests that forwarders would leave, of {' and '.join(name_of(group[0]) for group in shown)}; the table has the same."
    )
    return Markup('<svg class="run left" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        2 * _WIDTH + _GAP, _BASE + 40, visible(label), panels
    )


def _panel(group: Rows, shift: float) -> Markup:
    asked = group[0]["request_count"]
    lefts = {(row["forwarder_count"], row["window_seconds"]): row["left_count"] for row in group}
    columns = {row["forwarder_count"]: row["mapping"] for row in sorted(group, key=lambda row: row["forwarder_count"])}
    # Numbers of a hostile log may be zero or negative.
    low = 10 ** math.floor(math.log10(max(1, min(lefts.values()))))
    scale = (_BASE - _TOP) / max(math.log(max(asked, low) / low), 1e-9)
    left, width = shift + _LEFT, _WIDTH - _LEFT
    parts = [
        _text(shift, 14, name_of(group[0]), "panel"),
        Markup('<path d="M{} {}h{}M{} {}h{}"/>').format(left, _TOP, width, left, _BASE, width),
        _text(left - 6, _TOP + 4, f"{asked:,}", anchor="end"),
        _text(left - 6, _TOP + 18, "as it ran", anchor="end"),
        _text(left - 6, _BASE + 4, f"{low:,}", anchor="end"),
        _text(left - 6, _BASE + 18, "forwarders", anchor="end"),
    ]
    for number, (count, mapping) in enumerate(columns.items()):
        middle = left + width * (number + 0.5) / len(columns)
        parts += [
            _text(middle, _BASE + 18, f"{count:,}", "panel", "middle"),
            _text(middle, _BASE + 33, _MAPPINGS.get(mapping, mapping), anchor="middle"),
        ]
        for place, window in enumerate(_DRAWN):
            # A window that changes nothing has no row.
            remains = lefts.get((count, window)) or asked
            height = max(_LEAST_BAR, scale * math.log(max(remains, low) / low))
            parts.append(_bar(middle + (place - 1) * _BAR, height, window, f"{counted(count, 'forwarder')}: {remains:,} left"))
            parts.append(_text(middle + (place - 0.5) * _BAR, _BASE - height - 3, _short(remains), anchor="middle"))
    return Markup("").join(parts)


def _bar(left: float, height: float, window: float | None, title: str) -> Markup:
    return Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>').format(
        "tick" if window is None else "held", f"{left + 1:.1f}", f"{_BASE - height:.1f}", _BAR - 2, f"{height:.1f}", title
    )


def _text(left: float, top: float, text: str, kind: str = "", anchor: str = "start") -> Markup:
    shape = Markup('<text class="{}" x="{}" y="{}" text-anchor="{}">{}</text>')
    return shape.format(kind, f"{left:.1f}", f"{top:.1f}", anchor, visible(text)[:_CUT])


def _short(count: int) -> str:
    """A number of few signs: `1.5k`, `123k`."""
    return f"{count:,}" if count < _THOUSAND else f"{count / _THOUSAND:.2g}k" if count < _LONG else f"{count / _THOUSAND:,.0f}k"
