"""What a report says of the whole run, and how its findings are grouped."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iomine.report.causes import LEAST_RATIO, causes_of, first_sentence, likeliest, own_load, summary
from iomine.report.charges import EXCUSE, counted_elsewhere
from iomine.report.pictures import lifelines_picture

Row = dict[str, Any]
_CODES = ("A-101", "A-102", "B-101", "C-101", "C-201")
_COST = st.one_of(st.none(), st.integers(0, 400).map(float))


def finding(
    code: str, cause: str | None = None, charged: float | None = 1.0, cost: float | None = 1.0, idle: float | None = None
) -> Row:
    return {
        "code": code,
        "cause_code": cause,
        "charged_core_seconds": charged,
        "cost_core_seconds": cost,
        "idle_core_seconds": idle,
    }


@pytest.mark.parametrize(
    ("charged", "said"),
    [
        (8.0, ""),
        (7.99, ""),
        (6.0, "2 s of it counted with another finding"),
        (None, "all of it counted with another finding"),
    ],
)
def test_findings_say_what_of_their_time_others_are_charged_for(charged: float | None, said: str) -> None:
    """Of two findings about the same time one is charged, and the other says so; what differs by rounding only is none."""
    assert said == counted_elsewhere(finding("A-101", charged=charged, cost=8.0), lambda seconds: f"{seconds:.0f} s")


_STATE = {"weather_slowdown_ratio": None, "own_ratio": None, "is_excused": None}
_UNKNOWN = [{"code": code, "reason": "The log lacks a trace."} for code in ("A-101", "B-101")]


def run(**given_columns: Any) -> Row:
    usual = {"io_ratio": 0.5, "nprocs": 4, "run_seconds": 100.0, "run_core_seconds": 400.0}
    return usual | {"slowest_rank": 3, "slowest_rank_io_seconds": 60.0} | given_columns


@given(
    st.lists(
        st.builds(finding, st.sampled_from(_CODES), st.sampled_from([None, *_CODES]), _COST, _COST, _COST),
        unique_by=lambda each: each["code"],
    ),
    st.sampled_from([None, 400.0, 40_000.0]),
)
def test_each_finding_is_in_one_cause_and_costs_add_up(findings: list[Row], whole: float | None) -> None:
    """The sum over causes is the sum over findings; the costliest comes first, and small is what is below a hundredth."""
    causes = causes_of(findings, whole)
    assert sorted(each["code"] for each in findings) == sorted(
        each["code"] for cause in causes for each in (cause.lead, *cause.others)
    )
    charged = [each["charged_core_seconds"] for each in findings if each["charged_core_seconds"] is not None]
    assert sum(charged) == sum(cause.cost_core_seconds or 0.0 for cause in causes)
    lost = [(cause.cost_core_seconds or 0.0) + cause.idle_core_seconds for cause in causes]
    assert lost == sorted(lost, reverse=True)
    for cause, each in zip(causes, lost, strict=True):
        is_known = whole is not None and cause.cost_core_seconds is not None
        assert cause.is_small == (is_known and each / (whole or 1.0) < LEAST_RATIO)
        signs = (cause.lead, *cause.others)
        named = [sign for sign in signs if sign["code"] == sign["cause_code"]]
        assert cause.lead["code"] == (cause.lead["cause_code"] or cause.lead["code"]) or not named


@pytest.mark.parametrize(
    ("log", "kinds", "charged", "says"),
    [
        (
            run(),
            {"write": 190.0, "meta": 10.0},
            [40.0],
            [
                "50% of the run went into I/O, nearly all of that into writing.",
                "One cause to fix costs 40 core-seconds.",
            ],
        ),
        (
            run(),
            {"waiting": 120.0, "read": 70.0, "meta": 10.0},
            [40.0, 20.0, 1.0],
            [
                "50% of the run went into I/O; of that, 60% into waiting or exchange in MPI-IO and 35% into reading.",
                "Two causes to fix cost 60 of the 61 core-seconds of all findings.",
            ],
        ),
        (
            run(io_ratio=0.001, slowest_rank_io_seconds=0.1),
            {"read": 1.0},
            [],
            [
                "Less than 1% of the run went into I/O, nearly all of that into reading.",
                "Nothing was found wrong; 2 questions could not be answered.",
            ],
        ),
        (
            run(io_ratio=None),
            {},
            [None],
            ["How much of the run went into I/O is not known.", "One cause to fix; what it costs is not known."],
        ),
        (
            run(io_ratio=0.0, slowest_rank_io_seconds=None),
            {},
            [0.5],
            [
                "There was no I/O that took time.",
                "Nothing that costs 1% of the run was found wrong; 2 questions could not be answered.",
            ],
        ),
    ],
    ids=["one cause", "three causes", "nothing wrong", "nothing known", "small"],
)
def test_the_whole_of_a_run_is_said_in_two_sentences(
    log: Row, kinds: dict[str, float], charged: list[float | None], says: list[str]
) -> None:
    """What the time went into, and what findings cost."""
    rows = [{"time_kind": kind, "kind_core_seconds": seconds} for kind, seconds in kinds.items()]
    findings = [finding(code, charged=cost, cost=cost) for code, cost in zip(_CODES, charged, strict=False)]
    assert says == summary(log, rows, causes_of(findings, log["run_core_seconds"]), _UNKNOWN, _STATE)


def test_one_process_alone_is_not_said_to_wait() -> None:
    """With nobody to wait for, what its MPI-IO calls take beyond those of POSIX is MPI-IO's own."""
    kinds = [{"time_kind": "waiting", "kind_core_seconds": 16.0}]
    said = summary(run(nprocs=1), kinds, [], [], _STATE)[0]
    assert "50% of the run went into I/O, nearly all of that into MPI-IO itself." == said


