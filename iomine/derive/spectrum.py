"""A period found without phases: from how many bytes were moved in each moment, as FTIO does (Tarraf et al., IPDPS 2024).

The power spectrum of the bytes by bin gives, transformed back, their autocorrelation: how well they match themselves some
time later. The period is the shortest time after which they match nearly as well as after any other.
`docs/periods.md` shows how often that is right.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from iomine.derive.trace import Floats, Integers

# Fewer bins show no three bursts with gaps between them.
FEWEST_BINS: Final = 8
# Bins of series that are transformed at once, so that what is made of them stays in the processor's caches.
_MOST_BINS: Final = 1 << 15
# Periods are resolved to this fraction of a bin.
_FINENESS: Final = 8
# After two periods bytes may be a little more like themselves than after one, where a period is no whole number of bins.
_NEARLY: Final = 0.55


class Rhythm(NamedTuple):
    """That bytes come and go periodically.

    Attributes:
        period_bins: the period, in bins.
        confidence: how like themselves the bytes are a period later, as a correlation, at most 1.
        deviations: standard deviations by which the power at the period's frequency exceeds the mean (its Z-score).
    """

    period_bins: float
    confidence: float
    deviations: float


def rhythms(series: Sequence[Floats]) -> list[Rhythm | None]:
    """For each series the period of bytes that were moved, None where they show none, or are too short to.

    Args:
        series: bytes by bin, from the first burst to the end of the last.
    """
    found: list[Rhythm | None] = [None] * len(series)
    by_length: dict[int, list[int]] = {}
    for number, moved in enumerate(series):
        if len(moved) >= FEWEST_BINS:
            # Padded to twice the length, so that the beginning does not follow the end.
            by_length.setdefault(fast_length(2 * len(moved)), []).append(number)
    for length, numbers in by_length.items():
        at_once = max(_MOST_BINS // length, 1)
        for begin in range(0, len(numbers), at_once):
            block = numbers[begin : begin + at_once]
            for number, rhythm in zip(block, _rhythms([series[number] for number in block], length), strict=True):
                found[number] = rhythm
    return found


@cache
def fast_length(least: int) -> int:
    """The smallest number from a positive one on without a prime factor above 5: Fourier transforms of such lengths take least.

    That of `scipy.fft.next_fast_len`, which takes a quarter of a second to load.
    """
    fast = 1 << (least - 1).bit_length()
    fives = 1
    while fives < fast:
        odd = fives
        while odd < fast:
            fast = min(fast, odd << (-(-least // odd) - 1).bit_length())
            odd *= 3
        fives *= 5
    return fast


def _rhythms(series: Sequence[Floats], length: int) -> list[Rhythm | None]:
    """The rhythms of series that are transformed to one length."""
    totals = np.array([len(moved) for moved in series])
    padded = np.zeros((len(series), length))
    for row, moved in zip(padded, series, strict=True):
        row[: len(moved)] = moved - moved.mean()
    power = np.abs(np.fft.rfft(padded)) ** 2
    if length % 2 == 0:
        # The highest frequency, of which the longer transform back makes two.
        power[:, -1] /= 2
    # A longer transform back gives values between bins. Two periods have to fit.
    fitting = totals * _FINENESS // 2 + 2
    times = np.arange(int(fitting.max()))
    likeness = np.fft.irfft(power, length * _FINENESS)[:, : len(times)]
    is_like = likeness[:, 0] > 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # The longer the time, the fewer bins are left to compare.
        likeness *= (1 / likeness[:, :1]) / (1 - times / (totals * _FINENESS)[:, None])
    # Those of scipy.signal.find_peaks, which every reader of logs would take a second and 80 MB to load.
    inner = likeness[:, 1:-1]
    is_peak = (inner > likeness[:, :-2]) & (inner > likeness[:, 2:]) & (inner > 0)
    is_peak &= (times[1:-1] >= 2 * _FINENESS) & (times[1:-1] < fitting[:, None] - 1)
    peaks = np.where(is_peak, inner, -np.inf)
    periods = (peaks >= _NEARLY * peaks.max(axis=1, keepdims=True)).argmax(axis=1) + 1
    deviations = _deviations(power, np.rint(length * _FINENESS / periods).astype(np.int64))
    confidences = likeness[np.arange(len(series)), periods]
    return [
        Rhythm(period / _FINENESS, min(1.0, confidence), deviation) if is_found else None
        for is_found, period, confidence, deviation in zip(
            (is_like & is_peak.any(axis=1)).tolist(), periods.tolist(), confidences.tolist(), deviations.tolist(), strict=True
        )
    ]


def _deviations(power: Floats, frequencies: Integers) -> Floats:
    """Standard deviations by which the power at, or next to, a frequency of each spectrum exceeds the mean."""
    near = np.clip(frequencies[:, None] + np.arange(-1, 2), 0, power.shape[1] - 1)
    highest = np.take_along_axis(power, near, axis=1).max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = (highest - power[:, 1:].mean(axis=1)) / power[:, 1:].std(axis=1)
    return found
