"""Runs drishti-io on logs, one after another in this process, and prints seconds and CPU seconds of each as JSON.

For the Python of an environment that has drishti-io: `part_drishti.py` makes one, and sends the paths of the logs, one a
line. Imports are not counted.
"""

import io
import json
import sys
import time
from contextlib import redirect_stdout


def main() -> None:
    """Reads paths from stdin."""
    paths = sys.stdin.read().splitlines()
    # Drishti parses the command line when it is imported, and looks for the path there whenever it runs.
    sys.argv = ["drishti", paths[0]]
    from drishti import reporter  # noqa: PLC0415

    json.dump([_seconds(reporter, path) for path in paths], sys.stdout)


def _seconds(reporter: object, path: str) -> tuple[float, float]:
    reporter.args.log_path = path
    start, cpu_start = time.perf_counter(), time.process_time()
    with redirect_stdout(io.StringIO()):
        reporter.main()
    return time.perf_counter() - start, time.process_time() - cpu_start


if __name__ == "__main__":
    main()