def test_a_rank_for_which_others_may_have_waited_is_named() -> None:
    """Where one rank was in I/O for much longer than all on average; time in which others stood idle comes on top."""
    log = run(io_ratio=0.04, slowest_rank_io_seconds=99.0, run_core_seconds=72_000.0)
    causes = causes_of([finding("A-101", charged=3600.0, idle=36_000.0)], 72_000.0)
    assert summary(log, [{"time_kind": "write", "kind_core_seconds": 16.0}], causes, [], _STATE)[1:] == [
        "Rank 3 was in I/O for 1 min 39 s of 1 min 40 s.",
        "One cause to fix costs 1 core-hour, and other ranks stood idle for 10 core-hours.",
    ]


def test_a_run_that_others_made_slow_is_excused() -> None:
    """A run's page says that its costs are not its user's, where there are any to speak of."""
    log, slowed = run(), _STATE | {"is_excused": True}
    for charges, excuse in (([40.0], [EXCUSE]), ([], [])):
        causes = causes_of([finding("A-101", charged=cost, cost=cost) for cost in charges], log["run_core_seconds"])
        assert [*summary(log, [], causes, [], _STATE), *excuse] == summary(log, [], causes, [], slowed)


def test_what_the_facility_has_to_mend_is_no_cause_of_the_users() -> None:
    """A faulty link and a slow OST are named apart, and neither counted nor priced among what the user can change."""
    facilitys = [
        finding("LUSTRE-203", charged=50.0, cost=50.0) | {"title": "An OST was far slower than the others"},
        finding("FABRIC-101", charged=None, cost=None) | {"title": "A link of the fabric was faulty"},
    ]
    theirs = "For the facility to fix, not for the user: an OST was far slower than the others; a link of the fabric was faulty."
    log = run()
    for own, says in (([], "For the facility to fix"), ([40.0], "One cause to fix costs 40 of the 90 ")):
        findings = [*facilitys, *(finding("A-101", charged=cost, cost=cost) for cost in own)]
        said = summary(log, [], causes_of(findings, log["run_core_seconds"]), [], _STATE)[-1]
        assert said.startswith(says)
        assert said.endswith(theirs)


@pytest.mark.parametrize(
    ("slowdown", "own", "says"),
    [
        (9.5, 0.95, ["Servers were 9.5 times as slow as usual, and nearly all of their load was yours."]),
        (1.75, 0.5, ["Servers were 1.8 times as slow as usual, and 50% of their load was yours."]),
        (1.7, 0.95, []),
        (9.5, 0.4, []),
        (9.5, None, []),
        (None, 0.95, []),
    ],
)
def test_servers_that_were_slow_under_the_users_own_load_are_named(
    slowdown: float | None, own: float | None, says: list[str]
) -> None:
    """Only where they were slow and at least half of their load was the user's."""
    assert says == own_load({"weather_slowdown_ratio": slowdown, "own_ratio": own}, "yours")


@pytest.mark.parametrize(("waiting", "says"), [(60.0, ["Why ranks wait is not known: the log lacks a trace."]), (40.0, [])])
def test_why_ranks_wait_is_said_to_be_unknown_where_most_time_is_that(waiting: float, says: list[str]) -> None:
    """Where half of the I/O time is waiting and its trigger has no answer, the reason is said."""
    kinds = [{"time_kind": kind, "kind_core_seconds": seconds} for kind, seconds in (("waiting", waiting), ("write", 50.0))]
    unknown = [*_UNKNOWN, {"code": "MPIIO-401", "reason": "The log lacks a trace."}]
    assert says == summary(run(), kinds, [], unknown, _STATE)[1:-1]


