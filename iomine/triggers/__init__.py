"""What is worth telling someone: each trigger is one file of data, judged as SQL over all logs at once."""

from iomine.triggers.judge import judge_sql, settings
from iomine.triggers.model import Above, Case, Instead, Level, Setting, Snippet, Trigger
from iomine.triggers.registry import MANUALS, TRIGGERS, Manual, known, manual, reference_table

__all__ = [
    "MANUALS",
    "TRIGGERS",
    "Above",
    "Case",
    "Instead",
    "Level",
    "Manual",
    "Setting",
    "Snippet",
    "Trigger",
    "judge_sql",
    "known",
    "manual",
    "reference_table",
    "settings",
]
