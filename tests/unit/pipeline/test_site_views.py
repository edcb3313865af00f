"""Settings of views: what a site sets is what views work with, and what it leaves is what SQL says."""

import re
from pathlib import Path

import duckdb
import pytest

from iomine.errors import UsageError
from iomine.lake import Warehouse
from iomine.pipeline.publish import publish
from iomine.pipeline.site.views import ViewSettings
from iomine.views.model import find_views

TEMPLATE = Path(__file__).parents[3] / "deploy" / "views.toml"
OF_COMMANDS = {"compare_same_ratio"}


def test_defaults_are_those_of_the_sql():
    """A client that opens views of which no site has set anything gets the same numbers."""
    in_sql = {
        (name, float(default))
        for view in find_views()
        for name, default in re.findall(r"COALESCE\(getvariable\('(\w+)'\), ([\d.]+)\)", view.sql)
        if name in ViewSettings.model_fields
    }
    assert {(name, float(value)) for name, value in ViewSettings() if name not in OF_COMMANDS} == in_sql


def test_the_template_says_what_ships():
    """It sets nothing as it is, and with every value uncommented what would hold anyway."""
    text = TEMPLATE.read_text(encoding="utf-8")
    values = re.sub(r"^#(?=\w)", "", text, flags=re.MULTILINE)
    assert ViewSettings() == ViewSettings.parse(text) == ViewSettings.parse(values)
    assert len(ViewSettings.model_fields) == values.count(" = ")


@pytest.mark.parametrize(
    ("text", "held"), [("", "getvariable('regression_run_count'), 8)"), ("regression_run_count = 20", "20)")]
)
def test_a_site_s_numbers_are_built_into_views(tmp_path: Path, text: str, held: str):
    """Any DuckDB client that opens the file works with them."""
    (tmp_path / "views.toml").write_text(text)
    warehouse = Warehouse(tmp_path)
    publish(warehouse)
    with duckdb.connect(str(warehouse.database), read_only=True) as con:
        (sql,) = con.execute("SELECT sql FROM duckdb_views() WHERE view_name = 'regression'").fetchone()
        assert [] == con.execute("FROM regressions").fetchall()
    assert held in sql


def test_an_unknown_setting_is_refused():
    """With the nearest that there is."""
    with pytest.raises(UsageError, match=r"There is no view setting regression_runs: did you mean regression_run_count\?"):
        ViewSettings.parse("regression_runs = 3")
