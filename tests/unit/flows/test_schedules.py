"""What a site's Prefect server runs by schedule exists."""

import inspect
import shutil
from datetime import date
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from facility import FIRST, Facility
from sweeping import judge_by_one, write_no_reports

from iomine.errors import IomineError
from iomine.lake import Warehouse
from iomine.pipeline.digest import Order
from iomine.pipeline.ingest import known
from iomine.pipeline.reports import due
from iomine.pipeline.site.config import NightlySettings
from iomine.pipeline.sweep import Settings, Summary, run

SCHEDULES = yaml.safe_load((Path(__file__).parents[3] / "deploy" / "prefect.yaml").read_text(encoding="utf-8"))


def test_schedules_name_flows_and_their_parameters():
    """Each deployment has a flow of its own, which takes the parameters that it is given."""
    from prefect import Flow  # noqa: PLC0415  takes seconds, and both processes of a run collect this file

    flows = []
    for deployment in SCHEDULES["deployments"]:
        room, _, name = deployment["entrypoint"].rpartition(".")
        flows.append(getattr(import_module(room), name))
        assert isinstance(flows[-1], Flow)
        inspect.signature(flows[-1].fn).bind(**deployment["parameters"])
    assert {"nightly", "digest", "backfill"} == {each.name for each in flows}


def test_the_task_of_the_digest_writes_mails(tmp_path: Path):
    """Run outside of a flow, the flow's one task does what the command does."""
    from iomine.flows.digest import send  # noqa: PLC0415  as above

    root = Facility(tmp_path / "warehouse").root
    (root / "digest.toml").write_text("least_core_hours = 0.0\n")
    done = send.fn(Order(root, since=FIRST, outbox=tmp_path / "outbox"))
    assert len(done.post.sent) == len(list((tmp_path / "outbox").glob("*.eml"))) > 0


@pytest.mark.proof
def test_the_flow_of_a_range_passes_over_nights_that_are_done(tmp_path: Path, shared_data: Path, monkeypatch: pytest.MonkeyPatch):
    """As the command does; a night without a folder is named, and does not keep the others from being swept."""
    from iomine.flows import nightly  # noqa: PLC0415  as above

    folder = tmp_path / "logs" / "2017-06-20"
    folder.mkdir(parents=True)
    shutil.copy(shared_data / "darshan/darshan/input/sample-badost.darshan", folder)
    (tmp_path / "iomine.toml").write_text(f'[clusters.edison]\nlogs = ["{tmp_path}/logs/%Y-%m-%d"]\n[workers]\ncount = 1\n')
    judge_by_one(monkeypatch)
    write_no_reports(monkeypatch)
    swept: list[Settings] = []

    def sweep(settings: Settings, _: date) -> Summary:
        swept.append(settings)
        summary = run(settings)
        due(Warehouse(tmp_path)).strike(due(Warehouse(tmp_path)).noted())
        return summary

    monkeypatch.setattr(nightly, "_swept", sweep)
    # What was written a moment ago might still change.
    monkeypatch.setattr(known, "_SETTLED_NS", 0)
    for _ in range(2):
        with pytest.raises(IomineError, match=r"edison, 2017-06-19: None of the folders of edison is there"):
            nightly.backfill.fn(tmp_path, date(2017, 6, 19), date(2017, 6, 20))
    assert [(folder,)] == [settings.paths for settings in swept]


@pytest.mark.proof
def test_the_flow_of_a_night_does_what_follows_the_sweeps(tmp_path: Path):
    """As the command does, in its order: notices, mails, pages and figures, those that the settings ask for."""
    from iomine.flows import nightly  # noqa: PLC0415  as above

    root = Facility(tmp_path / "warehouse").root
    asked = NightlySettings(notify=True, digest=True, site=str(tmp_path / "site"), metrics=str(tmp_path / "iomine.prom"))
    after = list(nightly._after(asked, root))
    assert ["notices", "digest", "pages", "figures"] == [each.func.name for each in after]
    assert [] == list(nightly._after(NightlySettings(), root))
    for each in after[2:]:
        each.func.fn(*each.args)
    assert (tmp_path / "site" / "index.html").exists()
    assert "iomine_newest_night_age_seconds" in (tmp_path / "iomine.prom").read_text()
