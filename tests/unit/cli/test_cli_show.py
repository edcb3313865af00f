"""`iomine show`."""

import datetime as dt
import io
import json
import re
import subprocess
import sys
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_cli_app import SAYS_LOADED

from iomine.cli.meant import meant
from iomine.cli.options import database_of
from iomine.cli.show import page_of
from iomine.cli.terminal import pages
from iomine.cli.terminal.sparks import spark
from iomine.report.facts import gather
from iomine.sources.darshan import identify
from iomine.views.query import ask

UTC = dt.UTC
NIGHT = dt.date(2024, 4, 18)
HOSTILE = "a'b\";\n\x1b[31m<script>{{ x }}\u202e[bold]"


def _log(log_id: str, **values: object) -> dict[str, object]:
    usual = {
        "job_id": "4711",
        "user": "ann",
        "uid": 7,
        "app": "solver",
        "exe": "/opt/solver --fast",
        "lineage_id": "1f",
        "nprocs": 4,
        "start_at": dt.datetime(2024, 4, 18, 1, tzinfo=UTC),
        "end_at": dt.datetime(2024, 4, 18, 2, tzinfo=UTC),
        "run_seconds": 3600.0,
        "io_core_seconds": 3600.0,
        "read_bytes": 2**20,
        "write_bytes": 2**30,
        "darshan_version": "3.4.4",
        "is_partial": False,
        "path": f"/logs/{log_id}.darshan",
    }
    return usual | {"log_id": log_id} | values


def _verdict(log_id: str, code: str, state: str, **values: object) -> dict[str, object]:
    return {"log_id": log_id, "ruleset": "iomine", "code": code, "level": "high", "state": state} | values


