"""Copies what a warehouse holds into a folder that can be given away, with pseudonyms if asked for.

The copy is Parquet files and a file of views over them that moves with them. It is made beside its place, from the last
committed sweep, file by file, and gets its name when it is whole.
"""

import shutil
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from iomine import __version__
from iomine.errors import LimitError, OutputError, UsageError
from iomine.lake import LakeFile, ParquetSink, Warehouse, as_warehouse_errors, check_cluster, check_place, row_groups
from iomine.lake.files import new_file_path
from iomine.pipeline import progress
from iomine.pipeline.export.pseudonyms import Pseudonyms
from iomine.schema import TABLES
from iomine.sqltext import literal, quoted
from iomine.triggers.registry import beside_ours
from iomine.triggers.site import NO_RULES, SiteRules, published_rules
from iomine.views.catalog import build_catalog
from iomine.views.query import answer, answer_own, open_catalog
from iomine.views.site import SiteView
from iomine.views.trial import SITE_LIMITS

_README: Final = """\
A copy of a warehouse of iomine: views in iomine.duckdb over the Parquet files in lake/. Keep both together.

The views name the files from this folder, so that it can be moved. Start a DuckDB client (1.4 or newer) here, or set its path:

    SET file_search_path = '/where/this/folder/is';

`iomine sql --warehouse /where/this/folder/is` needs neither. The tables view_dictionary and data_dictionary say what is
in the views and their columns.
"""
# Columns that date the rows of tables without nights.
_MOMENTS: Final = ("at", "end_at", "composed_at")
_PSEUDONYMS: Final = """
Names of people, jobs, hosts, accounts and files, and numbers that stand for them, are pseudonyms: the same name has the
same pseudonym in all exports whose table _meta has this key_id. Times, sizes and counts are as they were.
"""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was copied.

    Attributes:
        nights: partitions.
        logs: logs.
        rows: rows of all tables.
        size_bytes: size of all files.
    """

    nights: int
    logs: int
    rows: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Choice:
    """What is to be copied.

    Attributes:
        since: the first night, None for all.
        cluster: only rows of this machine, None for all. Rejects belong to no machine and are not copied.

    Raises:
        UsageError: a machine cannot have this name.
    """

    since: date | None = None
    cluster: str | None = None

    def __post_init__(self) -> None:
        if self.cluster is not None:
            check_cluster(self.cluster)

    def takes(self, file: LakeFile) -> bool:
        """Whether rows of a file are to be copied."""
        if file.night is None:
            return self.cluster is None or "cluster" in TABLES[file.table].columns
        return self.cluster in {None, file.cluster} and (self.since is None or file.night >= self.since)

    def rows(self, file: LakeFile, rows: pa.Table) -> pa.Table:
        """Rows of a file that are to be copied; those of tables without nights have the time of their sweep or mail."""
        if file.night is not None:
            return rows
        if self.cluster is not None:
            rows = rows.filter(pc.equal(rows["cluster"], self.cluster))
        if self.since is None:
            return rows
        moment = next(rows[name] for name in _MOMENTS if name in rows.column_names)
        return rows.filter(pc.greater_equal(moment, pa.scalar(datetime.combine(self.since, time(), UTC), moment.type)))


def export(warehouse: Warehouse, out: Path, choice: Choice, pseudonyms: Pseudonyms | None = None) -> Exported:
    """Copies what the last committed sweep published; the warehouse is only read, and may be swept meanwhile.

    Args:
        warehouse: what to copy.
        out: a folder that is not there yet.
        choice: which rows.
        pseudonyms: replace what identifies people and places, None to leave it as it is.

    Raises:
        UsageError: the folder is there, or there is nothing to copy.
        OutputError: the folder cannot be made.
        WarehouseError: there is no warehouse, or files cannot be read or written.
    """
    open_catalog(warehouse.database).close()
    with as_warehouse_errors(warehouse.root):
        files = [file for file in warehouse.lake.snapshot().files if choice.takes(file)]
    if not any(file.night for file in files):
        raise UsageError(f"{warehouse.root} has no such nights: ask for others with --since or --cluster.")
    with open_catalog(warehouse.database) as con:
        rules = published_rules(partial(answer_own, con))
    with _appearing(out) as folder, beside_ours(rules.manuals):
        copies = list(_copies(files, folder / "lake", choice, pseudonyms))
        if pseudonyms is not None:
            # Texts of a site may name anybody, so its views are copied as rows and its triggers as verdicts.
            rules = replace(NO_RULES, views=tuple(_site_rows(warehouse, rules.views, folder, choice, pseudonyms)))
        _describe(folder, copies, rules, pseudonyms)
    return Exported(
        nights=len({(copy.cluster, copy.night) for copy in copies if copy.night}),
        logs=sum(copy.row_count for copy in copies if copy.table == "log"),
        rows=sum(copy.row_count for copy in copies),
        size_bytes=sum(copy.size_bytes for copy in copies),
    )


@contextmanager
def _appearing(out: Path) -> Iterator[Path]:
    """A folder that gets its name when all went well, and is removed otherwise."""
    out = out.absolute()
    check_place(out)
    if "," in str(out):
        raise UsageError(f"{out} contains a comma, which DuckDB's search path does not take: give another folder.")
    if out.exists():
        raise UsageError(f"{out} exists already: name a new folder.")
    folder = out.with_name(f".{out.name}-{uuid.uuid4().hex}")
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise OutputError(f"{out} cannot be written ({error.strerror}): name another place.") from error
    try:
        with as_warehouse_errors(out):
            yield folder
            folder.rename(out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copies(files: list[LakeFile], root: Path, choice: Choice, pseudonyms: Pseudonyms | None) -> Iterator[LakeFile]:
    for done, file in enumerate(files, start=1):
        yield _copy(file, root, choice, pseudonyms)
        progress.report("export", done, len(files))


def _copy(file: LakeFile, root: Path, choice: Choice, pseudonyms: Pseudonyms | None) -> LakeFile:
    # A unique name, so that files of two copies are never taken for each other.
    path = new_file_path(root, file.table, file.cluster, file.night)
    if pseudonyms is None and file.night is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        return replace(file, path=Path(shutil.copyfile(file.path, path)))
    with ParquetSink(file.table, path) as sink:
        for rows in row_groups(file.table, file.path):
            chosen = choice.rows(file, rows)
            sink.write(chosen if pseudonyms is None else pseudonyms.rows(chosen))
    return sink.lake_file(file.cluster, file.night)


def _site_rows(
    warehouse: Warehouse, views: Iterable[SiteView], folder: Path, choice: Choice, pseudonyms: Pseudonyms
) -> Iterator[SiteView]:
    """Views of the site as rows in files, each column replaced as its class says; one that fails is left out."""
    chosen: dict[str, str] = {}
    if choice.since:
        chosen["night"] = f"night >= {literal(choice.since)}"
    if choice.cluster:
        chosen["cluster"] = f"cluster = {quoted(choice.cluster)}"
    with open_catalog(warehouse.database, SITE_LIMITS) as con:
        for view in views:
            try:
                columns = answer(con, f"FROM {view.qualified} LIMIT 0", limits=SITE_LIMITS).column_names
                if chosen.keys() - set(columns):
                    continue
                where = " AND ".join(chosen.values()) or "true"
                rows = answer(con, f"FROM {view.qualified} WHERE {where}", limits=SITE_LIMITS)
            except (UsageError, LimitError):
                continue
            file = Path("lake") / "site" / f"{view.name}.parquet"
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(pseudonyms.rows(rows), folder / file)
            sql = f"SELECT * FROM read_parquet({quoted(str(file))})"  # noqa: S608
            yield replace(view, about="Rows of a view of the site.", reads=(), sql=sql, words=(), panel=None)


def _describe(folder: Path, copies: Iterable[LakeFile], rules: SiteRules, pseudonyms: Pseudonyms | None) -> None:
    """Adds the views, and says how to open them."""
    paths: dict[str, list[str]] = {}
    for copy in copies:
        paths.setdefault(copy.table, []).append(str(copy.path))
    meta = {"iomine_version": __version__} | ({} if pseudonyms is None else {"key_id": pseudonyms.key_id})
    build_catalog(folder / "iomine.duckdb", paths, rules.reference(), meta, site=rules.views, moves=True)
    (folder / "README.txt").write_text(_README + ("" if pseudonyms is None else _PSEUDONYMS), encoding="utf-8")
