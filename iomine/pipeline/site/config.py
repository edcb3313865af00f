"""All that a site sets, in one file: `iomine.toml`.

Tables of the names of today's files (`digest`, `access`, `retention`, `thresholds`, `slurm`, `fabric`, `views`) hold what these
files hold, and the same code reads them. Settings that no other file has stand here: the warehouse, clusters with the places of
their logs, workers, and the parts of a night.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final, Self, get_args

from pydantic import model_validator

from iomine.config import CONFIG_FILE, config_of, parse_toml, read_config, table_of
from iomine.errors import UsageError, did_you_mean
from iomine.lake import Warehouse, check_cluster
from iomine.pipeline.digest import site_settings
from iomine.pipeline.site.collectors import site_collectors
from iomine.pipeline.site.fabric import FabricSettings, site_fabric
from iomine.pipeline.site.retention import Retention, site_retention
from iomine.pipeline.site.rules import site_rules
from iomine.pipeline.site.triggers import site_triggers
from iomine.pipeline.site.views import ViewSettings, site_views
from iomine.pipeline.site.zones import site_zone
from iomine.pipeline.workers.slurm import SlurmSite
from iomine.post.access import AccessSettings, site_access
from iomine.post.settings import Settings
from iomine.settings import Count, CountOrZero, Line, Lines, SiteSettings, read_site_file, setting
from iomine.sharing import group_of

# Files that became tables, in the order of the template.
_HEADER: Final = re.compile(r"^(\s*)\[(?!\[)", re.MULTILINE)
# The parts of a date that strftime knows, with its flags and widths, and what is none of them.
_DATE: Final = re.compile("%(?:[-_0^#]?[0-9]*[EO]?[aAbBCdDeFgGhjmuUVwWxyY]|%)")
_NO_DATE: Final = re.compile("%[-_0-9^#]*[EO]?.?")
_BARE: Final = re.compile("[A-Za-z0-9_-]+")
FILES: Final = ("digest", "access", "retention", "thresholds", "slurm", "fabric", "views", "sources")


class ClusterSettings(SiteSettings):
    """A machine whose logs are swept."""

    whose: ClassVar[str] = "cluster"
    logs: Lines = setting((), "Folders of its logs, with the day as strftime writes it, such as /darshan/logs/%Y/%-m/%-d.")
    stats: Lines = setting((), "Folders or files of its statistics and accounting, likewise.")
    days: Count = setting(
        2, "Days whose folders a night sweeps, its own day last: a log is in the folder of the day on which its run began."
    )
    time_zone: Line = setting("UTC", "Time zone of statistics and accounting that do not say it.")
    most_processes: CountOrZero = setting(0, "Processes that a run can have; a log that claims more is in doubt. 0: not known.")

    @model_validator(mode="after")
    def _is_fit(self) -> Self:
        for pattern in (*self.logs, *self.stats):
            if not pattern.startswith("/"):
                raise UsageError(f"{pattern!r} is not an absolute path: write one such as /darshan/logs/%Y/%-m/%-d.")
            # What strftime does not know it leaves as it is; hours and minutes of a day are always 00.
            if unknown := _NO_DATE.search(_DATE.sub("", pattern)):
                raise UsageError(f"{pattern!r}: {unknown[0]} is no part of a date; %Y, %m and %d are, and %% is a percent sign.")
        return self


class WorkerSettings(SiteSettings):
    """Who does the work of sweeps."""

    whose: ClassVar[str] = "workers"
    count: CountOrZero = setting(0, "Processes on this host; 0: one a core.")
    scheduler: Line = setting("", "Address of a Dask scheduler, such as tls://dask.site.org:8786; empty: processes on this host.")
    slurm: bool = setting(False, "Whether workers are Slurm jobs, as the table slurm describes them.")

    @model_validator(mode="after")
    def _is_fit(self) -> Self:
        if (self.count > 0) + bool(self.scheduler) + self.slurm > 1:
            raise UsageError("workers.count, workers.scheduler and workers.slurm are three ways to get workers: set one.")
        return self


class NightlySettings(SiteSettings):
    """What `iomine nightly` does after the sweeps."""

    whose: ClassVar[str] = "nightly"
    digest: bool = setting(False, "Whether mails are sent, as the table digest says.")
    outbox: Line = setting("", "Folder that gets the mails instead of the mail server; empty: none.")
    notify: bool = setting(False, "Whether operators get a notice if a metric crosses a threshold of digest.notices.")
    site: Line = setting("", "Folder that gets dashboard, tables and reports as files for a web server; empty: none.")
    metrics: Line = setting("", "File that gets figures for Prometheus's node_exporter after each sweep; empty: none.")

    @model_validator(mode="after")
    def _is_fit(self) -> Self:
        for name in ("outbox", "site", "metrics"):
            # Timers and people run the command in different folders.
            if (path := getattr(self, name)) and not path.startswith("/"):
                raise UsageError(f"nightly.{name} must be an absolute path, such as /data/iomine/{name}, not {path!r}.")
        return self


class SiteConfig(SiteSettings):
    """All of it."""

    whose: ClassVar[str] = "site"
    warehouse: Line = setting("", "The warehouse, an absolute path; empty: the warehouse that this file is in.")
    group: Line = setting("", "Group that may read what is written, by name or number; empty: that of the folder.")
    collectors: Lines = setting((), "Logins or uids that own files of logs which they did not write.")
    clusters: Mapping[str, ClusterSettings] = setting({}, "Machines by name, each as a table such as [clusters.polaris].")
    workers: WorkerSettings = setting(WorkerSettings(), "Who does the work of sweeps.")
    nightly: NightlySettings = setting(NightlySettings(), "What `iomine nightly` does after the sweeps.")
    digest: Settings = setting(Settings(), "Mails; as digest.toml.")
    access: AccessSettings = setting(
        AccessSettings(), "Who sees what in `iomine serve`; as access.toml. Without it: loopback only, everything."
    )
    retention: Retention = setting(Retention(), "For how long what is kept; as retention.toml.")
    thresholds: Mapping[str, Mapping[str, float]] = setting({}, "Thresholds by trigger and metric; as thresholds.toml.")
    slurm: SlurmSite = setting(SlurmSite(), "Workers as Slurm jobs; as slurm.toml.")
    fabric: FabricSettings = setting(FabricSettings(), "What a fabric does not say of itself; as fabric.toml.")
    views: ViewSettings = setting(ViewSettings(), "Numbers of views that belong to no trigger; as views.toml.")

    @model_validator(mode="after")
    def _is_fit(self) -> Self:
        for name in self.clusters:
            check_cluster(name)
        return self


@dataclass(frozen=True, slots=True)
class Known:
    """A setting as it is explained.

    Attributes:
        key: its place, such as `clusters.NAME.logs`.
        about: one sentence.
        default: what it is where nothing says otherwise; None for a table.
    """

    key: str
    about: str
    default: object


def site_config(root: Path) -> SiteConfig:
    """What the `iomine.toml` that speaks for a warehouse says; the defaults where there is none.

    Raises:
        UsageError: the file cannot be read, or something in it is not fit.
    """
    config = config_of(root)
    if config is None:
        return SiteConfig()
    try:
        return SiteConfig.parse(read_config(config))
    except UsageError as error:
        raise UsageError(f"{config}: {error.args[0]}") from error


def _own(root: Path) -> None:
    """Checks the settings that no file of another name has; the readers of the other files report their own faults."""
    config = config_of(root)
    if config is None:
        return
    tables = {name: table for name, table in read_config(config).items() if name not in FILES}
    try:
        SiteConfig.parse(tables)
    except UsageError as error:
        raise UsageError(f"{config}: {error.args[0]}") from error


def problems(root: Path) -> Iterator[str]:
    """What is wrong with the settings of a warehouse, of whichever file, a sentence each."""
    warehouse = Warehouse(root)
    looks: tuple[Callable[[], object], ...] = (
        partial(_own, root),
        partial(site_settings, root),
        partial(site_access, root),
        partial(site_retention, warehouse),
        partial(site_triggers, warehouse),
        partial(site_fabric, warehouse),
        partial(site_views, warehouse),
        partial(site_zone, warehouse, ""),
        partial(site_collectors, warehouse),
        partial(group_of, root),
    )
    said = set()
    for look in looks:
        try:
            look()
        except UsageError as error:
            if error.args[0] not in said:
                said.add(error.args[0])
                yield error.args[0]
    yield from site_rules(warehouse).left_out.values()


def known_settings(record: type[SiteSettings] = SiteConfig, prefix: str = "") -> Iterator[Known]:
    """All settings, in the order of the template; tables stand before what is in them."""
    for name, each in record.model_fields.items():
        key, about = f"{prefix}{name}", each.description or ""
        inner = _record_in(each.annotation)
        if inner is None:
            yield Known(key, about, each.default)
            continue
        yield Known(key, about, None)
        yield from known_settings(inner, f"{key}." if isinstance(each.default, SiteSettings) else f"{key}.NAME.")


def _record_in(annotation: Any) -> type[SiteSettings] | None:  # noqa: ANN401  a field's type
    """The record that a field is, or has one of for each name."""
    for each in (annotation, *get_args(annotation)):
        if isinstance(each, type) and issubclass(each, SiteSettings):
            return each
    return None


def settings_said(root: Path) -> Iterator[tuple[str, object, Path]]:
    """Settings that a warehouse's files set: key, value and file."""
    config = config_of(root)
    tables = {} if config is None else read_config(config)
    yield from ((key, value, config) for key, value in _flat(tables) if config is not None)
    for file in (root / f"{name}.toml" for name in FILES):
        if file.exists():
            says = read_site_file(file, "settings", parse_toml)
            yield from ((f"{file.stem}.{key}", value, file) for key, value in _flat(says))


