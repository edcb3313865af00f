"""Ruleset `drishti` against what drishti-io 0.8 printed for real logs."""

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from sums import disagreements

from iomine.lake import Warehouse
from iomine.triggers import TRIGGERS, Trigger, judge_sql
from iomine.views.catalog import build_catalog
from iomine.views.query import ask

# Logs for which the verdicts may differ, by file, with the codes that do and the reason.
EXCEPTIONS: dict[str, set[str]] = {}

Codes = dict[str, set[str]]


@pytest.fixture(scope="module")
def printed(shared_data: Path) -> Codes:
    """The codes that Drishti printed, by log id, of all logs that it finished."""
    with (shared_data / "darshan" / "drishti-io-0.8.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["result"] == "ok"]
    assert len(rows) == 124
    return {row["file"]: set(row["triggered_codes"].split()) for row in rows}


@pytest.fixture(scope="module")
def database(real_sweep: tuple[Path, object]) -> Path:
    """A catalog over all real logs."""
    return Warehouse(real_sweep[0]).database


@pytest.fixture(scope="module")
def finished(shared_data: Path, printed: Codes) -> str:
    """Paths of the logs that Drishti finished, as a list in SQL."""
    return ", ".join(f"'{shared_data / 'darshan' / file}'" for file in printed)


def test_every_log_fires_what_drishti_printed(database: Path, shared_data: Path, printed: Codes, finished: str) -> None:
    """For each log the set of fired codes is Drishti's, except for the exceptions listed here."""
    rows = ask(
        database,
        "SELECT path, list(code) FILTER (WHERE state = 'fired' AND ruleset = 'drishti') AS codes "
        f"FROM verdicts JOIN logs USING (cluster, night, log_id) WHERE path IN ({finished}) GROUP BY path",
    ).to_pylist()
    fired = {str(Path(row["path"]).relative_to(shared_data / "darshan")): set(row["codes"] or ()) for row in rows}
    assert printed.keys() == fired.keys()
    assert EXCEPTIONS == {file: codes ^ fired[file] for file, codes in printed.items() if codes != fired[file]}


def test_exceptions_stay_few() -> None:
    """No more than two logs may differ."""
    assert len(EXCEPTIONS) <= 2


def test_drishti_is_for_comparison_only(database: Path) -> None:
    """What only ruleset `drishti` finds is no finding."""
    got = ask(database, "SELECT DISTINCT ruleset FROM findings JOIN verdicts USING (cluster, night, log_id, code)")
    assert ["iomine"] == got["ruleset"].to_pylist()


def test_sums_of_costs_agree(database: Path) -> None:
    """What findings cost is one sum for each real log, wherever it is shown, and never more than the I/O time or the run."""
    assert [] == disagreements(database)
    # One of them met a slow OST, so there is a part of the facility to agree on.
    assert 45_000 < ask(database, "SELECT sum(facility_cost_core_seconds) AS seconds FROM trends")["seconds"][0].as_py()


def test_hosts_in_the_log_count_once_their_word_is_taken(database: Path, finished: str) -> None:
    """With the threshold of the evidence lowered, the checks on aggregators speak of every log whose hosts and hint are known."""
    lowered = [_believing_the_log(TRIGGERS[code]) for code in ("M08", "M09", "M10")]
    reported = f"SEMI JOIN (FROM logs WHERE path IN ({finished})) USING (cluster, night, log_id)"
    codes = ask(database, f"SELECT code FROM ({judge_sql(lowered)}) {reported} WHERE state = 'fired'")["code"].to_pylist()
    known = ask(database, f"SELECT count(*) AS known FROM core.drishti_aggregators {reported} WHERE aggregator_order IS NOT NULL")
    assert {"M08": 5, "M09": 17, "M10": 2} == Counter(codes)
    assert [len(codes)] == known["known"].to_pylist()


def _believing_the_log(trigger: Trigger) -> Trigger:
    thresholds = (replace(above, value=0) if above.metric == "node_evidence" else above for above in trigger.all_of)
    return replace(trigger, all_of=tuple(thresholds))


def test_one_night_is_judged_from_its_own_files(database: Path, tmp_path: Path) -> None:
    """Files of other nights are not even opened, so the verdicts on a night cost no more in a long history."""
    cluster, night = ask(database, "SELECT cluster, max(night) AS night FROM logs GROUP BY cluster").to_pylist()[0].values()
    files: dict[str, list[str]] = {}
    for path in (database.parent / "lake").glob("*/cluster=*/night=*/*.parquet"):
        copy = tmp_path / path.relative_to(database.parent)
        copy.parent.mkdir(parents=True)
        copy.write_bytes(path.read_bytes() if path.parent.name == f"night={night}" else b"cannot be opened")
        files.setdefault(path.parts[-4], []).append(str(copy))
    build_catalog(tmp_path / "iomine.duckdb", files, {}, {})
    verdicts = ask(tmp_path / "iomine.duckdb", judge_sql(list(TRIGGERS.values()), [(cluster, night)]))
    expected = ask(database, "SELECT count(*) AS count FROM verdicts WHERE night = ?", [night])["count"].to_pylist()
    assert expected == [verdicts.num_rows]
