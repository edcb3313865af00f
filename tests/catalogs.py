"""Views over files of the lake that no sweep has committed."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from iomine.lake import LakeFile
from iomine.views.catalog import build_catalog


def catalog_of(folder: Path, files: Iterable[LakeFile]) -> Path:
    """The database of all views over these files, in the folder."""
    paths: dict[str, list[str]] = defaultdict(list)
    for file in files:
        paths[file.table].append(str(file.path))
    build_catalog(folder / "iomine.duckdb", paths, {}, {})
    return folder / "iomine.duckdb"
