"""Packs logs that are past the days of their files, once readers see their content."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from iomine.errors import IomineError
from iomine.pipeline.packing import Packed, ToPack, name_below, pack_each
from iomine.pipeline.site.retention import kept_from
from iomine.pipeline.stages.context import Sweep
from iomine.pipeline.stages.publish import Published
from iomine.sources.darshan.packed import is_packed
from iomine.units import counted


@dataclass(frozen=True, slots=True)
class OldPacked:
    """What became of logs that are past their days.

    Attributes:
        count: logs that were packed.
        removed: files that were removed.
        faults: why others could not be packed, or not removed.
    """

    count: int = 0
    removed: int = 0
    faults: tuple[str, ...] = ()


def pack_old(sweep: Sweep, published: Published) -> OldPacked:
    """Packs what the site's settings say; a failure here is not a failure of the sweep, which has ended well."""
    if not sweep.packing.after_days:
        return OldPacked()
    packing, done = sweep.packing, Packed()
    try:
        pack_each(_old(sweep, published), Path(packing.into), packing.files, remove=packing.remove, done=done)
    except (IomineError, OSError, pa.ArrowException) as error:
        return OldPacked(faults=(f"Logs that are past their days were not packed: {error}",))
    reasons = Counter(reason for _, reason in done.rejects)
    examples = {reason: path for path, reason in reversed(done.rejects)}
    faults = (f"{counted(count, 'old log')}, {examples[reason]} among them: {reason}" for reason, count in reasons.most_common())
    return OldPacked(done.packed, done.removed, tuple(faults))


def _old(sweep: Sweep, published: Published) -> list[ToPack]:
    """Logs that the lake has and whose files still exist, by path."""
    staged = published.committed.judged.merged.staged
    unread = {reject["sha256"] for reject in staged.log_rejects}
    logs = [log for log in (*staged.identified.logs.new, *staged.identified.logs.at_hand) if log.sha256 not in unread]
    newest = max((log.night for log in logs), default=sweep.started_at.date())
    of_lake = (file.night for file in published.committed.snapshot.of("log") if file.cluster == sweep.settings.cluster)
    newest = max([newest, *(night for night in of_lake if night)])
    first = kept_from(newest, sweep.packing.after_days, sweep.started_at.date())
    tops = [top.absolute() for top in sweep.settings.paths]
    return [
        ToPack(log.path, name_below(_above(tops, log.path), log.path), log.sha256)
        for log in sorted(logs, key=lambda log: log.path)
        # A run of several files would not be found again as one.
        if log.night < first and not log.members and not is_packed(log.path)
    ]


def _above(tops: list[Path], path: str) -> Path:
    """Which of the paths it was found under."""
    return next(top for top in tops if path == str(top) or path.startswith(f"{str(top).rstrip('/')}/"))
