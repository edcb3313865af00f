"""Figures of a warehouse for monitoring, as OpenMetrics writes them: https://prometheus.io/docs/specs/om/open_metrics_spec/."""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any, Final

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import generate_latest as as_prometheus
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST, generate_latest

from iomine.errors import as_output_errors
from iomine.views.query import ask
from iomine.views.questions import question
from iomine.whole import written_whole

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST

# Of the last sweep of each cluster, by column: name and meaning.
_OF_SWEEPS: Final = {
    "found_count": ("iomine_sweep_found", "Darshan logs that the last sweep found: ingested, known and rejected ones together."),
    "ingested_count": ("iomine_sweep_ingested", "Logs that the last sweep read into the warehouse."),
    "known_count": ("iomine_sweep_known", "Logs that the last sweep found and the warehouse had already."),
    "rejected_count": ("iomine_sweep_rejected", "Logs that the last sweep could not read."),
    "statistics_rejected_count": (
        "iomine_sweep_statistics_rejected",
        "Files of server statistics and accounting that the last sweep could not read.",
    ),
    "finding_count": ("iomine_findings", "Findings about the logs of the newest night."),
}


class _Figures:
    """Hands ready figures to a registry."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = tuple(metrics)

    def collect(self) -> Iterator[Metric]:
        """The figures."""
        yield from self._metrics


def openmetrics(database: Path, now: datetime) -> bytes:
    """The figures, for a server that asks `/metrics`.

    Args:
        database: the catalog.
        now: what ages are counted to.

    Raises:
        WarehouseError: there is no warehouse to ask, or its files cannot be read.
    """
    content: bytes = generate_latest(_registry(database, now))  # type: ignore[no-untyped-call]  # it has no types
    return content


def write_textfile(out: Path, database: Path) -> None:
    """Puts the figures into a file, whole at any moment: node_exporter's textfile collector may read it then.

    They are in Prometheus's own form, since it does not take OpenMetrics.

    Raises:
        WarehouseError: as for `openmetrics`.
        OutputError: the file cannot be written.
    """
    content = as_prometheus(_registry(database, datetime.now(UTC)))
    # Files that do not end in .prom are not read.
    with as_output_errors(out), written_whole(out) as new:
        new.write_bytes(content)
        new.chmod(0o644)


def _registry(database: Path, now: datetime) -> CollectorRegistry:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures(_metrics(database, now)))
    return registry


def _metrics(database: Path, now: datetime) -> Iterator[Metric]:
    sweeps = ask(database, question("metrics/sweeps")).to_pylist()
    for column, (name, about) in _OF_SWEEPS.items():
        yield _by_cluster(name, about, {row["cluster"]: row[column] for row in sweeps})
    ends = {row["cluster"]: row["end_at"].replace(tzinfo=UTC).timestamp() for row in sweeps}
    yield _by_cluster("iomine_sweep_end_timestamp_seconds", "When the last sweep ended, in seconds since 1970.", ends)
    lasted = {row["cluster"]: (row["end_at"] - row["start_at"]).total_seconds() for row in sweeps}
    yield _by_cluster("iomine_sweep_duration_seconds", "How long the last sweep took.", lasted)
    yield _by_cluster(
        "iomine_newest_night_age_seconds",
        "Seconds since the newest night with logs began; an alarm is due beyond two days.",
        _ages(sweeps, now),
    )
    mails = GaugeMetricFamily(
        "iomine_mails", "Mails by state: pending, sending, deferred (to be tried again), sent, failed.", labels=("state",)
    )
    for row in ask(database, question("metrics/mails")).to_pylist():
        mails.add_metric((row["mail_state"],), row["mail_count"])
    yield mails
    yield GaugeMetricFamily(
        "iomine_free_bytes",
        "Free bytes of the file system that the warehouse is on.",
        value=shutil.disk_usage(database.parent).free,
    )


def _ages(sweeps: list[dict[str, Any]], now: datetime) -> dict[str, float]:
    begins = {row["cluster"]: datetime.combine(row["night"], time(), UTC) for row in sweeps if row["night"]}
    return {cluster: (now - begin).total_seconds() for cluster, begin in begins.items()}


def _by_cluster(name: str, about: str, values: Mapping[str, float | None]) -> Metric:
    metric = GaugeMetricFamily(name, about, labels=("cluster",))
    for cluster, value in values.items():
        # What is not known is no figure: a sweep of an older version did not count all of this.
        if value is not None:
            metric.add_metric((cluster,), value)
    return metric
