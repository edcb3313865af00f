"""A site's own triggers and views: what is taken, what is left out and in which words."""

import os
import shutil
from pathlib import Path

import pytest

from iomine.errors import UsageError
from iomine.lake import Warehouse
from iomine.pipeline.site.config import problems
from iomine.pipeline.site.rules import site_rules, with_file
from iomine.pipeline.site.triggers import site_triggers
from iomine.triggers.site import NO_RULES

EXAMPLES = Path(__file__).parents[3] / "docs" / "example_rules"
TRIGGER, VIEW, CASES = "triggers/SITE-102.toml", "views/small_file_folders.sql", "views/small_file_folders.toml"
OF_FILES = "its view site.small_file_folders is not there, or is left out"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A warehouse with one trigger of its own, and the view that it asks."""
    for name in (TRIGGER, VIEW, CASES):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(EXAMPLES / name, tmp_path / name)
        (tmp_path / name).chmod(0o644)
        (tmp_path / name).parent.chmod(0o755)
    return tmp_path


def left_out(root: Path) -> dict[str, str]:
    return dict(site_rules(Warehouse(root)).left_out)


def change(root: Path, name: str, old: str, new: str) -> None:
    text = (root / name).read_text()
    assert old in text
    (root / name).write_text(text.replace(old, new))


def test_the_examples_of_the_docs_can_be_used(tmp_path: Path):
    """All of them count; a trigger takes 25 lines at most, and has three cases at least."""
    for name in ("triggers", "views"):
        shutil.copytree(EXAMPLES / name, tmp_path / name, copy_function=shutil.copyfile)
    for path in tmp_path.rglob("*"):
        path.chmod(path.stat().st_mode & ~0o022)
    rules = site_rules(Warehouse(tmp_path))
    assert {} == rules.left_out
    assert [f"SITE-{number}" for number in range(101, 106)] == list(rules.triggers)
    assert [] == [path.name for path in (EXAMPLES / "triggers").iterdir() if len(path.read_text().splitlines()) > 25]
    assert {True} == {len(trigger.cases) >= 3 for trigger in rules.triggers.values()}


def test_the_trigger_on_the_page_counts(root: Path):
    """What the page shows can be pasted."""
    page = (EXAMPLES.parent / "site_rules.md").read_text()
    (root / TRIGGER).write_text(page.split("```toml\n")[1].split("```")[0])
    assert {} == left_out(root)


def test_a_site_without_rules_has_ours(tmp_path: Path):
    """Nothing is read, and nothing said."""
    assert NO_RULES == site_rules(Warehouse(tmp_path))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('code = "SITE-102"', 'code = "POSIX-101"', "the code of a site's trigger is SITE- and three digits"),
        ('code = "SITE-102"', 'code = "SITE-103"', "the file of SITE-103 is called SITE-103.toml"),
        ('title = "', 'titel = "', "There is no trigger setting titel: did you mean title?"),
        ("above = 200", "about = 200", "There is no trigger setting all_of.0.about: did you mean above?"),
        ("above = 200", 'above = "many"', "all_of.0.above must be a number, not 'many'."),
        ("{site_folder_file_count} small", "{site_folder_file_count small", "do not close: unexpected '{' in field name."),
        ("{site_folder_file_count} small", "{site_folder_files_count} small", "has no column site_folder_files_count: did"),
        ("{site_folder_file_count} small", "{nosuch} small", "nosuch is no word that columns have"),
        ("{site_folder_file_count} small", "{site_folder_file_cound} small", "(did you mean site_folder_file_count?)"),
        ("site.small_file_folders", "site.small_files", "its view site.small_files is not there, or is left out: did you mean"),
        ("site.small_file_folders", "findings", "its view findings does not have one row for each log: its grain is log_id,"),
        ('state = "clear"', 'state = "not applicable"', "it must have a case that fires and one that is clear"),
        ("site_folder_file_count = 200 }", "site_folder_file_count = 201 }", "the case 'exactly on the threshold' is fired"),
        ("blind_spots", "#", "it must say its blind_spots"),
        ("[[cases]]", "[[cases]", "This is not TOML"),
    ],
)  # fmt: skip
def test_a_trigger_that_cannot_be_used_is_left_out_in_a_sentence(root: Path, old: str, new: str, said: str):
    """The sentence begins with the file; the view that it asks stays."""
    change(root, TRIGGER, old, new)
    found = left_out(root)
    assert ["SITE-102"] == list(found)
    assert found["SITE-102"].startswith(f"{root / TRIGGER}: ")
    assert said in found["SITE-102"]
    assert "\n" not in found["SITE-102"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("extent_bytes <", "extent_byte <", 'column "extent_byte" not found in FROM clause! Candidate bindings: "extent_bytes"'),
        ("FROM main.files", "FROM '/etc/passwd'", "reads '/etc/passwd', which its header's reads do not list"),
        ("FROM main.files", "FROM read_text('/etc/passwd')", "The function read_text cannot be used here"),
        ("FROM main.files", "FROM read_csv('https://x.org/a.csv')", "The function read_csv cannot be used here"),
        ("FROM main.files", "FROM lake.posix_file", "which its header's reads do not list as lake.posix_file"),
        ("WITH folder", """WITH "/etc/passwd" AS (SELECT 1), z AS (FROM '/etc/passwd'), folder""", "reads '/etc/passwd'"),
        ("FROM main.files", "FROM duckdb_settings()", "The function duckdb_settings cannot be used here"),
        ("WITH folder", "WITH gone AS (COPY core.log TO 'x.csv'), folder", "This is not one query that can be checked"),
        ("WITH folder", "WIHT folder", 'can be checked (syntax error at or near "WIHT"): write'),
        ("WITH folder", "DROP VIEW core.log; WITH folder", "This is not one query that can be checked"),
        ('"main.files"]', '"main.file"]', "reads main.file, which is not there: did you mean main.files?"),
        ('"main.files"]', '"lake.posix_file"]', "a site's view reads views of main, core and site"),
        ('"main.files"]', '"main.files", "main.jobs"]', "its header says that it reads main.jobs, and the query does not"),
        ("folder_path AS site_folder_path", "folder_path AS folder", "folder is no word that columns have"),
        ("folder_path AS site_folder_path", "folder_path AS site_extra_path", "under [words] what site_extra_path means"),
        ("coalesce(file_count, 0)", "coalesce(file_count, 0)::HUGEINT", "site_folder_file_count is HUGEINT, but must be BIGINT"),
        ('x = "site_folder_path"', 'x = "site_folder"', "its header names site_folder, which is none of its columns"),
        ('form = "bar"', 'form = "pie"', "panel.form must be 'bar', 'line', 'heatmap' or 'table', not 'pie'"),
        ('form = "bar"', 'form = "heatmap"', "A panel of form heatmap has x and y and value"),
        ("-- grain", "-- grains", "must say about, grain and reads, and nothing else"),
    ],
)  # fmt: skip
def test_a_view_that_cannot_be_used_is_left_out_with_what_asks_it(
    root: Path, old: str, new: str, said: str, monkeypatch: pytest.MonkeyPatch
):
    """Each has a sentence; nothing outside the views is read or written."""
    monkeypatch.chdir(root)
    change(root, VIEW, old, new)
    found = left_out(root)
    assert ["SITE-102", "small_file_folders"] == sorted(found)
    assert said in found["small_file_folders"]
    assert str(root / VIEW) in found["small_file_folders"]
    assert not (root / "x.csv").exists()


def test_a_case_that_is_wrong_leaves_its_view_out(root: Path):
    """The sentence has the rows that are, and those that were to be."""
    change(root, CASES, "site_folder_file_count = 2,", "site_folder_file_count = 3,")
    assert (
        "and not [cluster = x, night = 2026-01-05, log_id = a, is_complete = True, site_folder_file_count = 3"
        in left_out(root)["small_file_folders"]
    )
    (root / CASES).unlink()
    assert "has no cases: write" in left_out(root)["small_file_folders"]


def test_views_that_read_each_other_are_left_out(root: Path):
    """A circle is named, whatever views there are beside it."""
    for one, other in (("ring_a", "ring_b"), ("ring_b", "ring_a")):
        header = f'-- ---\n-- about = "A."\n-- grain = []\n-- reads = ["site.{other}"]\n-- ---\n'
        (root / f"views/{one}.sql").write_text(f"{header}SELECT * FROM site.{other}\n")
    found = left_out(root)
    assert {"ring_a", "ring_b"} == set(found)
    assert "reads itself: site.ring_" in found["ring_a"]


@pytest.mark.parametrize("name", ["triggers", TRIGGER, "views", VIEW, CASES])
def test_what_others_can_write_is_not_read(root: Path, name: str):
    """Neither a folder nor a file that is writable for a group or for all."""
    for mode in (0o020, 0o002):
        (root / name).chmod((root / name).stat().st_mode | mode)
        assert any(f"{root / name} can be written by others than its owner" in said for said in left_out(root).values())
        (root / name).chmod((root / name).stat().st_mode & ~mode)
    assert {} == left_out(root)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_others_own_is_not_read(root: Path):
    """Files belong to who runs iomine, to the warehouse's owner, or to root."""
    os.chown(root / TRIGGER, 4711, -1)
    assert "is of user 4711, and is not read" in left_out(root)["SITE-102"]


