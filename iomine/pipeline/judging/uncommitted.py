"""Views over files that no sweep has committed yet."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

import pyarrow as pa

from iomine.lake import LakeFile
from iomine.pipeline.judging.spans import Span
from iomine.views.passing import passing_views
from iomine.views.query import answer_own, set_variables


class AskOfSpan(Protocol):
    """Answers a query as if there were no logs but those of a span's ids."""

    def __call__(self, sql: str, span: Span) -> pa.Table:
        """The answer to one query."""


@contextmanager
def views_over(
    files: Iterable[LakeFile], variables: Mapping[str, float] | None = None, threads: int | None = None
) -> Iterator[AskOfSpan]:
    """Views over these files and no others.

    Args:
        files: of the lake, or written by this sweep.
        variables: values for the variables that views ask for.
        threads: that answer a query, None for one per core.
    """
    paths: dict[str, list[str]] = defaultdict(list)
    for file in files:
        paths[file.table].append(str(file.path))
    # DuckDB adds up all files of a night before it looks at whose they are, so it is shown the rows of the span only.
    with passing_views(paths, variables, threads) as con:

        def ask(sql: str, span: Span) -> pa.Table:
            first, end = span.edges
            set_variables(con, {"first_log_id": first, "end_log_id": end})
            return answer_own(con, sql)

        yield ask
