"""Runs drishti-io on logs, one after another in this process, and prints the seconds that it reports for each as JSON.

For the Python of an environment that has drishti-io: `bench_drishti.py` makes one, and sends the paths of the logs, one a
line. What Drishti reports begins after its imports.
"""

import io
import json
import re
import sys
from contextlib import redirect_stdout

# The end of Drishti's report, which wraps where the console is narrow.
_REPORTED = re.compile(r"\sin\s+(\d+\.\d{3})\s+seconds")


def main() -> None:
    """Reads paths from stdin."""
    paths = sys.stdin.read().splitlines()
    # Drishti parses the command line when it is imported, and looks for the path there whenever it runs.
    sys.argv = ["drishti", paths[0]]
    from drishti import reporter  # noqa: PLC0415

    json.dump([_seconds(reporter, path) for path in paths], sys.stdout)


def _seconds(reporter: object, path: str) -> float:
    reporter.args.log_path = path
    with redirect_stdout(io.StringIO()) as report:
        reporter.main()
    return float(_REPORTED.findall(report.getvalue())[-1])


if __name__ == "__main__":
    main()
