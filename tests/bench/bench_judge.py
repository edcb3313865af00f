"""How fast logs are judged: a long history, and one night.

    python tests/bench/bench_judge.py [DATA] [--history N] [--night N] [--rounds N]

DATA is the folder that holds the sets `darshan` and `groundtruth`; without it, the one beside the repository is taken. Their
logs make the history and the night, again and again under other ids. All triggers of all rulesets judge, by features that
were worked out when the logs were swept. Exits with 1 where a history of a million logs takes 10 seconds or 2 GB of memory,
or a night of 10,000 logs takes a second; these bars hold for other numbers of logs too. How long it takes to work out the
features of the night is told beside.
"""

import argparse
import csv
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from features import make_history, nights
from measure import Contest, lines
from night import CLUSTER, NIGHT, copy_logs, files_in, files_of_logs

from iomine.errors import UnreadableError
from iomine.pipeline.judge import verdict_file, verdicts_on, work_out
from iomine.sources.darshan import Log, read_log
from iomine.triggers import TRIGGERS, judge_sql
from iomine.views.query import ask, open_catalog

_MOST_HISTORY_SECONDS = 10
_MOST_HISTORY_GB = 2
_GB = 1_000_000_000
_MOST_NIGHT_SECONDS = 1
# Metrics of all logs that are judged at once lie in memory together.
_NIGHTS_AT_ONCE = 25
_ROWS_PER_BATCH = 122_880

_JUDGES = list(TRIGGERS.values())
_FEATURES = {trigger.view for trigger in _JUDGES}


def history_judged(database: str) -> object:
    """All verdicts on a history, as Arrow batches that are counted and let go."""
    log_count = ask(Path(database), "SELECT count(*) AS count FROM core.log")["count"][0].as_py()
    history = nights(log_count)
    verdict_count = 0
    with open_catalog(Path(database)) as con:
        for first in range(0, len(history), _NIGHTS_AT_ONCE):
            verdicts = con.sql(judge_sql(_JUDGES, history[first : first + _NIGHTS_AT_ONCE]))
            verdict_count += sum(batch.num_rows for batch in verdicts.to_arrow_reader(_ROWS_PER_BATCH))
    if verdict_count != log_count * len(_JUDGES):
        raise RuntimeError(f"{verdict_count:,} verdicts on {log_count:,} logs are not {len(_JUDGES)} on each.")
    return verdict_count


def history_counted(database: str) -> object:
    """How many verdicts are fired, which no verdict has to leave DuckDB for; a comparison of bars is of this kind."""
    return _fired_ratio(database)


def _fired_ratio(database: str) -> float:
    sql = f"SELECT avg((state = 'fired')::INTEGER) AS fired_ratio FROM ({judge_sql(_JUDGES)})"
    ratio: float = ask(Path(database), sql)["fired_ratio"][0].as_py()
    return ratio


def night_worked_out(folder: str) -> object:
    """The features of a night, from files of records to files of features."""
    with TemporaryDirectory() as scratch:
        return work_out(Path(scratch), files_in(Path(folder)), _JUDGES, [(CLUSTER, NIGHT)])


def night_judged(folder: str) -> object:
    """A night judged by its features, to a file of verdicts."""
    files = [file for file in files_in(Path(folder)) if file.table in {"log", *_FEATURES}]
    with TemporaryDirectory() as scratch:
        verdicts = verdicts_on(Path(scratch), files, _JUDGES, [(CLUSTER, NIGHT)])
        return verdict_file(Path(scratch), verdicts, CLUSTER, NIGHT)


