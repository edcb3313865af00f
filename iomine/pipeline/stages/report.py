"""Writes the reports of logs with findings, has old logs packed, and says what the sweep did."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime

from iomine.pipeline.reports import list_reports, report_due, retire
from iomine.pipeline.site.retention import days_of_reports
from iomine.pipeline.stages.context import Counts, Sweep
from iomine.pipeline.stages.pack import pack_old
from iomine.pipeline.stages.publish import Published


@dataclass(frozen=True, slots=True)
class Summary:
    """What a sweep did. Found is always ingested + known + rejected.

    Attributes:
        sweep_id: its identifier.
        found: candidates for logs.
        ingested: logs read and committed.
        known: logs whose bytes the lake had already, or had twice among the candidates.
        elsewhere: how many of the known belong to each other cluster.
        rejected: candidates that could not be read.
        statistics: the same for readings of servers and accounting, of which an archive may hold many.
        reasons: how many of all were rejected for each reason.
        nights: nights that got logs.
        findings: findings about the logs of those nights.
        seconds: how long it took.
        reports: reports that have changed.
        unreported: why other reports could not be written.
        packed: logs that were packed, since they are past the days that their files are kept.
        removed: files of such logs that were removed.
        unpacked: why other such logs could not be packed, or not removed.
    """

    sweep_id: str
    found: int
    ingested: int
    known: int
    elsewhere: dict[str, int]
    rejected: int
    statistics: Counts
    reasons: dict[str, int]
    nights: tuple[date, ...]
    findings: int
    seconds: float
    reports: int
    unreported: tuple[str, ...]
    packed: int
    removed: int
    unpacked: tuple[str, ...]


def report(sweep: Sweep, published: Published) -> Summary:
    """Writes reports that have changed, drops those past their days, lists the others, and packs logs past theirs.

    Raises:
        WarehouseError: files cannot be read or written.
        WorkersError: workers were lost.
    """
    reported = report_due(sweep.warehouse, sweep.pool.workers)
    if (days := days_of_reports(sweep.days)) and retire(sweep.warehouse, days):
        list_reports(sweep.warehouse)
    packed = pack_old(sweep, published)
    judged = published.committed.judged
    staged = judged.merged.staged
    reasons = Counter(reject["reason"] for reject in (*staged.log_rejects, *staged.statistics_rejects))
    return Summary(
        sweep_id=sweep.id,
        found=staged.logs.found,
        ingested=staged.logs.ingested,
        known=staged.logs.known,
        elsewhere=dict(staged.identified.logs.elsewhere.most_common()),
        rejected=staged.logs.rejected,
        statistics=staged.statistics,
        reasons=dict(reasons.most_common()),
        nights=tuple(sorted({file.night for file in staged.files if file.night and file.table == "log"})),
        findings=judged.findings,
        seconds=(datetime.now(UTC) - sweep.started_at).total_seconds(),
        reports=reported.new_count,
        unreported=reported.faults,
        packed=packed.count,
        removed=packed.removed,
        unpacked=packed.faults,
    )