@pytest.fixture(scope="module")
def warehouse(warehouse_of) -> Path:
    """Two logs of a job that accounting knows, an older run of the same program, and a log of another machine."""
    return warehouse_of(
        log=[
            _log("abcd000000000001"),
            _log("abcd000000000002", start_at=dt.datetime(2024, 4, 18, 3, tzinfo=UTC), app="post", lineage_id="2f"),
            _log("beef000000000003", job_id="4700", start_at=dt.datetime(2024, 4, 1, tzinfo=UTC), night=dt.date(2024, 4, 1)),
            _log("cafe000000000004", cluster="red", job_id="99", user=HOSTILE, app=HOSTILE, exe=HOSTILE * 200, path=HOSTILE),
        ],
        job=[{"job_id": "4711", "shown_job_id": "4711_3", "job_name": "run", "account": "phys", "job_state": "COMPLETED",
              "node_count": 2, "run_seconds": 7200.0, "user": "ann", "end_at": dt.datetime(2024, 4, 18, 4, tzinfo=UTC)}],
        verdict=[
            _verdict("abcd000000000001", "POSIX-101", "fired", cost_core_seconds=360.0, charged_core_seconds=60.0,
                     finding="Small.", advice="Buffer."),
            _verdict("abcd000000000001", "POSIX-301", "fired", cost_core_seconds=1800.0, charged_core_seconds=1800.0,
                     finding="Opens.", advice="Open less."),
            _verdict("abcd000000000001", "POSIX-102", "clear"),
            _verdict("abcd000000000001", "MPIIO-101", "unknown", reason="The log's MPI-IO module is unsound: Cut off."),
            _verdict("abcd000000000001", "POSIX-111", "not applicable"),
            _verdict("cafe000000000004", "POSIX-101", "fired", cost_core_seconds=9.0, charged_core_seconds=9.0, finding=HOSTILE,
                     advice=HOSTILE),
        ],
        module=[
            {"log_id": "abcd000000000001", "module": "MPI-IO", "state": "unsound", "is_partial": False, "reason": "Cut off."}
        ],
        metadata=[
            {"log_id": "abcd000000000001", "key": "h", "entry": "romio_no_indep_rw=true;cb_nodes=4"},
            {"log_id": "abcd000000000001", "key": "lib_ver", "entry": "3.4.4"},
            {"log_id": "cafe000000000004", "key": HOSTILE, "entry": HOSTILE},
        ],
        posix_file=[
            {"log_id": "abcd000000000001", "file_id": 5, "rank": -1, "read_bytes": 2**20, "write_bytes": 2**30, "read_count": 8,
             "write_count": 16, "read_seconds": 1.0, "write_seconds": 2.0, "meta_seconds": 3.0, "slowest_rank_seconds": 2.0},
        ],
        log_layer=[
            {"log_id": "abcd000000000001", "layer": "posix", "file_count": 1, "read_bytes": 2**20, "write_bytes": 2**30,
             "read_count": 8, "write_count": 16, "read_core_seconds": 1.0, "write_core_seconds": 2.0, "meta_core_seconds": 3.0,
             "slowest_io_seconds": 2.0, "moved_bytes_per_second": (2**30 + 2**20) / 2.0},
        ],
        file_name=[
            {"log_id": "abcd000000000001", "file_id": 5, "path": "/scratch/out.h5", "mount": "/scratch", "fs_type": "lustre"}
        ],
        phase=[
            {"log_id": "abcd000000000001", "layer": layer, "phase": 1, "start_seconds": 60.0, "end_seconds": 90.0,
             "read_bytes": 2**20, "write_bytes": 2**30, "rank_count": 4, "slowest_rank": 3, "straggler_count": 1}
            for layer in ("posix", "all")
        ],
        phase_class=[
            {"log_id": "abcd000000000001", "layer": "posix", "phase_class": 1, "op": "write", "evidence": "trace",
             "access": "shared", "file_count": 1, "file_id": 5, "rank_count": 4, "request_bytes": 2**20, "requests_per_rank": 256,
             "bytes_per_rank": 2**28, "request_order": "strided", "phase_count": 1, "phase_numbers": [1], "start_seconds": 60.0,
             "end_seconds": 90.0, "moved_bytes": 2**30, "weight_ratio": 0.999, "is_relevant": True, "rank_call_seconds": 2.0,
             "rank_wait_seconds": 0.0, "rank_exchange_seconds": 0.0, "rank_meta_seconds": 0.0123,
             "ior_options": "-a POSIX -w", "replay_fidelity": "bytes", "replay_reason": "another order"},
            {"log_id": "cafe000000000004", "layer": "stdio", "phase_class": 1, "op": "read", "evidence": "counters",
             "access": "own", "file_count": 3, "largest_path": HOSTILE, "moved_bytes": 5, "weight_ratio": 1.0,
             "is_relevant": True, "replay_reason": HOSTILE},
        ],
        ost_io=[
            {"log_id": "abcd000000000001", "layer": "posix", "op": "write", "ost_id": 6, "evidence": "trace",
             "moved_bytes": 2**30, "request_seconds": 2.0},
            {"log_id": "abcd000000000001", "layer": "posix", "op": "read", "reason": "no layout", "moved_bytes": 2**20},
        ],
        log_weather_profile=[
            {"log_id": "abcd000000000001", "server_verdict": "system", "server_rule": "Slow.", "weather_slowdown_ratio": 2.5}
        ],
    )  # fmt: skip


def _page(iomine, warehouse: Path, *arguments: object) -> str:
    answer = iomine("show", *arguments, "--warehouse", warehouse)
    assert (0, "") == (answer.exit_code, answer.stderr)
    return answer.stdout


def _facts(iomine, warehouse: Path, *arguments: object) -> dict[str, Any]:
    return json.loads(_page(iomine, warehouse, *arguments, "--json"))