def make_night(data: Path, log_count: int, folder: Path) -> None:
    """Writes a night of real logs and its features.

    Args:
        data: holds the sets of logs; those under `dask-polaris` are hundreds of runs of one program and left out.
        log_count: how many logs.
        folder: where the files go.
    """
    with (data / "darshan" / "MANIFEST.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["pydarshan_3_5_0"] == "ok"]
    logs = [data / "darshan" / row["file"] for row in rows if not row["file"].startswith("dask-polaris/")]
    workloads = json.loads((data / "groundtruth" / "MANIFEST.json").read_text())["workloads"]
    logs += [data / "groundtruth" / workload["log"] for workload in workloads]
    with TemporaryDirectory() as scratch:
        copy_logs(files_of_logs(_readable(logs), Path(scratch)), log_count, folder)
    work_out(folder, files_in(folder), _JUDGES, [(CLUSTER, NIGHT)])


def _readable(logs: Sequence[Path]) -> Iterator[tuple[Log, str]]:
    """Logs that can be read: some of `groundtruth` were cut off on purpose."""
    for path in logs:
        with suppress(UnreadableError):
            yield read_log(path), str(path)


def _history_lines(database: str, log_count: int, rounds: int) -> tuple[list[str], bool]:
    with Contest({"verdicts": history_judged, "counts": history_counted}) as contest:
        times = contest.times(database, rounds)
        memory = contest.peak_memory_bytes()
    is_good = times["verdicts"].median < _MOST_HISTORY_SECONDS and memory["verdicts"] < _MOST_HISTORY_GB * _GB
    out = [f"A history of {log_count:,} logs, {log_count * len(_JUDGES):,} verdicts, {_fired_ratio(database):.0%} fired:", ""]
    out += lines(
        [
            ("what comes out", "seconds", "spread", "GB of memory at most"),
            *((name, f"{of.median:.2f}", f"{of.spread:.0%}", f"{memory[name] / _GB:.2f}") for name, of in times.items()),
        ]
    )
    out += ["", f"Less than {_MOST_HISTORY_SECONDS} s and {_MOST_HISTORY_GB} GB are asked for where verdicts come out."]
    return [*out, "passed" if is_good else "FAILED", ""], is_good


def _night_lines(folder: Path, rounds: int) -> tuple[list[str], bool]:
    with Contest({"judging": night_judged, "working out features": night_worked_out}) as contest:
        times = contest.times(str(folder), rounds)
    counts = {file.table: file.row_count for file in files_in(folder)}
    is_good = times["judging"].median < _MOST_NIGHT_SECONDS
    out = [f"A night of {counts['log']:,} logs, {counts['posix_file']:,} records of POSIX:", ""]
    out += lines([("", "seconds", "spread"), *((name, f"{of.median:.2f}", f"{of.spread:.0%}") for name, of in times.items())])
    out += ["", f"Less than {_MOST_NIGHT_SECONDS} s is asked for judging."]
    return [*out, "passed" if is_good else "FAILED", ""], is_good


def main() -> int:
    """Judges a night and a history, and prints what came of it."""
    parser = argparse.ArgumentParser(description="How fast logs are judged.")
    parser.add_argument("data", nargs="?", type=Path, default=Path(__file__).parents[3] / "shared/data")
    parser.add_argument("--history", type=int, default=1_000_000, help="logs of the history")
    parser.add_argument("--night", type=int, default=10_000, help="logs of the night")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each; the median counts")
    arguments = parser.parse_args()
    sys.stdout.write(f"{len(_JUDGES)} triggers over {len(_FEATURES)} tables of features\n\n")
    with TemporaryDirectory() as night, TemporaryDirectory() as history:
        make_night(arguments.data, arguments.night, Path(night))
        told, is_fast_on_night = _night_lines(Path(night), arguments.rounds)
        sys.stdout.write("\n".join([*told, ""]))
        features = [file for file in files_in(Path(night)) if file.table in {"log", *_FEATURES}]
        database = make_history(arguments.history, features, Path(history))
        told, is_fast_on_history = _history_lines(str(database), arguments.history, arguments.rounds)
        sys.stdout.write("\n".join(told))
    return 0 if is_fast_on_night and is_fast_on_history else 1


if __name__ == "__main__":
    sys.exit(main())
