"""Small pictures of reports, held against SQL over the same views, against PyDarshan, and against what its peers show."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import darshan
import numpy as np
import pytest
from darshan.experimental.plots.plot_common_access_table import plot_common_access_table
from darshan.experimental.plots.plot_io_cost import get_io_cost_df
from one_log import catalog_of, facts_of, report_page
from outline import Outline

from iomine.report.facts import Facts
from iomine.report.grids import Grid
from iomine.report.multiples import Picture, pictures_of
from iomine.report.pictures import gray_png, run_picture, strips_of
from iomine.units import human_bytes
from iomine.views.query import ask

REPO: Final = Path(__file__).parents[3]
OPENPMD: Final = "dxt-explorer/jeanbez_8_benchmark_parallel_id45195555_8-6-50011-11681279140261054765_1628283217.darshan"
LOGS: Final = {
    "badost": "darshan/input/sample-badost.darshan",
    "e3sm": "darshan-logs/e3sm_io_heatmaps_and_dxt/e3sm_io_heatmap_only.darshan",
    "openpmd": OPENPMD,
}
LAYERS: Final = {"POSIX": "posix", "MPI-IO": "mpiio", "STDIO": "stdio"}


def _pictures(facts: Facts) -> dict[str, Picture]:
    return {picture.id: picture for picture in pictures_of(facts)}


@pytest.mark.proof
def test_pictures_say_what_sql_and_pydarshan_say(shared_data: Path, tmp_path: Path) -> None:
    """Calls, sizes, mounts, files, ranks and times are those of the views, and of PyDarshan where it counts the same."""
    log = shared_data / "darshan" / LOGS["e3sm"]
    database, log_id = catalog_of(log, tmp_path)
    facts = facts_of(database, log_id)
    found = _pictures(facts)
    report = darshan.DarshanReport(str(log), read_all=True)

    calls = ask(database, "SELECT call_kind, call_count FROM log_calls WHERE call_count > 0").to_pylist()
    assert sorted((row["call_kind"], f"{row['call_count']:,}") for row in calls) == sorted(
        (line.name, line.value) for line in found["calls"].lines
    )
    of_posix = {line.name: line.value for line in found["calls"].lines if line.group == "POSIX"}
    counters = report.records["POSIX"].to_df()["counters"]
    assert [f"{counters[f'POSIX_{name.upper()}S'].sum():,}" for name in ("open", "seek", "read", "write")] == [
        of_posix[name] for name in ("open", "seek", "read", "write")
    ]

    usual = plot_common_access_table(report, "POSIX").df
    shown = [line for line in found["access-sizes"].lines if line.group == "POSIX"]
    assert [(human_bytes(size), f"{count:,}") for size, count in zip(usual["Access Size"], usual["Count"], strict=True)] == [
        (line.name, line.value.partition(", ")[0]) for line in shown
    ]

    cost = get_io_cost_df(report)
    runs = facts.log["run_seconds"]
    for layer in ("POSIX", "MPIIO"):
        (row,) = (row for row in facts.layers if row["layer"] == layer.lower())
        of_layer = [row[f"{kind}_core_seconds"] / facts.log["nprocs"] for kind in ("read", "write", "meta")]
        assert cost.loc[layer, ["Read", "Write", "Meta"]].to_list() == pytest.approx(of_layer)
    of_layer = next(line for line in found["layer-time"].lines if line.name == "POSIX")
    assert cost.loc["POSIX", ["Read", "Write", "Meta"]].to_list() == pytest.approx([part * runs for _, part in of_layer.parts])

    (mount,) = ask(database, "SELECT sum(read_bytes) AS read, sum(write_bytes) AS written FROM files GROUP BY mount").to_pylist()
    words = f"{human_bytes(mount['read'])} read, {human_bytes(mount['written'])} written, 3 files"
    assert [words] == [line.value for line in found["mounts"].lines]
    kinds = ask(database, "SELECT count(*) FILTER (read_bytes > 0 AND write_bytes = 0) AS n FROM files").to_pylist()
    assert found["file-kinds"].lines[0].value.startswith(f"{kinds[0]['n']}; ")

    (spread,) = (row for row in facts.spreads if row["spread_over"] == "rank")
    most = ask(database, "SELECT max(read_bytes + write_bytes) AS most FROM rank_io WHERE layer = 'all'").to_pylist()
    assert not spread["is_timed"]
    assert most[0]["most"] == spread["most_amount"] == spread["amounts"][0]


@pytest.mark.proof
def test_time_and_bytes_by_size_are_those_of_traced_requests(shared_data: Path, tmp_path: Path) -> None:
    """Classes of a trace add up to its requests, and hold as many as Darshan's counters have in them."""
    database, log_id = catalog_of(shared_data / "darshan" / OPENPMD, tmp_path)
    facts = facts_of(database, log_id)
    sums = {
        row["op"]: row
        for row in ask(
            database,
            "SELECT op, sum(length_bytes) AS moved, sum(end_seconds - start_seconds) AS seconds "
            "FROM segments WHERE layer = 'posix' GROUP BY op",
        ).to_pylist()
    }
    for op, row in sums.items():
        of_op = [each for each in facts.size_sums if each["layer"] == "posix" and each["op"] == op]
        assert row["moved"] == sum(each["moved_bytes"] for each in of_op)
        assert row["seconds"] == pytest.approx(sum(each["request_seconds"] for each in of_op))


