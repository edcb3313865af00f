"""What moved over the fabric in the nights of a sweep: what ports counted, and what logs put onto links.

A snapshot of the fabric holds until the next, so nights are worked out from snapshots of nights before. A cluster without
a fabric costs nothing.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from itertools import chain
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from iomine.derive.fabric import (
    Graph,
    Load,
    Network,
    changed_only,
    graph_of,
    in_force,
    job_traffic,
    last_readings,
    link_intervals,
    link_slots,
    names_of,
)
from iomine.derive.fabric_layout import layout_of
from iomine.derive.fabric_night import link_nights_of
from iomine.lake import LakeFile, ParquetSink, Partition, row_groups, write_file
from iomine.lake.files import new_file_path
from iomine.pipeline.failures import FAILED, error_line
from iomine.pipeline.judging.links import PORT_READINGS
from iomine.pipeline.judging.rollups import nights_of_jobs
from iomine.pipeline.judging.spans import Span
from iomine.pipeline.judging.uncommitted import views_over
from iomine.pipeline.site.fabric import NO_SITE, SiteFabric
from iomine.schema.registry import arrow_schema
from iomine.views.model import tables_read

_SNAPSHOTS: Final = ("fabric_node", "fabric_link", "fabric_route", "fabric_name")
_LINK: Final = "fabric_link"
_DRAWN: Final = ("fabric_node", _LINK)
# Snapshots of so many nights before are looked through for what still holds; what stays as it is is stored once.
_SNAPSHOT_NIGHTS: Final = 40
_SNAPSHOT_ROWS: Final = 1_000_000
_LONGEST_RUN: Final = timedelta(days=31)
_VIEWS: Final = {"targets": "core.log_target", "slots": "core.log_slot", "hosts": "core.log_host"}
_OF_LOGS: Final = frozenset(("log", "phase", "rank_io", "ost_io", "server_interval", "job"))
_MICROSECOND: Final = timedelta(microseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Era = tuple[int, Network]


def fabric_files(staging: Path, there: Sequence[LakeFile], new: Iterable[LakeFile], site: SiteFabric = NO_SITE) -> list[LakeFile]:
    """What links did, and what logs put onto them, in the nights that new files concern.

    Args:
        staging: the folder to write to.
        there: the files of all tables as they will be.
        new: those among them that are new.
        site: what the site says of its fabric.
    """
    clusters = {file.cluster for file in there if file.table == _LINK and file.row_count}
    new = [file for file in new if file.cluster in clusters]
    return list(
        chain.from_iterable(
            _Fabric(staging, cluster, there, site).files(new) for cluster in sorted({f.cluster or "" for f in new})
        )
    )


class _Fabric:
    """The fabric of one cluster, and what is worked out of it."""

    def __init__(self, staging: Path, cluster: str, there: Sequence[LakeFile], site: SiteFabric) -> None:
        self._staging = staging
        self._cluster = cluster
        self._files: dict[str, dict[date, list[LakeFile]]] = defaultdict(lambda: defaultdict(list))
        for file in there:
            if file.cluster == cluster and file.night:
                self._files[file.table][file.night].append(file)
        self._failures: dict[date, list[tuple[str, str, str]]] = defaultdict(list)
        self._tried: dict[date, set[str]] = defaultdict(set)
        self._site = site

    def files(self, new: Sequence[LakeFile]) -> list[LakeFile]:
        """Files of all nights that new files concern."""
        changed = self._changed(file for file in new if file.cluster == self._cluster)
        read = {night for table, night in changed if table in PORT_READINGS}
        of_snapshots = {night for table, night in changed if table in _SNAPSHOTS}
        nights = (read | {night + timedelta(days=1) for night in read} | of_snapshots) & self._nights("port_reading")
        intervals = [file for night in sorted(nights) for file in self._tried_at(night, "link_interval", self._intervals)]
        logged = {night for table, night in changed if table in _OF_LOGS or table in _SNAPSHOTS} & self._nights("log")
        old = [file for night in logged for file in self._files["job_link"][night]]
        traffic = [file for night in sorted(logged) for file in self._traffic(night)]
        self._show([*intervals, *traffic])
        slotted = {day for night in nights for day in (night - timedelta(days=1), night)}
        slotted |= {day for file in (*old, *traffic) if file.table == "job_link" for day in _days(file)}
        slots = [file for night in sorted(slotted) for file in self._tried_at(night, "link_slot", self._slots)]
        self._show(slots)
        pictured = slotted | {night - timedelta(days=1) for night in nights}
        pictures = [file for night in sorted(pictured) for file in self._tried_at(night, "link_night", self._night)]
        drawn = {file.night for file in new if file.table in _DRAWN and file.night}
        layouts = [file for night in sorted(drawn) for file in self._tried_at(night, "fabric_layout", self._layout)]
        return [*intervals, *traffic, *slots, *pictures, *layouts, *self._failed()]

    def _changed(self, new: Iterable[LakeFile]) -> set[tuple[str, date]]:
        """Tables and nights that are new; a snapshot is new to the nights for which it holds, and jobs to those of their logs."""
        changed: set[tuple[str, date]] = set()
        held = sorted(night for table in _SNAPSHOTS for night in self._nights(table))
        for file in new:
            if file.night is None:
                continue
            if file.table in _SNAPSHOTS:
                begun = file.night
                first, last = begun - timedelta(days=1), next((night for night in held if night > begun), date.max)
                worked_out = self._nights("port_reading") | self._nights("log")
                changed |= {(file.table, night) for night in worked_out if first <= night and night - timedelta(days=1) <= last}
            elif file.table == "job":
                changed |= {(file.table, night) for _, night in nights_of_jobs(file)}
            else:
                changed.add((file.table, file.night))
        return changed

    def _nights(self, table: str) -> set[date]:
        return {night for night, files in self._files[table].items() if any(file.row_count for file in files)}

    def _show(self, files: Sequence[LakeFile]) -> None:
        for file in files:
            if file.night:
                self._files[file.table][file.night] = [file]

    def _tried_at(self, night: date, table: str, rows_of: Callable[[date], pa.Table]) -> list[LakeFile]:
        """A file of a night; one without rows, and a note, where it could not be worked out."""
        self._tried[night].add(table)
        try:
            rows = rows_of(night)
        except Exception as error:  # noqa: BLE001  it costs its own rows only
            self._failures[night].append(("", table, error_line(error)))
            rows = arrow_schema(table).empty_table()
        if not rows.num_rows and not self._files[table].get(night):
            return []
        order = [(name, "ascending") for name in ("sampled_at", "begin_at", "guid", "port") if name in rows.column_names]
        return [write_file(self._staging, table, rows.sort_by(order), self._cluster, night)]

    def _rows(self, table: str, nights: Iterable[date]) -> pa.Table:
        files = [file for night in nights for file in self._files[table].get(night, ())]
        parts = [rows for file in files for rows in row_groups(table, file.path)]
        return pa.concat_tables([arrow_schema(table).empty_table(), *parts]).unify_dictionaries()

    def _intervals(self, night: date) -> pa.Table:
        before = last_readings(self._rows("port_reading", [night - timedelta(days=1)]))
        readings = pa.concat_tables([before, self._rows("port_reading", [night])])
        eras = [(begin, graph) for begin, graph, _ in self._eras(_at(night - timedelta(days=1)), _at(night + timedelta(days=1)))]
        return link_intervals(eras, readings, _microseconds(_at(night)))

    def _eras(self, first: datetime, end: datetime) -> list[tuple[int, Graph, pa.Table]]:
        """Since when a fabric holds, ascending, that fabric, and its forwarding tables; within a stretch of time."""
        nodes, links, routes = (self._snapshots(table, first.date(), end.date()) for table in _SNAPSHOTS[:3])
        nodes, links = changed_only(nodes, links)
        moments = {_microseconds(first)}
        for table in (nodes, links, routes):
            moments.update(at for at in pc.unique(table["sampled_at"].cast(pa.int64())).to_pylist() if at is not None)
        eras: list[tuple[int, Graph, pa.Table]] = []
        held: list[pa.Table] = []
        for moment in sorted(at for at in moments if _microseconds(first) <= at < _microseconds(end)):
            found = in_force(nodes, links, routes, pa.scalar(moment, pa.timestamp("us", "UTC")))
            known = [table.drop_columns("sampled_at") for table in found]
            if not eras or any(not was.equals(now) for was, now in zip(held, known, strict=True)):
                eras.append((moment, graph_of(*found[:2]), found[2]))
            held = known
        return eras

    def _snapshots(self, table: str, first: date, last: date) -> pa.Table:
        """Rows that may hold in some nights, and the first ones after them where there are none."""
        nights = sorted(self._nights(table))
        chosen = [night for night in nights if first <= night <= last]
        before = [night for night in nights if night < first][-_SNAPSHOT_NIGHTS:]
        rows = 0
        for night in reversed(before):
            rows += sum(file.row_count for file in self._files[table][night])
            if rows > _SNAPSHOT_ROWS and night != before[-1]:
                break
            chosen.insert(0, night)
        return self._rows(table, chosen or nights[:1])

    def _traffic(self, night: date) -> list[LakeFile]:
        """What the logs of a night put onto links; a log that cannot be worked out costs its own rows."""
        self._tried[night].update(("job_link", "job_route"))
        loads: Load | None = None
        try:
            loads, people = self._load(night)
            return self._written(night, loads, people)
        except Exception as error:  # noqa: BLE001  it costs its own rows only
            if loads is None:
                self._failures[night].append(("", "job_link", error_line(error)))
                return self._written(night, None, pa.table({}))
        sound = []
        for log_id in pc.unique(loads.targets["log_id"]).to_pylist():
            own = _of_logs(loads, [log_id])
            try:
                for _ in job_traffic(self._networks(own), own):
                    pass
                sound.append(log_id)
            except Exception as error:  # noqa: BLE001  as above
                self._failures[night].append((log_id, "job_link", error_line(error)))
        return self._written(night, _of_logs(loads, sound), people)

    def _load(self, night: date) -> tuple[Load, pa.Table]:
        """What the logs of a night moved, and whose they are."""
        after = [night + timedelta(days=days) for days in range(-1, _LONGEST_RUN.days + 1)]
        tables = tables_read(_VIEWS.values())
        looked = {
            "fabric_name": sorted(self._nights("fabric_name")),
            "job": after,
            "server_interval": [night - timedelta(days=1), night],
        }
        looked["server_interval"].append(night + timedelta(days=1))
        files = [file for table in tables for day in looked.get(table, [night]) for file in self._files[table].get(day, ())]
        span = Span(self._cluster, (night,), 0)
        with views_over(files, [*_VIEWS.values(), "core.log"]) as views:
            asked = {
                name: views.ask(f"SELECT * FROM {view} WHERE {span.where} ORDER BY ALL", span)  # noqa: S608  names of ours
                for name, view in _VIEWS.items()
            }
            people = views.ask(f'SELECT log_id, job_id, "user" FROM core.log WHERE {span.where}', span)  # noqa: S608  as above
        return Load(**asked), people

    def _networks(self, load: Load) -> list[Era]:
        """Fabrics that held while logs moved their bytes."""
        begins = load.slots["begin_at"]
        first, last = pc.min(begins).as_py(), pc.max(begins).as_py()
        if first is None:
            return []
        names = names_of(self._snapshots("fabric_name", first.date(), last.date()), *self._site)
        return [(begin, Network(graph, routes, names)) for begin, graph, routes in self._eras(first, last + timedelta(hours=1))]

    def _written(self, night: date, load: Load | None, people: pa.Table) -> list[LakeFile]:
        sinks = {
            table: ParquetSink(table, new_file_path(self._staging, table, self._cluster, night))
            for table in ("job_link", "job_route")
        }
        with sinks["job_link"] as link_sink, sinks["job_route"] as route_sink:
            eras = [] if load is None else self._networks(load)
            if load is not None and eras:
                evidence = _evidence(load)
                for links, routes in job_traffic(eras, load):
                    link_sink.write(_in_schema("job_link", _joined(links, people)))
                    route_sink.write(_in_schema("job_route", _joined(routes, evidence)))
        return [sink.lake_file(self._cluster, night) for sink in sinks.values()]

    def _slots(self, night: date) -> pa.Table:
        first, end = (int((_at(day) - _EPOCH).total_seconds()) for day in (night, night + timedelta(days=1)))
        intervals = self._rows("link_interval", [night, night + timedelta(days=1)])
        within = (pc.field("begin_at") >= _at(night)) & (pc.field("begin_at") < _at(night + timedelta(days=1)))
        # A log may end long after its first bytes.
        later = [night + timedelta(days=days) for days in range(-1, _LONGEST_RUN.days + 1)]
        parts = [
            pq.read_table(file.path, filters=within, partitioning=None)
            for day in later
            for file in self._files["job_link"].get(day, ())
        ]
        moved = pa.concat_tables([arrow_schema("job_link").empty_table(), *parts], promote_options="permissive")
        return link_slots(intervals, moved, first, end)

    def _night(self, night: date) -> pa.Table:
        """What links did in a night, for pictures; an interval that began in it ends in the one after, at the latest."""
        intervals = self._rows("link_interval", [night, night + timedelta(days=1)])
        began = pc.and_(
            pc.greater_equal(intervals["begin_at"], _at(night)), pc.less(intervals["begin_at"], _at(night + timedelta(days=1)))
        )
        rows = link_nights_of(self._rows("link_slot", [night]), intervals.filter(began), night)
        return _in_schema("link_night", rows)

    def _layout(self, night: date) -> pa.Table:
        """Where devices stand in pictures, for each reading of a night."""
        nodes, links = (self._rows(table, [night]) for table in _DRAWN)
        parts = [arrow_schema("fabric_layout").empty_table()]
        for moment in sorted(pc.unique(nodes["sampled_at"]).drop_null().to_pylist()):
            read = [
                table.filter(pc.equal(table["sampled_at"], pa.scalar(moment, table["sampled_at"].type)))
                for table in (nodes, links)
            ]
            parts.append(_in_schema("fabric_layout", layout_of(*read)))
        return pa.concat_tables(parts)

    def _failed(self) -> list[LakeFile]:
        """Notes on what could not be worked out, in the place of those of an earlier time."""
        files = []
        for night, tried in sorted(self._tried.items()):
            partition: Partition = (self._cluster, night)
            old = self._rows(FAILED, [night])
            kept = old.filter(pc.invert(pc.is_in(old["derivation"].cast(pa.string()), value_set=pa.array(sorted(tried)))))
            if self._failures[night] or len(kept) < len(old):
                columns = dict(zip(("log_id", "derivation", "error"), zip(*self._failures[night], strict=True), strict=False))
                now = pa.table({name: list(columns.get(name, ())) for name in ("log_id", "derivation", "error")})
                rows = pa.concat_tables([kept, now.cast(arrow_schema(FAILED))])
                files.append(write_file(self._staging, FAILED, rows, *partition))
        return files


def _of_logs(load: Load, log_ids: Sequence[str]) -> Load:
    wanted = pa.array(log_ids, pa.string())
    return Load(*(table.filter(pc.is_in(table["log_id"], value_set=wanted)) for table in load))


def _evidence(load: Load) -> pa.Table:
    """By log the evidence of its nodes and targets: the weaker one, where several do."""
    found = [
        table.select(["log_id", name])
        .cast(pa.schema([("log_id", pa.string()), (name, pa.string())]))
        .group_by("log_id")
        .aggregate([(name, which)])
        .rename_columns(["log_id", name])
        for table, name, which in ((load.hosts, "host_evidence", "min"), (load.targets, "target_evidence", "min"))
    ]
    return found[0].join(found[1], "log_id", join_type="full outer")


def _joined(rows: pa.Table, more: pa.Table) -> pa.Table:
    """Rows with the columns that another table has for their logs."""
    at = pc.index_in(rows["log_id"], value_set=more["log_id"].combine_chunks())
    return pa.table(
        {**{name: rows[name] for name in rows.column_names}, **{n: more[n].take(at) for n in more.column_names if n != "log_id"}}
    )


def _in_schema(table: str, rows: pa.Table) -> pa.Table:
    schema = arrow_schema(table)
    return rows.select(schema.names).cast(schema)


def _days(file: LakeFile) -> set[date]:
    """The dates of slots that a file of `job_link` has."""
    begins = pq.read_table(file.path, columns=["begin_at"], partitioning=None)["begin_at"]
    return set(pc.unique(begins.cast(pa.date32())).to_pylist())


def _at(night: date) -> datetime:
    return datetime.combine(night, time(), UTC)


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND
