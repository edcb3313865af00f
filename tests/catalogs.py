"""Views over files of the lake that no sweep has committed."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from iomine.lake import LakeFile
from iomine.pipeline.judging.judge import judging_views, work_out
from iomine.pipeline.judging.spans import JUDGED_AT_ONCE, spans
from iomine.triggers import TRIGGERS
from iomine.views.catalog import build_catalog


def catalog_of(folder: Path, files: Iterable[LakeFile]) -> Path:
    """The database of all views over these files, in the folder."""
    paths: dict[str, list[str]] = defaultdict(list)
    for file in files:
        paths[file.table].append(str(file.path))
    build_catalog(folder / "iomine.duckdb", paths, {}, {})
    return folder / "iomine.duckdb"


def system_state_profiles(folder: Path, files: Sequence[LakeFile]) -> list[LakeFile]:
    """What `job_weather` reads of logs, worked out as a sweep does; no other trigger's features are."""
    judges = [trigger for trigger in TRIGGERS.values() if trigger.view == "log_weather_profile"]
    worked_out: list[LakeFile] = []
    for span in spans(files, JUDGED_AT_ONCE):
        with judging_views((each for each in files if each.partition in span.partitions), judges) as views:
            worked_out += work_out(folder, span, views, judges)
    return worked_out