def test_what_is_no_text_is_a_sentence_and_harms_nothing_else(root: Path):
    """A file that is too long, is not text, nested too deep or none at all; the trigger after it in the folder counts."""
    shutil.copy(root / TRIGGER, root / "triggers/SITE-103.toml")
    change(root, "triggers/SITE-103.toml", "SITE-102", "SITE-103")
    file = root / TRIGGER
    for make, said in (
        (lambda: file.write_bytes(b"\xff"), "is not UTF-8 text"),
        (lambda: file.write_text("#" * (1 << 17)), "has more than 65,536 bytes"),
        (lambda: file.write_text(f"title = {'[' * 9999}"), "This TOML is nested too deep"),
        (lambda: file.symlink_to("/dev/zero"), "is not a regular file"),
        (lambda: os.mkfifo(file), "is not a regular file"),
    ):
        file.unlink()
        make()
        found = site_rules(Warehouse(root))
        assert (["SITE-102"], ["SITE-103"]) == (list(found.left_out), list(found.manuals))
        assert said in found.left_out["SITE-102"]


def test_hosts_of_files_are_not_opened(root: Path):
    """A folder of more files than a site has is a sentence, and none of them counts."""
    for number in range(600):
        (root / f"triggers/SITE-{number}x.toml").touch()
    assert "holds 601 files, and 500 are read at most" in left_out(root)[str(root / "triggers")]


