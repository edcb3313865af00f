"""What follows from one log's records: Arrow in, Arrow out."""

from iomine.derive.totals import Totals, totals

__all__ = ["Totals", "totals"]
