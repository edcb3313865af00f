"""Gives the rows of a log's traffic patterns, by ring: their names, and what their stripes coincide with."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from iomine.derive.batch import LOG, logs_in
from iomine.derive.columns import finite, labels
from iomine.derive.link_names import FEWEST_NODES, PATTERNS, STRIPED, UNKNOWN, Names, as_alike, named
from iomine.derive.trace import Flags, Floats, Integers, grouped
from iomine.schema.column import Column

_KEYS: Final = ("ring", "node_level", "op", "metric", "stretch")
_LEVELS: Final = ("rank", "host", "carrier", "ost")
# What nodes may share.
_ALIKE: Final = ("host", "carrier", "ost")
_MOST_OUTLYING: Final = 64
_LACKS: Final = (
    "Fewer than 4 nodes have a value.",
    "Fewer than 32 nodes have a value, and theirs lie too far apart for circular or outlier.",
)


def link_patterns(nodes: Mapping[str, Any], edges: Mapping[str, Any]) -> dict[str, Any]:
    """Rows of the table `link_pattern`; no columns where there are no rows.

    Args:
        nodes: columns of the table `link_node`.
        edges: columns of the table `link_detail`.
    """
    if not nodes:
        return {}
    all_levels, levels = _coded(nodes["node_level"])
    at = np.array([level in _LEVELS for level in levels])[all_levels].nonzero()[0]
    if not len(at):
        return {}
    keys = {name: (codes[at], texts) for name, (codes, texts) in ((name, _coded(nodes[name])) for name in _KEYS)}
    logs = logs_in(nodes)[at]
    rows, group_of = grouped(logs, *(codes for codes, _ in keys.values()))
    node_ids, medians = (nodes[name].to_numpy(zero_copy_only=False)[at] for name in ("node_id", "median_log10"))
    found = named(group_of, node_ids, medians, len(rows))
    outlying: list[list[int]] = [[]] * len(rows)
    for group in found.outlying_counts.nonzero()[0].tolist():
        outlying[group] = _furthest(node_ids, medians, group_of, group, found)
    worst = np.full(len(rows), -np.inf)
    np.maximum.at(worst, group_of[found.is_outlying], medians[found.is_outlying])
    has_outlying = found.outlying_counts > 0
    lacks = np.where(found.patterns == UNKNOWN, np.where(found.node_counts < FEWEST_NODES, 0, 1), -1)
    with np.errstate(over="ignore"):
        ratios = 10 ** (worst - np.where(has_outlying, found.medians, 0))
    return {
        LOG: Column(logs[rows]),
        **{name: labels(codes[rows], texts) for name, (codes, texts) in keys.items()},
        "traffic_pattern": labels(found.patterns, PATTERNS),
        "link_node_count": Column(found.node_counts),
        "middle_log10": _numbers(found.medians),
        "scale_log10": _numbers(found.scales),
        "spread_decades": _numbers(found.spreads),
        "outlying_count": Column(found.outlying_counts),
        "outlying_nodes": outlying,
        "outlying_ratio": _numbers(np.where(has_outlying, ratios, np.nan)),
        "explained_ratio": _numbers(np.maximum(found.explained, 0)),
        "band_count": Column(found.band_counts, mask=found.band_counts == 0),
        "period_node_count": Column(found.periods, mask=found.periods == 0),
        "coincides_with": labels(
            _coinciding(nodes, edges, at=at, logs=logs, keys=keys, rows=rows, group_of=group_of, medians=medians, found=found),
            _ALIKE,
        ),
        "pattern_lack": [None if lack < 0 else _LACKS[lack] for lack in lacks.tolist()],
    }


def _coded(column: Column | pa.Array) -> tuple[Integers, Sequence[str]]:
    if isinstance(column, Column):
        return column.codes()
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    codes = coded.indices.fill_null(-1) if coded.null_count else coded.indices
    return codes.to_numpy(zero_copy_only=False).astype(np.int64), coded.dictionary.to_pylist()


def _numbers(values: Floats) -> Column:
    return finite(values)


def _furthest(node_ids: Integers, medians: Floats, group_of: Integers, group: int, found: Names) -> list[int]:
    """Outlying nodes of a group, the furthest first."""
    at = np.flatnonzero(found.is_outlying & (group_of == group))
    furthest: list[int] = node_ids[at[np.lexsort((node_ids[at], -medians[at]))[:_MOST_OUTLYING]]].tolist()
    return furthest


def _coinciding(
    nodes: Mapping[str, Any],
    edges: Mapping[str, Any],
    *,
    at: Integers,
    logs: Integers,
    keys: Mapping[str, tuple[Integers, Sequence[str]]],
    rows: Integers,
    group_of: Integers,
    medians: Floats,
    found: Names,
) -> Integers:
    """With what the stripes of each group coincide, an index into `_ALIKE`, negative where with nothing or there are none."""
    coinciding = np.full(len(rows), -1)
    striped = np.flatnonzero(found.patterns == STRIPED)
    if not len(striped):
        return coinciding
    arcs = np.nan_to_num(nodes["arc"].to_numpy(zero_copy_only=False), nan=-1).astype(np.int64)[at]
    hosts = _coded(nodes["host"])[0][at]
    level_codes, levels = keys["node_level"]
    logs_with_osts = {*logs[level_codes == levels.index("ost")].tolist()} if "ost" in levels else set()
    for group in striped:
        log = int(logs[rows[group]])
        has_osts = log in logs_with_osts
        core = np.flatnonzero((group_of == group) & found.is_core)
        level, op = (keys[name][1][keys[name][0][rows[group]]] for name in ("node_level", "op"))
        candidates = {} if level == "host" else {"host": hosts[core]}
        if level == "rank":
            candidates["carrier"] = _main_ends(edges, log, "outer", op, arcs[core])
            if has_osts:
                candidates["ost"] = _main_ends(edges, log, "inner", op, candidates["carrier"])
        elif level == "carrier" and has_osts:
            candidates["ost"] = _main_ends(edges, log, "inner", op, arcs[core])
        alike = {
            name: len(np.unique(of))
            for name, of in candidates.items()
            if (of >= 0).all() and as_alike(float(found.explained[group]), of, medians[core])
        }
        # The fewest, if several do.
        if alike:
            coinciding[group] = _ALIKE.index(min(alike, key=alike.__getitem__))
    return coinciding


def _main_ends(edges: Mapping[str, Any], log: int, ring: str, op: str, begins: Integers) -> Integers:
    """The arc of a log to which most bytes went of the arc at which each begins, -1 where there is none."""
    if not edges or not len(begins):
        return np.full(len(begins), -1)
    wanted = (logs_in(edges) == log) & _is(edges["ring"], ring) & _is(edges["op"], op) & _is(edges["metric"], "size")
    sources, ends, moved = (
        edges[name].to_numpy(zero_copy_only=False)[wanted] for name in ("from_node", "to_node", "moved_bytes")
    )
    main = np.full(int(max(begins.max(), sources.max(initial=-1))) + 1, -1)
    if len(sources):
        each, edge_of = grouped(sources, ends)
        order = np.lexsort((-ends[each], np.bincount(edge_of, moved)))
        # The last that is written stays: most bytes, of equals the first.
        main[sources[each][order]] = ends[each][order]
    return np.where(begins >= 0, main[begins], -1)


def _is(column: Column | pa.Array, text: str) -> Flags:
    codes, texts = _coded(column)
    is_text: Flags = codes == (texts.index(text) if text in texts else len(texts))
    return is_text
