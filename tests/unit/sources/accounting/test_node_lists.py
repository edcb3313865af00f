"""Folded lists of nodes, held against scontrol, ClusterShell, and lists that want all memory."""

import tracemalloc

import pyarrow as pa
import pytest
from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet
from hypothesis import given
from hypothesis import strategies as st
from shared import NOT_HERE, SHARED_DATA

from iomine.sources.accounting.hosts import NodeList, Unfolding

ORACLE = SHARED_DATA / "slurm" / "hostlist" / "hostlist_oracle.tsv"
# Where scontrol takes the blank for a comma; nobody's node is called "None".
NOT_A_LIST = {"None assigned"}


def unfolded(*jobs):
    """Names of the nodes of jobs, each a list and a count, and what is doubtful by index."""
    lists, counts = zip(*jobs, strict=True)
    hosts, doubts = Unfolding(NodeList).hosts(pa.array(lists, pa.string()), pa.array(counts, pa.int64()))
    return hosts.to_pylist(), doubts


def is_refused(folded):
    """Whether a list gives no names, and a doubt instead."""
    return ([None], {0: "the node list is not understood"}) == unfolded((folded, None))


def oracle() -> list[tuple[str, list[str]]]:
    """Lists, and the names that `scontrol show hostnames` prints for them."""
    lines = [line.split("\t") for line in ORACLE.read_text().splitlines() if not line.startswith("#")] if ORACLE.exists() else []
    return [(folded, names.split(",") if names else []) for folded, names in lines]


@pytest.mark.skipif(not ORACLE.exists(), reason=NOT_HERE)
def test_the_oracle_is_there():
    """There are lists to hold ours against."""
    assert 23 == len(oracle())


@pytest.mark.parametrize(("folded", "names"), oracle(), ids=[folded for folded, _ in oracle()])
def test_names_are_those_that_scontrol_prints(folded, names):
    """Each list gives the names of scontrol, in its order and each once; what it refuses is refused."""
    if folded and (not names or folded in NOT_A_LIST):
        assert is_refused(folded)
    else:
        assert ([list(dict.fromkeys(names))], {}) == unfolded((folded, None))


# What scontrol of Slurm 22.05.8 prints, tried by hand.
@pytest.mark.parametrize(
    ("folded", "names"),
    [
        ("n[1-2][1-2]", ["n11", "n12", "n21", "n22"]),
        ("n[1,01]", ["n1", "n01"]),
        ("[1-2]", ["1", "2"]),
        ("a_b.c-d[1-2]", ["a_b.c-d1", "a_b.c-d2"]),
        ("n[1-2],", ["n1", "n2"]),
    ],
)
def test_other_forms_are_read_as_scontrol_does(folded, names):
    """Brackets side by side, mixed padding and a comma at the end are Slurm's too."""
    assert ([names], {}) == unfolded((folded, None))


@pytest.mark.parametrize(
    "folded",
    [
        *"@all|*|n[1-3]!n1|n[1-3]&n2|n[1-2]^n1|n[0-3/2]|n[1-2]-ib|n[]|n[-2]|n[1-2|n1]|,|a b|n[01-2]|n[8-011]|n[1-2]x".split("|"),
        "n[3-1]",
        "n[1-999999999,999999999-1]",
        f"n[{'1' * 5000}]",
        "n\x00[1-2]",
        "[" * 5000,
        "n" * 5000,
    ],
)
def test_what_slurm_does_not_write_is_refused(folded):
    """Operators, groups of the machine that reads, broken brackets, backward and half padded ranges are no list of nodes."""
    assert is_refused(folded)


PREFIXES = st.sampled_from(["n", "cpn-f13-", "d09n04s", "gpu_", "r1.c"])


@st.composite
def ranges(draw):
    """Ranges of one width that do not overlap, in order."""
    edges = sorted(draw(st.sets(st.integers(0, 300), min_size=1, max_size=8)))
    width = draw(st.sampled_from([1, 3, 5]))
    found = []
    while edges:
        first, *edges = edges
        last = edges.pop(0) if edges and draw(st.booleans()) else first
        found.append(f"{first:0{width}d}" if first == last else f"{first:0{width}d}-{last:0{width}d}")
    return f"[{','.join(found)}]"


@given(
    st.lists(st.builds(str.__add__, PREFIXES, ranges()) | st.builds("{}{}x{}".format, PREFIXES, ranges(), ranges()), max_size=4)
)
@pytest.mark.proof
def test_names_are_those_of_cluster_shell(items):
    """Of lists that mean the same to both, ClusterShell's sets are ours."""
    folded = ",".join(items)
    ((names,), _) = unfolded((folded, None))
    assert set(NodeSet(folded, resolver=RESOLVER_NOGROUP)) == set(names)
    assert len(names) == len(set(names))


@pytest.mark.parametrize("folded", ["n[1-999999999]", "n[1-999999999]x[1-999999999]y[1-999999999]", "n[0-9]," * 100_001])
@pytest.mark.proof
def test_no_more_is_unfolded_than_is_expected(folded):
    """A list of a billion nodes costs no memory: it is counted before it is unfolded."""
    tracemalloc.start()
    ((names,), doubts) = unfolded((folded, None))
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()
    assert names is None
    assert doubts[0].endswith("nodes, more than 1,000,000")


def test_nodes_are_bound_by_how_many_a_job_has():
    """A list of more nodes than the job has is not unfolded; one of fewer is, and doubted; no count is no bound."""
    found, doubts = unfolded(("n[1-4]", 3), ("n[1-2]", 3), ("n[1-4]", None), ("n[1-2]", 0), ("", 0), ("", None), (None, 4))
    assert [None, ["n1", "n2"], ["n1", "n2", "n3", "n4"], ["n1", "n2"], [], [], None] == found
    assert {0: "4 nodes, more than 3", 1: "2 nodes, of 3", 3: "2 nodes, of 0"} == {
        row: doubt.removeprefix("the node list names ") for row, doubt in doubts.items()
    }


@pytest.mark.proof
def test_a_file_may_name_only_so_many_nodes():
    """Lists that are all too long together are not unfolded from there on, and that is reported."""
    found, doubts = unfolded(*[("n[1-1000]x[1-1000]", 1_000_000)] * 25, ("n1", 1))
    assert [True] * 20 + [False] * 6 == [names is not None for names in found]
    assert dict.fromkeys(range(20, 26), "the file names more nodes than the limit") == doubts
