"""Names of patterns, from medians of nodes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iomine.derive.link_names import PATTERNS, Names, as_alike, named

_TENTHS = st.integers(-60, 30).map(lambda tenths: tenths / 10)


def _one(medians: list[float] | np.ndarray) -> Names:
    values = np.asarray(medians, float)
    return named(np.zeros(len(values), np.int64), np.arange(len(values)), values, 1)


def _pattern(medians: list[float] | np.ndarray) -> str:
    return PATTERNS[_one(medians).patterns[0]]


def _by_hand(values: np.ndarray) -> tuple[str, set[int]]:
    """The name as the definition has it, node by node, and who outlies."""
    count = len(values)
    middle = np.median(values)
    scale = 1.4826 * np.median(abs(values - middle))
    outlying = {at for at in range(count) if round(values[at] - middle, 9) > round(max(3.5 * scale, np.log10(2)), 9)}
    few = 1 if count < 8 else max(2, count // 20)
    core = [at for at in range(count) if len(outlying) > few or at not in outlying]
    spread = round(np.percentile(values[core], 90) - np.percentile(values[core], 10), 9)
    if count < 4:
        return "unknown", outlying
    if spread <= 0.16 and not outlying:
        return "circular", outlying
    if spread <= 0.16 and len(outlying) <= few:
        return "outlier", outlying
    if count < 32:
        return "unknown", outlying
    best = max(_shares(values, core))
    chance = np.random.default_rng(20).permuted(np.repeat(values[core, None], 40, 1), axis=0)
    for order in chance.T:
        shuffled = values.copy()
        shuffled[core] = order
        best = best if spread > 0.16 and best >= 0.5 and best > max(_shares(shuffled, core)) else 0
    return ("striped" if best else "noisy"), outlying


def _shares(values: np.ndarray, core: list[int]) -> list[float]:
    count = len(values)
    labels = [np.arange(count) * bands // count for bands in (2, 4, 8, 16, 32, 64) if 2 * bands <= count]
    labels += [np.arange(count) % period for period in range(2, 65) if 2 * period <= count]
    shares = []
    for of in labels:
        parts = [values[[at for at in core if of[at] == part]] for part in np.unique(of[core])]
        within = sum(((part - part.mean()) ** 2).sum() for part in parts)
        shares.append(round(1 - within / (len(core) - len(parts)) / values[core].var(ddof=1), 9))
    return shares


def _kinds(seed: int) -> np.ndarray:
    """Nodes of any kind, many of them near a threshold."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 90))
    values = rng.normal(-2, rng.choice([0, 0.03, 0.062, 0.2]), count)
    values += rng.choice([0, 0.2, 0.5]) * (np.arange(count) % rng.integers(1, 5))
    values[rng.random(count) < rng.choice([0, 0.04, 0.2])] += rng.choice([0.29, 0.31, 1])
    return values.round(int(rng.integers(1, 4)))


@pytest.mark.proof
@settings(deadline=None, max_examples=50)
@given(st.integers(0, 1 << 32))
def test_names_equal_brute_force(seed: int) -> None:
    """Names and outlying nodes are those of the definition, worked out node by node."""
    values = _kinds(seed)
    pattern, outlying = _by_hand(values)
    found = _one(values)
    assert (pattern, outlying) == (PATTERNS[found.patterns[0]], set(np.flatnonzero(found.is_outlying).tolist()))
    assert len(outlying) == found.outlying_counts[0]


@given(st.integers(0, 1 << 32))
def test_the_order_of_rows_makes_no_difference(seed: int) -> None:
    """Rows in any order, of many groups at once, give the same names and numbers to the last digit."""
    rng = np.random.default_rng(seed)
    all_values = [_kinds(seed + at) for at in range(4)]
    groups = np.repeat(np.arange(4), [len(values) for values in all_values])
    nodes = np.concatenate([np.arange(len(values)) for values in all_values])
    medians = np.concatenate(all_values)
    order = rng.permutation(len(groups))
    together = named(groups[order], nodes[order], medians[order], 5)
    for group, values in enumerate(all_values):
        is_of = groups[order] == group
        for whole, alone in zip(together[:-2], _one(values)[:-2], strict=True):
            np.testing.assert_array_equal(alone[0], whole[group])
        for whole, alone in zip(together[-2:], _one(values)[-2:], strict=True):
            np.testing.assert_array_equal(alone[nodes[order][is_of]], whole[is_of])
    assert (PATTERNS[together.patterns[4]], together.node_counts[4]) == ("unknown", 0)


@given(st.lists(_TENTHS, min_size=1, max_size=80), st.integers(-3, 3))
def test_units_make_no_difference(tenths: list[float], decades: int) -> None:
    """Latencies in milliseconds have the pattern that they have in seconds."""
    assert _pattern(tenths) == _pattern([value + decades for value in tenths])


@pytest.mark.parametrize(
    ("medians", "pattern"),
    [
        ([0, 0, 0], "unknown"),
        ([0, 0, 0, 0], "circular"),
        ([0] * 20 + [np.log10(2)], "circular"),
        ([0] * 20 + [np.log10(2) + 1e-6], "outlier"),
        ([0] * 5 + [1] * 2, "unknown"),
        ([0] * 6 + [1] * 2, "outlier"),
        ([0] * 57 + [1] * 3, "outlier"),
        ([0] * 37 + [1] * 3, "noisy"),
        ([0] * 9 + [0.16] * 2, "circular"),
        ([0] * 9 + [0.161] * 2, "unknown"),
        ([0] * 16 + [1] * 16, "striped"),
        ([0, 1] * 16, "striped"),
        ([0, 1] * 15 + [0], "unknown"),
        ([np.nan, np.inf, -np.inf, 0, 0, 0], "unknown"),
        ([], "unknown"),
    ],
    ids=str,
)
def test_on_the_thresholds(medians: list[float], pattern: str) -> None:
    """What lies on a threshold is on its quiet side; too few nodes have no name; nodes without a value are none."""
    assert pattern == _pattern(medians)


def test_three_of_forty_are_not_few() -> None:
    """More outlying nodes than few, and a core that is narrow although they are in it: noisy, by the rest."""
    found = _one([0.0] * 37 + [1.0] * 3)
    assert (3, 0.0) == (found.outlying_counts[0], found.spreads[0])
    assert found.is_core.all()


@pytest.mark.parametrize("bands", [2, 8, 64])
def test_bands_are_counted(bands: int) -> None:
    """Bands are reported as few as explain nearly all."""
    rng = np.random.default_rng(bands)
    found = _one(rng.permutation(bands)[np.arange(1024) * bands // 1024] + rng.normal(0, 0.1, 1024))
    assert ("striped", bands, 0) == (PATTERNS[found.patterns[0]], found.band_counts[0], found.periods[0])


@pytest.mark.parametrize("period", [2, 7, 32, 63])
def test_periods_are_measured(period: int) -> None:
    """A period is reported as itself, not as its double, also where the last one is not whole and a node outlies."""
    rng = np.random.default_rng(period)
    values = rng.permutation(np.linspace(0, 2, period))[np.arange(1000) % period] + rng.normal(0, 0.05, 1000)
    values[500] = 20
    found = _one(values)
    assert ("striped", 0, period) == (PATTERNS[found.patterns[0]], found.band_counts[0], found.periods[0])
    assert [500] == np.flatnonzero(found.is_outlying).tolist()
    assert not found.is_core[500]


def test_stripes_coincide_with_hosts() -> None:
    """Labels explain a core as well as bands do where bands are theirs; random ones, one for all or one each do not."""
    rng = np.random.default_rng(1)
    hosts = np.arange(256) // 32
    values = rng.permutation(8)[hosts] / 4 + rng.normal(0, 0.02, 256)
    explained = float(_one(values).explained[0])
    assert as_alike(explained, hosts + 3, values)
    assert not as_alike(explained, rng.permutation(hosts), values)
    assert not as_alike(explained, np.zeros(256, np.int64), values)
    assert not as_alike(explained, np.arange(256), values)
