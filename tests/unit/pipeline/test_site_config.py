"""`iomine.toml`: one file in place of many, for the warehouse that it names or lies in."""

import datetime as dt
import json
import re
from pathlib import Path

import pytest

from iomine.config import CONFIG_VARIABLE, config_of, warehouse_of
from iomine.errors import InputError, UsageError
from iomine.lake import Warehouse
from iomine.pipeline.digest import site_settings
from iomine.pipeline.ingest.find import check
from iomine.pipeline.nightly import absent_of, clusters_of, sweep_of
from iomine.pipeline.site.config import FILES, SiteConfig, folders, known_settings, merged, problems, setting_named, site_config
from iomine.pipeline.site.retention import site_retention
from iomine.pipeline.site.triggers import site_triggers
from iomine.pipeline.site.zones import site_most_processes, site_zone
from iomine.pipeline.workers.slurm import site_of
from iomine.post.access import site_access
from iomine.settings import SiteSettings

DEPLOY = Path(__file__).parents[3] / "deploy"
SITE = """\
collectors = ["0"]
[clusters.polaris]
logs = ["/darshan/%Y/%-m/%-d"]
time_zone = "America/Chicago"
most_processes = 35840
[digest]
from_name = "Polaris I/O"
[digest.smtp]
host = "mail.site.test"
[access]
operators = ["olga"]
[retention.days]
segment = 30
[thresholds.POSIX-101]
small_read_ratio = 0.5
[slurm]
partition = "night"
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A warehouse's folder, with all settings in one file."""
    (tmp_path / "iomine.toml").write_text(SITE)
    return tmp_path


def test_tables_stand_for_files(root):
    """Each reader of a file finds what the table of its name says."""
    warehouse = Warehouse(root)
    settings = site_settings(root)
    assert ("Polaris I/O", "mail.site.test") == (settings.from_name, settings.smtp.host)
    assert ("olga",) == site_access(root).operators
    assert {"segment": 30} == site_retention(warehouse)
    assert 0.5 == next(each.value for each in site_triggers(warehouse)["POSIX-101"].all_of if each.metric == "small_read_ratio")
    assert "night" == site_of(root).partition
    assert ("America/Chicago", 35840) == (site_zone(warehouse, "polaris"), site_most_processes(warehouse, "polaris"))
    assert [] == list(problems(root))


def test_what_stands_twice_is_refused(root):
    """A file beside the table of its name would leave open which counts."""
    (root / "digest.toml").write_text('from_name = "x"')
    with pytest.raises(
        UsageError, match=r"digest\.toml and .*iomine\.toml, \[digest\] hold the same settings: `iomine config migrate`"
    ):
        site_settings(root)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("digest = 3", r"iomine\.toml: digest is a table: write its settings under a line \[digest\]\."),
        ("[digest]\nfrom_nam = 'x'", r"iomine\.toml.*There is no digest setting .*from_nam: did you mean from_name\?"),
        ("[retention.days]\nsegments = 3", r"iomine\.toml, \[retention\]: There is no table segments: did you mean segment\?"),
        ("[clusters.x]\nlog = []", r"There is no site setting clusters\.x\.log"),
        ("[clusters.x]\nlogs = ['logs']", "'logs' is not an absolute path"),
        ("[clusters.x]\nlogs = ['/logs/%Y/%Q']", "'/logs/%Y/%Q': %Q is no part of a date; %Y, %m and %d are"),
        ("[clusters.x]\nstats = ['/stats/%d/%H']", "'/stats/%d/%H': %H is no part of a date"),
        ("[clusters.x]\nlogs = ['/100%']", "'/100%': % is no part of a date; .* %% is a percent sign"),
        ("[clusters.'a/b']\nlogs = []", "'a/b' is not a valid cluster name"),
        ("[workers]\ncount = 2\nslurm = true", "three ways to get workers"),
        ("warehouse = ", r"iomine\.toml: This is not TOML"),
        ("[nightly]\nsite = 3", "nightly.site must be text, not 3"),
        ("[nightly]\nmetrics = 'iomine.prom'", "nightly.metrics must be an absolute path, such as .*, not 'iomine.prom'"),
    ],
)
def test_what_is_wrong_is_said_once(tmp_path, text, sentence):
    """A sentence says the file, what is wrong in it, and what to write."""
    (tmp_path / "iomine.toml").write_text(text)
    (first, *_) = problems(tmp_path)
    assert re.search(sentence, first)


