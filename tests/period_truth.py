"""How often periods are found right: workloads of which it is known when each burst of I/O began.

`python tests/period_truth.py` writes the table into docs/periods.md.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy import fft
from shared import Row, log_of, truth_of, workloads

from iomine.derive import periods, phase_layers, phases, traces
from iomine.derive.periods import _by_starts, _series
from iomine.derive.stretches import heatmap_stretches
from iomine.derive.trace import Floats, Tables
from iomine.errors import UnreadableError
from iomine.schema.ops import OPS
from iomine.sources.darshan import read_log

PAGE = Path(__file__).parents[1] / "docs" / "periods.md"
# Phases are said to come regularly from here on: by their starts, and by the spectrum.
REGULAR, SURE = 0.85, 0.6
_FEWEST_STARTS = 3
_TRACE_TABLES = ("segment", "dxt_file")
_COLUMNS = ("way", "periods", "found", "within 1%", "within 5%", "further off", "median error", "found where there is none")


class Reported(NamedTuple):
    """What was found of a workload's reads or writes.

    Attributes:
        workload: its id.
        op: the direction.
        way: how it was worked out.
        is_periodic: whether they come periodically, as the workload's labels say.
        known: the median distance between their known starts, in seconds, None where they are not known.
        got: the period that was found, None where none was.
    """

    workload: str
    op: str
    way: str
    is_periodic: bool
    known: float | None
    got: float | None

    @property
    def error(self) -> float | None:
        """How far off the period is, as a share of the known one."""
        return None if self.known is None or self.got is None else abs(self.got / self.known - 1)


def reported() -> Iterator[Reported]:
    """Reads and writes of every workload of which it is known whether they are periodic, worked out in every way."""
    for workload in workloads():
        labels = {op: workload["truth"].get(f"periodic_{op}s") for op in OPS}
        try:
            log = read_log(log_of(workload))
        except UnreadableError:
            continue
        for evidence in ("trace", "heatmap"):
            tables = {name: log.tables[name] for name in log.tables if evidence == "trace" or name not in _TRACE_TABLES}
            found = phases(phase_layers(tables, traces(tables)), log.job.run_seconds)
            if _evidence(found) not in {evidence, ""}:
                continue
            for op in (op for op, label in labels.items() if label is not None):
                for name, way in _WAYS[evidence].items():
                    got = way(tables, found, op)
                    yield Reported(workload["id"], op, name, labels[op], _known(workload, op), got)


def _known(workload: Row, op: str) -> float | None:
    """The median distance between bursts, by the program's own account or BT-IO's messages."""
    truth = truth_of(workload)
    accounted = [phase["t0"] for phase in (truth.get("self_accounting") or {}).get("phases", ()) if phase["kind"] == op]
    starts = accounted or (truth.get("stdout_times") or {}).get(f"{op}_start_unix", [])
    return float(np.median(np.diff(sorted(starts)))) if len(starts) >= _FEWEST_STARTS else None


def _evidence(found: Mapping[str, Any]) -> str:
    """What the phases of the whole log are known from, nothing where it has none."""
    whole = zip(found.get("layer", pa.array([])).to_pylist(), found.get("evidence", pa.array([])).to_pylist(), strict=True)
    return next((evidence for layer, evidence in whole if layer == "all"), "")


def _row(tables: Tables, found: Mapping[str, Any], op: str) -> Mapping[str, Any]:
    columns = periods(found, tables, traces(tables))
    rows = pa.table(columns).to_pylist() if columns else []
    return next((row for row in rows if (row["layer"], row["op"]) == ("all", op)), {})


def _by_method(tables: Tables, found: Mapping[str, Any], op: str) -> float | None:
    """As the table `period` has it."""
    row = _row(tables, found, op)
    is_sure = row and (row["period_method"] == "spectrum" or row["period_confidence_ratio"] > REGULAR)
    return row["period_seconds"] if is_sure else None


def _starts_alone(_tables: Tables, found: Mapping[str, Any], op: str) -> float | None:
    starts = next((series.starts for series in _series(found) if (series.layer, series.op) == ("all", op)), np.empty(0))
    if len(starts) < _FEWEST_STARTS:
        return None
    period = _by_starts(starts)
    return period.seconds if period.confidence > REGULAR else None


def _spectrum_alone(tables: Tables, found: Mapping[str, Any], op: str) -> float | None:
    row = _row(tables, found, op)
    return row["spectrum_period_seconds"] if row and (row["spectrum_confidence_ratio"] or 0) >= SURE else None


def _dominant(tables: Tables, _found: Mapping[str, Any], op: str) -> float | None:
    """FTIO's rule by itself: the one frequency whose power is an outlier, where just one is."""
    stretches, width = heatmap_stretches(tables, "posix")
    of_op = stretches.of(stretches.ops == OPS.index(op))
    if not len(of_op.starts):
        return None
    at = np.round(of_op.starts / width).astype(np.int64)
    moved: Floats = np.bincount(at - at.min(), of_op.moved_bytes)
    power = np.abs(fft.rfft(moved)[1:]) ** 2
    scores = (power - power.mean()) / power.std() if len(power) > 1 and power.std() else np.zeros(1)
    outliers = np.flatnonzero((scores >= 3) & (scores >= 0.8 * scores.max()))
    return len(moved) * width / (outliers[0] + 1) if len(outliers) == 1 else None


