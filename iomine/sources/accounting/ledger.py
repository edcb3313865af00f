"""Jobs and steps of one input: columns of texts become tables, and doubts are listed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import tzinfo
from itertools import chain, islice, repeat
from typing import Any, Final, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from iomine.errors import UnreadableError
from iomine.schema.fields import Kind
from iomine.schema.registry import arrow_schema, field
from iomine.sources.accounting import words
from iomine.sources.accounting.hosts import Names, NodeList, Unfolding
from iomine.sources.accounting.lines import LeftOut
from iomine.sources.accounting.times import to_utc
from iomine.sources.model import ELSEWHERE, Input, Readings

# Texts of a column, an array or a list with one for each row; NULL where the record has nothing. Besides the table's own columns,
# there may be `tres`, and `cluster`, whose the record is in a federation.
Columns = Mapping[str, Any]
Record = TypeVar("Record")
RowOf = Callable[[Record], Mapping[str, str | None] | None]

_AT_ONCE: Final = 50_000
_TEXT: Final = pa.string()
_READERS: Final[Mapping[Kind, Callable[[str], Any]]] = {
    Kind.ID: words.number,
    Kind.COUNT: words.count,
    Kind.SECONDS: words.seconds,
}
# Start and end of such jobs are estimates.
_NOT_STARTED: Final = pa.array(["PENDING"])
_NOT_ENDED: Final = pa.array(["PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "STOPPED", "SIGNALING"])
_MICROSECONDS: Final = 1e6
# Sites set SLURM_TIME_FORMAT for people.
_MISREAD_TIMES: Final = "its times are not written as 2026-01-31T08:00:00 or in seconds since 1970, as without SLURM_TIME_FORMAT"
_MOST_CLUSTERS_NAMED: Final = 5


class Ledger:
    """What is read of one input, batch by batch.

    Args:
        source: the input.
        scheduler: the scheduler's name.
        noun: what of the input a number counts, singular.
        nodes: reads a job's list of nodes; raises ValueError where it is none.
    """

    def __init__(self, source: Input, scheduler: str, noun: str = "line", nodes: Callable[[str], Names] = NodeList) -> None:
        self._zone = source.zone
        self._cluster = source.cluster
        self._scheduler = scheduler
        self._unfolding = Unfolding(nodes)
        self._tables: dict[str, list[pa.Table]] = {"job": [], "job_step": []}
        # Of each row of these whose it is.
        self._clusters: dict[str, list[pa.Array]] = {"job": [], "job_step": []}
        self._step_numbers: list[int] = []
        self._doubtful_step_count = 0
        self.left_out = LeftOut(noun)

    def add_jobs(self, numbers: Sequence[int], columns: Columns) -> None:
        """Adds jobs.

        Args:
            numbers: where in the input each is.
            columns: their texts.
        """
        batch = _Batch("job", len(numbers), columns, self._zone)
        batch.columns["scheduler"] = pa.repeat(self._scheduler, len(numbers))
        batch.columns.setdefault("shown_job_id", batch.columns["job_id"])
        batch.columns["hosts"], doubts = self._unfolding.hosts(batch["node_list"], batch["node_count"])
        batch.doubt(doubts, doubts.values())
        table = batch.table()
        dated = pc.is_valid(table["night"])
        for row in pc.indices_nonzero(pc.invert(dated)).to_pylist():
            is_misread = any("_at is not understood" in doubt for doubt in batch.doubts.get(row, ()))
            self.left_out.add(int(numbers[row]), _MISREAD_TIMES if is_misread else "it has no time")
        self._tables["job"].append(table.filter(dated))
        self._clusters["job"].append(_clusters(columns, len(numbers)).filter(dated.combine_chunks()))

    def add_steps(self, numbers: Sequence[int], columns: Columns) -> None:
        """Adds steps of jobs."""
        batch = _Batch("job_step", len(numbers), columns, self._zone)
        self._doubtful_step_count += len(batch.doubts)
        self._tables["job_step"].append(batch.table())
        self._clusters["job_step"].append(_clusters(columns, len(numbers)))
        self._step_numbers += map(int, numbers)

    def add_each(self, records: Iterable[tuple[int, Record]], row_of: RowOf[Record], *, are_steps: bool = False) -> None:
        """Adds records, some at a time.

        Args:
            records: with their numbers.
            row_of: gives a record's texts by column, or None where it is of another kind; raises ValueError where it is
                damaged.
            are_steps: rather than jobs.
        """
        add, remaining = self.add_steps if are_steps else self.add_jobs, iter(records)
        while some := list(islice(remaining, _AT_ONCE)):
            numbers, rows = [], []
            for number, record in some:
                try:
                    row = row_of(record)
                except ValueError as error:
                    self.left_out.add(number, str(error))
                    continue
                if row is None:
                    self.left_out.other_count += 1
                else:
                    numbers.append(number)
                    rows.append(row)
            if rows:
                add(numbers, {name: [row.get(name) for row in rows] for name in set(chain.from_iterable(rows))})

    def readings(self) -> Readings:
        """All that was added.

        Raises:
            UnreadableError: something was left out, and nothing is left; or it is of several clusters, none of which is meant.
        """
        tables = {name: pa.concat_tables(parts) for name, parts in self._tables.items() if parts}
        elsewhere = self._keep_own(tables)
        if "job_step" in tables:
            tables["job_step"] = self._with_nights_of_jobs(tables["job_step"], tables.get("job"))
        found = {name: table.unify_dictionaries() for name, table in tables.items() if table.num_rows}
        if self.left_out.count and not found:
            raise UnreadableError(f"No job can be read here: {self.left_out.text()}")
        doubtful = self._doubtful_step_count
        steps = f"Understood in part, {doubtful:,} in all: steps." if doubtful else ""
        return Readings(found, " ".join(filter(None, (self.left_out.text(), elsewhere, steps))))

    def _keep_own(self, tables: dict[str, pa.Table]) -> str:
        """Leaves out what is of other clusters, each of which counts its jobs anew, and says how much it is.

        Where none of the clusters is named as the sweep's, all of them are taken for it, as long as no two have the same job.

        Raises:
            UnreadableError: two of them have.
        """
        clusters = {name: pa.chunked_array(self._clusters[name], _TEXT) for name in tables}
        named = sorted({cluster for each in clusters.values() for cluster in each.unique().to_pylist() if cluster})
        if len(named) < 2:  # noqa: PLR2004  several
            return ""
        others = [cluster for cluster in named if cluster != self._cluster]
        listed = ", ".join(others[:_MOST_CLUSTERS_NAMED]) + (", ..." if len(others) > _MOST_CLUSTERS_NAMED else "")
        if self._cluster not in named:
            if "job" in tables and _share_ids(tables["job"]["job_id"], clusters["job"]):
                raise UnreadableError(
                    f"It has jobs of several clusters with the same id ({listed}): sweep it with --cluster for each.", False
                )
            return f"Taken for one cluster: {listed}."
        count = 0
        for name, each in clusters.items():
            is_own = pc.equal(each, self._cluster).fill_null(fill_value=False)
            tables[name] = tables[name].filter(is_own)
            count += pc.sum(pc.invert(is_own)).as_py() or 0
            if name == "job_step":
                self._step_numbers = [self._step_numbers[row] for row in pc.indices_nonzero(is_own).to_pylist()]
        return f"{ELSEWHERE}, {count:,} in all: jobs and steps of {listed}."

    def _with_nights_of_jobs(self, steps: pa.Table, jobs: pa.Table | None) -> pa.Table:
        if jobs is not None:
            of_jobs = jobs["night"].take(pc.index_in(steps["job_id"], value_set=jobs["job_id"].combine_chunks()))
            steps = steps.set_column(steps.num_columns - 1, "night", pc.coalesce(of_jobs, steps["night"]))
        dated = pc.is_valid(steps["night"])
        for row in pc.indices_nonzero(pc.invert(dated)).to_pylist():
            self.left_out.add(self._step_numbers[row], "neither it nor its job has a time")
        return steps.filter(dated)


def _share_ids(job_ids: pa.ChunkedArray, clusters: pa.ChunkedArray) -> bool:
    """Whether two clusters have jobs with the same id."""
    ids = pa.table({"job_id": job_ids, "cluster": clusters}).filter(pc.is_valid(clusters)).group_by(["job_id", "cluster"])
    return bool(pc.max(ids.aggregate([])["job_id"].value_counts().field("counts")).as_py() > 1)


def _clusters(columns: Columns, row_count: int) -> pa.Array:
    """The cluster that each record names, NULL where it names none."""
    return pa.array(columns["cluster"], _TEXT) if "cluster" in columns else pa.nulls(row_count, _TEXT)


class _Batch:
    """Rows of one table on their way from texts to Arrow.

    Attributes:
        columns: arrays by name.
        doubts: what is doubtful of a row, by its index.
    """

    def __init__(self, name: str, row_count: int, columns: Columns, zone: tzinfo) -> None:
        self._schema = arrow_schema(name)
        self._row_count = row_count
        self._zone = zone
        self.columns: dict[str, pa.Array] = {}
        self.doubts: dict[int, list[str]] = {}
        for column in self._schema.names:
            if column in columns:
                self.columns[column] = self._read(column, pa.array(columns[column], _TEXT))
        doubtful = pc.indices_nonzero(pc.not_equal(self["doubt"], ""))
        self.doubt(doubtful.to_pylist(), self["doubt"].take(doubtful).to_pylist())
        if "tres" in columns:
            self._divide(pa.array(columns["tres"], _TEXT))
        self._date()

    def __getitem__(self, column: str) -> pa.Array:
        """A column, NULL where the record has nothing."""
        return self.columns.get(column, pa.nulls(self._row_count, self._type(column)))

    def _type(self, column: str) -> pa.DataType:
        type_ = field(column).type
        return type_.value_type if pa.types.is_dictionary(type_) else type_

    def doubt(self, rows: Iterable[int], doubts: Iterable[str]) -> None:
        """Adds doubts about rows."""
        for row, doubt in zip(rows, doubts, strict=False):
            self.doubts.setdefault(row, []).append(doubt)

    def _read(self, column: str, texts: pa.Array) -> pa.Array:
        kind = field(column).kind
        if column == "node_list":
            return words.nodes(texts)
        if kind is Kind.TIME:
            return self._moments(column, texts)
        if column == "job_state" or kind in _READERS:
            read = words.state if column == "job_state" else _READERS[kind]
            return self._each(column, texts, read)
        return words.names(texts)

    def _each(self, column: str, texts: pa.Array, read: Callable[[str], Any]) -> pa.Array:
        values, indices, misread = words.read_each(texts, read)
        self.doubt(misread, repeat(f"{column} is not understood"))
        return pa.array(values, self._type(column)).take(indices)

    def _moments(self, column: str, texts: pa.Array) -> pa.Array:
        times = to_utc(texts, self._zone)
        self.doubt(times.misread, repeat(f"{column} is not understood"))
        self.doubt(times.unsure, repeat(f"{column} is a local time that does not occur once, because clocks changed"))
        return times.moments

    def _divide(self, texts: pa.Array) -> None:
        """Allocated resources take precedence over other columns about nodes, cores and GPUs."""
        values, indices, misread = words.read_each(texts, words.tres)
        self.doubt(misread, repeat("tres is not understood"))
        for column in words.Tres._fields:
            if column in self._schema.names:
                allocated = pa.array([each and getattr(each, column) for each in values], self._type(column)).take(indices)
                self.columns[column] = pc.coalesce(allocated, self[column])

    def _date(self) -> None:
        """Takes estimates away, and works out the length of the run and the night."""
        state = self["job_state"]
        start = pc.if_else(pc.is_in(state, _NOT_STARTED), None, self["start_at"])
        end = pc.if_else(pc.is_in(state, _NOT_ENDED), None, self["end_at"])
        took = pc.divide(pc.subtract(end, start).cast(pa.int64()), _MICROSECONDS)
        ends_first = pc.less(took, 0)
        self.doubt(pc.indices_nonzero(ends_first).to_pylist(), repeat("it ends before it starts"))
        run = pc.coalesce(
            pc.if_else(ends_first, None, took), pc.if_else(pc.is_in(state, _NOT_STARTED), None, self["run_seconds"])
        )
        night = pc.coalesce(end, start, self["submit_at"]).cast(pa.date32())
        self.columns |= {"start_at": start, "end_at": end, "run_seconds": run, "night": night}

    def table(self) -> pa.Table:
        """The rows, in the table's schema and with their nights."""
        self.columns["node_list"] = words.names(self["node_list"])
        doubts: list[str | None] = [None] * self._row_count
        for row, texts in self.doubts.items():
            doubts[row] = "; ".join(texts)
        self.columns["doubt"] = pa.array(doubts, _TEXT)
        schema = self._schema.append(pa.field("night", self._type("night")))
        columns = [self[each.name] for each in schema]
        return pa.Table.from_arrays(
            [
                each.dictionary_encode() if pa.types.is_dictionary(type_) else each
                for each, type_ in zip(columns, schema.types, strict=True)
            ],
            schema=schema,
        )
