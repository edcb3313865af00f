"""Thresholds of a site: what is taken, what is refused, and in which words."""

import re
from pathlib import Path

import pytest

from iomine.errors import UsageError
from iomine.triggers import TRIGGERS, Above, Level, Setting, Trigger
from iomine.triggers.judge import settings
from iomine.triggers.thresholds import SiteThreshold, parse_threshold, parse_thresholds, shipped_thresholds, with_thresholds

EXAMPLE = Path(__file__).parents[3] / "deploy" / "thresholds.toml"
WHY = "It must be something."
SMALL = Trigger(
    code="TEST-001",
    view="log_small",
    level=Level.WARN,
    all_of=(Above("small_read_ratio", 0.1, why=WHY), Above("small_read_count", 1000, why=WHY)),
    finding="{small_read_count} reads.",
    advice="Read less.",
    cases=(),
    unless=(Above("meta_seconds", 30, why=WHY),),
    settings=(Setting("read_bytes", 4096, why=WHY),),
    version="7",
)
FEW = Trigger(
    code="TEST-002",
    view="log_small",
    level=Level.INFO,
    all_of=(Above("meta_ratio", 1.5, why=WHY), Above("rank", 0, why=WHY)),
    high=Above("read_count", 9, why=WHY),
    finding="Few.",
    advice="Open less.",
    cases=(),
    settings=(Setting("read_bytes", 4096, why=WHY),),
)
BOTH = {"TEST-001": SMALL, "TEST-002": FEW}


def thresholds_of(trigger: Trigger) -> dict[str, float]:
    return {above.metric: above.value for above in trigger.thresholds}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TEST-001.small_read_ratio=0.3", SiteThreshold("TEST-001", "small_read_ratio", 0.3)),
        ("test-001.small_read_count=5", SiteThreshold("TEST-001", "small_read_count", 5.0)),
        (" TEST-001.meta_seconds = 1e3 ", SiteThreshold("TEST-001", "meta_seconds", 1000.0)),
        ("TEST-001.read_bytes=0", SiteThreshold("TEST-001", "read_bytes", 0.0)),
        ("TEST-001.small_read_ratio=1", SiteThreshold("TEST-001", "small_read_ratio", 1.0)),
        ("TEST-002.meta_ratio=7", SiteThreshold("TEST-002", "meta_ratio", 7.0)),
        ("TEST-002.rank=-2", SiteThreshold("TEST-002", "rank", -2.0)),
    ],
)
def test_assignment_is_read(text: str, expected: SiteThreshold) -> None:
    """Thresholds of all kinds and settings are taken; a ratio beyond 1 where it ships beyond it, below 0 where they may be."""
    assert expected == parse_threshold(text, BOTH)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("small", "'small' sets no threshold: write CODE.metric=VALUE, such as POSIX-101.small_read_ratio=0.2."),
        ("TEST-001=3", "'TEST-001=3' sets no threshold: write CODE.metric=VALUE, such as POSIX-101.small_read_ratio=0.2."),
        ("TEST-01.rank=3", "There is no trigger TEST-01: did you mean TEST-001?"),
        ("X.rank=3", "There is no trigger X: `iomine explain` lists them all."),
        ("TEST-001.small_raed_ratio=0.3", "TEST-001 has no threshold small_raed_ratio: did you mean small_read_ratio?"),
        (
            "TEST-001.xx=0.3",
            "TEST-001 has no threshold xx: its thresholds are small_read_ratio, small_read_count, meta_seconds, read_bytes.",
        ),
        ("TEST-001.small_read_ratio=", "The threshold TEST-001.small_read_ratio must be a number, not ''."),
        ("TEST-001.small_read_ratio=a lot", "The threshold TEST-001.small_read_ratio must be a number, not 'a lot'."),
        ("TEST-001.small_read_ratio=nan", "The threshold TEST-001.small_read_ratio must be a number, not nan."),
        ("TEST-001.small_read_count=-inf", "The threshold TEST-001.small_read_count must be a number, not -inf."),
        ("TEST-001.small_read_ratio=7", "The threshold TEST-001.small_read_ratio is a ratio: give a number from 0 to 1, not 7."),
        (
            "TEST-001.small_read_ratio=-0.1",
            "The threshold TEST-001.small_read_ratio is a ratio: give a number from 0 to 1, not -0.1.",
        ),
        ("TEST-002.meta_ratio=-1", "The threshold TEST-002.meta_ratio cannot be negative: give 0 or more, not -1."),
        ("TEST-001.small_read_count=-5", "The threshold TEST-001.small_read_count cannot be negative: give 0 or more, not -5."),
        ("TEST-001.meta_seconds=-5", "The threshold TEST-001.meta_seconds cannot be negative: give 0 or more, not -5."),
        ("TEST-001.read_bytes=-5", "The threshold TEST-001.read_bytes cannot be negative: give 0 or more, not -5."),
    ],
)
def test_assignment_that_is_wrong_is_one_sentence(text: str, sentence: str) -> None:
    """What is wrong is named, and with it the nearest right name or the numbers that may be."""
    with pytest.raises(UsageError, match=f"^{re.escape(sentence)}$"):
        parse_threshold(text, BOTH)


