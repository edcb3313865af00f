"""Two runs beside each other: what explains the difference."""

import numpy as np
import pytest

from iomine.report.facts import Facts
from iomine.report.grids import Grid
from iomine.report.pair import REST, UNEVEN, Pair, Side
from iomine.report.pair_page import pair_page

HOSTILE = "<script>document.title='run'</script>\"'{{ 7 * 7 }}\u202eexe"
LOG = dict.fromkeys(
    """job_id user uid start_at run_seconds slowest_rank slowest_rank_io_seconds read_bytes write_bytes read_count
    write_count""".split()
)
GIB = 2**30


def side(
    log_id: str = "aa", findings: tuple[dict, ...] = (), unknown: tuple[str, ...] = (), state: str | None = None, **values: object
) -> Side:
    """A run of one rank that wrote a GiB in 10 of 100 seconds, but for what is given."""
    written = {"run_seconds": 100.0, "io_core_seconds": 10.0, "slowest_rank_io_seconds": 10.0, "nprocs": 1}
    shape = {f"{kind}_part_core_seconds": 0.0 for kind in ("read", "meta", "waiting")}
    shape |= {"write_part_core_seconds": 10.0, "open_count": 1, "file_count": 1, "osts_per_file": 64.0}
    log = LOG | {"log_id": log_id, "cluster": "blue", "app": "wave", "read_bytes": 0, "write_bytes": GIB} | written
    facts = Facts(
        log | {name: value for name, value in values.items() if name not in shape},
        findings=[{"idle_core_seconds": None, "title": "A title", "finding": "It is so. And more."} | each for each in findings],
        unknown=[{"code": code} for code in unknown],
    )
    facts.weather |= {"weather_verdict": state, "weather_slowdown_ratio": 2.0}
    return Side(facts, shape | {name: value for name, value in values.items() if name in shape}, [], [])


def lead(first: Side, second: Side) -> str:
    return Pair(first, second).explained()[0]


SLOW = {"run_seconds": 134.0, "io_core_seconds": 41.0, "slowest_rank_io_seconds": 41.0, "write_part_core_seconds": 41.0}


def test_sentence_names_part_and_layout() -> None:
    """Of 34 s, 31 s went into writes, on one OST instead of 64; the other way round they are saved."""
    slow = side("bb", **SLOW, osts_per_file=1.0)
    assert (
        "The second run took 34.0 s longer (2 min 14 s instead of 1 min 40 s); 31.0 s of that went into writes: "
        "1 OST for each file instead of 64." == lead(side(), slow)
    )
    assert "31.0 s of that had gone into writes: 64 OSTs for each file instead of 1." in lead(slow, side())


def test_parts_add_up_to_the_difference_of_both_lengths() -> None:
    """What the slowest rank took is the mean rank's time by kind and what is beyond it; the rest is outside of I/O."""
    slow = side("bb", **SLOW | {"slowest_rank_io_seconds": 40.0, "nprocs": 4})
    parts = Pair(side(), slow).difference()
    assert {"read": 0.0, "write": 0.25, "meta": 0.0, "waiting": 0.0, UNEVEN: 29.75, REST: 4.0} == parts
    assert 34.0 == sum(parts.values())


def test_one_slow_rank_is_named_with_its_finding() -> None:
    """Where the slowest rank alone took longer, a finding on few ranks explains it, and not a costlier one on all."""
    few = {"code": "RANK-101", "cost_core_seconds": 30.0, "charged_core_seconds": 1.0}
    all_ = {"code": "POSIX-102", "cost_core_seconds": 40.0, "charged_core_seconds": 40.0}
    slow = side("bb", (few, all_), **SLOW | {"nprocs": 4, "slowest_rank": 3})
    said = lead(side(nprocs=4, slowest_rank_io_seconds=2.5), slow)
    assert "30.8 s of that went into rank 3 alone, which took 41.0 s in I/O where the mean rank took 10.2 s: It is so" in said
    assert said.endswith("(RANK-101, new).")