def test_page_shows_all_of_a_log(iomine, warehouse: Path) -> None:
    """Who, what, when, where, how much; findings by cost; what is unknown and why; system state, layers, phases, files, OSTs."""
    page = " ".join(_page(iomine, warehouse, "abcd000000000001").split())
    reported = (
        "solver abcd000000000001 who ann, account phys what /opt/solver --fast job 4711, run, COMPLETED",
        "when 2024-04-18 01:00 to 2024-04-18 02:00 UTC, 1 h 00 min where blue ranks 4, 2.0 node-hours on 2 nodes",
        "I/O 25.0% of the run, 1.0 core-h moved read 1.0 MiB, written 1.0 GiB Darshan 3.4.4",
        "System state system: Slow. Servers made its I/O 2.50 times as long as usual. What its findings cost is not held",
        "2 findings, the costliest first Together 1,860.0 core-s, 52% of its I/O. Time that several are about is counted once.",
        "counted once. POSIX-301",
        "1,800.0 core-s, 50% of its I/O Opens. Change: Open less. POSIX-101",
        "360.0 core-s, 10% of its I/O, 300.0 core-s of it counted with another finding Small.",
        "MPIIO-101: The log's MPI-IO module is unsound: Cut off.",
        "Not applicable, since the run did nothing of the kind: POSIX-111 Module MPI-IO is unsound: Cut off.",
        "posix 1 1.0 MiB 1.0 GiB 8 16 1.0 core-s 2.0 core-s 3.0 core-s 512.5 MiB",
        # Of PyDarshan's figures tests/unit/report/test_layer_estimates.py proves the numbers.
        "posix 512.500000 2.000000 1,074,790,400",
        "Metadata and MPI-IO hints hint romio_no_indep_rw=true hint cb_nodes=4 lib_ver 3.4.4",
        "I/O model This program writes 1.0 GiB once; 4 ranks share one file.",
        "1 write posix 1 1 min 00 s 1 min 30 s no 1.0 GiB 99.9% 4 256 1.0 MiB",
        "1 write strided 1 shared trace",
        "1 write 2.0 s 0.0 s 0.0 s 2.0 s 0.012 s",
        "class 1, bytes: another order mpiexec -n 4 ior -a POSIX -w",
        "needs outputs of IOR",
        "1 1 min 00 s 30.0 s 1.0 MiB 1.0 GiB 4 3 1",
        "1.0 MiB 1.0 GiB 6.0 core-s 4 lustre /scratch/out.h5",
        "6 (OST0006) 2.0 core-s ? 0 B 1.0 GiB trace",
        "no layout ? ? 1.0 MiB 0 B",
        "beef000000000003 2024-04-01 00:00 1 h 00 min 25.0% 1.0 GiB 0 abcd000000000001 2024-04-18 01:00",
    )
    assert [text for text in reported if text not in page] == []


def test_log_without_anything_has_a_page(iomine, warehouse_of) -> None:
    """Where nothing is known the page says so, and nothing is made up."""
    warehouse = warehouse_of(log=[{"log_id": "abcd000000000001"}])
    page = " ".join(_page(iomine, warehouse, "abcd").split())
    assert "unnamed program abcd000000000001" in page
    assert "ranks ? I/O share unknown, ? moved read ?, written ?" in page
    assert "No findings" in page


def test_run_of_another_tracer_is_not_darshans(iomine, warehouse_of) -> None:
    """What another tracer does not say is unknown, and its name stands in place of Darshan's version."""
    unknown = ("user", "uid", "darshan_version", "job_id", "start_at", "end_at")
    log = _log("a" * 16, format_version="dftracer", **dict.fromkeys(unknown))
    page = " ".join(_page(iomine, warehouse_of(log=[log]), "a" * 16).split())
    assert "who unknown what" in page
    assert "when unknown" in page
    assert "traced by dftracer" in page
    assert "Darshan" not in page
    assert "None" not in page


def test_log_that_names_no_version_has_its_format(iomine, warehouse_of) -> None:
    """Logs of formats before 3.00 do not say which version of Darshan wrote them."""
    log = _log("a" * 16, format_version="2.06", darshan_version=None)
    assert "Darshan format 2.06" in " ".join(_page(iomine, warehouse_of(log=[log]), "a" * 16).split())


def test_a_page_loads_no_arrow(warehouse: Path) -> None:
    """To load it would take a fifth of the time."""
    asked = ["show", "abcd000000000001", "--warehouse", str(warehouse)]
    shown = subprocess.run([sys.executable, "-c", SAYS_LOADED, *asked], capture_output=True, text=True, check=True)
    assert "POSIX-301" in shown.stdout
    assert {"pyarrow", "numpy", "pandas"} & set(shown.stderr.split()) == set()


