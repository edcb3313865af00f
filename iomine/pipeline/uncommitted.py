"""Views over files that no sweep has committed yet."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from iomine.lake import LakeFile
from iomine.pipeline.spans import Span
from iomine.views.catalog import build_catalog
from iomine.views.query import Limits, answer, open_catalog, set_variables


class AskOfSpan(Protocol):
    """Answers a query as if there were no logs but those of a span's ids."""

    def __call__(self, sql: str, span: Span) -> pa.Table:
        """The answer to one query."""


@contextmanager
def views_over(
    staging: Path, files: Iterable[LakeFile], variables: Mapping[str, float] | None = None, threads: int | None = None
) -> Iterator[AskOfSpan]:
    """Views over these files and no others, all on one connection: to open one costs as much as a small query.

    Args:
        staging: the folder in which they stand meanwhile.
        files: of the lake, or written by this sweep.
        variables: values for the variables that views ask for.
        threads: that answer a query, None for one per core.
    """
    paths: dict[str, list[str]] = defaultdict(list)
    for file in files:
        paths[file.table].append(str(file.path))
    database = staging / f"{uuid.uuid4().hex}.duckdb"
    # DuckDB adds up all files of a night before it looks at whose they are, so it is shown the rows of the span only.
    build_catalog(database, paths, {}, {}, parted=True)
    try:
        with open_catalog(database, Limits(threads=threads)) as con:
            set_variables(con, variables or {})

            def ask(sql: str, span: Span) -> pa.Table:
                first, behind = span.edges
                set_variables(con, {"first_log_id": first, "behind_log_id": behind})
                return answer(con, sql)

            yield ask
    finally:
        database.unlink(missing_ok=True)
