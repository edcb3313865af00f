"""A trigger stands in one file: what else names its code follows it, or fails here and says what to do."""

import ast
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from truth import QUESTIONS
from two_faults import PAIRS

from iomine.simulate.archetypes.model import PATTERNS
from iomine.triggers import TRIGGERS

REPO = Path(__file__).parents[2]
RULES = REPO / "iomine" / "triggers" / "rules"
# The simulator lies beside the triggers and cannot import them; its truth names them.
LISTS = {REPO / "iomine" / "simulate" / "archetypes" / "model.py"}
_FAMILIES = sorted({code.partition("-")[0] for code in TRIGGERS if "-" in code})
_CODE = re.compile(rf"\b(?:{'|'.join(_FAMILIES)})-\d{{3}}\b")


def test_no_room_lists_codes_by_hand():
    """What a room needs to know of a trigger is a field of the trigger (`iomine/triggers/model.py`), not a list of codes."""
    modules = [path for path in (REPO / "iomine").rglob("*.py") if RULES not in path.parents and path not in LISTS]
    listed = [
        f"{path.relative_to(REPO)}:{node.lineno}: make {node.value} a field of the trigger"
        for path in modules
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _CODE.fullmatch(node.value)
    ]
    assert [] == listed
    assert len(modules) > 100


def test_what_is_known_to_be_true_asks_for_triggers_that_there_are():
    """The simulator's truth, and the workloads that triggers are measured on, name no trigger that is gone."""
    named = {
        "PATTERNS in iomine/simulate/archetypes/model.py": set(PATTERNS.values()),
        "QUESTIONS in tests/truth.py": {code for question in QUESTIONS for code in (*question.codes, *question.drishti)},
        "PAIRS in tests/two_faults.py": {fault.code for pair in PAIRS for fault in pair},
    }
    gone = [f"{code} is no trigger: change {place}" for place, codes in named.items() for code in sorted(codes - set(TRIGGERS))]
    assert [] == gone


def test_pages_name_triggers_that_there_are():
    """Pages written by hand name no trigger that is gone."""
    pages = [
        REPO / "README.md",
        *(REPO / "docs").glob("*.md"),
        *(REPO / "docs" / "decisions").glob("*.md"),
    ]
    gone = [
        f"{page.relative_to(REPO)}: {code} is no trigger"
        for page in pages
        for code in sorted(set(_CODE.findall(page.read_text(encoding="utf-8"))) - set(TRIGGERS))
    ]
    assert [] == gone