@pytest.mark.parametrize("log_id", ["abcd000000000001", "abcd000000000002", "cafe000000000004"])
def test_page_says_what_it_would_with_all_facts(warehouse: Path, log_id: str) -> None:
    """A page asks for no more than it shows, and for all of that."""
    one = meant(database_of(warehouse), log_id, None)
    (facts,) = gather(partial(ask, database_of(warehouse)), one.places(database_of(warehouse)))
    whole = pages.plain_text(pages.log_page(facts))
    assert whole == pages.plain_text(page_of(database_of(warehouse), one))


def test_machines_get_the_same_in_json(iomine, warehouse: Path) -> None:
    """The parts of the page are the keys of one object, the same that reports have beside them."""
    facts = _facts(iomine, warehouse, "abcd000000000001")
    assert ["POSIX-301", "POSIX-101"] == [row["code"] for row in facts["findings"]]
    reason = "The log's MPI-IO module is unsound: Cut off."
    assert [("MPIIO-101", reason)] == [(row["code"], row["reason"]) for row in facts["unknown"]]
    assert ["POSIX-111"] == [row["code"] for row in facts["not_applicable"]]
    assert ("phys", 2) == (facts["job"]["account"], facts["job"]["node_count"])
    assert ["beef000000000003", "abcd000000000001"] == [row["log_id"] for row in facts["history"]]


@pytest.mark.parametrize("name", ["beef000000000003", "BEEF000000000003", "beef", "/logs/beef000000000003.darshan",
                                  "beef000000000003.darshan"])  # fmt: skip
@pytest.mark.proof
def test_log_is_found_by_what_people_have(iomine, warehouse: Path, name: str) -> None:
    """An id, its beginning, and the path or name of the file that was swept all mean the log."""
    assert "beef000000000003" == _facts(iomine, warehouse, name)["log"]["log_id"]


def test_log_is_found_by_its_file(iomine, warehouse_of, tmp_path: Path) -> None:
    """A file is known by its bytes, wherever it lies now; for one that was not swept, a message says so."""
    known, new = tmp_path / "moved.darshan", tmp_path / "4711"
    known.write_bytes(b"some log")
    new.write_bytes(b"another")
    warehouse = warehouse_of(log=[_log(identify(known).log_id)])
    assert identify(known).log_id == _facts(iomine, warehouse, known)["log"]["log_id"]
    answer = iomine("show", new, "--warehouse", warehouse)
    assert (2, f"The warehouse does not hold {new}: sweep it first, or name another with --warehouse.\n") == (
        answer.exit_code, answer.stderr,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["4711", "4711_3"])
def test_job_is_shown_with_its_logs(iomine, warehouse: Path, name: str) -> None:
    """A job's page has what the scheduler says, and its logs in the order of time."""
    page = " ".join(_page(iomine, warehouse, name).split())
    reported = (
        "job 4711_3 run who ann, account phys state COMPLETED",
        "where blue, 2 nodes node-hours 4.0",
        "findings 2 findings",
        "2 logs",
        "abcd000000000001 solver 4",
    )
    assert [text for text in reported if text not in page] == []
    assert ["abcd000000000001", "abcd000000000002"] == [row["log_id"] for row in _facts(iomine, warehouse, name)["logs"]]


def test_job_without_accounting_has_its_logs(iomine, warehouse: Path) -> None:
    """Logs know their job's id, and that is enough for a page."""
    page = _page(iomine, warehouse, "4700")
    assert "job 4700\n  No swept accounting has this job.\n\n1 log\n" in page


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("abcd", "abcd may be log abcd000000000001 on blue or log abcd000000000002 on blue: give more of it.\n"),
        ("4712", "There is no log or job 4712: near it are 4711.\n"),
        ("zzzz", 'There is no log or job zzzz: `iomine sql "SELECT log_id, job_id, path FROM logs"` lists them.\n'),
        ("abc", "There is no log or job abc: give at least 4 digits of a log's id.\n"),
        ("x" * 5000, None),
        ("", None),
    ],
)
def test_what_is_not_there_is_reported_with_what_is_near(iomine, warehouse: Path, name: str, reported: str | None) -> None:
    """An id that means nothing, or several logs, is misuse, reported in one sentence."""
    answer = iomine("show", name, "--warehouse", warehouse)
    assert (2, "", 1) == (answer.exit_code, answer.stdout, answer.stderr.count("\n"))
    assert reported in {None, answer.stderr}


