"""A simulated facility: nights of Darshan logs, Lustre statistics and accounting that agree, and the truth about them."""

from iomine.simulate.run import Settings, Summary, simulate

__all__ = ["Settings", "Summary", "simulate"]
