"""Reports of made-up logs: hostile ones, odd ones and huge ones, each on a page that can be read."""

import datetime as dt
import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from heat_bins import heat_bins
from outline import HOSTILE, Outline

from iomine.report.facts import Facts, Place, gather
from iomine.report.page import as_json, doubt, page, triggers_page
from iomine.report.pictures import gray_png, heat
from iomine.schema import TABLES
from iomine.schema.registry import arrow_schema
from iomine.triggers import reference_table
from iomine.views.catalog import build_catalog
from iomine.views.query import answer, open_catalog

NIGHT = dt.date(2024, 4, 18)
LOG_ID = "00c6ed035d2e00af"
START = dt.datetime(2024, 4, 18, 12, tzinfo=dt.UTC)
LOG = {
    "log_id": LOG_ID, "job_id": "42", "uid": 1000, "user": "ada", "exe": "/sw/bin/wave -n 3", "app": "wave", "nprocs": 4,
    "start_at": START, "end_at": START + dt.timedelta(seconds=60), "run_seconds": 60.0, "format_version": "3.41",
    "darshan_version": "3.4.4", "is_partial": False, "doubt": "", "read_bytes": 0, "write_bytes": 1024, "read_count": 0,
    "write_count": 0, "io_core_seconds": 0.0, "path": "/logs/wave.darshan", "size_bytes": 1000,
}  # fmt: skip
VERDICT = {
    "log_id": LOG_ID, "ruleset": "iomine", "code": "POSIX-102", "level": "high", "state": "fired", "value": 0.5, "bar": 0.1,
    "trigger_version": "2", "evidence": "bins", "finding": "Half were small.", "advice": "Write more at once.",
    "cost_core_seconds": 12.5, "charged_core_seconds": 12.5, "cause_code": "POSIX-102",
}  # fmt: skip
CLASS = {
    "log_id": LOG_ID, "layer": "mpiio", "phase_class": 1, "op": "write", "evidence": "trace", "access": "shared",
    "is_collective": True, "file_count": 1, "file_id": 1, "rank_count": 4, "request_bytes": 1024, "requests_per_rank": 1,
    "bytes_per_rank": 1024, "request_order": "single", "phase_count": 3, "phase_numbers": [1, 2, 3], "start_seconds": 10.0,
    "end_seconds": 31.0, "gap_seconds": 9.0, "period_seconds": 10.0, "moved_bytes": 12_288, "weight_ratio": 0.75,
    "is_relevant": True, "rank_call_seconds": 2.0, "rank_wait_seconds": 0.5, "rank_exchange_seconds": 0.25,
    "storage_seconds": 1.25, "overcount_seconds": 0.0, "rank_meta_seconds": 0.125, "ior_options": "-a MPIIO -c -w",
    "replay_fidelity": "exact",
}  # fmt: skip
Rows = Sequence[Mapping[str, object]]


@pytest.fixture
def facts_of(tmp_path: Path) -> Callable[..., Facts]:
    """The facts of the log, out of a warehouse of the given rows; columns left out are NULL."""

    def made(**tables: Rows | pa.Table) -> Facts:
        files = {name: [_written(tmp_path / "lake" / name, name, rows)] for name, rows in ({"log": [LOG]} | tables).items()}
        build_catalog(tmp_path / "iomine.duckdb", files, {"triggers": reference_table()}, {})
        with open_catalog(tmp_path / "iomine.duckdb") as con:
            (facts,) = gather(partial(answer, con), [Place("blue", NIGHT, LOG_ID)])
        return facts

    return made


def _written(folder: Path, name: str, rows: Rows | pa.Table) -> str:
    path = folder / "cluster=blue" / f"night={NIGHT}" / "part-0.parquet"
    path.parent.mkdir(parents=True)
    if not isinstance(rows, pa.Table):
        full = [{column: row.get(column) for column in TABLES[name].columns} for row in rows]
        rows = pa.Table.from_pylist(full, schema=arrow_schema(name))
    pq.write_table(rows, path)
    return str(path)


