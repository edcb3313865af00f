"""What moved over the fabric in the nights of a sweep: what ports counted, and what logs put onto links.

A snapshot of the fabric holds until the next, so nights are worked out from snapshots of nights before. A cluster without
a fabric costs nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

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
from iomine.lake import LakeFile, ParquetSink, row_groups, write_file
from iomine.lake.files import new_file_path
from iomine.pipeline.failures import FAILED, error_line
from iomine.pipeline.judging.links import PORT_READINGS, days_moved, have_left
from iomine.pipeline.judging.rollups import KNOWN, nights_of_jobs
from iomine.pipeline.judging.spans import JUDGED_AT_ONCE, Span, spans
from iomine.pipeline.judging.steps import Steps, Task
from iomine.pipeline.judging.uncommitted import views_over
from iomine.pipeline.site.fabric import NO_SITE, SiteFabric
from iomine.schema.registry import arrow_schema
from iomine.views.model import tables_read

_SNAPSHOTS: Final = ("fabric_node", "fabric_link", "fabric_route", "fabric_name")
_LINK: Final = "fabric_link"
_DRAWN: Final = ("fabric_node", _LINK)
# How many nights before are searched for snapshots that still hold; an unchanged snapshot is stored once.
_SNAPSHOT_NIGHTS: Final = 40
_SNAPSHOT_ROWS: Final = 1_000_000
_LONGEST_RUN: Final = timedelta(days=31)
_VIEWS: Final = {"targets": "core.log_target", "slots": "core.log_slot", "hosts": "core.log_host"}
_OF_LOGS: Final = frozenset(("log", "phase", "rank_io", "ost_io", "server_interval", "job"))
_OF_TRAFFIC: Final = ("job_link", "job_route")
_MADE: Final = ("link_interval", *_OF_TRAFFIC, "link_slot", "link_night", "fabric_layout", FAILED)
# Tables that show whether the slots of a night can be worked out again.
_LEFT: Final = ("link_interval", "link_slot", KNOWN)
_READ: Final = frozenset((*_SNAPSHOTS, *PORT_READINGS, *_MADE, KNOWN, *tables_read([*_VIEWS.values(), "core.log"])))
_MICROSECOND: Final = timedelta(microseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Era = tuple[int, Network]


class _Made(NamedTuple):
    """What a task gave.

    Attributes:
        night: of the task.
        tables: those of this night that it tried.
        files: what it wrote.
        failures: log, table and error of what could not be worked out.
    """

    night: date
    tables: tuple[str, ...]
    files: list[LakeFile]
    failures: list[tuple[str, str, str]]


def port_files(
    staging: Path, there: Sequence[LakeFile], new: Sequence[LakeFile], site: SiteFabric = NO_SITE
) -> Steps[list[LakeFile]]:
    """What ports counted between their readings, in the nights that new files concern.

    Args:
        staging: the folder to write to.
        there: the files of all tables as they will be.
        new: those among them that are new.
        site: what the site says of its fabric.
    """
    return (yield from _of_clusters(_Fabric.port_files, staging, there, new, site))


def fabric_files(
    staging: Path, there: Sequence[LakeFile], new: Sequence[LakeFile], site: SiteFabric = NO_SITE, at_once: int = JUDGED_AT_ONCE
) -> Steps[list[LakeFile]]:
    """What logs put onto links, and what these did, in the nights that new files concern.

    Args:
        staging: the folder to write to.
        there: the files of all tables as they will be, with those that `port_files` gives.
        new: the new ones among them, including those from `port_files`.
        site: what the site says of its fabric.
        at_once: how many logs of a night are worked out together.
    """
    return (yield from _of_clusters(partial(_Fabric.files, at_once=at_once), staging, there, new, site))


def _of_clusters(
    files: "Callable[[_Fabric, Sequence[LakeFile]], Steps[list[LakeFile]]]",
    staging: Path,
    there: Sequence[LakeFile],
    new: Sequence[LakeFile],
    site: SiteFabric,
) -> Steps[list[LakeFile]]:
    clusters = {file.cluster for file in there if file.table == _LINK and file.row_count}
    made: list[LakeFile] = []
    for cluster in sorted({file.cluster for file in new if file.cluster and file.cluster in clusters}):
        of_cluster = [file for file in there if file.cluster == cluster]
        made += yield from files(_Fabric(staging, cluster, of_cluster, site), [file for file in new if file.cluster == cluster])
    return made


class _Fabric:
    """The fabric of one cluster, and what is worked out of it."""

    def __init__(self, staging: Path, cluster: str, there: Iterable[LakeFile], site: SiteFabric) -> None:
        self._staging = staging
        self._cluster = cluster
        self._files: dict[str, dict[date, list[LakeFile]]] = {}
        for file in there:
            if file.night and file.table in _READ:
                self._files.setdefault(file.table, {}).setdefault(file.night, []).append(file)
        self._site = site

    def port_files(self, new: Sequence[LakeFile]) -> Steps[list[LakeFile]]:
        """Files of `link_interval`, of all nights that new files concern."""
        changed = self._changed(new)
        read = {night for table, night in changed if table in PORT_READINGS}
        of_snapshots = {night for table, night in changed if table in _SNAPSHOTS}
        nights = (read | {night + timedelta(days=1) for night in read} | of_snapshots) & self._nights("port_reading")
        made = yield self._tasks("link_interval", _Fabric._intervals, nights)
        return [*_files(made), *self._failed(made)]

    def files(self, new: Sequence[LakeFile], *, at_once: int) -> Steps[list[LakeFile]]:
        """Files of the other tables, of all nights that new files concern."""
        changed = self._changed(new)
        nights = {night for table, night in changed if table == "link_interval"}
        logged = {night for table, night in changed if table in _OF_LOGS or table in _SNAPSHOTS} & self._nights("log")
        of_logs = [span for night in sorted(logged) for span in spans(self._files["log"][night], at_once)]
        old = [file for night in logged for file in self._of("job_link", night)]
        traffic: Sequence[_Made] = yield [partial(_Fabric._traffic, self._around(span.nights[0]), span) for span in of_logs]
        self._show(_files(traffic))
        slotted = {day for night in nights for day in (night - timedelta(days=1), night)}
        slotted |= {day for file in (*old, *_files(traffic)) if file.table == "job_link" for day in days_moved(file)}
        # A forgotten log gives no new rows: the slots in which it moved data are named as changed.
        slotted |= {night for table, night in changed if table == "link_slot"}
        pictured = slotted | {night - timedelta(days=1) for night in nights}
        left = {night for night in pictured if have_left(*(self._of(table, night) for table in _LEFT))}
        slots = yield self._tasks("link_slot", _Fabric._slots, slotted - left)
        self._show(_files(slots))
        drawn = {file.night for file in new if file.table in _DRAWN and file.night}
        pictures = yield [
            *self._tasks("link_night", _Fabric._night, pictured - left),
            *self._tasks("fabric_layout", _Fabric._layout, drawn),
        ]
        made = [*traffic, *slots, *pictures]
        return [*_files(made), *self._failed(made)]

    def _tasks(self, table: str, rows_of: "Callable[[_Fabric, date], pa.Table]", nights: Iterable[date]) -> list[Task]:
        return [partial(_Fabric._tried, self._around(night), night, table, rows_of) for night in sorted(nights)]

    def _around(self, night: date) -> "_Fabric":
        """The same, with only the files that may be needed for a night."""
        first, last = night - timedelta(days=1), night + _LONGEST_RUN
        of_nights = [
            file
            for table, by_night in self._files.items()
            for day, files in by_night.items()
            if table in _SNAPSHOTS or first <= day <= last
            for file in files
        ]
        return _Fabric(self._staging, self._cluster, of_nights, self._site)

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
        return {night for night, files in self._files.get(table, {}).items() if any(file.row_count for file in files)}

    def _of(self, table: str, night: date) -> list[LakeFile]:
        return self._files.get(table, {}).get(night, [])

    def _show(self, files: Sequence[LakeFile]) -> None:
        """Replaces the files of the same tables and nights."""
        for file in files:
            if file.night:
                self._files.setdefault(file.table, {})[file.night] = []
        for file in files:
            if file.night:
                self._files[file.table][file.night].append(file)

    def _tried(self, night: date, table: str, rows_of: "Callable[[_Fabric, date], pa.Table]") -> _Made:
        """A file of a table and night; if it could not be worked out, a file without rows and a note."""
        made = _Made(night, (table,), [], [])
        try:
            rows = rows_of(self, night)
        except Exception as error:  # noqa: BLE001  it costs its own rows only
            made.failures.append(("", table, error_line(error)))
            rows = arrow_schema(table).empty_table()
        if rows.num_rows or self._of(table, night):
            order = [(name, "ascending") for name in ("sampled_at", "begin_at", "guid", "port") if name in rows.column_names]
            made.files.append(write_file(self._staging, table, rows.sort_by(order), self._cluster, night))
        return made

    def _rows(self, table: str, nights: Iterable[date]) -> pa.Table:
        files = [file for night in nights for file in self._of(table, night)]
        parts = [rows for file in files for rows in row_groups(table, file.path)]
        return pa.concat_tables([arrow_schema(table).empty_table(), *parts]).unify_dictionaries()

    def _intervals(self, night: date) -> pa.Table:
        before = last_readings(self._rows("port_reading", [night - timedelta(days=1)]))
        readings = pa.concat_tables([before, self._rows("port_reading", [night])])
        eras = [(begin, graph) for begin, graph, _ in self._eras(_at(night - timedelta(days=1)), _at(night + timedelta(days=1)))]
        return link_intervals(eras, readings, _microseconds(_at(night)))

    def _eras(self, first: datetime, end: datetime) -> list[tuple[int, Graph, pa.Table]]:
        """Within a time span: since when each fabric holds, ascending, the fabric, and its forwarding tables."""
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
            rows += sum(file.row_count for file in self._of(table, night))
            if rows > _SNAPSHOT_ROWS and night != before[-1]:
                break
            chosen.insert(0, night)
        return self._rows(table, chosen or nights[:1])

    def _traffic(self, span: Span) -> _Made:
        """What logs of a night put onto links; a log that cannot be worked out costs its own rows."""
        (night,) = span.nights
        try:
            loads, people = self._load(span)
        except Exception as error:  # noqa: BLE001  it costs its own rows only
            return _Made(night, _OF_TRAFFIC, self._written(night, None, pa.table({})), [("", _OF_TRAFFIC[0], error_line(error))])
        # If this fails, the logs are tried one by one.
        with suppress(Exception):
            return _Made(night, _OF_TRAFFIC, self._written(night, loads, people), [])
        sound: list[str] = []
        failures: list[tuple[str, str, str]] = []
        for log_id in pc.unique(loads.targets["log_id"]).to_pylist():
            own = _of_logs(loads, [log_id])
            try:
                for _ in job_traffic(self._networks(own), own):
                    pass
                sound.append(log_id)
            except Exception as error:  # noqa: BLE001  it costs its own rows only
                failures.append((log_id, _OF_TRAFFIC[0], error_line(error)))
        return _Made(night, _OF_TRAFFIC, self._written(night, _of_logs(loads, sound), people), failures)

    def _load(self, span: Span) -> tuple[Load, pa.Table]:
        """What logs of a night moved, and whose they are."""
        (night,) = span.nights
        after = [night + timedelta(days=days) for days in range(-1, _LONGEST_RUN.days + 1)]
        tables = tables_read(_VIEWS.values())
        looked = {
            "fabric_name": sorted(self._nights("fabric_name")),
            "job": after,
            "server_interval": [night - timedelta(days=1), night],
        }
        looked["server_interval"].append(night + timedelta(days=1))
        files = [file for table in tables for day in looked.get(table, [night]) for file in self._of(table, day)]
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
        sinks = {table: ParquetSink(table, new_file_path(self._staging, table, self._cluster, night)) for table in _OF_TRAFFIC}
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
            pq.read_table(file.path, filters=within, partitioning=None) for day in later for file in self._of("job_link", day)
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

    def _failed(self, made: Sequence[_Made]) -> list[LakeFile]:
        """Notes on what could not be worked out, which replace earlier notes."""
        files = []
        for night in sorted({each.night for each in made}):
            of_night = [each for each in made if each.night == night]
            tried = sorted({table for each in of_night for table in each.tables})
            failures = [failure for each in of_night for failure in each.failures]
            old = self._rows(FAILED, [night])
            kept = old.filter(pc.invert(pc.is_in(old["derivation"].cast(pa.string()), value_set=pa.array(tried))))
            if failures or len(kept) < len(old):
                columns = dict(zip(("log_id", "derivation", "error"), zip(*failures, strict=True), strict=False))
                now = pa.table({name: list(columns.get(name, ())) for name in ("log_id", "derivation", "error")})
                rows = pa.concat_tables([kept, now.cast(arrow_schema(FAILED))])
                files.append(write_file(self._staging, FAILED, rows, self._cluster, night))
        return files


def _files(made: Iterable[_Made]) -> list[LakeFile]:
    return [file for each in made for file in each.files]


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


def _at(night: date) -> datetime:
    return datetime.combine(night, time(), UTC)


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND
