"""Periods of bytes by moment."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.fft import next_fast_len

from iomine.derive.spectrum import fast_length, rhythms

_BYTES = st.lists(st.integers(0, 1 << 40), min_size=8, max_size=60)


def _by_hand(values: np.ndarray) -> tuple[float, float] | None:
    """Period and confidence, by sums over all frequencies."""
    from scipy.signal import find_peaks  # noqa: PLC0415  takes a second, and both processes of a run collect this file

    total = len(values)
    length = next_fast_len(2 * total, real=True)
    frequencies = np.arange(-(length // 2), length // 2 + 1)
    waves = np.exp(-2j * np.pi * np.outer(frequencies, np.arange(total)) / length)
    power = np.abs(waves @ (values - values.mean())) ** 2
    if length % 2 == 0:
        power[[0, -1]] /= 2
    lags = np.arange(total * 8 // 2 + 2) / 8
    likeness = np.cos(2 * np.pi * np.outer(lags, frequencies) / length) @ power / power.sum() / (1 - lags / total)
    peaks = [at for at in find_peaks(likeness)[0].tolist() if lags[at] >= 2 and likeness[at] > 0]
    highest = max((likeness[at] for at in peaks), default=0)
    return next(((lags[at], min(1.0, likeness[at])) for at in peaks if likeness[at] >= 0.55 * highest), None)


@settings(deadline=None)
@given(_BYTES)
@pytest.mark.proof
def test_periods_equal_brute_force(moved: list[int]) -> None:
    """The period, and how sure it is, are those of an autocorrelation summed up from sines, whose peaks SciPy finds."""
    values = np.array(moved, float)
    assume(values.std() > 1e-6 * values.max())
    expected, (found,) = _by_hand(values), rhythms([values])
    assert (expected is None) == (found is None)
    if expected and found:
        assert pytest.approx(expected, rel=1e-6) == (found.period_bins, found.confidence)


@given(st.integers(3, 30), st.integers(3, 30), st.integers(1, 1 << 40))
def test_equal_bursts_have_their_distance(count: int, period: int, moved: int) -> None:
    """Bursts of one bin, all alike, have the distance between them as their period, to an eighth of a bin."""
    values = np.zeros(period * (count - 1) + 1)
    values[::period] = moved
    (found,) = rhythms([values])
    assert (found is None) == (len(values) < 8)
    if found:
        assert found.period_bins == pytest.approx(period, abs=1 / 8)
        assert found.confidence > 0.8


@pytest.mark.parametrize("moved", [[], [5.0] * 7, [5.0] * 50, [0.0] * 50], ids=["nothing", "too short", "all alike", "no bytes"])
def test_no_period(moved: list[float]) -> None:
    """Bytes that never change have no period, nor have a few bins."""
    assert rhythms([np.array(moved)]) == [None]


def test_bursts_on_and_between_bins() -> None:
    """Where a period is no whole number of bins it is found between them, and is no multiple of itself."""
    for period in (2.15, 5.3, 7.5, 33.3):
        starts = np.arange(20) * period
        moved = np.histogram(np.concatenate([starts + part for part in np.linspace(0, 1, 21)]), np.arange(starts[-1] + 3))[0]
        (found,) = rhythms([moved.astype(float)])
        assert found is not None
        assert found.period_bins == pytest.approx(period, rel=0.03)
        assert found.deviations > 3


@given(st.lists(st.integers(0, 400), max_size=40), st.integers(0, 99))
def test_series_side_by_side_are_what_each_is_alone(lengths: list[int], seed: int) -> None:
    """Series that are transformed at once have, to the bit, the periods that they have one by one."""
    dice = np.random.default_rng(seed)
    series = [np.where(dice.random(length) < 0.3, dice.exponential(1e9, length), 0.0) for length in lengths]
    assert rhythms(series) == [rhythms([each])[0] for each in series]


def test_noise_has_no_sure_period() -> None:
    """Of bytes that come at random hardly any look periodic."""
    dice = np.random.default_rng(7)
    found = rhythms([dice.exponential(size=200) for _ in range(200)])
    assert sum(each is not None and each.confidence >= 0.6 for each in found) == 0


@given(st.integers(1, 10**9))
def test_fast_lengths_are_those_of_scipy(least: int) -> None:
    assert next_fast_len(least, real=True) == fast_length(least)
