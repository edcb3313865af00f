"""Readers of time series of file system servers: counters as they grow, or rates where an input has no counters."""

from typing import Final

from iomine.sources.model import Source
from iomine.sources.series import collectd, h5lmt, ldms, lmt, mmperfmon, tokio

# In the order in which they are tried: TOKIO's takes any HDF5 file that is not pylmt's.
SOURCES: Final[tuple[Source, ...]] = (h5lmt.SOURCE, tokio.SOURCE, lmt.SOURCE, ldms.SOURCE, collectd.SOURCE, mmperfmon.SOURCE)
