"""What a site's Prefect server runs by schedule exists."""

import inspect
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from facility import FIRST, Facility

from iomine.pipeline.digest import Order
from iomine.pipeline.site.config import NightlySettings

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
