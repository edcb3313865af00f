"""Snapshots of the fabric in sweeps: kept once for as long as they hold, for ever as rows, with what a site adds."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from shared import NOT_HERE, SHARED_DATA
from sweeping import column, judge_by_one

from iomine.errors import UsageError
from iomine.lake import LakeFile, Warehouse
from iomine.pipeline.ingest.statistics import Holding, Key
from iomine.pipeline.site.fabric import FabricSettings, site_fabric
from iomine.pipeline.site.retention import expired, parse_retention, perishable
from iomine.pipeline.stages.context import Counts
from iomine.pipeline.sweep import Settings, run
from iomine.schema.registry import arrow_schema

TEMPLATE = Path(__file__).parents[3] / "deploy" / "fabric.toml"
AT = datetime(2026, 1, 5, tzinfo=UTC)
ROUTES = SHARED_DATA / "fabric" / "psmn_x5"
A, B = "a" * 64, "b" * 64


def holding(*read, kind="forwarding_tables"):
    """Snapshots of which each is given by its bytes and its hour."""
    rows = [
        {"sha256": sha256, "source_kind": kind, "first_at": AT + timedelta(hours=hour), "cluster": "c"} for sha256, hour in read
    ]
    return Holding(pa.Table.from_pylist(rows, schema=arrow_schema("source_file")), "c")


def says(snapshots, sha256, hour):
    return snapshots.says(Key(sha256, None, None, AT + timedelta(hours=hour)))


def test_a_return_is_a_new_reading():
    """What holds already is not read again; after something else it is, whatever the order in which they come."""
    snapshots = holding((A, 1), (B, 3))
    assert [True, False, True, True] == [says(snapshots, A, hour) for hour in (2, 4, 5, 2)]
    # A reading from before the first is new: nothing held then.
    assert [False, True] == [says(snapshots, A, 0), says(snapshots, B, 3.5)]


def test_counters_are_no_snapshots():
    """Equal counters at another moment say that nothing has moved."""
    assert not says(holding((A, 1), kind="perfquery"), A, 2)
    assert not says(holding((A, 1), kind="forwarding_tables"), B, 2)


def test_snapshots_of_other_machines_do_not_count():
    """What one machine has is nothing that another has."""
    rows = pa.Table.from_pylist(
        [{"sha256": A, "source_kind": "hosts", "first_at": AT, "cluster": "c"}], schema=arrow_schema("source_file")
    )
    assert [True, False] == [A in Holding(rows, cluster) for cluster in "cd"]


@pytest.mark.proof
@pytest.mark.skipif(not ROUTES.exists(), reason=NOT_HERE)
def test_sweeps_keep_what_changes(tmp_path: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch):
    """Of five dumps two say what the one before says; a second sweep, and a third with one more, keep nothing twice."""
    judge_by_one(monkeypatch)
    first, other = ROUTES / "opensm_updn" / "opensm-lfts.dump", ROUTES / "opensm_minhop" / "dump_fts.txt"
    stats, logs = tmp_path / "stats", tmp_path / "logs"
    logs.mkdir()

    def add(moment, source):
        (stats / moment).mkdir(parents=True)
        (stats / moment / "tables").write_bytes(source.read_bytes())

    def sweep():
        return run(Settings((logs,), tmp_path / "w", "c", scheduler, stats=(stats,))).statistics

    for moment, source in (("05/0000", first), ("05/1000", first), ("05/2000", other), ("06/0000", first), ("06/1000", first)):
        add(f"2026-01-{moment}", source)
    assert Counts(5, 3, 2, 0) == sweep()
    assert Counts(5, 0, 5, 0) == sweep()
    add("2026-01-07/0000", other)
    add("2026-01-07/1000", other)
    assert Counts(7, 1, 6, 0) == sweep()
    moments = column(tmp_path / "w", "SELECT DISTINCT sampled_at::VARCHAR AS moment FROM core.fabric_route ORDER BY moment")
    assert ["2026-01-05 00:00", "2026-01-05 20:00", "2026-01-06 00:00", "2026-01-07 00:00"] == [at[:16] for at in moments]


def test_snapshots_never_leave():
    """The last of them may be the only one in force: no days can be set, while readings of ports leave."""
    assert not {"fabric_link", "fabric_name", "fabric_node", "fabric_route"} & set(perishable())
    with pytest.raises(UsageError, match="fabric_node cannot leave the lake"):
        parse_retention("[days]\nfabric_node = 3\n")
    files = [
        LakeFile(table, "c", date(2026, 1, day), Path(f"{table}-{day}"), 1, 1)
        for table in ("fabric_node", "port_reading", "log")
        for day in (1, 20)
    ]
    past = expired(parse_retention("[days]\nport_reading = 3\n"), files, "c", date(2026, 1, 20))
    assert {("port_reading", date(2026, 1, 1))} == past


def test_the_template_sets_nothing():
    """As it is, and with its values uncommented, it says what would hold anyway."""
    text = TEMPLATE.read_text(encoding="utf-8")
    assert FabricSettings() == FabricSettings.parse(text) == FabricSettings.parse(text.replace("#file", "file"))


def test_what_a_site_adds(tmp_path: Path):
    """Names are read from the file that is named, beside the warehouse's own."""
    (tmp_path / "hosts.map").write_text('# ours\n0x8f10400411a08 "n1"\nH-003048c74e4a0000 n2\n')
    (tmp_path / "fabric.toml").write_text(
        '[names]\nfile = "hosts.map"\n[servers]\n"scratch-OST0014" = "oss05"\n[gateways]\n"tcp1" = ["router1", "router2"]\n'
    )
    given = site_fabric(Warehouse(tmp_path))
    assert {"0008f10400411a08": "n1", "003048c74e4a0000": "n2"} == given.hosts
    assert ({"scratch-OST0014": "oss05"}, {"tcp1": ("router1", "router2")}) == (given.servers, given.gateways)
    (tmp_path / "fabric.toml").unlink()
    assert ({}, {}, {}) == site_fabric(Warehouse(tmp_path))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (None, "cannot be read .* change names.file"),
        ("n1 0x8f10400411a08\n", r"no list of guids and hosts: Left out, 1 in all: line 1"),
        ("0x8f10400411a08 n1\n0x8f10400411a08 n2\n", "guids left out, which have several names: 1"),
    ],
)
def test_names_that_are_none(tmp_path: Path, names: str | None, message: str):
    """A file that cannot be used is named, with what is wrong."""
    (tmp_path / "fabric.toml").write_text('[names]\nfile = "hosts.map"\n')
    if names is not None:
        (tmp_path / "hosts.map").write_text(names)
    with pytest.raises(UsageError, match=message):
        site_fabric(Warehouse(tmp_path))