def test_a_file_speaks_for_the_warehouse_that_it_names(tmp_path, monkeypatch):
    """Another warehouse keeps its own settings, whatever the command or the host names."""
    mine, other = tmp_path / "mine", tmp_path / "other"
    for folder in (mine, other):
        folder.mkdir()
    named = tmp_path / "site.toml"
    named.write_text(f'warehouse = "{mine}"\n[digest]\nfrom_name = "named"')
    (other / "iomine.toml").write_text('[digest]\nfrom_name = "own"')
    monkeypatch.setenv(CONFIG_VARIABLE, str(named))
    assert ("named", "own") == (site_settings(mine).from_name, site_settings(other).from_name)
    assert (named, other / "iomine.toml") == (config_of(mine), config_of(other))


def test_a_warehouse_is_the_same_by_all_its_paths(tmp_path, monkeypatch):
    """Whoever names it by a relative path or a symbolic link gets its settings too, such as who may see what."""
    warehouse = tmp_path / "warehouse"
    warehouse.mkdir()
    (tmp_path / "link").symlink_to(warehouse)
    named = tmp_path / "site.toml"
    named.write_text(f'warehouse = "{warehouse}"')
    monkeypatch.setenv(CONFIG_VARIABLE, str(named))
    monkeypatch.chdir(warehouse)
    assert {named} == {config_of(Path(path)) for path in (tmp_path / "link", "../warehouse", ".", warehouse)}


def test_a_file_that_names_no_warehouse_speaks_for_its_folder(tmp_path, monkeypatch):
    """A misspelt `warehouse` is found there; in the file of the host, whose folder is none, it is refused."""
    named = tmp_path / "site.toml"
    named.write_text('warehose = "/data/iomine"')
    monkeypatch.setenv(CONFIG_VARIABLE, str(named))
    assert tmp_path == warehouse_of(named)
    assert [f"{named}: There is no site setting warehose: did you mean warehouse?"] == list(problems(tmp_path))
    monkeypatch.setattr("iomine.config.HOST_CONFIG", named)
    with pytest.raises(UsageError, match=r'site\.toml names no warehouse: write a line such as warehouse = "/data/iomine"\.'):
        config_of(tmp_path)


def test_older_files_are_merged(tmp_path):
    """One file says what the templates and changes of all files say, comments included; what is read stays the same."""
    (tmp_path / "digest.toml").write_text(
        '# Ours.\nfrom_name = "x"\n\n# The relay.\n[smtp]\nhost = "mail"\n[notices]\nlinks_down = 0\n'
    )
    (tmp_path / "retention.toml").write_text("[days]\nsegment = 3\n")
    (tmp_path / "thresholds.toml").write_text("[POSIX-101]\nsmall_read_ratio = 0.25\n")
    (tmp_path / "sources.toml").write_text('collectors = ["0"]\n[time_zone]\npolaris = "Europe/Berlin"\n')
    (tmp_path / "iomine.toml").write_text('# Site.\n[clusters.polaris]\nlogs = ["/d"]\n')
    before = site_settings(tmp_path), site_retention(Warehouse(tmp_path))
    text, files = merged(tmp_path)
    assert {"digest.toml", "retention.toml", "thresholds.toml", "sources.toml"} == {file.name for file in files}
    for file in files:
        file.unlink()
    (tmp_path / "iomine.toml").write_text(text)
    assert all(comment in text for comment in ("# Ours.", "# The relay.", "# Site."))
    assert before == (site_settings(tmp_path), site_retention(Warehouse(tmp_path)))
    assert "Europe/Berlin" == site_zone(Warehouse(tmp_path), "polaris")
    assert ("/d",) == site_config(tmp_path).clusters["polaris"].logs
    assert [] == list(problems(tmp_path))


def test_templates_can_be_merged(tmp_path):
    """What a site has copied from deploy/ without a change becomes one file in which nothing is wrong."""
    for name in FILES:
        template = next(DEPLOY.rglob(f"{name}.toml"))
        (tmp_path / f"{name}.toml").write_text(template.read_text())
    text, files = merged(tmp_path)
    for file in files:
        file.unlink()
    (tmp_path / "iomine.toml").write_text(text)
    assert [] == list(problems(tmp_path))


