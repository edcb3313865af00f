"""Merges intervals with PyRanges, in this process, and prints the seconds that it took.

For the Python of an environment that has pyranges: `part_traces.py` makes one, and gives the path of an array of starts
and ends in seconds, and a number of rounds. Neither imports nor the making of the ranges are counted.
"""

import json
import sys
import time

import numpy as np
import pandas as pd
import pyranges

# PyRanges knows whole numbers only: DXT Explorer gives it tenths of milliseconds.
_TICKS = 10_000


def main() -> None:
    """Path and number of rounds come as arguments."""
    starts, ends = (np.load(sys.argv[1]) * _TICKS).astype(np.int64)
    ranges = pyranges.PyRanges(pd.DataFrame({"Chromosome": "POSIX", "Start": starts, "End": ends + 1}))
    seconds = []
    for _ in range(int(sys.argv[2])):
        start = time.process_time()
        ranges.merge()
        seconds.append(time.process_time() - start)
    json.dump(seconds, sys.stdout)


if __name__ == "__main__":
    main()
