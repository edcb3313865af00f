"""Whether a sweep found suspiciously little."""

from typing import Final

from iomine.pipeline.sweep import Settings, Summary
from iomine.views.query import answer_own, open_catalog
from iomine.views.questions import question

# Sweeps that define what is usual: a week of nights, since a week has its weekend.
_USUAL_SWEEPS: Final = 7


def emptiness(settings: Settings, summary: Summary) -> str | None:
    """What is suspicious if a sweep found no logs; None if it found some, was given no paths, or most sweeps find none."""
    if summary.found or not settings.paths:
        return None
    with open_catalog(settings.warehouse / "iomine.duckdb") as con:
        given = {"cluster": settings.cluster, "sweep_count": _USUAL_SWEEPS, "sweep_id": summary.sweep_id}
        (last,) = answer_own(con, question("nightly/emptiness"), given).to_pylist()
    if 2 * last["with_logs_count"] <= last["sweep_count"]:
        return None
    return (
        f"No log was found for {settings.cluster}, where {last['with_logs_count']} of the last {last['sweep_count']} sweeps "
        "found some: see that its folders are mounted, or sweep with --allow-empty."
    )
