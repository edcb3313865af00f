"""How often patterns of rings are named right: synthetic nodes of known kind, and programs of which it is known who was slow.

`python tests/pattern_truth.py` writes docs/pattern_truth.md.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from shared import Row, log_of, truth_of, workloads

from iomine.derive.link_names import FEWEST_NODES, PATTERNS, named
from iomine.errors import UnreadableError
from iomine.pipeline.ingest.rows import tables_of
from iomine.sources.darshan import read_log

PAGE: Final = Path(__file__).parents[1] / "docs" / "pattern_truth.md"
COUNTS: Final = (64, 256, 1024, 8192)
KINDS: Final = ("circular", "outlier", "striped", "noisy")
OF_EACH: Final = 200
# Groups that are named at once.
_BATCH: Final = 50


class Score(NamedTuple):
    """How often a pattern was named right among synthetic nodes.

    Attributes:
        nodes: nodes of each group.
        kind: the pattern.
        named: groups that were called so.
        right: of these, those that are so.
    """

    nodes: int
    kind: str
    named: int
    right: int

    @property
    def precision(self) -> float:
        """Share of those called so that are so."""
        return self.right / self.named if self.named else 0.0

    @property
    def recall(self) -> float:
        """Share of those that are so that are called so."""
        return self.right / OF_EACH


def scores(counts: tuple[int, ...] = COUNTS) -> Iterator[Score]:
    """How often each pattern is named right, by the number of nodes."""
    for count in counts:
        rng = np.random.default_rng(count)
        groups = [(kind, synthetic(kind, count, rng)) for kind in KINDS for _ in range(OF_EACH)]
        found = [name for first in range(0, len(groups), _BATCH) for name in _names([of for _, of in groups[first:][:_BATCH]])]
        for kind in KINDS:
            right = sum(name == kind == known for name, (known, _) in zip(found, groups, strict=True))
            yield Score(count, kind, found.count(kind), right)


def _names(groups: list[np.ndarray]) -> list[str]:
    count = len(groups[0])
    of, nodes = np.repeat(np.arange(len(groups)), count), np.tile(np.arange(count), len(groups))
    return [PATTERNS[pattern] for pattern in named(of, nodes, np.concatenate(groups), len(groups)).patterns]


def synthetic(kind: str, count: int, rng: np.random.Generator) -> np.ndarray:
    """Medians of nodes, as log10 of seconds, that are of a kind."""
    middle = rng.uniform(-4, 0)
    if kind == "noisy":
        noise = (rng.standard_normal, rng.standard_exponential, lambda size: rng.standard_t(4, size))[rng.integers(3)]
        return middle + rng.uniform(0.1, 0.6) * noise(count)
    if kind == "striped":
        return middle + _striped(count, rng)
    medians = middle + rng.uniform(0.005, 0.05) * rng.standard_normal(count)
    if kind == "outlier":
        slow = rng.choice(count, rng.integers(1, max(2, count // 20) + 1), replace=False)
        medians[slow] += rng.uniform(0.45, 2, len(slow))
    return medians


def _striped(count: int, rng: np.random.Generator) -> np.ndarray:
    """Levels of bands or of places in a period, of four nodes or more each, which explain 0.6 to 0.98 of the variance."""
    most = count // 4
    if rng.integers(2):
        parts = int(rng.choice([bands for bands in (2, 4, 8, 16, 32, 64) if bands <= most]))
        part_of = np.arange(count) * parts // count
    else:
        parts = int(rng.integers(2, min(64, most) + 1))
        part_of = np.arange(count) % parts
    levels = rng.permutation(np.linspace(-1, 1, parts))[part_of]
    explained = rng.uniform(0.6, 0.98)
    noise = levels.std() * np.sqrt(1 / explained - 1) * rng.standard_normal(count)
    return rng.uniform(0.2, 0.8) * (levels + noise) / levels.std()


class Seen(NamedTuple):
    """What a traced program's reads or writes were called.

    Attributes:
        workload: its id.
        op: the direction.
        slow: ranks whose storage was made slow, and are known to be.
        is_balanced: of IOR or the checkpoint program, with labels that say that ranks do the same.
        patterns: rows of `link_pattern` for the run's latency, by ring and level.
    """

    workload: str
    op: str
    slow: frozenset[int]
    is_balanced: bool
    patterns: Mapping[tuple[str, str], Row]

    @property
    def ranks(self) -> Row:
        """How long requests to storage took, by rank."""
        return self.patterns["inner", "rank"]

    def outliers(self) -> Iterator[str]:
        """Cells of rings and levels that are called outlier, with the nodes."""
        for (ring, level), row in sorted(self.patterns.items()):
            if row["traffic_pattern"] == "outlier":
                yield f"{ring} | {level} | {_listed(row['outlying_nodes'])}"


def seen() -> Iterator[Seen]:
    """Reads and writes of every workload that has a trace of requests to storage."""
    for workload in workloads():
        try:
            log = read_log(log_of(workload))
        except UnreadableError:
            continue
        tables = tables_of(log, "")
        rows = [row for part in tables.get("link_pattern", ()) for row in pa.table(part).to_pylist()]
        truth = truth_of(workload)
        for op in ("read", "write"):
            of_op = [row for row in rows if (row["op"], row["metric"], row["stretch"]) == (op, "latency", "run")]
            patterns = {(row["ring"], row["node_level"]): row for row in of_op}
            if ("inner", "rank") in patterns:
                yield Seen(workload["id"], op, _slow(truth, op), _is_balanced(workload["id"], truth), patterns)


def _slow(truth: Row, op: str) -> frozenset[int]:
    """Ranks whose path to storage was made slow in a direction."""
    slow = (truth.get("storage") or {}).get("slow_ranks")
    if not slow or op[0] not in slow["rw"]:
        return frozenset()
    first, _, last = slow["ranks"].partition("-")
    return frozenset(range(int(first), int(last or first) + 1))


def _is_balanced(name: str, truth: Row) -> bool:
    known = truth["truth"]
    is_uneven = any(known.get(label) for label in ("straggler_ranks", "byte_imbalance", "rank0_heavy"))
    return any(program in name for program in ("_ior_", "_ckpt_")) and not is_uneven


# Rings and levels of the table of all logs.
_SHOWN: Final = (("inner", "rank"), ("inner", "host"), ("outer", "rank"))
# Outliers that no truth explains, by workload.
EXPLAINED: Final = {
    "s042_ckpt_split_coll": "Rank 3 writes fastest, and waits longest in each collective call for the others.",
    "s054_ckpt_strided_coll": "All latencies are below 1 ms, and those of aggregator 6 by 0.2 ms higher.",
    "s071_read_nonblocking": "Calls return at once: latencies of all ranks are below 0.1 ms, those of three below 1 us.",
    "s085_py_fieldwriter": "Three of rank 3's five writes of 128 bytes took 5 ms, of other ranks' one or two in five.",
    "s130_weekly_run03": "Rank 1 writes fastest, and waits longest in each collective call for the others.",
}


def page(found: Sequence[Score], logs: Sequence[Seen]) -> str:
    """The tables."""
    rows = [f"| {each.nodes:,} | {each.kind} | {each.named} | {each.precision:.3f} | {each.recall:.3f} |" for each in found]
    balanced = [each for each in logs if each.is_balanced and each.ranks["link_node_count"] >= FEWEST_NODES]
    other = [each for each in balanced if each.ranks["traffic_pattern"] != "circular"]
    return "\n".join(
        (
            "# How often patterns are named right",
            "",
            "<!-- Written by tests/pattern_truth.py. -->",
            "",
            "## Synthetic nodes",
            "",
            f"{OF_EACH} groups of nodes of each kind. *Circular* nodes have medians that differ by a standard deviation of 0.005",
            "to 0.05 decades. Of *outlier* groups one node to a twentieth, or two, are 2.8 to 100 times as slow. *Striped* ones",
            "have 2 to 64 bands or a period of 2 to 64, with at least four nodes in each part, which explain 60% to 98% of the",
            "variance. *Noisy* ones differ by 0.1 to 0.6 decades: normal, exponential, or Student's t with 4 degrees of freedom.",
            "",
            "| nodes | pattern | named so | precision | recall |",
            "| --- | --- | --- | --- | --- |",
            *rows,
            "",
            "## Programs whose storage was made slow for some ranks",
            "",
            "| workload | of | slow ranks | ranks | that outlie | hosts | that outlie |",
            "| --- | --- | --- | --- | --- | --- | --- |",
            *(_slowed(each) for each in logs if each.slow),
            "",
            "## Outliers for which nothing was made slow",
            "",
            "| workload | of | ring | level | nodes | why |",
            "| --- | --- | --- | --- | --- | --- |",
            *(
                f"| {each.workload} | {each.op}s | {cells} | {EXPLAINED.get(each.workload, 'not known')} |"
                for each in logs
                if not each.slow
                for cells in each.outliers()
            ),
            "",
            "## Balanced programs",
            "",
            f"Of {len(balanced)} directions of IOR and of the checkpoint program, by four ranks or more, whose labels know of no",
            "slow rank, no uneven bytes and no work of rank 0 for all,",
            f"{len(balanced) - len(other)} are circular at the level of ranks. The others:",
            "",
            "| workload | of | pattern | ranks | spread in decades |",
            "| --- | --- | --- | --- | --- |",
            *(f"| {each.workload} | {each.op}s | {_cell(each.ranks)} | {each.ranks['spread_decades']:.2f} |" for each in other),
            "",
            "## All of them",
            "",
            "Patterns of latency: of requests to storage (inner ring) by rank and host, and from ranks to carriers (outer ring)",
            "by rank, each with the number of nodes.",
            "",
            "| workload | of | ranks | hosts | to carriers |",
            "| --- | --- | --- | --- | --- |",
            *(
                f"| {each.workload} | {each.op}s | {' | '.join(_short(each.patterns.get(key)) for key in _SHOWN)} |"
                for each in logs
            ),
            "",
        )
    )


def _slowed(each: Seen) -> str:
    hosts = each.patterns["inner", "host"]
    cells = (_short(each.ranks), _listed(each.ranks["outlying_nodes"]), _short(hosts), _listed(hosts["outlying_nodes"]))
    return f"| {each.workload} | {each.op}s | {_listed(each.slow)} | {' | '.join(cells)} |"


def _listed(nodes: Any) -> str:
    return ", ".join(map(str, sorted(nodes))) or "none"


def _cell(row: Row) -> str:
    return f"{row['traffic_pattern']} | {row['link_node_count']}"


def _short(row: Row | None) -> str:
    return f"{row['traffic_pattern']} ({row['link_node_count']})" if row else ""


if __name__ == "__main__":
    PAGE.write_text(page(list(scores()), list(seen())))
    sys.stdout.write(f"{PAGE}\n")
