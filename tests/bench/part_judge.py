"""How fast logs are judged: one night, and a long history.

Real logs make the night, again and again under other ids, and the night makes the history. All triggers of all rulesets
judge, by features that were worked out when the logs were swept.
"""

import csv
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from history import make_history, nights
from measure import Contest
from night import CLUSTER, NIGHT, copy_logs, files_in, files_of_logs
from options import Options
from results import Result, timed

from iomine.errors import UnreadableError
from iomine.lake import LakeFile
from iomine.pipeline.judging.judge import judging_views, night_files, verdict_files, work_out
from iomine.pipeline.judging.spans import Span
from iomine.sources.darshan import Log, read_log
from iomine.triggers import TRIGGERS, judge_sql
from iomine.triggers.judge import features
from iomine.views.query import ask, open_catalog

_MOST_HISTORY_SECONDS = 10
_MOST_HISTORY_BYTES = 2_000_000_000
_MOST_NIGHT_SECONDS = 1
# Metrics of all logs that are judged at once lie in memory together.
_NIGHTS_AT_ONCE = 25
_ROWS_PER_BATCH = 122_880

_JUDGES = list(TRIGGERS.values())
_FEATURES = features(_JUDGES)
_SPAN = Span(CLUSTER, (NIGHT,), 0)


def history_judged(database: str) -> object:
    """All verdicts on a history, as Arrow batches that are counted and let go."""
    counts = ask(Path(database), "SELECT count(*) AS logs, count(DISTINCT night) AS nights FROM core.log").to_pylist()[0]
    history = nights(counts["nights"])
    verdict_count = 0
    with open_catalog(Path(database)) as con:
        for first in range(0, len(history), _NIGHTS_AT_ONCE):
            verdicts = con.sql(judge_sql(_JUDGES, history[first : first + _NIGHTS_AT_ONCE]))
            verdict_count += sum(batch.num_rows for batch in verdicts.to_arrow_reader(_ROWS_PER_BATCH))
    if verdict_count != counts["logs"] * len(_JUDGES):
        raise RuntimeError(f"{verdict_count:,} verdicts on {counts['logs']:,} logs are not {len(_JUDGES)} on each.")
    return verdict_count


def history_counted(database: str) -> object:
    """How many verdicts are fired, which no verdict has to leave DuckDB for; a comparison of thresholds is of this kind."""
    sql = f"SELECT avg((state = 'fired')::INTEGER) AS fired_ratio FROM ({judge_sql(_JUDGES)})"
    return ask(Path(database), sql)["fired_ratio"][0].as_py()


def night_worked_out(folder: str) -> object:
    """The features of a night, from files of records to files of features."""
    with TemporaryDirectory() as scratch:
        return _work_out(Path(scratch), files_in(Path(folder)))


def night_judged(folder: str) -> object:
    """A night judged by its features, to a file of verdicts."""
    files = files_in(Path(folder))
    features = [file for file in files if file.table in _FEATURES]
    logs = [file for file in files if file.table == "log"]
    with TemporaryDirectory() as scratch, judging_views([*logs, *features], _JUDGES) as views:
        return verdict_files(Path(scratch), _SPAN, views, _JUDGES, features)


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
    _work_out(folder, files_in(folder))


def _work_out(folder: Path, files: Sequence[LakeFile]) -> list[LakeFile]:
    of_nights = night_files(folder, files, _JUDGES)
    with judging_views([*files, *of_nights], _JUDGES) as views:
        return [*of_nights, *work_out(folder, _SPAN, views, _JUDGES)]


def _readable(logs: Sequence[Path]) -> Iterator[tuple[Log, str]]:
    """Logs that can be read: some of `groundtruth` were cut off on purpose."""
    for path in logs:
        with suppress(UnreadableError):
            yield read_log(path), str(path)


def measured(options: Options) -> list[Result]:
    """A night and a history, judged by all triggers."""
    with TemporaryDirectory(dir=options.cache) as night, TemporaryDirectory(dir=options.cache) as history:
        make_night(options.data, options.night, Path(night))
        files = {file.table: file for file in files_in(Path(night))}
        of_features = [file for table, file in files.items() if table in {"log", *_FEATURES}]
        night_count = options.history // options.night
        database = make_history(night_count, of_features, Path(history))
        with Contest({"judged": night_judged, "worked out": night_worked_out}) as contest:
            on_night = contest.times(night, options.rounds)
        with Contest({"verdicts": history_judged, "counts": history_counted}) as contest:
            on_history = contest.times(str(database), options.rounds)
            memory = contest.peak_memory_bytes()
    log_count = night_count * options.night
    records = f"{files['posix_file'].row_count:,} records of POSIX"
    return [
        timed(f"night of {options.night:,} logs judged by {len(_JUDGES)} triggers", on_night["judged"], _MOST_NIGHT_SECONDS),
        timed(f"its {len(_FEATURES)} tables of features worked out, {records}", on_night["worked out"]),
        timed(f"history of {log_count:,} logs judged, verdicts out", on_history["verdicts"], _MOST_HISTORY_SECONDS),
        timed(f"history of {log_count:,} logs judged, fired ones counted", on_history["counts"]),
        Result(what="memory, verdicts out", ours=memory["verdicts"], unit="B", most=_MOST_HISTORY_BYTES),
        Result(what="memory, fired ones counted", ours=memory["counts"], unit="B"),
    ]