def test_what_no_program_can_merge_is_left_alone(tmp_path):
    """Text that only looks like the head of a table would be changed: nothing is."""
    (tmp_path / "digest.toml").write_text('from_name = """\\\n[x]"""\n')
    with pytest.raises(UsageError, match="cannot be merged by a program"):
        merged(tmp_path)


def test_every_setting_is_explained():
    """Each has a sentence, and is found by its key, those of a cluster by the cluster's too."""
    known = list(known_settings())
    assert {"warehouse", "clusters.NAME.logs", "digest.smtp.host", "nightly.digest"} <= {each.key for each in known}
    assert all(each.about.endswith(".") for each in known)
    assert "clusters.NAME.logs" == setting_named("clusters.polaris.logs").key
    with pytest.raises(UsageError, match=r"did you mean digest\.smtp\.host"):
        setting_named("digest.smtp.hots")


def test_the_template_is_the_defaults():
    """`deploy/iomine.toml` names each setting with its default, and says nothing as it stands."""
    text = (DEPLOY / "iomine.toml").read_text()
    assert SiteConfig() == SiteConfig.parse(text)
    for each in known_settings():
        if each.default is not None and each.default != {} and ".NAME" not in each.key:
            assert f"#{each.key.rpartition('.')[2]} = {json.dumps(each.default)}" in text


def test_patterns_name_the_days_of_a_night():
    """A day's folder is named as strftime writes it; what names no day is one folder."""
    night = dt.date(2026, 3, 1)
    assert [Path("/d/2026/2/28"), Path("/s"), Path("/d/2026/3/1")] == folders(("/d/%Y/%-m/%-d", "/s"), night, 2)


def test_a_night_is_swept_from_the_folders_that_are_there(tmp_path):
    """A day without runs has no folder; where none is there, the mount is missing."""
    (tmp_path / "2026-03-01").mkdir()
    config = SiteConfig.parse(f'[clusters.x]\nlogs = ["{tmp_path}/%Y-%m-%d"]\nstats = ["{tmp_path}/none"]\n[workers]\ncount = 3')
    settings = sweep_of(config, tmp_path / "w", "x", dt.date(2026, 3, 1))
    assert ((tmp_path / "2026-03-01",), (), "x", 3) == (settings.paths, settings.stats, settings.cluster, settings.workers)
    with pytest.raises(InputError, match="None of the folders of x is there for 2026-03-05"):
        sweep_of(config, tmp_path / "w", "x", dt.date(2026, 3, 5))
    assert [f"{tmp_path}/none has nothing for 2026-03-01: mount it, or correct clusters.x.stats."] == absent_of(
        config, "x", dt.date(2026, 3, 1)
    )


def test_a_folder_that_cannot_be_looked_at_is_swept(tmp_path, monkeypatch):
    """The sweep says why it cannot, as for every folder that it is given; what lies there is not passed over."""
    config = SiteConfig.parse(f'[clusters.x]\nlogs = ["{tmp_path}/closed"]\ndays = 1')

    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "stat", refuse)
    settings = sweep_of(config, tmp_path / "w", "x", dt.date(2026, 3, 1))
    with pytest.raises(InputError, match="closed cannot be examined: Permission denied"):
        check(settings.paths)


def test_unknown_clusters_are_named():
    """The nearest one is offered, or all."""
    config = SiteConfig.parse("[clusters.polaris]\n[clusters.theta]")
    assert ("polaris", "theta") == clusters_of(config, None)
    assert ("theta",) == clusters_of(config, "theta")
    with pytest.raises(UsageError, match="no cluster polari: did you mean polaris"):
        clusters_of(config, "polari")
    with pytest.raises(UsageError, match="name no cluster"):
        clusters_of(SiteConfig(), None)


def test_records_of_tables_are_records_of_files():
    """No table has a setting of its own that its file has not."""
    for name, field in SiteConfig.model_fields.items():
        if isinstance(field.default, SiteSettings) and name in FILES:
            assert type(field.default).__module__ != SiteConfig.__module__


def test_each_way_to_write_a_day_is_fit():
    """Flags, widths, names of months, weeks, and a percent sign."""
    patterns = ("/d/%Y/%-m/%-d", "/d/%F", "/d/%4Y%02m%_d", "/d/%b/%A/%j/%V", "/d/%Ey", "/100%%/%y")
    assert patterns == SiteConfig.parse({"clusters": {"x": {"logs": list(patterns)}}}).clusters["x"].logs
