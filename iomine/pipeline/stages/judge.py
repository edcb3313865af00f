"""Judges the logs of every night that got some."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from iomine.lake import LakeFile, Partition, replaced
from iomine.pipeline.judging import judge as judging
from iomine.pipeline.judging.links import PORT_READINGS
from iomine.pipeline.judging.system_state import READINGS
from iomine.pipeline.site.collectors import site_collectors
from iomine.pipeline.site.fabric import site_fabric
from iomine.pipeline.stages.context import Sweep
from iomine.pipeline.stages.merge import Merged


@dataclass(frozen=True, slots=True)
class Judged:
    """What was worked out.

    Attributes:
        merged: the rows that it was worked out from.
        files: files of verdicts, features, system state and sums, and those that take the place of merged ones.
        findings: how many verdicts of the default ruleset are findings.
        few: of nights that got a few logs more, those logs of which anything is new.
    """

    merged: Merged
    files: tuple[LakeFile, ...] = ()
    findings: int = 0
    few: Mapping[Partition, frozenset[str]] = field(default_factory=dict)


def judge(sweep: Sweep, merged: Merged) -> Judged:
    """Judges by the triggers of the sweep.

    Raises:
        UsageError: what the site says of its fabric or of collectors is not fit.
        WarehouseError: files cannot be read or written.
        WorkersError: workers were lost.
    """
    if not merged.files:
        return Judged(merged)
    lake = merged.staged.identified.found.snapshot.files
    # Late readings must not replace what was worked out from all readings, once these are past their days.
    left = {(table, night) for table, night in sweep.past(replaced(lake, merged.files)) if table in READINGS | PORT_READINGS}
    touched = [file for file in merged.files if (file.table, file.night) not in left]
    site = site_fabric(sweep.warehouse)
    judged = judging.judge(
        lake, sweep.staging, touched, sweep.triggers, sweep.pool.workers, site=site, collectors=site_collectors(sweep.warehouse)
    )
    return Judged(merged, judged.files, judged.findings, judged.few)
