"""How files under sql/ become views."""

from pathlib import Path

import pytest

from iomine.views.model import SCHEMAS, View, find_views
from iomine.views.texts import ViewError

HEADER = '-- ---\n-- about = "Something."\n-- grain = ["log_id"]\n-- reads = [{reads}]\n-- ---\nSELECT 1\n'


@pytest.fixture
def sql(tmp_path: Path) -> Path:
    for folder in SCHEMAS:
        (tmp_path / folder).mkdir()
    return tmp_path


def write(sql: Path, name: str, *reads: str) -> None:
    listed = ", ".join(f'"{read}"' for read in reads)
    (sql / f"{name}.sql").write_text(HEADER.format(reads=listed))


def test_a_view_comes_after_those_it_reads(sql: Path):
    """The order lets each view be made from those before it, whatever the files are called."""
    write(sql, "out/a", "main.z", "core.b")
    write(sql, "out/z", "core.b", "main.triggers")
    write(sql, "core/b", "lake.log")
    assert ["core.b", "main.z", "main.a"] == [view.qualified for view in find_views(sql)]


def test_the_file_says_all_about_the_view(sql: Path):
    """Name and schema come from the path, the rest from the header, and the query is what follows."""
    write(sql, "core/b", "lake.log")
    (view,) = find_views(sql)
    assert ("b", "core", "Something.", ("log_id",), ("lake.log",)) == (view.name, view.schema, view.about, view.grain, view.reads)
    assert ("SELECT 1", "core/b.sql") == (view.sql, view.path)


@pytest.mark.parametrize("read", ["lake.nosuch", "core.nosuch", "main.nosuch", "log"])
def test_an_unknown_read_is_refused(sql: Path, read: str):
    """A view cannot read what is neither a view nor a table, and the message names both."""
    write(sql, "core/b", read)
    with pytest.raises(ViewError, match=rf"core/b\.sql reads {read}"):
        find_views(sql)


def test_a_circle_is_refused(sql: Path):
    """Views that read each other are named."""
    write(sql, "out/a", "main.b")
    write(sql, "out/b", "main.a")
    with pytest.raises(ViewError, match=r"circle: main\.\w, main\.\w, main\.\w"):
        find_views(sql)


@pytest.mark.parametrize("line", ["about", "grain", "reads"])
def test_a_header_must_say_all(sql: Path, line: str):
    """A header without one of its three lines is refused."""
    text = HEADER.format(reads="")
    (sql / "core/b.sql").write_text("".join(kept for kept in text.splitlines(keepends=True) if line not in kept))
    with pytest.raises(ViewError, match=r"core/b\.sql must say about, grain and reads"):
        find_views(sql)


@pytest.mark.parametrize("text", ["SELECT 1\n", "-- ---\n-- about = 1\nSELECT 1\n", "SELECT 1\n-- ---\n-- ---\n"])
def test_a_header_must_be_there(sql: Path, text: str):
    """A file without a header at its start is refused."""
    (sql / "core/b.sql").write_text(text)
    with pytest.raises(ViewError, match="must begin with a header"):
        find_views(sql)


def test_a_header_must_be_toml(sql: Path):
    """What is wrong with a header is reported with the file's name."""
    (sql / "core/b.sql").write_text("-- ---\n-- about = Something\n-- ---\nSELECT 1\n")
    with pytest.raises(ViewError, match=r"header of core/b\.sql is not TOML"):
        find_views(sql)


@pytest.mark.parametrize("view", find_views(), ids=lambda view: view.qualified)
def test_ties_are_broken(view: View):
    """Of several rows with the highest value a view takes the same whenever it is asked, or sweeps would differ by chance."""
    picks = [part.partition(")")[0] for part in view.sql.split("arg_max(")[1:]]
    assert all("ORDER BY" in pick for pick in picks)