ALIKE = "Both runs took about as long (1 min 40 s)"
LONGER = "The second run took 1 min 00 s longer (2 min 40 s instead of 1 min 40 s)"
UNKNOWN = "The difference cannot be explained: of one of the runs its length, or the time of its I/O, is not known."
MORE = "its I/O took 31.0 s longer (41.0 s instead of 10.0 s), 31.0 s more in writes."


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ({}, f"{ALIKE}, and so did their I/O (10.0 s)."),
        ({"run_seconds": 160.0}, f"{LONGER}, and hardly any of that is I/O (10.0 s)."),
        ({**SLOW, "run_seconds": 100.5}, f"{ALIKE}, but {MORE}"),
        ({**SLOW, "run_seconds": 90.0}, f"The second run took 10.0 s less (1 min 30 s instead of 1 min 40 s), though {MORE}"),
        ({"run_seconds": None}, UNKNOWN),
    ],
)  # fmt: skip
def test_what_is_no_io_is_not_explained_by_it(second: dict[str, object], said: str) -> None:
    """Lengths and I/O that differ by little, or not the same way, are put so; what is not known is not guessed."""
    assert said == lead(side(), side("bb", **second))


def test_more_bytes_are_said_and_held_against_the_time() -> None:
    """Who moves ten times as much in the same time is ten times as fast, which comes first; that sizes differ is said too."""
    assert [
        "For each GiB the second run was in I/O for 1.0 s instead of 10.0 s.",
        f"{ALIKE}, and so did their I/O (10.0 s).",
        "The runs are not of one size: 10.0 GiB written instead of 1.0 GiB.",
    ] == Pair(side(), side("bb", write_bytes=10 * GIB)).explained()


def test_a_slow_file_system_is_said_of_the_slower_run() -> None:
    """The program is not blamed alone for what the servers did."""
    said = Pair(side(), side("bb", state="neighbour", **SLOW)).explained()
    assert "The file system was slow during the second run: servers made its I/O 2.0 times as long as usual." in said


def test_findings_are_gone_new_or_the_same_or_could_not_be_seen() -> None:
    """What the other log could not show is neither gone nor new."""
    found = [
        {"code": code, "cost_core_seconds": 1.0, "charged_core_seconds": 1.0}
        for code in ("POSIX-101", "POSIX-102", "RANK-101", "POSIX-121")
    ]
    first, second = (
        side(findings=tuple(found[:3]), unknown=("POSIX-121",)),
        side("bb", (found[0], found[3]), unknown=("RANK-101",)),
    )
    changes = {each.code: each.change for each in Pair(first, second).changes()}
    assert {"POSIX-101": "same", "POSIX-102": "gone", "RANK-101": "not assessed", "POSIX-121": "not assessed"} == changes


def test_numbers_say_how_they_changed() -> None:
    """Twice and more is counted in times, less in percent; what is not known is a question mark, no finding costs nothing."""
    second = side("bb", write_bytes=None, open_count=8, file_count=0, **SLOW)
    shown = {row.name: row.shown for row in Pair(side(), second).measures()}
    assert ("1 min 40 s", "2 min 14 s", "+34.0%") == shown["run_seconds"]
    assert ("1.0 GiB", "?", "?") == shown["write_bytes"]
    assert ("1", "8", "8.0 times") == shown["open_count"]
    assert ("1", "0", "-1") == shown["file_count"]
    assert ("0", "0", "same") == shown["cost_core_seconds"]


@pytest.mark.parametrize("standalone", [True, False])
def test_page_has_no_script_and_names_are_text(standalone: bool) -> None:
    """What a log says cannot leave its place, and the page needs no script."""
    finding = {"code": "POSIX-102", "title": "T", "finding": HOSTILE, "cost_core_seconds": 40.0, "charged_core_seconds": 40.0}
    second = side("bb", (finding,), **SLOW | dict.fromkeys(("app", "user", "job_id", "cluster"), HOSTILE))
    second.facts.grid = Grid("trace", 134.0, np.zeros((4, 20)), np.arange(80.0).reshape(4, 20))
    html = pair_page(Pair(side(), second), standalone=standalone)
    assert "<script" not in html
    assert "script-src" not in html
    assert "\u202e" not in html
    assert html.count("<image ") == 1
