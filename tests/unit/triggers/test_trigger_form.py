"""Every trigger keeps to one form and does what its cases say."""

import re
import subprocess
from importlib import resources

import pyarrow as pa
import pytest

from iomine.schema import TABLES, field
from iomine.triggers import (
    MANUALS,
    TRIGGERS,
    Above,
    Below,
    Case,
    Level,
    Manual,
    Requests,
    Setting,
    Snippet,
    Trigger,
    reference_table,
)
from iomine.triggers.finding import Slot, parts
from iomine.triggers.inputs import NEW_FILES
from iomine.triggers.model import State, whole
from iomine.views.model import find_views

PAGES = [pytest.param(page, id=code) for code, page in MANUALS.items()]
OURS = [pytest.param(page, id=code) for code, page in MANUALS.items() if page.trigger.ruleset == "iomine"]
SNIPPETS = {
    f"{snippet.language}: {snippet.title}: {snippet.code[:20]!r}": snippet
    for trigger in TRIGGERS.values()
    for snippet in trigger.snippets
}
A_TRIGGER = {
    "code": "TEST-001",
    "view": "log_requests",
    "level": Level.WARN,
    "all_of": (Above("read_count", 10, why="It must be something."),),
    "finding": "{read_count} reads.",
    "advice": "Read less.",
    "cases": (),
}


