"""Lineages are found, and what changed in them: of simulated facilities and of real logs."""

import re
from pathlib import Path

import pytest
from lineage_truth import PAGE, Found, cluster_of, found, real_lineages, real_page
from shared import NOT_HERE, Row, darshan_rows, log_of, workloads
from sweeping import judge_by_one, rows

from iomine.pipeline.sweep import Settings, run

_SEEDS = (1,)
pytestmark = [pytest.mark.site, pytest.mark.skipif(not darshan_rows(), reason=NOT_HERE)]


def rows_of_page() -> list[Found]:
    """The rows of the table of facilities."""
    lines = PAGE.read_text().partition("## Real logs")[0].splitlines()
    return [Found(*map(int, line.strip("| ").split(" | "))) for line in lines if re.match(r"\| \d", line)]


@pytest.fixture(scope="module")
def lineages() -> list[Row]:
    """Lineages of the real logs."""
    return real_lineages()


@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", _SEEDS)
def test_changes_in_a_facility_are_found(seed: int) -> None:
    """The page's row of a facility is what comes out: the regression and the follower, and nothing else."""
    (got,) = found([seed])
    assert [row for row in rows_of_page() if row.seed == seed] == [got]
    assert (1, 1) == (got.regressions, got.steps)
    assert (got.reported, got.reported) == (got.followed, got.gone)


def test_the_page_adds_up() -> None:
    """What the page says of all facilities follows from its table, and is at least nine of ten."""
    found_, text = rows_of_page(), PAGE.read_text()
    regressions, steps, reported, followed, gone = (
        sum(getattr(row, name) for row in found_) for name in ("regressions", "steps", "reported", "followed", "gone")
    )
    for part, whole in ((regressions, len(found_)), (regressions, steps), (followed, reported), (followed, gone)):
        assert f"{part / whole:.2f} ({part} of {whole})" in text
        assert part >= 0.9 * whole


def test_the_table_of_real_lineages_is_what_came_out(lineages: list[Row]) -> None:
    """docs/lineage_truth.md lists the lineages of the real logs; `python tests/lineage_truth.py` writes it anew."""
    assert "\n".join(real_page(lineages)) in PAGE.read_text()


@pytest.mark.parametrize(
    ("application", "stem", "count"),
    [
        # IOR: a study of caches, which varies files for all or for each; and writes apart from the reads of what was written.
        ("ior", "atpesc-hands-on/cache-demo", 8),
        ("ior", "aiio/dbin_ior_id66184525", 2),
        ("ior", "aiio/dbin_ior_id66186", 2),
        ("h5bench_openpmd_write", "aiio/dbin_h5bench", 2),
        # DLIO: its readers, what looks after their memory, and the ranks that do not write.
        ("multiprocessing.spawn", "darshan-logs/dlio_logs", 8),
        ("multiprocessing.resource_tracker", "darshan-logs/dlio_logs", 4),
        ("dlio_benchmark", "darshan-logs/dlio_logs", 3),
    ],
)
def test_repeated_runs_are_one_lineage(application: str, stem: str, count: int, lineages: list[Row]) -> None:
    """Campaigns whose runs are known to be of the same are lineages with no other runs in them."""
    same = [row["paths"] for row in lineages if row["application"] == application and row["paths"][0].startswith(stem[:20])]
    assert count in [len(paths) for paths in same if all(path.startswith(stem) for path in paths)]


def test_what_differs_is_no_lineage(lineages: list[Row]) -> None:
    """Runs of one lineage are of one source, machine, user and number of processes, and name one program."""
    by_file = {row["file"]: row for row in darshan_rows()}
    for lineage in lineages:
        found_ = [by_file[path] for path in lineage["paths"]]
        assert 1 == len({(cluster_of(row), row["uid"], row["nprocs"]) for row in found_})
        # The manifest cuts long commands, and misreads those of one development version and of formats before 3.00.
        whole = [row for row in found_ if len(row["exe"]) < 160 and not {"bad-header", "legacy-2.x"} & {*row["tags"].split(";")}]
        assert [] == [row["exe"] for row in whole if lineage["application"] not in row["exe"]]


@pytest.mark.skipif(not workloads(), reason=NOT_HERE)
def test_slow_run_of_a_series(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one program that was run ten times, the run that was given slow storage is found, and no other."""
    judge_by_one(monkeypatch)
    series = [row for row in workloads() if row["truth"].get("series") == "s130_weekly"]
    outlier = next(log_of(row).name for row in series if row["truth"]["series_outlier"])
    run(Settings(tuple(map(log_of, series)), tmp_path, workers=1))
    assert [{"log_count": len(series)}] == rows(tmp_path, "SELECT log_count FROM lineages")
    (got,) = rows(tmp_path, "SELECT path, regression_kind, io_slowdown_ratio FROM regressions JOIN logs USING (log_id)")
    assert (outlier, "run") == (Path(got["path"]).name, got["regression_kind"])
    assert got["io_slowdown_ratio"] > 2
