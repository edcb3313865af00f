"""How often patterns of rings are named right: synthetic nodes of known kind, and programs of which it is known who was slow.

`python tests/pattern_truth.py` writes docs/pattern_truth.md.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from iomine.derive.link_names import PATTERNS, named

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


def page(found: list[Score]) -> str:
    """The tables."""
    rows = [f"| {each.nodes:,} | {each.kind} | {each.named} | {each.precision:.3f} | {each.recall:.3f} |" for each in found]
    return "\n".join(
        (
            "# How often patterns are named right",
            "",
            "<!-- Written by tests/pattern_truth.py. -->",
            "",
            "## Synthetic nodes",
            "",
            f"{OF_EACH} groups of nodes of each kind. *Circular* nodes have medians that differ by a standard deviation of 0.005",
            "to 0.05 decades. Of *outlier* groups one node to a twentieth, or two, are 2.8 to 100 times as slow. *Striped* groups",
            "have 2 to 64 bands or a period of 2 to 64, with at least four nodes in each part, which explain 60 % to 98 % of the",
            "variance. *Noisy* ones differ by 0.1 to 0.6 decades: normal, exponential, or Student's t with 4 degrees of freedom.",
            "",
            "| nodes | pattern | named so | precision | recall |",
            "| --- | --- | --- | --- | --- |",
            *rows,
            "",
        )
    )


if __name__ == "__main__":
    PAGE.write_text(page(list(scores())))
    sys.stdout.write(f"{PAGE}\n")