@pytest.mark.parametrize("page", PAGES)
def test_manual_page_has_a_title_a_reason_and_its_blind_spots(page: Manual) -> None:
    """A trigger's module begins with a title in one line, then says why it matters and what it cannot see."""
    assert re.fullmatch(r"[A-Z].{5,70}", page.title)
    assert len(page.text) > 200
    assert re.search(r"^Blind spots?: ", page.text, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_texts_are_sentences(page: Manual) -> None:
    """What people read ends with a full stop, and every threshold and setting says where it comes from."""
    trigger = page.trigger
    advices = [part if isinstance(part, str) else part.text for advice in trigger.advices for part in advice]
    texts = (trigger.finding, *advices, *(each.why for each in trigger.thresholds + trigger.settings))
    assert [text for text in texts if text.endswith(".") and len(text) > 20] == list(texts)


@pytest.mark.parametrize("page", PAGES)
def test_needs_end_a_sentence_that_others_begin(page: Manual) -> None:
    """What a trigger needs continues the sentence "It needs", so it has neither a capital of its own nor a full stop."""
    assert re.fullmatch(r"(the |a |records |POSIX |Lustre |bytes ).+[^.]", page.trigger.needs)


@pytest.mark.parametrize("page", OURS)
def test_finding_has_the_logs_numbers_and_how_to_mend_it(page: Manual) -> None:
    """A finding has the log's own numbers in it, and with it comes a program that does better."""
    assert any(isinstance(part, Slot) for part in parts(page.trigger.finding))
    assert page.trigger.snippets


@pytest.mark.parametrize("page", PAGES)
def test_cost_is_counted_in_core_seconds(page: Manual) -> None:
    """What a finding cost is a metric in core-seconds, or is left out."""
    assert page.trigger.cost is None or field(page.trigger.cost).unit == "core s"


@pytest.mark.parametrize("page", PAGES)
def test_cases_leave_nothing_out(page: Manual) -> None:
    """Every trigger shows that it fires, is clear on each of its thresholds, may not apply, and may not know."""
    trigger = page.trigger
    states = {state: [case for case in trigger.cases if case.state == state] for state in State.__args__}
    on_threshold = {
        above.metric for above in trigger.all_of for case in states["clear"] if case.metrics[above.metric] == above.value
    }
    assert {above.metric for above in trigger.all_of} == on_threshold
    nothing = {above.metric for above in trigger.applies_to for case in states["not applicable"] if above.metric in case.metrics}
    assert {above.metric for above in trigger.applies_to} == nothing
    assert any(None in case.metrics.values() for case in states["unknown"])
    assert any(case.metrics.get("is_complete") is False and None not in case.metrics.values() for case in states["unknown"])
    assert any(case.metrics.get("is_complete") is False for case in states["fired"])
    assert len({case.name for case in trigger.cases}) == len(trigger.cases)


@pytest.mark.parametrize("page", PAGES)
def test_trigger_judges_its_cases(judge, page: Manual) -> None:
    """The SQL of a trigger gives each of its cases the state that the case states."""
    cases = {f"log{number}": case for number, case in enumerate(page.trigger.cases)}
    verdicts = {
        cases[verdict["log_id"]].name: verdict for verdict in judge([page.trigger], [case.metrics for case in cases.values()])
    }
    states = {case.name: case.state for case in cases.values()}
    assert states == {name: verdict["state"] for name, verdict in verdicts.items()}
    for name, verdict in verdicts.items():
        assert (name, states[name] == "fired", states[name] == "unknown") == (
            name,
            verdict["finding"] is not None,
            verdict["reason"] is not None,
        )


@pytest.mark.parametrize("page", PAGES)
def test_fired_verdict_is_reported_in_full(judge, page: Manual) -> None:
    """With all metrics known there are no gaps in the texts, those instead among them, and cost and evidence are the view's."""
    trigger = page.trigger
    texts = {metric: f"/of {metric}" for metric in trigger.metrics if pa.types.is_string(field(metric).type)}
    numbers = set(trigger.metrics) - set(texts)
    case = next(case for case in trigger.cases if case.state == "fired" and numbers <= set(case.metrics))
    (verdict,) = judge([trigger], [dict(case.metrics) | texts])
    # Each way to say it holds where what the ways before it need is not known.
    ways = [[each.known for each in trigger.instead[:count]] for count in range(len(trigger.instead) + 1)]
    verdicts = [judge([trigger], [dict(case.metrics) | texts | dict.fromkeys(unknown)])[0] for unknown in ways]
    assert len(ways) == len({each["finding"] for each in verdicts})
    # What is no finding has no advice.
    reported = " ".join(each[text] or "" for each in verdicts for text in ("finding", "advice"))
    assert "?" not in reported
    assert [text for name, text in texts.items() if text not in reported] == [texts[name] for name in [trigger.evidence] if name]
    expected = (texts.get(trigger.evidence), case.metrics.get(trigger.cost), case.metrics.get(trigger.idle), trigger.level)
    assert expected == (verdict["evidence"], verdict["cost_core_seconds"], verdict["idle_core_seconds"], verdict["level"])


_ELSEWHERE = re.compile(r"HDF5|H5[A-Z]|h5py|MPI_File|romio|ROMIO|cb_nodes|PnetCDF|--exclude")


@pytest.mark.parametrize("page", OURS)
def test_advice_is_for_what_the_run_uses(judge, page: Manual) -> None:
    """A run on one node, without HDF5 and MPI-IO, gets no advice on these, whatever fires but triggers on MPI-IO itself."""
    trigger = page.trigger
    case = next(case for case in trigger.cases if case.state == "fired")
    plain = {"hdf5_file_count": 0, "mpiio_call_count": 0, "known_node_count": 1, "process_count": 8}
    (verdict,) = judge([trigger], [dict(case.metrics) | plain])
    assert "unknown" not in re.findall("`([^`]*)`", verdict["advice"] or "")
    if trigger.code.startswith(("MPIIO", "FABRIC-101")):
        assert not re.search("HDF5|H5[A-Z]|h5py", verdict["advice"] or "")
    else:
        assert not _ELSEWHERE.search(verdict["advice"] or "")


@pytest.mark.parametrize("page", OURS)
def test_advice_that_sets_layouts_says_which_files_have_them(page: Manual) -> None:
    """The layout of a folder is that of new files, and the folder of a run that has ended may get none."""
    for advice in map(whole, page.trigger.advices):
        assert NEW_FILES in advice or re.search("new files|put new ones", advice) or "lfs setstripe" not in advice


@pytest.mark.parametrize(
    ("code", "activity", "said"),
    [
        ("POSIX-102", {"mpiio_call_count": 0}, ("setvbuf",)),
        # Requests of MPI-IO pass through no stream.
        ("POSIX-102", {"mpiio_call_count": 9}, ()),
        ("POSIX-102", {"mpiio_call_count": None}, ()),
        # Who opens one file cannot open fewer.
        ("POSIX-302", {"touched_file_count": 1}, ()),
        ("POSIX-302", {"touched_file_count": 10}, ("container",)),
        ("POSIX-301", {"touched_file_count": 1}, ()),
        # The advice is for independent calls, where no rank is known to have been waited for.
        ("MPIIO-401", {"waited_for": "rank 3"}, ("MPI_Barrier",)),
        ("MPIIO-401", {"waited_for": None, "collective_request_count": 0}, ()),
        ("MPIIO-401", {"waited_for": None, "collective_request_count": 5}, ("MPI_Barrier",)),
    ],
)
def test_advice_is_for_what_the_run_did(judge, code: str, activity: dict[str, object], said: tuple[str, ...]) -> None:
    """Streams, many files and collective calls are spoken of only where the run has them."""
    trigger = TRIGGERS[code]
    case = next(case for case in trigger.cases if case.state == "fired" and "looping_call_count" not in case.metrics)
    (verdict,) = judge([trigger], [dict(case.metrics) | activity])
    assert verdict["advice"]
    assert said == tuple(word for word in ("setvbuf", "container", "fewer files", "MPI_Barrier") if word in verdict["advice"])


def test_commands_name_the_runs_own_file_and_folder(judge) -> None:
    """A path in a command is one word of the shell, however it is called; a path that is not known is in no command."""
    metrics = {"single_ost_bytes": 1 << 40, "single_ost_file_count": 1, "single_ost_core_seconds": 3600.0}
    advice = [
        judge([TRIGGERS["LUSTRE-101"]], [metrics | {"single_ost_path": path}])[0]["advice"]
        for path in ("/scratch/it's mine/a;reboot", None)
    ]
    assert """`lfs migrate -c 16 -S 4M '/scratch/it'"'"'s mine/a;reboot'`""" in advice[0]
    assert """`lfs setstripe -c 16 -S 4M '/scratch/it'"'"'s mine'`""" in advice[0]
    assert not [each for each in re.findall("`([^`]*)`", advice[1]) if "unknown" in each or "-c" in each]


def test_command_never_takes_stripes_away(judge) -> None:
    """A file on more OSTs than examples have is not advised to lie on fewer."""
    trigger = TRIGGERS["LUSTRE-103"]
    fired = next(dict(case.metrics) for case in trigger.cases if case.state == "fired")
    (verdict,) = judge([trigger], [fired | {"striped_shared_stripe_count": 24, "striped_shared_path": "/scratch/a/b.h5"}])
    assert "above 24." in verdict["advice"]
    commands = (*re.findall("`(lfs (?:setstripe|migrate) -[^`]*)`", verdict["advice"]), trigger.snippets[0].code)
    assert {"-c -1"} == {found for command in commands for found in re.findall("-c -?[0-9]+", command)}


@pytest.mark.parametrize("code", ["RANK-301", "RANK-302", "RANK-303"])
def test_finding_of_rank_0_without_a_time_has_no_gap(judge, code: str) -> None:
    """Where the time of rank 0 is not known, the sentence ends before it."""
    trigger = TRIGGERS[code]
    fired = next(dict(case.metrics) for case in trigger.cases if case.state == "fired")
    (verdict,) = judge([trigger], [fired | {trigger.instead[0].known: None}])
    assert "?" not in verdict["finding"] + verdict["advice"]


@pytest.mark.parametrize("trigger", [pytest.param(trigger, id=code) for code, trigger in TRIGGERS.items()])
def test_view_has_what_the_trigger_asks_for(trigger: Trigger) -> None:
    """The features of a trigger hold all its metrics, and say of which logs they are complete."""
    assert {"log_id", "is_complete", *trigger.columns} - set(TABLES[trigger.view].columns) == set()


@pytest.mark.parametrize("trigger", [pytest.param(trigger, id=code) for code, trigger in TRIGGERS.items() if trigger.instead])
def test_blame_is_the_facilitys(trigger: Trigger) -> None:
    """A finding is a sign only of what the facility has to fix."""
    for instead in trigger.instead:
        assert instead.sign_of is None or TRIGGERS[instead.sign_of].is_facility_cause


@pytest.mark.parametrize("trigger", [pytest.param(trigger, id=code) for code, trigger in TRIGGERS.items() if trigger.settings])
def test_setting_turns_something(trigger: Trigger) -> None:
    """The view takes each setting, and without one it works with the same default as the trigger."""
    views = [view.sql for view in find_views() if view.schema in {"feature", "main"}]
    for setting in trigger.settings:
        asks = re.compile(rf"COALESCE\(getvariable\('{setting.name}'\), (\d+)\)")
        used = [float(default) for view in views for default in asks.findall(view)]
        assert {setting.default} == set(used)
        assert setting.name in TABLES[trigger.view].columns


@pytest.mark.parametrize("snippet", SNIPPETS.values(), ids=SNIPPETS)
def test_snippet_is_short_and_can_be_read(snippet: Snippet) -> None:
    """A program fits into a mail, says what it shows, and is one: Python compiles, a shell can parse it, brackets close."""
    lines = snippet.code.splitlines()
    assert len(lines) <= 13
    assert max(len(line) for line in lines) <= 110
    assert snippet.code.endswith("\n")
    assert re.fullmatch(r"[A-Z].+[^.]", snippet.title)
    if snippet.language == "python":
        compile(snippet.code, snippet.title, "exec")
    elif snippet.language == "shell":
        subprocess.run(["sh", "-n"], input=snippet.code, text=True, check=True)
    else:
        assert [0, 0] == [snippet.code.count(left) - snippet.code.count(right) for left, right in ("()", "{}")]


def test_every_module_under_rules_is_a_trigger() -> None:
    """A file put among the rules is found without being listed, and none is there in vain."""
    rules = resources.files("iomine") / "triggers" / "rules"
    files = [file for family in rules.iterdir() if family.is_dir() for file in family.iterdir() if file.name.endswith(".py")]
    assert len([file for file in files if file.name != "__init__.py"]) == len(TRIGGERS) > 0


def test_reference_table_shows_all_triggers_in_text() -> None:
    """SQL can join verdicts with a table of all triggers, whose columns are all text and all filled."""
    table = reference_table()
    expected = ["ruleset", "code", "level", "title", "view_name", "needs", "trigger_version"]
    assert expected == table.column_names
    assert {pa.string()} == set(table.schema.types)
    assert list(TRIGGERS) == table["code"].to_pylist()
    assert [0] * table.num_columns == [column.null_count for column in table.columns]


@pytest.mark.parametrize(
    ("change", "demand"),
    [
        ({"code": "POSIX101"}, "three digits"),
        ({"view": "log; DROP TABLE log"}, "plain name"),
        ({"all_of": ()}, "at least one metric"),
        ({"all_of": (Above("read_count", 10, why=" "),)}, "must say why"),
        ({"all_of": (Above("read_count", float("nan"), why="None."),)}, "must be a number"),
        ({"all_of": (Above("no_such_field", 10, why="None."),)}, "no_such_field must be a field"),
        (
            {"all_of": (Above("read_count", 10, why="A."), Below("read_count", 20, why="B."))},
            "must be held against one threshold",
        ),
        ({"all_of": (Above("path", 10, why="None."),)}, "path must be a field of the schema and a number"),
        ({"finding": "{no_such_field} reads."}, "no_such_field must be a field"),
        ({"advice": "{no_such_field} reads."}, "no_such_field must be a field"),
        ({"evidence": "no_such_field"}, "no_such_field must be a field"),
        (
            {"applies_to": (Above("small_read_path", 0, why="None."),)},
            "small_read_path must be a number of log_activity or of its view",
        ),
        ({"applies_to": (Above("data_read_count", 0, why=" "),)}, "must say why"),
        ({"lacks": ("no_such_field",)}, "no_such_field must be a text of log_activity"),
        ({"settings": (Setting("no_such_field", 1, why="None."),)}, "setting no_such_field must be a field"),
        ({"settings": (Setting("small_read_bytes", float("inf"), why="None."),)}, "setting small_read_bytes must be a field"),
        ({"finding": ""}, "must say what it found"),
        ({"advice": "\n"}, "what to change"),
        ({"cost": "no_such_field"}, "no_such_field must be a field"),
        ({"traced": Requests("posix", path="small_read_path")}, "small_read_path must come with its findings"),
        ({"cases": (Case("no metric", {}, state="unknown"),)}, "'no metric' must name fields"),
        ({"cases": (Case("odd", {"read_count": 1, "odd": 1}, state="clear"),)}, "'odd' must name fields"),
    ],
)
def test_trigger_out_of_form_is_refused(change: dict[str, object], demand: str) -> None:
    """A trigger that could not be judged, or that keeps its reasons to itself, is refused when it is made."""
    with pytest.raises(ValueError, match=re.escape(demand)):
        Trigger(**(A_TRIGGER | change))


def test_states_are_the_four_words_of_the_lake() -> None:
    """A verdict is fired, clear, not applicable or unknown, and nothing else."""
    assert State.__args__ == ("fired", "clear", "not applicable", "unknown")
