"""A period found without phases: from how many bytes were moved in each moment, as FTIO does (Tarraf et al., IPDPS 2024).

The power spectrum of the bytes by bin gives, transformed back, their autocorrelation: how like themselves they are some
time later. The period is the shortest time after which they are nearly as like themselves as after any other.
`docs/periods.md` shows how often that is right.
"""

from typing import Final, NamedTuple

import numpy as np

from iomine.derive.trace import Floats

# Fewer bins show no three bursts with gaps between them.
_FEWEST_BINS: Final = 8
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


def rhythm(moved_bytes: Floats) -> Rhythm | None:
    """The period of bytes that were moved, None where they show none, or are too short to.

    Args:
        moved_bytes: bytes by bin, from the first burst to the end of the last.
    """
    # Takes a third of a second to load, which only those wait for who read logs with phases.
    from scipy.fft import irfft, next_fast_len, rfft  # noqa: PLC0415

    total = len(moved_bytes)
    if total < _FEWEST_BINS:
        return None
    # Twice as long, so that the end is not held to be followed by the beginning.
    length = next_fast_len(2 * total, real=True)
    power = np.abs(rfft(moved_bytes - moved_bytes.mean(), length)) ** 2
    if length % 2 == 0:
        # The highest frequency, of which the longer transform back makes two.
        power[-1] /= 2
    # A longer transform back gives values between bins. Two periods have to fit.
    likeness = irfft(power, length * _FINENESS)[: total * _FINENESS // 2 + 2]
    if not likeness[0] > 0:
        return None
    # The longer the time, the fewer bins are left to compare.
    likeness *= 1 / likeness[0] / (1 - np.arange(len(likeness)) / (total * _FINENESS))
    # Those of scipy.signal.find_peaks, which every reader of logs would take a second and 80 MB to load.
    is_peak = (likeness[1:-1] > likeness[:-2]) & (likeness[1:-1] > likeness[2:]) & (likeness[1:-1] > 0)
    peaks = np.flatnonzero(is_peak) + 1
    peaks = peaks[peaks >= 2 * _FINENESS]
    if not len(peaks):
        return None
    period = int(peaks[likeness[peaks] >= _NEARLY * likeness[peaks].max()][0])
    near = round(length * _FINENESS / period)
    deviations = (power[near - 1 : near + 2].max() - power[1:].mean()) / power[1:].std()
    return Rhythm(period / _FINENESS, min(1.0, float(likeness[period])), float(deviations))
