"""How often lineages are found right, and what changed in them: simulated facilities with known incidents.

`python tests/lineage_truth.py [SEED...]` simulates facilities, reads and judges their logs as a sweep does, and writes
docs/lineage_truth.md, with the lineages of real logs. Servers are not asked, so no system state excuses anything.
"""

import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from unittest.mock import patch

from catalogs import catalog_of
from shared import Row, darshan_rows, log_of

from iomine.errors import UnreadableError
from iomine.lake import LakeFile
from iomine.pipeline.ingest.rows import RowSinks, rows_of
from iomine.pipeline.judging.judge import judge
from iomine.simulate import Settings, simulate
from iomine.sources.darshan import Log, read_log
from iomine.triggers import TRIGGERS
from iomine.triggers import judge as judge_sql_room
from iomine.triggers.model import FINDING_LEVELS
from iomine.views.query import ask

PAGE: Final = Path(__file__).parents[1] / "docs" / "lineage_truth.md"
SEEDS: Final = range(20)
LOGS, DAYS = 1500, 7
CLUSTER: Final = "simulated"
# A job that was submitted before the change may run after it.
_MOST_RUNS_OFF: Final = 2
JUDGES: Final = {code: each for code, each in TRIGGERS.items() if each.ruleset == "iomine" and each.level in FINDING_LEVELS}


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in a facility.

    Attributes:
        seed: of the facility.
        lineages: applications of users that were run more than once.
        whole: of these, those whose runs are one lineage, with no others in it.
        slow_runs: runs after the injected regression.
        regressions: injected regressions that were found, since their first run except for two.
        steps: steps that are listed as regressions.
        reported: 1 where something was found in the application whose user follows advice.
        followed: 1 where of that something is over, since the night of the change or later.
        gone: lineages of which a finding is over.
    """

    seed: int
    lineages: int
    whole: int
    slow_runs: int
    regressions: int
    steps: int
    reported: int
    followed: int
    gone: int


def found(seeds: Iterable[int]) -> Iterator[Found]:
    """What is found in facilities."""
    for seed in seeds:
        with TemporaryDirectory() as folder:
            yield found_in(seed, Path(folder), facility(seed, Path(folder)))


def facility(seed: int, folder: Path) -> Path:
    """The database of views over a facility, which is simulated into a folder, read and judged."""
    return catalog_of(folder, files_of_facility(seed, folder))


def files_of_facility(seed: int, folder: Path) -> list[LakeFile]:
    """What a sweep writes of a facility, which is simulated into a folder."""
    out = folder / "facility"
    simulate(Settings(out, LOGS, seed, DAYS, CLUSTER, dxt_ratio=0), lambda *_: None)
    logs = ((CLUSTER, read_log(path), str(path.relative_to(out))) for path in sorted((out / "darshan").rglob("*.darshan")))
    files = files_of(folder / "lake", logs)
    # What these programs lose is little: here it is a finding all the same.
    with patch.object(judge_sql_room, "FINDING_CORE_SECONDS", 0.0):
        judged = judge((), folder / "staging", files, JUDGES).files
    return [*files, *judged]


def files_of(folder: Path, logs: Iterable[tuple[str, Log, str]], *, only: str = "", night: date | None = None) -> list[LakeFile]:
    """Rows of logs, each with its cluster and path, as a sweep writes them.

    Args:
        folder: where the files go.
        logs: the logs.
        only: the one table that is asked for, empty for all.
        night: of all logs, None for that of each.
    """
    with ExitStack() as stack:
        sinks: dict[tuple[str, date], RowSinks] = {}
        for cluster, log, path in logs:
            key = (cluster, night or log.job.night)
            if key not in sinks:
                sinks[key] = RowSinks(folder, *key, stack)
            rows = rows_of([(log, path)])
            sinks[key].write([log.log_id], {only: rows[only]} if only else rows)
        for sink in sinks.values():
            sink.finish()
    return [
        LakeFile(table, *key, Path(path), size, rows) for key, sink in sinks.items() for table, path, size, rows in sink.files()
    ]


def found_in(seed: int, folder: Path, database: Path) -> Found:
    """What the views say of a facility, held against its truth."""
    truth = {log["log"]: log["lineage"] for log in map(json.loads, (folder / "facility" / "truth" / "logs.jsonl").open())}
    reported = json.loads((folder / "facility" / "truth" / "incidents.json").read_text())["incidents"]
    incidents = {each["kind"]: each for each in reported}
    ours: dict[str, set[str]] = defaultdict(set)
    theirs: dict[str, set[str]] = defaultdict(set)
    runs: dict[str, list[float]] = defaultdict(list)
    for row in ask(database, "SELECT path, lineage_id, start_at FROM logs").to_pylist():
        ours[row["lineage_id"]].add(row["path"])
        theirs[truth[row["path"]]].add(row["path"])
        runs[truth[row["path"]]].append(row["start_at"].timestamp())
    names = {frozenset(paths): name for name, paths in theirs.items()}
    name_of = {lineage: names.get(frozenset(paths), "") for lineage, paths in ours.items()}
    repeated = {name for name, paths in theirs.items() if len(paths) > 1}
    worse, better = incidents["regression"], incidents["advice_followed"]
    steps = ask(database, "FROM regressions WHERE regression_kind = 'step' AND is_regression").to_pylist()
    right = [
        step
        for step in steps
        if name_of[step["lineage_id"]] == worse["lineage"]
        and _runs_between(runs[worse["lineage"]], worse["start"], step["since_at"].timestamp()) <= _MOST_RUNS_OFF
    ]
    change = datetime.fromtimestamp(better["start"], UTC).date()
    outcomes = ask(database, "FROM advice_outcomes").to_pylist()
    over = [row for row in outcomes if row["is_over"]]
    return Found(
        seed,
        len(repeated),
        len(repeated & set(name_of.values())),
        sum(at >= worse["start"] for at in runs[worse["lineage"]]),
        len(right),
        len(steps),
        int(any(name_of[row["lineage_id"]] == better["lineage"] for row in outcomes)),
        int(any(name_of[row["lineage_id"]] == better["lineage"] and row["clear_night"] >= change for row in over)),
        len({row["lineage_id"] for row in over}),
    )


def _runs_between(runs: Iterable[float], one: float, other: float) -> int:
    return sum(min(one, other) <= at < max(one, other) for at in runs)


def real_lineages() -> list[Row]:
    """Lineages of the real logs that lie beside the repository: those of one source and machine are a cluster."""
    with TemporaryDirectory() as folder:
        files = files_of(Path(folder) / "lake", _real_logs(), only="log")
        return ask(
            catalog_of(Path(folder), files),
            "SELECT cluster, uid, application, io_signature, least_nprocs, most_nprocs, log_count, "
            "(SELECT list(path ORDER BY path) FROM logs "
            "WHERE logs.cluster = lineages.cluster AND logs.lineage_id = lineages.lineage_id) AS paths "
            "FROM lineages ORDER BY log_count DESC, cluster, application, io_signature",
        ).to_pylist()


def _real_logs() -> Iterator[tuple[str, Log, str]]:
    for row in darshan_rows():
        with suppress(UnreadableError):
            log = read_log(log_of(row), leave_traces="lineages do not ask for them")
            # A log whose clock was wrong belongs to the night on which its file was written, which a copy changes.
            if log.job.night is not None:
                yield cluster_of(row), log, row["file"]


def cluster_of(row: Row) -> str:
    """Name of the cluster that a log of the manifest is taken to come from."""
    return re.sub(r"\W+", "-", f"{row['file'].partition('/')[0]} {row['machine']}".strip()).strip("-")


def page(rows: Sequence[Found], lineages: Sequence[Row]) -> str:
    """The text of docs/lineage_truth.md."""
    total = {name: sum(getattr(row, name) for row in rows) for name in Found.__slots__}
    about = (
        f"{len(rows)} simulated facilities of {LOGS:,} logs in {DAYS} days. In each, one application writes in pieces of 64 KiB "
        "from a moment on, and the user of another follows advice, after which rank 0 no longer writes for all; a link is slow "
        "for a day, an OST and an MDT for hours. Servers are not asked, so no system state excuses anything, and findings count "
        "however little they cost. No mails go out here: [what becomes of findings that a mail listed](advice_truth.md) is shown "
        "apart."
    )
    lines = [
        "# How often lineages are found right, and what changed in them",
        "",
        "<!-- Written by tests/lineage_truth.py. -->",
        "",
        "## Simulated facilities",
        "",
        about,
        "",
        f"- **Lineages**: {_ratio(total['whole'], total['lineages'])} of the applications that a user ran more than once",
        "  came out as one lineage each, with no other runs in it.",
        "- **Regressions** (steps in `regressions`, since the first slow run except for two): recall",
        f"  {_ratio(total['regressions'], len(rows))}, precision {_ratio(total['regressions'], total['steps'])}.",
        "- **Advice that was followed** (`is_over` in `advice_outcomes`): something had been found in",
        f"  {total['reported']} of {len(rows)}; recall {_ratio(total['followed'], total['reported'])},",
        f"  precision {_ratio(total['followed'], total['gone'])}.",
        "",
        "| seed | lineages | whole | slow runs | regression found | steps listed | follower found | over | with something over |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    cells = [[str(getattr(row, name)) for name in Found.__slots__] for row in rows]
    lines += [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([*lines, "", *real_page(lineages), ""])


def real_page(lineages: Sequence[Row]) -> list[str]:
    """The page's lines about real logs."""
    about = (
        "The lineages of more than one run among the real logs in `../shared/data/darshan`; those of one source and machine are "
        "taken for one cluster. All other logs are alone in theirs."
    )
    head = ["## Real logs", "", about, "", "| cluster | uid | application | processes | moves | runs |"]
    names = ("cluster", "uid", "application", "most_nprocs", "io_signature", "log_count")
    cells = [[str(row[name]) for name in names] for row in lineages]
    return [*head, "| --- | --- | --- | --- | --- | --- |", *(f"| {' | '.join(row)} |" for row in cells)]


def _ratio(part: int, whole: int) -> str:
    return f"{part / whole:.2f} ({part} of {whole})" if whole else "unknown (there are none)"


def main() -> None:
    """Writes the page, or shows it for some seeds."""
    seeds = [int(seed) for seed in sys.argv[1:]] or SEEDS
    text = page(list(found(seeds)), real_lineages())
    if len(sys.argv) > 1:
        sys.stdout.write(text)
    else:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    os.nice(5)
    main()