def of_log(name: str, count: int, **columns: object) -> pa.Table:
    """So many rows of the log; columns are arrays or one value for all, and those left out are NULL."""
    arrays = []
    for each in arrow_schema(name):
        value = {"log_id": LOG_ID, **columns}.get(each.name)
        array = pa.array(value, each.type) if isinstance(value, (np.ndarray, list)) else pa.array([value] * count, each.type)
        arrays.append(array)
    return pa.table(arrays, schema=arrow_schema(name))


def posix(count: int, **columns: object) -> pa.Table:
    times = dict.fromkeys(("read_seconds", "write_seconds", "meta_seconds"), 0.5)
    moved = {"read_bytes": 0, "write_bytes": 1024, "read_count": 0, "write_count": 2, "write_size_100_1k_count": 2}
    return of_log("posix_file", count, **times, **moved, **columns)


def test_what_is_not_known_is_a_dash(facts_of: Callable[..., Facts]) -> None:
    """Not a word of Python's: how long a run took is not known."""
    text = " ".join(Outline(page(facts_of(log=[LOG | {"run_seconds": None}], verdict=[VERDICT]))).text.split())
    assert re.search(r"Cost of findings\N{EN DASH}12.5 core-seconds Ran for\N{EN DASH} Read", text)
    assert "None" not in text


def test_what_is_in_doubt_is_said_in_words() -> None:
    """What a column means comes before its name; what is no column of ours stays as it is."""
    said = doubt("counted as unknown: posix_file.meta_seconds (negative), posix_file.read_bytes; v3.41 (old)")
    assert (
        "<bdi>Counted as unknown: time in metadata calls such as open, stat and seek "
        "(<code>posix_file.meta_seconds</code>: negative), bytes read (<code>posix_file.read_bytes</code>); v3.41 (old).</bdi>"
    ) == said


def test_done_well_is_what_lies_on_the_good_side_of_its_threshold(facts_of: Callable[..., Facts]) -> None:
    """Where all reads were small and cost too little to fire, reading was not done well; of what was, three stand there."""
    values = {"POSIX-101": 1.0, "POSIX-102": 0.1, "POSIX-111": 0.0, "POSIX-112": 0.0, "POSIX-121": 0.0}
    often = [{"code": code, "level": "high", "finding_count": 9 - place} for place, code in enumerate(values)]
    clear = [VERDICT | {"code": code, "state": "clear", "value": value, "bar": 0.1} for code, value in values.items()]
    facts = facts_of(verdict=clear, finding_night=often, app_night=[{"app": "wave", "log_count": 1}])
    assert ["POSIX-102", "POSIX-111", "POSIX-112"] == [verdict["code"] for verdict in facts.done_well]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.proof
def test_hostile_names_are_text_wherever_they_stand(text: str, facts_of: Callable[..., Facts]) -> None:
    """Whatever a log says in its names adds no tag, runs nothing, turns no line around and stays small."""
    whose = {"exe": text, "app": text, "user": text, "job_id": text, "path": text, "doubt": text, "darshan_version": text}
    facts = facts_of(
        log=[LOG | whose],
        verdict=[VERDICT | {"finding": f"Most in {text}.", "advice": f"Change {text}.", "evidence": text}],
        log_requests=[{"log_id": LOG_ID, "small_write_path": text, "small_write_ratio": 0.5, "is_complete": True}],
        posix_file=posix(1, file_id=1, rank=0),
        file_name=[{"log_id": LOG_ID, "file_id": 1, "path": text, "mount": text, "fs_type": text}],
        metadata=[{"log_id": LOG_ID, "key": text, "entry": text}],
        module=[{"log_id": LOG_ID, "module": text, "state": "unsound", "reason": text, "is_partial": True}],
        phase_class=[CLASS | {"largest_path": text, "replay_reason": text}],
        ior_run=[ior_run(system=text)],
    )
    for html in (page(facts), page(facts, standalone=True)):
        outline = Outline(html)
        assert "script" not in outline.tags
        assert "b" not in outline.tags
        assert not re.search("[\0\x08\u202a-\u202e\u2066-\u2069]", html)
        assert re.findall("[\\w<>.*]+", text)[0][:8] in outline.text
        assert len(html) < 100_000
    assert json.loads(as_json(facts))["log"]["exe"] == text