def test_file_is_read() -> None:
    """A table for each trigger, a number for each threshold; an empty file sets none."""
    text = "[TEST-001]\nsmall_read_ratio = 0.2 # few\nsmall_read_count = 5\n[TEST-002]\nrank = -1\n"
    expected = (
        SiteThreshold("TEST-001", "small_read_ratio", 0.2),
        SiteThreshold("TEST-001", "small_read_count", 5.0),
        SiteThreshold("TEST-002", "rank", -1.0),
    )
    assert expected == parse_thresholds(text, BOTH)
    assert () == parse_thresholds("", BOTH)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[TEST-001", "This is not TOML: "),
        ("small_read_ratio = 0.2", "small_read_ratio is under no trigger: write a line such as [POSIX-101] above it."),
        ("[TEST-003]\nrank = 1", "There is no trigger TEST-003: did you mean TEST-00"),
        ("[TEST-001]\nsmall_read_ratios = 1", "TEST-001 has no threshold small_read_ratios: did you mean small_read_ratio?"),
        (
            "[TEST-001]\nsmall_read_ratio = 7",
            "The threshold TEST-001.small_read_ratio is a ratio: give a number from 0 to 1, not 7.",
        ),
        ("[TEST-001]\nsmall_read_ratio = '0.2'", "The threshold TEST-001.small_read_ratio must be a number, not '0.2'."),
        ("[TEST-001]\nsmall_read_ratio = true", "The threshold TEST-001.small_read_ratio must be a number, not True."),
        ("[TEST-001]\nsmall_read_ratio = inf", "The threshold TEST-001.small_read_ratio must be a number, not inf."),
        ("[TEST-001.small_read_ratio]\nvalue = 1", "The threshold TEST-001.small_read_ratio must be a number, not {'value': 1}."),
        (f"[TEST-001]\nsmall_read_count = 1{'0' * 400}", "The threshold TEST-001.small_read_count must be a number, not 1000"),
    ],
)
def test_file_that_is_wrong_is_one_sentence(text: str, sentence: str) -> None:
    """A file is held to the same as an assignment, and to its form."""
    with pytest.raises(UsageError, match=f"^{re.escape(sentence)}"):
        parse_thresholds(text, BOTH)


def test_threshold_in_force_is_the_only_change() -> None:
    """A trigger under another threshold keeps its texts, version and other thresholds; other triggers are not touched."""
    found = with_thresholds(
        BOTH, [SiteThreshold("TEST-001", "small_read_count", 5.0), SiteThreshold("TEST-001", "meta_seconds", 60.0)]
    )
    assert {"small_read_ratio": 0.1, "small_read_count": 5.0, "meta_seconds": 60.0} == thresholds_of(found["TEST-001"])
    assert (
        SMALL
        == with_thresholds(
            found, [SiteThreshold("TEST-001", "small_read_count", 1000), SiteThreshold("TEST-001", "meta_seconds", 30)]
        )["TEST-001"]
    )
    assert FEW == found["TEST-002"]


def test_threshold_of_the_level_is_one_too() -> None:
    """What raises a level to high is set as what fires is."""
    found = with_thresholds(BOTH, [SiteThreshold("TEST-002", "read_count", 5.0)])["TEST-002"]
    assert {"meta_ratio": 1.5, "rank": 0, "read_count": 5.0} == thresholds_of(found)
    assert found.high is not None
    assert found.all_of == FEW.all_of


def test_later_bar_counts() -> None:
    """Of two thresholds of one name the later is in force, so that a command line can differ from a file."""
    thresholds = [SiteThreshold("TEST-001", "small_read_ratio", value) for value in (0.2, 0.3)]
    assert 0.3 == thresholds_of(with_thresholds(BOTH, thresholds)["TEST-001"])["small_read_ratio"]


def test_setting_is_that_of_all_triggers_that_share_it() -> None:
    """Set for one trigger, a number that the view works with is what the view gets."""
    found = with_thresholds(BOTH, [SiteThreshold("TEST-001", "read_bytes", 512.0)])
    assert {"read_bytes": 512.0} == settings(list(found.values()))
    assert thresholds_of(SMALL) == thresholds_of(found["TEST-001"])


@pytest.mark.parametrize("trigger", [pytest.param(trigger, id=code) for code, trigger in TRIGGERS.items()])
def test_what_ships_could_be_set(trigger: Trigger) -> None:
    """No threshold or setting of a trigger is outside of what a site may give."""
    thresholds = [
        parse_threshold(f"{trigger.code}.{name}={value}", TRIGGERS)
        for name, value in shipped_thresholds(trigger).items()
        if value >= 0
    ]
    assert {trigger.code: trigger} == with_thresholds({trigger.code: trigger}, thresholds)


def test_example_has_every_bar_and_sets_none() -> None:
    """The file in deploy/ is all comments; with the marks taken away it says what ships."""
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    assert [] == [line for line in lines if line and not line.startswith("#")]
    values = "\n".join(line[1:] for line in lines if re.match(r"#\S", line))
    expected = {(code, name): value for code, trigger in TRIGGERS.items() for name, value in shipped_thresholds(trigger).items()}
    assert expected == {(threshold.code, threshold.name): threshold.value for threshold in parse_thresholds(values, TRIGGERS)}