@pytest.mark.proof
@pytest.mark.parametrize(
    "path",
    [
        LOGS["e3sm"],
        "aiio/dbin_h5bench_openpmd_write_id66082102-11665_1-17-41968-4919217136106122637_1.darshan",
        "io-sleuthing/hdf5/polaris/robl_h5par-comparison-collio_id16536-16536_3-17-51462-3971621261006749948_1.darshan",
        "io-sleuthing/noncontig/polaris/robl_ior_id19789-19789_3-14-69746-5968882044224673607_2.darshan",
    ],
    ids=["e3sm", "openpmd", "hdf5", "ior"],
)
def test_heat_map_of_each_layer_is_that_of_pydarshan(path: str, shared_data: Path, tmp_path: Path) -> None:
    """Cells are PyDarshan's bins, neighbouring ranks together; what reached storage is all but MPI-IO."""
    log = shared_data / "darshan" / path
    facts = facts_of(*catalog_of(log, tmp_path))
    report = darshan.DarshanReport(str(log), read_all=False)
    report.read_all_heatmap_records()
    maps = {name.lower(): heat_map for name, heat_map in report.heatmaps.items()}
    assert maps.keys() == facts.layer_grids.keys() >= {"mpiio", "posix"}
    assert facts.grid is not None
    for op in ("read", "write"):
        stored = np.zeros_like(facts.grid.read)
        for layer, heat_map in maps.items():
            bins, cells = heat_map.to_df([op]), getattr(facts.layer_grids[layer], op)
            expected = np.zeros_like(cells)
            np.add.at(expected[:, : bins.shape[1]], bins.index.to_numpy() * len(cells) // facts.log["nprocs"], bins.to_numpy())
            assert np.array_equal(expected, cells)
            # Of standard output alone nothing is stored.
            stored += expected * (layer != "mpiio" and facts.log[f"{op}_bytes"] > 0)
        assert np.array_equal(stored, getattr(facts.grid, op))


def _rows() -> list[tuple[str, list[tuple[str, str]]]]:
    """What the page on peers says of each row: what is shown, and as which element of the report of which log."""
    lines = [line.split("|") for line in (REPO / "docs" / "peers.md").read_text(encoding="utf-8").splitlines() if "`#" in line]
    return [(cells[1].strip(), re.findall(r"`#([\w-]+)` of `(\w+)`", cells[5])) for cells in lines if len(cells) > 5]


@pytest.mark.proof
def test_report_shows_what_its_peers_show(shared_data: Path, tmp_path: Path) -> None:
    """Each row of the page on peers names elements of a report, which are there and say something."""
    pages = {name: report_page(*catalog_of(shared_data / "darshan" / log, _folder(tmp_path, name))) for name, log in LOGS.items()}
    ids = {name: set(Outline(html).ids) for name, html in pages.items()}
    rows = _rows()
    assert len(rows) > 20
    assert [] == [
        (what, place) for what, places in rows for place in places or [("", "")] if place[0] not in ids.get(place[1], ())
    ]
    for html in pages.values():
        for figure in re.findall(r'<figure id="[\w-]+".*?</figure>', html, re.DOTALL):
            assert "<svg" in figure


def _folder(parent: Path, name: str) -> Path:
    folder = parent / name
    folder.mkdir()
    return folder


def test_picture_that_would_say_nothing_gives_its_reason() -> None:
    """Without anything known there is no picture, and each says why; the page then has no section for them."""
    log: dict[str, Any] = {"run_seconds": None, "nprocs": 4, "io_core_seconds": None}
    assert all(picture.lacks and not picture.lines and not picture.drawing for picture in pictures_of(Facts(log)))


def test_ranks_that_stand_out_are_named() -> None:
    """Three of them by name and the others by number; where all are alike there is no curve."""
    spread = {
        "spread_over": "rank", "layer": "all", "is_timed": True, "spread_count": 9, "median_amount": 1.0, "most_amount": 8.0,
        "amounts": [8.0] * 32 + [1.0] * 32, "outlier_count": 4, "outliers": [5, 6, 7], "outlier_amounts": [8.0, 4.0, 3.0],
    }  # fmt: skip
    log = {"run_seconds": 9.0, "nprocs": 9, "io_core_seconds": None}
    ranks = _pictures(Facts(log, spreads=[spread]))["ranks"]
    assert "More than twice the median: rank 5 with 8.0 s, rank 6 with 4.0 s, rank 7 with 3.0 s and 1 more." in ranks.says
    even = spread | {"most_amount": 1.05, "outlier_count": 0}
    assert "much the same" in _pictures(Facts(log, spreads=[even]))["ranks"].lacks


def test_one_run_before_is_not_called_usual() -> None:
    """What is usual needs several runs; of one alone its time is given."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    log = {"run_seconds": 9.0, "nprocs": 4, "io_core_seconds": 8.0}
    for count, least, said in (
        (1, 4.0, "8.0 s of all ranks in I/O, after 4.0 s in the run before."),
        (2, 3.0, "above the usual"),
    ):
        usual = {"earlier_run_count": count, "usual_least_core_seconds": least, "usual_most_core_seconds": 4.0}
        runs = [{"start_at": start, "io_core_seconds": seconds} | usual for seconds in (4.0, 8.0)]
        assert said in _pictures(Facts(log, history=runs))["runs"].says


def test_time_of_a_layer_that_is_not_known_is_not_zero() -> None:
    """A layer without a time of its slowest ranks has no mark, and none is said."""
    times = {"read_core_seconds": 4.0, "write_core_seconds": 0.0, "meta_core_seconds": 0.0}
    layers = [{"layer": "mpiio", "slowest_io_seconds": None} | times, {"layer": "posix", "slowest_io_seconds": 2.0} | times]
    log = {"run_seconds": 9.0, "nprocs": 4, "io_core_seconds": None}
    mpiio, posix = _pictures(Facts(log, layers=layers))["layer-time"].lines
    assert ("11% of the run", None) == (mpiio.value, mpiio.mark)
    assert posix.value.endswith("; slowest by file 2.0 s")


def test_time_of_a_layer_that_is_longer_than_the_run_stays_in_its_rectangle() -> None:
    """Threads wait at once; the parts of their time share the width, and no share of the run is above 100%."""
    times = {"read_core_seconds": 40.0, "write_core_seconds": 20.0, "meta_core_seconds": 20.0, "slowest_io_seconds": 50.0}
    log = {"run_seconds": 10.0, "nprocs": 4, "io_core_seconds": 40.0}
    layers = [
        {"layer": "posix"} | times,
        {"layer": "stdio", "slowest_io_seconds": 1.0, "read_core_seconds": 40.1}
        | dict.fromkeys(("write_core_seconds", "meta_core_seconds"), 0.0),
    ]
    posix, stdio = _pictures(Facts(log, layers=layers))["layer-time"].lines
    assert posix.value == "longer than the run, since calls of threads overlap; slowest by file 50.0 s"
    assert [("read", 0.5), ("write", 0.25), ("meta", 0.25)] == list(posix.parts)
    assert stdio.value.startswith("100% of the run; ")


def test_sums_at_the_sides_are_those_of_the_cells() -> None:
    """The busiest moment and the busiest rank fill their side, and the others as much of it as they moved."""
    write = np.array([[0.0, 4.0, 0.0], [1.0, 0.0, 0.0]])
    html = run_picture(Grid("heatmap", 3.0, np.zeros((2, 3)), write), 2)
    assert 'd="M0 100V75h1V0h1V100h1V100z"' in html
    assert 'd="M0 100V0h1V75h1V100z"' in html
    assert "Bytes read" not in html


def test_servers_are_marked_from_where_they_are_slow() -> None:
    """Below that they have the colour of what is as usual; a strip ends with its last ten minutes, or the run."""
    slots = [
        {"target_kind": kind, "starts": [-300.0, 300.0], "slowdown_ratios": [1.0, most]}
        for kind, most in (("ost", 3.0), ("mdt", 1.5))
    ]
    ost, mdt = strips_of([], slots, 1000.0)
    assert ("slow", 3.0, 900.0, 1.0) == (ost.kind, ost.most, ost.end, ost.level)
    assert ("meta", 2.0) == (mdt.kind, mdt.most)
    html = run_picture(Grid("heatmap", 1000.0, np.ones((1, 2)), np.zeros((1, 2))), 1, [ost])
    assert "M0 100V67H300V100zM300 100V0H900V100z" in html


def test_mask_lets_nothing_pass_where_there_is_nothing() -> None:
    """Black is nothing, and what is hardly anything is not black."""
    data = gray_png(np.array([[0, 1, 255]], np.uint8))
    palette = data[data.index(b"PLTE") + 4 :]
    assert (b"\0\0\0", b"\x2d\x2d\x2d") == (palette[:3], palette[3:6])
    assert b"\xff\xff\xff" == palette[255 * 3 : 256 * 3]
