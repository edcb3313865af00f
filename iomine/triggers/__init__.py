"""Triggers decide what is a finding: each is one file of data, judged as SQL over all logs at once."""

from iomine.triggers.judge import judge_sql, settings
from iomine.triggers.model import Above, Below, Case, Instead, Level, Requests, Setting, Snippet, Threshold, Trigger, Where
from iomine.triggers.registry import (
    MANUALS,
    TRIGGERS,
    Manual,
    all_manuals,
    beside_ours,
    find_manual,
    find_trigger,
    known,
    reference_table,
)

__all__ = [
    "MANUALS",
    "TRIGGERS",
    "Above",
    "Below",
    "Case",
    "Instead",
    "Level",
    "Manual",
    "Requests",
    "Setting",
    "Snippet",
    "Threshold",
    "Trigger",
    "Where",
    "all_manuals",
    "beside_ours",
    "find_manual",
    "find_trigger",
    "judge_sql",
    "known",
    "reference_table",
    "settings",
]