def ior_run(**values: object) -> dict[str, object]:
    """A run of IOR that moves a kibibyte in a millisecond, as the class does."""
    usual = {
        "start_at": START, "system": "fast", "output_path": "/ior.json", "test": 1, "repetition": 1, "op": "write",
        "api": "MPIIO", "nprocs": 4, "ior_block_bytes": 1024,
        "ior_transfer_bytes": 1024, "is_shared": True, "is_collective": False,
        "data_seconds": 0.001, "moved_bytes": 1024,
    }  # fmt: skip
    return usual | values


def _model(facts: Facts) -> str:
    """The section of the page, and that its ids and tags are in order."""
    html = page(facts)
    Outline(html)
    return html[html.index('<section id="model"') : html.index('<section id="trace"')]


_PHASES = [
    {"log_id": LOG_ID, "layer": "mpiio", "phase": number, "start_seconds": 10.0 * number, "end_seconds": 10.0 * number + 1}
    for number in (1, 2, 3)
]


def test_io_model_has_a_mark_for_each_phase_and_its_times_and_lines(facts_of: Callable[..., Facts]) -> None:
    """The page and its JSON say the same of a class: what, when, how often, where the time goes, and how IOR does it."""
    facts = facts_of(phase_class=[CLASS], phase=_PHASES)
    html = _model(facts)
    text = Outline(html).text
    assert "This program writes 4.0 KiB 3 times, every 10.0 s (12.0 KiB in all); 4 ranks share one file." in text
    assert re.search('<path class="write-0" d="(M[^M]+){3}"/>', html)
    assert "Class 1 write: 3 phases, 10.0 s to 31.0 s" in text
    assert re.search(r"2\.0 s\s*0\.5 s\s*0\.25 s\s*1\.2 s\s*0\.12 s", text)
    assert '<code class="copy">mpiexec -n 4 ior -a MPIIO -c -w</code>' in html
    assert "exact : the same requests of each rank, in their order." in text.replace("exact:", "exact :")
    assert "iomine sweep --stats PATH" in text
    said = json.loads(as_json(facts))
    assert (4, 1.25, 1) == tuple(
        said["phase_classes"][0][name] for name in ("rank_count", "rank_storage_seconds", "log_class_count")
    )
    assert [[10.0, 11.0], [20.0, 21.0], [30.0, 31.0]] == [
        [row["start_seconds"], row["end_seconds"]] for row in said["class_phases"]
    ]


def test_io_model_has_predictions_where_ior_measured(facts_of: Callable[..., Facts]) -> None:
    """The time of waiting and exchange stays, and storage's is that of IOR; a system without a like test is unknown."""
    facts = facts_of(phase_class=[CLASS], ior_run=[ior_run(), ior_run(system="slow", op="read")])
    assert [("fast", pytest.approx(0.762)), ("slow", None)] == [
        (row["system"], row["predicted_seconds"]) for row in facts.predictions
    ]
    text = Outline(_model(facts)).text
    assert re.search(r"fast\s*0\.76 s", text)
    assert re.search(r"slow\s*unknown", text)
    assert "sweep --stats" not in text


def test_io_model_of_counters_makes_nothing_up(facts_of: Callable[..., Facts]) -> None:
    """Without a trace a class has an outline from its first request to its last, or nothing, and dashes."""
    unknown = dict.fromkeys((
        *("phase_count", "phase_numbers", "gap_seconds", "period_seconds", "request_order", "rank_wait_seconds"),
        *("rank_exchange_seconds", "ior_options", "replay_fidelity"),
    ))  # fmt: skip
    first = CLASS | unknown | {"evidence": "counters", "layer": "stdio", "replay_reason": "IOR has no such layer."}
    facts = facts_of(phase_class=[first, first | {"phase_class": 2, "start_seconds": None, "end_seconds": None}], phase=_PHASES)
    html = _model(facts)
    text = Outline(html).text
    assert html.count('class="write-0 unknown"') == 1
    assert "Class 1 write: phases are not known, 10.0 s to 31.0 s" in text
    assert "Class 2 write: phases are not known, when is not known" in text
    assert "Of these classes counters alone are known, no requests: the run was not traced." in text
    assert "Where waiting is not known" in text
    assert "No line: IOR has no such layer." in text
    assert "None" not in text


