"""Pairs of runs of which it is known why one took longer: real ones, and a simulated user who follows advice."""

import json
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest
from catalogs import catalog_of
from lineage_truth import CLUSTER, JUDGES, files_of

from iomine.pipeline.judging.judge import judge
from iomine.report.facts import Place
from iomine.report.pair import REST, Pair, gather_pair
from iomine.simulate import Settings, simulate
from iomine.sources.darshan import read_log
from iomine.triggers import judge as judge_sql_room
from iomine.views.query import answer, ask, open_catalog

pytestmark = pytest.mark.proof
Explain = Callable[[str, str], Pair]


def _explain(folder: Path, logs: Iterable[Path]) -> Explain:
    """Compares two of these logs, of which parts of the names are given, read and judged as a sweep does."""
    files = files_of(folder / "lake", ((CLUSTER, read_log(str(path)), str(path)) for path in logs))
    with patch.object(judge_sql_room, "FINDING_CORE_SECONDS", 0.0):
        judged = judge((), folder / "staging", files, JUDGES).files
    database = catalog_of(folder, [*files, *judged])
    places = {row["path"]: Place(CLUSTER, row["night"], row["log_id"]) for row in ask(database, "FROM logs").to_pylist()}

    def explain(first: str, second: str) -> Pair:
        chosen = [next(place for path, place in places.items() if each in path) for each in (first, second)]
        with open_catalog(database) as con:
            return gather_pair(partial(answer, con), *chosen)

    return explain


@pytest.fixture(scope="module")
def real(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Explain:
    """Two runs of IOR, one of which met a bad OST, and two of a program whose data were put in order between them."""
    wanted = ("darshan/input/sample-goodost.*", "darshan/input/sample-badost.*", "aiio/dbin_tmatch*")
    logs = [path for pattern in wanted for path in sorted((shared_data / "darshan").glob(pattern))]
    return _explain(tmp_path_factory.mktemp("real"), logs)


def test_a_bad_ost_is_named(real: Explain) -> None:
    """Nearly all of the 775 s more went into a rank whose file lies on OST 14, which is said, with the runs' sizes."""
    pair = real("sample-goodost", "sample-badost")
    lead, *others = pair.explained()
    assert lead.startswith("The second run took 12 min 55 s longer (13 min 00 s instead of 5.0 s); 12 min 23 s of that went into")
    assert "rank 1,507 alone" in lead
    assert "OST 14 (OST000e) is slow" in lead
    assert "The runs are not of one size" in others[-1]
    assert {"RANK-101": "new", "LUSTRE-203": "new"}.items() <= {each.code: each.change for each in pair.changes()}.items()


def test_data_in_order_is_named(real: Explain) -> None:
    """The run took longer for no I/O, and its I/O less, in reads, since the data are in few files."""
    (lead,) = real("dbin_tmatch_", "dbin_tmatch-reoganized_").explained()
    assert lead == (
        "The second run took 43.0 s longer (7 min 37 s instead of 6 min 54 s), though its I/O took 5.6 s less "
        "(7.5 s instead of 13.1 s), 7.1 s less in reads: 6 files instead of 26."
    )


@pytest.mark.parametrize("names", [("sample-goodost", "sample-badost"), ("dbin_tmatch_", "dbin_tmatch-reoganized_")])
def test_parts_add_up(names: tuple[str, str], real: Explain) -> None:
    """Parts of a run add up to its length, those of its I/O to the slowest rank's, and no part is below nothing."""
    for side in (real(*names).first, real(*names).second):
        parts = side.parts()
        assert side.log["run_seconds"] == pytest.approx(sum(parts.values()))
        assert side.log["slowest_rank_io_seconds"] == pytest.approx(sum(parts.values()) - parts[REST])
        assert min(parts.values()) >= -1e-9
        kinds = ("read", "write", "meta", "waiting")
        assert side.log["io_core_seconds"] == pytest.approx(sum(side.shape[f"{kind}_part_core_seconds"] for kind in kinds))


def test_followed_advice_is_named(tmp_path: Path) -> None:
    """What a GiB takes comes first; rank 0 did all before, and since then the slowest rank takes no longer than the mean one."""
    simulate(Settings(tmp_path / "out", 400, 1, 7, CLUSTER, dxt_ratio=0, workers=1), lambda *_: None)
    truth = [json.loads(line) for line in (tmp_path / "out" / "truth" / "logs.jsonl").open()]
    incidents = json.loads((tmp_path / "out" / "truth" / "incidents.json").read_text())["incidents"]
    (follower,) = (each["lineage"] for each in incidents if each["kind"] == "advice_followed")
    runs = [(log["archetype"] == "rank0_funnel", log["log"]) for log in truth if log["lineage"] == follower]
    before, since = (next(path for is_funnel, path in runs if is_funnel is asked) for asked in (True, False))
    pair = _explain(tmp_path, (tmp_path / "out" / path for path in (before, since)))(before, since)
    gained, *_ = pair.explained()
    assert gained.startswith("For each GiB the slowest rank of the second run was in I/O for ")
    assert "rank 0" in gained.lower()
    assert pair.first.outlying_ratio > 0.9 * pair.first.log["nprocs"]
    assert pair.second.outlying_ratio < 1.5