def test_cluster_separates_logs_of_one_job_id(iomine, warehouse_of) -> None:
    """One job id on two machines is asked back, and answered with --cluster."""
    warehouse = warehouse_of(log=[_log("a" * 16), _log("b" * 16, cluster="red")])
    answer = iomine("show", "4711", "--warehouse", warehouse)
    assert answer.stderr.endswith("name the machine with --cluster.\n")
    assert ["b" * 16] == [row["log_id"] for row in _facts(iomine, warehouse, "4711", "--cluster", "red")["logs"]]
    answer = iomine("show", "4711", "--cluster", "rad", "--warehouse", warehouse)
    assert (2, "There is no cluster rad: did you mean red?\n") == (answer.exit_code, answer.stderr)


@pytest.mark.parametrize("name", ["cafe", "99"])
@pytest.mark.proof
def test_nothing_in_a_log_steers_the_terminal(iomine, warehouse: Path, name: str) -> None:
    """Escapes, line breaks and marks of direction are shown as what they are, markup as text; JSON has them whole."""
    page = _page(iomine, warehouse, name)
    assert [] == [sign for sign in set(page) - {"\n"} if not sign.isprintable()]
    shown = r"a'b';\n\x1b[31m<script>{{ x }}\u202e[bold]".replace("b'", 'b"')
    assert name == "99" or shown in page
    assert len(page) < 8000
    facts = _facts(iomine, warehouse, name)
    assert HOSTILE in {row["app"] for row in facts.get("logs", [facts["log"]] if "log" in facts else [])}


@given(st.lists(st.none() | st.floats(0, 1e12), max_size=200), st.integers(1, 80))
def test_bars_stand_for_their_values(values: list[float | None], width: int) -> None:
    """There are never more bars than fit, a higher value never has a lower bar, and unknown ones have none."""
    line = spark(values, width)
    assert len(line) <= width
    if len(values) <= width:
        assert len(line) == len(values)
        known = sorted((value, bar) for value, bar in zip(values, line, strict=True) if value is not None)
        assert [bar for _, bar in known] == sorted(bar for _, bar in known)
        assert [bar for value, bar in zip(values, line, strict=True) if value is None] == [" "] * values.count(None)
        assert not known or not known[-1][0] or known[-1][1] == "█"


def test_bars_need_no_highest_value() -> None:
    """Nights that are all zero have bars of no height; none at all have none."""
    assert ("▁▁", "", " ") == (spark([0, 0.0], 9), spark([], 9), spark([None], 9))


def test_the_command_of_the_page_works(iomine, warehouse: Path) -> None:
    """The command at the end of a job's page shows its first log."""
    (log_id,) = re.findall(r"iomine show (\w+) shows", _page(iomine, warehouse, "4711"))
    assert "abcd000000000001" == _facts(iomine, warehouse, log_id)["log"]["log_id"]


_RULES = st.lists(
    st.tuples(
        st.text("abc ", min_size=1, max_size=12),
        st.sampled_from(["left", "right"]),
        st.text("0123456789,", min_size=1, max_size=18),
    ),
    min_size=1,
    max_size=12,
)


@given(_RULES, st.integers(44, 120))
def test_no_number_is_cut(columns: list[tuple[str, str, str]], wide: int):
    """Whatever the width of the terminal: what does not fit beside the others stands below, whole."""
    cells = [(head, side, [value]) for head, side, value in columns]
    with mock.patch.object(pages, "width", return_value=wide), io.StringIO() as out, redirect_stdout(out):
        pages.draw(pages._section("x", [(head, lambda _, v=value: v[0], side) for head, side, value in cells], [{}]))
        reported = out.getvalue()
    words = reported.split()
    assert all(value in words for _, _, value in columns)
    assert all(len(line) <= wide for line in reported.splitlines())