def test_io_model_of_a_hundred_classes_is_a_short_table_with_the_rest_counted(facts_of: Callable[..., Facts]) -> None:
    """The twelve that move most have a lane and a row; the rest is one row with their bytes, and many phases are few marks."""
    count, phases = 100, 10_000
    classes = [
        CLASS | {"phase_class": n + 1, "moved_bytes": 1000 + n, "weight_ratio": (1000 + n) / 104_950} for n in range(count)
    ]
    classes[-1] |= {"phase_numbers": list(range(1, phases + 1)), "phase_count": phases}
    starts = np.arange(phases) / phases * 60
    phase = of_log(
        "phase", phases, layer="mpiio", phase=np.arange(1, phases + 1), start_seconds=starts, end_seconds=starts + 1e-6
    )
    facts = facts_of(phase_class=classes, phase=phase)
    html = _model(facts)
    text = Outline(html).text
    assert "The 12 of 100 phase classes that move most" in text
    assert "88 more, not shown" in text
    assert "88 classes that move less are not drawn" in text
    assert f"{sum(1000 + n for n in range(88)) / 1024:.1f} KiB" in text
    assert html.count('<rect class="lane"') == 12
    marks = [row for row in facts.class_phases if row["phase_class"] == count]
    assert phases == sum(row["phase_count"] for row in marks)
    assert len(marks) <= 960
    assert len(html) < 60_000


def test_findings_stand_in_order_of_cost_with_anchor_numbers_and_program(facts_of: Callable[..., Facts]) -> None:
    """The costliest finding is first, and each says what it found, what to change, its numbers and how it is done."""
    cheap = VERDICT | {"code": "POSIX-101", "cause_code": "POSIX-101", "charged_core_seconds": 3.0, "finding": "Reads too."}
    state = {
        "log_id": LOG_ID,
        "server_verdict": "system",
        "server_rule": "The servers were slow.",
        "weather_slowdown_ratio": 3.0,
    }
    metrics = {"log_id": LOG_ID, "small_write_ratio": 0.5, "small_write_count": 5000, "is_complete": True}
    html = page(facts_of(verdict=[cheap, VERDICT], log_weather_profile=[state], log_requests=[metrics]))
    assert html.index('<div id="POSIX-102"') < html.index('<div id="POSIX-101"')
    outline = Outline(html)
    # What is wrong and what to do stand above all numbers.
    assert outline.text.index("Small writes take time") < outline.text.index("Do this: Write more at once.")
    assert outline.text.index("Do this: Write more at once.") < outline.text.index("Time in I/O")
    for said in (
        "Half were small.",
        "Write more at once.",
        "5,000",
        "50%",
        "fires above 10%",
        "setvbuf",
        "Not you: the file system",
    ):
        assert said in outline.text
    assert 'href="triggers.html#POSIX-102"' in html
    assert len(outline.ids) == len(set(outline.ids))


def test_page_of_triggers_says_what_to_change() -> None:
    """What a report's code means comes with the advice, metrics named in it, and code is code."""
    text = triggers_page()
    article = text.partition('<article id="LUSTRE-101"')[2].partition("</article>")[0]
    assert "<h4>What to change</h4>\n<p><bdi>Spread [single_ost_path] over more OSTs." in article
    assert "<code>lfs setstripe -c 16 -S 4M [single_ost_path]</code>" in article
    prose = re.sub("<pre.*?</pre>", "", text, flags=re.DOTALL)
    assert not re.findall(r"`|\\n", prose)


