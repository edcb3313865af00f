"""Copies of a warehouse: whole, movable, and with nothing left in them by which a person, job, host or file could be named."""

import json
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from simulated import Facility
from sweeping import column, rows, state, write_no_reports

from iomine.derive.model.replay import Ior
from iomine.errors import OutputError, UsageError, WarehouseError
from iomine.lake import Warehouse
from iomine.pipeline.digest import Order, digest
from iomine.pipeline.export.export import Choice, Exported, export
from iomine.pipeline.export.pseudonyms import _DARSHANS_WORDS, _ENDINGS, _ROOTS, _TERMS, Pseudonyms
from iomine.pipeline.sweep import Settings, run
from iomine.schema import FIELDS, TABLES, Privacy
from iomine.schema.ops import OPS
from iomine.simulate import Settings as Simulation
from iomine.simulate import simulate
from iomine.triggers import TRIGGERS, reference_table
from iomine.views.catalog import build_catalog
from iomine.views.model import find_views
from iomine.views.passing import Connection
from iomine.views.query import answer_own, ask, open_catalog

# A sweep of everything that a site has takes its time on a busy machine.
pytestmark = pytest.mark.timeout(900)
KEY, OTHER_KEY = bytes(range(32)), bytes(range(1, 33))
# What a name may be made of; what stands between, such as slashes, cuts texts into names.
_SIGN = r"[\w.+%~@-]"
# Shorter ones stand in any text by chance, so they are looked for between signs that cut only.
_LONG = 6
_SILENT = (Privacy.OPEN, None)
VIEWS = [view.name for view in find_views() if view.schema == "main"]


@pytest.fixture(scope="module")
def facility(tmp_path_factory: pytest.TempPathFactory) -> Facility:
    """A day of a facility, with a log that cannot be read in somebody's folder."""
    out = tmp_path_factory.mktemp("facility")
    simulate(Simulation(out, 60, seed=5, days=1, dxt_ratio=0.5, workers=1), lambda *_: None)
    found = Facility(out)
    torn = found.path(found.logs[0])
    (out / "darshan" / "unreadable_secrets").mkdir()
    (out / "darshan" / "unreadable_secrets" / f"torn_{torn.name}").write_bytes(torn.read_bytes()[:700])
    return found


@pytest.fixture(scope="module")
def warehouse(facility: Facility, scheduler: str, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Everything that a site has: simulated logs, statistics and accounting, and the logs that come with PyDarshan."""
    root = tmp_path_factory.mktemp("site") / "warehouse"
    wheel = Path(find_spec("darshan").submodule_search_locations[0])
    paths, stats = (facility.out / "darshan", wheel), (facility.out / "lustre", facility.out / "slurm" / "sacct.txt")
    # Exports hold none.
    with pytest.MonkeyPatch.context() as patch:
        write_no_reports(patch)
        run(Settings(paths, root, "blue", scheduler, stats=stats))
    (root / "digest.toml").write_text('least_core_hours = 0.0\noperators = ["ops@site.test"]\n')
    done = digest(Order(root, since=date(2000, 1, 1), outbox=root.parent / "outbox"))
    assert done.is_shown
    return Warehouse(root)


@pytest.fixture(scope="module")
def anonymised(warehouse: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Callable[[bytes], Path]:
    """An export of all under a key, made anew each time."""

    def made(key: bytes) -> Path:
        out = tmp_path_factory.mktemp("given") / "away"
        export(warehouse, out, Choice(), Pseudonyms(key))
        return out

    return made


@pytest.fixture(scope="module")
def copied(warehouse: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Exported]:
    """An export with names as they are, and what was said of it."""
    out = tmp_path_factory.mktemp("copied") / "out"
    return out, export(warehouse, out, Choice())


@pytest.fixture(scope="module")
def given(anonymised: Callable[[bytes], Path]) -> Path:
    """One such export."""
    return anonymised(KEY)


def texts(out: Path) -> set[str]:
    """Every text and every id of every column of every file of an export."""
    found: set[str] = set()
    for path in (out / "lake").rglob("*.parquet"):
        rows_ = pq.read_table(path)
        for name in rows_.column_names:
            values = rows_[name]
            if FIELDS[name].privacy is not None or pa.types.is_string(values.type):
                values = pc.list_flatten(values) if pa.types.is_list(values.type) else values
                found.update(map(str, pc.unique(values).to_pylist()))
    return found


def names(warehouse: Warehouse, facility: Facility) -> set[str]:
    """Every name that the site's inputs hold: what its tables say before anything is replaced, and what the truth says."""
    found = {
        value for column in facility.sacct() for key in ("JobID", "JobName", "User", "UID", "Account") for value in [column[key]]
    }
    found |= {value for log in facility.logs for value in (log["user"], log["job_id"], log["log"], log["application"])}
    with open_catalog(warehouse.database) as connection:
        for table, entry in TABLES.items():
            for name in entry.columns:
                if FIELDS[name].privacy not in {*_SILENT, Privacy.SENTENCE, Privacy.HINTS, Privacy.TERM}:
                    answer = answer_own(connection, f'SELECT DISTINCT "{name}" FROM lake.{table}')
                    found |= {str(value) for value in flat(answer.column(0).to_pylist())}
    parts = {part for name in found for part in re.findall(rf"{_SIGN}+", name)}
    return (found | parts) - {"", "None"}


def standing_in(text: bytes, wanted: list[bytes]) -> set[bytes]:
    """Those of some long names that a text holds; found by their first characters and lengths, since neither is short."""
    characters = np.frombuffer(text, np.uint8).astype(np.int64)
    windows = sum(characters[place : len(characters) - _LONG + 1 + place] << 8 * place for place in range(_LONG))
    lengths: dict[int, set[int]] = {}
    for name in wanted:
        lengths.setdefault(int.from_bytes(name[:_LONG], "little"), set()).add(len(name))
    hits = np.flatnonzero(np.isin(windows, np.array(list(lengths))))
    return {text[at : at + length] for at in hits for length in lengths[int(windows[at])]}.intersection(wanted)


def flat(values: list[Any]) -> Iterator[Any]:
    for value in values:
        yield from value if isinstance(value, list) else [value]


def own_words(folder: Path) -> str:
    """What this program says of itself, whoever's warehouse it is: views, dictionaries, triggers, and words that may stay."""
    build_catalog(folder / "iomine.duckdb", {}, {"triggers": reference_table()}, {})
    reported = column(folder, "SELECT sql FROM duckdb_views()") + column(folder, "SELECT about FROM data_dictionary")
    reported += [repr(row) for table in ("view_dictionary", "triggers") for row in rows(folder, f"FROM {table}")]
    reported += [text for trigger in TRIGGERS.values() for text in (trigger.finding, *trigger.templates("advice"))]
    # A program may have the name of an option of IOR.
    options = [option for op in OPS for option in Ior("POSIX", op, 2, 8, 8, 1, 1, 1, True, True, True, 1, True).options()]
    return " ".join(
        (
            *reported,
            *options,
            *_DARSHANS_WORDS,
            *_ENDINGS,
            *_TERMS,
            *(f"/{root} {root}" for root in _ROOTS),
            "blue",
            "README",
            "heatmap",
        )
    )


def test_no_name_is_left(warehouse: Warehouse, facility: Facility, given: Path, tmp_path: Path):
    """No name of a user, job, host, account, program or file stands in any file of the export, nor in its views or paths."""
    own = own_words(tmp_path)
    wanted = names(warehouse, facility) - {"/", *own.split(), *re.findall(rf"{_SIGN}+", own)}
    wanted = {name for name in wanted if not re.fullmatch(r"\d{1,4}|\d{4}-\d\d-\d\d", name)}
    long = [name for name in wanted if len(name) >= _LONG and not name.isdigit() and name not in own]
    assert len(long) > 1000
    reported = texts(given) | {str(path.relative_to(given)) for path in given.rglob("*")}
    in_catalog = column(given, "SELECT sql FROM duckdb_views()") + column(given, "SELECT value FROM _meta")
    raw = [(given / name).read_bytes().decode("latin-1") for name in ("iomine.duckdb", "README.txt")]
    everything = "\n".join((*reported, *in_catalog, *raw))
    assert set() == standing_in(everything.encode(), [name.encode() for name in (*long, str(warehouse.root))])
    assert {b"unlikely"} == standing_in(f"{everything} so unlikely!".encode(), [b"unlikely", b"so unlikely?"])
    assert set() == wanted.intersection([*reported, *re.findall(rf"{_SIGN}+", "\n".join((*reported, *in_catalog)))])


def test_the_same_key_gives_the_same(given: Path, anonymised: Callable[[bytes], Path]):
    """Two exports under one key agree in every row, and say so."""
    again = anonymised(KEY)
    assert state(given) == state(again)
    assert state(given)
    key_id = "SELECT value FROM _meta WHERE key = 'key_id'"
    assert column(given, key_id) == column(again, key_id)


def test_another_key_gives_nothing_in_common(copied: tuple[Path, Exported], given: Path, anonymised: Callable[[bytes], Path]):
    """What is replaced is replaced by other values under another key, to the last part of a path."""
    other = anonymised(OTHER_KEY)
    here, there, before = (
        {part for text in texts(out) for part in (text, *re.findall(r"[a-z]{20}|\d{10,}", text))}
        for out in (given, other, copied[0])
    )
    assert len(here - before) > 1000
    assert set() == (here - before) & there
    key_id = "SELECT value FROM _meta WHERE key = 'key_id'"
    assert column(given, key_id) != column(other, key_id)


@pytest.fixture(scope="module")
def opened(warehouse: Warehouse, given: Path) -> Iterator[tuple[Connection, Connection]]:
    """Connections to the warehouse and to its export, on which all views are asked."""
    with open_catalog(warehouse.database) as before, open_catalog(given / "iomine.duckdb") as after:
        yield before, after


@pytest.mark.parametrize("view", VIEWS)
def test_views_answer_as_before(opened: tuple[Connection, Connection], view: str):
    """Each view has as many rows as on the warehouse itself, and the same numbers, times and words in them."""
    asked = f"SELECT count(*) AS row_count{''.join(measures(opened[0], view))} FROM {view}"
    expected, got = (answer_own(con, asked).to_pylist()[0] for con in opened)
    floats = {name for name, value in expected.items() if isinstance(value, float)}
    assert {name: expected[name] for name in expected.keys() - floats} == {name: got[name] for name in got.keys() - floats}
    assert [] == [name for name in floats if not math.isclose(expected[name], got[name], rel_tol=1e-9)]


def measures(con: Connection, view: str) -> Iterator[str]:
    """An aggregate for each column that identifies nobody."""
    described = answer_own(con, f"DESCRIBE {view}").to_pylist()
    for name, kind in ((row["column_name"], row["column_type"]) for row in described):
        # The link to a report is made of the log's id.
        if FIELDS[name].privacy in _SILENT and name != "report":
            sums = f'sum("{name}") FILTER (isfinite("{name}"))' if kind == "DOUBLE" else f'sum(hash("{name}")::HUGEINT)::VARCHAR'
            yield f', {sums} AS "{name}"'


def test_what_belongs_together_still_does(given: Path, warehouse: Warehouse):
    """Logs find their jobs, jobs their entries on servers, files their logs, and a program its command, as before."""
    joins = {
        "log and job": "SELECT count(*) FROM logs JOIN jobs USING (cluster, job_id)",
        "job and server": "SELECT count(*) FROM lustre_jobs JOIN logs USING (cluster, job_id)",
        "user and uid": (
            "SELECT count(*) FROM (SELECT DISTINCT logs.user, jobs.user, logs.uid, jobs.uid FROM logs JOIN jobs USING (job_id))"
        ),
        "app and exe": "SELECT count(*) FROM logs WHERE ends_with(split_part(exe, ' ', 1), app)",
        "file and mount": "SELECT count(*) FROM files WHERE starts_with(path, mount)",
        "trace and file": "SELECT count(*) FROM segments JOIN files USING (log_id, file_id)",
        "neighbour and user": "SELECT count(*) FROM job_weather SEMI JOIN jobs ON jobs.user = job_weather.neighbour",
        "host and job": (
            "SELECT count(*) FROM host_io JOIN logs USING (log_id) JOIN core.job USING (job_id) WHERE list_contains(hosts, host)"
        ),
    }
    expected = {name: column(warehouse.root, query) for name, query in joins.items()}
    assert expected == {name: column(given, query) for name, query in joins.items()}
    assert all(count > 0 for (count,) in expected.values())


def test_paths_keep_their_shape(given: Path, warehouse: Warehouse):
    """Paths are as deep as before, under the same root, and as many; what shared a folder still does."""
    shapes = {
        "depths": "SELECT len(string_split(path, '/')) AS depth, count(*) FROM files GROUP BY ALL ORDER BY ALL",
        "folders": "SELECT count(DISTINCT parse_dirpath(path)), count(DISTINCT path), count(DISTINCT mount) FROM files",
        "roots": "SELECT count(*) FROM files WHERE path LIKE '/scratch/%'",
        "endings": "SELECT count(*) FROM files WHERE path LIKE '%.h5'",
    }
    for query in shapes.values():
        assert rows(warehouse.root, query) == rows(given, query)


def test_findings_keep_their_numbers(given: Path, warehouse: Warehouse):
    """Of each finding only the names are others, and those are as in their own columns."""
    # Runs of one program may have the same value and cost.
    query = """
        SELECT code, finding, advice
        FROM findings
        JOIN (SELECT cluster, night, log_id, run_seconds, io_core_seconds FROM logs) USING (cluster, night, log_id)
        ORDER BY night, code, value, cost_core_seconds, run_seconds, io_core_seconds
    """
    known = {"path": column(warehouse.root, "SELECT DISTINCT path FROM core.file_name")}
    known["host"] = column(warehouse.root, "SELECT DISTINCT host FROM rank_io WHERE host IS NOT NULL")
    known["mount"] = column(warehouse.root, "SELECT DISTINCT mount FROM create_bursts WHERE mount <> '/'")
    kind_of = {name: kind for kind, names_ in known.items() for name in names_}
    renamed = 0
    for before, after in zip(rows(warehouse.root, query), rows(given, query), strict=True):
        for text in (before["finding"], before["advice"]):
            name = max((name for name in kind_of if f" {name}" in f" {text}"), key=len, default=None)
            other = name and Pseudonyms(KEY).rows(pa.table({kind_of[name]: [name]})).column(0)[0].as_py()
            renamed += other != name
            expected = text if name is None else text.replace(name, other)
            if name is not None and kind_of[name] == "path":
                # Advice has commands for the file's folder too.
                expected = expected.replace(f" {Path(name).parent}`", f" {Path(other).parent}`")
            assert expected in (after["finding"], after["advice"])
    assert renamed > 20


def test_a_plain_export_is_the_warehouse(warehouse: Warehouse, copied: tuple[Path, Exported]):
    """Without a key every row of every table is as in the warehouse."""
    out, done = copied
    assert state(warehouse.root) == state(out)
    counts = [column(out, f"SELECT count(*) FROM lake.{table}")[0] for table in TABLES]
    size = sum(path.stat().st_size for path in (out / "lake").rglob("*.parquet"))
    (logs,), (nights,) = (column(out, f"SELECT count({what}) FROM core.log") for what in ("*", "DISTINCT night"))
    assert done == Exported(done.nights, logs, sum(counts), size)
    assert nights <= done.nights


def test_an_export_can_be_moved(warehouse: Warehouse, copied: tuple[Path, Exported], tmp_path: Path):
    """A plain DuckDB opens it from within its folder, or from anywhere once its path is set; the program needs neither."""
    moved = shutil.copytree(copied[0], tmp_path / "an 'other' place")
    expected = column(warehouse.root, "SELECT count(*) FROM logs")
    assert expected == column(moved, "SELECT count(*) FROM logs")
    program = """if True:
        import duckdb, sys
        con = duckdb.connect(sys.argv[1], read_only=True)
        if len(sys.argv) > 2:
            con.execute("SET file_search_path = '" + sys.argv[2].replace("'", "''") + "'")
        print(list(con.execute("SELECT count(*) FROM logs").fetchone()))
    """
    for arguments, folder in ([("iomine.duckdb",), moved], [(f"{moved}/iomine.duckdb", moved), "/"]):
        done = subprocess.run([sys.executable, "-c", program, *arguments], cwd=folder, capture_output=True, text=True, check=True)
        assert f"{expected}\n" == done.stdout


def test_nights_and_machines_are_chosen(warehouse: Warehouse, tmp_path: Path):
    """Only nights from the given one on are copied, and of a machine nothing that is not its own."""
    night = date(2020, 1, 1)
    export(warehouse, tmp_path / "since", Choice(since=night))
    expected = column(warehouse.root, f"SELECT log_id FROM logs WHERE night >= '{night}' ORDER BY ALL")
    assert expected == column(tmp_path / "since", "SELECT log_id FROM logs ORDER BY ALL")
    assert [1, 1] == [column(tmp_path / "since", f"SELECT count(*) FROM {table}")[0] for table in ("sweeps", "rejects")]
    export(warehouse, tmp_path / "blue", Choice(cluster="blue"))
    assert column(warehouse.root, "SELECT count(*) FROM logs") == column(tmp_path / "blue", "SELECT count(*) FROM logs")
    assert [0, 1] == [column(tmp_path / "blue", f"SELECT count(*) FROM {table}")[0] for table in ("rejects", "sweeps")]
    for nothing in (Choice(cluster="red"), Choice(since=date(2100, 1, 1))):
        with pytest.raises(UsageError, match="has no such nights"):
            export(warehouse, tmp_path / "nothing", nothing)
    assert ["blue", "since"] == sorted(path.name for path in tmp_path.iterdir())


def test_an_export_appears_whole_or_not(warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Where a file cannot be read nothing is left behind, and what is there already is not touched."""
    calls = iter(range(100))

    def torn(*_arguments: object) -> Iterator[pa.Table]:
        if next(calls) > 3:
            raise OSError(5, "Input/output error")
        yield from ()

    with monkeypatch.context() as patched:
        patched.setattr("iomine.pipeline.export.export.row_groups", torn)
        with pytest.raises(WarehouseError, match="cannot be read or written"):
            export(warehouse, tmp_path / "out", Choice(), Pseudonyms(KEY))
    assert [] == list(tmp_path.iterdir())
    (tmp_path / "out").mkdir()
    with pytest.raises(UsageError, match="exists already"):
        export(warehouse, tmp_path / "out", Choice())
    assert [] == list((tmp_path / "out").iterdir())
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "out"
    with pytest.raises(OutputError, match=rf"^{place} cannot be written \(Not a directory\): name another place\.$"):
        export(warehouse, place, Choice())


def test_where_there_is_no_warehouse(tmp_path: Path):
    """An export needs one that was swept."""
    with pytest.raises(WarehouseError, match="There is no warehouse"):
        export(Warehouse(tmp_path / "none"), tmp_path / "out", Choice())


def test_answers_cannot_leave_the_export(copied: tuple[Path, Exported], tmp_path: Path):
    """Questions to an export read its files and no others, however their paths are written."""
    out, _ = copied
    (tmp_path / "secret.csv").write_text("secret\n")
    for path in (tmp_path / "secret.csv", out / "lake" / ".." / "README.txt", "lake/../../secret.csv"):
        with pytest.raises(UsageError, match="Permission Error"):
            ask(out / "iomine.duckdb", f"SELECT * FROM read_csv('{path}')")


def test_rejects_and_sweeps_have_no_names(given: Path, warehouse: Warehouse, facility: Facility):
    """Paths of sweeps and rejects keep their depth; a reason stays apart from others and says nothing."""
    (before,), (after,) = (rows(folder, "SELECT path, reason, stage FROM rejects") for folder in (warehouse.root, given))
    assert before["path"].count("/") == after["path"].count("/")
    assert before["stage"] == after["stage"]
    assert re.fullmatch("[a-z]{20}", after["reason"])
    (paths,) = column(given, "SELECT paths FROM sweeps")
    assert [len(path.parts) for path in (facility.out / "darshan",)] == [len(Path(paths[0]).parts)]
    assert json.loads(column(given, "SELECT table_versions FROM core.sweep")[0])
