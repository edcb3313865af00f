"""Asks the published views over and over, as a reader does, until a file appears; a line of JSON for each answer.

python tests/bench/reading_loop.py DATABASE STOP
"""

import json
import sys
import time
from pathlib import Path

from iomine.views.query import ask

QUESTION = """
SELECT
    (SELECT count(*) FROM logs) AS log_count,
    (SELECT count(DISTINCT night) FROM logs) AS night_count,
    (SELECT count(*) FROM verdicts WHERE code = 'P05') AS judged_count,
    (SELECT count(DISTINCT log_id) FROM files) AS log_with_files_count
"""


def main() -> None:
    """Reads until stopped."""
    database, stop = map(Path, sys.argv[1:])
    while not stop.exists():
        start = time.perf_counter()
        (answer,) = ask(database, QUESTION).to_pylist()
        sys.stdout.write(json.dumps(answer | {"seconds": time.perf_counter() - start}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