_Way = Callable[[Tables, Mapping[str, Any], str], float | None]
_WAYS: Mapping[str, Mapping[str, _Way]] = {
    "trace": {
        "trace": _by_method,
        "trace, starts alone": _starts_alone,
        "trace, spectrum alone": _spectrum_alone,
    },
    "heatmap": {
        "heat maps": _by_method,
        "heat maps, starts alone": _starts_alone,
        "heat maps, spectrum alone": _spectrum_alone,
        "heat maps, dominant frequency alone": _dominant,
    },
}


def page(found: list[Reported]) -> str:
    """The table, and each period that is found wrong."""
    rows = [_summary(way, [each for each in found if each.way == way]) for way in (*_WAYS["trace"], *_WAYS["heatmap"])]
    wrong = [each for each in found if each.way in {"trace", "heat maps"} and _is_wrong(each)]
    known = (f"{each.known:.3f} s" if each.is_periodic and each.known is not None else "none" for each in wrong)
    return "\n".join(
        (
            "# How often periods are found right",
            "",
            "<!-- Written by tests/period_truth.py. -->",
            "",
            "This page measures how often the periods of reads and of writes are found right. For some programs it is known when",
            "each burst began, for others that they have no period. Heat maps are those of the same logs, and of some without a",
            "trace. *Dominant frequency alone* is FTIO's rule: a period is found if the power of exactly one frequency is an",
            "outlier (Z-score of 3).",
            "",
            "| " + " | ".join(_COLUMNS) + " |",
            "|" + " --- |" * len(_COLUMNS),
            *rows,
            "",
            "## Found wrong",
            "",
            "| workload | of | by | period | was found as |",
            "| --- | --- | --- | --- | --- |",
            *(
                f"| {each.workload} | {each.op}s | {each.way} | {period} | {each.got:.3f} s |"
                for each, period in zip(wrong, known, strict=True)
            ),
            "",
        )
    )


def _is_wrong(each: Reported) -> bool:
    return each.got is not None and (not each.is_periodic or (each.error is not None and each.error > 0.05))


def _summary(way: str, of_way: list[Reported]) -> str:
    errors = np.array([each.error for each in of_way if each.is_periodic and each.error is not None])
    known = sum(each.is_periodic and each.known is not None for each in of_way)
    none = sum(not each.is_periodic and each.got is not None for each in of_way)
    within = [int((errors <= share).sum()) for share in (0.01, 0.05)]
    cells = (way, known, len(errors), *within, len(errors) - within[-1], f"{np.median(errors):.1%}", none)
    return "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    PAGE.write_text(page(list(reported())))
    sys.stdout.write(f"{PAGE}\n")
