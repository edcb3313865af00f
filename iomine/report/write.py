"""Reports as files: a page and its JSON for each log, its trace's data, and beside them what all pages share.

A file is whole or not there, and one that would say the same again is left alone.
"""

import os
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from iomine.report.explorer import beside
from iomine.report.facts import Ask, Facts, Place, gather
from iomine.report.highlights import highlights_of
from iomine.report.page import TRIGGERS_PAGE, as_json, page, shared_assets, triggers_page
from iomine.report.trace import Trace, trace_of


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a log's report.

    Attributes:
        log_id: whose.
        page: where it lies.
        is_new: whether it says anything else than before.
        fault: why it could not be written, empty where it was.
    """

    log_id: str
    page: Path
    is_new: bool
    fault: str = ""


def write_reports(ask: Ask, places: Iterable[Place], folder: Path) -> Iterator[Written]:
    """Writes the reports of logs into a folder, which need not exist.

    Args:
        ask: answers queries over the published views.
        places: where the logs lie.
        folder: gets `<log_id>.html` and `<log_id>.json` of each, and `<log_id>.trace.js` where there is a trace.
    """
    for facts in gather(ask, places):
        try:
            yield _write_report(ask, facts, folder)
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001  what one hostile log holds must not keep others from their reports
            log_id = facts.log["log_id"]
            fault = f"The report of log {log_id} cannot be written: {type(error).__name__}: {error}"
            yield Written(log_id, folder / f"{log_id}.html", is_new=False, fault=fault)


def write_shared(folder: Path) -> None:
    """Writes what pages in a folder share: the style sheet, the script, and the page of all triggers."""
    (folder / "assets").mkdir(parents=True, exist_ok=True)
    for name, text in shared_assets().items():
        _replace(folder / "assets" / name, text.encode())
    _replace(folder / TRIGGERS_PAGE, triggers_page().encode())


def _write_report(ask: Ask, facts: Facts, folder: Path) -> Written:
    log_id = facts.log["log_id"]
    target, told = folder / f"{log_id}.html", as_json(facts)
    # Written last, the JSON says what the page says.
    facts_file = target.with_suffix(".json")
    is_new = not (target.exists() and facts_file.exists() and facts_file.read_bytes() == told)
    if is_new:
        trace = _trace(ask, facts)
        for name, data in (beside(trace, log_id) if trace else {}).items():
            _replace(folder / name, data)
        _replace(target, page(facts, trace).encode())
        _replace(facts_file, told)
    return Written(log_id, target, is_new)


def write_standalone(ask: Ask, facts: Facts, file: Path) -> None:
    """Writes the report of a log as one file that needs no other."""
    _replace(file, page(facts, _trace(ask, facts), standalone=True).encode())


def _trace(ask: Ask, facts: Facts) -> Trace | None:
    """What the report shows of the trace; few logs have one, and the others are not asked for it."""
    if not any(module["module"].startswith("DXT") for module in facts.modules):
        return None
    return trace_of(ask, facts.log, highlights_of(facts))


def _replace(target: Path, content: bytes) -> None:
    if target.exists() and target.read_bytes() == content:
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}-{uuid.uuid4().hex}")
    try:
        beside.write_bytes(content)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
