"""What of a trace is highlighted for findings."""

from functools import partial
from pathlib import Path

import pytest
from one_log import CLUSTER, NIGHT, catalog_of
from shared import NOT_HERE, SHARED_DATA

from iomine.report.facts import Facts
from iomine.report.highlights import counted_by_findings, highlights_of
from iomine.triggers import TRIGGERS
from iomine.views.query import answer, ask, open_catalog

_UNEVEN = "darshan/input/sample-badost"


def test_small_is_what_the_log_was_judged_with() -> None:
    """A site may call other requests small than we do, and its reports show those."""
    finding = {"code": "POSIX-101", "finding": "Small.", "metrics": {"small_read_bytes": 4096}}
    (found,) = highlights_of(Facts({}, findings=[finding]), {})
    assert (4096, ["posix"], ["read"]) == (found.length_bytes_below, found.layers, found.ops)


@pytest.mark.parametrize("code", [code for code, trigger in TRIGGERS.items() if trigger.traced])
def test_what_a_trigger_says_of_traces_is_highlighted(code: str) -> None:
    """A finding that comes with all that its trigger names has a highlight, and one that lacks some of it has none."""
    about = TRIGGERS[code].traced
    finding = {"code": code, "finding": "Something.", "metrics": dict.fromkeys(about.named, 7)}
    (found,) = highlights_of(Facts({}, findings=[finding]), {})
    assert (code, [about.layer] if about.layer else None) == (found.code, found.layers)
    for name in about.named:
        assert [] == highlights_of(Facts({}, findings=[finding | {"metrics": finding["metrics"] | {name: None}}]), {})


def test_a_code_of_another_release_has_no_highlight() -> None:
    """A warehouse may hold findings of triggers that are gone."""
    assert [] == highlights_of(Facts({}, findings=[{"code": "POSIX-999", "finding": "Old.", "metrics": {}}]), {})


def test_all_that_a_finding_counts_is_highlighted(tmp_path: Path) -> None:
    """Of a run with a slow OST, all ranks and all OSTs that findings count, not only the worst, which they name."""
    log = SHARED_DATA / f"darshan/{_UNEVEN}.darshan"
    if not log.exists():
        pytest.skip(NOT_HERE)
    database, log_id = catalog_of(log, tmp_path)
    [expected] = ask(
        database,
        "SELECT straggler_count, straggler_rank, slow_ost_count, slow_ost_id "
        "FROM feature.log_rank_profile JOIN feature.log_ost_profile USING (log_id)",
    ).to_pylist()
    findings = [
        {"code": "RANK-101", "finding": "Stragglers.", "metrics": {"straggler_rank": expected["straggler_rank"]}},
        {"code": "LUSTRE-203", "finding": "Slow.", "metrics": {"slow_ost_id": expected["slow_ost_id"]}},
    ]
    facts = Facts({"cluster": CLUSTER, "night": NIGHT, "log_id": log_id}, findings=findings)
    with open_catalog(database) as con:
        counted = counted_by_findings(partial(answer, con), [facts])
    stragglers, osts = highlights_of(facts, counted[log_id])
    assert expected["straggler_count"] == len(set(stragglers.ranks)) > 1
    assert expected["straggler_rank"] == stragglers.ranks[0]
    assert (expected["slow_ost_count"], expected["slow_ost_id"]) == (len(osts.ost_ids), osts.ost_ids[0])