def test_thresholds_are_set_as_ours_are(root: Path):
    """A site sets a threshold of its own trigger in its settings; one of a trigger that is left out harms nothing."""
    (root / "thresholds.toml").write_text("[SITE-102]\nsite_folder_file_count = 7\n")
    assert 7 == site_triggers(Warehouse(root))["SITE-102"].all_of[0].value
    change(root, TRIGGER, 'title = "', 'titel = "')
    assert "SITE-102" not in site_triggers(Warehouse(root))
    assert [left_out(root)["SITE-102"]] == list(problems(root))


def test_rules_lie_beside_the_settings_too(root: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch):
    """Those beside an `iomine.toml` that names the warehouse count as those in it; of one name there may be one."""
    settings = tmp_path_factory.mktemp("settings")
    (settings / "iomine.toml").write_text(f'warehouse = "{root}"\n')
    monkeypatch.setenv("IOMINE_CONFIG", str(settings / "iomine.toml"))
    shutil.move(root / "triggers", settings / "triggers")
    assert ["SITE-102"] == list(site_rules(Warehouse(root)).manuals)
    shutil.copytree(settings / "triggers", root / "triggers")
    assert "have the same name" in left_out(root)["SITE-102"]


def test_a_file_is_tried_wherever_it_lies(root: Path, tmp_path: Path):
    """In the place of that of its name, with all else that the site has."""
    shutil.copy(root / TRIGGER, tmp_path / "SITE-102.toml")
    change(tmp_path, "SITE-102.toml", "above = 200", "above = 100")
    rules, name = with_file(Warehouse(root), tmp_path / "SITE-102.toml")
    assert ("SITE-102", "fired") == (name, rules.left_out["SITE-102"].split("' is ")[1][:5])
    with pytest.raises(UsageError, match="is no rule: name a trigger"):
        with_file(Warehouse(root), tmp_path / "SITE-102.txt")