def test_unanswered_questions_are_reported_with_what_the_log_lacks(facts_of: Callable[..., Facts]) -> None:
    """A trigger that could not be assessed is neither fired nor silent; one that does not apply is listed in another line."""
    silent = VERDICT | {"finding": None, "advice": None}
    lacks = {"state": "unknown", "reason": "The log's <b>MPI-IO</b> module is unsound."}
    verdicts = [
        *(silent | lacks | {"code": code} for code in ("MPIIO-101", "MPIIO-102")),
        *(silent | {"state": "not applicable", "code": code} for code in ("POSIX-101", "POSIX-131")),
    ]
    html = page(facts_of(verdict=verdicts))
    text = " ".join(Outline(html).text.split())
    assert 1 == text.count("The log's <b>MPI-IO</b> module is unsound.")
    assert "could not be answered" in text
    assert "Not applicable, since the run did nothing of the kind: POSIX-101 , POSIX-131" in text.replace(
        "POSIX-101,", "POSIX-101 ,"
    )
    assert "POSIX-101" not in text[: text.index("Not applicable, since")].rsplit("Not assessed", 1)[-1]


def test_log_without_any_io_says_so(facts_of: Callable[..., Facts]) -> None:
    """With no records at all each part of the page says that there is nothing, and why."""
    text = Outline(page(facts_of())).text
    for said in (
        "No findings",
        "did no I/O that Darshan saw",
        "has no I/O model",
        "not traced",
        "no Lustre records",
        "No earlier run",
    ):
        assert said in text


def test_log_without_posix_or_heat_map_says_what_is_missing(facts_of: Callable[..., Facts]) -> None:
    """A log of stdio alone has totals and files, no sizes, and no picture for want of a heat map and of a trace."""
    moved = {"write_bytes": 10, "write_count": 1, "read_bytes": 0, "read_count": 0}
    facts = facts_of(
        stdio_file=of_log("stdio_file", 1, file_id=1, rank=0, **moved),
        log_layer=of_log("log_layer", 1, layer="stdio", file_count=1, **moved),
    )
    text = Outline(page(facts)).text
    for said in ("STDIO", "stdio keeps none", "neither a heat map"):
        assert said in text


@pytest.mark.parametrize(("written", "drawn"), [(0, None), (20, 20.0)])
def test_streams_are_no_part_of_the_picture(written: int, drawn: float | None, facts_of: Callable[..., Facts]) -> None:
    """A heat map has what went to standard output; where nothing was written to storage, that is not drawn."""
    lane = of_log(
        "heatmap_rank",
        1,
        file_id=1,
        layer="stdio",
        rank=0,
        bin_seconds=30.0,
        bin_count=2,
        write_bin_numbers=[[0, 1]],
        write_bin_amounts=[[10, 10]],
    )
    facts = facts_of(log=[LOG | {"write_bytes": written}], heatmap_rank=lane, file_name=[{"log_id": LOG_ID, "file_id": 1}])
    assert drawn == (facts.grid and facts.grid.write.sum())


@pytest.mark.parametrize("layers", [{"mpiio": [7, 0], "posix": [0, 40]}, {"posix": [0, 40]}, {"mpiio": [7, 0]}])
def test_each_layer_has_a_map_of_its_own(layers: dict[str, list[int]], facts_of: Callable[..., Facts]) -> None:
    """What MPI-IO moves is drawn by itself, folded, and did not all reach storage; what is drawn above is not folded again."""
    lane = {"log_id": LOG_ID, "file_id": 1, "rank": 0, "bin_seconds": 30.0, "bin_count": 2}
    facts = facts_of(heatmap_rank=[lane | {"layer": layer} | heat_bins(write=bins) for layer, bins in layers.items()])
    assert layers == {layer: grid.write[0].tolist() for layer, grid in facts.layer_grids.items()}
    assert layers.get("posix") == (facts.grid and facts.grid.write[0].tolist())
    html = page(facts)
    maps = ["map-mpiio", "map-posix"] if len(layers) > 1 else ["map-mpiio"] if "mpiio" in layers else []
    assert maps == re.findall('<figure id="(map-[a-z]+)"', html)
    masks = re.findall('<mask id="([^"]+)"', html)
    assert len(maps) + ("posix" in layers) == len(masks) == len(set(masks))