def _flat(tables: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in tables.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def setting_named(key: str) -> Known:
    """The setting of this key; a cluster's may be named by the cluster.

    Raises:
        UsageError: there is none.
    """
    by_key = {each.key: each for each in known_settings()}
    parts = key.split(".")
    generic = ".".join(["clusters", "NAME", *parts[2:]]) if parts[0] == "clusters" and parts[2:] else key
    if generic not in by_key:
        hint = did_you_mean(key, by_key) or "`iomine config explain` lists them."
        raise UsageError(f"There is no setting {key}: {hint}")
    return by_key[generic]


def folders(patterns: Iterable[str], night: date, days: int) -> list[Path]:
    """The paths of a night, oldest day first; a pattern without a date is one path.

    Args:
        patterns: with the day as `strftime` writes it.
        night: the last day.
        days: how many days.
    """
    every = (night - timedelta(back) for back in reversed(range(days)))
    return [Path(path) for path in dict.fromkeys(day.strftime(pattern) for day in every for pattern in patterns)]


def merged(root: Path) -> tuple[str, list[Path]]:
    """One `iomine.toml` that says what the files of a warehouse say, and which files these are.

    Comments stay, except those of `sources.toml`, because each of its lines goes to the table of its cluster.

    Raises:
        UsageError: a file cannot be read or is not TOML, says what the `iomine.toml` that is there says too, or is written in a
            way that only a person can merge.
    """
    config = config_of(root)
    text = "" if config is None else config.read_text(encoding="utf-8")
    files = [file for name in FILES if (file := root / f"{name}.toml").exists()]
    says = {file: read_site_file(file, "settings", parse_toml) for file in files}
    for file in files:
        own = file.read_text(encoding="utf-8")
        text = _with_sources(text, says[file]) if file.stem == "sources" else f"{text.rstrip()}\n\n{_as_table(file.stem, own)}"
        if not _says(text, file.stem, says[file]):
            raise UsageError(f"{file} cannot be merged by a program: write its settings into {CONFIG_FILE}, and delete it.")
    return text.lstrip(), files


def _as_table(name: str, text: str) -> str:
    """A file's text as a table of another file."""
    below = _HEADER.sub(rf"\g<1>[{name}.", text)
    return f"[{name}]\n{below}"


def _with_sources(text: str, says: Mapping[str, Any]) -> str:
    """`iomine.toml` with what `sources.toml` says: of each cluster in its own table, the collectors before all tables."""
    by_cluster: dict[str, list[str]] = {}
    for key in ("time_zone", "most_processes"):
        for cluster, value in says.get(key, {}).items():
            by_cluster.setdefault(cluster, []).append(f"{key} = {json.dumps(value)}\n")
    for cluster, lines in by_cluster.items():
        header = f"[clusters.{cluster if _BARE.fullmatch(cluster) else json.dumps(cluster)}]\n"
        before, there, after = text.partition(header)
        text = f"{before}{there}{''.join(lines)}{after}" if there else f"{text.rstrip()}\n\n{header}{''.join(lines)}"
    collectors = f"collectors = {json.dumps(says['collectors'])}\n" if "collectors" in says else ""
    return f"{collectors}{text}"


def _says(text: str, name: str, expected: Mapping[str, Any]) -> bool:
    """Whether the text, as `iomine.toml`, says what a file said."""
    try:
        tables = parse_toml(text)
    except UsageError:
        return False
    return (table_of(tables, name) or {}) == {key: value for key, value in expected.items() if value or name != "sources"}
