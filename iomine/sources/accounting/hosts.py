"""Folded lists of nodes, unfolded as `scontrol show hostnames` does, within bounds.

ClusterShell reads what stands in brackets. The rest is Slurm's grammar rather than ClusterShell's, which takes `!`, `&`,
`^`, `@` and `/` for operators, looks groups up on the machine that reads, and sorts. What is left of the differences to
scontrol: a node that is named twice is given once, numbers in one pair of brackets come in order, and a range whose ends
are padded to different widths (`[8-011]`, which Slurm does not write) is refused.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sized
from itertools import product
from math import prod
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from ClusterShell.RangeSet import RangeSet, RangeSetException

from iomine.sources.accounting.words import read_each

# More nodes than any machine has, and more names than a file of a million jobs of twenty nodes.
MOST_NODES: Final = 1_000_000
_MOST_NAMES: Final = 20 * MOST_NODES
_NAMES: Final = pa.list_(pa.string())
_RANGES: Final = r"\[\d{1,9}(?:-\d{1,9})?(?:,\d{1,9}(?:-\d{1,9})?)*+\]"
# A name, or names with brackets in them; after the last bracket, Slurm allows nothing.
_ITEM: Final = re.compile(rf"[\w.-]{{1,100}}+(?![\[\w.-])|(?:[\w.-]{{0,100}}+{_RANGES}){{1,4}}", re.ASCII)
_BRACKET: Final = re.compile(r"\[(.*?)\]")
_RANGE: Final = re.compile(r"(\d+)(?:-(\d+))?", re.ASCII)


class Names(Sized, Iterable[str], Protocol):
    """Names of nodes, which can be counted without being there yet."""


class NodeList:
    """Nodes of Slurm's folded list, which can be counted without unfolding it.

    Args:
        folded: for example `d09n04s[01-02],d13n[03,05,07-08]`.

    Raises:
        ValueError: this is no list of nodes.
    """

    def __init__(self, folded: str) -> None:
        self._items = list(_items(folded))
        # A length must fit 64 bits, and this is too long whatever it is compared with.
        self._size = min(sum(map(_size, self._items)), 10**18)

    def __len__(self) -> int:
        """Names in it, one that is there twice counted twice."""
        return self._size

    def __iter__(self) -> Iterator[str]:
        """Names, each once."""
        return iter(dict.fromkeys(name for item in self._items for name in _names(item)))


def _items(node_list: str) -> Iterator[str]:
    position = 0
    while position < len(node_list):
        item = _ITEM.match(node_list, position)
        if not item or node_list[item.end() : item.end() + 1] not in ("", ","):
            raise ValueError(node_list)
        yield item[0]
        position = item.end() + 1


def _size(item: str) -> int:
    return prod(sum(map(_length, _RANGE.findall(bracket))) for bracket in _BRACKET.findall(item))


def _length(ends: tuple[str, str]) -> int:
    first, last = int(ends[0]), int(ends[1] or ends[0])
    if last < first:
        raise ValueError(ends)
    return last - first + 1


def _names(item: str) -> Iterable[str]:
    if "[" not in item:
        return (item,)
    # Parts outside and inside brackets take turns.
    parts = [RangeSet(part) if index % 2 else (part,) for index, part in enumerate(_BRACKET.split(item))]
    return map("".join, product(*parts))


class Unfolding:
    """Unfolds the lists of a file's jobs.

    Args:
        read: reads a list; raises ValueError where it is none.
    """

    def __init__(self, read: Callable[[str], Names]) -> None:
        self._read = read
        self._left = _MOST_NAMES

    def hosts(self, node_lists: pa.Array, node_counts: pa.Array) -> tuple[pa.Array, dict[int, str]]:
        """Names of each job's nodes, NULL where they are not known.

        Args:
            node_lists: folded; empty where a job has no nodes, NULL where its nodes are not known.
            node_counts: how many nodes each job has; 0 counts as NULL.

        Returns:
            The names, and by row what is wrong with a list.
        """
        lists, indices, misread = read_each(node_lists, self._read)
        at = indices.fill_null(len(lists)).to_numpy()
        sizes = np.array([*(-1 if each is None else len(each) for each in lists), -1])[at]
        counts = node_counts.fill_null(0).to_numpy()
        most = np.where(counts > 0, np.minimum(counts, MOST_NODES), MOST_NODES)
        fits = (sizes >= 0) & (sizes <= most)
        is_taken = fits & (np.cumsum(np.where(fits, sizes, 0)) <= self._left)
        self._left -= int(sizes[is_taken].sum())
        taken = set(at[is_taken].tolist())
        names = pa.array([_unfolded(each) if index in taken else None for index, each in enumerate(lists)], _NAMES)
        hosts = names.take(pa.array(at, mask=~is_taken))
        named_counts = pc.list_value_length(hosts).fill_null(-1).to_numpy()
        is_other = (named_counts > 0) & (named_counts != counts) & node_counts.is_valid().to_numpy(zero_copy_only=False)
        doubts = dict.fromkeys([*misread, *_rows(is_taken & (named_counts < 0))], "the node list is not understood")
        doubts |= dict.fromkeys(_rows(fits & ~is_taken), "the file names more nodes than the limit")
        doubts |= {row: f"the node list names {sizes[row]:,} nodes, more than {most[row]:,}" for row in _rows(sizes > most)}
        return hosts, doubts | {
            row: f"the node list names {named_counts[row]:,} nodes, of {counts[row]:,}" for row in _rows(is_other)
        }


def _unfolded(nodes: Names | None) -> list[str] | None:
    try:
        return None if nodes is None else list(nodes)
    except RangeSetException:
        return None


def _rows(mask: npt.NDArray[np.bool_]) -> list[int]:
    rows: list[int] = np.flatnonzero(mask).tolist()
    return rows