@pytest.mark.proof
def test_hundred_thousand_ranks_are_a_picture_of_few_rows(facts_of: Callable[..., Facts]) -> None:
    """Neighbouring ranks share a row of the picture, which loses no byte, and the page stays small."""
    ranks, bins = 100_000, 20
    lanes = of_log(
        "heatmap_rank", ranks, file_id=1, layer="posix", rank=np.arange(ranks), bin_seconds=3.0, bin_count=bins,
        write_bin_numbers=[[*range(bins)]] * ranks, write_bin_amounts=[[1024] * bins] * ranks,
    )  # fmt: skip
    facts = facts_of(
        log=[LOG | {"nprocs": ranks}], heatmap_rank=lanes, posix_file=posix(1, file_id=1, rank=-1, slowest_rank_seconds=9.0)
    )
    assert facts.grid is not None
    assert facts.grid.write.shape == (64, bins)
    assert facts.grid.write.sum() == ranks * bins * 1024
    html = page(facts)
    assert "rank 99,999" in html
    assert len(html) < 100_000


@pytest.mark.proof
def test_hundred_thousand_files_are_a_short_table_with_the_rest_counted(facts_of: Callable[..., Facts]) -> None:
    """The files that took most time are shown, and the table says how many others there are and what they moved."""
    count = 100_000
    facts = facts_of(posix_file=posix(count, file_id=np.arange(count), rank=0))
    html = page(facts)
    assert "99,980 more files, not shown" in html
    assert "The 20 files of 100,000" in html
    assert len(html) < 100_000


_REQUEST = {"log_id": LOG_ID, "layer": "posix", "rank": 0, "op": "write", "start_seconds": 0.0, "end_seconds": 29.99}
_DETAIL = _REQUEST | {"detail_level": 1, "tolerance_seconds": 0.01, "request_count": 1, "moved_bytes": 1000, "small_count": 1}
_SEGMENT = _REQUEST | {"file_id": 1, "offset_bytes": 0, "length_bytes": 1000}


@pytest.mark.parametrize(
    "traced",
    [{"rank_detail": [_DETAIL]}, {"segment": [_SEGMENT]}, {"rank_detail": [_DETAIL], "segment": [_SEGMENT]}],
    ids=["detail", "requests alone", "both"],
)
def test_one_rank_without_heat_map_has_the_picture_of_its_trace(facts_of: Callable[..., Facts], traced: dict[str, Rows]) -> None:
    """A request's bytes are spread over its time: half of the run in half of the picture, whatever is known of it."""
    facts = facts_of(log=[LOG | {"nprocs": 1}], module=[{"log_id": LOG_ID, "module": "DXT_POSIX", "state": "read"}], **traced)
    assert facts.grid is not None
    assert facts.grid.source == "trace"
    assert [1000.0, 0.0] == [round(half.sum(), 6) for half in np.split(facts.grid.write, 2, axis=1)]
    assert "SELECT * FROM segments" in page(facts)


def test_history_is_of_the_lineage_up_to_the_run(facts_of: Callable[..., Facts]) -> None:
    """Earlier runs come before it, those of others and later ones are left out, and only runs with findings are linked."""

    def run(log_id: str, hours: int, lineage_id: str = "1f") -> dict[str, object]:
        return LOG | {"log_id": log_id, "start_at": START + dt.timedelta(hours=hours), "lineage_id": lineage_id}

    logs = [run("late", 1), run("b", -1), run("a", -2), run(LOG_ID, 0), run("other", -3, "2f")]
    facts = facts_of(log=logs, verdict=[VERDICT | {"log_id": "a"}])
    assert ["a", "b", LOG_ID] == [row["log_id"] for row in facts.history]
    html = page(facts)
    assert 'href="a.html"' in html
    assert 'href="b.html"' not in html


def test_same_facts_give_the_same_bytes(facts_of: Callable[..., Facts]) -> None:
    """Whether a report must be written again depends only on what it says."""
    facts = facts_of(verdict=[VERDICT])
    assert as_json(facts) == as_json(facts)
    assert page(facts) == page(facts)


def test_png_holds_the_cells() -> None:
    """The image data are the indices, a filter byte before each row; nothing is 0, and more is more."""
    cells = heat(np.array([[0.0, 1.0], [1e3, 1e6]]), 1e6)
    assert [[0, 1], [128, 255]] == cells.tolist()
    data = gray_png(cells)
    start = data.index(b"IDAT") + 4
    assert bytes([0, 0, 1, 0, 128, 255]) == zlib.decompress(data[start : data.index(b"IEND") - 8])
