"""Runs what DXT Explorer does up to its dataframes on a log, in this process, and prints the seconds that it took.

For the Python of an environment that has dxt-explorer: `part_traces.py` makes one, and gives the path of the log and a
number of rounds. Imports are not counted.
"""

import json
import logging
import os
import sys
import tempfile
import time
from types import SimpleNamespace

import darshan
from explorer.dxt import Explorer


def seconds(path: str) -> float:
    """CPU seconds from the log to the dataframes of all its files."""
    settings = SimpleNamespace(debug=False, darshan=path, prefix=None, csv=False)
    explorer = Explorer(settings)
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        report = darshan.DarshanReport(path, read_all=True)
        file_ids = explorer.list_files(report, display=False)
        explorer.subset_dataset(os.path.join(folder, "trace"), file_ids, report)  # noqa: PTH118  it appends to a text
        return time.process_time() - start


def main() -> None:
    """Path and number of rounds come as arguments."""
    logging.disable(logging.CRITICAL)
    json.dump([seconds(sys.argv[1]) for _ in range(int(sys.argv[2]))], sys.stdout)


if __name__ == "__main__":
    main()
