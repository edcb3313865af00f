"""iomine reads the I/O logs of a computing centre every night and says what is wrong, what it cost and what to change."""

from importlib.metadata import version

__version__ = version("iomine")