@pytest.mark.parametrize(
    ("advice", "first"),
    [
        ("Report OST 14 (OST000e) to the support desk; it is slow.", "Report OST 14 (OST000e) to the support desk."),
        ("Read /a/b.nc in larger pieces. Least effort: a buffer.", "Read /a/b.nc in larger pieces."),
        ("Write more.", "Write more."),
        (None, ""),
    ],
)
def test_advice_begins_with_what_to_do(advice: str | None, first: str) -> None:
    """The first sentence stands beside the cause; a dot within a name ends none."""
    assert first == first_sentence(advice)


def test_lifelines_lie_within_the_picture_whatever_their_times() -> None:
    """Bars begin and end within the run, also where a log has times before it or beyond; names are text."""
    line = {f"{name}_{end}_seconds": None for name in ("open", "close", "read", "write") for end in ("start", "end")}
    written = {"open_start_seconds": 1.0, "close_end_seconds": 9.0, "write_start_seconds": 2.0, "write_end_seconds": 5.0}
    lines = [
        line | written | {"path": "/s/<b>out"},
        line | {"path": None, "read_start_seconds": -5.0, "read_end_seconds": 1e300},
        line | {"path": "x", "close_end_seconds": 1e9},
        line | {"path": "y", "read_start_seconds": 3.0},
    ]
    svg = str(lifelines_picture(lines, 10.0))
    assert "&lt;b&gt;out" in svg
    assert "<b>" not in svg
    spans = [
        (float(left), float(width))
        for left, width in re.findall(r'<rect class="\w+" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', svg)
    ]
    assert 3 == len(spans)
    scale = (960 - 104 - 12) / 10
    assert spans[0] == pytest.approx((104 + 2 * scale, 3 * scale), abs=0.06)
    assert spans[1] == pytest.approx((104, 10 * scale), abs=0.06)
    assert spans[2][0] == pytest.approx(104 + 3 * scale, abs=0.06)


_PLAIN = {"app": "a.out", "application": "a.out", "has_hdf5": False, "has_mpiio": False, "node_count": 1}


def test_shell_lines_have_the_runs_own_file_and_folder() -> None:
    """Examples in a shell's lines become the file that the finding names and its folder, each one word; what is unknown stays."""
    for path, words in (
        ("/scratch/ann/results/big.h5", ("/scratch/ann/results/big.h5", "/scratch/ann/results")),
        ("/s/it's; rm -rf ~/x", ("""'/s/it'"'"'s; rm -rf ~/x'""", """'/s/it'"'"'s; rm -rf ~'""")),
        ("-x", ("./-x", ".")),
    ):
        snippet = likeliest({"code": "LUSTRE-101", "metrics": {"single_ost_path": path}}, _PLAIN)
        assert snippet is not None
        assert [
            f"lfs getstripe -c -S {words[0]}",
            f"lfs setstripe -c 16 -S 4M {words[1]}",
            f"lfs migrate -c 16 -S 4M {words[0]}",
        ] == snippet.code.splitlines()
    unknown = likeliest({"code": "LUSTRE-101", "metrics": {"single_ost_path": None}}, _PLAIN)
    assert unknown is not None
    assert "big.h5" in unknown.code


def test_programs_are_for_what_the_run_uses() -> None:
    """A run on one node is not told to leave a node out, and a program without MPI-IO or HDF5 gets no lines for these."""
    slow = {"code": "RANK-101", "metrics": {"straggler_host": "nid00042"}}
    many, one = (likeliest(slow, _PLAIN | {"node_count": count}) for count in (8, 1))
    assert many is not None
    assert "--exclude=nid00042" in many.code
    assert one is not None
    assert "--exclude" not in one.code
    independent = {"code": "MPIIO-102", "metrics": {}}
    assert likeliest(independent, _PLAIN) is None
    with_mpiio = likeliest(independent, _PLAIN | {"has_mpiio": True})
    assert with_mpiio is not None
    assert "MPI_File_write_at_all" in with_mpiio.code
    # Who waits in independent calls waits at no barrier.
    for waited_for, is_shown in (("different ranks", True), (None, False)):
        late = likeliest({"code": "MPIIO-401", "metrics": {"waited_for": waited_for}}, _PLAIN | {"has_mpiio": True})
        assert late is not None
        assert is_shown == ("MPI_Barrier" in late.code)
